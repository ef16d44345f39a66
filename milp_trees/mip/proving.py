"""Proofs of bounds by formulations: the duals of a relaxation, and the claims made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Deadline, Limits, Stopped
from milp_trees.common.registering import plugins
from milp_trees.methods.claims import Claims
from milp_trees.methods.deadline import within
from milp_trees.mip.linear.matrix import MatrixModel, compile_model
from milp_trees.mip.run import solved
from milp_trees.mip.solver import Job, Solver
from milp_trees.results.result import Status

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem


class Pair(Protocol):
    """A formulation with a solver."""

    name: str
    formulation: Formulation
    solver: Solver


def claims(method: Pair, problem: Problem, limits: Limits) -> Claims:
    """The proof that a formulation makes of its relaxation, as `Method.prove`."""
    formulation, deadline = method.formulation, Deadline.after(limits.time)
    if not formulation.proves:
        raise Unsupported(f"{method.name} writes no proofs.")
    why = within(limits.time, lambda: formulation.unsupported(problem))
    if why:
        raise Unsupported(why)

    def duals() -> Mapping[str, np.ndarray]:
        return _duals(method, problem, replace(limits, time=deadline.left))

    return formulation.claims(problem, duals, deadline)


def with_duals() -> list[str]:
    """Names of the solvers that give duals, those that run by default first."""
    classes: dict[str, type[Solver]] = plugins.classes("solvers")
    able = [cls for cls in classes.values() if "duals" in cls.capabilities]
    return [cls.name for cls in sorted(able, key=lambda c: (c.default_rank or 10**9, c.name))]


def _duals(method: Pair, problem: Problem, limits: Limits) -> dict[str, np.ndarray]:
    """The duals of the relaxation's rows, by the name of their block."""
    if "duals" not in method.solver.capabilities:
        raise Unsupported(
            f"A proof with side constraints needs duals, and {method.solver.name} gives none; solve with {' or '.join(with_duals())}."
        )
    matrix = compile_model(method.formulation.assemble(problem))
    view = method.formulation.presolved_view(problem)
    options = method.formulation.relaxation_options_for(method.solver.name, view, problem.space)
    return by_block(matrix, row_duals(method.solver.name, matrix, limits, options))


def by_block(matrix: MatrixModel, duals: np.ndarray) -> dict[str, np.ndarray]:
    """Duals of rows, by the name of their block."""
    blocks: dict[str, list[float]] = {}
    for label, dual in zip(matrix.row_labels, duals.tolist(), strict=True):
        blocks.setdefault(label, []).append(dual)
    return {label: np.array(part) for label, part in blocks.items()}


def row_duals(
    solver: str, matrix: MatrixModel, limits: Limits, options: Mapping[str, Any]
) -> np.ndarray:
    """Duals of the rows of a relaxation, by a solver with the capability duals."""
    answer = solved(solver, Job(matrix, limits, options=options, relax=True), None)
    if answer.limit is not None:
        raise Stopped(answer.limit)
    if answer.status is not Status.OPTIMAL or answer.duals is None:
        raise Unsupported(
            f"{solver} found no dual solution of the relaxation ({answer.status.value}), so there is no proof."
        )
    return answer.duals
