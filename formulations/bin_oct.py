r"""BinOCT: a complete tree whose thresholds are written in binary (Verwer and Zhang 2019).

All thresholds are used, and the index sets are consistent. :math:`f_{vj}`: node v tests column j;
:math:`q_{va}`: bit a of its threshold; :math:`l_{it}\in[0,1]`: row i is in leaf t; :math:`P_{tk}`:
leaf t predicts action k; :math:`e_{tk}`: the gains that are lost by this action. With the gain of
action k over the worst one on row i, :math:`g_{ik}=\max_{k'}c_{ik'}-c_{ik}`, costs are
:math:`c_{ik}=\text{const}_i+\sum_{k'\ne k}g_{ik'}` (for misclassification g is 1 for the class of a
row and 0 for others, which gives the paper's model); :math:`M_k=\sum_ig_{ik}`. Large gains are
counted in a power of two, as in `_oct_structure`.

.. math::
   \min\ \sum_{t,k}e_{tk},\qquad \sum_jf_{vj}=1,\qquad \sum_tl_{it}=1,\qquad \sum_kP_{tk}=1,\qquad
   \sum_ig_{ik}l_{it}-M_kP_{tk}\le e_{tk} .

The range of thresholds :math:`\tau_0<\dots<\tau_{m_j-1}` of a column is halved repeatedly: for a
range [lo, hi] with mid = ⌊(lo+hi)/2⌋, bit number r (the level of the range) is 1 for the lower half
[lo, mid] and 0 for the upper half. :math:`\pi^0,\pi^1`: levels above at which the lower and the
upper half were entered. A row goes left if its x is below the threshold. With
:math:`I_{up}=\{i:\tau_{mid}\le x_{ij}<\tau_{hi}\}` and
:math:`I_{lo}=\{i:\tau_{lo}\le x_{ij}<\tau_{mid+1}\}`,

.. math::
   \sum_{i\in I_{up}}\sum_{t\text{ left of }v}l_{it}
     &\le|I_{up}|\Bigl[(1-f_{vj})+\sum_{a\in\pi^0}(1-q_{va})+(1-q_{vr})\Bigr]\\
   \sum_{i\in I_{lo}}\sum_{t\text{ right of }v}l_{it}
     &\le|I_{lo}|\Bigl[(1-f_{vj})+\sum_{a\in\pi^1}q_{va}+q_{vr}\Bigr]\\
   n f_{vj}+\sum_{x_{ij}<\tau_0}\sum_{t\text{ right of }v}l_{it}
     +\sum_{x_{ij}\ge\tau_{m_j-1}}\sum_{t\text{ left of }v}l_{it} &\le n .

A column without thresholds would occur in none of these rows, and a node that tests it would let
all rows go either way. Columns here are made of features (`_columns`), so there is no such column.
The authors' code keeps only thresholds between rows of different classes, which loses optimal
trees; here all are kept.

**Leaves.** The tree is complete; below a leaf above the lowest level any test is allowed, with the
same action everywhere. If leaves are counted (penalties, a leaf limit, a minimum leaf size),
:math:`\alpha_t=1` iff leaf t holds rows (Hu, Rudin, Seltzer 2019, supplement), and only such leaves
count:

.. math::
   \sum_il_{it}\le n\alpha_t,\quad \sum_in_il_{it}\ge N_{\min}\alpha_t,\quad
   \sum_t\alpha_t\le\text{max leaves},\quad
   \min\dots+\lambda\sum_t\alpha_t+\sum_{v,j}(\text{split cost}_j)f_{vj},

and (ours) :math:`s_v=1` lets a node test nothing and send every row left; without it a tree with a
single leaf would be infeasible. (If all splits cost the same, they are paid with the leaves, of
which there is one more.) Side constraints (ours) count products of l and P, see
`_row_actions`.

References: Verwer, Zhang (2019), "Learning optimal classification trees using a binary linear
program formulation", AAAI 33; Hu, Rudin, Seltzer (2019), "Optimal sparse decision trees", NeurIPS
32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from ._bin_oct_leaves import add_errors, add_leaf_use, counts_leaf_use, encode_leaves, gains
from ._columns import (
    Column,
    branch,
    column_words,
    halves,
    n_bits,
    numeric_columns,
    place,
    prices_differ,
    reached,
    read_threshold,
    write_threshold,
)
from ._oct_structure import cost_unit, leaves_below
from ._row_actions import added, row_action_sizes


@register
@dataclass(frozen=True)
class BinOCT(TreeFormulation):
    """BinOCT."""

    name = "bin-oct"
    title = "BinOCT (Verwer, Zhang)"
    reference = "https://doi.org/10.1609/aaai.v33i01.33011624"
    tests_in = None
    other_sides = "rows below a threshold go left"
    implied_integer = True
    zero_one = frozenset({"l", "u"})

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        return prices_differ(self.name, view)

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        columns, space = numeric_columns(view), _space(view, space)
        counts_leaves = counts_leaf_use(view, space)
        ts.add_sets(m, view, space)
        m.columns = pyo.RangeSet(0, len(columns) - 1, doc="columns j")
        m.bits = pyo.RangeSet(0, n_bits(columns) - 1, doc="bits a of a threshold")
        m.f = pyo.Var(
            m.branch, m.columns, domain=pyo.Binary, doc="f[v,j] = 1 iff node v tests column j"
        )
        m.q = pyo.Var(
            m.branch,
            m.bits,
            domain=pyo.Binary,
            doc="q[v,a] bit a of the threshold of node v: 1 for the lower half",
        )
        m.l = pyo.Var(
            m.rows, m.leaves, domain=pyo.UnitInterval, doc="l[i,t] = 1 iff row i is in leaf t"
        )
        m.P = pyo.Var(
            m.leaves, m.actions, domain=pyo.Binary, doc="P[t,k] = 1 iff leaf t predicts action k"
        )
        m.e = pyo.Var(
            m.leaves,
            m.actions,
            domain=pyo.NonNegativeReals,
            doc="e[t,k] gain of action k that leaf t loses",
        )
        if counts_leaves:
            m.s = pyo.Var(
                m.branch,
                domain=pyo.Binary,
                doc="s[v] = 1 iff node v tests nothing and sends every row left",
            )
            m.alpha = pyo.Var(m.leaves, domain=pyo.Binary, doc="alpha[t] = 1 iff leaf t holds rows")
            add_leaf_use(m, view, space)
        _add_tests(m, space, columns, counts_leaves)
        _add_thresholds(m, columns)
        add_errors(m, view)
        self._minimise(m, view, columns)

    def _minimise(self, m: Any, view: CostMatrix, columns: Sequence[Column]) -> None:
        unit = cost_unit(gains(view)[0])
        terms = [(unit, m.e[t, k]) for t in m.leaves for k in m.actions]
        # Where all splits cost the same they are paid with the leaves: splits = leaves - 1.
        prices = [int(view.split_costs[column.tests[0]]) for column in columns]
        split = prices[0] if len(set(prices)) == 1 else 0
        if view.leaf_cost or split:
            terms += [(view.leaf_cost + split, m.alpha[t]) for t in m.leaves]
        if not split:
            terms += [(prices[j], m.f[v, j]) for v in m.branch for j in m.columns if prices[j]]
        ts.minimise(
            m,
            [c for c, _ in terms],
            [x for _, x in terms],
            gains(view)[1] - split,
            "gains given away, and penalties",
        )

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        return {**super().meanings(m, problem), "columns": column_words(m.view)}

    def decode(self, m: Any) -> Tree:
        view: CostMatrix = m.view
        columns = numeric_columns(view)

        def walk(v: int) -> Any:
            if v in m.leaves:
                return Leaf(max(m.actions, key=lambda k: (m.P[v, k].value, -k)))
            j = max(m.columns, key=lambda j: m.f[v, j].value)
            if m.f[v, j].value < 0.5:  # s[v] = 1
                return walk(2 * v)
            p = read_threshold(columns[j].m, [m.q[v, a].value > 0.5 for a in m.bits])
            return branch(view, columns[j], p, walk(2 * v), walk(2 * v + 1))

        return Tree(walk(1), view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        columns = numeric_columns(view)
        counts_leaves = m.component("s") is not None
        splits, leaves = place(tree, view, columns)
        end = reached(splits, columns, view.n_rows)
        # Below such a leaf: no test and all rows to the left, or any test and the same action
        # everywhere.
        for v in m.branch:
            if v in leaves:
                leaves[2 * v] = leaves[2 * v + 1] = leaves[v]
                if not counts_leaves:
                    splits[v] = (0, 0)
                end[end == v] = 2 * v
        if not counts_leaves:
            end = reached(splits, columns, view.n_rows)
        for v in m.branch:
            tested, p = splits.get(v, (None, 0))
            bits = [] if tested is None else write_threshold(columns[tested].m, p)
            for j in m.columns:
                m.f[v, j].set_value(int(j == tested), skip_validation=True)
            for a in m.bits:
                m.q[v, a].set_value(int(a < len(bits) and bits[a]), skip_validation=True)
            if counts_leaves:
                m.s[v].set_value(int(tested is None), skip_validation=True)
        encode_leaves(m, end, leaves, counts_leaves)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        columns, space = numeric_columns(view), _space(view, space)
        n, p, K, D = view.n_rows, len(columns), view.n_actions, space.depth
        B, T, bits = 2**D - 1, 2**D, n_bits(columns)
        gain, _ = gains(view)
        up, low = halves(columns)
        half = D * T // 2  # number of leaves left of a node, summed over nodes
        outer = sum(int(((c.ranks == 0) | (c.ranks == c.m)).sum()) for c in columns)
        rows = B * (1 + p + len(up) + len(low)) + n + T * (1 + K)
        nonzeros = (
            2 * B * p
            + half * outer
            + sum(half * len(h.rows) + B * (1 + len(h.bits)) for h in up + low)
        )
        nonzeros += n * T + T * int(2 * K + (gain != 0).sum() + gain.any(axis=0).sum())
        binaries = B * (p + bits) + T * K
        if counts_leaf_use(view, space):
            binaries, rows, nonzeros = (
                binaries + B + T,
                rows + B + T,
                nonzeros + 2 * B + half * n + T * (n + 1),
            )
            if space.min_samples_leaf > 1:
                rows, nonzeros = rows + T, nonzeros + T * (n + 1)
            if space.limits_leaves:
                rows, nonzeros = rows + 1, nonzeros + T
        size = ModelSize(binaries + n * T + T * K, binaries, rows, nonzeros)
        return added(size, row_action_sizes(view, space, use_is_variable=False))


# -- the model, part by part -----------------------------------------------------------------------


def _add_tests(m: Any, space: Trees, columns: Sequence[Column], may_test_nothing: bool) -> None:
    """Every node has a test; rows beyond all its thresholds go to their side."""
    m.left_leaves = pyo.Set(
        m.branch,
        initialize={v: leaves_below(2 * v, space) for v in m.branch},
        doc="leaves left of v",
    )
    m.right_leaves = pyo.Set(
        m.branch,
        initialize={v: leaves_below(2 * v + 1, space) for v in m.branch},
        doc="leaves right of v",
    )
    lowest = {j: np.flatnonzero(c.ranks == 0).tolist() for j, c in enumerate(columns)}
    highest = {j: np.flatnonzero(c.ranks == c.m).tolist() for j, c in enumerate(columns)}
    m.lowest = pyo.Set(m.columns, initialize=lowest, doc="rows below all thresholds")
    m.highest = pyo.Set(m.columns, initialize=highest, doc="rows at or above all thresholds")
    n = len(m.rows)

    @m.Constraint(m.branch, doc="a node tests one column (or nothing, where leaves count)")
    def one_column(m: Any, v: Any) -> Any:
        return sum(m.f[v, j] for j in m.columns) + (m.s[v] if may_test_nothing else 0) == 1

    @m.Constraint(
        m.branch, m.columns, doc="rows below all thresholds go left, rows above all of them right"
    )
    def outer(m: Any, v: Any, j: Any) -> Any:
        low = sum(m.l[i, t] for i in m.lowest[j] for t in m.right_leaves[v])
        high = sum(m.l[i, t] for i in m.highest[j] for t in m.left_leaves[v])
        return n * m.f[v, j] + low + high <= n

    if may_test_nothing:

        @m.Constraint(m.branch, doc="a node that tests nothing sends every row left")
        def nothing(m: Any, v: Any) -> Any:
            return sum(m.l[i, t] for i in m.rows for t in m.right_leaves[v]) <= n * (1 - m.s[v])


def _add_thresholds(m: Any, columns: Sequence[Column]) -> None:
    """Rows between the thresholds go where the bits send them."""
    up, low = halves(columns)
    if up:
        m.up = pyo.RangeSet(0, len(up) - 1, doc="the sets I_up")
        m.up_column = pyo.Param(
            m.up, initialize=dict(enumerate(h.column for h in up)), doc="column of an I_up"
        )
        m.up_rows = pyo.Set(
            m.up, initialize=dict(enumerate(h.rows for h in up)), doc="rows of an I_up"
        )
        m.up_bits = pyo.Set(
            m.up, initialize=dict(enumerate(h.bits for h in up)), doc="bits that must be 1"
        )
        m.up_size = pyo.Param(
            m.up, initialize=dict(enumerate(len(h.rows) for h in up)), doc="size of an I_up"
        )

        @m.Constraint(
            m.branch, m.up, doc="threshold in the lower half: rows of the upper half do not go left"
        )
        def upper_half(m: Any, v: Any, h: Any) -> Any:
            slack = 1 - m.f[v, m.up_column[h]] + sum(1 - m.q[v, a] for a in m.up_bits[h])
            return (
                sum(m.l[i, t] for i in m.up_rows[h] for t in m.left_leaves[v])
                <= m.up_size[h] * slack
            )

    if low:
        m.low = pyo.RangeSet(0, len(low) - 1, doc="the sets I_lo")
        m.low_column = pyo.Param(
            m.low, initialize=dict(enumerate(h.column for h in low)), doc="column of an I_lo"
        )
        m.low_rows = pyo.Set(
            m.low, initialize=dict(enumerate(h.rows for h in low)), doc="rows of an I_lo"
        )
        m.low_bits = pyo.Set(
            m.low, initialize=dict(enumerate(h.bits for h in low)), doc="bits that must be 0"
        )
        m.low_size = pyo.Param(
            m.low, initialize=dict(enumerate(len(h.rows) for h in low)), doc="size of an I_lo"
        )

        @m.Constraint(
            m.branch,
            m.low,
            doc="threshold in the upper half: rows of the lower half do not go right",
        )
        def lower_half(m: Any, v: Any, h: Any) -> Any:
            slack = 1 - m.f[v, m.low_column[h]] + sum(m.q[v, a] for a in m.low_bits[h])
            return (
                sum(m.l[i, t] for i in m.low_rows[h] for t in m.right_leaves[v])
                <= m.low_size[h] * slack
            )


def _space(view: CostMatrix, space: Trees) -> Trees:
    """The space; without features its depth is 0, because branch nodes would have no test."""
    return space if view.n_features else replace(space, max_depth=0)
