"""Trees as the search finds them: roots, and what their sides cost.

The search answers with the root of an optimal tree. Its sides are solved again when the tree is
read, now with their values as budgets; and they may be solved at a larger depth than they were, which
makes a better tree at little cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from milp_trees.models.nodes import Branch, Leaf, Node

if TYPE_CHECKING:
    from milp_trees.engines.dp_sorted.columns import SortedColumns
    from milp_trees.tasks.leaf_sums import LeafSums


class SortedRows(NamedTuple):
    """Rows of a node, and their ranks, in the order of every column; both of shape (p, m)."""

    order: np.ndarray
    ranks: np.ndarray


class Question(NamedTuple):
    """The largest depth and number of leaves (0: no limit) of a part, and what it costs at most."""

    depth: int
    leaves: int
    value: int


@dataclass
class SortedPart:
    """The root of a node's best tree.

    Parameters
    ----------
    value : int
        What the tree costs.
    depth, leaves : int
        Largest depth and number of leaves (0: no limit) with which it was found.
    column, cut : int
        Column -1: it is a leaf.
    costs : tuple of int
        Values of the low and of the high side.
    low_leaves : int
        Largest number of leaves of the low side (0: no limit but the depth).
    sides : list of SortedPart or None
        Sides that are known, as they may be better than those with which the root was found.
    """

    value: int
    depth: int
    leaves: int
    column: int
    cut: int
    costs: tuple[int, int]
    low_leaves: int
    sides: list[SortedPart | None] = field(default_factory=lambda: [None, None])

    def question(self, side: int) -> Question:
        """What is asked about a side (0 low, 1 high) so that its tree is the one of this part."""
        leaves = 0
        if self.leaves:
            # Where the depth was the only limit, every side may be full.
            leaves = self.low_leaves or 1 << (self.depth - 1)
            leaves = self.leaves - leaves if side else leaves
        return Question(self.depth - 1, leaves, self.costs[side])

    def first_high(self, rows: SortedRows) -> int:
        """Position of the first row on the high side in the list of the root's column."""
        begins = (
            np.flatnonzero(np.diff(rows.ranks[self.column])) + 1
        )  # those of all runs but the first
        return int(begins[self.cut])

    def rows_of(self, side: int, rows: SortedRows) -> SortedRows:
        """The rows on a side."""
        k = self.first_high(rows)
        inside = np.zeros(int(rows.order.max()) + 1, dtype=bool)
        inside[rows.order[self.column, :k] if side == 0 else rows.order[self.column, k:]] = True
        kept = inside[rows.order]
        p = len(rows.order)
        return SortedRows(rows.order[kept].reshape(p, -1), rows.ranks[kept].reshape(p, -1))


def extend(
    part: SortedPart,
    rows: SortedRows,
    depth: int,
    most: int,
    solve: Callable[[SortedRows, Question], SortedPart | None],
    gain: Callable[[int], None],
) -> bool:
    """Solve the sides of a tree again at its depth, then the sides of these, and so on."""
    if part.column < 0 or most <= part.depth:
        return True
    below = []
    for side, now in enumerate(part.sides):
        inside, requested = part.rows_of(side, rows), part.question(side)
        cost = now.value if now else requested.value
        # A side that was improved before need not be found again.
        requested = requested._replace(depth=min(depth, most - 1), value=cost - 1 if now else cost)
        found = solve(inside, requested)
        if found is None:
            return False
        if now is None or found.value < cost:
            part.sides[side] = now = found
            part.value -= cost - found.value
            gain(cost - found.value)
        below.append((now, inside))
    for found, inside in below:
        cost = found.value
        going = extend(found, inside, depth, most - 1, solve, gain)
        part.value -= cost - found.value
        if not going:
            return False
    return True


def read(
    part: SortedPart,
    rows: SortedRows,
    columns: SortedColumns,
    view: LeafSums,
    solve: Callable[[SortedRows, Question], SortedPart],
) -> tuple[Node, list[np.ndarray]]:
    """The tree of a part without actions, and the sums of its leaves from left to right."""
    if part.column < 0:
        return _leaf(view, rows.order[0])
    ranks, k = rows.ranks[part.column], part.first_high(rows)
    # Every threshold between the two runs divides these rows in the same way; the middle one is
    # taken.
    between = (int(ranks[k - 1]) + int(ranks[k]) - 1) // 2
    test = view.features[int(columns.tests[part.column][between])]
    nodes: list[tuple[Node, list[np.ndarray]]] = []
    for side, known in enumerate(part.sides):
        requested = part.question(side)
        if not requested.depth:
            own = rows.order[part.column]
            nodes.append(_leaf(view, own[k:] if side else own[:k]))
            continue
        inside = part.rows_of(side, rows)
        found = known or solve(inside, requested)
        nodes.append(read(found, inside, columns, view, solve))
    (low, below), (high, above) = nodes
    return Branch(test, high, low), above + below


def _leaf(view: LeafSums, rows: np.ndarray) -> tuple[Node, list[np.ndarray]]:
    """A leaf with some rows."""
    return Leaf(0), [view.sums[rows].sum(axis=0)]
