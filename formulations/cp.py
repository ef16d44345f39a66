r"""Verhaeghe, Nijssen, Pesant, Quimper and Schaus's model of decisions, counts and errors, in rows.

In the paper a node v of a complete tree has a variable that is the feature it tests, or none; the
number of rows of each class that reach it; and its smallest number of errors. Global constraints
connect them: COVERSIZE makes a count from the decisions on the path to v, a minimum over the counts
makes the errors of a leaf, and the errors of leaves are added up. Here :math:`b_{vf}=1` iff f is
the decision of v. Instead of COVERSIZE there are the covered rows, :math:`x_{iv}=1` iff row i reaches v, as
products of what the parent covers and where its decision sends the row:

.. math::
   x_{i1}=1,\qquad & x_{i,2v}\ge x_{iv}+\sum_{f:x_{if}=0}b_{vf}-1,\qquad
      x_{i,2v+1}\ge x_{iv}+\sum_{f:x_{if}=1}b_{vf}-1\\
   & x_{i,2v}\le\sum_{f:x_{if}=0}b_{vf},\qquad x_{i,2v+1}\le\sum_{f:x_{if}=1}b_{vf},\qquad
      x_{i,2v}+x_{i,2v+1}\le x_{iv}.

Instead of the minimum, :math:`w_{vk}=1` says which action it is taken from. With the cost
:math:`r_{ik}` of action k above the cheapest one of row i, which makes :math:`c_{vk}` the number of
rows of other classes where errors are counted, and :math:`M_k=\sum_ir_{ik}`,

.. math::
   \min\ \sum_ve_v+\text{penalties},\qquad & c_{vk}=\sum_ir_{ik}x_{iv},\qquad
      \sum_fb_{vf}+\sum_kw_{vk}=1\\
   & e_v\ge c_{vk}-M_k(1-w_{vk}),\qquad e_v\ge0\\
   & \sum_fb_{2v,f}\le\sum_fb_{vf},\qquad \sum_fb_{2v+1,f}\le\sum_fb_{vf}.

c is no variable: its sum stands in the rows for e. A node without a decision covers rows and its
children none. That counts of children add up to those of their parent, a constraint of the paper,
follows from the rows for x. With a minimum leaf size, both children of a decision, and the root,
cover at least :math:`N_{\min}` rows. Large costs are counted in a power of two, as in
`_oct_structure`.

The rest of the paper is its search: an AND/OR search over nodes, which are independent once their
path is decided, with a cache of sets of rows. That is a dynamic programme, and the method `dp` is
one. A solver of these rows (cp-sat, say) searches one tree as a whole.

Reference: Verhaeghe, Nijssen, Pesant, Quimper, Schaus (2020), "Learning optimal decision trees using
constraint programming", Constraints 25, 226–250. Names are ours where the paper's variable became
several; the paper's constraints are global ones, so there are no numbers to keep.
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
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts
from ._oct_structure import cost_unit, entries, in_units


@register
@dataclass(frozen=True)
class ConstraintProgram(TreeFormulation):
    """Decisions, covered rows, counts and smallest errors of every node."""

    name = "cp"
    title = "Decisions, counts and errors (Verhaeghe et al.)"
    reference = "https://doi.org/10.1007/s10601-020-09312-3"
    takes_side_rows = False
    implied_integer = True
    sets_like = {"inner": "nodes"}
    redundant = {
        "hierarchy": "a node decides only if its parent does: it covers no row otherwise, and its decision would be a copy",
        "only_left": "it tightens the relaxation: of 0/1 points it only excludes rows below a node without a decision, which cost and help nothing",
        "only_right": "it tightens the relaxation, as only_left does",
    }

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        ts.add_sets(m, view, space)
        ts.add_tests_by_row(m, view)
        m.inner = pyo.Set(initialize=range(2, 2**space.depth), doc="branch nodes except the root")
        m.parent = pyo.Param(
            m.inner, initialize=lambda m, v: v // 2, within=pyo.Any, doc="parent of a node"
        )
        m.decides = pyo.Set(
            m.nodes,
            initialize=lambda m, v: list(m.features) if v in m.branch else [],
            domain=pyo.Any,
            doc="decisions that a node may have",
        )
        m.b = pyo.Var(
            m.branch, m.features, domain=pyo.Binary, doc="b[v,f] = 1 iff the decision of v is f"
        )
        m.w = pyo.Var(
            m.nodes,
            m.actions,
            domain=pyo.Binary,
            doc="w[v,k] = 1 iff v decides nothing and k is its cheapest action",
        )
        m.x = pyo.Var(m.rows, m.nodes, domain=pyo.Binary, doc="x[i,v] = 1 iff v covers row i")
        m.e = pyo.Var(
            m.nodes,
            domain=pyo.NonNegativeReals,
            doc="e[v] smallest count (errors) of v, 0 if it has a decision",
        )
        _add_cover(m)
        _add_errors(m, view)
        _add_decisions(m, view, space)
        splits, costs, constant = ts.penalties(m, view)
        ts.minimise(
            m,
            [cost_unit(view.regret)] * len(m.nodes) + costs,
            [m.e[v] for v in m.nodes] + splits,
            int(view.base.sum()) + constant,
            "errors of all leaves, and penalties",
        )

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view

        def walk(v: int) -> Any:
            decided = v in m.branch and sum(m.b[v, f].value for f in m.features) > 0.5
            if not decided:
                return Leaf(max(m.actions, key=lambda k: (m.w[v, k].value, -k)))
            f = max(m.features, key=lambda f: m.b[v, f].value)
            return Branch(view.features[f], walk(2 * v), walk(2 * v + 1))

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        regret = in_units(view.regret)
        splits, leaves = ts.place(tree, view)
        end = ts.reached(splits, view)
        for v in m.nodes:
            below = end >> np.maximum(_levels(end) - v.bit_length(), 0)
            covers = below == v
            counts = regret[covers].sum(axis=0)
            action = leaves.get(v, 0)
            m.e[v].set_value(0 if v in splits else counts[action].item(), skip_validation=True)
            for i in m.rows:
                m.x[i, v].set_value(int(covers[i]), skip_validation=True)
            for k in m.actions:
                m.w[v, k].set_value(int(v not in splits and k == action), skip_validation=True)
            for f in m.features if v in m.branch else ():
                m.b[v, f].set_value(int(splits.get(v) == f), skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        n, F, K, D = view.n_rows, view.n_features, view.n_actions, space.depth
        B, V = 2**D - 1, 2 ** (D + 1) - 1
        costly = view.regret > 0
        inner = max(B - 1, 0) if F else 0
        rows = n * (1 + 5 * B) + V * K + V + inner
        nonzeros = n * (1 + B * (2 * F + 9))
        nonzeros += V * int(costly.sum() + K + costly.any(axis=0).sum())
        nonzeros += B * F + V * K + 2 * F * inner
        if space.min_samples_leaf > 1:
            rows, nonzeros = rows + V, nonzeros + V * n + 2 * B * F
        if space.limits_leaves and F:
            rows, nonzeros = rows + 1, nonzeros + B * F
        binaries = B * F + V * (K + n)
        return ModelSize(binaries + V, binaries, rows, nonzeros)


def _levels(nodes: np.ndarray) -> np.ndarray:
    """Number of bits of every heap number."""
    return np.array([int(v).bit_length() for v in nodes.tolist()], dtype=np.int64)


def _add_cover(m: Any) -> None:
    """Rows that nodes cover; they take the place of COVERSIZE."""

    @m.Constraint(m.rows, doc="the root covers every row")
    def root(m: Any, i: Any) -> Any:
        return m.x[i, 1] == 1

    @m.Constraint(m.rows, m.branch, doc="a decision that is false on a row sends it left")
    def goes_left(m: Any, i: Any, v: Any) -> Any:
        return m.x[i, 2 * v] - m.x[i, v] - sum(m.b[v, f] for f in m.false[i]) >= -1

    @m.Constraint(m.rows, m.branch, doc="a decision that is true on a row sends it right")
    def goes_right(m: Any, i: Any, v: Any) -> Any:
        return m.x[i, 2 * v + 1] - m.x[i, v] - sum(m.b[v, f] for f in m.true[i]) >= -1

    @m.Constraint(m.rows, m.branch, doc="a row goes left only by a decision that is false on it")
    def only_left(m: Any, i: Any, v: Any) -> Any:
        return m.x[i, 2 * v] <= sum(m.b[v, f] for f in m.false[i])

    @m.Constraint(m.rows, m.branch, doc="a row goes right only by a decision that is true on it")
    def only_right(m: Any, i: Any, v: Any) -> Any:
        return m.x[i, 2 * v + 1] <= sum(m.b[v, f] for f in m.true[i])

    @m.Constraint(m.rows, m.branch, doc="children cover what their parent covers, and share it")
    def shared(m: Any, i: Any, v: Any) -> Any:
        return m.x[i, 2 * v] + m.x[i, 2 * v + 1] <= m.x[i, v]


def _add_errors(m: Any, view: CostMatrix) -> None:
    """The smallest count of every node where nothing is decided."""
    regret = in_units(view.regret)
    m.costly = pyo.Set(
        m.actions,
        initialize={k: np.flatnonzero(view.regret[:, k]).tolist() for k in m.actions},
        doc="rows with r[i,k] > 0",
    )
    m.regret = pyo.Param(
        m.rows,
        m.actions,
        initialize=entries(regret),
        doc="r[i,k] cost of action k above the cheapest",
    )
    m.most = pyo.Param(
        m.actions,
        initialize=dict(enumerate(regret.sum(axis=0).tolist())),
        doc="M[k] sum of r[i,k]",
    )

    @m.Constraint(m.nodes, m.actions, doc="errors of a node without a decision: the least count")
    def least(m: Any, v: Any, k: Any) -> Any:
        count = sum(m.regret[i, k] * m.x[i, v] for i in m.costly[k])
        return m.e[v] - count - m.most[k] * m.w[v, k] >= -m.most[k]


def _add_decisions(m: Any, view: CostMatrix, space: Trees) -> None:
    """One decision or action of every node; limits on leaves."""

    @m.Constraint(m.nodes, doc="a node has one decision, or none and an action")
    def one_decision(m: Any, v: Any) -> Any:
        return sum(m.w[v, k] for k in m.actions) + sum(m.b[v, f] for f in m.decides[v]) == 1

    if space.depth > 1 and view.n_features:

        @m.Constraint(m.inner, doc="a node decides only if its parent does")
        def hierarchy(m: Any, v: Any) -> Any:
            return sum(m.b[v, f] for f in m.features) <= sum(
                m.b[m.parent[v], f] for f in m.features
            )

    ts.add_split_limit(m, space)
    if space.min_samples_leaf > 1:
        m.n = pyo.Param(
            m.rows,
            initialize=dict(enumerate(view.counts.tolist())),
            doc="original rows that row i stands for",
        )
        least = space.min_samples_leaf
        m.is_root = pyo.Param(
            m.nodes, initialize=lambda m, v: int(v == 1), doc="1 for the root, 0 for others"
        )
        m.up = pyo.Set(
            m.nodes,
            initialize={v: [v // 2] if v > 1 else [] for v in m.nodes},
            domain=pyo.Any,
            doc="parent of a node, if it has one",
        )

        @m.Constraint(m.nodes, doc="the root and children of a decision cover enough rows")
        def size(m: Any, v: Any) -> Any:
            rows = sum(m.n[i] * m.x[i, v] for i in m.rows)
            decided = sum(m.b[u, f] for u in m.up[v] for f in m.features)
            return rows - least * decided >= least * m.is_root[v]
