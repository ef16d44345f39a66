"""Search over the states of a task whose order is partial: a front for each state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from milp_trees.engines.separable import partial
from milp_trees.engines.separable import rows as sets
from milp_trees.engines.separable.search import State, StateSets, shares_of
from milp_trees.models.nodes import Branch, Node
from milp_trees.models.space import full_leaves
from milp_trees.tasks.states_view import Integers, States


class FrontSearch(StateSets):
    """Fronts of states; see `StateSets`."""

    def __init__(self, view: States, size: int, compiled: bool, check: Callable[[], None]) -> None:
        super().__init__(view, size, compiled, check)
        self.kernels = partial.prepare(self.given, compiled)
        self.memo: dict[tuple[Any, ...], np.ndarray] = {}

    def warm_up(self) -> None:
        """Call every kernel once, so that it is compiled."""
        S, view, kernels = 1 + self.view.stats.shape[1], self.view, self.kernels
        nothing, whole, width = np.zeros((S, 0, 0), dtype=np.int64), (0,) * S, view.width
        given = (whole, view.start, view.tables, 1, 4, width)
        kernels.one_level(np.zeros((S, 0), dtype=np.int64), *given)
        kernels.two_levels(nothing, *given)
        none = np.zeros((0, width), dtype=np.int64)
        kernels.merge(np.zeros((8, width), dtype=np.int64), 0, none, none, whole, 0, *given[1:3])
        kernels.find(none, none, (0,) * width, whole, 0, *given[1:3])
        sets.warm_up()

    def run(
        self, depth: int, most: int | None, keep: Callable[[list[Node], Integers], None]
    ) -> None:
        """Find the front of all rows."""
        found = self.front(self.root, depth, most)
        values = [tuple(row) for row in found.tolist()]
        values.sort(key=lambda v: (self.view.units_of(v), v))
        nodes = [self.tree(self.root, depth, most, value) for value in values]
        if nodes:
            keep(nodes, values[0])

    def front(self, state: State, depth: int, most: int | None) -> np.ndarray:
        """The front of a state."""
        if most is not None and most >= full_leaves(depth):
            most = None
        key = self.key(state, depth, most)
        known = self.memo.get(key)
        if known is None:
            known = (self._deep if depth > 2 else self._shallow)(state, depth, most)
            self.memo[key] = known
        return known

    def _shallow(self, state: State, depth: int, most: int | None) -> np.ndarray:
        self.calls += 1
        if depth:  # a run that is stopped at once has a leaf
            self.check()
        bits, kernels, view = self.bits, self.kernels, self.view
        given = (self.sums(state), state.context, view.tables, self.size)
        if depth == 2:
            pairs = sets.pair_sums(state.rows, bits.tests, bits.sums)
            leaves = 4 if most is None else most
            found: np.ndarray = kernels.two_levels(pairs, *given, leaves, view.width)
        else:
            sides = sets.side_sums(state.rows, bits.tests, bits.sums)
            leaves = 1 if depth == 0 else 2 if most is None else most
            found = kernels.one_level(sides, *given, leaves, view.width)
        return found

    def _deep(self, state: State, depth: int, most: int | None) -> np.ndarray:
        leaves = self.front(state, 0, None)
        front, n = np.concatenate([leaves, np.empty((8, self.view.width), np.int64)]), len(leaves)
        whole = self.sums(state)
        for split in self.splits(state, whole):
            for left, right in shares_of(most, depth):
                a = self.front(split.left, depth - 1, left)
                b = self.front(split.right, depth - 1, right)
                self.check()
                given = (whole, split.test, state.context, self.view.tables)
                front, n = self.kernels.merge(front, n, a, b, *given)
        return front[:n].copy()

    def tree(self, state: State, depth: int, most: int | None, value: Integers) -> Node:
        """A tree with a value of the front of a state."""
        if any(tuple(row) == value for row in self.front(state, 0, None).tolist()):
            return self.leaf(state, value)
        whole = self.sums(state)
        if most is not None and most >= full_leaves(depth):
            most = None
        for split in self.splits(state, whole):
            for left, right in shares_of(most, depth):
                a = self.front(split.left, depth - 1, left)
                b = self.front(split.right, depth - 1, right)
                given = (value, whole, split.test, state.context, self.view.tables)
                i, j = self.kernels.find(a, b, *given)
                if i >= 0:
                    return Branch(
                        self.view.features[split.test],
                        self.tree(split.left, depth - 1, left, tuple(a[i].tolist())),
                        self.tree(split.right, depth - 1, right, tuple(b[j].tolist())),
                    )
        raise AssertionError("A value of the front has no tree.")
