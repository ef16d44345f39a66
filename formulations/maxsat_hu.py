r"""Hu, Siala, Hebrard and Huguet's clauses for a tree whose shape is chosen, too.

They extend the clauses of Narodytska et al. (2018), whose numbers are kept here. The N nodes are
numbered level by level, :math:`l_{ij}`: node i has the left child j, an even number from i + 1 to
min(2i, N - 1), and the right child j + 1; :math:`v_i`: it is a leaf; :math:`m_i`, for odd i: there
are at least i nodes; :math:`a_{rj}`: j tests feature r; :math:`d^0_{rj},d^1_{rj}`: rows with the
value 0 (or 1) of r do not reach j; :math:`c_{jk}`: leaf j has the class k; :math:`b_q`: row q is
classified correctly; :math:`h_{it}`: node i has the depth t. With i(j) = j for odd j and j + 1 for
even j,

.. math::
   (2),(4)\quad & \textstyle\sum_jl_{ij}+v_i=m_{i(i)}, \qquad
      (6)\quad \textstyle\sum_il_{ij}=m_{j+1}, \qquad m_1=1,\quad m_{i+2}\le m_i\\
   (7)\quad & d^0_{r1}=0,\quad l_{ij}\to(d^0_{rj}\leftrightarrow d^0_{ri}),\quad
      l_{ij}\to(d^0_{r,j+1}\leftrightarrow d^0_{ri}\vee a_{ri})\\
   (8)\quad & d^1_{r1}=0,\quad l_{ij}\to(d^1_{rj}\leftrightarrow d^1_{ri}\vee a_{ri}),\quad
      l_{ij}\to(d^1_{r,j+1}\leftrightarrow d^1_{ri})\\
   (10),(11)\quad & \textstyle\sum_ra_{rj}+v_j=m_{i(j)},\qquad \sum_kc_{jk}=v_j\\
   (12),(13)\quad & \textstyle b_q\wedge v_j\to c_{j,y_q}\vee\bigvee_rd^{x_{qr}}_{rj}\\
   & h_{10}=1,\quad l_{ij}\wedge h_{it}\to h_{j,t+1}\wedge h_{j+1,t+1},\quad
      \neg h_{iD}\vee\neg l_{ij},

and :math:`b_q` is a soft clause of weight :math:`\omega_q`. Every clause is a row here; "exactly
one" is one row.

- In (3) and (5), the paper's variables for right children and parents are copies of l; they are
  replaced by it.
- (1), which forbids that the root is a leaf, is left out: a leaf alone may be the best tree.
- (9), with a variable that says which features were tested above a node, forbids that a feature is
  tested twice on a path. No such tree is better than all others, and it is left out.
- N is the largest number of nodes that depth and leaf limit allow. m, with which a tree may be
  smaller, and h, which limits the depth, are of the 2020 paper (numbers and form ours); h is left
  out where N nodes cannot be deeper.
- There may be more than two classes (ours: the paper's single :math:`c_j` is one of two), and
  :math:`a_{rj}` pays for splits. For other costs (ours), with the cost :math:`r_{qk}` of action k
  above the cheapest one of the row, :math:`b_{qk}` is a soft clause of this weight and
  :math:`b_{qk}\wedge c_{jk}\to\bigvee_rd^{x_{qr}}_{rj}`.

Given l, a and c, the other variables are 0 or 1 in some best solution, so they are continuous.

References: Hu, Siala, Hebrard, Huguet (2020), "Learning optimal decision trees with MaxSAT and its
integration in AdaBoost", IJCAI-PRICAI 2020, 1170–1176; Narodytska, Ignatiev, Pereira, Marques-Silva
(2018), "Learning optimal decision trees with SAT", IJCAI 2018, 1362–1368, with the numbers that
public reimplementations cite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class MaxSATHu(TreeFormulation):
    """Clauses for a tree of at most N nodes, its shape among them."""

    name = "maxsat-hu"
    title = "Clauses for MaxSAT with a free shape (Hu, Siala, Hebrard, Huguet)"
    reference = "https://doi.org/10.24963/ijcai.2020/163"
    takes_side_rows = False
    takes_min_leaf = False
    implied_integer = True
    zero_one = frozenset({"v", "m", "d0", "d1", "b", "h"})
    sets_like = {"scored": "rows"}
    redundant = {
        "no_gap": "it numbers the nodes that are there without gaps; other numberings are copies",
        "inherits_0_left": "(7) it sets d at 1, where the clauses for b want it anyway",
        "inherits_0_right": "(7) it sets d at 1, where the clauses for b want it anyway",
        "inherits_1_left": "(8) it sets d at 1, where the clauses for b want it anyway",
        "inherits_1_right": "(8) it sets d at 1, where the clauses for b want it anyway",
        "excludes_0": "(7) it sets d at 1, where the clauses for b want it anyway",
        "excludes_1": "(8) it sets d at 1, where the clauses for b want it anyway",
    }

    def templates(self, view: Any, space: Any) -> bool:
        return super().templates(view, space) and n_nodes(view, space) > 1

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        N, pairs = n_nodes(view, space), child_pairs(n_nodes(view, space))
        m.rows = pyo.RangeSet(0, view.n_rows - 1, doc="rows q (merged rows count once)")
        m.features = pyo.RangeSet(0, view.n_features - 1, doc="features r")
        m.actions = pyo.RangeSet(0, view.n_actions - 1, doc="classes k")
        m.numbers = pyo.RangeSet(1, N, doc="numbers i of nodes")
        m.odd_numbers = pyo.RangeSet(1, N, 2, doc="odd numbers of nodes")
        m.pairs = pyo.Set(dimen=2, initialize=pairs, doc="(i,j): j may be the left child of i")
        m.l = pyo.Var(m.pairs, domain=pyo.Binary, doc="l[i,j] = 1 iff j is the left child of i")
        m.v = pyo.Var(m.numbers, domain=pyo.UnitInterval, doc="v[i] = 1 iff node i is a leaf")
        m.m = pyo.Var(
            m.odd_numbers, domain=pyo.UnitInterval, doc="m[i] = 1 iff there are i nodes or more"
        )
        m.a = pyo.Var(
            m.features, m.numbers, domain=pyo.Binary, doc="a[r,j] = 1 iff node j tests feature r"
        )
        m.c = pyo.Var(
            m.numbers, m.actions, domain=pyo.Binary, doc="c[j,k] = 1 iff leaf j has the class k"
        )
        _add_shape(m, pairs)
        if pairs:
            _add_exclusions(m, view)
        if _limits_depth(view, space):
            _add_depth(m, space)
        _minimise(m, view, (_add_costs if view.labels is None else _add_labels)(m, view))

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        def node(i: Any) -> str:
            return f"node {i}, level by level"

        return {**super().meanings(m, problem), "numbers": node, "odd_numbers": node}

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view
        children = {i: j for (i, j) in m.pairs if m.l[i, j].value > 0.5}

        def walk(i: int) -> Any:
            if i not in children:
                return Leaf(max(m.actions, key=lambda k: (m.c[i, k].value, -k)))
            r = max(m.features, key=lambda r: m.a[r, i].value)
            return Branch(view.features[r], walk(children[i]), walk(children[i] + 1))

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        splits, leaves = ts.place(tree, view)
        heap = sorted({*splits, *leaves})  # level by level, as the numbers are
        number = {v: i for i, v in enumerate(heap, start=1)}
        test = {number[v]: f for v, f in splits.items()}
        label = {number[v]: k for v, k in leaves.items()}
        left = {number[v]: number[2 * v] for v in splits}
        for i, j in m.pairs:
            m.l[i, j].set_value(int(left.get(i) == j), skip_validation=True)
        for i in m.odd_numbers:
            m.m[i].set_value(int(i <= len(heap)), skip_validation=True)
        excluded = {number[v]: _excluded(v, splits) for v in heap}
        for i in m.numbers:
            m.v[i].set_value(int(i in label), skip_validation=True)
            for k in m.actions:
                m.c[i, k].set_value(int(label.get(i) == k), skip_validation=True)
            for r in m.features:
                m.a[r, i].set_value(int(test.get(i) == r), skip_validation=True)
                for value, d in enumerate((m.d0, m.d1) if len(m.pairs) else ()):
                    inside = (r, value) in excluded.get(i, ())
                    d[r, i].set_value(int(inside), skip_validation=True)
            if m.component("h") is not None:
                depth = heap[i - 1].bit_length() - 1 if i <= len(heap) else -1
                for t in m.depths:
                    m.h[i, t].set_value(int(t == depth), skip_validation=True)
        end = ts.reached(splits, view).tolist()
        for index in m.b:
            if isinstance(index, tuple):
                satisfied = leaves[end[index[0]]] != index[1]
            else:
                satisfied = leaves[end[index]] == m.y[index]
            m.b[index].set_value(int(satisfied), skip_validation=True)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        N, D = n_nodes(view, space), space.max_depth or 0
        F, K, P = view.n_features, view.n_actions, len(child_pairs(N))
        general, half = view.labels is None, (N - 1) // 2
        scored = int(((view.regret if view.labels is None else view.labels[1]) > 0).sum())
        binaries = P + F * N + N * K
        variables = binaries + N + half + 1 + scored + (2 * F * N if P else 0)
        gaps = max(half - 1, 0)
        rows = 1 + half + gaps + 3 * N + scored * N
        nonzeros = 1 + P + half + 2 * gaps + P + 5 * N + F * N + K * N
        nonzeros += scored * N * (3 - general + (F if P else 0))
        if P:
            rows, nonzeros = rows + 2 * F + 10 * F * P, nonzeros + 2 * F + 32 * F * P
        if _limits_depth(view, space):
            variables += N * (D + 1)
            rows += 1 + 2 * P * D + P
            nonzeros += 1 + 6 * P * D + 2 * P
        return ModelSize(variables, binaries, rows, nonzeros)


# -- the model, part by part -----------------------------------------------------------------------


def _add_shape(m: Any, pairs: list[tuple[int, int]]) -> None:
    """Nodes, their children and their tests."""
    last = len(m.numbers)
    m.counted = pyo.Param(
        m.numbers,
        initialize=lambda m, i: i if i % 2 else i + 1,
        within=pyo.Any,
        doc="i(j): the odd number whose m says whether a node is there",
    )
    m.left_of = pyo.Set(
        m.numbers,
        initialize={i: [j for parent, j in pairs if parent == i] for i in range(1, last + 1)},
        domain=pyo.Any,
        doc="left children that a node may have",
    )
    m.root = pyo.Constraint(expr=m.m[1] == 1, doc="the root is there")

    @m.Constraint(m.numbers, doc="(2), (4) a node that is there is a leaf or has a left child")
    def children(m: Any, i: Any) -> Any:
        return sum(m.l[i, j] for j in m.left_of[i]) + m.v[i] - m.m[m.counted[i]] == 0

    @m.Constraint(m.numbers, doc="(10), (11) a node that is there is a leaf or tests a feature")
    def one_test(m: Any, j: Any) -> Any:
        return sum(m.a[r, j] for r in m.features) + m.v[j] - m.m[m.counted[j]] == 0

    @m.Constraint(m.numbers, doc="a leaf has one class")
    def one_class(m: Any, j: Any) -> Any:
        return sum(m.c[j, k] for k in m.actions) - m.v[j] == 0

    if pairs:
        m.even = pyo.Set(initialize=range(2, last, 2), doc="even numbers of nodes")
        m.parents = pyo.Set(
            m.even,
            initialize={j: [i for i, child in pairs if child == j] for j in range(2, last, 2)},
            domain=pyo.Any,
            doc="parents that an even node may have",
        )

        @m.Constraint(m.even, doc="(6) a node that is there has one parent")
        def one_parent(m: Any, j: Any) -> Any:
            return sum(m.l[i, j] for i in m.parents[j]) - m.m[j + 1] == 0

    if last > 3:
        m.before_last = pyo.Set(initialize=range(3, last, 2), doc="odd numbers from 3 to N - 2")

        @m.Constraint(m.before_last, doc="numbers of nodes have no gap")
        def no_gap(m: Any, i: Any) -> Any:
            return m.m[i + 2] - m.m[i] <= 0


def _add_exclusions(m: Any, view: CostMatrix) -> None:
    """Which values of features no row of a node has."""
    m.zeros = pyo.Set(
        m.rows,
        initialize={q: np.flatnonzero(view.X[q] == 0).tolist() for q in m.rows},
        domain=pyo.Any,
        doc="features that are 0 on a row",
    )
    m.ones = pyo.Set(
        m.rows,
        initialize={q: np.flatnonzero(view.X[q] == 1).tolist() for q in m.rows},
        domain=pyo.Any,
        doc="features that are 1 on a row",
    )
    m.d0 = pyo.Var(
        m.features,
        m.numbers,
        domain=pyo.UnitInterval,
        doc="d0[r,j] = 1 iff rows with the value 0 of r do not reach j",
    )
    m.d1 = pyo.Var(
        m.features,
        m.numbers,
        domain=pyo.UnitInterval,
        doc="d1[r,j] = 1 iff rows with the value 1 of r do not reach j",
    )

    def excluded(m: Any, value: int, r: Any, j: Any) -> Any:
        return m.d1[r, j] if value else m.d0[r, j]

    @m.Constraint(m.features, doc="(7) every row reaches the root")
    def all_of_0(m: Any, r: Any) -> Any:
        return m.d0[r, 1] == 0

    @m.Constraint(m.features, doc="(8) every row reaches the root")
    def all_of_1(m: Any, r: Any) -> Any:
        return m.d1[r, 1] == 0

    def same(value: int, side: int) -> Callable[[Any, Any, Any, Any], Any]:
        def rule(m: Any, r: Any, i: Any, j: Any) -> Any:
            child, parent = excluded(m, value, r, j + side), excluded(m, value, r, i)
            return child + m.l[i, j] - parent <= 1

        return rule

    def tested(value: int, side: int) -> Callable[[Any, Any, Any, Any], Any]:
        def rule(m: Any, r: Any, i: Any, j: Any) -> Any:
            child, parent = excluded(m, value, r, j + side), excluded(m, value, r, i)
            return child + m.l[i, j] - parent - m.a[r, i] <= 1

        return rule

    def inherits(value: int, side: int) -> Callable[[Any, Any, Any, Any], Any]:
        def rule(m: Any, r: Any, i: Any, j: Any) -> Any:
            child, parent = excluded(m, value, r, j + side), excluded(m, value, r, i)
            return parent + m.l[i, j] - child <= 1

        return rule

    def excludes(value: int, side: int) -> Callable[[Any, Any, Any, Any], Any]:
        def rule(m: Any, r: Any, i: Any, j: Any) -> Any:
            return m.a[r, i] + m.l[i, j] - excluded(m, value, r, j + side) <= 1

        return rule

    for value in (0, 1):
        number = f"({7 + value})"
        for side, where in enumerate(("left", "right")):
            # The right child of a test gets no rows with the value 0, the left one none with 1.
            known, reason = (
                (tested, "tests it") if side != value else (same, "excludes the value, too")
            )
            doc = f"{number} a value is excluded in a {where} child only if its parent {reason}"
            m.add_component(
                f"only_{value}_{where}",
                pyo.Constraint(m.features, m.pairs, rule=known(value, side), doc=doc),
            )
            doc = f"{number} a value that is excluded in a node is so in its {where} child"
            m.add_component(
                f"inherits_{value}_{where}",
                pyo.Constraint(m.features, m.pairs, rule=inherits(value, side), doc=doc),
            )
        side, where = (1, "right") if value == 0 else (0, "left")
        doc = f"{number} a test excludes the value {value} in the {where} child"
        m.add_component(
            f"excludes_{value}",
            pyo.Constraint(m.features, m.pairs, rule=excludes(value, side), doc=doc),
        )


def _add_depth(m: Any, space: Trees) -> None:
    """No node is deeper than the space allows."""
    D = space.depth
    m.depths = pyo.RangeSet(0, D, doc="depths t")
    m.above_last = pyo.RangeSet(0, D - 1, doc="depths of nodes with children")
    m.h = pyo.Var(
        m.numbers, m.depths, domain=pyo.UnitInterval, doc="h[i,t] = 1 iff node i has the depth t"
    )
    m.root_depth = pyo.Constraint(expr=m.h[1, 0] == 1, doc="the root has the depth 0")

    @m.Constraint(m.pairs, m.above_last, doc="a left child is one level deeper")
    def left_deeper(m: Any, i: Any, j: Any, t: Any) -> Any:
        return m.l[i, j] + m.h[i, t] - m.h[j, t + 1] <= 1

    @m.Constraint(m.pairs, m.above_last, doc="a right child is one level deeper")
    def right_deeper(m: Any, i: Any, j: Any, t: Any) -> Any:
        return m.l[i, j] + m.h[i, t] - m.h[j + 1, t + 1] <= 1

    @m.Constraint(m.pairs, doc="a node of the largest depth has no children")
    def lowest(m: Any, i: Any, j: Any) -> Any:
        return m.l[i, j] + m.h[i, D] <= 1


def _add_labels(m: Any, view: CostMatrix) -> list[tuple[int, Any]]:
    """Soft clauses of rows that lose the same by every action but one, with their weights."""
    assert view.labels is not None
    best, weight = view.labels
    scored = np.flatnonzero(weight).tolist()
    m.scored = pyo.Set(initialize=scored, doc="rows with a weight")
    m.y = pyo.Param(m.rows, initialize=dict(enumerate(best.tolist())), doc="y[q] class of row q")
    m.b = pyo.Var(
        m.scored, domain=pyo.UnitInterval, doc="b[q] = 1 iff row q is classified correctly"
    )
    branches = len(m.pairs) > 0
    if scored:

        @m.Constraint(
            m.scored, m.numbers, doc="(12), (13) a row is correct, or does not reach a leaf"
        )
        def correct(m: Any, q: Any, j: Any) -> Any:
            held = m.b[q] + m.v[j] - m.c[j, m.y[q]]
            return held - _kept_out(m, q, j) <= 1 if branches else held <= 1

    return [(int(weight[q]), m.b[q]) for q in scored]


def _add_costs(m: Any, view: CostMatrix) -> list[tuple[int, Any]]:
    """Soft clauses of rows and actions for any costs, with their weights."""
    charged = [(q, k) for q, k in np.argwhere(view.regret).tolist()]
    m.charged = pyo.Set(dimen=2, initialize=charged, doc="(q,k) where row q loses by action k")
    m.b = pyo.Var(
        m.charged, domain=pyo.UnitInterval, doc="b[q,k] = 1 iff row q does not get action k"
    )
    branches = len(m.pairs) > 0

    @m.Constraint(
        m.charged, m.numbers, doc="(12), (13) a row is spared an action, or does not reach a leaf"
    )
    def spared(m: Any, q: Any, k: Any, j: Any) -> Any:
        held = m.b[q, k] + m.c[j, k]
        return held - _kept_out(m, q, j) <= 1 if branches else held <= 1

    return [(int(view.regret[q, k]), m.b[q, k]) for q, k in charged]


def _kept_out(m: Any, q: Any, j: Any) -> Any:
    """At least 1 iff a row does not reach a node."""
    return sum(m.d0[r, j] for r in m.zeros[q]) + sum(m.d1[r, j] for r in m.ones[q])


def _minimise(m: Any, view: CostMatrix, soft: list[tuple[int, Any]]) -> None:
    cost = (view.split_costs + view.leaf_cost).tolist()
    terms = [(-w, b) for w, b in soft]
    terms += [(cost[r], m.a[r, j]) for r in m.features for j in m.numbers if cost[r]]
    ts.minimise(
        m,
        [w for w, _ in terms],
        [x for _, x in terms],
        int(view.base.sum()) + sum(w for w, _ in soft) + view.leaf_cost,
        "weights of the soft clauses that are not satisfied, and penalties",
    )


# -- nodes -----------------------------------------------------------------------------------------


def n_nodes(view: CostMatrix, space: Trees) -> int:
    """N, the largest number of nodes; without features there is the root alone."""
    return 2 * space.max_splits + 1 if view.n_features else 1


def child_pairs(last: int) -> list[tuple[int, int]]:
    """The pairs (i, j) for which j, an even number, may be the left child of i."""
    return [
        (i, j)
        for i in range(1, last + 1)
        for j in range(i + 1, min(2 * i, last - 1) + 1)
        if j % 2 == 0
    ]


def _limits_depth(view: CostMatrix, space: Trees) -> bool:
    """Whether a tree of N nodes can be deeper than the space allows."""
    return (n_nodes(view, space) - 1) // 2 > space.depth > 0


def _excluded(v: int, splits: dict[int, int]) -> set[tuple[int, int]]:
    """Features and values that no row of a heap node has."""
    return {(splits[u >> 1], 1 - (u & 1)) for u in [v, *ts.ancestors(v)] if u > 1}
