"""Sets of rows as 64-bit words: sums of costs over a set, and a table of sets. Loads numba.

Bit r % 64 of word r // 64 is row r. The rows are those of a reduced view, each of which stands for
a class of equal rows, so most data need a few words only. A sum of costs over a set is one look-up
per byte: `byte_sums` holds, for every byte of a set and each of its 256 values, the sums of the
costs of its rows. A table of sets finds a set by its hash and compares all of its words, so two
sets are never taken for one.
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


def pack_columns(X: np.ndarray) -> np.ndarray:
    """The columns of a matrix of 0 and 1 as sets of rows."""
    n, M = X.shape
    width = max(1, -(-n // 64)) * 64
    bits = np.zeros((M, width), dtype=np.uint8)
    bits[:, :n] = X.T
    packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return np.ascontiguousarray(packed.reshape(M, width // 64))


def all_rows(n: int) -> np.ndarray:
    """The set of all n rows, shape (words,)."""
    everything: np.ndarray = pack_columns(np.ones((n, 1), dtype=np.uint8))[0]
    return everything


def byte_sums(amounts: np.ndarray) -> np.ndarray:
    """Sums of amounts over the rows of every byte of a set."""
    n, K = amounts.shape
    padded = np.zeros((max(1, -(-n // 64)) * 64, K), dtype=np.int64)
    padded[:n] = amounts
    by_byte = padded.reshape(-1, 8, K)
    sums = np.zeros((len(by_byte), 256, K), dtype=np.int64)
    for j in range(8):  # the values with highest bit j are those below 2^j, with row j added
        sums[:, 1 << j : 2 << j] = sums[:, : 1 << j] + by_byte[:, j : j + 1]
    return sums


@kernel(allocates=False)
def add_up(bits, sums, total):
    """total[k] = sum of column k over the set `bits`."""
    for k in range(len(total)):
        total[k] = 0
    for w in range(len(bits)):
        rest, b = bits[w], 8 * w
        while rest:
            value = np.int64(rest & np.uint64(255))
            for k in range(len(total)):
                total[k] += sums[b, value, k]
            rest >>= np.uint64(8)
            b += 1


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
def hash_of(bits):
    """A 64-bit hash of a set."""
    h = _GOLD
    for w in range(len(bits)):
        h = (h ^ bits[w]) * _MIX
        h ^= h >> _HALF
    return h * _GOLD


# A table of sets has two parts: `sets`, shape (room, words), in which set number i is row i, and
# `slots`, a power of two of uint64 numbers, 0 where a slot is free, else the upper half of the
# hash and the number of the set plus one. Callers keep `sets` and count it; they make `slots`
# larger (`rehash`) before it is more than half full.


@kernel(allocates=False)
def find(slots, sets, bits, hashed):
    """Number of a set in a table, or -1 - the free slot in which it belongs."""
    last = len(slots) - 1
    at = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(last))
    while slots[at]:
        if (slots[at] ^ hashed) & _HIGH == 0:
            number = np.int64(slots[at] & _LOW) - 1
            w = 0
            while w < len(bits) and sets[number, w] == bits[w]:
                w += 1
            if w == len(bits):
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
