r"""What a row gets, as one variable per action: side constraints in models without flows.

The models of `_gains` say how much a row gains, and not by which action. With side constraints
:math:`h_{ik}=1` iff row i gets action k takes the place of :math:`g_i`:

.. math::
   \min\ \sum_{i,k}r_{ik}h_{ik}+\text{penalties},\qquad \sum_kh_{ik}=1,\qquad
   \ell\le\sum_{i,k}a_{ik}h_{ik}\le u,

where :math:`r_{ik}` is the cost of action k above the cheapest one of row i, and the inequalities
that limit :math:`g_i` by the labels :math:`\sum_k\frac{r_{ik}}{\rho_i}w_{vk}` on a path or in a set
of nodes limit :math:`h_{ik}` by the labels :math:`w_{vk}` there: they are the minimum cuts of the
flow of row i to the sink of action k (`flow_oct`, several sinks). Of all actions only that of the
row's own node remains, and the sum says that the row gets it. Labels w are binary, since a leaf
that randomises would satisfy side constraints by fractions.

Reference: Jo, Aghaei, Benson, Gómez, Vayanos (2022), "Learning optimal fair classification trees",
arXiv:2201.09932, for the flow; its projection is ours.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from milp_trees.mip.formulation import ModelSize
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts


def add_labels(m: Any, view: CostMatrix) -> None:
    """Variables h, one action per row, and the side rows."""
    m.h = pyo.Var(
        m.rows, m.actions, domain=pyo.UnitInterval, doc="h[i,k] = 1 iff row i gets action k"
    )

    @m.Constraint(m.rows, doc="a row gets one action")
    def one_given(m: Any, i: Any) -> Any:
        return sum(m.h[i, k] for k in m.actions) == 1

    ts.add_side_rows(m, view, lambda i, k: [m.h[i, k]])


def has_labels(m: Any) -> bool:
    """Whether a model says what rows get, and not only what they gain."""
    return m.component("h") is not None


def set_labels(m: Any, splits: dict[int, int], leaves: dict[int, int]) -> None:
    """Values of h at a tree."""
    end = ts.reached(splits, m.view).tolist()
    for i, k in m.h:
        m.h[i, k].set_value(int(leaves[end[i]] == k), skip_validation=True)


def with_labels(size: ModelSize, view: CostMatrix, space: Trees) -> ModelSize:
    """A size with the variables and rows of `add_labels`."""
    n, K = view.n_rows, view.n_actions
    size = ts.with_sums(size, view, space, per_action=1)
    return size._replace(
        variables=size.variables + n * K, rows=size.rows + n, nonzeros=size.nonzeros + n * K
    )
