r"""SPOT: the tree whose leaves choose the best decisions (Elmachtoub, Liang, McNellis 2020).

This is Theorem 2 of the paper, for any decision set with a linear program. A leaf t chooses a
decision :math:`w_t\in S`, and row i, whose costs times its weight are :math:`c_i`, pays
:math:`c_i^\top w_t` there; :math:`z^*(c)=\min_{w\in S}c^\top w` is computed by the oracle. Columns
j are scaled to [0,1] by ranks (`_columns`), so that the least step of column j is
:math:`\epsilon_j=1/m_j`, the largest possible, and the thresholds are exactly the given features;
:math:`\epsilon_{\max}` is the largest step. Branch nodes B, leaves T, :math:`A_L(t),A_R(t)` the
ancestors whose left (x < b) or right branch leads to leaf t; row i stands for :math:`n_i` original
rows of weight :math:`\omega_i`.

.. math::
   \min\ & \textstyle\sum_{i,t}y_{it}-\sum_iz^*(c_i)
           +\sum_{v\in B}\sum_j(\text{split cost}_j)\,a_{jv} &\\
   \text{(cost 1)}\quad & y_{it}\ge c_i^\top w_t-M_{1i}(1-r_{it}) & i,\ t\in T\\
   \text{(cost 2)}\quad & y_{it}\ge-M_{2i}r_{it} & i,\ t\in T\\
   \text{(decision)}\quad & w_t\in S & t\in T\\
   \text{(cut)}\quad & \textstyle\sum_ty_{it}\ge z^*(c_i) & i\\
   \text{(one leaf)}\quad & \textstyle\sum_tr_{it}=1 & i\\
   \text{(in use)}\quad & r_{it}\le l_t & i,\ t\in T\\
   \text{(leaf size)}\quad & \textstyle\sum_in_ir_{it}\ge N_{\min}l_t,\quad
                             \sum_i\omega_ir_{it}\ge W_{\min}l_t & t\in T\\
   \text{(right)}\quad & \textstyle\sum_ja_{jv}x_{ij}\ge b_v-(1-r_{it}) & i,\ t\in T,\ v\in A_R(t)\\
   \text{(left)}\quad & \textstyle\sum_ja_{jv}(x_{ij}+\epsilon_j)
                        \le b_v+(1+\epsilon_{\max})(1-r_{it}) & i,\ t\in T,\ v\in A_L(t)\\
   \text{(split)}\quad & \textstyle\sum_ja_{jv}=d_v,\quad 1-d_v\le b_v\le1,\quad
                         d_v\le d_{\lfloor v/2\rfloor} & v\in B.

**Why y is the cost.** If r = 1, (cost 1) is :math:`y\ge c^\top w` and (cost 2) is redundant; if
r = 0, (cost 1) is no stronger than :math:`y\ge0`, which is (cost 2). The least constants for
which this holds are the largest cost of a decision and the largest gain,
:math:`M_{1i}=\max\{\max_{w\in S}c_i^\top w,0\}` and :math:`M_{2i}=\max\{-z^*(c_i),0\}`, two answers
of the oracle per row. The paper has their largest values over all rows in place of each (`rows_m`).
The relaxation is weak nevertheless: with (cut), from Appendix B of the paper, its bound is little
more than a loss of 0. Trees are proved optimal by the dynamic programmes; this model is the
paper's, and solves problems that they cannot (a leaf limit with any S).

**Nodes that do not split** have a = 0, d = 0 and, by (split), b = 1: all rows go left. With
:math:`0\le b\le d`, as in OCT, both sides would be open there (Appendix A of the paper).

**Decisions** of a solution may be convex combinations of vertices if several are optimal. Each leaf
gets the oracle's decision for the sum of its rows' costs, which never costs more. S may have
integer variables and further variables besides w; every leaf has a copy of them. Costs are counted
in a power of two that makes the largest constant about 1000, because solvers distinguish 0 and 1
only up to :math:`10^{-6}`.

Reference: Elmachtoub, Liang, McNellis (2020), "Decision trees for decision-making under the
predict-then-optimize framework", ICML.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.registering import register
from milp_trees.mip.formulation import Formulation, ModelSize
from milp_trees.mip.meanings import tree_words
from milp_trees.mip.tree_formulation import DEEPEST
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.decision_view import LeafOracle

from . import _oct_structure as parts
from . import _tree_structure as ts
from ._columns import Column, branch, column_words, numeric_columns, place, reached
from ._decision_rows import Costs, add_decisions, completed, row_costs, whole_weights
from .oct import MOST_THRESHOLDS, scaled


@register
@dataclass(frozen=True)
class SPOT(Formulation):
    """Theorem 2.

    Parameters
    ----------
    rows_m : bool, default=True
        Whether every row has its least constants M1, M2; otherwise the largest of all rows, as in
        the paper.
    lower_cut : bool, default=True
        Whether to add (cut), from Appendix B of the paper.
    leaf_cut : bool, default=False
        :math:`y_{it}\\ge z^*(c_i)r_{it}` in place of (cost 2) and (cut), which both follow from it.
    merge_rows : bool, default=True
        Whether to merge rows with equal features.
    """

    name = "spot"
    default_rank = 80
    title = "SPOT (Elmachtoub, Liang, McNellis)"
    reference = "https://proceedings.mlr.press/v119/elmachtoub20a.html"
    tests_in = None
    other_sides = "rows below a threshold go left"
    space = Trees
    needs = LeafOracle
    takes_min_leaf = True
    takes_min_weight = True

    rows_m: bool = True
    lower_cut: bool = True
    leaf_cut: bool = False
    merge_rows: bool = True

    @property
    def redundant(self) -> dict[str, str]:  # type: ignore[override]
        cut = (
            {"cut": "a cut of the paper's Appendix B: without it the relaxation is far below zero"}
            if self.lower_cut and not self.leaf_cut
            else {}
        )
        return {
            "hierarchy": "it removes symmetric solutions: no split below a node that does not split",
            **cut,
        }

    def presolved_view(self, problem: Problem) -> LeafOracle:
        view = problem.view(LeafOracle)
        return view.merged if self.merge_rows else view

    def templates(self, view: LeafOracle, space: Trees) -> bool:
        return space.depth > 0 and view.n_features > 0

    def unsupported_view(self, view: LeafOracle, space: Trees) -> str | None:
        if view.decisions.program() is None:
            return f"{self.name} needs the decisions as a linear program, and these are known by an oracle only; dp-oracle and greedy-spo take them."
        if space.depth > DEEPEST:
            return f"{self.name} has variables for every node of a full tree, of at most {DEEPEST} levels; dp-oracle takes any depth."
        for column in numeric_columns(view):
            if column.m > MOST_THRESHOLDS:
                return f"{self.name} cannot tell {column.m} thresholds of {column.name!r} apart (at most {MOST_THRESHOLDS}); binarize with fewer."
        return None

    # -- the model ---------------------------------------------------------------------------------

    def declare(self, m: Any, view: LeafOracle, space: Trees) -> None:
        D, columns = space.depth, numeric_columns(view)
        m.rows = pyo.RangeSet(0, view.n_rows - 1, doc="rows i (merged rows count once)")
        m.columns = pyo.RangeSet(0, len(columns) - 1, doc="columns j")
        m.branch = pyo.RangeSet(1, 2**D - 1, doc="branch nodes B")
        m.leaves = pyo.RangeSet(2**D, 2 ** (D + 1) - 1, doc="leaves T")
        m.a = pyo.Var(
            m.columns, m.branch, domain=pyo.Binary, doc="a[j,v] = 1 iff node v tests column j"
        )
        m.b = pyo.Var(
            m.branch, domain=pyo.UnitInterval, doc="b[v] threshold: rows with x < b go left"
        )
        m.r = pyo.Var(m.rows, m.leaves, domain=pyo.Binary, doc="r[i,t] = 1 iff row i is in leaf t")
        m.l = pyo.Var(m.leaves, domain=pyo.Binary, doc="l[t] = 1 iff leaf t holds rows")
        parts.add_splits(m, space)
        m.hierarchy.doc = "(split) a node splits only if its parent does"
        add_decisions(m, view.decisions.program(), view.decisions.dimension)
        self._add_routing(m, columns)
        self._add_leaves(m, view, space)
        costs = self._costs(view)
        self._add_costs(m, costs)
        step = float(view.step)
        per_leaf = [(costs.unit / step, m.y[i, t]) for i in m.rows for t in m.leaves]
        price = [(float(view.split_costs[c.tests[0]]) + view.leaf_cost) / step for c in columns]
        terms = per_leaf + [(price[j], m.a[j, v]) for j in m.columns for v in m.branch if price[j]]
        constant = (view.leaf_cost - float(view.base.sum())) / step
        ts.minimise(
            m,
            [c for c, _ in terms],
            [x for _, x in terms],
            constant,
            "loss of the leaves' decisions, and penalties",
        )

    def _add_routing(self, m: Any, columns: list[Column]) -> None:
        """Constraints (split), (right), (left)."""
        steps = [1 / c.m for c in columns]
        big_m = 1 + max(steps, default=0.0)
        m.x = pyo.Param(
            m.rows,
            m.columns,
            initialize=parts.entries(scaled(columns, len(m.rows))),
            doc="x[i,j] value of column j, in [0,1]",
        )
        m.step = pyo.Param(
            m.columns, initialize=dict(enumerate(steps)), doc="least step of column j"
        )
        arcs = [(t, v) for t in m.leaves for v in ts.ancestors(t)]
        m.left_arcs = pyo.Set(
            dimen=2,
            initialize=[arc for arc in arcs if parts.on_left(*arc)],
            doc="(t, v) with v in A_L(t)",
        )
        m.right_arcs = pyo.Set(
            dimen=2,
            initialize=[arc for arc in arcs if not parts.on_left(*arc)],
            doc="(t, v) with v in A_R(t)",
        )

        @m.Constraint(m.branch, doc="(split) a node that splits tests one column")
        def one_column(m: Any, v: Any) -> Any:
            return sum(m.a[j, v] for j in m.columns) == m.d[v]

        @m.Constraint(m.branch, doc="(split) a node that does not split sends its rows to the left")
        def threshold_range(m: Any, v: Any) -> Any:
            return m.b[v] >= 1 - m.d[v]

        @m.Constraint(
            m.rows, m.right_arcs, doc="(right) a row goes right only at or above the threshold"
        )
        def right(m: Any, i: Any, t: Any, v: Any) -> Any:
            return sum(m.x[i, j] * m.a[j, v] for j in m.columns) >= m.b[v] - (1 - m.r[i, t])

        @m.Constraint(m.rows, m.left_arcs, doc="(left) a row goes left only below the threshold")
        def left(m: Any, i: Any, t: Any, v: Any) -> Any:
            return sum((m.x[i, j] + m.step[j]) * m.a[j, v] for j in m.columns) <= m.b[v] + big_m * (
                1 - m.r[i, t]
            )

    def _add_leaves(self, m: Any, view: LeafOracle, space: Trees) -> None:
        """Constraints (one leaf), (in use), (leaf size)."""
        m.count = pyo.Param(
            m.rows,
            initialize=dict(enumerate(view.counts.tolist())),
            doc="n[i] original rows that row i stands for",
        )

        @m.Constraint(m.rows, doc="(one leaf) a row is in one leaf")
        def one_leaf(m: Any, i: Any) -> Any:
            return sum(m.r[i, t] for t in m.leaves) == 1

        @m.Constraint(m.rows, m.leaves, doc="(in use) rows are in leaves that are in use")
        def in_use(m: Any, i: Any, t: Any) -> Any:
            return m.r[i, t] <= m.l[t]

        @m.Constraint(
            m.leaves, doc="(leaf size) a leaf in use holds at least min_samples_leaf rows"
        )
        def leaf_size(m: Any, t: Any) -> Any:
            return sum(m.count[i] * m.r[i, t] for i in m.rows) >= space.min_samples_leaf * m.l[t]

        if space.min_weight_leaf:
            row_weight, least = whole_weights(view, space)
            m.row_weight = pyo.Param(
                m.rows,
                initialize=dict(enumerate(row_weight.tolist())),
                doc="weight of row i, in the unit of all weights",
            )

            @m.Constraint(
                m.leaves, doc="(leaf size) a leaf in use holds rows of at least min_weight_leaf"
            )
            def leaf_weight(m: Any, t: Any) -> Any:
                return sum(m.row_weight[i] * m.r[i, t] for i in m.rows) >= least * m.l[t]

    def _add_costs(self, m: Any, costs: Costs) -> None:
        """Variable y and constraints (cost 1), (cost 2), (cut)."""
        m.y = pyo.Var(
            m.rows,
            m.leaves,
            domain=pyo.Reals,
            doc="y[i,t] cost of row i in leaf t, 0 if it is in another",
        )
        m.c = pyo.Param(
            m.rows, m.entries, initialize=parts.entries(costs.c), doc="c[i,e] costs of row i"
        )
        for name, array, doc in (
            ("M1", costs.most, "M1[i] the largest cost of a decision"),
            ("M2", costs.gain, "M2[i] the largest gain of a decision"),
            ("least", costs.least, "z*(c_i), the least cost of a decision"),
        ):
            setattr(m, name, pyo.Param(m.rows, initialize=dict(enumerate(array.tolist())), doc=doc))

        @m.Constraint(
            m.rows, m.leaves, doc="(cost 1) a row pays what the decision of its leaf costs"
        )
        def cost_1(m: Any, i: Any, t: Any) -> Any:
            return m.y[i, t] >= sum(m.c[i, e] * m.w[e, t] for e in m.entries) - m.M1[i] * (
                1 - m.r[i, t]
            )

        if self.leaf_cut:

            @m.Constraint(
                m.rows,
                m.leaves,
                doc="(cost 2), strengthened: a row pays at least its least cost in its leaf, and nothing elsewhere",
            )
            def leaf_cut(m: Any, i: Any, t: Any) -> Any:
                return m.y[i, t] >= m.least[i] * m.r[i, t]

            return

        @m.Constraint(
            m.rows, m.leaves, doc="(cost 2) a row has no negative cost in a leaf where it is not"
        )
        def cost_2(m: Any, i: Any, t: Any) -> Any:
            return m.y[i, t] >= -m.M2[i] * m.r[i, t]

        if self.lower_cut:

            @m.Constraint(m.rows, doc="(cut) no row pays less than its least cost")
            def cut(m: Any, i: Any) -> Any:
                return sum(m.y[i, t] for t in m.leaves) >= m.least[i]

    def _costs(self, view: LeafOracle) -> Costs:
        return row_costs(view, self.rows_m)

    # -- trees -------------------------------------------------------------------------------------

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        names = m.view.decisions.program().names
        words = {
            **tree_words(m.view, problem),
            "columns": column_words(m.view),
            "parts": lambda j: str(names[j]),
        }
        return words

    def decode(self, m: Any) -> Tree:
        view: LeafOracle = m.view
        columns = numeric_columns(view)
        half_step = 0.5 / max((c.m for c in columns), default=1)
        sums: list[np.ndarray] = []

        def walk(v: int, here: np.ndarray) -> Any:
            if v in m.leaves:
                sums.append(view.vectors[here].sum(axis=0))
                return lambda: Leaf(next(chosen))
            if m.d[v].value < 0.5:
                return walk(2 * v, here)
            j = max(m.columns, key=lambda j: m.a[j, v].value)
            # Rows on the right have x >= b, those on the left x <= b - least step: the next value
            # at or above b separates them as b does.
            p = math.ceil((m.b[v].value - half_step) * columns[j].m) - 1
            if p < 0:
                return walk(2 * v + 1, here)
            above = columns[j].ranks[here] > p
            low, high = walk(2 * v, here[~above]), walk(2 * v + 1, here[above])
            return lambda: branch(view, columns[j], p, low(), high())

        grow = walk(1, np.arange(view.n_rows))
        actions, decided = view.decided(np.array(sums))
        chosen = iter(decided)  # leaves are made in the same order as their sums
        return Tree(grow(), actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: LeafOracle = m.view
        columns, costs, program = numeric_columns(view), self._costs(view), view.decisions.program()
        splits, leaves = place(tree, view, columns)
        for v in m.branch:
            tested, p = splits.get(v, (None, -1))
            for j in m.columns:
                m.a[j, v].set_value(int(j == tested), skip_validation=True)
            threshold = 1.0 if tested is None else (p + 1) / columns[tested].m
            m.b[v].set_value(threshold, skip_validation=True)
            m.d[v].set_value(int(tested is not None), skip_validation=True)
        bottom = {v: v << (m.space.depth + 1 - v.bit_length()) for v in leaves}
        ends = reached(splits, columns, view.n_rows).tolist()
        at = np.array([bottom[v] for v in ends], dtype=np.int64)
        of_leaf = {
            bottom[v]: view.decisions.vector(str(tree.actions[action]))
            for v, action in leaves.items()
        }
        anything = None
        for t in m.leaves:
            if t not in of_leaf and anything is None:
                anything = view.decisions.solve(view.vectors.sum(axis=0)[None, :]).decisions[0]
            point = completed(program, of_leaf.get(t, anything))
            for j in m.parts:
                m.w[j, t].set_value(float(point[j]), skip_validation=True)
            here = at == t
            paid = np.where(here, costs.c @ point[: view.decisions.dimension], 0.0)
            m.l[t].set_value(int(here.any()), skip_validation=True)
            for i in m.rows:
                m.r[i, t].set_value(int(here[i]), skip_validation=True)
                m.y[i, t].set_value(float(paid[i]), skip_validation=True)

    def model_size(self, view: LeafOracle, space: Trees) -> ModelSize:
        columns, costs, program = numeric_columns(view), self._costs(view), view.decisions.program()
        n, p, D = view.n_rows, len(columns), space.depth
        B, T, arcs, links = 2**D - 1, 2**D, D * 2**D // 2, max(2**D - 2, 0)
        v, whole = len(program.names), int(program.integer.sum())
        rows = 2 * B + links + n * T + T + n + 2 * n * arcs + 2 * n * T + T * len(program.row_lower)
        nonzeros = B * (p + 3) + 2 * links + 2 * n * T + T * (n + 1) + n * T
        nonzeros += arcs * (n * (p + 4) + int((scaled(columns, n) != 0).sum()))
        nonzeros += T * (2 * n + int((costs.c != 0).sum() + (costs.most != 0).sum()))
        nonzeros += T * int(program.A.count_nonzero())
        nonzeros += T * int(((costs.least if self.leaf_cut else costs.gain) != 0).sum())
        if self.lower_cut and not self.leaf_cut:
            rows, nonzeros = rows + n, nonzeros + n * T
        if space.min_weight_leaf:
            rows += T
            nonzeros += T * (int((whole_weights(view, space)[0] != 0).sum()) + 1)
        if space.limits_leaves:
            rows, nonzeros = rows + 1, nonzeros + B
        return ModelSize(
            B * (p + 2) + T * (2 * n + 1 + v), B * (p + 1) + T * (n + 1 + whole), rows, nonzeros
        )
