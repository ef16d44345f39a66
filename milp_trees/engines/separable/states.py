"""States of a separable task: sets of rows with a context, and their splits. Loads numba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from milp_trees.engines.fronts import rows as sets
from milp_trees.engines.fronts.search import Split, SplitSets
from milp_trees.engines.separable.parts import given_by
from milp_trees.models.nodes import Leaf
from milp_trees.tasks.states_view import Integers, States


class State(NamedTuple):
    """Rows, as a bit string, and their context."""

    rows: np.ndarray
    context: Integers


class StateSets(SplitSets[State]):
    """States of a view; what searches for one best value and for fronts share.

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
        self.view, bits = _packed(view)
        # Tests that divide a set in the same way differ in their costs and contexts at most.
        alike = view.split is None and view.transition is None
        super().__init__(bits, self.view.features, size, check, alike)
        self.root = State(bits.root, view.start)
        self.given, self.compiled = given_by(view), compiled
        self.calls = 0

    def rows(self, state: State) -> np.ndarray:
        return state.rows

    def key(self, state: State) -> tuple[bytes, Integers]:
        return state.rows.tobytes(), state.context

    def split(self, state: State, test: int, left: np.ndarray, right: np.ndarray) -> Split:
        below = (self.view.below(state.context, test, side) for side in (0, 1))
        return Split(test, State(left, next(below)), State(right, next(below)))

    def sums(self, state: State) -> Integers:
        """Sums of a state."""
        return tuple(sets.set_sums(state.rows, self.bits.sums).tolist())

    def counted(self, state: State, depth: int) -> np.ndarray:
        """Sums of all tests on a state, or of all pairs of tests if a tree has two levels."""
        self.calls += 1
        if depth:  # a run that is stopped at once has a leaf
            self.check()
        count = sets.pair_sums if depth == 2 else sets.side_sums
        counted: np.ndarray = count(state.rows, self.bits.words, self.bits.sums)
        return counted

    def action(self, state: State, value: Integers) -> Leaf:
        """The leaf that has a value in a state."""
        whole, view = self.sums(state), self.view
        for k in range(view.n_actions):
            if tuple(view.leaf(whole, k, state.context, view.tables)) == value:
                return Leaf(k)
        raise AssertionError("No leaf has this value.")


def _packed(view: States) -> tuple[States, sets.PackedRows]:
    """The view after presolve, and its bit strings; rows are merged if that makes fewer words."""
    small = view.reduce()
    features = [view.index[t] for t in small.features]
    large = replace(view, X=np.ascontiguousarray(view.X[:, features]), features=small.features)
    both = ((one, sets.pack(one.X, one.sums)) for one in (large, small))
    return min(both, key=lambda pair: len(pair[1].root))
