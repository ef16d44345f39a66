"""Checking a library again: its files, its claims, and what solvers prove from the files alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import DataError, MilpTreesError
from milp_trees.common.limits import Limits
from milp_trees.exports.library.page import page
from milp_trees.exports.library.processes import each
from milp_trees.exports.library.proofs import of_proof
from milp_trees.exports.library.registry import (
    CSV,
    PAGE,
    ROUNDING,
    SOLU,
    SUMS,
    UNFINISHED,
    Instance,
    Registry,
    checksums,
    files_of,
    near,
    read_registry,
    sha256,
)
from milp_trees.exports.library.row_checks import (
    SETTLED,
    of_comments,
    of_names,
    of_problems,
    of_row,
)
from milp_trees.exports.library.solving import read_and_solve, readers, relaxation_bound
from milp_trees.mip.linear.files import FileModel
from milp_trees.mip.linear.reading import read_model
from milp_trees.mip.linear.solutions import read_solution
from milp_trees.mip.solver import Answer
from milp_trees.results.result import Status

#: Largest violation of a row by a solution.
FEASIBILITY = 1e-6
#: Memory limit of each solver, in megabytes.
MEMORY_MB = 4000


@dataclass(frozen=True)
class CheckedInstance:
    """What was found about one instance.

    Parameters
    ----------
    instance : str
    said : str
        What each solver did with the file.
    wrong : tuple of str
        A sentence per contradiction.
    news : tuple of str
        What solvers know better than the registry, without a contradiction.
    seconds : float
    """

    instance: str
    said: str
    wrong: tuple[str, ...]
    news: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class LibraryCheck:
    """What `check_library` found.

    Parameters
    ----------
    wrong : tuple of str
        A sentence per contradiction, those about the whole library first. Empty if it stands.
    instances : tuple of CheckedInstance
    """

    wrong: tuple[str, ...]
    instances: tuple[CheckedInstance, ...]

    @property
    def ok(self) -> bool:
        return not self.wrong


def check_library(
    folder: str | Path,
    *,
    time_limit: float | None = 10.0,
    jobs: int = 1,
    only: str = "*",
    solvers: Sequence[str] | None = None,
    progress: Callable[[CheckedInstance], None] | None = None,
) -> LibraryCheck:
    """Check a whole library again.

    Checksums, registry, `.solu` file and the files in the folder must agree; every solution must be
    feasible in its file with the stated objective; every file is read and solved by every installed
    solver that reads files, and what it finds and proves within the limit must be consistent with
    what is claimed.

    Parameters
    ----------
    folder : str or path
        What `build_library` wrote.
    time_limit : float or None, default=10
        Seconds of each solver on each file.
    jobs : int, default=1
        Number of processes; each of them runs one solver at a time.
    only : str, default="*"
        Instances whose names match this pattern; the registry is always checked as a whole.
    solvers : sequence of str, optional
        By default all that are installed; none checks the files without solving them.
    progress : callable, optional
        Called with every `CheckedInstance`.

    Returns
    -------
    LibraryCheck

    Raises
    ------
    DataError
        The folder holds no library, its registry cannot be read, or nothing matches `only`.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.check_library("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    milp_trees.common.errors.DataError: no/such/folder holds no registry.json, so it is no library; make one with `milp-trees library build SPEC --out no/such/folder`.
    """
    folder, limits = Path(folder), Limits.asked(time_limit=time_limit, memory_mb=MEMORY_MB)
    limits = replace(limits, abs_gap=0.0)
    held = read_registry(folder)
    chosen = [one for one in held.instances if fnmatch(one.instance, only)]
    if not chosen:
        raise DataError(f"No instance of {folder} matches {only!r}.")
    using = [] if solvers is not None and not solvers else readers(solvers)
    wrong = list(_of_folder(folder, held))
    found = []
    for _, checked in each(check_instance, chosen, jobs, folder, limits, using):
        found.append(checked)
        wrong += [sentence for sentence in checked.wrong if sentence not in wrong]
        if progress is not None:
            progress(checked)
    return LibraryCheck(tuple(wrong), tuple(sorted(found, key=lambda one: one.instance)))


# -- the folder and its registry -------------------------------------------------------------------


def _of_folder(folder: Path, held: Registry) -> Iterator[str]:
    """Contradictions between the registry, the files derived from it, and what is in the folder."""
    if (folder / UNFINISHED).exists():
        yield f"The build of {folder} is not finished; run it again."
    wanted = files_of(held)
    missing = [name for name in wanted if not (folder / name).is_file()]
    yield from (f"{name} is missing." for name in missing)
    for name, text in ((CSV, held.to_csv()), (SOLU, held.to_solu())):
        if name not in missing and (folder / name).read_bytes() != text.encode():
            yield f"{name} says something else than registry.json."
    same = held.about.get("versions", {}).get("milp-trees") == metadata.version("milp-trees")
    if same and PAGE not in missing and (folder / PAGE).read_bytes() != page(held).encode():
        yield f"{PAGE} says something else than registry.json."
    there = {path.name for path in folder.iterdir() if path.is_file()}
    yield from (f"{name} is not in the registry." for name in sorted(there - {*wanted, SUMS}))
    if SUMS not in there:
        yield f"{SUMS} is missing."
    elif not missing:
        stated = set((folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines())
        own = checksums(folder, wanted).splitlines()
        for name in sorted({line.partition("  ")[2] or line for line in stated ^ set(own)}):
            yield f"{name} does not have the checksum in {SUMS}."
    names = [one.instance for one in held.instances]
    yield from (
        f"{n} is in the registry twice." for n in sorted({n for n in names if names.count(n) > 1})
    )
    for one in held.instances:
        yield from of_row(one)
        yield from of_names(one, held.about["solvers"])
    yield from of_problems(held.instances)


# -- one instance ----------------------------------------------------------------------------------


def check_instance(
    one: Instance, folder: Path, limits: Limits, solvers: Sequence[str]
) -> CheckedInstance:
    """Read the files of one instance again, and let solvers settle or bound it."""
    began = run_clock()
    wrong: list[str] = []
    message: list[str] = []
    news: list[str] = []
    try:
        for name, digest in (
            (one.model, one.model_sha256),
            (one.solution, one.solution_sha256),
            (one.proof, one.proof_sha256),
        ):
            if name is not None and sha256(folder / name) != digest:
                wrong.append(f"{name} does not have the checksum in the registry.")
        if os.path.getsize(folder / one.model) != one.bytes:
            wrong.append(f"{one.model} does not have {one.bytes} bytes.")
        file = read_model(folder / one.model)
        wrong += _of_sizes(one, file)
        wrong += _of_solution(one, file, folder)
        wrong += of_comments(one, folder)
        wrong += of_proof(one, folder)
        if solvers:
            wrong += _of_relaxation(one, file, limits)
            answers = read_and_solve(file, folder / one.model, limits, solvers)
            for solver, answer in answers.items():
                message.append(_said(solver, answer))
                wrong += _of_answer(one, file, solver, answer)
                news += _news(one, solver, answer)
    except FileNotFoundError as error:
        wrong.append(f"{Path(str(error.filename)).name} is missing.")
    except (MilpTreesError, OSError) as error:
        wrong.append(f"{one.instance}: {error}")
    return CheckedInstance(
        one.instance, ", ".join(message), tuple(wrong), tuple(news), run_clock() - began
    )


def _of_sizes(one: Instance, file: FileModel) -> Iterator[str]:
    model = file.model
    binary = model.integer & (model.lower >= 0) & (model.upper <= 1)
    found = {
        "variables": model.n_variables,
        "binaries": int(binary.sum()),
        "integers": int((model.integer & ~binary).sum()),
        "continuous": int((~model.integer).sum()),
        "constraints": model.n_rows,
        "nonzeros": int(model.A.nnz),
    }
    for what, number in found.items():
        if number != getattr(one, what):
            yield f"{one.model} has {number} {what}, and the registry says {getattr(one, what)}."


def _of_solution(one: Instance, file: FileModel, folder: Path) -> Iterator[str]:
    """The solution is feasible, and its objective is that of the file and of the registry."""
    if one.solution is None:
        return
    stated, point = read_solution(folder / one.solution, file.columns)
    violation, objective = file.model.violation(point), file.model.objective(point)
    if violation > FEASIBILITY:
        yield f"{one.solution} breaks a row, bound or integrality of {one.model} by {violation:.6g}."
    if not near(objective, stated):
        yield f"{one.solution} states the objective {stated:.12g}, but its point has {objective:.12g}."
    if one.objective is None or not near(stated, one.objective):
        yield f"{one.solution} states the objective {stated:.12g}, and the registry {one.objective}."


def _of_relaxation(one: Instance, file: FileModel, limits: Limits) -> Iterator[str]:
    bound = relaxation_bound(file, limits)
    if (
        bound is not None
        and one.lp_bound is not None
        and not near(bound, one.lp_bound, one.tolerance)
    ):
        yield f"{one.model} has the linear relaxation {bound:.12g}, and the registry says {one.lp_bound:.12g}."


def _of_answer(one: Instance, file: FileModel, solver: str, answer: Answer) -> Iterator[str]:
    """Contradictions between what a solver finds and proves, and what is claimed."""
    found = _objective(file, answer)
    if answer.status is Status.ERROR:
        yield f"{solver} fails on {one.model}: {answer.message}"
    elif answer.status is Status.INFEASIBLE:
        if one.objective is not None:
            yield f"{solver} proves that {one.model} is infeasible, but its solution is known."
    elif found is not None and one.claim == "inf":
        yield f"{solver} finds a point of {one.model}, which is called infeasible."
    elif (
        found is not None
        and one.bound is not None
        and found < one.bound
        and not near(found, one.bound, one.tolerance)
    ):
        yield f"{solver} finds a point of {one.model} with the objective {found:.12g}, below the bound {one.bound:.12g}."
    elif (
        answer.bound is not None
        and one.objective is not None
        and answer.bound > one.objective
        and not near(answer.bound, one.objective, one.tolerance)
    ):
        yield f"{solver} proves that no point of {one.model} is below {answer.bound:.12g}, but its solution has {one.objective:.12g}."


def _objective(file: FileModel, answer: Answer) -> float | None:
    """The objective of a solver's point, if that is feasible when its integers are rounded."""
    if answer.x is None:
        return None
    x = np.clip(file.model.rounded(answer.x), file.model.lower, file.model.upper)
    return file.model.objective(x) if file.model.violation(x) <= ROUNDING else None


def _news(one: Instance, solver: str, answer: Answer) -> Iterator[str]:
    if answer.status.value in SETTLED and one.claim in ("best", "unkn"):
        yield f"{solver} settles {one.instance}, which was open: {answer.status.value}, objective {answer.objective}."
    elif answer.objective is not None and (
        one.claim == "unkn"
        or (
            one.claim == "best"
            and one.objective is not None
            and answer.objective < one.objective
            and not near(answer.objective, one.objective, one.tolerance)
        )
    ):
        yield f"{solver} finds a better point of {one.instance}: {answer.objective:.12g}."


def _said(solver: str, answer: Answer) -> str:
    if answer.status is Status.OPTIMAL:
        return f"{solver} optimal {answer.objective:.10g}"
    if answer.bound is not None and answer.status is not Status.INFEASIBLE:
        return f"{solver} bound {answer.bound:.6g}"
    return f"{solver} {answer.status.value}"
