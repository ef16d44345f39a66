"""Search over the states of a task whose order is total: one best value for each state.

A state is remembered by its rows, its context, the levels and the leaves that are left. Contexts of
tasks without a transition are equal, so their states are remembered by rows. If values are single
numbers that only add up, a part is searched only for values below a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.fronts.search import Leaves, Split, limited, shares_of
from milp_trees.engines.separable import total
from milp_trees.engines.separable.states import State, StateSets
from milp_trees.models.nodes import Branch, Node
from milp_trees.tasks.states_view import Integers, States


class Best(NamedTuple):
    """The best value of a state, and the test at its root.

    The value is None if no tree is feasible; the test is -1 for a leaf. `leaves` is how many leaves
    the two sides may have at most, if they are limited.
    """

    value: Integers | None
    test: int
    leaves: Leaves | None = None


class TotalSearch(StateSets):
    """Best values of states; see the module and `StateSets`."""

    def __init__(self, view: States, size: int, compiled: bool, check: Callable[[], None]) -> None:
        super().__init__(view, size, compiled, check)
        self.one, self.two = total.prepare(self.given, compiled)
        self.out = np.zeros((1, view.width), dtype=np.int64)
        #: Whether values of parts bound the value of the whole, and bounds of states so far.
        self.adds = view.nonnegative and view.width == 1 and view.better is None
        self.least: dict[tuple[Any, ...], int] = {}

    def warm_up(self) -> None:
        """Compile the kernels, by calling them for no rows and no tests."""
        nothing = np.zeros((len(self.sums(self.root)), 0), dtype=np.int64)
        given = ((0,) * len(nothing), self.view.start, self.view.tables, 1, 4, self.out)
        self.one(nothing, *given)
        self.two(nothing[:, :, None], *given)

    def run(
        self, depth: int, most: int | None, keep: Callable[[list[Node], Integers], None]
    ) -> None:
        """Find the best value of all rows."""
        last: list[Integers] = []

        def report(best: Best, levels: int) -> None:
            if best.value is not None and last[-1:] != [best.value]:
                last.append(best.value)
                keep([self.tree(self.root, levels, most, best)], best.value)

        self.best(self.root, depth, most, report=report)

    def best(
        self,
        state: State,
        depth: int,
        most: int | None,
        below: int | None = None,
        report: Callable[[Best, int], None] | None = None,
    ) -> Best | None:
        """The best value of a state."""
        most = limited(most, depth)
        key = (self.key(state), depth, most)
        known = self.memo.get(key)
        if known is None:
            if below is not None and self.least.get(key, 0) >= below:
                return None
            known = self._shallow(state, depth, most) if depth <= 2 else None
            if known is None:
                known = self._deep(state, depth, most, below, report)
            if known is None:
                assert below is not None
                self.least[key] = below
                return None
            self.memo[key] = known
        if report is not None:
            report(known, depth)
        too_large = below is not None and (known.value is None or known.value[0] >= below)
        return None if too_large else known

    def _shallow(self, state: State, depth: int, most: int | None) -> Best:
        """The best value for at most two levels, from sums of tests or of pairs of tests."""
        counted, leaves = self.counted(state, depth), min(1 << depth, most or 4)
        kernel = self.two if depth == 2 else self.one
        given = (self.sums(state), state.context, self.view.tables, self.size)
        test = kernel(counted, *given, leaves, self.out)
        return Best(None, -2) if test == -2 else Best(tuple(self.out[0].tolist()), int(test))

    def _deep(
        self,
        state: State,
        depth: int,
        most: int | None,
        below: int | None,
        report: Callable[[Best, int], None] | None,
    ) -> Best | None:
        found = self.best(state, 2, most)
        assert found is not None
        if report is not None:
            report(found, 2)
        whole = self.sums(state)
        for split in self.splits(state):
            cost = self.cost(state, split, whole)
            for leaves in shares_of(most, depth):
                bound = self._bound(found, below)
                if bound is not None and bound <= 0:
                    break
                value = self._of_split(split, cost, depth - 1, leaves, bound)
                if value is None or not self.allowed(value, whole, state.context):
                    continue
                if found.value is None or self.view.is_better(value, found.value):
                    found = Best(value, split.test, leaves)
                    if report is not None:
                        report(found, depth)
        if below is not None and (found.value is None or found.value[0] >= below):
            return None
        return found

    def cost(self, state: State, split: Split, whole: Integers) -> Integers | None:
        """What a split adds; None: nothing."""
        view = self.view
        if view.split is None:
            return None
        return tuple(map(int, view.split(whole, split.test, state.context, view.tables)))

    def joined(self, cost: Integers | None, a: Integers, b: Integers) -> Integers:
        """The value of a split, before the constraint."""
        value = self.view.added(a, b)
        return value if cost is None else self.view.added(value, cost)

    def allowed(self, value: Integers, whole: Integers, context: Integers) -> bool:
        """Whether the constraint allows a value."""
        view = self.view
        return view.feasible is None or bool(view.feasible(value, whole, context, view.tables))

    def _bound(self, found: Best, below: int | None) -> int | None:
        """What a value must be below to be of use; None if parts bound nothing."""
        if not self.adds:
            return None
        if found.value is None or (below is not None and below < found.value[0]):
            return below
        return found.value[0]

    def _of_split(
        self, split: Split, cost: Integers | None, depth: int, leaves: Leaves, bound: int | None
    ) -> Integers | None:
        """The best value of a split, or None if a side has none or the bound is reached."""
        sides = list(zip((split.left, split.right), leaves, strict=True))
        if bound is None:
            found = [self.best(state, depth, most) for state, most in sides]
            a, b = (None if one is None else one.value for one in found)
            return None if a is None or b is None else self.joined(cost, a, b)
        rest = bound - (0 if cost is None else cost[0])
        least = [self._least(state, depth, most) for state, most in sides]
        total_value = 0
        # The side that is bounded better comes first: the other one may not have to be searched.
        for i in sorted((0, 1), key=lambda i: -least[i]):
            state, most = sides[i]
            one = self.best(state, depth, most, rest - total_value - least[1 - i])
            if one is None or one.value is None:
                return None
            total_value += one.value[0]
            least[i] = 0
        return (bound - rest + total_value,)

    def _least(self, state: State, depth: int, most: int | None) -> int:
        """A lower bound of a state that is known already."""
        most = limited(most, depth)
        key = (self.key(state), depth, most)
        known = self.memo.get(key)
        if known is not None and known.value is not None:
            return known.value[0]
        return self.least.get(key, 0)

    def tree(self, state: State, depth: int, most: int | None, best: Best) -> Node:
        """A tree with the best value of a state."""
        assert best.value is not None
        if best.test < 0:
            return self.action(state, best.value)
        split = next(s for s in self.splits(state) if s.test == best.test)
        cost = self.cost(state, split, self.sums(state))
        shares = shares_of(limited(most, depth), depth)
        for leaves in shares if best.leaves is None else [best.leaves]:
            sides = list(zip((split.left, split.right), leaves, strict=True))
            found = [self.best(state, depth - 1, m) for state, m in sides]
            a, b = (None if one is None else one.value for one in found)
            if a is not None and b is not None and self.joined(cost, a, b) == best.value:
                nodes = [
                    self.tree(state, depth - 1, m, one)
                    for (state, m), one in zip(sides, found, strict=True)
                    if one is not None
                ]
                return Branch(self.view.features[split.test], nodes[0], nodes[1])
        raise AssertionError("The best value of a state has no tree.")
