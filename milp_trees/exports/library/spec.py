"""A library from a SPEC file: its problems × the formulations of its methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.exports.library.build import Entry, build
from milp_trees.exports.library.making import Effort
from milp_trees.exports.library.registry import Registry
from milp_trees.mip.registry import registry as plugins
from milp_trees.results.json import number
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.planning.reading import read_plan

#: Keys of the table [library] of a SPEC.
KEYS = ("version", "solver_seconds", "proof_seconds", "licences")


def build_library(
    spec: str | Path,
    out: str | Path,
    *,
    jobs: int = 1,
    only: str = "*",
    progress: Callable[[str], None] | None = None,
) -> Registry:
    """Write a library of model files: every problem of a SPEC in the formulations of its methods.

    The folder gets `NAME.mps.gz` and `NAME.sol` for every instance, `library.solu`, `registry.json`
    and `registry.csv`, `SHA256SUMS`, and the page `index.html`. The same SPEC gives the same bytes
    of all models. What is in the folder already and did not change is not made again.

    Parameters
    ----------
    spec : path
        A SPEC as for `study`. Formulations are those of its methods, whatever their solvers. The
        table `[library]` may state `version`, `solver_seconds` (of each solver on each file, by
        default 10), `proof_seconds` (of each method that is asked for an answer, by default 30),
        and `licences`, a table from files of data to their licences. Instances of other files are
        made too, and marked as not to be published.
    out : path
        Folder of the library, which is new, empty, or a library.
    jobs : int, default=1
        Number of processes; each of them runs one solver at a time.
    only : str, default="*"
        Problems whose names match this pattern; the others are not in the library.
    progress : callable, optional
        Called with a line for every problem.

    Returns
    -------
    Registry

    Raises
    ------
    DataError
        The SPEC is wrong, or the folder holds other files.
    VerificationError
        Two methods or solvers contradict each other about an answer.
    """
    plan = read_plan(spec)
    given = dict(plan.extra.get("library", {}))
    _check(given, Path(spec))
    about = {"title": plan.title, "version": given.pop("version", "1")}
    entries = entries_of(plan, only, given.pop("licences", {}))
    if not entries:
        raise DataError(
            f"{spec} gives no instance: it needs problems that match {only!r}, and methods with formulations."
        )
    return build(
        entries,
        Path(out),
        about,
        Effort(**given),
        jobs=jobs,
        plugin_files=[Path(plan.folder) / name for name in plan.plugins],
        progress=progress,
    )


def entries_of(
    plan: Plan, only: str = "*", licences: Mapping[str, str] | None = None
) -> list[Entry]:
    """The problems of a plan, each with the formulations of its runs."""
    from fnmatch import fnmatchcase

    forms: dict[str, dict[str, None]] = {}
    known = plugins.classes("formulations")
    for run in plan.runs:
        label, at, _ = run.method.rpartition("@")
        if at and label.partition(":")[0] in known:
            forms.setdefault(run.problem, {})[label] = None
    return [
        Entry(one, tuple(forms[one.name]), (licences or {}).get(one.recipe["data"].get("file"), ""))
        for one in plan.problems
        if one.name in forms and fnmatchcase(one.name, only)
    ]


def _check(given: Mapping[str, Any], spec: Path) -> None:
    """Refuse a table [library] with unknown keys or values that are not allowed."""
    for key, value in given.items():
        if key not in KEYS:
            raise DataError(
                f"{spec}: the table [library] has no key {key!r}; it has {', '.join(KEYS)}."
            )
        if key == "version" and not isinstance(value, str):
            raise DataError(f"{spec}: the version of the library is a text; got {value!r}.")
        if key == "licences":
            if not isinstance(value, Mapping) or not all(
                isinstance(v, str) for v in value.values()
            ):
                raise DataError(
                    f"{spec}: licences is a table from files of data to the names of their licences; got {value!r}."
                )
        elif key != "version" and not (number(value) and value > 0):
            raise DataError(f"{spec}: {key} is a positive number of seconds; got {value!r}.")
