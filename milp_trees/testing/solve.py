"""Solving for the checks: SciPy's own HiGHS on the model's matrix, in this process.

No adapter of this package is involved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.mip.formulation import Formulation
from milp_trees.mip.linear.matrix import MatrixModel, Separator, compile_model
from milp_trees.problems.problem import Problem

#: Largest violation of a row or bound that still counts as feasible.
FEASIBLE = 1e-6
#: If the tree search needs more nodes, a model counts as too hard to solve here. Unlike a time
#: limit, this stops the same models on a loaded machine.
MOST_NODES = 500
#: The same for rounds of cuts to relaxations. Integer programs get a sixth of it, because they take
#: much longer.
MOST_ROUNDS = 60


@dataclass(eq=False)
class Built:
    """A model with its matrix and, if it needs one, its separator."""

    model: Any
    matrix: MatrixModel
    separator: Separator | None


@dataclass(eq=False)
class Point:
    """Optimum of a matrix: status `optimal`, `infeasible` or `unbounded`, and the point.

    If the search was stopped at `MOST_NODES`, the status is `stopped`, the point is the best that
    was found (None: none), and `bound` is what was proven; for an optimum it is the value.
    """

    status: str
    x: np.ndarray | None = None
    objective: float | None = None
    bound: float | None = None

    def times(self, unit: int) -> Point:
        """The point in units of the view, of which the model's objective has so many in one."""
        if unit == 1:
            return self
        own, least = (None if x is None else x * unit for x in (self.objective, self.bound))
        return replace(self, objective=own, bound=least)


@lru_cache(maxsize=64)
def built(formulation: Formulation, problem: Problem) -> Built:
    """The model of a problem, built once for all checks (they set every value that they read)."""
    model = formulation.build(problem, incomplete=True)
    matrix = compile_model(model)
    return Built(model, matrix, formulation.separator(model, matrix))


def minimise(
    matrix: MatrixModel,
    separator: Separator | None = None,
    relax: bool = False,
    nodes: int = MOST_NODES,
) -> Point:
    """Optimum of a matrix model.

    A model that is completed by cuts is solved again until no cut is violated, first its
    relaxation, which is fast, and then the model itself.

    Parameters
    ----------
    matrix : MatrixModel
        The model.
    separator : Separator, optional
        Finds violated cuts.
    relax : bool, default=False
        Whether to solve the linear relaxation.
    nodes : int
        Largest number of nodes of a tree search.

    Returns
    -------
    Point
    """
    for relaxed in [relax] if separator is None or relax else [True, False]:
        for _ in range(MOST_ROUNDS if relaxed else MOST_ROUNDS // 6):
            point = _minimise(matrix, relaxed, nodes)
            if separator is None or point.x is None or point.status == "stopped":
                break
            A, lower, upper = separator.separate(point.x, not relaxed)
            if not len(lower):
                break
            matrix = matrix.with_rows(sparse.csr_matrix(A), lower, upper)
        else:  # the last program that was solved is a relaxation
            point = Point("stopped", bound=point.bound)
    return point


def _minimise(matrix: MatrixModel, relax: bool, nodes: int) -> Point:
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not matrix.n_variables:
        if (matrix.row_lower > 0).any() or (matrix.row_upper < 0).any():
            return Point("infeasible")
        return Point("optimal", np.zeros(0), matrix.offset)
    rows = (
        [LinearConstraint(matrix.A, matrix.row_lower, matrix.row_upper)] if matrix.n_rows else None
    )
    integrality = None if relax else matrix.integer.astype(int)
    usual = {"mip_rel_gap": 0.0, "node_limit": nodes}
    for options in (usual, {**usual, "presolve": False}):
        result = milp(
            matrix.c,
            integrality=integrality,
            bounds=Bounds(matrix.lower, matrix.upper),
            constraints=rows,
            options=options,
        )
        if "limit reached" in result.message:
            return _stopped(matrix, result)
        if (
            result.status != 4
        ):  # 4 also means "infeasible or unbounded"; without presolve it is one of them
            break
    if result.x is not None and result.status == 0:
        x = result.x if relax else matrix.rounded(result.x)
        return Point("optimal", x, matrix.objective(x), matrix.objective(x))
    known = {2: "infeasible", 3: "unbounded"}
    if result.status not in known:
        raise RuntimeError(
            f"SciPy's milp answered status {result.status} on {matrix.name}: {result.message}"
        )
    return Point(known[result.status])


def _stopped(matrix: MatrixModel, result: Any) -> Point:
    x = None if result.x is None else matrix.rounded(result.x)
    bound = None if result.mip_dual_bound is None else float(result.mip_dual_bound) + matrix.offset
    return Point("stopped", x, None if x is None else matrix.objective(x), bound)


def worst_violation(matrix: MatrixModel, x: np.ndarray) -> str:
    """What a point violates most, a row or a variable, as a sentence."""
    activity = matrix.A @ x
    excess = np.maximum(matrix.row_lower - activity, activity - matrix.row_upper)
    columns, rows = matrix.names()
    if len(excess) and excess.max() > FEASIBLE:
        i = int(excess.argmax())
        return f"row {rows[i]} has {activity[i]:g}, allowed is [{matrix.row_lower[i]:g}, {matrix.row_upper[i]:g}]."
    j = int(
        np.maximum.reduce(
            [matrix.lower - x, x - matrix.upper, np.abs(x - np.rint(x)) * matrix.integer]
        ).argmax()
    )
    return f"variable {columns[j]} has {x[j]:g}, allowed is [{matrix.lower[j]:g}, {matrix.upper[j]:g}]."


def without(matrix: MatrixModel, label: str) -> MatrixModel:
    """The matrix without the rows of one named constraint."""
    keep = np.array([name != label for name in matrix.row_labels], dtype=bool)
    labels = [name for name in matrix.row_labels if name != label]
    indices = [index for index, kept in zip(matrix.row_indices, keep.tolist(), strict=True) if kept]
    low, up = matrix.row_lower[keep], matrix.row_upper[keep]
    return replace(
        matrix,
        A=sparse.csr_matrix(matrix.A[keep]),
        row_lower=low,
        row_upper=up,
        row_labels=labels,
        row_indices=indices,
    )
