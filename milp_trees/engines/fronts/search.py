"""The recursion of fronts: all trees on a set of rows, and the tree behind a value. Loads numba."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from milp_trees.engines.fronts import rows as sets
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import full_leaves

#: A set of rows, or a set with a context.
S = TypeVar("S")
#: A front of a set, in the arrays of an algebra.
F = TypeVar("F")
#: A table in which a front is made.
T = TypeVar("T")
#: A value of a front.
Point = tuple[int, ...]
#: Largest number of leaves on the left and on the right, or None where there is no limit.
Leaves = tuple[int | None, int | None]


class Split(NamedTuple):
    """A test, and the sets on both sides: false, then true."""

    test: int
    left: Any
    right: Any


class SplitSets(ABC, Generic[S]):
    """Sets of rows and their splits.

    Parameters
    ----------
    bits : PackedRows
    features : sequence of BinaryFeature
        What the tests mean.
    size : int
        Smallest number of rows in a leaf.
    check : callable
        Called before long work; it raises an error to stop the search.
    alike : bool
        Whether tests that divide a set in the same way have the same use.
    """

    def __init__(
        self,
        bits: sets.PackedRows,
        features: Sequence[Any],
        size: int,
        check: Callable[[], None],
        alike: bool,
    ) -> None:
        self.bits, self.tests, self.features = bits, bits.tests, features
        self.size, self.check, self.alike = size, check, alike
        self.memo: dict[Any, Any] = {}
        self.reused = 0

    def rows(self, state: S) -> np.ndarray:
        """The rows of a set."""
        return state  # type: ignore[return-value]

    def key(self, state: S) -> Any:
        """What a set is remembered by."""
        return self.rows(state).tobytes()

    def split(self, state: S, test: int, left: np.ndarray, right: np.ndarray) -> Split:
        """A split, from the rows of both sides."""
        return Split(test, left, right)

    def splits(self, state: S) -> Iterator[Split]:
        """Tests with enough rows on both sides; if they are alike, one for each way to divide."""
        rows, seen = self.rows(state), set()
        whole, true = sets.side_sizes(rows, self.bits.words, self.bits.sums)
        for f in np.flatnonzero((true >= self.size) & (whole - true >= self.size)).tolist():
            right = rows & self.tests[f]
            left = rows ^ right
            if self.alike:
                key = min(left.tobytes(), right.tobytes())
                if key in seen:
                    continue
                seen.add(key)
            yield self.split(state, f, left, right)


class FrontSearch(SplitSets[S], Generic[S, F, T]):
    """Fronts of sets, each made once; see `SplitSets`. An algebra is a subclass."""

    #: Levels of splits that `shallow` makes.
    levels = 2

    # -- the algebra -----------------------------------------------------------------------------

    @abstractmethod
    def shallow(self, state: S, depth: int, most: int | None) -> F:
        """The front of a set for few levels of splits, in one call of a kernel."""

    @abstractmethod
    def table(self, state: S) -> T:
        """A table for the front of a set, with its leaves."""

    @abstractmethod
    def merge(self, table: T, split: Split, a: F, b: F) -> None:
        """Enter all sums of a value of the left side and a value of the right side."""

    @abstractmethod
    def close(self, state: S, table: T) -> F:
        """The front of a set in its table."""

    @abstractmethod
    def leaf(self, state: S, point: Point) -> Leaf | None:
        """The leaf of a set that has a value, if there is one."""

    def find(
        self, state: S, split: Split, a: Any, b: Any, point: Point
    ) -> tuple[Point, Point] | None:
        """Values of both sides that a split makes a value of; by default it adds nothing."""
        return summands(a, b, point)

    def remember(self, key: Any, front: F) -> None:
        """Keep a front."""
        self.memo[key] = front

    # -- the recursion ---------------------------------------------------------------------------

    def front(self, state: S, depth: int, most: int | None = None) -> F:
        """The front of a set: the values of its trees of at most a depth and so many leaves."""
        most = limited(most, depth)
        key = (self.key(state), depth, most)
        known: F | None = self.memo.get(key)
        if known is not None:
            self.reused += 1
            return known
        made = (self.deep if depth > self.levels else self.shallow)(state, depth, most)
        self.remember(key, made)
        return made

    def deep(self, state: S, depth: int, most: int | None) -> F:
        """The front of a set from those of both sides of every split."""
        table = self.table(state)
        for split in self.splits(state):
            for leaves in shares_of(most, depth):
                self.merge(table, split, *self.sides(split, depth - 1, leaves))
        return self.close(state, table)

    def sides(self, split: Split, depth: int, leaves: Leaves = (None, None)) -> tuple[F, F]:
        """The fronts of both sides of a split."""
        left = self.front(split.left, depth, leaves[0])
        return left, self.front(split.right, depth, leaves[1])

    def tree(self, state: S, depth: int, point: Point, most: int | None = None) -> Node:
        """A tree with a value of the front of a set."""
        leaf = self.leaf(state, point)
        if leaf is not None:
            return leaf
        for split in self.splits(state):
            for leaves in shares_of(limited(most, depth), depth):
                a, b = self.sides(split, depth - 1, leaves)
                found = self.find(state, split, a, b, point)
                if found is not None:
                    return Branch(
                        self.features[split.test],
                        self.tree(split.left, depth - 1, found[0], leaves[0]),
                        self.tree(split.right, depth - 1, found[1], leaves[1]),
                    )
        raise AssertionError("A value of the front has no tree.")


def summands(a: np.ndarray, b: np.ndarray, point: Point) -> tuple[Point, Point] | None:
    """The first row of one array that makes a point with a row of another array, and that one."""
    rest = set(map(tuple, b.tolist()))
    for own, other in zip(a.tolist(), (np.array(point) - a).tolist(), strict=True):
        if tuple(other) in rest:
            return tuple(own), tuple(other)
    return None


def limited(most: int | None, depth: int) -> int | None:
    """A limit on the leaves of a tree of a depth; None if it does not matter."""
    return None if most is None or most >= full_leaves(depth) else most


def shares_of(most: int | None, depth: int) -> list[Leaves]:
    """How many leaves the two sides of a split may have at most."""
    if most is None:
        return [(None, None)]
    full = full_leaves(depth - 1)
    return [(k, most - k) for k in range(1, most) if k <= full and most - k <= full]
