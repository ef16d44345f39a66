"""Solvers that read model files by themselves, and what they prove within a limit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError, SolverUnavailable
from milp_trees.common.limits import Limit, Limits
from milp_trees.mip import runner
from milp_trees.mip.linear.claims import AGREES
from milp_trees.mip.linear.files import FileModel
from milp_trees.mip.linear.reading import unpacked
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import Answer, Job, availability_of
from milp_trees.results.result import Status


def readers(wanted: Sequence[str] | None = None) -> list[str]:
    """Names of the installed solvers that read model files by themselves."""
    classes: dict[str, Any] = registry.classes("solvers")
    able = [name for name, cls in classes.items() if "files" in cls.capabilities]
    if wanted is None:
        found = [name for name in able if availability_of(classes[name]()).found]
        if not found:
            raise SolverUnavailable(
                f"None of the solvers that read model files is installed; install one of {', '.join(able)}."
            )
        return found
    for name in wanted:
        solver = registry.solver(name)
        if name not in able:
            raise DataError(f"{name} does not read model files by itself; {', '.join(able)} do.")
        found_here = availability_of(solver)
        if not found_here.found:
            raise SolverUnavailable(found_here.reason)
    return list(wanted)


def read_and_solve(
    file: FileModel,
    path: Path,
    limits: Limits,
    solvers: Sequence[str] | None = None,
) -> dict[str, Answer]:
    """The answer of every solver to a file that it reads with its own reader.

    A solver that cannot read compressed files is given an uncompressed copy.
    """
    answers = {}
    for name in readers(solvers):
        runner.wait_until_ready(name)
        with ExitStack() as stack:
            refused = registry.solver(name).cannot_read
            packed = "".join(path.suffixes[-2:]) in refused
            read = stack.enter_context(unpacked(path)) if packed else path
            job = Job(file.model, limits, file=str(read), names=tuple(file.columns))
            answers[name] = runner.run(name, job)
        if answers[name].limit is Limit.INTERRUPTED:
            raise KeyboardInterrupt
    return answers


def relaxation_bound(file: FileModel, limits: Limits) -> float | None:
    """The objective of the linear relaxation.

    None if it has no solution, or was not solved within the limits.
    """
    name = registry.default_solver
    assert name is not None
    answer = runner.run(name, Job(file.model, limits, relax=True))
    if answer.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    if answer.status is not Status.OPTIMAL or answer.objective is None or answer.bound is None:
        return None
    # What the duals prove, if that differs from the objective by more than the solver's tolerances.
    near = answer.objective - answer.bound <= AGREES * max(1.0, abs(answer.objective))
    return answer.objective if near else answer.bound
