"""Parts of a model of trees whose leaves choose decisions.

They are a copy of the decision set's program per leaf, and costs with constants from the oracle.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees.common import exact
from milp_trees.common.errors import SolverFailure
from milp_trees.decisions.base import Failure, LinearSet
from milp_trees.decisions.second import SecondProgram
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.models.space import Trees
from milp_trees.tasks.decision_view import LeafOracle

from ._oct_structure import SCALED


def add_decisions(m: Any, program: LinearSet, d: int) -> None:
    """Variable w, whose first d entries are the decision of a leaf, and the rows of S."""
    m.entries = pyo.RangeSet(0, d - 1, doc="entries e of a decision")
    m.parts = pyo.RangeSet(
        0, len(program.names) - 1, doc="variables of the program of S, the entries first"
    )
    low, up = (
        [None if np.isinf(v) else v for v in bounds.tolist()]
        for bounds in (program.lower, program.upper)
    )
    m.w = pyo.Var(
        m.parts,
        m.leaves,
        bounds=lambda m, j, t: (low[j], up[j]),
        domain=lambda m, j, t: pyo.Integers if program.integer[j] else pyo.Reals,
        doc="w[e,t] decision of leaf t, and the further variables of its program",
    )
    if len(program.row_lower):
        n_leaves = len(m.leaves)
        m.decision = matrix_rows(
            [m.w[j, t] for t in m.leaves for j in m.parts],
            sparse.csr_matrix(sparse.kron(sparse.identity(n_leaves), program.A, format="csr")),
            np.tile(program.row_lower, n_leaves),
            np.tile(program.row_upper, n_leaves),
            doc="w[·,t] is in S",
        )


def completed(program: LinearSet, decision: np.ndarray) -> np.ndarray:
    """A point of the program whose first entries are the decision."""
    d, v = len(decision), len(program.names)
    if d == v:
        return decision
    low, up = program.lower.copy(), program.upper.copy()
    low[:d] = up[:d] = decision
    found = SecondProgram(replace(program, lower=low, upper=up)).outcome(np.zeros(v))
    if isinstance(found, Failure):
        raise SolverFailure(
            f"No point of the decision set's program has the entries {decision.tolist()}."
        )
    return found


class Costs(NamedTuple):
    """Costs of the rows in the units of the model.

    Parameters
    ----------
    unit : float
        Cost per unit of the model.
    c : float array of shape (n, d)
        Cost vectors.
    most, gain : float arrays of shape (n,)
        M1 and M2.
    least : float array of shape (n,)
        z*(c_i).
    """

    unit: float
    c: np.ndarray
    most: np.ndarray
    gain: np.ndarray
    least: np.ndarray


def row_costs(view: LeafOracle, rows_m: bool) -> Costs:
    """Costs, and the constants from the oracle for every row.

    Without `rows_m` the constants are the largest of all rows.
    """
    most = np.maximum(view.decisions.highest(view.vectors), 0.0)
    gain = np.maximum(-view.least, 0.0)
    largest = max(float(most.max(initial=0.0)), float(gain.max(initial=0.0)))
    unit = 2.0 ** math.ceil(math.log2(largest / SCALED)) if largest > 0 else 1.0
    if not rows_m:
        most, gain = (
            np.full_like(most, most.max(initial=0.0)),
            np.full_like(gain, gain.max(initial=0.0)),
        )
    return Costs(unit, view.vectors / unit, most / unit, gain / unit, view.least / unit)


def whole_weights(view: LeafOracle, space: Trees) -> tuple[np.ndarray, int]:
    """Row weights as integers, and the smallest sum of them in a leaf."""
    row_weight, unit, _ = exact.integers(view.row_weight)
    return row_weight, math.ceil(space.min_weight_leaf / unit)
