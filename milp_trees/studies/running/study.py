"""`milp_trees.study`: a SPEC file is planned, run, and becomes a Study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, overload

from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.planning.reading import read_plan
from milp_trees.studies.running.coordinator import News, run_plan
from milp_trees.studies.study import Study


@overload
def study(
    spec: str | Path | Mapping[str, Any] | Plan,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "processes",
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    retries: int = 2,
    memory_mb: float | None = None,
    dry_run: Literal[True],
    progress: bool | Callable[[News], object] = False,
) -> Plan: ...
@overload
def study(
    spec: str | Path | Mapping[str, Any] | Plan,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "processes",
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    retries: int = 2,
    memory_mb: float | None = None,
    dry_run: Literal[False] = False,
    progress: bool | Callable[[News], object] = False,
) -> Study: ...
def study(
    spec: str | Path | Mapping[str, Any] | Plan,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "processes",
    address: str | None = None,
    dry_run: bool = False,
    progress: bool | Callable[[News], object] = False,
    retries: int = 2,
    memory_mb: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Study | Plan:
    """Run a study: every problem of a SPEC with every method, under stated limits.

    The whole SPEC is checked before anything runs.

    Parameters
    ----------
    spec : path, mapping or Plan
        A TOML file, as docs/guide/studies.md describes it, the same as a mapping, or the plan of one.
    store : path, optional
        SQLite file for the rows; the folder `STORE.runs` beside it holds the files of the workers.
        Without it rows are kept in memory. The same call continues a study that was stopped, and a
        second one, on this machine or on another that sees the same folder, joins it.
    jobs : int, optional
        Runs at a time: by default 1, and on a cluster all that it has room for.
    executor : str, default="processes"
        Where the runs are made: `serial` (in this process), `processes` (of this machine, each with
        cores of its own), `dask` or `slurm`.
    address : str, optional
        Of a Dask scheduler.
    dry_run : bool, default=False
        Check everything and return the plan.
    progress : bool or callable, default=False
        True shows the running jobs with incumbent, bound and gap, and the time that is left: on a
        terminal, in a notebook, or as lines in a log. A callable is called with
        `milp_trees.studies.running.coordinator.News` about twice a second; if it returns True, runs in flight are
        finished and the study ends, as after one Ctrl-C.
    retries : int, default=2
        How often a run whose process, or whose solver's process, crashed is made again.
    memory_mb : number, optional
        Memory, in MB, that a run and its solver may use together. A run with more is ended and
        counts as crashed. (`memory_limit` of the SPEC is a limit that methods keep themselves.)
    options : mapping, optional
        Further settings of the executor, such as `{"slurm_partition": "short"}`.

    Returns
    -------
    Study or Plan

    Raises
    ------
    SpecError
        Something in the SPEC is wrong; the sentence begins with the file and the line, or with
        the key of the mapping.
    StudyError
        The study cannot be executed as it was asked for; finished rows are safe.
    StoreError
        The store cannot be read or written.
    """
    plan = spec if isinstance(spec, Plan) else read_plan(spec)
    if dry_run:
        return plan
    watching: Any = nullcontext(progress or None)
    if progress is True:
        from milp_trees.studies.running.display import Display

        watching = Display()
    with watching as report:
        return run_plan(
            plan,
            store,
            executor=executor,
            jobs=jobs,
            address=address,
            options=options,
            retries=retries,
            memory_mb=memory_mb,
            progress=report,
        )
