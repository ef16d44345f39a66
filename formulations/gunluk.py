r"""Splits on sets of categories that the model chooses itself (Günlük et al. 2021).

A tree of depth D has inner nodes, and last nodes above its leaves. The left leaf of a last node
predicts the first action and the right leaf the second one; a split may be turned around, so
nothing is lost. With the columns g of `_set_columns` and their values j,
:math:`v_{ug}=1` iff node u divides column g, and :math:`\zeta_{ugj}=1` iff value j then goes left;
:math:`c_{it}=1` iff row i is in leaf t. Row i goes left at u iff

.. math:: L_{iu}=\sum_g\zeta_{u,g,x_{ig}}+(s_u\text{ or }q_u)=1 .

.. math::
   \min\ &\sum_{i,t}r_{i,k(t)}c_{it}+\text{penalties}\\
   & \textstyle\sum_gv_{ug}+s_u=1,\qquad \zeta_{ugj}\le v_{ug},\qquad \sum_tc_{it}=1\\
   \text{weak:}\quad & c_{it}\le L_{iu}\ (t\text{ left of }u),\qquad
     c_{it}\le1-L_{iu}\ (t\text{ right of }u)\\
   \text{strong:}\quad & \textstyle\sum_{t\text{ left of }u}c_{it}\le L_{iu},\qquad
     \sum_{t\text{ right of }u}c_{it}\le1-L_{iu}\\
   \text{anchor:}\quad & \zeta_{u,g,0}=v_{ug}\quad(u\text{ an inner node}),

where :math:`r_{ik}` is the cost of action k on row i above the cheapest one. The anchor, a value
that goes left wherever its column is divided, excludes the tree with both subtrees exchanged. At
last nodes it would be wrong: their leaves are labelled. Rows are routed by :math:`\zeta`, so c may
be continuous.

**Numbers.** Thresholds divide ranks in order: :math:`\zeta_{u,g,j+1}\le\zeta_{ugj}`. Where no
anchor says which side is left, :math:`o_u=1` turns the order around:
:math:`\zeta_{u,g,j+1}\le\zeta_{ugj}+o_u` and :math:`\zeta_{ugj}\le\zeta_{u,g,j+1}+1-o_u`;
any o between 0 and 1 leaves only the divisions of 0 and 1, and those that divide nothing.

**Ours.** Constraints have names here, and not the paper's numbers. The paper has two classes with a
weight for one of them, and trees of a given shape; here are two actions with any costs, and this:

- :math:`s_u=1`: node u tests nothing. An inner node then sends every row left; a last node sends
  them left if :math:`q_u=1` and right otherwise (:math:`q_u\le s_u`), so a leaf may stand at any
  depth. The equation makes s whole. Splits, which penalties and leaf limits count, are :math:`\sum_{u,g}v_{ug}`.
- :math:`\alpha_t=1` iff leaf t holds rows, for a minimum leaf size:
  :math:`\sum_ic_{it}\le n\alpha_t` and :math:`\sum_in_ic_{it}\ge N_{\min}\alpha_t`.
- Side constraints are sums of c, because the action of a leaf is known.

The model has a variable per value of a column and not one per set of values. The data list the
sets nevertheless (`category_sets`), because other methods and the check of a result ask features;
a column for which they list only some of its sets is taken as separate features.

Reference: Günlük, Kalagnanam, Li, Menickelly, Scheinberg (2021), "Optimal decision trees for
categorical data via integer programming", Journal of Global Optimization 81, 233–260,
arXiv:1612.03225.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts
from ._set_columns import SetColumn, set_columns


@register
@dataclass(frozen=True)
class Gunluk(TreeFormulation):
    """Splits on sets of categories, for two actions.

    Parameters
    ----------
    rows : {"strong", "weak"}
        Whether the leaves on one side of a node are bounded together, or one by one.
    anchor : bool, default=True
        Whether at inner nodes the first value of the divided column goes left.
    """

    name = "gunluk"
    title = "Sets of categories (Günlük, Kalagnanam, Li, Menickelly, Scheinberg)"
    reference = "https://arxiv.org/abs/1612.03225"
    tests_in = None
    other_sides = "the anchor of a column goes left"
    implied_integer = True
    zero_one = frozenset({"c", "s", "o"})
    redundant = {
        "anchored": "of a tree and the same tree with exchanged subtrees it excludes one",
    }

    rows: str = "strong"
    anchor: bool = True

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        if self.rows not in ("strong", "weak"):
            return f"gunluk has rows 'strong' and 'weak'; got {self.rows!r}."
        if view.n_actions > 2:
            return f"gunluk labels the leaves of its last splits with two actions, and these are {view.n_actions}; flow-oct, state-flow and dp take any number."
        return None

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        columns, D = _columns(view, space), max(1, space.depth)
        _add_sets(m, view, columns, D, self.anchor)
        _add_variables(m, self.anchor)
        _add_divisions(m, self.anchor)
        if len(m.inner):
            (_strong if self.rows == "strong" else _weak)(m)
        _bound_last(m)

        @m.Constraint(m.rows, doc="a row is in one leaf")
        def one_leaf(m: Any, i: Any) -> Any:
            return sum(m.c[i, t] for t in m.leaves) == 1

        _add_limits(m, view, space)
        of_action = {k: [t for t in m.leaves if _action(t, view) == k] for k in m.actions}
        ts.add_side_rows(m, view, lambda i, k: [m.c[i, t] for t in of_action[k]])
        terms = [
            (int(view.regret[i, k]), m.c[i, t])
            for i, k in np.argwhere(view.regret).tolist()
            for t in of_action[k]
        ]
        prices = [view.leaf_cost + column.price for column in columns]
        terms += [(prices[g], m.v[u, g]) for u in m.branch for g in m.columns if prices[g]]
        ts.minimise(
            m,
            [a for a, _ in terms],
            [x for _, x in terms],
            int(view.base.sum()) + view.leaf_cost,
            "cost of the chosen actions, and penalties",
        )

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        def level(e: int) -> str:
            g = m.column[e]
            return f"{m.divided[g].name}: value {e - m.first[g]}"

        words = super().meanings(m, problem)
        return {**words, "columns": lambda g: m.divided[g].name, "levels": level}

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view
        columns = m.divided

        def walk(u: int) -> Any:
            if u in m.leaves:
                return Leaf(_action(u, view))
            if m.s[u].value > 0.5:
                return walk(2 * u if u in m.inner or m.q[u].value > 0.5 else 2 * u + 1)
            g = max(m.columns, key=lambda g: m.v[u, g].value)
            first = m.first[g]
            left = frozenset(
                j for j in range(columns[g].n_values) if m.zeta[u, first + j].value > 0.5
            )
            if len(left) in (0, columns[g].n_values):
                return walk(2 * u if left else 2 * u + 1)
            if left not in columns[g].sides:
                raise DataError(
                    f"The values of {columns[g].name!r} are divided as no feature divides them; report this with the model."
                )
            f, true_left = columns[g].sides[left]
            low, high = walk(2 * u), walk(2 * u + 1)
            return Branch(view.features[f], *((high, low) if true_left else (low, high)))

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        divided, leftward = _place(tree, m, view)
        end = np.ones(view.n_rows, dtype=np.int64)
        for u in m.branch:
            g, left = divided.get(u, (None, frozenset()))
            here = end == u
            if g is None:
                end[here] = 2 * u + (not leftward.get(u, True))
            else:
                end[here] = 2 * u + ~np.isin(m.divided[g].values[here], sorted(left))
            self._encode_node(m, u, g, left, leftward.get(u, True))
        for t in m.leaves:
            inside = end == t
            for i in m.rows:
                m.c[i, t].set_value(int(inside[i]), skip_validation=True)
            if m.component("alpha") is not None:
                m.alpha[t].set_value(int(inside.any()), skip_validation=True)

    def _encode_node(self, m: Any, u: int, g: int | None, left: Any, leftward: bool) -> None:
        """Values of v, zeta, s, q and o at a node."""
        for h in m.columns:
            m.v[u, h].set_value(int(h == g), skip_validation=True)
            for j in range(m.divided[h].n_values):
                inside = h == g and j in left
                m.zeta[u, m.first[h] + j].set_value(int(inside), skip_validation=True)
        m.s[u].set_value(int(g is None), skip_validation=True)
        if u in m.last:
            m.q[u].set_value(int(g is None and leftward), skip_validation=True)
        if u in m.turned:
            rising = g is not None and m.divided[g].ordered and 0 not in left
            m.o[u].set_value(int(rising), skip_validation=True)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        columns, D, n = _columns(view, space), max(1, space.depth), view.n_rows
        B, T = 2**D - 1, 2**D
        inner, last, G = T // 2 - 1, T // 2, len(columns)
        values = sum(c.n_values for c in columns)
        steps = sum(c.n_values - 1 for c in columns if c.ordered)
        fixed = inner if self.anchor else 0
        turned = (B - fixed) if steps else 0
        binaries, others = B * (G + values) + last, B + turned + n * T
        rows, nonzeros = B * (1 + values) + last, B * (G + 1 + 2 * values) + 2 * last
        rows, nonzeros = rows + fixed * G, nonzeros + 2 * fixed * G
        if steps:
            rows += fixed * steps + 2 * turned * steps
            nonzeros += 2 * fixed * steps + 6 * turned * steps
        # A row has one value of each column, and s or q; D * T pairs of a leaf and a node above it.
        per_row = G + 1
        pairs = 2 * B if self.rows == "strong" else D * T
        rows, nonzeros = rows + n * (pairs + 1), nonzeros + n * (pairs * per_row + D * T + T)
        if space.min_samples_leaf > 1:
            binaries, rows, nonzeros = binaries + T, rows + 2 * T, nonzeros + 2 * T * (n + 1)
        if space.limits_leaves and G:
            rows, nonzeros = rows + 1, nonzeros + B * G
        for side in view.side:
            rows += 1
            nonzeros += sum(
                sum(_action(t, view) == k for t in range(T, 2 * T))
                for _, k in np.argwhere(side.coefs).tolist()
            )
        return ModelSize(binaries + others, binaries, rows, nonzeros)


# -- the model, part by part -----------------------------------------------------------------------


def _columns(view: CostMatrix, space: Trees) -> list[SetColumn]:
    """The columns; none for trees of one leaf, whose one node then tests nothing."""
    return set_columns(view) if space.depth else []


def _action(leaf: int, view: CostMatrix) -> int:
    """The action of a leaf: the first one on the left of a last node."""
    return min(leaf % 2, view.n_actions - 1)


def _add_sets(m: Any, view: CostMatrix, columns: Sequence[SetColumn], D: int, anchor: bool) -> None:
    m.divided = columns
    m.first = np.cumsum([0, *(c.n_values for c in columns)]).tolist()
    n_values, G = m.first[-1], len(columns)
    m.rows = pyo.RangeSet(0, view.n_rows - 1, doc="rows i (merged rows count once)")
    m.actions = pyo.RangeSet(0, view.n_actions - 1, doc="actions k")
    m.branch = pyo.RangeSet(1, 2**D - 1, doc="branch nodes u")
    m.inner = pyo.RangeSet(1, 2 ** (D - 1) - 1, doc="inner nodes, whose children are nodes")
    m.last = pyo.RangeSet(2 ** (D - 1), 2**D - 1, doc="last nodes, whose children are leaves")
    m.leaves = pyo.RangeSet(2**D, 2 ** (D + 1) - 1, doc="leaves t")
    m.columns = pyo.RangeSet(0, G - 1, doc="columns g")
    m.levels = pyo.RangeSet(0, n_values - 1, doc="values j of all columns, one after the other")
    place = [g for g, c in enumerate(columns) for _ in range(c.n_values)]
    m.column = pyo.Param(m.levels, initialize=dict(enumerate(place)), doc="column of a value")
    m.anchor = pyo.Param(
        m.columns, initialize=dict(enumerate(m.first[:-1])), doc="anchor of a column"
    )
    steps = [
        m.first[g] + j for g, c in enumerate(columns) if c.ordered for j in range(c.n_values - 1)
    ]
    m.steps = pyo.Set(initialize=steps, doc="values of ordered columns that have a next one")
    inner = list(m.inner)
    m.anchored_nodes = pyo.Set(initialize=inner if anchor else [], doc="nodes with an anchor")
    free = [] if not steps else [u for u in m.branch if not (anchor and u in m.inner)]
    m.turned = pyo.Set(initialize=free, doc="nodes that may turn an order around")
    held = np.array([c.values for c in columns], dtype=np.int64).reshape(G, view.n_rows)
    held = held + np.array(m.first[:-1], dtype=np.int64)[:, None]
    m.held = pyo.Set(
        m.rows, initialize=lambda m, i: held[:, i].tolist(), doc="values of row i, one per column"
    )
    D_of = {u: D + 1 - u.bit_length() for u in m.branch}
    m.left_leaves = pyo.Set(
        m.branch,
        initialize={u: list(range(u << d, (u << d) + 2 ** (d - 1))) for u, d in D_of.items()},
        doc="leaves left of u",
    )
    m.right_leaves = pyo.Set(
        m.branch,
        initialize={u: list(range((u << d) + 2 ** (d - 1), (u + 1) << d)) for u, d in D_of.items()},
        doc="leaves right of u",
    )


def _add_variables(m: Any, anchor: bool) -> None:
    m.v = pyo.Var(m.branch, m.columns, domain=pyo.Binary, doc="v[u,g] = 1 iff u divides column g")
    m.zeta = pyo.Var(
        m.branch, m.levels, domain=pyo.Binary, doc="zeta[u,j] = 1 iff value j goes left at u"
    )
    m.s = pyo.Var(m.branch, domain=pyo.UnitInterval, doc="s[u] = 1 iff node u tests nothing")
    m.q = pyo.Var(
        m.last, domain=pyo.Binary, doc="q[u] = 1 iff u tests nothing and sends every row left"
    )
    if len(m.turned):
        m.o = pyo.Var(
            m.turned,
            domain=pyo.UnitInterval,
            doc="o[u] = 1 iff the higher values of an order go left",
        )
    m.c = pyo.Var(
        m.rows, m.leaves, domain=pyo.NonNegativeReals, doc="c[i,t] = 1 iff row i is in leaf t"
    )


def _add_divisions(m: Any, anchor: bool) -> None:
    """Every node divides the values of one column, or tests nothing."""

    @m.Constraint(m.branch, doc="a node divides one column, or tests nothing")
    def one_test(m: Any, u: Any) -> Any:
        return sum(m.v[u, g] for g in m.columns) + m.s[u] == 1

    @m.Constraint(m.last, doc="a last node that sends every row left tests nothing")
    def sent_left(m: Any, u: Any) -> Any:
        return m.q[u] <= m.s[u]

    @m.Constraint(m.branch, m.levels, doc="only values of the divided column go left")
    def of_column(m: Any, u: Any, e: Any) -> Any:
        return m.zeta[u, e] <= m.v[u, m.column[e]]

    if len(m.anchored_nodes) and len(m.columns):

        @m.Constraint(
            m.anchored_nodes, m.columns, doc="the anchor goes left where its column is divided"
        )
        def anchored(m: Any, u: Any, g: Any) -> Any:
            return m.zeta[u, m.anchor[g]] == m.v[u, g]

    if not len(m.steps):
        return
    if len(m.anchored_nodes):

        @m.Constraint(m.anchored_nodes, m.steps, doc="the lower values of an order go left")
        def in_order(m: Any, u: Any, e: Any) -> Any:
            return m.zeta[u, e + 1] <= m.zeta[u, e]

    @m.Constraint(m.turned, m.steps, doc="the lower values go left if the order is not turned")
    def falling(m: Any, u: Any, e: Any) -> Any:
        return m.zeta[u, e + 1] <= m.zeta[u, e] + m.o[u]

    @m.Constraint(m.turned, m.steps, doc="the higher values go left if the order is turned")
    def rising(m: Any, u: Any, e: Any) -> Any:
        return m.zeta[u, e] <= m.zeta[u, e + 1] + 1 - m.o[u]


def _strong(m: Any) -> None:
    """The leaves on one side of a node are bounded together."""

    @m.Constraint(m.rows, m.inner, doc="strong: left of an inner node only if row i goes left")
    def left_inner(m: Any, i: Any, u: Any) -> Any:
        return sum(m.c[i, t] for t in m.left_leaves[u]) <= m.s[u] + sum(
            m.zeta[u, e] for e in m.held[i]
        )

    @m.Constraint(m.rows, m.inner, doc="strong: right of an inner node only if row i goes right")
    def right_inner(m: Any, i: Any, u: Any) -> Any:
        return sum(m.c[i, t] for t in m.right_leaves[u]) <= 1 - m.s[u] - sum(
            m.zeta[u, e] for e in m.held[i]
        )


def _bound_last(m: Any) -> None:
    """A last node has one leaf on each side, so both forms are the same there."""

    @m.Constraint(m.rows, m.last, doc="left leaf of a last node only if row i goes left")
    def left_last(m: Any, i: Any, u: Any) -> Any:
        return m.c[i, 2 * u] <= m.q[u] + sum(m.zeta[u, e] for e in m.held[i])

    @m.Constraint(m.rows, m.last, doc="right leaf of a last node only if row i goes right")
    def right_last(m: Any, i: Any, u: Any) -> Any:
        return m.c[i, 2 * u + 1] <= 1 - m.q[u] - sum(m.zeta[u, e] for e in m.held[i])


def _weak(m: Any) -> None:
    """The leaves on one side of a node are bounded one by one."""
    for side in ("left", "right"):
        leaves = m.left_leaves if side == "left" else m.right_leaves
        pairs = [(u, t) for u in m.inner for t in leaves[u]]
        m.add_component(
            f"{side}_of",
            pyo.Set(dimen=2, initialize=pairs, doc=f"inner nodes u with the leaves {side} of them"),
        )

    @m.Constraint(m.rows, m.left_of, doc="weak: a leaf left of an inner node")
    def left_inner(m: Any, i: Any, u: Any, t: Any) -> Any:
        return m.c[i, t] <= m.s[u] + sum(m.zeta[u, e] for e in m.held[i])

    @m.Constraint(m.rows, m.right_of, doc="weak: a leaf right of an inner node")
    def right_inner(m: Any, i: Any, u: Any, t: Any) -> Any:
        return m.c[i, t] <= 1 - m.s[u] - sum(m.zeta[u, e] for e in m.held[i])


def _add_limits(m: Any, view: CostMatrix, space: Trees) -> None:
    """The leaf limit and the minimum leaf size."""
    if space.limits_leaves and len(m.columns):
        splits = sum(m.v[u, g] for u in m.branch for g in m.columns)
        m.most_splits = pyo.Constraint(
            expr=(None, splits, space.max_splits), doc="at most max_leaf_nodes - 1 splits"
        )
    if space.min_samples_leaf <= 1:
        return
    m.alpha = pyo.Var(m.leaves, domain=pyo.Binary, doc="alpha[t] = 1 iff leaf t holds rows")
    m.count = pyo.Param(
        m.rows,
        initialize=dict(enumerate(view.counts.tolist())),
        doc="original rows that row i stands for",
    )
    n = view.n_rows

    @m.Constraint(m.leaves, doc="rows are in leaves that are in use")
    def in_use(m: Any, t: Any) -> Any:
        return sum(m.c[i, t] for i in m.rows) <= n * m.alpha[t]

    @m.Constraint(m.leaves, doc="a leaf in use holds at least min_samples_leaf rows")
    def leaf_size(m: Any, t: Any) -> Any:
        return sum(m.count[i] * m.c[i, t] for i in m.rows) >= space.min_samples_leaf * m.alpha[t]


def _place(
    tree: Tree, m: Any, view: CostMatrix
) -> tuple[dict[int, tuple[int, Any]], dict[int, bool]]:
    """Column and left values of every node that divides; for others whether rows go left.

    A split whose leaves predict the same is left out, a split of an inner node is turned so that
    its anchor goes left, and one of a last node so that its left leaf predicts the first action.
    """
    where = {f: g for g, column in enumerate(m.divided) for f in column.tests}
    divided: dict[int, tuple[int, Any]] = {}
    leftward: dict[int, bool] = {}

    def walk(node: Any, u: int) -> None:
        same = None if isinstance(node, Leaf) else _one_action(node)
        if isinstance(node, Leaf) or same is not None:
            while u in m.inner:
                u *= 2
            action = node.action if isinstance(node, Leaf) else same
            leftward[u] = action == _action(2 * u, view)
            return
        g = where[view.index[node.test]]
        left, low, high = m.divided[g].left(view.index[node.test]), node.left, node.right
        first = low if u in m.inner else None
        wrong = 0 not in left if first is not None else low.action != _action(2 * u, view)
        if wrong:
            left, low, high = frozenset(range(m.divided[g].n_values)) - left, high, low
        divided[u] = (g, left)
        if u in m.inner:
            walk(low, 2 * u)
            walk(high, 2 * u + 1)

    walk(view.canonical(tree).root, 1)
    return divided, leftward


def _one_action(node: Any) -> int | None:
    """The action of two leaves that predict the same; None for any other node."""
    leaves = isinstance(node.left, Leaf) and isinstance(node.right, Leaf)
    return node.left.action if leaves and node.left.action == node.right.action else None
