r"""The linear splits of a few rows, exactly: all of them, with the widest gap of each.

Let the weights w have fixed signs, and :math:`\sum_j|w_j|R_j=1`. The gap between two sets of rows is
then a concave, piecewise linear function of w, so it is largest at a vertex of a cell on which it is
linear: where p - 1 independent equations hold that are :math:`w_j=0`, or :math:`w^\top x_i=w^\top
x_{i'}` for two rows of the same set. So the weights that satisfy p - 1 such equations, of whichever
rows, are all the directions that must be looked at, and along each of them the rows are split
between sums that differ. With integer coordinates everything is an integer.

Of splits that must have a price per column the same holds: a split on some columns alone has its
widest gap where the other weights are 0, which are equations of the kind above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from milp_trees.oblique.columns import NumericColumns

#: Sums that are below this are computed in 64 bits.
FITS = 2**62
#: A set of rows is an integer of 64 bits.
MOST_ROWS = 62


def n_directions(n_rows: int, p: int) -> int:
    """An upper bound of the number of directions of n rows with p columns."""
    return math.comb(math.comb(n_rows, 2) + p, p - 1) if p else 0


def n_splits(n_rows: int, p: int) -> int:
    """Largest number of linear splits of n points in p columns, with those that split nothing."""
    return sum(math.comb(max(n_rows - 1, 0), k) for k in range(p + 1))


@dataclass(frozen=True)
class Split:
    """One way to separate rows.

    Parameters
    ----------
    below : int
        The rows with the smaller sums, a bit per row.
    direction : int
        Number of the direction.
    price : int
        What its columns cost.
    """

    below: int
    direction: int
    price: int


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of all rows.

    Parameters
    ----------
    columns : NumericColumns
    gap : Fraction
        Splits with a smaller gap are left out.
    prices : int array of shape (p,)
        What every column costs in a split.
    """

    columns: NumericColumns
    gap: Fraction
    prices: np.ndarray

    @cached_property
    def weights(self) -> list[tuple[int, ...]]:
        """Weights of the columns in steps, each pair of opposite directions once."""
        points = list(dict.fromkeys(map(tuple, self.columns.whole.tolist())))
        p = len(self.columns.names)
        axes = [tuple(int(j == k) for k in range(p)) for j in range(p)]
        apart = [
            tuple(a - b for a, b in zip(x, y, strict=True)) for x, y in combinations(points, 2)
        ]
        equations = list(dict.fromkeys([*axes, *map(primitive, apart)]))
        found = (orthogonal(chosen, p) for chosen in combinations(equations, max(p - 1, 0)))
        return list(dict.fromkeys(w for w in found if any(w)))

    @cached_property
    def sums(self) -> np.ndarray:
        """Weighted sums of all rows, exact; shape (n, directions)."""
        out = self.columns.whole @ np.array(self.weights, dtype=object).T
        small = all(abs(x) < FITS for x in (out.min(), out.max()))
        return out.astype(np.int64) if small else out

    @cached_property
    def needed(self) -> np.ndarray:
        """The smallest difference of two sums next to the bound, per direction."""
        sizes = [
            sum(abs(w) * r for w, r in zip(one, self.columns.extent, strict=True))
            for one in self.weights
        ]
        out = np.array([math.ceil(self.gap * size) for size in sizes], dtype=object)
        return out.astype(self.sums.dtype)

    @cached_property
    def paid(self) -> list[int]:
        """What the columns of every direction cost."""
        prices = self.prices.tolist()
        return [sum(c for c, w in zip(prices, one, strict=True) if w) for one in self.weights]

    def splits(self, rows: int) -> Iterator[Split]:
        """The splits of some rows (a bit per row), each once, for the lowest price."""
        here = np.array([i for i in range(len(self.sums)) if rows >> i & 1], dtype=np.int64)
        if len(here) < 2 or not self.weights:
            return
        sums = self.sums[here]
        order = np.argsort(sums, axis=0, kind="stable")
        steps = np.diff(np.take_along_axis(sums, order, axis=0), axis=0)
        below = np.cumsum((np.int64(1) << here)[order], axis=0)[:-1]
        at, direction = np.nonzero((steps > 0) & (steps >= self.needed))
        known: dict[int, Split] = {}
        for k, d in zip(at.tolist(), direction.tolist(), strict=True):
            mask = int(below[k, d])
            mask = min(mask, rows & ~mask)  # a split and its opposite are one
            if mask not in known or self.paid[d] < known[mask].price:
                known[mask] = Split(mask, d, self.paid[d])
        yield from known.values()


def primitive(vector: tuple[int, ...]) -> tuple[int, ...]:
    """The shortest integer vector along a line, the first entry other than 0 above 0."""
    divisor = math.gcd(*vector) or 1
    first = next((x for x in vector if x), 1)
    divisor = divisor if first > 0 else -divisor
    return tuple(x // divisor for x in vector)


def orthogonal(vectors: Any, p: int) -> tuple[int, ...]:
    """The primitive vector that is orthogonal to p - 1 vectors; zeros if they are dependent."""
    if p == 1:
        return (1,)
    if p == 2:
        ((x, y),) = vectors
        return primitive((-y, x))
    minors = [
        (-1) ** j * determinant([[v[k] for k in range(p) if k != j] for v in vectors])
        for j in range(p)
    ]
    return primitive(tuple(minors))


def determinant(matrix: list[list[int]]) -> int:
    """The determinant of a square matrix of integers, by elimination without fractions."""
    rows, sign, last = [list(row) for row in matrix], 1, 1
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // last
        last = rows[k][k]
    return sign * rows[-1][-1]
