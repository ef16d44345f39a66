"""The search above the kernels: sets of rows, memo, bounds, limits, and the tree.

`solve(rows, depth)` gives, for every number of leaves that matters, the value of the best tree and its root split. Trees of depth two and
three come from the kernels; deeper ones try every root test and ask again for both sides. Values are scaled (`Instance.unit`) and, like all
values here, leave out `Instance.constant`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.dynamic.instance import Instance
from milp_trees.engines.dynamic.work import Work

#: A nested tree: the index of an action, or (test, left, right).
Nested = int | tuple[int, Any, Any]
#: Bytes of the memo when the caller gives no memory limit.
MEMO_BYTES = 2**30


class OutOfTime(Exception):
    """The deadline has passed."""


class Best(NamedTuple):
    """Best trees on a set of rows, one entry per allowed number of leaves (a single entry when leaves are not limited).

    `value[k]` is the value with at most k + 1 leaves, `test[k]` the root test (-1: a leaf), `left[k]` the leaves allowed on its left, `depth[k]`
    the depth at which the tree was found.
    Where `exact` is False the values are only known to be the best of what was tried, and nothing is below `bound`.
    """

    value: np.ndarray
    test: np.ndarray
    left: np.ndarray
    depth: np.ndarray
    exact: bool = True
    bound: int = 0


@dataclass
class Counters:
    """What a search did: kernel calls for one set of rows, and entries of the memo."""

    calls: int = 0
    cached: int = 0


class Search:
    """One search on one instance."""

    def __init__(self, instance: Instance, limited: bool, deadline: float | None = None, memo_bytes: int = MEMO_BYTES) -> None:
        self.instance = instance
        #: Whether the number of leaves allowed makes a difference.
        self.limited = limited
        self.deadline = deadline
        self.memo: dict[tuple[int, bytes], Best] = {}
        self.memo_room = memo_bytes
        self.counters = Counters()
        self.improved: Callable[[int, Best], None] | None = None
        self.work = Work(instance)
        self.rows = np.arange(len(instance.X))

    # -- one set of rows -------------------------------------------------------------------------------------

    def width(self, depth: int) -> int:
        """Length of `Best.value` for trees of a depth."""
        return min(1 << min(depth, 40), self.instance.max_leaves) if self.limited else 1

    def solve(self, rows: np.ndarray, depth: int, budget: int) -> Best:
        """Best trees of at most this depth, exact if one is below the budget (always, when leaves are limited)."""
        if depth <= 1:
            return self._shallow(rows, depth)
        key = (depth, self._key(rows))
        known = self.memo.get(key)
        if known is not None and (known.exact or known.bound >= budget):
            return known
        if depth == 2:
            best = self._two(rows)
        elif depth == 3:
            best = self._three(rows, budget)
        else:
            best = self._deep(rows, depth, budget, None)
        self._remember(key, best)
        return best

    def root(self, depth: int, budget: int) -> Best:
        """The same for all rows, telling `improved` about every better tree."""
        rows = self.rows
        if len(rows) == 0:
            return self._shallow(rows, 0)
        if depth <= 2:
            best = self.solve(rows, depth, budget)
        elif depth == 3:
            best = self._three(rows, budget, announce=True)
        else:
            best = self._deep(rows, depth, budget, self.improved)
        self._remember((depth, self._key(rows)), best)
        return best

    def _key(self, rows: np.ndarray) -> bytes:
        member = np.zeros(len(self.instance.X), dtype=bool)
        member[rows] = True
        return np.packbits(member).tobytes()

    def _remember(self, key: tuple[int, bytes], best: Best) -> None:
        size = len(key[1]) + 24 * len(best.value) + 500
        if size <= self.memo_room:
            self.memo_room -= 0 if key in self.memo else size
            self.memo[key] = best
            self.counters.cached = len(self.memo)

    def _shallow(self, rows: np.ndarray, depth: int) -> Best:
        """Depth 0 or 1: sums per test, no pairs."""
        inst = self.instance
        total = inst.values[rows].sum(axis=0, dtype=np.int64)
        value = np.full(2, self._leaf(total))
        test, left = np.full(2, -1), np.zeros(2, dtype=np.int64)
        if depth >= 1 and len(rows):
            true = inst.values[rows].T.astype(np.int64) @ inst.X[rows, : inst.n_tests]
            both = self._leaf(true) + self._leaf(total[:, None] - true) + inst.split[: inst.n_tests]
            f = int(both.argmin()) if inst.n_tests else -1
            if inst.n_tests and both[f] < value[0]:
                value[1], test[1], left[1] = both[f], f, 1
        return self._trim(value + self._first(rows), test, left, depth)

    def _leaf(self, total: np.ndarray) -> Any:
        """Value of a leaf by the sums of its values (along the first axis)."""
        inst = self.instance
        if inst.least == 1:
            return np.minimum(total.min(axis=0), 0) + inst.leaf
        return np.where(total[-1] < inst.least, inst.infinity, np.minimum(total[:-1].min(axis=0), 0) + inst.leaf)

    def _first(self, rows: np.ndarray) -> int:
        return int(self.instance.first_action[rows].sum())

    def _trim(self, value: np.ndarray, test: np.ndarray, left: np.ndarray, depth: int) -> Best:
        """The entries that matter, as 64-bit integers."""
        n = self.width(depth)
        here = slice(n) if self.limited else slice((1 << min(depth, 3)) - 1, 1 << min(depth, 3))
        value = value[here].astype(np.int64)
        return Best(value, test[here].astype(np.int64), left[here].astype(np.int64), np.full(len(value), depth))

    def _two(self, rows: np.ndarray) -> Best:
        self.work.sums(rows)
        self.counters.calls += 1
        return self._trim(self.work.front[:4] + self._first(rows), self.work.test[:4], self.work.left[:4], 2)

    def _three(self, rows: np.ndarray, budget: int, announce: bool = False) -> Best:
        """Depth three: the pair sums of all rows, then a slice of root tests per kernel call."""
        work, first = self.work, self._first(rows)
        work.sums(rows)
        work.begin_three()
        # At the root ties are settled by leaves; below, a tree of cost zero is good enough.
        enough = (2 * self.instance.leaf if announce else self.instance.unit - 1) - first
        step = work.tests_per_slice(len(rows))
        for begin in range(0, self.instance.n_tests, step):
            self.check_time()
            before = int(work.front[7])
            work.three(rows, begin, begin + step, self.limited, enough)
            if announce and self.improved and work.front[7] < before:
                self.improved(3, self._trim(work.front + first, work.test, work.left, 3))
            if not self.limited and work.front[7] <= enough:
                break
        self.counters.calls += self.instance.n_tests
        return self._trim(work.front + first, work.test, work.left, 3)

    def _deep(self, rows: np.ndarray, depth: int, budget: int, improved: Callable[[int, Best], None] | None) -> Best:
        """Every root test, both sides by `solve`."""
        inst = self.instance
        start = self.solve(rows, depth - 1, budget)
        best = self._widened(start, depth)
        order = self._root_order(rows)
        for f in order.tolist():
            goal = self._goal(best, budget)
            if not self.limited and goal <= 2 * inst.leaf:
                break
            true = inst.X[rows, f] == 1
            if true.all() or not true.any():
                continue
            cost = int(inst.split[f])
            sides = [rows[~true], rows[true]]
            # The smaller side first: it is cheaper, and often already too dear.
            small = 0 if len(sides[0]) <= len(sides[1]) else 1
            a = self.solve(sides[small], depth - 1, goal - cost - inst.leaf)
            if not self.limited and a.value[0] + cost + inst.leaf >= goal:
                continue
            b = self.solve(sides[1 - small], depth - 1, goal - cost - int(a.value[-1]))
            left, right = (a, b) if small == 0 else (b, a)
            if self._combine(best, left, right, cost, f, depth) and improved:
                improved(depth, best)
        if self.limited or best.value[-1] < budget:
            return best
        return best._replace(exact=False, bound=budget)

    def _goal(self, best: Best, budget: int) -> int:
        """What a tree must stay below to matter: a whole unit of cost less than the best one, or the budget."""
        found = int(best.value[-1])
        return found // self.instance.unit * self.instance.unit if found < budget else budget

    def _widened(self, best: Best, depth: int) -> Best:
        """The best trees of a smaller depth as trees of this depth."""
        more = self.width(depth) - len(best.value)
        value, test, left, found = (np.concatenate([part, np.repeat(part[-1:], more)]) for part in best[:4])
        return Best(value, test, left, found)

    def _combine(self, best: Best, left: Best, right: Best, cost: int, f: int, depth: int) -> bool:
        """Offer a root test with the best trees of both sides; true if something became better."""
        if not self.limited:
            value = int(left.value[0] + right.value[0]) + cost
            better = left.exact and right.exact and value < best.value[0]
            if better:
                best.value[0], best.test[0], best.depth[0] = value, f, depth
            return better
        better = False
        for a in range(len(left.value)):
            room = min(len(right.value), len(best.value) - a - 1)
            both = int(left.value[a]) + right.value[:room] + cost
            here = slice(a + 1, a + 1 + room)
            low = both < best.value[here]
            if low.any():
                better = True
                best.value[here][low], best.test[here][low], best.left[here][low], best.depth[here][low] = both[low], f, a + 1, depth
        for k in range(1, len(best.value)):
            if best.value[k] > best.value[k - 1]:
                for part in best[:4]:
                    part[k] = part[k - 1]
        return better

    def _root_order(self, rows: np.ndarray) -> np.ndarray:
        """Root tests by their best tree of depth two; ties by index."""
        self.work.sums(rows)
        return self.work.order_by_two()

    def check_time(self) -> None:
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise OutOfTime

    # -- the tree --------------------------------------------------------------------------------------------

    def tree(self, rows: np.ndarray, best: Best, leaves: int | None = None) -> Nested:
        """The tree behind `best`, by solving again along it."""
        k = len(best.value) - 1 if leaves is None else min(leaves, len(best.value)) - 1
        f = int(best.test[k])
        if f < 0:
            return self._action(rows)
        true = self.instance.X[rows, f] == 1
        depth = int(best.depth[k]) - 1
        out: list[Nested] = []
        for side, given in ((rows[~true], int(best.left[k])), (rows[true], k + 1 - int(best.left[k]))):
            below = self.solve(side, depth, 4 * self.instance.infinity)
            out.append(self.tree(side, below, given if self.limited else None))
        return (f, out[0], out[1])

    def _action(self, rows: np.ndarray) -> int:
        inst = self.instance
        total = inst.values[rows].sum(axis=0, dtype=np.int64)
        if inst.least > 1:
            total = total[:-1]
        k = int(total.argmin())
        return k + 1 if total[k] < 0 else 0
