"""`study`: a SPEC file as one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from milp_trees.planning.plan import Plan
from milp_trees.planning.reading import read_plan

if TYPE_CHECKING:
    from milp_trees.running.front import News
    from milp_trees.studies import Study


@overload
def study(
    spec: str | Path | Plan,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "processes",
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    retries: int = 2,
    memory_mb: float | None = None,
    dry_run: Literal[True],
    progress: Callable[[News], object] | None = None,
) -> Plan: ...
@overload
def study(
    spec: str | Path | Plan,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "processes",
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    retries: int = 2,
    memory_mb: float | None = None,
    dry_run: Literal[False] = False,
    progress: Callable[[News], object] | None = None,
) -> Study: ...
def study(
    spec: str | Path | Plan,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "processes",
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    retries: int = 2,
    memory_mb: float | None = None,
    dry_run: bool = False,
    progress: Callable[[News], object] | None = None,
) -> Study | Plan:
    """Run a study: every problem of a SPEC file with every method, under stated limits.

    Parameters
    ----------
    spec : path or Plan
        A TOML file; docs/studies.md describes its layout. The whole file is checked before anything
        runs. A plan that was made from one is taken as it is.
    store : path, optional
        SQLite file for the rows; the same call continues a study that was stopped. Without it rows
        are kept in memory.
    jobs : int, optional
        Largest number of runs at a time: by default 1, and on a cluster all that it has.
    executor : {"processes", "serial", "dask", "slurm"}
        Where the runs are made.
    address : str, optional
        Of a Dask scheduler, such as `tcp://127.0.0.1:8786`.
    options : mapping, optional
        Further settings of the executor, by its own names.
    retries : int, default=2
        How often a run that crashed is made again.
    memory_mb : number, optional
        Memory, in MB, that a run and its solver may use together.
    dry_run : bool, default=False
        Only check the SPEC and return the plan.
    progress : callable, optional
        Called with `milp_trees.running.front.News` about twice a second.

    Returns
    -------
    Study or Plan
        The rows are those of the plan, in its order.

    Raises
    ------
    SpecError
        Something in the SPEC is wrong; the sentence names the line.
    StudyError
        The executor cannot work, or another study uses the store.
    """
    plan = spec if isinstance(spec, Plan) else read_plan(spec)
    if dry_run:
        return plan
    from milp_trees.running.front import run_plan

    return run_plan(
        plan,
        store,
        executor=executor,
        jobs=jobs,
        address=address,
        options=options,
        retries=retries,
        memory_mb=memory_mb,
        progress=progress,
    )
