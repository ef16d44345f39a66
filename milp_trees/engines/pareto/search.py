"""Fronts of (leaves, false positives, false negatives) of all trees on a set of rows.

They are remembered by the set and the depth.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.engines.pareto import kernels, lines
from milp_trees.engines.partial_trees.beside import Beside, LongKernels
from milp_trees.engines.partial_trees.bits import pack
from milp_trees.engines.partial_trees.kernels import count, side_counts
from milp_trees.methods.callback import unheard
from milp_trees.methods.watch import Watch
from milp_trees.tasks.count_views import PairCounts

#: Leaves (or 0), false positives, false negatives.
Point = tuple[int, int, int]
#: An action, or a test with both sides.
Nested = int | tuple[int, Any, Any]


#: Estimated bytes of a remembered front, without its points and its rows.
ENTRY_BYTES = 300
#: Pairs of weights for lower bounds of weighted errors.
LINES = 6
#: Weights whose ratios differ by less than one part in ALIKE say the same.
ALIKE = 10


class Fronts(LongKernels):
    """The search on one problem.

    Parameters
    ----------
    view : PairCounts
    least : int
        Smallest number of rows in a leaf.
    most_leaves : int or None
        Largest number of leaves that is counted; None if the number does not matter.
    check : callable
        Called before long work; it raises an error to stop the search.
    beside : callable
        Runs a function of `stop` that takes long (`Watch.beside`).
    """

    def __init__(
        self,
        view: PairCounts,
        least: int,
        most_leaves: int | None,
        check: Callable[[], None],
        beside: Beside,
    ) -> None:
        self.view, self.least, self.check, self.beside = view, least, check, beside
        self.tests, self.root, self.ups, _ = pack(view)
        self.words = np.ascontiguousarray(self.tests.T)
        self.unit = 0 if most_leaves is None else 1
        layers, width = (most_leaves or 0) + 1, view.totals[1] + 1
        #: The largest useful number of false negatives; at first there is no limit.
        self.allowed = np.full((layers, width), view.totals[0], dtype=np.int64)
        self.whole = self.allowed.copy()
        self.table = np.full((layers, width), kernels.NONE, dtype=np.int64)
        #: Numbers for `two_levels` that leave no test out.
        self.no_lines = (
            np.empty((0, len(self.tests)), dtype=np.int64),
            np.empty(0, dtype=np.int64),
            np.empty((1, 0), dtype=np.int64),
        )
        #: Fronts of sides in `three_levels`, with the points that are useful for this split.
        self.sides: dict[bytes, np.ndarray] = {}
        self.memo: dict[tuple[bytes, int], np.ndarray] = {}
        self.sums = self.reused = 0
        #: Estimated bytes of what is remembered.
        self.bytes = 0

    def allow(self, better: Callable[[int, int, int], bool]) -> None:
        """Cut off points that are no better than a new incumbent.

        `better(fp, fn, leaves)` falls in all three.
        """
        for leaves in range(self.unit, len(self.allowed)):
            own = self.allowed[leaves]
            fn = (
                bisect_left(range(int(own[0]) + 1), True, key=lambda x: not better(0, x, leaves))
                - 1
            )
            for fp in range(int((own >= 0).sum())):
                fn = min(fn, int(own[fp]))
                while fn >= 0 and not better(fp, fn, leaves):
                    fn -= 1
                own[fp] = fn
                if fn < 0:
                    own[fp:] = -1
                    break

    def cut(self, table: np.ndarray) -> None:
        """Cut off points that are no better than one of the points of trees of all rows.

        Errors elsewhere only add up, so a part with such a point is in no tree of the front.
        """
        least = np.minimum.accumulate(np.minimum.accumulate(table, axis=0), axis=1)
        np.minimum(self.allowed, least - 1, out=self.allowed)

    def counts(self, rows: np.ndarray) -> tuple[int, int]:
        """Positives and negatives."""
        return count(rows, rows, 0, self.ups), count(rows, rows, self.ups, len(rows))

    def front(self, rows: np.ndarray, depth: int) -> np.ndarray:
        """The front of a set: the points of its trees of at most this depth.

        Points are left out if no tree that contains them is better than the incumbent.
        """
        key = (rows.tobytes(), depth)
        found = self.memo.get(key)
        if found is not None:
            self.reused += 1
            return found
        p, q = self.counts(rows)
        if not depth or not p or not q:
            out = kernels.leaf(self.table, self.allowed, p, q, self.unit)
        elif depth == 1:
            out = kernels.one_level(
                self.table, self.allowed, rows, self.tests, self.ups, p, q, self.least, self.unit
            )
        elif depth == 2:
            self.check()
            out = self.two_levels(rows, p, q)
        else:
            table = np.full_like(self.table, kernels.NONE)
            kernels.put_leaf(table, self.allowed, p, q, self.unit)
            for _, left, right in self.splits(rows):
                self.add(table, left, right, depth - 1)
            out = kernels.front_of(table, q + 1)
        self.memo[key] = out
        self.bytes += out.nbytes + len(key[0]) + ENTRY_BYTES
        return out

    def pairs(self, rows: np.ndarray) -> np.ndarray:
        """The counts of all pairs of tests on a set."""
        counts: np.ndarray = self.compiled(
            len(rows), lambda stop: kernels.pairs_of(rows, self.words, self.ups, stop)
        )
        return counts

    def two_levels(self, rows: np.ndarray, p: int, q: int) -> np.ndarray:
        """The front of a set for at most two levels of splits."""
        pairs, table = self.pairs(rows), np.full_like(self.table, kernels.NONE)
        sizes = (p, q, self.least, self.unit)
        front: np.ndarray = self.compiled(
            4 + 4 * table.size / len(self.tests),
            lambda stop: kernels.two_levels(
                table, self.allowed, pairs, *self.no_lines, *sizes, stop
            ),
        )
        return front

    def add(self, table: np.ndarray, left: np.ndarray, right: np.ndarray, depth: int) -> None:
        """Enter the sums of the fronts of two sides.

        The larger side is not searched if no point of the smaller one is useful.
        """
        small, large = (
            (left, right) if sum(self.counts(left)) <= sum(self.counts(right)) else (right, left)
        )
        first = self.front(small, depth)
        if len(first):
            self.sums += 1
            kernels.put_sums(table, self.allowed, first, self.front(large, depth))

    def three_levels(
        self, rows: np.ndarray, table: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Enter the sums of the fronts of two levels on both sides of every test of a set.

        Sums that are no better than a point of the table may be left out. Tests whose sides may
        have the fewest weighted errors come first.
        """
        self.check()
        useful = self.useful(table)
        if not len(useful):
            return
        tests, weights = list(self.splits(rows)), self.weights(useful)
        whole, work = self.pairs(rows), len(rows) + 4 * len(weights)
        shared = (self.words, self.ups, *self.counts(rows), self.least)
        parts = [min(sides, key=lambda part: sum(self.counts(part))) for _, *sides in tests]
        sums = []
        for part in parts:
            self.check()
            given = (whole, part, *shared, weights)
            sums.append(self.compiled(work, partial(lines.least_sums, *given)))
        border = self.border(useful, weights)
        for i in sorted(range(len(tests)), key=lambda i: int((sums[i] - border).max(axis=1).min())):
            if not kernels.in_reach(sums[i], border):
                continue
            self.check()
            before = table.copy()
            more = (table, self.allowed, whole, parts[i], *shared, self.unit, weights, border)
            try:
                first, second = self.compiled(
                    work + 4 * table.size / len(self.tests), partial(lines.split, *more)
                )
            except BaseException:  # a stopped kernel may have entered sums of no known test
                table[:] = before
                raise
            self.sums += 1
            if (table != before).any():
                self.sides[parts[i].tobytes()] = first
                self.sides[(rows & ~parts[i]).tobytes()] = second
                self.bytes += first.nbytes + second.nbytes + 2 * (rows.nbytes + ENTRY_BYTES)
                yield tests[i]
                border = self.border(self.useful(table), weights)

    def useful(self, table: np.ndarray) -> np.ndarray:
        """The largest useful number of false negatives for every number of false positives."""
        leaves = min(2 * self.unit, len(table) - 1)  # of a split at least
        least = np.minimum.accumulate(table[: leaves + 1].min(axis=0))
        allowed = np.minimum(self.allowed[leaves], least - 1)
        return np.asarray(allowed[allowed >= 0])

    def border(self, useful: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weighted errors of the corners, shape (corners, weights)."""
        fp = np.flatnonzero(np.append(useful[:-1] > useful[1:], len(useful) > 0)[: len(useful)])
        return np.outer(fp, weights[:, 0]) + np.outer(useful[fp], weights[:, 1])

    def weights(self, useful: np.ndarray) -> np.ndarray:
        """Weights of both kinds of errors, from chords of the border of useful points."""
        largest = min(1000, 2**29 // max(self.view.totals[0] + self.view.totals[1], 1))
        ends = sorted({round(x) for x in np.linspace(0, len(useful), LINES + 1).tolist()})
        border = np.append(useful, -1)
        found: list[tuple[int, int]] = []
        for x, y in pairwise(ends):
            rise, run = int(border[x] - border[y]), y - x
            scale = largest / max(rise, run)
            a, b = max(round(rise * scale), 1), max(round(run * scale), 1)
            if all(abs(a * d - b * c) * ALIKE > min(a * d, b * c) for c, d in found):
                found.append((a, b))
        return np.array(found, dtype=np.int64)

    def splits(self, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Tests that divide a set in different ways into large enough sides, and the sides."""
        seen: set[bytes] = set()
        true = side_counts(rows, self.tests, self.ups).sum(axis=1)
        n = sum(self.counts(rows))
        for f in np.flatnonzero((true >= self.least) & (n - true >= self.least)).tolist():
            left, right = rows & ~self.tests[f], rows & self.tests[f]
            key = min(left.tobytes(), right.tobytes())
            if key not in seen:
                seen.add(key)
                yield f, left, right

    def tree(self, rows: np.ndarray, depth: int, point: Point) -> Nested:
        """A tree that has the numbers of a point of the front.

        The fronts of its parts must have been made before any better incumbent than this tree was
        found.
        """
        before = self.allowed, self.check, self.beside
        with unheard():  # the tree is wanted after any limit, that of the user's function too
            unlimited = Watch(Limits(time=None))
        self.allowed, self.check, self.beside = self.whole, lambda: None, unlimited.beside
        try:
            return self._tree(rows, depth, point)
        finally:
            self.allowed, self.check, self.beside = before

    def split_tree(
        self, f: int, left: np.ndarray, right: np.ndarray, depth: int, point: Point
    ) -> Nested:
        """A tree with a given root test that has the numbers of a point."""
        a, b = (
            self.sides[part.tobytes()] if depth == 2 else self.front(part, depth)
            for part in (left, right)
        )
        rest = {tuple(row) for row in b.tolist()}
        for own in a.tolist():
            other = tuple(np.subtract(point, own).tolist())
            if other in rest:
                return f, self.tree(left, depth, tuple(own)), self.tree(right, depth, other)
        raise AssertionError("A point of the front has no tree.")

    def _tree(self, rows: np.ndarray, depth: int, point: Point) -> Nested:
        p, q = self.counts(rows)
        positive = self.view.positive
        leaves, fp, fn = point
        if leaves >= self.unit and (fp, fn) in ((0, p), (q, 0)):
            return positive if (fp, fn) == (q, 0) else 1 - positive
        if depth <= 2:
            return self._shallow(rows, depth, point, p, q)
        for f, left, right in self.splits(rows):
            rest = {tuple(b): b for b in self.front(right, depth - 1).tolist()}
            for a in self.front(left, depth - 1).tolist():
                other = (leaves - a[0], fp - a[1], fn - a[2])
                if other in rest:
                    return (
                        f,
                        self._tree(left, depth - 1, tuple(a)),
                        self._tree(right, depth - 1, other),
                    )
        raise AssertionError("A point of the front has no tree.")

    def _shallow(
        self, rows: np.ndarray, depth: int, point: Point, p: int, q: int
    ) -> tuple[int, Nested, Nested]:
        """A tree of one or two levels that has the numbers of a point and is no leaf."""
        target, positive = np.array(point, dtype=np.int64), self.view.positive
        sides = side_counts(rows, self.tests, self.ups)
        f, up = kernels.find_one(sides, p, q, self.least, self.unit, target)
        if f >= 0:
            said = (1 - positive, positive) if up else (positive, 1 - positive)
            return int(f), *said
        if depth == 2:
            pairs, table = self.pairs(rows), np.full_like(self.table, kernels.NONE)
            f, both = self.compiled(
                4 + 4 * table.size / len(self.tests),
                lambda stop: kernels.find_two(
                    table, self.allowed, pairs, p, q, self.least, self.unit, target, stop
                ),
            )
            if f >= 0:
                parts = (rows & ~self.tests[f], rows & self.tests[f])
                false, true = (
                    self._tree(part, 1, tuple(row))
                    for part, row in zip(parts, both[::-1].tolist(), strict=True)
                )
                return int(f), false, true
        raise AssertionError("A point of the front has no tree.")
