"""A copy of a decision set's linear program per leaf: rows, columns, and what completes a decision to a point of the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees import SolverFailure
from milp_trees.decisions.base import LinearSet
from milp_trees.matrix import matrix_rows


def add_decisions(m: Any, program: LinearSet, d: int) -> None:
    """Variable w, whose first d entries are the decision of a leaf, and the rows of S."""
    m.entries = pyo.RangeSet(0, d - 1, doc="entries e of a decision")
    m.parts = pyo.RangeSet(0, len(program.names) - 1, doc="variables of the program of S, the entries first")
    low, up = ([None if np.isinf(v) else v for v in bounds.tolist()] for bounds in (program.lower, program.upper))
    m.w = pyo.Var(
        m.parts, m.leaves, bounds=lambda m, j, t: (low[j], up[j]), domain=lambda m, j, t: pyo.Integers if program.integer[j] else pyo.Reals,
        doc="w[e,t] decision of leaf t, and the further variables of its program",
    )  # fmt: skip
    if len(program.row_lower):
        n_leaves = len(m.leaves)
        m.decision = matrix_rows(
            [m.w[j, t] for t in m.leaves for j in m.parts], sparse.csr_matrix(sparse.kron(sparse.identity(n_leaves), program.A, format="csr")),
            np.tile(program.row_lower, n_leaves), np.tile(program.row_upper, n_leaves), doc="w[·,t] is in S",
        )  # fmt: skip


def completed(program: LinearSet, decision: np.ndarray) -> np.ndarray:
    """A point of the program with these first entries.

    Raises
    ------
    SolverFailure
        HiGHS finds none: the decision is not in S.
    """
    d, v = len(decision), len(program.names)
    if d == v:
        return decision
    from scipy.optimize import Bounds, LinearConstraint, milp

    low, up = program.lower.copy(), program.upper.copy()
    low[:d] = up[:d] = decision
    found = milp(
        np.zeros(v), integrality=program.integer.astype(int), bounds=Bounds(low, up),
        constraints=LinearConstraint(program.A, program.row_lower, program.row_upper) if len(program.row_lower) else None,
    )  # fmt: skip
    if found.x is None:
        raise SolverFailure(f"No point of the decision set's program has the entries {decision.tolist()}: {found.message}")
    return np.where(program.integer, np.rint(found.x), found.x)
