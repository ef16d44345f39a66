r"""OCT-H: optimal classification trees with hyperplanes (Bertsimas and Dunn 2017).

Columns j are scaled to [0,1] (:math:`x_{ij}`). Branch nodes B, leaves T; :math:`A_L(t),A_R(t)` the
ancestors whose left (:math:`a^\top x<b`) or right branch leads to leaf t; :math:`\mu` the gap of
`ObliqueTrees`. :math:`r_{ik}\ge0` is the cost of action k on row i above its cheapest one,
:math:`M_k=\sum_ir_{ik}`, and row i stands for :math:`n_i` original rows. Numbering ours, except
that (5)–(8), (18), (20) are those of OCT, which the model shares (`oct`).

.. math::
   \min\ & \textstyle\sum_{t\in T}L_t+\sum_{v\in B}\Bigl((\text{split cost})\,d_v+\sum_j(\text{cost}_j)\,s_{jv}\Bigr) &\\
   (h1)\quad & \hat a_{jv}\ge a_{jv},\quad \hat a_{jv}\ge-a_{jv} & j,\ v\in B\\
   (h2)\quad & \textstyle\sum_j\hat a_{jv}\le d_v & v\in B\\
   (h3)\quad & -s_{jv}\le a_{jv}\le s_{jv} & j,\ v\in B\\
   (h4)\quad & s_{jv}\le d_v,\quad \textstyle\sum_js_{jv}\ge d_v & j,\ v\in B\\
   (h5)\quad & -d_v\le b_v\le d_v & v\in B\\
   (h6)\quad & \textstyle\sum_ja_{jv}x_{ij}+\mu\le b_v+(2+\mu)(1-z_{it}) & i,\ t\in T,\ v\in A_L(t)\\
   (h7)\quad & \textstyle\sum_ja_{jv}x_{ij}\ge b_v-2(1-z_{it}) & i,\ t\in T,\ v\in A_R(t)

and (5), (6), (7), (8), (18), (20) of `oct`. A node with d = 0 has a = 0 and b = 0, so that (h6) is
:math:`\mu\le0` for a row on its left: all its rows go right. Here the strict margin of the printed
left branch repairs nothing and breaks nothing, unlike in OCT.

**The objective** of the paper divides the errors by those of the most frequent class and adds
:math:`\alpha` per column that a split uses; here that is the task's: `feature_costs` are the prices
of columns in a split, `split_penalty` and `leaf_penalty` those of nodes. **Costs** of every kind
and **side constraints** are ours, as in `oct`.

**The gap.** With :math:`\mu>0` the model excludes splits with a smaller gap, and no choice of
:math:`\mu` that a solver can see includes them all on real data. So the gap is part of the problem
(`ObliqueTrees.gap`), and the model asks for 0.00001 less, see `_oblique`.

Reference: Bertsimas, Dunn (2017), "Optimal classification trees", Machine Learning 106, 1039–1082.
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

from . import _oblique as oblique
from . import _oct_structure as parts
from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class OCTH(TreeFormulation):
    """OCT-H on numeric columns."""

    name = "oct-h"
    title = "OCT-H (Bertsimas, Dunn)"
    reference = "https://doi.org/10.1007/s10994-017-5633-9"
    space = ObliqueTrees
    default_rank = 100
    reference_rank = 60
    zero_one = frozenset({"u"})
    tests_in = None
    other_sides = "rows below a bound go left"
    redundant = {
        **parts.HIERARCHY,
        "used_in_split": "(h4) a node that does not split has no weights by (h2), and no column costs less than nothing",
        "some_column": "(h4) a node that splits on no column sends all rows to one side, as one that does not split",
        "least_bound": "(h5) bounds below -1 and above 1 send all rows to one side, and big-M is large enough for a bound in between",
        "largest_bound": "(h5) as for the least bound",
    }

    def presolved_view(self, problem: Problem) -> ObliqueMatrix:
        return oblique_view(problem, "equal" if self.merge_rows else "none")

    def templates(self, view: ObliqueMatrix, space: Any) -> bool:
        return bool(view.numeric.names) and space.depth > 0

    def declare(self, m: Any, view: ObliqueMatrix, space: ObliqueTrees) -> None:
        p, gap = len(view.numeric.names), oblique.model_gap(space)
        ts.add_sets(m, view, space)
        m.columns = pyo.RangeSet(0, p - 1, doc="columns j")
        m.a = pyo.Var(
            m.columns, m.branch, bounds=(-1, 1), doc="a[j,v] weight of scaled column j at node v"
        )
        m.size = pyo.Var(
            m.columns, m.branch, domain=pyo.UnitInterval, doc="size[j,v] at least |a[j,v]|"
        )
        m.s = pyo.Var(
            m.columns, m.branch, domain=pyo.Binary, doc="s[j,v] = 1 iff node v uses column j"
        )
        m.b = pyo.Var(m.branch, bounds=(-1, 1), doc="b[v] bound: rows with a x < b go left")
        parts.add_splits(m, space)
        _weights(m)
        parts.add_leaves(m, view, space)
        _routing(m, view, space, gap)
        prices = view.column_costs.tolist()
        split = view.split_cost + view.leaf_cost
        costs = [(split, m.d[v]) for v in m.branch if split]
        costs += [(prices[j], m.s[j, v]) for j in m.columns for v in m.branch if prices[j]]
        parts.add_objective(m, view, costs)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        view: ObliqueMatrix = m.view
        return {
            **super().meanings(m, problem),
            "rows": oblique.row_meanings(view),
            "columns": lambda j: view.numeric.names[j],
        }

    def decode(self, m: Any) -> ObliqueTree:
        view: ObliqueMatrix = m.view
        leaf = np.array(
            [max(m.leaves, key=lambda t: m.z[i, t].value) for i in m.rows], dtype=np.int64
        )
        return oblique.decoded(
            view,
            m.space,
            leaf,
            lambda t: parts.chosen_action(m, t).action,
            lambda v: [j for j in m.columns if m.s[j, v].value > 0.5],
            lambda v: ({j: m.a[j, v].value for j in m.columns}, m.b[v].value),
        )

    def encode(self, predictor: ObliqueTree, m: Any) -> None:
        view: ObliqueMatrix = m.view
        splits, leaves, end = oblique.placed(predictor, view, m.space)
        none = np.zeros(len(m.columns)), 0.0, 0.0
        for v in m.branch:
            weights, _, above = splits.get(v, none)
            m.b[v].set_value(above, skip_validation=True)
            for j, a in zip(m.columns, weights.tolist(), strict=True):
                m.a[j, v].set_value(a, skip_validation=True)
                m.size[j, v].set_value(abs(a), skip_validation=True)
                m.s[j, v].set_value(int(a != 0), skip_validation=True)
        parts.encode_leaves(m, set(splits), leaves, end, rightmost=True)

    def model_size(self, view: ObliqueMatrix, space: ObliqueTrees) -> ModelSize:
        n, p, D = view.n_rows, len(view.numeric.names), space.depth
        B, T = 2**D - 1, 2**D
        base = parts.leaf_sizes(view, space)  # type: ignore[arg-type]
        arcs = D * T // 2
        rows = base.rows + B * (2 * p + 1 + 2 * p + p + 1 + 2) + 2 * n * arcs
        nonzeros = base.nonzeros + B * (4 * p + (p + 1) + 4 * p + 2 * p + (p + 1) + 4)
        nonzeros += 2 * arcs * (int(np.count_nonzero(view.numeric.scaled)) + 2 * n)
        return ModelSize(base.variables + B * (3 * p + 1), base.binaries + B * p, rows, nonzeros)


def _weights(m: Any) -> None:
    """(h1)–(h5): weights, the columns that they use, and bounds."""

    @m.Constraint(m.columns, m.branch, doc="(h1) size of a positive weight")
    def positive(m: Any, j: Any, v: Any) -> Any:
        return m.size[j, v] >= m.a[j, v]

    @m.Constraint(m.columns, m.branch, doc="(h1) size of a negative weight")
    def negative(m: Any, j: Any, v: Any) -> Any:
        return m.size[j, v] >= -m.a[j, v]

    @m.Constraint(m.branch, doc="(h2) sizes add up to at most 1, to 0 without a split")
    def norm(m: Any, v: Any) -> Any:
        return sum(m.size[j, v] for j in m.columns) <= m.d[v]

    @m.Constraint(m.columns, m.branch, doc="(h3) a positive weight uses its column")
    def used_positive(m: Any, j: Any, v: Any) -> Any:
        return m.a[j, v] <= m.s[j, v]

    @m.Constraint(m.columns, m.branch, doc="(h3) a negative weight uses its column")
    def used_negative(m: Any, j: Any, v: Any) -> Any:
        return m.a[j, v] >= -m.s[j, v]

    @m.Constraint(m.columns, m.branch, doc="(h4) only nodes that split use columns")
    def used_in_split(m: Any, j: Any, v: Any) -> Any:
        return m.s[j, v] <= m.d[v]

    @m.Constraint(m.branch, doc="(h4) a node that splits uses a column")
    def some_column(m: Any, v: Any) -> Any:
        return sum(m.s[j, v] for j in m.columns) >= m.d[v]

    @m.Constraint(m.branch, doc="(h5) least bound; 0 without a split")
    def least_bound(m: Any, v: Any) -> Any:
        return m.b[v] >= -m.d[v]

    @m.Constraint(m.branch, doc="(h5) largest bound; 0 without a split")
    def largest_bound(m: Any, v: Any) -> Any:
        return m.b[v] <= m.d[v]


def _routing(m: Any, view: ObliqueMatrix, space: ObliqueTrees, gap: float) -> None:
    """(h6) and (h7): rows of a leaf are on the right side of every split above it."""
    m.x = pyo.Param(
        m.rows,
        m.columns,
        initialize=parts.entries(view.numeric.scaled),
        doc="x[i,j] value of column j, in [0,1]",
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

    @m.Constraint(m.rows, m.left_arcs, doc="(h6) a row goes left only below the bound")
    def left(m: Any, i: Any, t: Any, v: Any) -> Any:
        value = sum(m.x[i, j] * m.a[j, v] for j in m.columns) + gap
        return value <= m.b[v] + (2 + gap) * (1 - m.z[i, t])

    @m.Constraint(m.rows, m.right_arcs, doc="(h7) a row goes right only at or above the bound")
    def right(m: Any, i: Any, t: Any, v: Any) -> Any:
        return sum(m.x[i, j] * m.a[j, v] for j in m.columns) >= m.b[v] - 2 * (1 - m.z[i, t])
