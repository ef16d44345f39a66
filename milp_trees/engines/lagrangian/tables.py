"""Vectors (cost, totals…) with the smallest cost for equal totals. Loads numba."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from milp_trees.engines.lagrangian import vector_kernels as compiled
from milp_trees.engines.lagrangian.vector_kernels import SortedVectors, VectorSlots

#: Larger than every cost, price and total.
FAR = 2**61
#: Vectors that a table has room for at first.
ROOM = 2**8


def within_far(bound: int) -> int:
    """A bound as a number that 64 bits hold; beyond `FAR` it excludes nothing, or everything."""
    return max(-FAR, min(FAR, bound))


class VectorTable:
    """Vectors with different totals, each with the smallest cost.

    Parameters
    ----------
    J : int
        Length of a vector.
    tick : callable
        Called with the bytes of every growth; it raises an error where there is no room.

    Attributes
    ----------
    slots : VectorSlots
        What the kernels read and write.
    bytes : int
        What growing took.
    """

    def __init__(self, J: int, tick: Callable[[int], None]) -> None:
        self.tick, self.bytes = tick, 0
        self.slots = VectorSlots(
            np.empty((ROOM, J), dtype=np.int64),
            np.full(2 * ROOM, -1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )

    def insert(self, vector: np.ndarray) -> None:
        """Keep a vector, unless one with equal totals costs no more."""
        if not compiled.insert(self.slots, vector):
            self.grow()
            compiled.insert(self.slots, vector)

    def grow(self) -> None:
        """Make room for four times as many vectors."""
        rows, numbers, used = self.slots
        more = 3 * (rows.nbytes + numbers.nbytes)
        self.tick(more)
        self.bytes += more
        empty = np.empty((3 * len(rows), rows.shape[1]), dtype=np.int64)
        rows = np.concatenate([rows, empty])
        self.slots = VectorSlots(rows, np.full(2 * len(rows), -1, dtype=np.int64), used)
        compiled.rehash(self.slots)

    def sorted(self, weights: np.ndarray) -> SortedVectors:
        """The vectors by their prices, the scalar products with the weights."""
        rows = self.slots.rows[: int(self.slots.used[0])]
        prices = rows @ weights
        order = np.argsort(prices, kind="stable")
        return SortedVectors(np.ascontiguousarray(rows[order]), prices[order])
