"""Compiled bound from the best partition of rows into leaves, whatever their tests. Loads numba.

A tree of depth d has 2^d leaves at most, and costs no less than the best partition of the rows into
as many sets. Where a leaf predicts one mean, that is a partition of the rows in the order of their
means into intervals (Fisher 1958, *On grouping for maximum homogeneity*), found by dynamic
programming with divide and conquer in O(k n log n) (Wang, Song 2011, *Ckmeans.1d.dp*). With prices
each number of leaves is taken together with its own (the least over all of them is a bound; the
partition into the most leaves alone is none).

The costs of leaves are rounded, so that divide and conquer may miss the best partition by some
units; they are taken off.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.vectors import call_two
from milp_trees.engines.dp.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dp.words import count, lowest

#: Most leaves of a partition; deeper trees are bounded by less work elsewhere.
MOST = 32
#: Work per row and leaf against that per three tests, from which on it is left out.
_WORTH = 128
#: Entries of the stack of halves.
STACK = 128


@kernel(allocates=False)
def _run(data, work, bits):
    """Running sums of the rows of a set in the order of their means; returns how many."""
    running, m = work.running, 0
    U = running.shape[1]
    for u in range(U):
        running[0, u] = 0
    for w in range(len(bits)):
        word = bits[w]
        while word:
            r = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            m += 1
            for u in range(U):
                running[m, u] = running[m - 1, u] + data.values[r, u]
    return m


@kernel(allocates=False)
def _interval(data, work, i, j):
    """What the rows after i up to j cost as one leaf, without the constants of the rows."""
    running, last = work.running, len(work.running) - 1
    for u in range(data.n_values):
        running[last, u] = running[j, u] - running[i, u]
    return call_two(
        data.leaf_function,
        np.int64(running[last].ctypes.data),
        np.int64(data.parameters.ctypes.data),
    )


@kernel(allocates=False)
def _layer(data, work, m, old, new, ends):
    """Cheapest partitions of all first rows into one interval more."""
    before, after = work.cheapest[old], work.cheapest[new]
    # (first j, last j, least i, most i) still to be done.
    ends[0, 0], ends[0, 1], ends[0, 2], ends[0, 3] = 1, m, 0, m - 1
    top = 0
    while top >= 0:
        low, high, least, most = ends[top, 0], ends[top, 1], ends[top, 2], ends[top, 3]
        top -= 1
        if low > high:
            continue
        j = (low + high) // 2
        best, at = np.int64(INFINITY), least
        for i in range(least, min(most, j - 1) + 1):
            value = before[i] + _interval(data, work, i, j)
            if value < best:
                best, at = value, i
        after[j] = best
        top += 1
        ends[top, 0], ends[top, 1], ends[top, 2], ends[top, 3] = low, j - 1, least, at
        top += 1
        ends[top, 0], ends[top, 1], ends[top, 2], ends[top, 3] = j + 1, high, at, most
    after[0] = 0


@kernel(allocates=False)
def best_partition(data, work, bits, depth):
    """A bound on all trees of a depth on a set of rows; 0 if it would take longer than it saves."""
    F = data.n_tests
    if depth == UNLIMITED or 1 << depth > MOST or _WORTH * count(bits) << depth > F * F * F:
        return np.int64(0)
    m, most = _run(data, work, bits), np.int64(1 << depth)
    if m <= most:
        return np.int64(0)
    constant = work.running[m, len(work.running[m]) - 1]
    for j in range(1, m + 1):
        work.cheapest[0, j] = _interval(data, work, 0, j)
    work.cheapest[0, 0] = 0
    best = work.cheapest[0, m] + data.leaf
    for k in range(2, most + 1):
        _layer(data, work, m, k % 2, (k + 1) % 2, work.ends)
        best = min(best, work.cheapest[(k + 1) % 2, m] + k * data.leaf + (k - 1) * data.least_split)
    return best + constant - data.rounding
