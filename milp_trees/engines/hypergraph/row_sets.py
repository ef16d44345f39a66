"""A table of the sets of rows of a level, on that of the kit. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.engines.kit.rowsets import copy, find, hash_of, occupy, rehash

ONE = np.uint64(1)


class SetTable(NamedTuple):
    """Different sets of rows in the order in which they were put in.

    Parameters
    ----------
    bits : uint64 array of shape (room, words)
    allowance : int64 array of shape (room,)
        The largest cost that a subtree on the set may have.
    slots : uint64 array, a power of two long
        Numbers of sets by their hashes (`engines.kit.rowsets`).
    used : int64 array of shape (1,)
        How many sets there are.
    """

    bits: np.ndarray
    allowance: np.ndarray
    slots: np.ndarray
    used: np.ndarray

    @classmethod
    def of(cls, room: int, words: int) -> SetTable:
        """An empty table."""
        return cls(
            np.empty((room, words), dtype=np.uint64),
            np.empty(room, dtype=np.int64),
            np.zeros(1 << max(1, (2 * room - 1).bit_length()), dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
        )

    def with_room(self, more: int) -> SetTable:
        """This table if it has room for some more sets, or a copy of twice its size or more."""
        n = int(self.used[0])
        if n + more <= len(self.bits):
            return self
        larger = SetTable.of(max(2 * len(self.bits), n + more), self.bits.shape[1])
        for old, new in zip(self[:2], larger[:2], strict=True):
            new[:n] = old[:n]
        larger.used[0] = n
        rehash(larger.slots, larger.bits, n)
        return larger


@kernel(allocates=False)
def fill(target, value):
    """Set all numbers of a vector to one. (`target[:] = value` is slow to compile.)"""
    for i in range(len(target)):
        target[i] = value


@kernel(allocates=False)
def lowest(word):
    """Position of the lowest one in a word that is not zero."""
    return np.int64(ones((word - ONE) & ~word))


@kernel(allocates=False)
def members(words, rows):
    """Row numbers of a set; returns how many."""
    m = 0
    for w in range(len(words)):
        word = words[w]
        while word:
            rows[m] = 64 * w + lowest(word)
            m += 1
            word &= word - ONE
    return m


@kernel(allocates=False)
def insert(words, table):
    """Number of a set; a new one gets the next number, and no allowance."""
    hashed = hash_of(words)
    at = find(table.slots, table.bits, words, hashed)
    if at >= 0:
        return at
    number = table.used[0]
    table.used[0] = number + 1
    occupy(table.slots, -1 - at, hashed, number)
    table.allowance[number] = -(2**62)
    copy(words, table.bits[number])
    return number


@kernel(allocates=False)
def contains_first(side, state):
    """Whether the state's first row is in a side of it.

    Of the two sides of every split exactly one contains it, so that side identifies the split.
    """
    for w in range(len(state)):
        if state[w]:
            return (side[w] & (state[w] & (~state[w] + ONE))) != 0
    return False
