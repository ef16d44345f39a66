"""What another split at a node of a tree would cost, exactly.

Everything outside of the node stays as it is; below the node, the new split is followed by the best
subtrees that the limits on depth and rows allow.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.limits import Deadline, Stopped
from milp_trees.engines.near_best.kernels import NONE
from milp_trees.engines.near_best.states import RowSets
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.models.tree import Tree
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class OtherSplit:
    """A way to divide the rows of a node.

    Parameters
    ----------
    tests : tuple of BinaryFeature
        The tests that divide the rows in this way, the cheapest first. Empty for a leaf.
    value : Fraction
        Value of the whole tree with this split, in the task's unit: exact if costs are, and else
        to the tolerance of values.
    current : bool
        Whether the tree has this split.
    """

    tests: tuple[BinaryFeature, ...]
    value: Fraction
    current: bool


@dataclass(frozen=True)
class Others:
    """The ways to divide the rows of a node, the best first.

    Parameters
    ----------
    splits : tuple of OtherSplit
        One without tests stands for a leaf instead of the node.
    up_to : Fraction or None
        Every way whose tree has at least this value (or a better one) is among the splits. None:
        there are no others.
    """

    splits: tuple[OtherSplit, ...]
    up_to: Fraction | None


def other_splits(
    problem: Problem, tree: Tree, watch: Deadline | None, max_bytes: int, most: int
) -> tuple[list[Others | None], list[Branch]]:
    """For the branches of a tree, level by level, what their rows could be divided by instead."""
    search = _Search(problem, tree, watch, max_bytes, most)
    places: list[tuple[Branch, np.ndarray, np.ndarray, int]] = []
    queue: deque[Any] = deque()
    queue.append((tree.root, search.sets.all_rows, np.ones(search.view.n_rows, dtype=bool), 0))
    while queue:
        node, bits, here, level = queue.popleft()
        if isinstance(node, Leaf):
            continue
        places.append((node, bits, here, level))
        for child, side in ((node.left, False), (node.right, True)):
            below = here & (search.answer(node.test) == side)
            queue.append((child, search.bits(bits, node.test, side), below, level + 1))
    out: list[Others | None] = [None] * len(places)
    for k in reversed(range(len(places))):  # the lowest branches take the least time
        if not search.stopped:
            out[k] = search.at(*places[k])
    return out, [place[0] for place in places]


class _Search:
    """The rows of a problem, and the cost of a tree on any of them."""

    def __init__(
        self, problem: Problem, tree: Tree, watch: Deadline | None, max_bytes: int, most: int
    ) -> None:
        self.given: Any = problem.first_view((CostMatrix, LeafSums))
        self.view = problem.presolved_view()
        self.space, self.most = problem.trees, most
        self.sets = RowSets(self.view, self.space, watch, max_bytes)
        self.total = self.given.objective(tree)
        #: Whether a limit was reached.
        self.stopped = False

    # -- tests -------------------------------------------------------------------------------------

    def kept(self, test: BinaryFeature) -> tuple[int, bool] | bool:
        """The test that stands for a test, and whether it is the complement; or a constant."""
        return (self.view.index[test], False) if test in self.view.index else self.view.alias[test]

    def answer(self, test: BinaryFeature) -> np.ndarray:
        """The answers on the rows of the view, bool of shape (n,)."""
        to = self.kept(test)
        if isinstance(to, bool):
            return np.full(self.view.n_rows, to)
        return np.asarray(self.view.outcome(to[0], slice(None)) == 1) != to[1]

    def bits(self, rows: np.ndarray, test: BinaryFeature, side: bool) -> np.ndarray:
        """The rows of a set on which a test has an answer, as bits."""
        to = self.kept(test)
        if isinstance(to, bool):
            return rows if to == side else np.zeros_like(rows)
        return self.sets.sides(rows, to[0])[int(side != to[1])]

    # -- costs -------------------------------------------------------------------------------------

    def cost(self, node: Node, here: np.ndarray) -> int:
        """What a subtree costs on some rows, above the cheapest action of every row."""
        if isinstance(node, Leaf):
            return self.leaf(here, node.action) + int(self.view.leaf_cost)
        true = self.answer(node.test)
        split = int(self.given.split_costs[self.given.index[node.test]])
        return split + self.cost(node.left, here & ~true) + self.cost(node.right, here & true)

    def leaf(self, here: np.ndarray, action: int) -> int:
        """The same of a leaf, without its price; where leaves predict numbers, of the best one."""
        if isinstance(self.view, CostMatrix):
            return int(self.view.regret[here, action].sum())
        return int(self.view.leaf_values(self.view.sums[here].sum(axis=0)[None])[0])

    def at(self, node: Branch, bits: np.ndarray, here: np.ndarray, level: int) -> Others | None:
        """The ways to divide the rows of a branch, or None if a limit was reached before."""
        depth = self._depth(here, level)
        own, sets = self.cost(node, here), self.sets
        two = sets.levels(bits)
        # With both sides as leaves, a split costs at most this.
        ceiling = int(two.leaf + sets.leaf_cost + sets.split.max(initial=0))
        found, reached, budget = None, own, own
        step = max(1, (ceiling - own) // 64)
        try:
            while found is None or (reached < ceiling and len(found) < self.most):
                found, reached = self._within(two, bits, depth, budget), budget
                budget, step = min(ceiling, budget + step), 2 * step
        except (Stopped, MemoryError):
            self.stopped = True
        if found is None:
            return None
        splits = [
            OtherSplit(tests, self._value(cost - own), node.test in tests)
            for cost, tests in sorted(found, key=lambda one: one[0])
        ]
        if two.leaf < NONE:
            splits.append(OtherSplit((), self._value(two.leaf - own), False))
        splits.sort(key=lambda one: (one.value / self.view.scale, not one.current))
        return Others(tuple(splits), None if reached >= ceiling else self._value(reached - own))

    def _within(
        self, two: Any, bits: np.ndarray, depth: int, budget: int
    ) -> list[tuple[int, tuple[BinaryFeature, ...]]]:
        """Cost and tests of every way to divide the rows of a node within a budget."""
        sets = self.sets
        best: dict[bytes, list[tuple[int, BinaryFeature]]] = {}
        optimal: dict[int, int | None] = {}
        for test, own in zip(self.given.features, self.given.split_costs.tolist(), strict=True):
            to = self.kept(test)
            if isinstance(to, bool):
                continue
            f = to[0]
            if int(sets.low(two)[:, f].sum()) + own > budget:
                continue
            if f not in optimal or optimal[f] is None:
                values = sets.within(two, bits, depth, f, budget - own)
                optimal[f] = None if values is None else sum(values)
            both = optimal[f]
            if both is None or both + own > budget:
                continue
            sides = sorted(side.tobytes() for side in sets.sides(bits, f))
            best.setdefault(sides[0], []).append((both + own, test))
        return [
            (min(cost for cost, _ in ways), tuple(t for _, t in sorted(ways, key=lambda w: w[0])))
            for ways in best.values()
        ]

    def _depth(self, here: np.ndarray, level: int) -> int:
        """Levels of splits that a node may have below it."""
        rows = max(1, int(here.sum()) - 1)
        most = self.space.max_depth
        return rows if most is None else min(rows, most - level)

    def _value(self, more: int) -> Fraction:
        """The value of the whole tree if the node costs so much more."""
        value: Fraction = self.given.to_value(self.total + more)
        return value
