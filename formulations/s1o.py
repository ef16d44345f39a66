r"""S1O: multivariate trees from 1-norm support vector machines (Zhu et al. 2020).

Columns j are scaled to [0,1] (:math:`x_{ij}`); branch nodes B and leaves T of a full tree,
:math:`T_v,T_v^+` the leaves below node v, and below its right child; classes :math:`y_i=0..Y-1`;
:math:`\mu` the gap of `ObliqueTrees`; :math:`g_i` the weight of an error on row i. Every row has at
every node a signed distance, split into its positive and negative part, and e says which of the two
it is. Numbering ours; the details were not compared with the text of the paper.

.. math::
   \min\ & \textstyle\sum_ig_ic_i &\\
   (1)\quad & p^+_{iv}-p^-_{iv}=\textstyle\sum_j(h^+_{jv}-h^-_{jv})x_{ij}+b_v & i,\ v\in B\\
   (2)\quad & p^+_{iv}\le2e_{iv},\quad p^-_{iv}\le2(1-e_{iv}) & i,\ v\in B\\
   (3)\quad & p^+_{iv}\ge\tfrac\mu2\Bigl(e_{iv}+\textstyle\sum_{t\in T_v}w_{it}-1\Bigr),\quad
              p^-_{iv}\ge\tfrac\mu2\Bigl(\textstyle\sum_{t\in T_v}w_{it}-e_{iv}\Bigr) & i,\ v\in B\\
   (4)\quad & w_{it}\le e_{iv}\ (t\in T_v^+),\quad w_{it}\le1-e_{iv}\ (t\in T_v\setminus T_v^+) & i,\ t,\ v\in A(t)\\
   (5)\quad & \textstyle\sum_tw_{it}=1 & i\\
   (6)\quad & \textstyle\sum_j(h^+_{jv}+h^-_{jv})\le1 & v\in B\\
   (7)\quad & q_{it}\le(Y-1)w_{it},\quad q_{it}\le u_t,\quad q_{it}\ge u_t-(Y-1)(1-w_{it}) & i,\ t\\
   (8)\quad & (Y-1)c_i\ge\pm\Bigl(y_i-\textstyle\sum_tq_{it}\Bigr) & i

with e, c binary and :math:`u_t\in\{0..Y-1\}` the class of leaf t as a number; q is the product of w
and u. Rows with p⁻ > 0 go left.

**What is repaired.** The paper's objective is :math:`\sum_ic_i` plus :math:`\alpha_1` times slacks of the
margin plus :math:`\alpha_2` times the 1-norm of the weights. Its optimum is a compromise that need not
have the fewest errors, and with :math:`\alpha_1=0` rows on the hyperplane may go either way. A task
says here what is best: the slacks are 0, and the norm is at most 1 (6), so that the margin is the
gap of the space. With hard margins, a margin of every row at every node would exclude trees: rows
that are not at the node may lie where they like (3).

**What is not here**: the paper's cutting planes, and its selection of rows. Its tree is full and its
leaves may be empty, so nodes and leaves have no prices and no limits.

Reference: Zhu, Murali, Phan, Nguyen, Kalagnanam (2020), "A scalable MIP-based method for learning
optimal multivariate decision trees", NeurIPS 33, arXiv:2011.03375.
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
from milp_trees.oblique.oblique_tree import ObliqueTree
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.oblique.view import ObliqueMatrix, oblique_view
from milp_trees.problems.problem import Problem
from milp_trees.problems.support import who_can

from . import _oblique as oblique
from . import _oct_structure as parts
from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class S1O(TreeFormulation):
    """S1O (SVM1-ODT) with hard margins."""

    name = "s1o"
    title = "S1O (Zhu et al.)"
    reference = "https://arxiv.org/abs/2011.03375"
    space = ObliqueTrees
    default_rank = 110
    takes_side_rows = False
    takes_min_leaf = False
    takes_any_costs = False
    zero_one = frozenset({"w"})
    tests_in = None
    other_sides = "rows on the negative side go left"

    def unsupported(self, problem: Problem) -> str | None:
        why = super().unsupported(problem)
        space: Any = problem.space
        if why is None and (space.limits_leaves or space.min_samples_leaf > 1):
            return f"{self.name} has leaves without rows, and takes no limits on leaves{who_can(problem)}."
        return why

    def unsupported_view(self, view: ObliqueMatrix, space: Any) -> str | None:
        if view.leaf_cost or view.split_costs.any():
            return f"{self.name} has no variable for whether a node splits, and takes no prices of nodes and columns; leave out penalties, or take oct-h."
        return None

    def presolved_view(self, problem: Problem) -> ObliqueMatrix:
        return oblique_view(problem, "alike" if self.merge_rows else "none")

    def templates(self, view: ObliqueMatrix, space: Any) -> bool:
        return bool(view.numeric.names) and space.depth > 0

    def declare(self, m: Any, view: ObliqueMatrix, space: ObliqueTrees) -> None:
        ts.add_sets(m, view, space)
        m.columns = pyo.RangeSet(0, len(view.numeric.names) - 1, doc="columns j")
        m.x = pyo.Param(
            m.rows,
            m.columns,
            initialize=parts.entries(view.numeric.scaled),
            doc="x[i,j] value of column j, in [0,1]",
        )
        _hyperplanes(m, oblique.model_gap(space), space)
        _labels(m, view)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        view: ObliqueMatrix = m.view
        return {
            **super().meanings(m, problem),
            "rows": oblique.row_meanings(view),
            "columns": lambda j: view.numeric.names[j],
        }

    def decode(self, m: Any) -> ObliqueTree:
        leaf = np.array(
            [max(m.leaves, key=lambda t: m.w[i, t].value) for i in m.rows], dtype=np.int64
        )
        every = list(m.columns)
        return oblique.decoded(
            m.view,
            m.space,
            leaf,
            lambda t: round(m.u[t].value),
            lambda v: every,
            lambda v: ({j: m.hm[j, v].value - m.hp[j, v].value for j in every}, m.b[v].value),
        )

    def encode(self, predictor: ObliqueTree, m: Any) -> None:
        view: ObliqueMatrix = m.view
        splits, leaves, end = oblique.placed(predictor, view, m.space)
        scaled, first = view.numeric.scaled, 2**m.space.depth
        at, action = np.zeros(view.n_rows, dtype=np.int64), dict.fromkeys(m.leaves, 0)
        for v, k in leaves.items():
            below = v
            while below < first:  # nodes that do not split send all rows right
                below = 2 * below + 1
            action[below], at[end == v] = k, below
        for v in m.branch:
            weights, low, high = splits.get(v, (np.zeros(len(m.columns)), -2.0, 0.0))
            bound = -(low + high) / 2
            side = scaled @ weights + bound
            m.b[v].set_value(bound, skip_validation=True)
            for j, a in zip(m.columns, weights.tolist(), strict=True):
                m.hp[j, v].set_value(max(a, 0.0), skip_validation=True)
                m.hm[j, v].set_value(max(-a, 0.0), skip_validation=True)
            for i, distance in enumerate(side.tolist()):
                m.e[i, v].set_value(int(distance > 0), skip_validation=True)
                m.pp[i, v].set_value(max(distance, 0.0), skip_validation=True)
                m.pm[i, v].set_value(max(-distance, 0.0), skip_validation=True)
        for t in m.leaves:
            m.u[t].set_value(action[t], skip_validation=True)
        for i, t in enumerate(at.tolist()):
            for other in m.leaves:
                m.w[i, other].set_value(int(other == t), skip_validation=True)
                m.q[i, other].set_value(action[t] if other == t else 0, skip_validation=True)
            m.c[i].set_value(int(action[t] != m.y[i]), skip_validation=True)

    def model_size(self, view: ObliqueMatrix, space: ObliqueTrees) -> ModelSize:
        n, p, D = view.n_rows, len(view.numeric.names), space.depth
        B, T = 2**D - 1, 2**D
        held = int(np.count_nonzero(view.numeric.scaled))
        several = int(view.n_actions > 1)
        columns = B * (2 * p + 1) + n * B * 3 + n * T * 2 + T + n
        rows = n * B + 2 * n * B + 2 * n * B + n * D * T + n + B * (p > 0) + 3 * n * T + 2 * n
        nonzeros = B * (2 * held + 3 * n) + 4 * n * B
        nonzeros += 2 * n * (2 * B + D * T)  # (3)
        nonzeros += 2 * n * D * T + n * T + B * 2 * p
        nonzeros += (
            n * T * (1 + several) + 2 * n * T + n * T * (2 + several) + 2 * n * (T + several)
        )
        return ModelSize(columns, n * B + T + n, rows, nonzeros)


def _hyperplanes(m: Any, gap: float, space: ObliqueTrees) -> None:
    """(1)–(6): the side of every hyperplane that a row is on, and its leaf."""
    first = 2**space.depth
    m.hp = pyo.Var(
        m.columns,
        m.branch,
        domain=pyo.UnitInterval,
        doc="hp[j,v] positive part of the weight of column j",
    )
    m.hm = pyo.Var(
        m.columns,
        m.branch,
        domain=pyo.UnitInterval,
        doc="hm[j,v] negative part of the weight of column j",
    )
    m.b = pyo.Var(m.branch, bounds=(-1, 1), doc="b[v] what is added to the weighted sum")
    m.pp = pyo.Var(
        m.rows, m.branch, bounds=(0, 2), doc="pp[i,v] distance of row i on the right of node v"
    )
    m.pm = pyo.Var(
        m.rows, m.branch, bounds=(0, 2), doc="pm[i,v] distance of row i on the left of node v"
    )
    m.e = pyo.Var(
        m.rows,
        m.branch,
        domain=pyo.Binary,
        doc="e[i,v] = 1 iff row i is on the right side at node v",
    )
    m.w = pyo.Var(
        m.rows, m.leaves, domain=pyo.UnitInterval, doc="w[i,t] = 1 iff row i is in leaf t"
    )
    m.below = pyo.Set(
        m.branch,
        initialize={v: parts.leaves_below(v, space) for v in m.branch},  # type: ignore[arg-type]
        doc="leaves below node v",
    )
    arcs = [(t, v) for t in range(first, 2 * first) for v in ts.ancestors(t)]
    m.left_arcs = pyo.Set(
        dimen=2,
        initialize=[arc for arc in arcs if parts.on_left(*arc)],
        doc="(t, v) with leaf t below the left child of v",
    )
    m.right_arcs = pyo.Set(
        dimen=2,
        initialize=[arc for arc in arcs if not parts.on_left(*arc)],
        doc="(t, v) with leaf t below the right child of v",
    )

    @m.Constraint(m.rows, m.branch, doc="(1) signed distance")
    def distance(m: Any, i: Any, v: Any) -> Any:
        return m.pp[i, v] - m.pm[i, v] == m.b[v] + sum(
            m.x[i, j] * (m.hp[j, v] - m.hm[j, v]) for j in m.columns
        )

    @m.Constraint(m.rows, m.branch, doc="(2) no distance on the right of a row on the left")
    def on_right(m: Any, i: Any, v: Any) -> Any:
        return m.pp[i, v] <= 2 * m.e[i, v]

    @m.Constraint(m.rows, m.branch, doc="(2) no distance on the left of a row on the right")
    def on_left(m: Any, i: Any, v: Any) -> Any:
        return m.pm[i, v] <= 2 * (1 - m.e[i, v])

    @m.Constraint(m.rows, m.branch, doc="(3) margin of a row of the node on its right")
    def right_margin(m: Any, i: Any, v: Any) -> Any:
        return m.pp[i, v] >= gap / 2 * (m.e[i, v] + sum(m.w[i, t] for t in m.below[v]) - 1)

    @m.Constraint(m.rows, m.branch, doc="(3) margin of a row of the node on its left")
    def left_margin(m: Any, i: Any, v: Any) -> Any:
        return m.pm[i, v] >= gap / 2 * (sum(m.w[i, t] for t in m.below[v]) - m.e[i, v])

    @m.Constraint(m.rows, m.right_arcs, doc="(4) leaves on the right hold rows on the right")
    def right_leaf(m: Any, i: Any, t: Any, v: Any) -> Any:
        return m.w[i, t] <= m.e[i, v]

    @m.Constraint(m.rows, m.left_arcs, doc="(4) leaves on the left hold rows on the left")
    def left_leaf(m: Any, i: Any, t: Any, v: Any) -> Any:
        return m.w[i, t] <= 1 - m.e[i, v]

    @m.Constraint(m.rows, doc="(5) a row is in one leaf")
    def one_leaf(m: Any, i: Any) -> Any:
        return sum(m.w[i, t] for t in m.leaves) == 1

    if len(m.columns):

        @m.Constraint(m.branch, doc="(6) weights have a 1-norm of at most 1")
        def norm(m: Any, v: Any) -> Any:
            return sum(m.hp[j, v] + m.hm[j, v] for j in m.columns) <= 1


def _labels(m: Any, view: ObliqueMatrix) -> None:
    """(7), (8) and the objective: the class of the leaf of every row, and errors."""
    assert view.labels is not None
    label, weight = view.labels
    top = view.n_actions - 1
    m.y = pyo.Param(m.rows, initialize=dict(enumerate(label.tolist())), doc="y[i] class of row i")
    m.u = pyo.Var(m.leaves, domain=pyo.Integers, bounds=(0, top), doc="u[t] class of leaf t")
    m.q = pyo.Var(
        m.rows, m.leaves, bounds=(0, top), doc="q[i,t] = u[t] if row i is in leaf t, else 0"
    )
    m.c = pyo.Var(m.rows, domain=pyo.Binary, doc="c[i] = 1 iff row i is given a wrong class")

    @m.Constraint(m.rows, m.leaves, doc="(7) no product without the row")
    def product_inside(m: Any, i: Any, t: Any) -> Any:
        return m.q[i, t] <= top * m.w[i, t]

    @m.Constraint(m.rows, m.leaves, doc="(7) a product is at most the class")
    def product_left(m: Any, i: Any, t: Any) -> Any:
        return m.q[i, t] <= m.u[t]

    @m.Constraint(m.rows, m.leaves, doc="(7) with the row, a product is at least the class")
    def product_both(m: Any, i: Any, t: Any) -> Any:
        return m.q[i, t] >= m.u[t] - top * (1 - m.w[i, t])

    @m.Constraint(m.rows, doc="(8) a class below the row's is an error")
    def too_low(m: Any, i: Any) -> Any:
        return top * m.c[i] >= m.y[i] - sum(m.q[i, t] for t in m.leaves)

    @m.Constraint(m.rows, doc="(8) a class above the row's is an error")
    def too_high(m: Any, i: Any) -> Any:
        return top * m.c[i] >= sum(m.q[i, t] for t in m.leaves) - m.y[i]

    counted = np.flatnonzero(weight).tolist()
    ts.minimise(
        m,
        [int(weight[i]) for i in counted],
        [m.c[i] for i in counted],
        int(view.base.sum()),
        "weights of the errors",
    )
