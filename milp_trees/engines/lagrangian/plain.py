"""The algorithm of `lagrangian` in plain Python, on one page: its specification.

A set of rows is an integer whose bits are the rows. A vector of a tree is (cost, total of every
limit, leaves if they are limited); a side row with two bounds is two limits, `total <= limit`. The
price of a vector is its scalar product with the weights (1, multipliers, 0). Differences: `dp` finds
the lowest tree; the multipliers of several rows come from a linear programme, here from one limit
after the other; at the root, lists are sorted and swept instead of listing all pairs.
`tests/unit/engines/test_plain_lagrangian.py` compares it with the engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

Vector = tuple[int, ...]


class PlainLagrangian:
    """The best bound over multipliers, and the best feasible tree.

    Parameters
    ----------
    view : CostMatrix
        Reduced, with its side rows.
    space : Trees
    """

    def __init__(self, view: CostMatrix, space: Trees) -> None:
        n, F = view.X.shape
        acts = [(row, s, at) for row in view.side for s, at in ((1, row.upper), (-1, row.lower))]
        acts = [(row, s, at) for row, s, at in acts if at is not None]
        self.limits = [s * int(at or 0) for _, s, at in acts]
        matrices = [view.costs, *(s * row.coefs for row, s, _ in acts), np.zeros_like(view.costs)]
        self.values = np.stack(matrices, axis=2).tolist()
        self.K, counted = view.n_actions, int(space.limits_leaves)
        self.leaf = (view.leaf_cost, *[0] * len(acts), counted)
        self.split, self.leaves = view.split_costs.tolist(), space.max_leaf_nodes or n
        amounts, self.least = zip((view.counts, max(1, space.min_samples_leaf)), *view.leaf_minima)
        self.amounts = np.column_stack(amounts).tolist()
        self.tests = [sum(1 << r for r in range(n) if view.X[r, f]) for f in range(F)]
        self.everything, self.depth = (1 << n) - 1, min(space.depth, F, n - 1)
        largest = view.leaf_cost + int(view.split_costs.max(initial=0))
        #: No tree costs more.
        self.most = int(view.costs.max(axis=1).sum()) + largest * 2**self.depth
        self.weights: list[Fraction] = [Fraction(1), *[Fraction(0)] * len(acts), Fraction(0)]
        self.table: dict[tuple[int, int], Vector | None] = {}

    def price(self, vector: Vector) -> Fraction:
        """Cost plus the totals at their multipliers."""
        return sum((w * v for w, v in zip(self.weights, vector, strict=True)), Fraction(0))

    def free(self) -> Fraction:
        """What the limits take back of a price."""
        return sum((w * b for w, b in zip(self.weights[1:-1], self.limits)), Fraction(0))

    # -- trees ---------------------------------------------------------------------------------------

    def stops(self, bits: int) -> list[Vector]:
        """The vectors of a leaf with each action; none if the set is too small."""
        rows = [r for r in range(bits.bit_length()) if bits >> r & 1]
        if any(sum(self.amounts[r][m] for r in rows) < b for m, b in enumerate(self.least)):
            return []
        parts = ([self.leaf, *(self.values[r][k] for r in rows)] for k in range(self.K))
        return [tuple(map(sum, zip(*part, strict=True))) for part in parts]

    def sides(self, bits: int, depth: int) -> Iterator[tuple[int, int, int]]:
        """(test, left side, right side) of the tests that divide a set."""
        for f, test in enumerate(self.tests if depth else []):
            if bits & test and bits & ~test:
                yield f, bits & ~test, bits & test

    def join(self, f: int, left: Vector, right: Vector) -> Vector:
        """The vector of a tree with test f at its root."""
        cost, *more = (a + b for a, b in zip(left, right, strict=True))
        return (cost + self.split[f], *more)

    def lowest(self, bits: int, depth: int) -> Vector | None:
        """The vector with the least price of a tree on a set; the limit on leaves is ignored."""
        if (bits, depth) not in self.table:
            found = self.stops(bits)
            for f, left, right in self.sides(bits, depth):
                one, other = self.lowest(left, depth - 1), self.lowest(right, depth - 1)
                if one and other:
                    found.append(self.join(f, one, other))
            self.table[bits, depth] = min(found, key=self.price, default=None)
        return self.table[bits, depth]

    def vectors(self, bits: int, depth: int, allowance: Fraction) -> list[Vector]:
        """The vectors of all trees on a set whose price is at most an allowance.

        Of equal totals only the least cost is kept.
        """
        kept: dict[Vector, int] = {}
        found = self.stops(bits)
        for f, left, right in self.sides(bits, depth):
            one, other = self.lowest(left, depth - 1), self.lowest(right, depth - 1)
            if one and other:
                rest = allowance - self.weights[0] * self.split[f]
                ways = self.vectors(left, depth - 1, rest - self.price(other))
                others = self.vectors(right, depth - 1, rest - self.price(one))
                found += [self.join(f, u, v) for u in ways for v in others]
        for cost, *totals in filter(lambda v: self.price(v) <= allowance, found):
            if totals[-1] <= self.leaves:
                kept[tuple(totals)] = min(cost, kept.get(tuple(totals), cost))
        return [(cost, *totals) for totals, cost in kept.items()]

    # -- bound and optimum ---------------------------------------------------------------------------

    def ask(self, weights: list[Fraction]) -> Vector | None:
        """The lowest tree at some weights, which are kept."""
        self.weights, self.table = weights, {}
        return self.lowest(self.everything, self.depth)

    def maximise(self) -> Fraction | None:
        """The bound at the best multipliers, one limit after the other; None if it is infeasible.

        For one side row these are the best of all.
        """
        for i in range(1, 1 + len(self.limits)):
            if not self.raise_one(i):
                return None
        lowest = self.ask(self.weights)
        return self.price(lowest) - self.free() if lowest else None

    def raise_one(self, i: int) -> bool:
        """Raise a multiplier to where a tree within the limit costs as much as one above it.

        Returns False if no tree is within the limit.
        """
        without = [*self.weights[:i], Fraction(0), *self.weights[i + 1 :]]
        least = self.ask([Fraction(k == i) for k in range(len(without))])
        low = self.ask(without)
        if least is None or low is None or least[i] > self.limits[i - 1]:
            return False
        high, weights = least, without
        while low[i] > self.limits[i - 1]:
            self.weights = without
            slope = (self.price(high) - self.price(low)) / (low[i] - high[i])
            weights = [*without[:i], slope, *without[i + 1 :]]
            found = self.ask(weights)
            if found is None or self.price(found) >= self.price(low):
                break
            if found[i] > self.limits[i - 1]:
                low = found
            else:
                high = found
        self.ask(weights)
        return True

    def objective(self) -> int | None:
        """Objective of the best feasible tree, None if there is none: the target rises to it."""
        bound, step = self.maximise(), 0
        while bound is not None and bound <= self.most:
            target = min(math.ceil(bound) + step, self.most)
            found = self.vectors(self.everything, self.depth, target + self.free())
            fits = [v[0] for v in found if all(map(int.__le__, v[1:-1], self.limits))]
            if min(fits, default=target + 1) <= target:
                return min(fits)
            bound, step = Fraction(target + 1), 2 * step + 1
        return None
