r"""OCT on binary features: no thresholds, no epsilons, no big-M in the routing.

If every feature is 0/1 already, b and (3), (13), (14) of `oct` are replaced. With
:math:`e_{iv}=\sum_{f:x_{if}=0}a_{fv}` (1 iff the test of v is false on row i),

.. math:: \sum_{t\text{ left below }v}z_{it}\le e_{iv},\qquad \sum_{t\text{ right below }v}z_{it}\le1-e_{iv}\qquad(i,\ v\in B).

A node that does not split has e = 0 and sends its rows to the right. Everything else is OCT: (2),
(5)–(8), (18), (20), and side constraints (`_row_actions`).

Reference: Bertsimas, Dunn (2017), "Optimal classification trees", Machine Learning 106, 1039–1082;
the form for binary features is well known and has no single source.
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
from milp_trees.models.nodes import Branch
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _oct_structure as parts
from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class OCTBinary(TreeFormulation):
    """OCT on binary features."""

    name = "oct-binary"
    title = "OCT on binary tests"
    reference = "https://doi.org/10.1007/s10994-017-5633-9"
    changeable = frozenset({"side", "leaves"})
    zero_one = frozenset({"u"})
    implied_integer = True
    redundant = parts.HIERARCHY

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        ts.add_sets(m, view, space)
        m.false = pyo.Set(
            m.rows,
            initialize={i: (view.X[i] == 0).nonzero()[0].tolist() for i in m.rows},
            domain=pyo.Any,
            doc="features that are 0 on row i",
        )
        m.a = pyo.Var(m.features, m.branch, domain=pyo.Binary, doc="a[f,v] = 1 iff node v tests f")
        parts.add_splits(m, space)

        @m.Constraint(m.branch, doc="(2) a node that splits has one test")
        def one_test(m: Any, v: Any) -> Any:
            return sum(m.a[f, v] for f in m.features) == m.d[v]

        parts.add_leaves(m, view, space)
        add_routing(m, space)
        cost = (view.split_costs + view.leaf_cost).tolist()
        parts.add_objective(
            m, view, [(cost[f], m.a[f, v]) for f in m.features for v in m.branch if cost[f]]
        )

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view

        def walk(v: int) -> Any:
            if v in m.leaves:
                return parts.chosen_action(m, v)
            if m.d[v].value < 0.5:
                return walk(2 * v + 1)
            f = max(m.features, key=lambda f: m.a[f, v].value)
            return Branch(view.features[f], walk(2 * v), walk(2 * v + 1))

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        splits, leaves = ts.place(tree, m.view)
        for v in m.branch:
            for f in m.features:
                m.a[f, v].set_value(int(splits.get(v) == f), skip_validation=True)
        parts.encode_leaves(m, set(splits), leaves, ts.reached(splits, m.view), rightmost=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.a, nodes_first=False)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        n, F, D = view.n_rows, view.n_features, space.depth
        B, T = 2**D - 1, 2**D
        base = parts.leaf_sizes(view, space)
        nonzeros = base.nonzeros + B * (F + 1) + n * D * T + 2 * B * int((view.X == 0).sum())
        return ModelSize(
            base.variables + B * F, base.binaries + B * F, base.rows + B + 2 * n * B, nonzeros
        )


def add_routing(m: Any, space: Trees) -> None:
    """Rows go where the tests send them."""
    m.left_leaves = pyo.Set(
        m.branch,
        initialize={v: parts.leaves_below(2 * v, space) for v in m.branch},
        doc="leaves below the left child",
    )
    m.right_leaves = pyo.Set(
        m.branch,
        initialize={v: parts.leaves_below(2 * v + 1, space) for v in m.branch},
        doc="leaves below the right child",
    )

    @m.Constraint(m.rows, m.branch, doc="a row goes left only where the test is false")
    def left(m: Any, i: Any, v: Any) -> Any:
        return sum(m.z[i, t] for t in m.left_leaves[v]) <= sum(m.a[f, v] for f in m.false[i])

    @m.Constraint(m.rows, m.branch, doc="a row goes right unless the test is false")
    def right(m: Any, i: Any, v: Any) -> Any:
        return sum(m.z[i, t] for t in m.right_leaves[v]) <= 1 - sum(m.a[f, v] for f in m.false[i])
