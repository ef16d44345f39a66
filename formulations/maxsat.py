r"""Shati, Cohen and McIlraith's clauses for a complete tree on columns with thresholds.

:math:`a_{tj}`: node t splits column j; :math:`s_{it}`: row i goes left at t; :math:`z_{it}`: it ends
in leaf t; :math:`g_{tc}`: leaf t has label c; :math:`p_i`: row i is classified correctly. A threshold
is no variable: it is where s changes in the order :math:`O_j` of the rows by column j. With the
pairs :math:`(i,i')` of neighbours in that order and the ancestors :math:`A_l(t),A_r(t)` of a leaf
whose left and right branch lead to it, the hard clauses are

.. math::
   (1),(2)\quad & \textstyle\sum_ja_{tj}=1\\
   (3)\quad & \neg a_{tj}\vee s_{it}\vee\neg s_{i't} && (i,i')\in O_j\\
   (4)\quad & \neg a_{tj}\vee\neg s_{it}\vee s_{i't} && (i,i')\in O_j,\ x_{ij}=x_{i'j}\\
   (5),(6)\quad & \neg z_{it}\vee s_{iu}\ (u\in A_l(t)),\qquad \neg z_{it}\vee\neg s_{iu}\ (u\in A_r(t))\\
   (7)\quad & \textstyle z_{it}\vee\bigvee_{u\in A_l(t)}\neg s_{iu}\vee\bigvee_{u\in A_r(t)}s_{iu}\\
   (8)\quad & \textstyle\sum_cg_{tc}\le1\\
   (9),(10)\quad & \neg a_{tj}\vee s_{it}\ (i\text{ first in }O_j),\qquad
                  \neg a_{tj}\vee\neg s_{it}\ (i\text{ last in }O_j)\\
   (12)\quad & \neg p_i\vee\neg z_{it}\vee g_{t,y_i},

and :math:`p_i` is a soft clause of weight :math:`\omega_i`. (11), where every row must be classified
correctly, is for the smallest depth, which is another problem. Every clause is a row here: the sum
of its literals is at least 1. (1), (2) and (8), which are clauses on pairs in the paper, are one
row each, with the same 0/1 points and a tighter relaxation.

(9) and (10) forbid splits that separate no rows. They lose no tree: a leaf above the lowest level is
a node whose leaves below have one label, whatever it tests. But with columns on which all rows are
equal they can be satisfied by no split at all, so such columns are left out; where no others are,
the tree is a leaf.

**Other costs** (with the costs of the journal's extension in mind; the clauses are ours).
:math:`p_{ik}`: row i does not get action k; with :math:`\sum_cg_{tc}=1` for (8) and

.. math:: \neg p_{ik}\vee\neg z_{it}\vee\neg g_{tk}\qquad (r_{ik}>0)

for (12), :math:`p_{ik}` is a soft clause of weight :math:`r_{ik}`, the cost of action k above the
cheapest one of the row.

z and p are continuous: they are 0 or 1 where a, s and g are. The order of rows is that of their
ranks among the candidate thresholds of a column (`_columns`). Leaves are not counted: penalties,
leaf limits and minimum leaf sizes have no clause.

References: Shati, Cohen, McIlraith (2021), "SAT-based approach for learning optimal decision trees
with non-binary features", CP 2021, LIPIcs 210; the same (2023), "SAT-based optimal classification
trees for non-binary data", Constraints 28, 166–202. The numbers are those of 2021 as public
reimplementations cite them; for (12) there is one of these only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts
from ._columns import Column, branch, numeric_columns, reached
from ._oct_structure import on_left


@register
@dataclass(frozen=True)
class MaxSAT(TreeFormulation):
    """Clauses for a complete tree whose thresholds are changes in the order of the rows."""

    name = "maxsat"
    title = "Clauses for MaxSAT (Shati, Cohen, McIlraith)"
    reference = "https://doi.org/10.4230/LIPIcs.CP.2021.50"
    takes_side_rows = False
    takes_min_leaf = False
    tests_in = None
    other_sides = "rows below a threshold go left"
    implied_integer = True
    zero_one = frozenset({"z", "p"})
    sets_like = {"scored": "rows"}
    redundant = {
        "left_path": "(5) keeps z at 0 where a row does not end; costs keep it there too",
        "right_path": "(6) keeps z at 0 where a row does not end; costs keep it there too",
        "first_left": "(9) forbids splits that send every row right; other splits do as well",
        "last_right": "(10) forbids splits that send every row left; other splits do as well",
    }

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        return counts_no_leaves(self.name, view, space)

    def templates(self, view: Any, space: Any) -> bool:
        return super().templates(view, space) and bool(splitting_columns(view))

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        columns, space = splitting_columns(view), _space(view, space)
        ts.add_sets(m, view, space)
        m.columns = pyo.RangeSet(0, len(columns) - 1, doc="columns j that separate rows")
        m.a = pyo.Var(
            m.branch, m.columns, domain=pyo.Binary, doc="a[t,j] = 1 iff node t splits column j"
        )
        m.s = pyo.Var(
            m.rows, m.branch, domain=pyo.Binary, doc="s[i,t] = 1 iff row i goes left at node t"
        )
        m.z = pyo.Var(
            m.rows, m.leaves, domain=pyo.UnitInterval, doc="z[i,t] = 1 iff row i ends in leaf t"
        )
        m.g = pyo.Var(
            m.leaves, m.actions, domain=pyo.Binary, doc="g[t,c] = 1 iff leaf t has the label c"
        )
        _add_splits(m, columns)
        _add_paths(m)
        (_add_costs if view.labels is None else _add_labels)(m, view)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        names = [column.name for column in splitting_columns(m.view)]
        return {**super().meanings(m, problem), "columns": lambda j: names[j]}

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view
        columns = splitting_columns(view)

        def walk(t: int) -> Any:
            if t in m.leaves:
                return Leaf(max(m.actions, key=lambda c: (m.g[t, c].value, -c)))
            column = columns[max(m.columns, key=lambda j: m.a[t, j].value)]
            left = np.array([m.s[i, t].value > 0.5 for i in m.rows])
            if left.all() or not left.any():  # (9), (10) exclude it
                return walk(2 * t + int(not left.any()))
            p = int(column.ranks[left].max())
            return branch(view, column, p, walk(2 * t), walk(2 * t + 1))

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        columns = splitting_columns(view)
        splits, labels = place(tree, view, columns)
        for t in m.branch:
            if t in labels:  # a leaf above the lowest level: any split, and one label below
                splits[t] = (0, int(columns[0].ranks.min()))
                labels[2 * t] = labels[2 * t + 1] = labels[t]
            tested, p = splits[t]
            for j in m.columns:
                m.a[t, j].set_value(int(j == tested), skip_validation=True)
            for i in m.rows:
                m.s[i, t].set_value(int(columns[tested].ranks[i] <= p), skip_validation=True)
        end = reached(splits, columns, view.n_rows).tolist()
        for t in m.leaves:
            for i in m.rows:
                m.z[i, t].set_value(int(end[i] == t), skip_validation=True)
            for c in m.actions:
                m.g[t, c].set_value(int(labels[t] == c), skip_validation=True)
        set_scores(m, [labels[t] for t in end])

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        columns, space = splitting_columns(view), _space(view, space)
        n, p, K, D = view.n_rows, len(columns), view.n_actions, space.depth
        B, T = 2**D - 1, 2**D
        pairs = p * (n - 1) + sum(len(neighbours(c)[1]) for c in columns)
        scored, entries = score_sizes(view)
        binaries = B * (p + n) + T * K
        return ModelSize(
            binaries + n * T + scored,
            binaries,
            B * (1 + pairs + 2 * p) + n * T * (D + 1) + T + scored * T,
            B * (p + 3 * pairs + 4 * p) + n * T * (3 * D + 1) + T * K + entries * T,
        )


# -- the model, part by part -----------------------------------------------------------------------


def _add_splits(m: Any, columns: list[Column]) -> None:
    """Every node splits a column; its rows go left up to some place in the order of the column."""
    order = {j: neighbours(c) for j, c in enumerate(columns)}
    m.order = pyo.Set(
        dimen=3,
        initialize=[(j, *pair) for j in order for pair in order[j][0]],
        doc="(j,i,i'): rows i and i' are neighbours in the order of column j",
    )
    m.equal = pyo.Set(
        dimen=3,
        initialize=[(j, *pair) for j in order for pair in order[j][1]],
        doc="(j,i,i'): neighbours with the same value",
    )
    ends = {j: (int(c.ranks.argmin()), int(c.ranks.argmax())) for j, c in enumerate(columns)}
    m.first = pyo.Param(
        m.columns,
        initialize={j: first for j, (first, _) in ends.items()},
        within=pyo.Any,
        doc="a row with the least value of the column",
    )
    m.last = pyo.Param(
        m.columns,
        initialize={j: last for j, (_, last) in ends.items()},
        within=pyo.Any,
        doc="a row with the largest value of the column",
    )

    @m.Constraint(m.branch, doc="(1), (2) a node splits one column")
    def one_column(m: Any, t: Any) -> Any:
        return sum(m.a[t, j] for j in m.columns) == 1

    @m.Constraint(m.branch, m.order, doc="(3) where a row goes left, so do those before it")
    def in_order(m: Any, t: Any, j: Any, i: Any, after: Any) -> Any:
        return m.a[t, j] + m.s[after, t] - m.s[i, t] <= 1

    if len(m.equal):

        @m.Constraint(m.branch, m.equal, doc="(4) rows with the same value go the same way")
        def together(m: Any, t: Any, j: Any, i: Any, after: Any) -> Any:
            return m.a[t, j] + m.s[i, t] - m.s[after, t] <= 1

    @m.Constraint(m.branch, m.columns, doc="(9) the first row of the split column goes left")
    def first_left(m: Any, t: Any, j: Any) -> Any:
        return m.a[t, j] - m.s[m.first[j], t] <= 0

    @m.Constraint(m.branch, m.columns, doc="(10) the last row of the split column goes right")
    def last_right(m: Any, t: Any, j: Any) -> Any:
        return m.a[t, j] + m.s[m.last[j], t] <= 1


def _add_paths(m: Any) -> None:
    """A row ends in the leaf to which its directions lead."""
    left = {t: [u for u in ts.ancestors(t) if on_left(t, u)] for t in m.leaves}
    right = {t: [u for u in ts.ancestors(t) if not on_left(t, u)] for t in m.leaves}
    m.left_above = pyo.Set(
        m.leaves, initialize=left, domain=pyo.Any, doc="A_l(t): ancestors with t on the left"
    )
    m.right_above = pyo.Set(
        m.leaves, initialize=right, domain=pyo.Any, doc="A_r(t): ancestors with t on the right"
    )
    if len(m.branch):
        m.left_of = pyo.Set(
            dimen=2,
            initialize=[(t, u) for t in left for u in left[t]],
            doc="(t,u) with u in A_l(t)",
        )
        m.right_of = pyo.Set(
            dimen=2,
            initialize=[(t, u) for t in right for u in right[t]],
            doc="(t,u) with u in A_r(t)",
        )

        @m.Constraint(m.rows, m.left_of, doc="(5) a row ends in a leaf only if it goes left to it")
        def left_path(m: Any, i: Any, t: Any, u: Any) -> Any:
            return m.z[i, t] - m.s[i, u] <= 0

        @m.Constraint(m.rows, m.right_of, doc="(6) … and right")
        def right_path(m: Any, i: Any, t: Any, u: Any) -> Any:
            return m.z[i, t] + m.s[i, u] <= 1

    m.n_left = pyo.Param(
        m.leaves, initialize={t: len(left[t]) for t in left}, doc="number of nodes in A_l(t)"
    )

    @m.Constraint(m.rows, m.leaves, doc="(7) a row ends in the leaf to which all directions lead")
    def arrives(m: Any, i: Any, t: Any) -> Any:
        right_ways = sum(m.s[i, u] for u in m.right_above[t])
        left_ways = sum(m.s[i, u] for u in m.left_above[t])
        return m.z[i, t] + right_ways - left_ways >= 1 - m.n_left[t]


def _add_labels(m: Any, view: CostMatrix) -> None:
    """Soft clauses of rows that lose the same by every action but one."""
    assert view.labels is not None
    best, weight = view.labels
    scored = np.flatnonzero(weight).tolist()
    m.scored = pyo.Set(initialize=scored, doc="rows with a weight")
    m.y = pyo.Param(m.rows, initialize=dict(enumerate(best.tolist())), doc="y[i] label of row i")
    m.p = pyo.Var(m.scored, domain=pyo.UnitInterval, doc="p[i] = 1 iff row i gets its label")

    @m.Constraint(m.leaves, doc="(8) a leaf has at most one label")
    def one_label(m: Any, t: Any) -> Any:
        return sum(m.g[t, c] for c in m.actions) <= 1

    if scored:

        @m.Constraint(m.scored, m.leaves, doc="(12) a row gets its label only in a leaf of it")
        def correct(m: Any, i: Any, t: Any) -> Any:
            return m.p[i] + m.z[i, t] - m.g[t, m.y[i]] <= 1

    _minimise(m, view, [(int(weight[i]), m.p[i]) for i in scored])


def _add_costs(m: Any, view: CostMatrix) -> None:
    """Soft clauses of rows and actions, for any costs."""
    scored = [(i, c) for i, c in np.argwhere(view.regret).tolist()]
    m.charged = pyo.Set(dimen=2, initialize=scored, doc="(i,c) where row i loses by action c")
    m.p = pyo.Var(
        m.charged, domain=pyo.UnitInterval, doc="p[i,c] = 1 iff row i does not get action c"
    )

    @m.Constraint(m.leaves, doc="(8) a leaf has one label")
    def one_label(m: Any, t: Any) -> Any:
        return sum(m.g[t, c] for c in m.actions) == 1

    @m.Constraint(m.charged, m.leaves, doc="(12) a row in a leaf gets its action")
    def spared(m: Any, i: Any, c: Any, t: Any) -> Any:
        return m.p[i, c] + m.z[i, t] + m.g[t, c] <= 2

    _minimise(m, view, [(int(view.regret[i, c]), m.p[i, c]) for i, c in scored])


def _minimise(m: Any, view: CostMatrix, soft: list[tuple[int, Any]]) -> None:
    ts.minimise(
        m,
        [-weight for weight, _ in soft],
        [p for _, p in soft],
        int(view.base.sum()) + view.leaf_cost + sum(weight for weight, _ in soft),
        "weights of the soft clauses that are not satisfied",
    )


def set_scores(m: Any, given: list[int]) -> None:
    """Values of p, from the action that every row gets."""
    for index in m.p:
        if isinstance(index, tuple):
            satisfied = given[index[0]] != index[1]
        else:
            satisfied = given[index] == m.y[index]
        m.p[index].set_value(int(satisfied), skip_validation=True)


def score_sizes(view: CostMatrix) -> tuple[int, int]:
    """Number of variables p, and of entries per leaf of the rows that they are in."""
    scored = int((view.regret > 0).sum() if view.labels is None else (view.labels[1] > 0).sum())
    return scored, 3 * scored


# -- columns ---------------------------------------------------------------------------------------


def splitting_columns(view: CostMatrix) -> list[Column]:
    """The columns on which some rows differ."""
    return [c for c in numeric_columns(view) if c.ranks.min() < c.ranks.max()]


def neighbours(column: Column) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs of neighbours in the order of a column, and those of them with the same value."""
    order = np.argsort(column.ranks, kind="stable")
    pairs = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    same = np.diff(column.ranks[order]) == 0
    return pairs, [pair for pair, equal in zip(pairs, same.tolist(), strict=True) if equal]


