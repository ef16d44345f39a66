"""Search over sets of rows: for every combination of side totals, the cheapest tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

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


class Front(NamedTuple):
    """Keys and costs of the trees of a set, the cheapest first."""

    keys: np.ndarray
    costs: np.ndarray


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


class Search:
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

    def __init__(
        self, view: CostMatrix, space: Trees, keys: Keys, check: Callable[[], None]
    ) -> None:
        self.view, self.check, self.keys = view, check, keys
        self.size, self.n_actions = max(1, space.min_samples_leaf), view.n_actions
        self.X = np.ascontiguousarray(view.X)
        strides = keys.base[:, 1]
        actions = np.zeros((view.n_rows, view.n_actions), dtype=np.int64)
        ends = np.zeros((view.n_rows, 2 * len(strides)), dtype=np.int64)
        for j, row in enumerate(view.side):
            actions += row.coefs * strides[j]
            ends[:, j] = row.coefs.min(axis=1)
            ends[:, len(strides) + j] = row.coefs.max(axis=1)
        self.values = np.column_stack([view.counts, view.regret, actions, ends])
        per_leaf = int(strides[-1]) if len(strides) > len(view.side) else 0
        self.leaf = np.array([view.leaf_cost, per_leaf], dtype=np.int64)
        self.root = np.arange(view.n_rows)
        self.whole = kernels.set_sums(self.root, self.values)
        #: Only trees that cost less than this are looked for.
        self.below = int(kernels.EMPTY) - 1
        self.memo: dict[tuple[bytes, int], Front] = {}
        self.points = self.sets = 0

    def window(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the totals of a set.

        Outside them no labels of the other rows bring the whole within the side rows.
        """
        J = len(self.keys.base)
        rest = self.whole - sums
        least, most = rest[len(rest) - 2 * J : len(rest) - J], rest[len(rest) - J :]
        return self.keys.low - most, self.keys.high - least

    def front(self, rows: np.ndarray, depth: int) -> Front:
        """The cheapest trees of a set for all totals that can be completed."""
        name = self.name(rows), depth
        known = self.memo.get(name)
        if known is not None:
            return known
        self.check()
        self.sets += 1
        sums = kernels.set_sums(rows, self.values)
        low, high = self.window(sums)
        given = (self.keys.base, low, high, self.below)
        if depth <= 1:
            X = self.X if depth else np.zeros((len(self.X), 0), dtype=np.uint8)
            found = Front(
                *kernels.one_level(
                    rows,
                    X,
                    self.values,
                    self.size,
                    self.n_actions,
                    self.leaf,
                    self.view.split_costs,
                    *given,
                )
            )
        else:
            keys, costs = np.zeros(256, np.int64), np.full(256, kernels.EMPTY, np.int64)
            used = np.zeros(1, np.int64)
            keys, costs = kernels.put_leaf(
                keys, costs, used, sums, self.n_actions, self.leaf, *given
            )
            for f, false, true in self.splits(rows, sums):
                a, b = self.front(false, depth - 1), self.front(true, depth - 1)
                for part in _parts(a, b):
                    self.check()
                    keys, costs = kernels.merge(
                        keys, costs, used, *part, *b, int(self.view.split_costs[f]), *given
                    )
            found = Front(*kernels.front_of(keys, costs, used))
        self.points += len(found.keys)
        if len(found.keys) <= REMEMBERED:
            self.memo[name] = found
        return found

    def name(self, rows: np.ndarray) -> bytes:
        """What a set of rows is remembered by."""
        mask = np.zeros(self.view.n_rows, dtype=bool)
        mask[rows] = True
        return np.packbits(mask).tobytes()

    def splits(
        self, rows: np.ndarray, sums: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Features with enough rows on both sides, and the rows of the sides."""
        true = kernels.side_sums(rows, self.X, self.values)[:, 0]
        enough = (true >= self.size) & (sums[0] - true >= self.size)
        for f in np.flatnonzero(enough).tolist():
            yield (f, *kernels.divide(rows, self.X, f))

    def best(self, depth: int) -> Iterator[tuple[int, Node]]:
        """Trees of all rows within the side rows, each cheaper than the one before."""
        if self.whole[0] < self.size:
            return
        none = Front(np.zeros(1, np.int64), np.zeros(1, np.int64))
        base, low, high = self.keys
        leaves = self.front(self.root, 0)
        cost, i, _ = kernels.best_pair(*leaves, *none, 0, base, low, high, self.below)
        if i >= 0:
            self.below = int(cost)
            yield self.below, self.tree(self.root, 0, int(leaves.keys[i]), self.below)
        if not depth:
            return
        for f, false, true in self.splits(self.root, self.whole):
            a = self.front(false, depth - 1)
            b = self.front(true, depth - 1) if len(a.keys) else a
            price = int(self.view.split_costs[f])
            for part in _parts(a, b):
                self.check()
                cost, i, j = kernels.best_pair(*part, *b, price, base, low, high, self.below)
                if i < 0:
                    continue
                parts = [
                    self.tree(rows, depth - 1, int(of.keys[k]), int(of.costs[k]))
                    for rows, of, k in ((false, part, i), (true, b, j))
                ]
                self.below = int(cost)
                yield self.below, Branch(self.view.features[f], parts[0], parts[1])

    def tree(self, rows: np.ndarray, depth: int, key: int, cost: int) -> Node:
        """A tree with a key and a cost of the front of a set."""
        sums, K = kernels.set_sums(rows, self.values), self.n_actions
        for k in range(K):
            if (sums[1 + k] + self.leaf[0], sums[1 + K + k] + self.leaf[1]) == (cost, key):
                return Leaf(k)
        for f, false, true in self.splits(rows, sums):
            a, b = self.front(false, depth - 1), self.front(true, depth - 1)
            left = cost - int(self.view.split_costs[f])
            other = set(zip(b.keys.tolist(), b.costs.tolist(), strict=True))
            for q, c in zip(a.keys.tolist(), a.costs.tolist(), strict=True):
                if (key - q, left - c) in other:
                    return Branch(
                        self.view.features[f],
                        self.tree(false, depth - 1, q, c),
                        self.tree(true, depth - 1, key - q, left - c),
                    )
        raise AssertionError("A point of the front has no tree.")


def _parts(a: Front, b: Front) -> Iterator[Front]:
    """A front in parts, so that the sums with another one take a moment each."""
    step = max(1, MOMENT // max(1, len(b.keys)))
    for begin in range(0, len(a.keys), step):
        yield Front(a.keys[begin : begin + step], a.costs[begin : begin + step])
