"""Sets of rows and their optimal values, from which the hypergraph of near-best trees is made.

The last two levels of a set are one compiled call; values of deeper trees come from `dp`. All values
are regrets: costs minus the cheapest action of every (merged) row, or losses in units.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from milp_trees.common.limits import Deadline, Stopped
from milp_trees.engines.dp.arrays import prepare
from milp_trees.engines.dp.buffers import work_of
from milp_trees.engines.dp.optimum import Optimum
from milp_trees.engines.dp.switches import Switches
from milp_trees.engines.near_best.kernels import NONE, levels
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.results.result import Limit
from milp_trees.tasks.views import LeafSums

#: Bytes that Python and its containers need for a remembered set, besides its bits.
ENTRY = 250


class Levels(NamedTuple):
    """A set of rows and its tests.

    It holds the leaf (value, action), and for both sides of each test the leaf (value, action), the
    best tree of at most one split, and the number of rows.
    """

    leaf: int
    action: int
    value: np.ndarray
    actions: np.ndarray
    stump: np.ndarray
    size: np.ndarray


class RowSets:
    """The rows of a reduced view as bits, and optimal values of its subsets.

    Parameters
    ----------
    view : LeafSums
        Reduced: equal rows merged, of equal tests the cheapest kept.
    watch : Watch, Deadline or None
        Its limits end the search.
    max_bytes : int
        Estimated memory at which the search ends.
    """

    def __init__(
        self, view: LeafSums, space: Trees, watch: Watch | Deadline | None, max_bytes: int
    ) -> None:
        self.view, self.watch, self.max_bytes, self.bytes = view, watch, max_bytes, 0
        instance = prepare(view, replace(space, max_depth=None), every_row=True)
        self.data, self.position = instance.data, instance.position
        self.work = work_of(instance, Switches(), 2, sizes=1)
        self.words, self.truth = self.data.n_words, self.data.tests
        self.all_rows: np.ndarray = self.data.everything
        self.leaf_cost, self.split = int(view.leaf_cost), view.split_costs.astype(np.int64)
        self._by_test = np.zeros((self.data.values.shape[1], len(self.split)), dtype=np.int64)
        #: A lower bound on the cost of every set that is split.
        self.floor = 2 * self.leaf_cost + int(self.split.min(initial=NONE))
        check = None if watch is None else watch.check
        self.optimum = Optimum(instance, check, max_bytes // 2)
        #: Values that were found, by set and depth.
        self.known: dict[tuple[bytes, int], int] = {}
        self.calls = 0

    @property
    def totals(self) -> np.ndarray:
        """Sums of the values over the set that `levels` was asked about last, one level deep."""
        found: np.ndarray = self.work.total[0]
        return found

    @property
    def by_test(self) -> np.ndarray:
        """The same over those of its rows on which each test is true, one row per value."""
        return self._by_test

    def tick(self, more_bytes: int = 0) -> None:
        """Check the limits of time and memory, and count the call."""
        self.calls += 1
        self.bytes += more_bytes
        self.check()

    def check(self, more_bytes: int = 0) -> None:
        """Check the limits of time and memory, with some bytes that are used for a while."""
        if self.watch is not None:
            self.watch.check()
        if self.bytes + more_bytes + self.optimum.bytes > self.max_bytes:
            raise Stopped(Limit.MEMORY)

    def levels(self, rows: np.ndarray, two: bool = True) -> Levels:
        """The last two levels of a set of rows, or the last one."""
        value, actions, stump, size = (
            np.empty((2, len(self.split)), dtype=np.int64) for _ in range(4)
        )
        leaf, action = levels(
            self.data.address,
            self.work.address,
            rows,
            two,
            self._by_test,
            value,
            actions,
            stump,
            size,
        )
        return Levels(int(leaf), int(action), value, actions, stump, size)

    def within(
        self, two: Levels, rows: np.ndarray, depth: int, f: int, spare: int
    ) -> tuple[int, int] | None:
        """Optimal values of both sides of a test, or None if their sum is above `spare`."""
        left, right = self.sides(rows, f)
        right_low = int(two.value[1, f])
        right_low = NONE if right_low == NONE else min(right_low, self.floor)
        left_value = self.side(two, left, depth, 0, f, spare - right_low)
        if left_value + right_low > spare:
            return None
        right_value = self.side(two, right, depth, 1, f, spare - left_value)
        return (left_value, right_value) if left_value + right_value <= spare else None

    def sides(self, rows: np.ndarray, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows on which a test is false, and on which it is true."""
        right = rows & self.truth[f]
        return rows ^ right, right

    def low(self, two: Levels) -> np.ndarray:
        """A lower bound for both sides of every test: a leaf, or a tree with a split."""
        return np.where(two.value == NONE, NONE, np.minimum(two.value, self.floor))

    def value(self, rows: np.ndarray, depth: int, budget: int) -> int:
        """Optimal value of a set with some depth left, or a bound above the budget."""
        key = rows.tobytes(), depth
        known = self.known.get(key)
        if known is not None:
            return known
        self.tick()
        value = self.optimum.value(rows, depth, budget)
        if value <= budget:
            self.known[key] = value
            self.bytes += ENTRY + 8 * self.words
        return value

    def side(
        self, two: Levels, rows: np.ndarray, depth: int, side: int, f: int, budget: int
    ) -> int:
        """Optimal value of a side of a test, from the last two levels where these are enough."""
        left = self.depth_of(two, depth, side, f)
        return (
            int((two.value, two.stump)[left][side, f])
            if left <= 1
            else self.value(rows, left, budget)
        )

    @staticmethod
    def depth_of(two: Levels, depth: int, side: int, f: int) -> int:
        """Depth left on a side of a test; m rows cannot be split more than m - 1 times."""
        return min(depth - 1, int(two.size[side, f]) - 1)