def place(
    tree: Tree, view: CostMatrix, columns: list[Column]
) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """Heap positions of a tree's nodes, without those whose test is the same for every row.

    The results are (column, threshold) of every branch node, and the action of every leaf.
    """
    every = numeric_columns(view)
    number = {c.tests: j for j, c in enumerate(columns)}
    where = {f: (c, p) for c in every for p, f in enumerate(c.tests)}
    splits: dict[int, tuple[int, int]] = {}
    leaves: dict[int, int] = {}

    def walk(node: Any, t: int) -> None:
        if isinstance(node, Leaf):
            leaves[t] = node.action
            return
        column, p = where[view.index[node.test]]
        below, above = (node.right, node.left) if column.true_left else (node.left, node.right)
        if p < column.ranks.min() or p >= column.ranks.max():
            walk(above if p < column.ranks.min() else below, t)
            return
        splits[t] = (number[column.tests], p)
        walk(below, 2 * t)
        walk(above, 2 * t + 1)

    walk(view.canonical(tree).root, 1)
    return splits, leaves


def counts_no_leaves(name: str, view: CostMatrix, space: Trees) -> str | None:
    """Why a model of a complete tree in which no leaf is counted cannot take a view, or None."""
    if view.split_costs.any() or view.leaf_cost:
        return f"{name} has no clause for the cost of a split or leaf; flow-oct, bin-oct and maxsat-hu take penalties."
    if space.limits_leaves:
        return f"{name} has no clause for the number of leaves; flow-oct, bin-oct and maxsat-hu take a leaf limit."
    return None


def _space(view: CostMatrix, space: Trees) -> Trees:
    """The space; where no column separates rows its depth is 0."""
    return space if splitting_columns(view) else replace(space, max_depth=0)
