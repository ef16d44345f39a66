r"""Stumps: one variable per tree with at most one split.

With the set S of all trees of depth at most 1 in which each leaf holds enough rows, and
:math:`x_s=1` iff s is chosen,

.. math::
   \min\ \sum_{s\in S}c_sx_s,\qquad \sum_{s\in S}x_s=1,\qquad L_r\le\sum_{s\in S}a_{rs}x_s\le U_r\quad r,

where :math:`c_s` is the cost of s and :math:`a_{rs}` its total in the side row r.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees import Tree, Trees
from milp_trees.plugins import Branch, CostMatrix, Leaf, ModelSize, TreeFormulation, register

#: Test (-1: a leaf) and the actions of the sides on which it is false and true.
Stump = tuple[int, int, int]


@register
@dataclass(frozen=True)
class Stumps(TreeFormulation):
    """A choice among all trees with at most one split."""

    name = "stumps"
    title = "Choice among all trees with at most one split"
    reference = "none; an example of a plug-in"
    shared_components = frozenset()
    has_full_tree = False

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        if space.depth > 1:
            return f"stumps takes trees of depth at most 1; max_depth is {space.depth}."
        return None

    def templates(self, view: CostMatrix, space: Trees) -> bool:
        return False

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        stumps = list(candidates(view, space))
        m.stumps = pyo.Set(initialize=stumps, dimen=3, doc="test and actions of a tree; -1: a leaf")
        m.x = pyo.Var(m.stumps, domain=pyo.Binary, doc="x[s] = 1 iff tree s is chosen")
        m.none = pyo.Var(bounds=(0, 0), doc="0; there may be no tree at all")
        m.one = pyo.Constraint(expr=sum(m.x.values()) + m.none == 1, doc="one tree is chosen")
        m.side_rows = pyo.RangeSet(0, len(view.side) - 1, doc="side constraints")
        m.side = pyo.Constraint(m.side_rows, doc="totals over the chosen actions")
        for r, row in enumerate(view.side):
            totals = sum(int(sum_of(row.coefs, view, s)) * m.x[s] for s in stumps)
            m.side[r] = (row.lower, totals + 0 * m.none, row.upper)
        m.objective = pyo.Objective(
            expr=sum(cost(view, s) * m.x[s] for s in stumps) + 0 * m.none,
            doc="cost of the chosen tree",
        )

    def decode(self, m: Any) -> Tree:
        f, k, l = max(m.x, key=lambda s: m.x[s].value or 0)
        root = Leaf(k) if f < 0 else Branch(m.view.features[f], Leaf(k), Leaf(l))
        return Tree(root, m.view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        root = m.view.canonical(tree).prune_empty(m.view).root
        chosen = (
            (-1, root.action, root.action)
            if isinstance(root, Leaf)
            else (m.view.index[root.test], root.left.action, root.right.action)
        )
        m.none.set_value(0)
        for s in m.x:
            m.x[s].set_value(int(s == chosen))

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        stumps = list(candidates(view, space))
        rows, nonzeros = 1, len(stumps) + 1
        for row in view.side:
            # A row for each limit, one for both where they are equal; none of zeros alone.
            limits = len({row.lower, row.upper} - {None})
            entries = sum(bool(sum_of(row.coefs, view, s)) for s in stumps)
            rows += limits if entries else 0
            nonzeros += limits * entries
        return ModelSize(len(stumps) + 1, len(stumps), rows, nonzeros)


def candidates(view: CostMatrix, space: Trees) -> Iterator[Stump]:
    """All trees whose leaves hold enough rows."""
    least, K = max(1, space.min_samples_leaf), range(view.n_actions)
    total = int(view.counts.sum())
    if total >= least:
        yield from ((-1, k, k) for k in K)
    if space.depth and (space.max_leaf_nodes or 2) > 1:
        for f in range(view.n_features):
            held = int(view.counts[view.X[:, f] == 1].sum())
            if held >= least and total - held >= least:
                yield from ((f, k, l) for k, l in product(K, K))


def sum_of(values: np.ndarray, view: CostMatrix, stump: Stump) -> int:
    """Sum over rows of the values of the actions that they get."""
    f, k, l = stump
    if f < 0:
        return values[:, k].sum()
    true = view.X[:, f] == 1
    return values[~true, k].sum() + values[true, l].sum()


def cost(view: CostMatrix, stump: Stump) -> int:
    """Cost of the actions, and penalties."""
    split = stump[0] >= 0
    penalty = int(view.split_costs[stump[0]]) + 2 * view.leaf_cost if split else view.leaf_cost
    return int(sum_of(view.costs, view, stump)) + penalty
