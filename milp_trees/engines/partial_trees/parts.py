"""Parts of the rows, each with the curves that trees on it can reach.

Curves are made when they are needed, and remembered by the set of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from milp_trees.engines.partial_trees import kernels
from milp_trees.engines.partial_trees.beside import Beside, LongKernels
from milp_trees.engines.partial_trees.bits import pack
from milp_trees.tasks.count_views import LeafCounts


@dataclass
class PartSplits:
    """The different splits of a part: the tests, and the two parts of each test."""

    tests: list[int]
    sides: list[tuple[RowPart, RowPart]]
    #: Per levels of the sides' curves: the steps of all splits one after the other, and the
    #: position at which each begins.
    curves: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


class RowPart:
    """A set of rows that is reached by a path of tests."""

    def __init__(self, number: int, rows: np.ndarray, p: int, q: int) -> None:
        self.number, self.rows, self.p, self.q = number, rows, p, q
        self.curves: dict[int, np.ndarray] = {0: np.array([[p, q]], dtype=np.int64)}
        self.splits: PartSplits | None = None
        self.last: PartSplits | None = None


class RowParts(LongKernels):
    """All parts that were met so far.

    Parameters
    ----------
    view : LeafCounts
    least : int
        Smallest number of rows in a leaf.
    hulls : int
        Largest depth for which the curve around all trees is computed (0: never).
    equal_rows : bool
        Whether deeper trees are bounded by groups of equal rows, or by perfect separation.
    dominance : bool
        Whether splits of the last level are left out if another split is better in every tree.
    check : callable
        Called before long work; it raises an error to stop the search.
    beside : callable
        Runs a function of `stop` that takes long (`Watch.beside`).
    """

    #: Stands for a depth beyond `hulls` among the levels of curves.
    BEYOND = 10**6

    def __init__(
        self,
        view: LeafCounts,
        least: int,
        hulls: int,
        equal_rows: bool,
        dominance: bool,
        check: Callable[[], None],
        beside: Beside,
    ) -> None:
        self.view, self.least, self.hulls = view, least, hulls
        self.equal_rows, self.dominance = equal_rows, dominance
        self.check, self.beside = check, beside
        self.tests, root, self.ups, self.order = pack(view)
        self.by_rows: dict[bytes, RowPart] = {}
        self.root = self.part(root)
        self.dominated = 0

    def part(self, rows: np.ndarray) -> RowPart:
        key = rows.tobytes()
        found = self.by_rows.get(key)
        if found is None:
            p, q = (
                kernels.count(rows, rows, 0, self.ups),
                kernels.count(rows, rows, self.ups, len(rows)),
            )
            found = self.by_rows[key] = RowPart(len(self.by_rows), rows, p, q)
        return found

    @cached_property
    def groups(self) -> tuple[np.ndarray, int]:
        """Group of equal rows of every bit, and their number."""
        _, where = np.unique(self.view.errors.X, axis=0, return_inverse=True)
        out = np.zeros(len(self.order), dtype=np.int64)
        filled = self.order >= 0
        out[filled] = where.ravel()[self.order[filled]]
        return out, int(where.max()) + 1

    def level(self, depth: int) -> int:
        """The number of the curve that bounds trees of a depth."""
        return depth if depth <= self.hulls else self.BEYOND

    def curve(self, part: RowPart, level: int) -> np.ndarray:
        """A curve that lies on or above that of every tree of this depth on the part."""
        found = part.curves.get(level)
        if found is None:
            found = part.curves[level] = self._curve(part, level)
        return found

    def _curve(self, part: RowPart, level: int) -> np.ndarray:
        if not part.p or not part.q:
            return part.curves[0]
        if level == self.BEYOND:
            return self._beyond(part)
        self.check()
        if level == 1:
            return kernels.one_split(
                kernels.side_counts(part.rows, self.tests, self.ups), part.p, part.q, self.least
            )
        if level == 2:
            sizes = (part.p, part.q, self.least)
            pairs = self.compiled(
                len(part.rows),
                lambda stop: kernels.pair_counts(part.rows, self.tests, self.ups, stop),
            )
            curve: np.ndarray = self.compiled(
                16, lambda stop: kernels.two_levels(pairs, *sizes, stop)
            )
            return curve
        return kernels.hull_of_curves(
            *self.side_curves(self.splits(part), level - 1), part.p, part.q
        )

    def _beyond(self, part: RowPart) -> np.ndarray:
        """The curve of groups of equal rows (or pure leaves) as leaves of their own."""
        if self.equal_rows:
            return kernels.by_slope(
                kernels.group_counts(part.rows, self.groups[0], self.ups, self.groups[1])
            )
        return np.array([[part.p, 0], [0, part.q]], dtype=np.int64)

    def splits(self, part: RowPart, last: bool = False) -> PartSplits:
        """The different splits of a part that leave enough rows on both sides.

        With `last` only those that are useful on the last level.
        """
        if last and self.dominance:
            if part.last is None:
                sides = kernels.side_counts(part.rows, self.tests, self.ups)
                sizes = (part.p, part.q, self.least)
                kept = self.compiled(1, lambda stop: kernels.undominated(sides, *sizes, stop))
                self.dominated += int((allowed(sides, part.p + part.q, self.least)).sum()) - len(
                    kept
                )
                part.last = self._split(part, kept)
            return part.last
        if part.splits is None:
            sides = kernels.side_counts(part.rows, self.tests, self.ups)
            part.splits = self._split(
                part, np.flatnonzero(allowed(sides, part.p + part.q, self.least))
            )
        return part.splits

    def _split(self, part: RowPart, tests: np.ndarray) -> PartSplits:
        out, seen = PartSplits([], []), set()
        true = part.rows & self.tests[tests]
        false = part.rows & ~self.tests[tests]
        for i, f in enumerate(tests.tolist()):
            left, right = self.part(false[i]), self.part(true[i])
            key = (min(left.number, right.number), max(left.number, right.number))
            if key not in seen:
                seen.add(key)
                out.tests.append(f)
                out.sides.append((left, right))
        return out

    def side_curves(
        self, splits: PartSplits, level: int, right_level: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """For every split, the curves of both sides, merged."""
        levels = (level, level if right_level is None else right_level)
        if levels not in splits.curves:
            merged = [
                kernels.merge(self.curve(left, levels[0]), self.curve(right, levels[1]))
                for left, right in splits.sides
            ]
            starts = np.zeros(len(merged) + 1, dtype=np.int64)
            np.cumsum([len(c) for c in merged], out=starts[1:])
            splits.curves[levels] = (
                np.concatenate(merged) if merged else np.zeros((0, 2), dtype=np.int64),
                starts,
            )
        return splits.curves[levels]


def allowed(sides: np.ndarray, n: int, least: int) -> np.ndarray:
    """Which tests leave at least `least` rows on both sides."""
    true = sides.sum(axis=1)
    return np.asarray((true >= least) & (n - true >= least))
