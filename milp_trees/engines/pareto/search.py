"""Fronts of (leaves, false positives, false negatives) of all trees on a set of rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.engines.fronts import rows as sets
from milp_trees.engines.fronts.search import FrontSearch, Leaves, Point, Split, summands
from milp_trees.engines.pareto import kernels, lines
from milp_trees.engines.partial_trees.beside import Beside, LongKernels
from milp_trees.engines.partial_trees.kernels import side_counts
from milp_trees.methods.callback import without_callback
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.tasks.count_views import PairCounts

#: Estimated bytes of a remembered front, without its points and its rows.
ENTRY_BYTES = 300
#: Pairs of weights for lower bounds of weighted errors.
LINES = 6
#: Weights whose ratios differ by less than one part in ALIKE say the same.
ALIKE = 10
#: A front without points.
NOTHING = np.empty((0, 3), dtype=np.int64)


class ErrorFronts(LongKernels, FrontSearch[np.ndarray, np.ndarray, np.ndarray]):
    """The search on one problem; a front is an array with a row per point.

    Points are left out if no tree that contains them is better than the incumbent.

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
        self.view, self.beside = view, beside
        order = np.argsort(~view.is_positive, kind="stable")
        ones = view.is_positive[order].astype(np.int64)
        bits = sets.pack(view.errors.X[order], np.column_stack([ones * 0 + 1, ones, 1 - ones]))
        super().__init__(bits, view.errors.features, least, check, alike=True)
        self.root, self.words = bits.root, bits.words
        #: Number of words that hold positives; they come first.
        self.ups = int(bits.sums[:, 1].sum())
        self.unit = 0 if most_leaves is None else 1
        layers, width = (most_leaves or 0) + 1, view.totals[1] + 1
        #: The largest useful number of false negatives; at first there is no limit.
        self.allowed = np.full((layers, width), view.totals[0], dtype=np.int64)
        self.whole = self.allowed.copy()
        self.empty = np.full((layers, width), kernels.NONE, dtype=np.int64)
        #: Numbers for `two_levels` that leave no test out.
        self.no_lines = (
            np.empty((0, len(self.tests)), dtype=np.int64),
            np.empty(0, dtype=np.int64),
            np.empty((1, 0), dtype=np.int64),
        )
        #: Fronts of sides in `three_levels`, with the points that are useful for this split.
        self.known_sides: dict[bytes, np.ndarray] = {}
        self.sums = 0
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
        _, p, q = sets.set_sums(rows, self.bits.sums).tolist()
        return p, q

    def sizes(self, rows: np.ndarray) -> tuple[int, int, int, int]:
        """Positives and negatives of a set, the smallest size of a leaf, and what a leaf counts."""
        return *self.counts(rows), self.size, self.unit

    # -- the algebra (see `FrontSearch`) -----------------------------------------------------------

    def shallow(self, state: np.ndarray, depth: int, most: int | None) -> np.ndarray:
        sizes = self.sizes(state)
        front: np.ndarray
        if depth == 0 or 0 in sizes[:2]:
            front = kernels.leaf(self.empty, self.allowed, sizes)
        elif depth == 1:
            sides = side_counts(state, self.tests, self.ups)
            front = kernels.one_level(self.empty, self.allowed, sides, sizes)
        else:
            self.check()
            pairs, table = self.pairs(state), self.empty.copy()
            work = partial(kernels.two_levels, table, self.allowed, pairs, self.no_lines, sizes)
            front = self.compiled(4 + self.area(), work)
        return front

    def deep(self, state: np.ndarray, depth: int, most: int | None) -> np.ndarray:
        if 0 in self.counts(state):
            return self.shallow(state, 0, most)
        return super().deep(state, depth, most)

    def table(self, state: np.ndarray) -> np.ndarray:
        table = self.empty.copy()
        kernels.put_leaf(table, self.allowed, self.sizes(state))
        return table

    def sides(
        self, split: Split, depth: int, leaves: Leaves = (None, None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """The larger side is not searched if no point of the smaller one is useful."""
        parts, fronts = (split.left, split.right), [NOTHING, NOTHING]
        for i in sorted((0, 1), key=lambda i: sum(self.counts(parts[i]))):
            fronts[i] = self.front(parts[i], depth)
            if not len(fronts[i]):
                break
        return fronts[0], fronts[1]

    def merge(self, table: np.ndarray, split: Split, a: np.ndarray, b: np.ndarray) -> None:
        if len(a) or len(b):
            self.sums += 1
            kernels.put_sums(table, self.allowed, a, b)

    def close(self, state: np.ndarray, table: np.ndarray) -> np.ndarray:
        front: np.ndarray = kernels.front_of(table, self.counts(state)[1] + 1)
        return front

    def leaf(self, state: np.ndarray, point: Point) -> Leaf | None:
        p, q, _, unit = self.sizes(state)
        if point[0] < unit or point[1:] not in ((0, p), (q, 0)):
            return None
        return self.label(point[1:] == (q, 0))

    def label(self, positive: bool) -> Leaf:
        """A leaf with one of both labels."""
        return Leaf(self.view.positive if positive else 1 - self.view.positive)

    def remember(self, key: Any, front: np.ndarray) -> None:
        super().remember(key, front)
        self.bytes += front.nbytes + len(key[0]) + ENTRY_BYTES

    # -- three levels ------------------------------------------------------------------------------

    def pairs(self, rows: np.ndarray) -> np.ndarray:
        """The counts of all pairs of tests on a set."""
        counts: np.ndarray = self.compiled(
            len(rows), lambda stop: kernels.pairs_of(rows, self.words, self.ups, stop)
        )
        return counts

    def area(self) -> float:
        """What tables of all tests cost for each pair of tests, in words."""
        return 4 * self.empty.size / len(self.tests)

    def three_levels(self, rows: np.ndarray, table: np.ndarray) -> Iterator[Split]:
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
        rest = (self.words, self.ups, self.sizes(rows), weights)
        parts = [min(split[1:], key=lambda part: sum(self.counts(part))) for split in tests]
        sums = []
        for part in parts:
            self.check()
            sums.append(self.compiled(work, partial(lines.least_sums, whole, part, rest)))
        border = self.border(useful, weights)
        for i in sorted(range(len(tests)), key=lambda i: int((sums[i] - border).max(axis=1).min())):
            if not kernels.in_reach(sums[i], border):
                continue
            self.check()
            before = table.copy()
            given = (table, self.allowed, whole, parts[i], rest, border)
            try:
                first, second = self.compiled(work + self.area(), partial(lines.split, *given))
            except BaseException:  # a stopped kernel may have entered sums of no known test
                table[:] = before
                raise
            self.sums += 1
            if (table != before).any():
                self.known_sides[parts[i].tobytes()] = first
                self.known_sides[(rows & ~parts[i]).tobytes()] = second
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

    # -- the tree behind a point -------------------------------------------------------------------

    def read(self, rows: np.ndarray, depth: int, point: Point, split: Split | None = None) -> Node:
        """A tree that has the numbers of a point of the front of a set; `split` is at its root.

        The fronts of its parts must have been made before any better incumbent than this tree was
        found.
        """
        before = self.allowed, self.check, self.beside
        with (
            without_callback()
        ):  # the tree is wanted after any limit, that of the user's function too
            unlimited = Watch(Limits(time=None))
        self.allowed, self.check, self.beside = self.whole, lambda: None, unlimited.beside
        try:
            if split is None:
                return self.tree(rows, depth, point)
            a, b = (
                self.known_sides[side.tobytes()] if depth == 3 else self.front(side, depth - 1)
                for side in split[1:]
            )
            found = summands(a, b, point)
            assert found is not None
            left, right = (
                self.tree(*side) for side in zip(split[1:], (depth - 1,) * 2, found, strict=True)
            )
            return Branch(self.features[split.test], left, right)
        finally:
            self.allowed, self.check, self.beside = before

    def tree(self, state: np.ndarray, depth: int, point: Point, most: int | None = None) -> Node:
        if depth > self.levels or self.leaf(state, point) is not None:
            return super().tree(state, depth, point)
        target, sizes = np.array(point, dtype=np.int64), self.sizes(state)
        f, up = kernels.find_one(side_counts(state, self.tests, self.ups), sizes, target)
        if f >= 0:
            return Branch(self.features[f], self.label(not up), self.label(up))
        if depth == 2:
            pairs, table = self.pairs(state), self.empty.copy()
            work = partial(kernels.find_two, table, self.allowed, pairs, sizes, target)
            f, both = self.compiled(4 + self.area(), work)
            if f >= 0:
                true = state & self.tests[f]
                parts = zip((state ^ true, true), both[::-1].tolist(), strict=True)
                left, right = (self.tree(part, 1, tuple(row)) for part, row in parts)
                return Branch(self.features[f], left, right)
        raise AssertionError("A point of the front has no tree.")
