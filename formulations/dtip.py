r"""DTIP: classification by the encoding of Verwer and Zhang (2017), on binary features.

Paths and tests are those of `_level_paths`: :math:`d_{hr}=1` iff row r goes right at level h of D
levels, and :math:`\pi_h(t,r)` is 1 iff it goes there as the path to leaf t does.
:math:`p_{tk}=1` iff leaf t predicts action k, and :math:`e_r` is the error of row r. With
:math:`\varrho_r` the largest cost of an action on row r above its cheapest one, and
:math:`\rho_{rk}\in[0,1]` that of action k as a share of it,

.. math::
   \min\ \sum_r\varrho_re_r\qquad & \sum_kp_{tk}=1 & t\in T\\
   & \sum_k\rho_{rk}p_{tk}\le e_r+D-\sum_h\pi_h(t,r) & r,\ t\in T.

A row is in leaf t iff its path agrees with that of t on all D levels. For accuracy
:math:`\rho_{rk}=1` iff k is a wrong class, which is the paper's error; other costs are ours.

**Discrimination.** The paper adds linear constraints and objectives in the errors, since a row of
the positive class that is right, or of the negative class that is wrong, is predicted positive. But
the constraints above bound errors from below only. Where a constraint profits from errors, a model
may claim errors that its tree does not make: with the rows :math:`y=0,1` of two groups and no test
that tells them apart, "errors" of a single row equalise any two rates. Hence, with side constraints,
:math:`h_{rk}=1` iff row r gets action k stands for the errors, from both sides:

.. math::
   \min\ \sum_{r,k}\varrho_r\rho_{rk}h_{rk}\qquad & \sum_kh_{rk}=1 & r\\
   & p_{tk}\le h_{rk}+D-\sum_h\pi_h(t,r) & r,\ t\in T,\ k\\
   & \ell\le\sum_{r,k}a_{rk}h_{rk}\le u.

Discrimination in the objective is not here.

Reference: Verwer, Zhang (2017), "Learning decision trees with flexible constraints and objectives
using integer optimization", CPAIOR 2017, 94–103; numbering ours. The encoding was compared with the
public implementation by van der Linden, which is of its regression. The rows of classification and
discrimination are reconstructed from descriptions, since the paper's equations were not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _level_paths as paths
from . import _tree_structure as ts
from ._distances import walk


@register
@dataclass(frozen=True)
class DTIP(TreeFormulation):
    """The classification encoding of DTIP, with what every row gets if there are side rows."""

    name = "dtip"
    title = "DTIP (Verwer, Zhang), on binary tests"
    reference = "https://doi.org/10.1007/978-3-319-59776-8_8"
    takes_min_leaf = False

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        return paths.unsupported_paths(self.name, view, space, "bin-oct and flow-oct")

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        paths.add_paths(m, view, space)
        m.p = pyo.Var(
            m.leaves, m.actions, domain=pyo.Binary, doc="p[t,k] = 1 iff leaf t predicts action k"
        )

        @m.Constraint(m.leaves, doc="a leaf predicts one action")
        def one_action(m: Any, t: Any) -> Any:
            return sum(m.p[t, k] for k in m.actions) == 1

        (_given if view.side else _errors)(m, view)

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view

        def leaf(t: int) -> Leaf:
            return Leaf(max(m.actions, key=lambda k: (m.p[t, k].value, -k)))

        return Tree(walk(m, lambda v: paths.tested(m, v), leaf), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        leaves, end = paths.encode_paths(m, *ts.place(tree, view))
        for t, k in m.p:
            m.p[t, k].set_value(int(leaves[t] == k), skip_validation=True)
        if m.component("h") is not None:
            for i, k in m.h:
                m.h[i, k].set_value(int(leaves[end[i]] == k), skip_validation=True)
        else:
            for i in m.rows:
                m.e[i].set_value(m.share[i, leaves[end[i]]], skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.f)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        n, K, D, T = view.n_rows, view.n_actions, space.depth, 2**space.depth
        base = paths.path_sizes(view, space)
        variables, rows = base.variables + T * K, base.rows + T
        nonzeros = base.nonzeros + T * K
        if view.side:
            entries = sum(int(np.count_nonzero(row.coefs)) for row in view.side)
            variables, rows = variables + n * K, rows + n + n * T * K + len(view.side)
            nonzeros += n * K + n * T * K * (2 + D) + entries
        else:
            variables, rows = variables + n, rows + n * T
            nonzeros += T * (n * (1 + D) + int(np.count_nonzero(view.regret)))
        return ModelSize(variables, base.binaries + T * K, rows, nonzeros)

    def templates(self, view: CostMatrix, space: Any) -> bool:
        return False


def _errors(m: Any, view: CostMatrix) -> None:
    """The errors of rows, and their sum as the objective."""
    most = view.regret.max(axis=1)
    share = view.regret / np.maximum(most, 1)[:, None]
    m.share = pyo.Param(
        m.rows,
        m.actions,
        initialize={(i, k): float(share[i, k]) for i in m.rows for k in m.actions},
        doc="rho[r,k] cost of action k above the cheapest one of row r, as a share of the largest",
    )
    m.e = pyo.Var(m.rows, domain=pyo.NonNegativeReals, doc="e[r] error of row r")

    @m.Constraint(m.rows, m.leaves, doc="error of a row in its leaf")
    def error(m: Any, i: Any, t: Any) -> Any:
        wrong = sum(m.share[i, k] * m.p[t, k] for k in m.actions if m.share[i, k])
        return m.e[i] + paths.apart(m, t, i) - wrong >= 0

    ts.minimise(
        m,
        most.tolist(),
        [m.e[i] for i in m.rows],
        int(view.base.sum()),
        "weighted errors",
    )


def _given(m: Any, view: CostMatrix) -> None:
    """What rows get, the side rows, and the cost of what rows get as the objective."""
    m.h = pyo.Var(
        m.rows, m.actions, domain=pyo.UnitInterval, doc="h[r,k] = 1 iff row r gets action k"
    )

    @m.Constraint(m.rows, doc="a row gets one action")
    def one_given(m: Any, i: Any) -> Any:
        return sum(m.h[i, k] for k in m.actions) == 1

    @m.Constraint(m.rows, m.leaves, m.actions, doc="a row gets the action of its leaf")
    def given(m: Any, i: Any, t: Any, k: Any) -> Any:
        return m.h[i, k] + paths.apart(m, t, i) - m.p[t, k] >= 0

    ts.add_side_rows(m, view, lambda i, k: [m.h[i, k]])
    ts.minimise_regret(m, view, lambda i, k: [m.h[i, k]])
