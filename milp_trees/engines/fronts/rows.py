"""Sets of rows as bit strings, and sums over them. Loads numba.

Rows with equal sums form a group, and a group fills whole words, so a sum is a population count
times the sums of the group. The first column of all sums is the number of original rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.tasks.grouping import equal_rows, packed_columns


class PackedRows(NamedTuple):
    """All rows of a view.

    Parameters
    ----------
    words : uint64 array of shape (W, F)
        Rows on which each test is true, by words, so that counts of many tests are vector code.
    tests : uint64 array of shape (F, W)
        The same by tests.
    root : uint64 array of shape (W,)
        All rows.
    sums : int64 array of shape (W, S)
        What a row of each word adds to the sums of a set.
    """

    words: np.ndarray
    tests: np.ndarray
    root: np.ndarray
    sums: np.ndarray


def pack(X: np.ndarray, sums: np.ndarray) -> PackedRows:
    """The bit strings of rows; groups are in the order of their first rows."""
    first, group = equal_rows(sums)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=len(first))
    words = -(-sizes // 64)
    begins = np.cumsum(words) - words
    slot = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slot += np.repeat(begins, sizes) * 64
    filled = np.zeros((int(words.sum()) * 64, X.shape[1] + 1), dtype=np.uint8)
    filled[slot, :-1] = X[order]
    filled[slot, -1] = 1
    bits = packed_columns(filled)
    tests = np.ascontiguousarray(bits[:-1])
    return PackedRows(
        np.ascontiguousarray(tests.T), tests, bits[-1].copy(), np.repeat(sums[first], words, axis=0)
    )


@kernel
def set_sums(rows, sums):
    """Sums of a set, shape (S,)."""
    out = np.zeros(sums.shape[1], dtype=np.int64)
    for w in range(len(rows)):
        number = np.int64(ones(rows[w]))
        if number:
            for s in range(sums.shape[1]):
                out[s] += number * sums[w, s]
    return out


@kernel
def side_sizes(rows, words, sums):
    """Number of original rows of a set, and of those on which each test is true."""
    F = words.shape[1]
    whole, out = np.int64(0), np.zeros(F, dtype=np.int64)
    for w in range(len(rows)):
        word = rows[w]
        if word:
            whole += sums[w, 0] * np.int64(ones(word))
            for f in range(F):
                out[f] += sums[w, 0] * np.int64(ones(word & words[w, f]))
    return whole, out


@kernel
def side_sums(rows, words, sums):
    """Sums of the rows of a set on which each test is true, shape (S, F)."""
    F, S = words.shape[1], sums.shape[1]
    out, counts = np.zeros((S, F), dtype=np.int64), np.zeros(F, dtype=np.int64)
    for w in range(len(rows)):
        word = rows[w]
        if word:
            for f in range(F):
                counts[f] = np.int64(ones(word & words[w, f]))
            for s in range(S):
                if sums[w, s]:
                    for f in range(F):
                        out[s, f] += sums[w, s] * counts[f]
    return out


@kernel
def add_pairs(counts, rows, words, begin, end, stop):
    """Add the number of rows for which both tests of a pair are true, over some words.

    As all kernels that take long, it ends soon once the first byte of `stop` is not 0; its value
    is not used then. Both orders of a pair are counted, because that is vector code.
    """
    F = words.shape[1]
    for w in range(begin, end):
        for f in range(F):
            if stop[0]:
                return
            both = rows[w] & words[w, f]
            if both:
                for g in range(F):
                    counts[f, g] += np.int32(ones(both & words[w, g]))


@kernel
def pair_sums(rows, words, sums):
    """Sums of the rows on which both tests of a pair are true, shape (S, F, F)."""
    F, S = words.shape[1], sums.shape[1]
    out = np.zeros((S, F, F), dtype=np.int64)
    counts, go = np.zeros((F, F), dtype=np.int64), np.zeros(1, dtype=np.uint8)
    begin = 0
    while begin < len(rows):
        # Words of one group are counted together before they are multiplied.
        end = begin + 1
        while end < len(rows) and (sums[end] == sums[begin]).all():
            end += 1
        if rows[begin:end].any():
            counts[:] = 0
            add_pairs(counts, rows, words, begin, end, go)
            for s in range(S):
                factor = sums[begin, s]
                for f in range(F if factor else 0):
                    if counts[f, f]:
                        for g in range(F):
                            out[s, f, g] += factor * counts[f, g]
        begin = end
    return out


@cache
def warm_up() -> None:
    """Compile all kernels, by calling them for one row and one test."""
    words, _, root, sums = pack(np.ones((1, 1), dtype=np.uint8), np.ones((1, 2), dtype=np.int64))
    set_sums(root, sums)
    for kernel_ in (side_sizes, side_sums, pair_sums):
        kernel_(root, words, sums)
