"""Search over sets of rows: for every combination of side totals, the cheapest tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.fronts import rows as sets
from milp_trees.engines.fronts.search import FrontSearch, Point, Split, summands
from milp_trees.engines.side_fronts import kernels
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

#: Keys must stay below this.
LARGEST_KEY = 2**61
#: Stands for a side row without a bound on one side.
UNBOUNDED = 2**61
#: Fronts with more points are made again instead of remembered.
REMEMBERED = 20_000
#: Sums of two points that one call makes at most, between two checks of the limits.
MOMENT = 5_000_000


class SideFront(NamedTuple):
    """Keys and costs of the trees of a set, the cheapest first."""

    keys: np.ndarray
    costs: np.ndarray

    def point(self, i: int) -> Point:
        """A key and its cost."""
        return int(self.keys[i]), int(self.costs[i])


#: See `kernels`.
Useful = tuple[np.ndarray, np.ndarray, np.ndarray, int]


@dataclass
class SideTable:
    """A table in which a front is made, and which points of it are of use."""

    points: tuple[np.ndarray, np.ndarray, np.ndarray]
    useful: Useful


class Keys(NamedTuple):
    """How the totals of side rows are written as one integer.

    Parameters
    ----------
    base : int64 array of shape (rows, 3)
        Smallest total, stride and number of digits.
    low, high : int64 arrays of shape (rows,)
        Bounds of the whole tree.
    """

    base: np.ndarray
    low: np.ndarray
    high: np.ndarray


def keys_of(view: CostMatrix, most_leaves: int | None) -> Keys | None:
    """The keys of a view; None if totals need more than 61 bits.

    A limit on leaves is one more row, of which every leaf adds 1.
    """
    base, low, high, stride = [], [], [], 1
    for row in view.side:
        least = int(np.minimum(row.coefs.min(axis=1), 0).astype(object).sum())
        most = int(np.maximum(row.coefs.max(axis=1), 0).astype(object).sum())
        base.append((least, stride, most - least + 1))
        low.append(-UNBOUNDED if row.lower is None else row.lower)
        high.append(UNBOUNDED if row.upper is None else row.upper)
        stride *= most - least + 1
    if most_leaves is not None:
        base.append((0, stride, 2 * most_leaves + 1))
        low.append(0)
        high.append(most_leaves)
        stride *= 2 * most_leaves + 1
    if stride > LARGEST_KEY:
        return None
    limit = [max(-UNBOUNDED, min(UNBOUNDED, v)) for v in (*low, *high)]
    bounds = np.array(limit, dtype=np.int64).reshape(2, -1)
    return Keys(np.array(base, dtype=np.int64).reshape(-1, 3), bounds[0], bounds[1])


class SideRowFronts(FrontSearch[np.ndarray, SideFront, SideTable]):
    """Fronts of sets of rows.

    Parameters
    ----------
    view : CostMatrix
        Reduced; penalties and test costs are at least 0.
    space : Trees
    keys : Keys
    check : callable
        Called before long work; it raises an error to stop the search.
    """

    levels = 1

    def __init__(
        self, view: CostMatrix, space: Trees, keys: Keys, check: Callable[[], None]
    ) -> None:
        self.keys, self.n_actions, self.prices = keys, view.n_actions, view.split_costs
        strides = keys.base[:, 1]
        actions = np.zeros((view.n_rows, view.n_actions), dtype=np.int64)
        ends = np.zeros((view.n_rows, 2 * len(strides)), dtype=np.int64)
        for j, row in enumerate(view.side):
            actions += row.coefs * strides[j]
            ends[:, j] = row.coefs.min(axis=1)
            ends[:, len(strides) + j] = row.coefs.max(axis=1)
        bits = sets.pack(view.X, np.column_stack([view.counts, view.regret, actions, ends]))
        super().__init__(bits, view.features, max(1, space.min_samples_leaf), check, alike=False)
        per_leaf = int(strides[-1]) if len(strides) > len(view.side) else 0
        self.leaf_price = np.array([view.leaf_cost, per_leaf], dtype=np.int64)
        self.root = bits.root
        self.whole = sets.set_sums(self.root, bits.sums)
        #: Bits that hold rows.
        self.filled = np.flatnonzero(np.unpackbits(self.root.view(np.uint8)))
        self.sparse = len(self.root) > max(64, len(self.filled) // 8)
        self.no_words = bits.words[:, :0].copy()
        #: Only trees that cost less than this are looked for.
        self.below = int(kernels.EMPTY) - 1
        self.n_sets = self.n_points = 0

    def key(self, state: np.ndarray) -> bytes:
        """The bits that hold rows, if whole words would take much more memory."""
        if not self.sparse:
            return state.tobytes()
        return np.packbits(np.unpackbits(state.view(np.uint8))[self.filled]).tobytes()

    @property
    def useful(self) -> Useful:
        """Which points of all rows are part of a better tree."""
        return (*self.keys, self.below)

    # -- the algebra (see `FrontSearch`) -----------------------------------------------------------

    def shallow(self, state: np.ndarray, depth: int, most: int | None) -> SideFront:
        self.check()
        words = self.bits.words if depth else self.no_words
        given = (self.bits.sums, self.size, self.leaf_price, self.prices, self.whole, self.useful)
        return SideFront(*kernels.one_level(state, words, *given))

    def table(self, state: np.ndarray) -> SideTable:
        self.check()
        whole = sets.set_sums(state, self.bits.sums)
        useful = kernels.window(whole, self.whole, self.useful)
        table = kernels.put_leaf(kernels.new_table(256), whole, self.leaf_price, useful)
        return SideTable(table, useful)

    def merge(self, table: SideTable, split: Split, a: SideFront, b: SideFront) -> None:
        for part in _parts(a, b):
            self.check()
            price = int(self.prices[split.test])
            table.points = kernels.merge(table.points, part, tuple(b), price, table.useful)

    def close(self, state: np.ndarray, table: SideTable) -> SideFront:
        return SideFront(*kernels.front_of(table.points))

    def leaf(self, state: np.ndarray, point: Point) -> Leaf | None:
        whole, (cost, key) = sets.set_sums(state, self.bits.sums), self.leaf_price
        K = self.n_actions
        for k in range(K):
            if (whole[1 + K + k] + key, whole[1 + k] + cost) == point:
                return Leaf(k)
        return None

    def find(
        self, state: np.ndarray, split: Split, a: SideFront, b: SideFront, point: Point
    ) -> tuple[Point, Point] | None:
        rest = (point[0], point[1] - int(self.prices[split.test]))
        return summands(np.column_stack(a), np.column_stack(b), rest)

    def remember(self, key: Any, front: SideFront) -> None:
        self.n_sets += 1
        self.n_points += len(front.keys)
        if len(front.keys) <= REMEMBERED:
            super().remember(key, front)

    # -- all rows ----------------------------------------------------------------------------------

    def best(self, depth: int) -> Iterator[tuple[int, Node]]:
        """Trees of all rows within the side rows, each cheaper than the one before."""
        if self.whole[0] < self.size:
            return
        none = (np.zeros(1, np.int64), np.zeros(1, np.int64))
        leaves = self.front(self.root, 0)
        cost, i, _ = kernels.best_pair(tuple(leaves), none, 0, self.useful)
        if i >= 0:
            self.below = int(cost)
            yield self.below, self.tree(self.root, 0, leaves.point(i))
        for split in self.splits(self.root) if depth else ():
            a = self.front(split.left, depth - 1)
            b = self.front(split.right, depth - 1) if len(a.keys) else a
            price = int(self.prices[split.test])
            for part in _parts(a, b):
                self.check()
                cost, i, j = kernels.best_pair(part, tuple(b), price, self.useful)
                if i >= 0:
                    left = self.tree(split.left, depth - 1, SideFront(*part).point(i))
                    right = self.tree(split.right, depth - 1, b.point(j))
                    self.below = int(cost)
                    yield self.below, Branch(self.features[split.test], left, right)


def _parts(a: SideFront, b: SideFront) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """A front in parts, so that the sums with another one take a moment each."""
    step = max(1, MOMENT // max(1, len(b.keys)))
    for begin in range(0, len(a.keys), step):
        yield a.keys[begin : begin + step], a.costs[begin : begin + step]
