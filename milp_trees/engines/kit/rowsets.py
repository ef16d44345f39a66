"""Sets of rows as 64-bit words, and the table that finds a set by its hash. Loads numba.

Bit r % 64 of word r // 64 is row r. A table of sets has two parts: `sets`, of shape (room, words),
in which set number i is row i, and `slots`, a power of two of uint64 numbers: 0 where a slot is
free, else the upper half of the hash and the number of the set plus one. A caller keeps `sets` and
counts it; it makes `slots` larger (`rehash`) before it is more than half full. All words are
compared, so two sets are never taken for one. Vectors of whole numbers are sets in this sense too.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

import numpy as np

from milp_trees.common.compiling.kernels import kernel

_MIX = np.uint64(0xBF58476D1CE4E5B9)
_GOLD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_HIGH = np.uint64(0xFFFFFFFF00000000)
_LOW = np.uint64(0x00000000FFFFFFFF)


def pack(X: np.ndarray) -> np.ndarray:
    """The columns of a matrix of 0 and 1 as sets of rows."""
    n, M = X.shape
    width = max(1, -(-n // 64)) * 64
    bits = np.zeros((M, width), dtype=np.uint8)
    bits[:, :n] = X.T
    packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return np.ascontiguousarray(packed.reshape(M, width // 64))


def all_rows(n: int) -> np.ndarray:
    """The set of all n rows, shape (words,)."""
    everything: np.ndarray = pack(np.ones((n, 1), dtype=np.uint8))[0]
    return everything


@kernel(allocates=False)
def meet(bits, other, target):
    """target = the rows in both sets."""
    for w in range(len(target)):
        target[w] = bits[w] & other[w]


@kernel(allocates=False)
def remove(bits, other, target):
    """target = the rows of `bits` that are not in `other`."""
    for w in range(len(target)):
        target[w] = bits[w] & ~other[w]


@kernel(allocates=False)
def copy(bits, target):
    """target = bits. (Between arrays, `target[:] = bits` is slow to compile.)"""
    for w in range(len(bits)):
        target[w] = bits[w]


@kernel(allocates=False)
def same(a, b):
    """Whether two sets have the same rows."""
    w = 0
    while w < len(a) and a[w] == b[w]:
        w += 1
    return w == len(a)


@kernel(allocates=False)
def mixed(word):
    """A word whose bits all depend on all bits of the given one."""
    word ^= word >> np.uint64(31)
    word *= _GOLD
    word ^= word >> np.uint64(29)
    word *= _MIX
    return word ^ (word >> _HALF)


@kernel(allocates=False)
def hash_of(bits):
    """A 64-bit hash of a set."""
    h = _GOLD
    for w in range(len(bits)):
        h = (h ^ np.uint64(bits[w])) * _MIX
        h ^= h >> _HALF
    return h * _GOLD


@kernel(allocates=False)
def find(slots, sets, bits, hashed):
    """Number of a set in a table, or -1 - the free slot in which it belongs."""
    last = len(slots) - 1
    at = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(last))
    while slots[at]:
        if (slots[at] ^ hashed) & _HIGH == 0:
            number = np.int64(slots[at] & _LOW) - 1
            if same(bits, sets[number]):
                return number
        at = (at + 1) & last
    return -1 - at


@kernel(allocates=False)
def occupy(slots, at, hashed, number):
    """Put the set of a number into the free slot that `find` returned as -1 - at."""
    slots[at] = (hashed & _HIGH) | np.uint64(number + 1)


@kernel(allocates=False)
def rehash(slots, sets, used):
    """Fill empty slots with the first `used` sets, which differ from each other."""
    for number in range(used):
        hashed = hash_of(sets[number])
        last = len(slots) - 1
        at = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(last))
        while slots[at]:
            at = (at + 1) & last
        occupy(slots, at, hashed, number)
