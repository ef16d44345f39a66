"""Compiled work on sets of rows as bit strings: a table of different sets. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.words import copy, lowest

MULTIPLY = np.uint64(0xBF58476D1CE4E5B9)
SEED = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
ONE = np.uint64(1)


class SetTable(NamedTuple):
    """Different sets of rows in the order in which they were put in, found by their hashes.

    Parameters
    ----------
    bits : uint64 array of shape (room, words)
    hashes : uint64 array of shape (room,)
    allowance : int64 array of shape (room,)
        The largest cost that a subtree on the set may have.
    slots : int64 array, a power of two long
        Numbers of sets by their hashes, -1 where a slot is free.
    used : int64 array of shape (1,)
        How many sets there are.
    """

    bits: np.ndarray
    hashes: np.ndarray
    allowance: np.ndarray
    slots: np.ndarray
    used: np.ndarray

    @classmethod
    def of(cls, room: int, words: int) -> SetTable:
        """An empty table."""
        return cls(
            np.empty((room, words), dtype=np.uint64),
            np.empty(room, dtype=np.uint64),
            np.empty(room, dtype=np.int64),
            np.full(1 << max(1, (2 * room - 1).bit_length()), -1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )

    def with_room(self, more: int) -> SetTable:
        """A table that has room for some more sets: this one, or a copy of at least twice its size."""
        n = int(self.used[0])
        if n + more <= len(self.bits):
            return self
        larger = SetTable.of(max(2 * len(self.bits), n + more), self.bits.shape[1])
        for old, new in zip(self[:3], larger[:3], strict=True):
            new[:n] = old[:n]
        larger.used[0] = n
        rehash(larger)
        return larger


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
def hash_of(words):
    """The hash of a set."""
    h = SEED
    for w in words:
        h = (h ^ w) * MULTIPLY
        h ^= h >> SHIFT
    return h


@kernel(allocates=False)
def equal(a, b):
    """Whether two vectors of one length are equal."""
    w = 0
    while w < len(a) and a[w] == b[w]:
        w += 1
    return w == len(a)


@kernel(allocates=False)
def insert(words, table):
    """Number of a set; a new one gets the next number, and no allowance."""
    h, last = hash_of(words), len(table.slots) - 1
    slot = np.int64(h & np.uint64(last))
    while table.slots[slot] >= 0:
        at = table.slots[slot]
        if table.hashes[at] == h and equal(table.bits[at], words):
            return at
        slot = (slot + 1) & last
    at = table.used[0]
    table.used[0] = at + 1
    table.slots[slot] = at
    table.hashes[at] = h
    table.allowance[at] = -(2**62)
    copy(words, table.bits[at])
    return at


@kernel(allocates=False)
def rehash(table):
    """Fill the empty slots of a table."""
    last = len(table.slots) - 1
    for i in range(table.used[0]):
        slot = np.int64(table.hashes[i] & np.uint64(last))
        while table.slots[slot] >= 0:
            slot = (slot + 1) & last
        table.slots[slot] = i


@kernel(allocates=False)
def contains_first(side, state):
    """Whether the state's first row is in a side of it.

    Of the two sides of every split exactly one contains it, so that side identifies the split.
    """
    for w in range(len(state)):
        if state[w]:
            return (side[w] & (state[w] & (~state[w] + ONE))) != 0
    return False
