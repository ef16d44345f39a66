r"""Side constraints in models of rows in leaves and of actions of leaves.

:math:`z_{it}`: row i is in leaf t; :math:`c_{tk}`: leaf t predicts action k; :math:`l_t`: leaf t
holds rows (1 in models whose leaves all predict). What a row gets is no variable. Side constraints
:math:`\ell\le\sum_{i,k}a_{ik}\,[\text{row i gets action k}]\le u` count the products
:math:`u_{ikt}=z_{it}c_{tk}` of the pairs (i, k) whose coefficient is not zero in one of them,

.. math:: u_{ikt}\le z_{it},\qquad u_{ikt}\le c_{tk},\qquad u_{ikt}\ge z_{it}+c_{tk}-l_t,\qquad
   \ell\le\sum_{i,k}a_{ik}\sum_tu_{ikt}\le u .

They are exact where z and c are integral: in a leaf in use l = 1, and in any other z = c = 0.

References: McCormick (1976), "Computability of global solutions to factorable nonconvex programs",
Mathematical Programming 10, 147–175, for the products; Jo, Aghaei, Benson, Gómez, Vayanos (2022),
"Learning optimal fair classification trees", arXiv:2201.09932, for fairness as side constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.mip.formulation import ModelSize
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts


def counted_pairs(view: CostMatrix) -> np.ndarray:
    """The pairs (i, k) that a side row counts, shape (pairs, 2)."""
    counted = np.zeros(view.costs.shape, dtype=bool)
    for row in view.side:
        counted |= row.coefs != 0
    return np.argwhere(counted)


def add_row_actions(
    m: Any,
    view: CostMatrix,
    inside: Callable[[Any, Any, Any], Any],
    chosen: Callable[[Any, Any, Any], Any],
    in_use: Callable[[Any, Any], Any],
) -> None:
    """Variables u with their products, and the side rows; nothing without side rows.

    `inside(m, i, t)`, `chosen(m, t, k)` and `in_use(m, t)` are z, c and l of the model.
    """
    pairs = counted_pairs(view)
    if len(pairs):
        m.counted = pyo.Set(
            dimen=2,
            initialize=[(i, k) for i, k in pairs.tolist()],
            doc="(i,k) where a side constraint counts row i with action k",
        )
        m.u = pyo.Var(
            m.counted,
            m.leaves,
            domain=pyo.UnitInterval,
            doc="u[i,k,t] = 1 iff row i is in leaf t, which predicts action k",
        )

        @m.Constraint(m.counted, m.leaves, doc="a row gets an action only in its leaf")
        def given_inside(m: Any, i: Any, k: Any, t: Any) -> Any:
            return m.u[i, k, t] <= inside(m, i, t)

        @m.Constraint(m.counted, m.leaves, doc="a row gets only the action of the leaf")
        def given_action(m: Any, i: Any, k: Any, t: Any) -> Any:
            return m.u[i, k, t] <= chosen(m, t, k)

        @m.Constraint(m.counted, m.leaves, doc="a row in a leaf gets the leaf's action")
        def given_both(m: Any, i: Any, k: Any, t: Any) -> Any:
            return m.u[i, k, t] - inside(m, i, t) - chosen(m, t, k) + in_use(m, t) >= 0

    ts.add_side_rows(m, view, lambda i, k: [m.u[i, k, t] for t in m.leaves])


def encode_row_actions(m: Any, end: np.ndarray, action: dict[int, int]) -> None:
    """Values of u, from the leaf of every row and the action of every leaf."""
    if m.component("u") is not None:
        for i, k, t in m.u:
            m.u[i, k, t].set_value(int(end[i] == t and action[t] == k), skip_validation=True)


def row_action_sizes(view: CostMatrix, space: Trees, use_is_variable: bool) -> ModelSize:
    """Size of what `add_row_actions` adds; `use_is_variable`: whether l is a variable or 1."""
    T, pairs = 2**space.depth, len(counted_pairs(view))
    entries = sum(int(np.count_nonzero(row.coefs)) for row in view.side)
    nonzeros = T * (pairs * (7 + use_is_variable) + entries)
    return ModelSize(T * pairs, 0, 3 * T * pairs + len(view.side), nonzeros)


def added(size: ModelSize, more: ModelSize) -> ModelSize:
    """The sum of two sizes."""
    return ModelSize(*(a + b for a, b in zip(size, more, strict=True)))
