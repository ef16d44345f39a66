r"""OCT: optimal classification trees on numeric columns (Bertsimas and Dunn 2017), corrected.

The printed constraint of left branches is wrong, and is repaired here.

Columns j are scaled to [0,1] (`_columns`: by ranks, so that the least step of column j is
:math:`\epsilon_j=1/m_j`); :math:`\epsilon_{\min}, \epsilon_{\max}` are the least and the largest
step. Branch nodes B, leaves T; :math:`A_L(t),A_R(t)` the ancestors whose left (x < b) or right
branch leads to leaf t. :math:`r_{ik}\ge0` is the cost of action k on row i above its cheapest one,
:math:`M_k=\sum_ir_{ik}`, and row i stands for :math:`n_i` original rows.

.. math::
   \min\ & \textstyle\sum_{t\in T}L_t+\sum_{v\in B}\sum_j(\text{split cost}_j)\,a_{jv} &\\
   (2)\quad & \textstyle\sum_ja_{jv}=d_v & v\in B\\
   (3)\quad & 0\le b_v\le d_v & v\in B\\
   (5)\quad & d_v\le d_{\lfloor v/2\rfloor} & v\in B\setminus\{1\}\\
   (6)\quad & z_{it}\le l_t & i,\ t\in T\\
   (7)\quad & \textstyle\sum_in_iz_{it}\ge N_{\min}l_t & t\in T\\
   (8)\quad & \textstyle\sum_tz_{it}=1 & i\\
   (13)\quad & \textstyle\sum_ja_{jv}(x_{ij}+\epsilon_j-\epsilon_{\min})+\epsilon_{\min}
               \le b_v+(1+\epsilon_{\max})(1-z_{it}) & i,\ t\in T,\ v\in A_L(t)\\
   (14)\quad & \textstyle\sum_ja_{jv}x_{ij}\ge b_v-(1-z_{it}) & i,\ t\in T,\ v\in A_R(t)\\
   (18)\quad & \textstyle\sum_kc_{kt}=l_t & t\in T\\
   (20)\quad & \textstyle L_t\ge\sum_ir_{ik}z_{it}-M_k(1-c_{kt}) & k,\ t\in T.

The numbers are the paper's. Its counts (16), (17) are substituted into (20), which therefore allows
any costs, with the least big-M of every action. Its (21) only forbids a label that is not the
cheapest, which minimisation does anyway. A node with d = 0 does not split: all its rows go right.

**Side constraints** (ours) count products of z and c, see `_row_actions`. The best tree under them
may have labels that are not the cheapest of their leaves, and (21) would exclude it.

**The printed (13)**, :math:`\sum_ja_{jv}(x_{ij}+\epsilon_j)\le b_v+(1+\epsilon_{\max})(1-z_{it})`,
leaves both ways open at such a node (a = b = 0): rows can go wherever their label is predicted, and
the "optimum" is 0. `repair` names five solutions; all have the same optimum.

References: Bertsimas, Dunn (2017), "Optimal classification trees", Machine Learning 106, 1039–1082;
Dunn (2018), "Optimal trees for prediction and prescription", MIT; Elmachtoub, Liang, McNellis
(2020), "Decision trees for decision-making under the predict-then-optimize framework", appendix A.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.errors import UnknownName
from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

from . import _oct_structure as parts
from . import _tree_structure as ts
from ._columns import (
    Column,
    branch,
    column_words,
    numeric_columns,
    place,
    prices_differ,
    reached,
)

#: Largest number of thresholds of a column. The feasibility tolerance of solvers is 1e-6, and steps
#: between the values of a column must be much larger.
MOST_THRESHOLDS = 10_000


class LeftBranch(NamedTuple):
    """Coefficients of constraint (13).

    It is `sum_j a[j,v] (x[i,j] + shift[j]) + unsplit (1 - d[v]) + offset <= b[v] + big_m (1 -
    z[i,t])`.
    """

    shift: np.ndarray
    unsplit: float
    offset: float
    big_m: float


@register
@dataclass(frozen=True)
class OCT(TreeFormulation):
    """OCT on numeric columns.

    Parameters
    ----------
    repair : {"eps-min", "scalar", "d-shift", "z-le-d", "spo"}
        What replaces the printed left branch. `"eps-min"`: (13) above, from Dunn's thesis.
        `"scalar"`: one step for all columns. `"d-shift"`: the printed one, closed where d = 0.
        `"z-le-d"`: the printed one, and z <= d. `"spo"`: the printed one with 1 - d <= b <= 1 in
        place of (3); rows of a node that does not split then go left.
    """

    name = "oct"
    title = "OCT (Bertsimas, Dunn)"
    reference = "https://doi.org/10.1007/s10994-017-5633-9"
    changeable = frozenset({"side", "leaves"})
    zero_one = frozenset({"u"})
    tests_in = None
    other_sides = "rows below a threshold go left"

    repair: str = "eps-min"
    repairs: ClassVar[tuple[str, ...]] = ("eps-min", "scalar", "d-shift", "z-le-d", "spo")

    def __post_init__(self) -> None:
        if self.repair not in self.repairs:
            raise UnknownName(
                f"OCT has no repair {self.repair!r}; choose one of {', '.join(self.repairs)}."
            )

    @property
    def redundant(self) -> dict[str, str]:  # type: ignore[override]
        if self.repair == "spo":  # it needs (3) to close the right branch
            return parts.HIERARCHY
        return {
            **parts.HIERARCHY,
            "threshold_range": "(3) states which way rows go at a node that does not split; decode reads either way from b",
        }

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        for column in numeric_columns(view):
            if column.m > MOST_THRESHOLDS:
                return f"{self.name} cannot tell {column.m} thresholds of {column.name!r} apart (at most {MOST_THRESHOLDS}); binarize with fewer."
        return prices_differ(self.name, view)

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        columns = numeric_columns(view)
        ts.add_sets(m, view, space)
        m.columns = pyo.RangeSet(0, len(columns) - 1, doc="columns j")
        m.a = pyo.Var(
            m.columns, m.branch, domain=pyo.Binary, doc="a[j,v] = 1 iff node v tests column j"
        )
        m.b = pyo.Var(
            m.branch, domain=pyo.UnitInterval, doc="b[v] threshold: rows with x < b go left"
        )
        parts.add_splits(m, space)

        @m.Constraint(m.branch, doc="(2) a node that splits tests one column")
        def one_column(m: Any, v: Any) -> Any:
            return sum(m.a[j, v] for j in m.columns) == m.d[v]

        parts.add_leaves(m, view, space)
        self.add_routing(m, columns)
        cost = [int(view.split_costs[c.tests[0]]) + view.leaf_cost for c in columns]
        parts.add_objective(
            m, view, [(cost[j], m.a[j, v]) for j in m.columns for v in m.branch if cost[j]]
        )

    def add_routing(self, m: Any, columns: list[Column]) -> None:
        """Constraints (3), (13), (14): thresholds, and the way of each row."""
        x, rule = scaled(columns, len(m.rows)), self.left_branch(columns)
        m.x = pyo.Param(
            m.rows, m.columns, initialize=parts.entries(x), doc="x[i,j] value of column j, in [0,1]"
        )
        m.shift = pyo.Param(
            m.columns,
            initialize=dict(enumerate(rule.shift.tolist())),
            doc="step that is added to x[i,j], so that x + step <= b means x < b",
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

        @m.Constraint(
            m.branch,
            doc="(3) the threshold of a node that does not split sends all rows to one side",
        )
        def threshold_range(m: Any, v: Any) -> Any:
            return m.b[v] >= 1 - m.d[v] if self.repair == "spo" else m.b[v] <= m.d[v]

        @m.Constraint(m.rows, m.left_arcs, doc="(13) a row goes left only below the threshold")
        def left(m: Any, i: Any, t: Any, v: Any) -> Any:
            value = sum((m.x[i, j] + m.shift[j]) * m.a[j, v] for j in m.columns) + rule.offset
            if rule.unsplit:
                value += rule.unsplit * (1 - m.d[v])
            return value <= m.b[v] + rule.big_m * (1 - m.z[i, t])

        @m.Constraint(
            m.rows, m.right_arcs, doc="(14) a row goes right only at or above the threshold"
        )
        def right(m: Any, i: Any, t: Any, v: Any) -> Any:
            return sum(m.x[i, j] * m.a[j, v] for j in m.columns) >= m.b[v] - (1 - m.z[i, t])

        if self.repair == "z-le-d":

            @m.Constraint(
                m.rows, m.left_arcs, doc="nothing goes left at a node that does not split"
            )
            def left_splits(m: Any, i: Any, t: Any, v: Any) -> Any:
                return m.z[i, t] <= m.d[v]

    def left_branch(self, columns: list[Column]) -> LeftBranch:
        """Coefficients of constraint (13)."""
        steps = np.array([1 / c.m for c in columns])
        least, largest = float(steps.min(initial=1.0)), float(steps.max(initial=0.0))
        match self.repair:
            case "eps-min":
                return LeftBranch(steps - least, 0, least, 1 + largest)
            case "scalar":
                return LeftBranch(0 * steps, 0, least, 1 + least)
            case "d-shift":
                return LeftBranch(steps, 1 + largest, 0, 1 + largest)
            case _:  # the printed left side; z-le-d and spo repair it elsewhere
                return LeftBranch(steps, 0, 0, 1 + largest)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        return {**super().meanings(m, problem), "columns": column_words(m.view)}

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view
        columns = numeric_columns(view)
        half_step = 0.5 / max((c.m for c in columns), default=1)

        def walk(v: int) -> Any:
            if v in m.leaves:
                return parts.chosen_action(m, v)
            if m.d[v].value < 0.5:  # the test is 0 < b
                return walk(2 * v) if m.b[v].value > half_step else walk(2 * v + 1)
            j = max(m.columns, key=lambda j: m.a[j, v].value)
            # Rows on the right have x >= b, those on the left x <= b - least step: the next value
            # at or above b separates them as b does.
            p = math.ceil((m.b[v].value - half_step) * columns[j].m) - 1
            return (
                branch(view, columns[j], p, walk(2 * v), walk(2 * v + 1))
                if p >= 0
                else walk(2 * v + 1)
            )

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        columns = numeric_columns(view)
        splits, leaves = place(tree, view, columns)
        for v in m.branch:
            tested, p = splits.get(v, (None, -1))
            for j in m.columns:
                m.a[j, v].set_value(int(j == tested), skip_validation=True)
            unsplit = 1.0 if self.repair == "spo" else 0.0
            m.b[v].set_value(
                unsplit if tested is None else (p + 1) / columns[tested].m, skip_validation=True
            )
        parts.encode_leaves(
            m,
            set(splits),
            leaves,
            reached(splits, columns, view.n_rows),
            rightmost=self.repair != "spo",
        )

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        columns = numeric_columns(view)
        n, p, D = view.n_rows, len(columns), space.depth
        B, T = 2**D - 1, 2**D
        base = parts.leaf_sizes(view, space)
        x, rule = scaled(columns, n), self.left_branch(columns)
        arcs = D * T // 2
        rows = base.rows + 2 * B + 2 * n * arcs
        nonzeros = (
            base.nonzeros
            + B * (p + 1)
            + 2 * B
            + arcs * int((x + rule.shift != 0).sum() + (x != 0).sum() + 4 * n)
        )
        if rule.unsplit:
            nonzeros += n * arcs
        if self.repair == "z-le-d":
            rows, nonzeros = rows + n * arcs, nonzeros + 2 * n * arcs
        return ModelSize(base.variables + B * (p + 1), base.binaries + B * p, rows, nonzeros)


def scaled(columns: list[Column], n_rows: int) -> np.ndarray:
    """Values of the columns in [0,1], shape (n, p)."""
    return np.column_stack([c.ranks / c.m for c in columns]) if columns else np.zeros((n_rows, 0))
