"""Lists of vectors (cost, totals…) with the smallest cost for equal totals. Loads numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from milp_trees.engines.lagrangian import listing

#: Larger than every cost, price and total.
FAR = 2**61
#: Vectors that a bag has room for at first.
ROOM = 2**8


def within_far(bound: int) -> int:
    """A bound as a number that 64 bits hold; beyond `FAR` it excludes nothing, or everything."""
    return max(-FAR, min(FAR, bound))


class List(NamedTuple):
    """Vectors, one a row (cost, totals…), sorted by price; and their prices."""

    rows: np.ndarray
    prices: np.ndarray


class Bag:
    """Vectors with different totals, each with the smallest cost.

    Parameters
    ----------
    J : int
        Length of a vector.
    tick : callable
        Called with the bytes of every growth; it raises an error where there is no room.
    """

    def __init__(self, J: int, tick: Callable[[int], None]) -> None:
        self.tick = tick
        #: Bytes that growing took.
        self.bytes = 0
        self.rows = np.empty((ROOM, J), dtype=np.int64)
        self.slots = np.full(2 * ROOM, -1, dtype=np.int64)
        self.used = np.zeros(1, dtype=np.int64)

    def put(self, vector: np.ndarray) -> None:
        """Keep a vector, unless one with equal totals costs no more."""
        if not listing.put(self.rows, self.slots, self.used, vector):
            self.grow()
            listing.put(self.rows, self.slots, self.used, vector)

    def grow(self) -> None:
        """Make room for four times as many vectors."""
        more = 3 * (self.rows.nbytes + self.slots.nbytes)
        self.tick(more)
        self.bytes += more
        empty = np.empty((3 * len(self.rows), self.rows.shape[1]), dtype=np.int64)
        self.rows = np.concatenate([self.rows, empty])
        self.slots = np.full(2 * len(self.rows), -1, dtype=np.int64)
        listing.rehash(self.rows, self.slots, int(self.used[0]))

    def sorted(self, weights: np.ndarray) -> List:
        """The vectors by their prices, the scalar products with the weights."""
        rows = self.rows[: int(self.used[0])]
        prices = rows @ weights
        order = np.argsort(prices, kind="stable")
        return List(np.ascontiguousarray(rows[order]), prices[order])
