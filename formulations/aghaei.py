r"""Aghaei, Azizi and Vayanos's fair trees (2019), on binary features.

:math:`p_{vf}=1` iff node v tests f, :math:`w_{iv}=1` iff the test of v sends row i left,
:math:`z_{it}=1` iff row i is in leaf t, :math:`u_{tk}=1` iff leaf t predicts action k, and
:math:`y_{itk}=z_{it}u_{tk}`; :math:`T_L(v)` and :math:`T_R(v)` are the leaves below the left and the
right child of v.

.. math::
   \min\ \sum_{i,t,k}r_{ik}y_{itk}+\text{penalties}\qquad
   & \sum_fp_{vf}\le1 & v\in B\\
   & w_{iv}=\sum_{f:x_{if}=0}p_{vf} & i,\ v\in B\\
   & z_{it}\le w_{iv} & i,\ v\in B,\ t\in T_L(v)\\
   & z_{it}\le1-w_{iv} & i,\ v\in B,\ t\in T_R(v)\\
   & \sum_tz_{it}=1 & i\\
   & \sum_ku_{tk}=1 & t\in T\\
   & \sum_ky_{itk}=z_{it},\qquad y_{itk}\le u_{tk} & i,\ t\in T,\ k.

In the paper a node may test columns of two kinds. At a quantitative column it has a cut-off and the
deviations of every row from it, and at a categorical column it has the set of levels that go left;
big-M terms switch off the routing of the other kind. A binary test is a column of two levels of
which one goes left, so that one variable per node and test is left, and big-M terms are not. What
remains of the paper's routing is that every node limits every leaf below it by itself; models that
limit the sum of these leaves (`oct_binary`) have a better relaxation. A node without a test sends all
rows right, as that with an empty set of levels.

In the paper an index of discrimination, a sum of absolute differences of shares, is added to the
objective with a price. That penalty is not here. As a constraint, of two groups, the index is
statistical parity, which side constraints express over y. Labels u are binary: a leaf that randomises would be fair by
fractions. Leaves whose predictions are linear in the columns are not here. Minimum leaf sizes are
ours: :math:`l_t=1` iff leaf t is in use, :math:`z_{it}\le l_t`, and it then holds so many rows.

Reference: Aghaei, Azizi, Vayanos (2019), "Learning optimal and fair decision trees for
non-discriminative decision-making", AAAI 33, 1418–1426, arXiv:1903.10598. The model was
written from descriptions of it and from public code, since the paper's equations were not at hand.
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

from . import _tree_structure as ts
from ._distances import walk
from ._oct_structure import leaves_below


@register
@dataclass(frozen=True)
class Aghaei(TreeFormulation):
    """Rows in leaves, limited by every node on the way, and their predictions as products."""

    name = "aghaei"
    title = "Fair trees (Aghaei, Azizi, Vayanos), on binary tests"
    reference = "https://arxiv.org/abs/1903.10598"
    implied_integer = True
    zero_one = frozenset({"w", "z", "y"})

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        ts.add_sets(m, view, space)
        ts.add_tests_by_row(m, view)
        m.below_left = pyo.Set(
            dimen=2,
            initialize=[(v, t) for v in m.branch for t in leaves_below(2 * v, space)],
            doc="(v,t) where leaf t is below the left child of node v",
        )
        m.below_right = pyo.Set(
            dimen=2,
            initialize=[(v, t) for v in m.branch for t in leaves_below(2 * v + 1, space)],
            doc="(v,t) where leaf t is below the right child of node v",
        )
        m.p = pyo.Var(m.branch, m.features, domain=pyo.Binary, doc="p[v,f] = 1 iff node v tests f")
        m.u = pyo.Var(
            m.leaves, m.actions, domain=pyo.Binary, doc="u[t,k] = 1 iff leaf t predicts action k"
        )
        m.w = pyo.Var(
            m.rows,
            m.branch,
            domain=pyo.UnitInterval,
            doc="w[i,v] = 1 iff the test of v sends row i left",
        )
        m.z = pyo.Var(
            m.rows, m.leaves, domain=pyo.UnitInterval, doc="z[i,t] = 1 iff row i is in leaf t"
        )
        m.y = pyo.Var(
            m.rows,
            m.leaves,
            m.actions,
            domain=pyo.UnitInterval,
            doc="y[i,t,k] = 1 iff row i is in leaf t, which predicts action k",
        )

        if view.n_features:

            @m.Constraint(m.branch, doc="a node has at most one test")
            def one_test(m: Any, v: Any) -> Any:
                return sum(m.p[v, f] for f in m.features) <= 1

        @m.Constraint(m.rows, m.branch, doc="a test that is false sends a row left")
        def sent_left(m: Any, i: Any, v: Any) -> Any:
            return m.w[i, v] - sum(m.p[v, f] for f in m.false[i]) == 0

        @m.Constraint(m.rows, m.below_left, doc="rows below the left child were sent left")
        def left(m: Any, i: Any, v: Any, t: Any) -> Any:
            return m.z[i, t] - m.w[i, v] <= 0

        @m.Constraint(m.rows, m.below_right, doc="rows below the right child were not sent left")
        def right(m: Any, i: Any, v: Any, t: Any) -> Any:
            return m.z[i, t] + m.w[i, v] <= 1

        @m.Constraint(m.rows, doc="a row is in one leaf")
        def one_leaf(m: Any, i: Any) -> Any:
            return sum(m.z[i, t] for t in m.leaves) == 1

        @m.Constraint(m.leaves, doc="a leaf predicts one action")
        def one_action(m: Any, t: Any) -> Any:
            return sum(m.u[t, k] for k in m.actions) == 1

        @m.Constraint(m.rows, m.leaves, doc="a row gets one action where it is, and none elsewhere")
        def given_inside(m: Any, i: Any, t: Any) -> Any:
            return sum(m.y[i, t, k] for k in m.actions) - m.z[i, t] == 0

        @m.Constraint(m.rows, m.leaves, m.actions, doc="a row gets only what its leaf predicts")
        def given_action(m: Any, i: Any, t: Any, k: Any) -> Any:
            return m.y[i, t, k] - m.u[t, k] <= 0

        if space.limits_leaves and view.n_features:
            splits = sum(m.p[v, f] for v in m.branch for f in m.features)
            m.most_splits = pyo.Constraint(
                expr=(None, splits, space.max_splits), doc="at most max_leaf_nodes - 1 splits"
            )
        if space.min_samples_leaf > 1:
            _add_leaf_size(m, view, space)
        ts.add_side_rows(m, view, lambda i, k: [m.y[i, t, k] for t in m.leaves])
        cost = (view.split_costs + view.leaf_cost).tolist()
        terms = [
            (int(view.regret[i, k]), m.y[i, t, k])
            for i, k in np.argwhere(view.regret).tolist()
            for t in m.leaves
        ]
        terms += [(cost[f], m.p[v, f]) for v in m.branch for f in m.features if cost[f]]
        ts.minimise(
            m,
            [c for c, _ in terms],
            [x for _, x in terms],
            int(view.base.sum()) + view.leaf_cost,
            "cost of the predicted actions, and penalties",
        )

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view

        def tested(v: int) -> Any:
            if sum(m.p[v, f].value for f in m.features) < 0.5:
                return None
            return max(m.features, key=lambda f: m.p[v, f].value)

        def leaf(t: int) -> Leaf:
            return Leaf(max(m.actions, key=lambda k: (m.u[t, k].value, -k)))

        return Tree(walk(m, tested, leaf), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        splits, leaves = ts.place(tree, view)
        for v in m.branch:
            for f in m.features:
                m.p[v, f].set_value(int(splits.get(v) == f), skip_validation=True)
            if v in leaves:  # all rows go right, to the last leaf below
                leaves[2 * v] = leaves[2 * v + 1] = leaves[v]
        for t, k in m.u:
            m.u[t, k].set_value(int(leaves[t] == k), skip_validation=True)
        end = [_last(v, m) for v in ts.reached(splits, view).tolist()]
        for i, v in m.w:
            left = v in splits and not view.X[i, splits[v]]
            m.w[i, v].set_value(int(left), skip_validation=True)
        for i, t, k in m.y:
            m.z[i, t].set_value(int(end[i] == t), skip_validation=True)
            m.y[i, t, k].set_value(int(end[i] == t and leaves[t] == k), skip_validation=True)
        if m.component("l") is not None:
            for t in m.leaves:
                m.l[t].set_value(int(t in end), skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.p)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        n, F, K, D = view.n_rows, view.n_features, view.n_actions, space.depth
        B, T = 2**D - 1, 2**D
        variables, binaries = B * F + T * K + n * (B + T + T * K), B * F + T * K
        rows = B * bool(F) + n * B + n * D * T + n + T + n * T * (1 + K)
        nonzeros = B * F + n * B + B * int((view.X == 0).sum()) + 2 * n * D * T
        nonzeros += n * T + T * K + n * T * (K + 1) + 2 * n * T * K
        if space.limits_leaves and F:
            rows, nonzeros = rows + 1, nonzeros + B * F
        if space.min_samples_leaf > 1:
            variables, binaries = variables + T, binaries + T
            rows, nonzeros = rows + n * T + T, nonzeros + 2 * n * T + T * (n + 1)
        return ts.with_sums(
            ModelSize(variables, binaries, rows, nonzeros), view, space, per_action=T
        )


def _add_leaf_size(m: Any, view: CostMatrix, space: Trees) -> None:
    """Leaves in use hold enough rows."""
    m.count = pyo.Param(
        m.rows,
        initialize=dict(enumerate(view.counts.tolist())),
        doc="original rows that row i stands for",
    )
    m.l = pyo.Var(m.leaves, domain=pyo.Binary, doc="l[t] = 1 iff leaf t is in use")

    @m.Constraint(m.rows, m.leaves, doc="rows are in leaves that are in use")
    def in_use(m: Any, i: Any, t: Any) -> Any:
        return m.z[i, t] - m.l[t] <= 0

    @m.Constraint(m.leaves, doc="a leaf in use holds at least min_samples_leaf rows")
    def leaf_size(m: Any, t: Any) -> Any:
        rows = sum(m.count[i] * m.z[i, t] for i in m.rows)
        return rows - space.min_samples_leaf * m.l[t] >= 0


def _last(v: int, m: Any) -> int:
    """The rightmost leaf below a node."""
    while v not in m.leaves:
        v = 2 * v + 1
    return v
