"""Search over the states of a task whose order is total: one best value for each state.

A state is remembered by its rows, its context, the levels and the leaves that are left. Contexts of
tasks without a transition are equal, so their states are remembered by rows. If values are single
numbers that only add up, a part is searched only for values below a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.separable import rows as sets
from milp_trees.engines.separable import total
from milp_trees.engines.separable.parts import given_by
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import full_leaves
from milp_trees.tasks.states_view import Integers, States

#: Largest number of leaves on the left and on the right, or None where there is no limit.
Leaves = tuple[int | None, int | None]


class State(NamedTuple):
    """Rows, as a bit string, and their context."""

    rows: np.ndarray
    context: Integers


class Best(NamedTuple):
    """The best value of a state, and the test at its root.

    The value is None if no tree is feasible; the test is -1 for a leaf. `leaves` is how many leaves
    the two sides may have at most, if they are limited.
    """

    value: Integers | None
    test: int
    leaves: Leaves | None = None


class Split(NamedTuple):
    """A test with the states on both sides, and what it adds."""

    test: int
    left: State
    right: State
    cost: Integers | None


class StateSets:
    """States of a view and their splits; what searches for one best value and for fronts share.

    Parameters
    ----------
    view : States
        Not reduced.
    size : int
        Smallest number of rows in a leaf.
    compiled : bool
        Whether the parts of the task are compiled.
    check : callable
        Called before long work; it raises an error to stop the search.
    """

    def __init__(self, view: States, size: int, compiled: bool, check: Callable[[], None]) -> None:
        self.view, self.bits = sets.pack(view)
        self.size, self.check = size, check
        self.tests = np.ascontiguousarray(self.bits.tests.T)
        self.root = State(self.bits.root, view.start)
        self.given, self.compiled = given_by(view), compiled
        #: Sets of rows are divided alike by equal tests, which matters only if tests differ.
        self.alike = view.split is None and view.transition is None
        self.calls = 0

    def sums(self, state: State) -> Integers:
        """Sums of a state."""
        return tuple(sets.state_sums(state.rows, self.bits.sums).tolist())

    def key(self, state: State, *more: Any) -> tuple[Any, ...]:
        """What a state is remembered by."""
        return (state.rows.tobytes(), state.context, *more)

    def splits(self, state: State, whole: Integers) -> Iterator[Split]:
        """Tests with enough rows on both sides; of those that divide alike only the first."""
        view, seen = self.view, set()
        true = sets.side_sums(state.rows, self.bits.tests, self.bits.sums)[0]
        enough = (true >= self.size) & (whole[0] - true >= self.size)
        for f in np.flatnonzero(enough).tolist():
            right = state.rows & self.tests[f]
            left = state.rows ^ right
            if self.alike:
                key = min(left.tobytes(), right.tobytes())
                if key in seen:
                    continue
                seen.add(key)
            below = (view.below(state.context, f, side) for side in (0, 1))
            cost = None
            if view.split is not None:
                cost = tuple(map(int, view.split(whole, f, state.context, view.tables)))
            yield Split(f, State(left, next(below)), State(right, next(below)), cost)

    def joined(self, split: Split, a: Integers, b: Integers) -> Integers:
        """The value of a split, before the constraint."""
        value = self.view.added(a, b)
        return value if split.cost is None else self.view.added(value, split.cost)

    def allowed(self, value: Integers, whole: Integers, context: Integers) -> bool:
        """Whether the constraint allows a value."""
        view = self.view
        return view.feasible is None or bool(view.feasible(value, whole, context, view.tables))

    def leaf(self, state: State, value: Integers) -> Leaf:
        """The leaf that has a value in a state."""
        whole, view = self.sums(state), self.view
        for k in range(view.n_actions):
            if tuple(view.leaf(whole, k, state.context, view.tables)) == value:
                return Leaf(k)
        raise AssertionError("No leaf has this value.")


class TotalSearch(StateSets):
    """Best values of states; see the module and `StateSets`."""

    def __init__(self, view: States, size: int, compiled: bool, check: Callable[[], None]) -> None:
        super().__init__(view, size, compiled, check)
        self.one, self.two = total.prepare(self.given, compiled)
        self.out = total.empty(view.width)
        self.memo: dict[tuple[Any, ...], Best] = {}
        #: Whether values of parts bound the value of the whole, and bounds of states so far.
        self.adds = view.nonnegative and view.width == 1 and view.better is None
        self.least: dict[tuple[Any, ...], int] = {}

    def warm_up(self) -> None:
        """Call every kernel once, so that it is compiled."""
        S = 1 + self.view.stats.shape[1]
        nothing, view = np.zeros((S, 0, 0), dtype=np.int64), self.view
        given = ((0,) * S, view.start, view.tables, 1, 4, self.out)
        self.one(np.zeros((S, 0), dtype=np.int64), *given)
        self.two(nothing, *given)
        sets.warm_up()

    def run(
        self, depth: int, most: int | None, keep: Callable[[list[Node], Integers], None]
    ) -> None:
        """Find the best value of all rows."""
        last: list[Integers] = []

        def told(best: Best, levels: int) -> None:
            if best.value is not None and last[-1:] != [best.value]:
                last.append(best.value)
                keep([self.tree(self.root, levels, most, best)], best.value)

        self.best(self.root, depth, most, told=told)

    def best(
        self,
        state: State,
        depth: int,
        most: int | None,
        below: int | None = None,
        told: Callable[[Best, int], None] | None = None,
    ) -> Best | None:
        """The best value of a state."""
        if most is not None and most >= full_leaves(depth):
            most = None
        key = self.key(state, depth, most)
        known = self.memo.get(key)
        if known is None:
            if below is not None and self.least.get(key, 0) >= below:
                return None
            known = self._shallow(state, depth, most) if depth <= 2 else None
            if known is None:
                known = self._deep(state, depth, most, below, told)
            if known is None:
                assert below is not None
                self.least[key] = below
                return None
            self.memo[key] = known
        if told is not None:
            told(known, depth)
        too_large = below is not None and (known.value is None or known.value[0] >= below)
        return None if too_large else known

    def _shallow(self, state: State, depth: int, most: int | None) -> Best:
        """The best value for at most two levels, from sums of tests or of pairs of tests."""
        self.calls += 1
        if depth:  # a run that is stopped at once has a leaf
            self.check()
        bits, view = self.bits, self.view
        whole = self.sums(state)
        given = (whole, state.context, view.tables, self.size)
        if depth == 2:
            pairs = sets.pair_sums(state.rows, bits.tests, bits.sums)
            test = self.two(pairs, *given, 4 if most is None else most, self.out)
        else:
            sides = sets.side_sums(state.rows, bits.tests, bits.sums)
            leaves = 1 if depth == 0 else 2 if most is None else most
            test = self.one(sides, *given, leaves, self.out)
        return Best(None, -2) if test == -2 else Best(tuple(self.out[0].tolist()), int(test))

    def _deep(
        self,
        state: State,
        depth: int,
        most: int | None,
        below: int | None,
        told: Callable[[Best, int], None] | None,
    ) -> Best | None:
        found = self.best(state, 2, most)
        assert found is not None
        if told is not None:
            told(found, 2)
        whole = self.sums(state)
        for split in self.splits(state, whole):
            for leaves in shares_of(most, depth):
                bound = self._bound(found, below)
                if bound is not None and bound <= 0:
                    break
                value = self._of_split(split, depth - 1, leaves, bound)
                if value is None or not self.allowed(value, whole, state.context):
                    continue
                if found.value is None or self.view.is_better(value, found.value):
                    found = Best(value, split.test, leaves)
                    if told is not None:
                        told(found, depth)
        if below is not None and (found.value is None or found.value[0] >= below):
            return None
        return found

    def _bound(self, found: Best, below: int | None) -> int | None:
        """What a value must be below to be of use; None if parts bound nothing."""
        if not self.adds:
            return None
        if found.value is None or (below is not None and below < found.value[0]):
            return below
        return found.value[0]

    def _of_split(
        self, split: Split, depth: int, leaves: Leaves, bound: int | None
    ) -> Integers | None:
        """The best value of a split, or None if a side has none or the bound is reached."""
        sides = list(zip((split.left, split.right), leaves, strict=True))
        if bound is None:
            found = [self.best(state, depth, most) for state, most in sides]
            a, b = (None if one is None else one.value for one in found)
            return None if a is None or b is None else self.joined(split, a, b)
        rest = bound - (0 if split.cost is None else split.cost[0])
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
        if most is not None and most >= full_leaves(depth):
            most = None
        key = self.key(state, depth, most)
        known = self.memo.get(key)
        if known is not None and known.value is not None:
            return known.value[0]
        return self.least.get(key, 0)

    def tree(self, state: State, depth: int, most: int | None, best: Best) -> Node:
        """A tree with the best value of a state."""
        assert best.value is not None
        if best.test < 0:
            return self.leaf(state, best.value)
        whole = self.sums(state)
        split = next(s for s in self.splits(state, whole) if s.test == best.test)
        if most is not None and most >= full_leaves(depth):
            most = None
        for leaves in [best.leaves] if best.leaves is not None else shares_of(most, depth):
            sides = list(zip((split.left, split.right), leaves, strict=True))
            found = [self.best(state, depth - 1, m) for state, m in sides]
            a, b = (None if one is None else one.value for one in found)
            if a is not None and b is not None and self.joined(split, a, b) == best.value:
                nodes = [
                    self.tree(state, depth - 1, m, one)
                    for (state, m), one in zip(sides, found, strict=True)
                    if one is not None
                ]
                return Branch(self.view.features[split.test], nodes[0], nodes[1])
        raise AssertionError("The best value of a state has no tree.")


def shares_of(most: int | None, depth: int) -> list[Leaves]:
    """How many leaves the two sides of a split may have at most."""
    if most is None:
        return [(None, None)]
    full = full_leaves(depth - 1)
    return [(k, most - k) for k in range(1, most) if k <= full and most - k <= full]
