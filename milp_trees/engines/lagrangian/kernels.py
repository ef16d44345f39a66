"""Compiled work on sets of rows: optimal values below a split, and sums by test.

Numbers are relative to the first action: a leaf with action k adds the sums of `costs_k - costs_0`
and of `coefs_k - coefs_0`. A **vector** of a tree is its relative cost with its relative side
totals; its **price** is the Lagrangian cost `D · cost + Σ numerator · total`. Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.layouts import data_at, work_at
from milp_trees.engines.dp.nodes import leaf_value, load, side_value, split
from milp_trees.engines.dp.words import children, count, lowest

#: The value of what is not allowed; sums of a few of them do not overflow.
NONE = INFINITY


@kernel(nogil=True, allocates=False)
def values_below(data_address, work_address, bits, out):
    """out[side, f]: relative value of the best tree of depth at most two on a side of test f.

    It is NONE on both sides where the test divides nothing, or a side is too small. Returns the
    relative value of a leaf on the whole set.
    """
    data, work = data_at(data_address), work_at(work_address)
    load(data, work, bits)
    last = len(work.total[0]) - 1
    leaf = leaf_value(data, work.total[0])
    leaf = NONE if leaf >= NONE else leaf - work.total[0, last]
    size = count(bits)
    for f in range(data.n_tests):
        out[0, f] = out[1, f] = NONE
        n = children(bits, data.tests[f], work.sides[0], work.sides[1])
        if n == 0 or n == size:
            continue
        small = split(data, work, n, size)
        if small < 0:
            continue
        out[small, f] = _two(data, work.total[1], work.args[at.BEST])
        out[1 - small, f] = _two(data, work.total[2], work.args[at.REST])
    return leaf


@kernel(allocates=False)
def _two(data, total, best):
    """Relative value of the better of a leaf and the best tree with a split."""
    leaf = leaf_value(data, total)
    leaf = NONE if leaf >= NONE else leaf - total[len(total) - 1]
    return min(leaf, side_value(data, best))


@kernel(nogil=True, allocates=False)
def sides_below(data_address, work_address, bits, out):
    """out[2 · side + one, f]: relative value of a side of test f as a leaf, or with one split.

    They are NONE where the test divides nothing or a side is too small. Returns the relative value
    of a leaf on the whole set.
    """
    data, work = data_at(data_address), work_at(work_address)
    load(data, work, bits)
    size = count(bits)
    for f in range(data.n_tests):
        n = 0
        for w in range(len(bits)):
            n += ones(bits[w] & data.tests[f, w])
        for k in range(4):
            out[k, f] = NONE
            if 0 < n < size:
                out[k, f] = side_value(data, work.values[k, f])
    leaf = leaf_value(data, work.total[0])
    return NONE if leaf >= NONE else leaf - work.total[0, len(work.total[0]) - 1]


@kernel(nogil=True, allocates=False)
def side_sums(data_address, bits, columns, first, tests, out, total):
    """out[f, u]: sum of column u over the rows of a set on which test f is true, and all totals.

    The tests that are true on a row are `tests[first[row]:first[row + 1]]`.
    """
    data = data_at(data_address)
    U = columns.shape[1]
    for f in range(data.n_tests):
        for u in range(U):
            out[f, u] = 0
    for u in range(U):
        total[u] = 0
    for w in range(len(bits)):
        word = bits[w]
        while word:
            r = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            for u in range(U):
                total[u] += columns[r, u]
            for e in range(first[r], first[r + 1]):
                for u in range(U):
                    out[tests[e], u] += columns[r, u]
