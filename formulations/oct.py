r"""OCT: optimal classification trees on numeric columns (Bertsimas and Dunn 2017), with a left branch that is right.

Columns j are scaled to [0,1] (`_columns`: ranks, so :math:`\epsilon_j=1/m_j`), :math:`\epsilon_{\min},\epsilon_{\max}` the least and largest of them;
branch nodes B, leaves T; :math:`A_L(t),A_R(t)` the ancestors whose left (x < b) or right branch leads to leaf t; :math:`r_{ik}\ge0` what action k
costs row i above its cheapest one, :math:`M_k=\sum_ir_{ik}`, :math:`n_i` the original rows that row i stands for.

.. math::
   \min\ & \textstyle\sum_{t\in T}L_t+\sum_{v\in B}\sum_j(\text{split cost}_j)\,a_{jv} &\\
   (2)\quad & \textstyle\sum_ja_{jv}=d_v & v\in B\\
   (3)\quad & 0\le b_v\le d_v & v\in B\\
   (5)\quad & d_v\le d_{\lfloor v/2\rfloor} & v\in B\setminus\{1\}\\
   (6)\quad & z_{it}\le l_t & i,\ t\in T\\
   (7)\quad & \textstyle\sum_in_iz_{it}\ge N_{\min}l_t & t\in T\\
   (8)\quad & \textstyle\sum_tz_{it}=1 & i\\
   (13)\quad & \textstyle\sum_ja_{jv}(x_{ij}+\epsilon_j-\epsilon_{\min})+\epsilon_{\min}\le b_v+(1+\epsilon_{\max})(1-z_{it}) & i,\ t\in T,\ v\in A_L(t)\\
   (14)\quad & \textstyle\sum_ja_{jv}x_{ij}\ge b_v-(1-z_{it}) & i,\ t\in T,\ v\in A_R(t)\\
   (18)\quad & \textstyle\sum_kc_{kt}=l_t & t\in T\\
   (20)\quad & \textstyle L_t\ge\sum_ir_{ik}z_{it}-M_k(1-c_{kt}) & k,\ t\in T.

The numbers are the paper's. Its counts (16), (17) are substituted into (20), which thereby takes any costs, with the least big-M of every action; its
(21) only forbids a label that is not the cheapest, which minimisation does anyway. A node with d = 0 does not split: all its rows pass on to the right.

**The printed (13)**, :math:`\sum_ja_{jv}(x_{ij}+\epsilon_j)\le b_v+(1+\epsilon_{\max})(1-z_{it})`, leaves both ways open at such a node (a = b = 0), so that rows
are sent wherever their label is predicted and the "optimum" is 0. `repair` names five ways out; all have the same optimum.

References: Bertsimas, Dunn (2017), "Optimal classification trees", Machine Learning 106, 1039–1082; Dunn (2018), "Optimal trees for prediction and
prescription", MIT; Elmachtoub, Liang, McNellis (2020), "Decision trees for decision-making under the predict-then-optimize framework", appendix A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyomo.environ as pyo

from milp_trees import CostMatrix, Formulation, Leaf, Sizes, Tree, Trees, UnknownName, register

from . import _tree_structure as ts
from ._columns import Column, branch, numeric_columns, place, reached

#: The feasibility tolerance of solvers is 1e-6: steps between the values of a column must be far above it.
MOST_THRESHOLDS = 10_000


class LeftBranch(NamedTuple):
    """Constraint (13) as `sum_j a[j,v] left[i,j] + unsplit (1 - d[v]) + offset <= b[v] + big_m (1 - z[i,t])`."""

    left: np.ndarray
    unsplit: float
    offset: float
    big_m: float


@register
@dataclass(frozen=True)
class OCT(Formulation):
    """OCT on numeric columns.

    Parameters
    ----------
    repair : {"eps-min", "scalar", "d-shift", "z-le-d", "spo"}
        What replaces the printed left branch: `"eps-min"` Dunn's thesis; `"scalar"` one step for all columns; `"d-shift"` the printed one, shut where
        d = 0; `"z-le-d"` the printed one and :math:`z_{it}\\le d_v`; `"spo"` the printed one and :math:`1-d_v\\le b_v\\le1` for (3), where rows pass on to the left.
    """

    name = "oct"
    title = "OCT (Bertsimas, Dunn)"
    reference = "https://doi.org/10.1007/s10994-017-5633-9"
    takes_side_rows: ClassVar[bool] = False
    redundant: ClassVar[dict[str, str]] = {
        "threshold_range": "(3) says which way rows pass a node that does not split; with eps-min either way is a tree",
        "hierarchy": "(5) removes symmetric solutions: no split below a node that does not split",
    }

    repair: str = "eps-min"
    repairs: ClassVar[tuple[str, ...]] = ("eps-min", "scalar", "d-shift", "z-le-d", "spo")

    def __post_init__(self) -> None:
        if self.repair not in self.repairs:
            raise UnknownName(f"OCT has no repair {self.repair!r}; choose one of {', '.join(self.repairs)}.")

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        for column in numeric_columns(view):
            if len(set(view.split_costs[list(column.tests)].tolist())) > 1:
                return f"{self.name} prices a split by its column, but tests of {column.name!r} have different costs; flow-oct and state-flow can express that."
            if column.m > MOST_THRESHOLDS:
                return f"{self.name} cannot tell {column.m} thresholds of {column.name!r} apart (at most {MOST_THRESHOLDS}); binarize with fewer."
        return None

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        columns = numeric_columns(view)
        ts.add_sets(m, view, space)
        m.columns = pyo.RangeSet(0, len(columns) - 1, doc="columns j")
        m.a = pyo.Var(m.columns, m.branch, domain=pyo.Binary, doc="a[j,v] = 1 iff node v tests column j")
        m.b = pyo.Var(m.branch, domain=pyo.UnitInterval, doc="b[v] threshold: rows with x < b go left")
        add_splits(m, space)

        @m.Constraint(m.branch, doc="(2) a node that splits tests one column")
        def one_column(m: Any, v: Any) -> Any:
            return sum(m.a[j, v] for j in m.columns) == m.d[v]

        add_leaves(m, view, space)
        self.add_routing(m, columns)
        cost = [int(view.split_costs[c.tests[0]]) + view.leaf_cost for c in columns]
        add_objective(m, view, [(cost[j], m.a[j, v]) for j in m.columns for v in m.branch if cost[j]])

    def add_routing(self, m: Any, columns: list[Column]) -> None:
        """Constraints (3), (13), (14): thresholds, and what they say about rows."""
        x, rule = scaled(columns, len(m.rows)), self.left_branch(columns, len(m.rows))
        m.x = pyo.Param(m.rows, m.columns, initialize=entries(x), doc="x[i,j] value of column j, in [0,1]")
        m.x_left = pyo.Param(m.rows, m.columns, initialize=entries(rule.left), doc="x[i,j] and the step that puts it below a threshold")
        m.left_arcs = pyo.Set(dimen=2, initialize=[(t, v) for t in m.leaves for v in ts.ancestors(t) if on_left(t, v)], doc="(t, v) with v in A_L(t)")
        m.right_arcs = pyo.Set(dimen=2, initialize=[(t, v) for t in m.leaves for v in ts.ancestors(t) if not on_left(t, v)], doc="(t, v) with v in A_R(t)")

        @m.Constraint(m.branch, doc="(3) the threshold of a node that does not split sends rows on one way")
        def threshold_range(m: Any, v: Any) -> Any:
            return m.b[v] >= 1 - m.d[v] if self.repair == "spo" else m.b[v] <= m.d[v]

        @m.Constraint(m.rows, m.left_arcs, doc="(13) a row goes left only below the threshold")
        def left(m: Any, i: Any, t: Any, v: Any) -> Any:
            value = sum(m.x_left[i, j] * m.a[j, v] for j in m.columns) + rule.offset
            if rule.unsplit:
                value += rule.unsplit * (1 - m.d[v])
            return value <= m.b[v] + rule.big_m * (1 - m.z[i, t])

        @m.Constraint(m.rows, m.right_arcs, doc="(14) a row goes right only at or above the threshold")
        def right(m: Any, i: Any, t: Any, v: Any) -> Any:
            return sum(m.x[i, j] * m.a[j, v] for j in m.columns) >= m.b[v] - (1 - m.z[i, t])

        if self.repair == "z-le-d":

            @m.Constraint(m.rows, m.left_arcs, doc="nothing goes left at a node that does not split")
            def left_splits(m: Any, i: Any, t: Any, v: Any) -> Any:
                return m.z[i, t] <= m.d[v]

    def left_branch(self, columns: list[Column], n_rows: int) -> LeftBranch:
        """Coefficients of constraint (13)."""
        x = scaled(columns, n_rows)
        steps = np.array([1 / c.m for c in columns])
        least, largest = float(steps.min(initial=1.0)), float(steps.max(initial=0.0))
        match self.repair:
            case "eps-min":
                return LeftBranch(x + steps - least, 0, least, 1 + largest)
            case "scalar":
                return LeftBranch(x, 0, least, 1 + least)
            case "d-shift":
                return LeftBranch(x + steps, 1 + largest, 0, 1 + largest)
            case _:  # the printed left side: z-le-d and spo repair it elsewhere
                return LeftBranch(x + steps, 0, 0, 1 + largest)

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view
        columns = numeric_columns(view)
        half_step = 0.5 / max((c.m for c in columns), default=1)

        def walk(v: int) -> Any:
            if v in m.leaves:
                return chosen_action(m, v)
            if m.d[v].value < 0.5:  # the test is 0 < b
                return walk(2 * v) if m.b[v].value > half_step else walk(2 * v + 1)
            j = max(m.columns, key=lambda j: m.a[j, v].value)
            # Values lie on a grid of 1/m. Rows on the right have x >= b, those on the left x < b by at least the least step: go to the next grid point.
            p = math.ceil((m.b[v].value - half_step) * columns[j].m) - 1
            return branch(view, columns[j], p, walk(2 * v), walk(2 * v + 1)) if p >= 0 else walk(2 * v + 1)

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
            m.b[v].set_value(unsplit if tested is None else (p + 1) / columns[tested].m, skip_validation=True)
        encode_leaves(m, set(splits), leaves, reached(splits, columns, view.n_rows), rightmost=self.repair != "spo")

    def sizes(self, view: CostMatrix, space: Trees) -> Sizes:
        columns = numeric_columns(view)
        n, p, D = view.n_rows, len(columns), space.max_depth
        B, T = 2**D - 1, 2**D
        base = leaf_sizes(view, space)
        rule = self.left_branch(columns, n)
        arcs = D * T // 2
        rows = base.rows + 2 * B + 2 * n * arcs
        nonzeros = base.nonzeros + B * (p + 1) + 2 * B + arcs * int((rule.left != 0).sum() + (scaled(columns, n) != 0).sum() + 4 * n)
        if rule.unsplit:
            nonzeros += n * arcs
        if self.repair == "z-le-d":
            rows, nonzeros = rows + n * arcs, nonzeros + 2 * n * arcs
        return Sizes(base.variables + B * (p + 1), base.binaries + B * p, rows, nonzeros)


def scaled(columns: list[Column], n_rows: int) -> np.ndarray:
    """Values of the columns in [0,1], shape (n, p)."""
    return np.column_stack([c.ranks / c.m for c in columns]) if columns else np.zeros((n_rows, 0))


def entries(array: np.ndarray) -> dict[tuple[int, int], Any]:
    """A matrix as Pyomo wants its parameters: plain numbers by index."""
    return {(i, j): value for i, row in enumerate(array.tolist()) for j, value in enumerate(row)}


def on_left(t: int, v: int) -> bool:
    """Whether heap node t lies below the left child of its ancestor v."""
    return (t >> (t.bit_length() - v.bit_length() - 1)) % 2 == 0


# -- what OCT and its binary-test variant share ------------------------------------------------------------------


def add_splits(m: Any, space: Trees) -> None:
    """Variable d, constraint (5), and the leaf limit."""
    m.d = pyo.Var(m.branch, domain=pyo.Binary, doc="d[v] = 1 iff node v splits")
    m.below = pyo.Set(initialize=range(2, 2**space.max_depth), doc="branch nodes but the root")
    m.parent = pyo.Param(m.below, initialize=lambda m, v: v // 2, within=pyo.Any, doc="parent of a node")

    @m.Constraint(m.below, doc="(5) a node splits only if its parent does")
    def hierarchy(m: Any, v: Any) -> Any:
        return m.d[v] <= m.d[m.parent[v]]

    if space.limits_leaves:
        m.most_splits = pyo.Constraint(expr=(None, sum(m.d[v] for v in m.branch), space.max_splits), doc="at most max_leaf_nodes - 1 splits")


def add_leaves(m: Any, view: CostMatrix, space: Trees) -> None:
    """Variables z, l, c, L and constraints (6), (7), (8), (18), (20)."""
    m.z = pyo.Var(m.rows, m.leaves, domain=pyo.Binary, doc="z[i,t] = 1 iff row i is in leaf t")
    m.l = pyo.Var(m.leaves, domain=pyo.Binary, doc="l[t] = 1 iff leaf t holds rows")
    m.c = pyo.Var(m.actions, m.leaves, domain=pyo.Binary, doc="c[k,t] = 1 iff leaf t predicts action k")
    m.L = pyo.Var(m.leaves, domain=pyo.NonNegativeReals, doc="L[t] cost of leaf t above the cheapest cost of its rows")
    m.count = pyo.Param(m.rows, initialize=dict(enumerate(view.counts.tolist())), doc="n[i] original rows that row i stands for")
    m.costly = pyo.Set(m.actions, initialize={k: np.flatnonzero(view.regret[:, k]).tolist() for k in m.actions}, doc="rows with r[i,k] > 0")
    m.regret = pyo.Param(m.rows, m.actions, initialize=entries(view.regret), doc="r[i,k] cost of action k above the cheapest")
    m.most = pyo.Param(m.actions, initialize=dict(enumerate(view.regret.sum(axis=0).tolist())), doc="M[k] sum of r[i,k]: the least big-M")

    @m.Constraint(m.rows, m.leaves, doc="(6) rows are in leaves that are in use")
    def in_use(m: Any, i: Any, t: Any) -> Any:
        return m.z[i, t] <= m.l[t]

    @m.Constraint(m.leaves, doc="(7) a leaf in use holds at least min_samples_leaf rows")
    def leaf_size(m: Any, t: Any) -> Any:
        return sum(m.count[i] * m.z[i, t] for i in m.rows) >= space.min_samples_leaf * m.l[t]

    @m.Constraint(m.rows, doc="(8) a row is in one leaf")
    def one_leaf(m: Any, i: Any) -> Any:
        return sum(m.z[i, t] for t in m.leaves) == 1

    @m.Constraint(m.leaves, doc="(18) a leaf in use predicts one action")
    def one_action(m: Any, t: Any) -> Any:
        return sum(m.c[k, t] for k in m.actions) == m.l[t]

    @m.Constraint(m.actions, m.leaves, doc="(20) a leaf costs what its action costs")
    def leaf_cost(m: Any, k: Any, t: Any) -> Any:
        return m.L[t] >= sum(m.regret[i, k] * m.z[i, t] for i in m.costly[k]) - m.most[k] * (1 - m.c[k, t])


def add_objective(m: Any, view: CostMatrix, splits: list[tuple[int, Any]]) -> None:
    """Costs of the leaves and of the splits, given as (cost with the leaf it adds, variable); leaves = splits + 1."""
    variables = [m.L[t] for t in m.leaves] + [x for _, x in splits]
    coefficients = [1] * len(m.leaves) + [c for c, _ in splits]
    ts.minimise(m, coefficients, variables, int(view.base.sum()) + view.leaf_cost, "cost of the leaves, and penalties")


def chosen_action(m: Any, t: int) -> Leaf:
    """The leaf that c describes."""
    return Leaf(max(m.actions, key=lambda k: (m.c[k, t].value, -k)))


def encode_leaves(m: Any, splits: set[int], leaves: dict[int, int], end: np.ndarray, rightmost: bool) -> None:
    """Values of d, z, l, c and L; rows of an early leaf pass on to its rightmost (or leftmost) leaf below."""
    view: CostMatrix = m.view
    first = min(m.leaves)

    def bottom(v: int) -> int:
        while v < first:
            v = 2 * v + int(rightmost)
        return v

    action = {bottom(v): k for v, k in leaves.items()}
    at = np.array([bottom(v) for v in end.tolist()])
    for v in m.branch:
        m.d[v].set_value(int(v in splits), skip_validation=True)
    for t in m.leaves:
        here = at == t
        used = bool(here.any())
        for i, inside in enumerate(here.tolist()):
            m.z[i, t].set_value(int(inside), skip_validation=True)
        m.l[t].set_value(int(used), skip_validation=True)
        for k in m.actions:
            m.c[k, t].set_value(int(used and action[t] == k), skip_validation=True)
        m.L[t].set_value(int(view.regret[here, action[t]].sum()) if used else 0, skip_validation=True)


def leaf_sizes(view: CostMatrix, space: Trees) -> Sizes:
    """Size of variables and constraints of `add_splits` and `add_leaves`."""
    n, K, B, T = view.n_rows, view.n_actions, 2**space.max_depth - 1, 2**space.max_depth
    costly = view.regret > 0
    links = max(B - 1, 0)
    rows = links + n * T + 2 * T + n + K * T
    nonzeros = 2 * links + 2 * n * T + T * (n + 1) + n * T + T * (K + 1) + T * int(costly.sum() + K + costly.any(axis=0).sum())
    if space.limits_leaves:
        rows, nonzeros = rows + 1, nonzeros + B
    return Sizes(B + n * T + T * (2 + K), B + n * T + T * (1 + K), rows, nonzeros)
