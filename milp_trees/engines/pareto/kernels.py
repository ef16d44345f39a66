"""Compiled fronts of (leaves, false positives, false negatives). Loads numba.

A front is an array of such triples; no triple is at most another one in all three. Leaves are
counted as 0 if their number does not matter. While a front is made it is a table `least[leaves,
fp]` of the fewest false negatives. `allowed[leaves, fp]` is the largest number of false negatives
with which a tree could still be better than the incumbent (-1: none); it falls in both arguments,
so what is cut off here is cut off in every sum. `sizes` are the positives p and the negatives q of
a set, the smallest size of a leaf, and what a leaf counts: 1, or 0.

Complexity of `two_levels` for F tests: F² words for the counts, then F sums of two fronts. Kernels
that take long end soon once the first byte of `stop` is not 0; their value is not used then.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.fronts.rows import add_pairs

#: Stands for the absence of a point.
NONE = np.int64(2**40)


@kernel
def put(least, allowed, leaves, fp, fn):
    """Enter a point if a tree with it could be better than the incumbent."""
    if leaves < len(allowed) and fn <= allowed[leaves, fp] and fn < least[leaves, fp]:
        least[leaves, fp] = fn


@kernel
def put_leaf(least, allowed, sizes):
    """Enter both labels of a set."""
    p, q, _, unit = sizes
    put(least, allowed, unit, np.int64(0), p)
    put(least, allowed, unit, q, np.int64(0))


@kernel
def put_sums(least, allowed, a, b):
    """Enter all sums of a point of one front and a point of another."""
    for i in range(len(a)):
        for j in range(len(b)):
            put(least, allowed, a[i, 0] + b[j, 0], a[i, 1] + b[j, 1], a[i, 2] + b[j, 2])


@kernel
def put_splits(least, allowed, sides, sizes):
    """Enter all labelled splits of a set, from the counts of one side of every test."""
    p, q, size, unit = sizes
    for f in range(len(sides)):
        p1, q1 = sides[f, 0], sides[f, 1]
        p2, q2 = p - p1, q - q1
        if p1 + q1 >= size and p2 + q2 >= size:
            put(least, allowed, 2 * unit, q1, p2)
            put(least, allowed, 2 * unit, q2, p1)


@kernel
def front_of(least, width):
    """The front in a table, by leaves and false positives; the table is emptied.

    False positives are below `width`.
    """
    out = np.empty((16, 3), dtype=np.int64)
    n = 0
    low = np.full(width, NONE, dtype=np.int64)
    for leaves in range(len(least)):
        here = NONE
        for fp in range(width):
            here = min(here, low[fp])
            fn = least[leaves, fp]
            least[leaves, fp] = NONE
            if fn < here:
                if n == len(out):
                    out = np.concatenate((out, np.empty_like(out)))
                out[n, 0], out[n, 1], out[n, 2] = leaves, fp, fn
                n += 1
                here = fn
            low[fp] = here
    return out[:n].copy()


@kernel
def leaf(least, allowed, sizes):
    """The front of a set as a leaf."""
    put_leaf(least, allowed, sizes)
    return front_of(least, sizes[1] + 1)


@kernel
def one_level(least, allowed, sides, sizes):
    """The front of a set for at most one split, from the counts of one side of every test."""
    put_leaf(least, allowed, sizes)
    put_splits(least, allowed, sides, sizes)
    return front_of(least, sizes[1] + 1)


@kernel(nogil=True)
def pairs_of(rows, words, ups, stop):
    """Positives and negatives of a set for which both tests of a pair are true, shape (2, F, F)."""
    F = words.shape[1]
    out = np.zeros((2, F, F), dtype=np.int32)
    add_pairs(out[0], rows, words, 0, ups, stop)
    add_pairs(out[1], rows, words, ups, len(rows), stop)
    return out


@kernel
def side_fronts(table, allowed, pairs, sides, f, sizes):
    """The fronts of both sides of test f for at most one more split: true, then false."""
    p, q, size, unit = sizes
    p1, q1 = np.int64(pairs[0, f, f]), np.int64(pairs[1, f, f])
    for g in range(len(sides)):
        sides[g, 0], sides[g, 1] = pairs[0, f, g], pairs[1, f, g]
    inner = (p1, q1, size, unit)
    put_leaf(table, allowed, inner)
    put_splits(table, allowed, sides, inner)
    useful = (allowed[unit] >= 0).sum()
    true = front_of(table, min(q1 + 1, useful))
    for g in range(len(sides)):
        sides[g, 0], sides[g, 1] = pairs[0, g, g] - sides[g, 0], pairs[1, g, g] - sides[g, 1]
    outer = (p - p1, q - q1, size, unit)
    put_leaf(table, allowed, outer)
    put_splits(table, allowed, sides, outer)
    return true, front_of(table, min(q - q1 + 1, useful))


@kernel
def in_reach(sums, border):
    """Whether no sum is larger than that of a corner, for at least one corner (see `lines`)."""
    for c in range(len(border)):
        k = 0
        while k < len(sums) and sums[k] <= border[c, k]:
            k += 1
        if k == len(sums):
            return True
    return False


@kernel(nogil=True)
def two_levels(least, allowed, pairs, bounds, sizes, stop):
    """The front of a set for at most two levels of splits, from `pairs_of`.

    `bounds` are `low`, `other` and `border`: tests f are left out for which the sums of `low[:, f]`
    and of what the rest of the rows needs, `other`, are out of reach (see `lines`).
    """
    F = pairs.shape[1]
    low, other, border = bounds
    p, q, size, _ = sizes
    table, sides = np.full_like(least, NONE), np.empty((F, 2), dtype=np.int64)
    put_leaf(least, allowed, sizes)
    for f in range(F):
        if stop[0]:
            break
        under = np.int64(pairs[0, f, f]) + np.int64(pairs[1, f, f])
        if under >= size and p + q - under >= size and in_reach(low[:, f] + other, border):
            true, false = side_fronts(table, allowed, pairs, sides, f, sizes)
            put_sums(least, allowed, true, false)
    return front_of(least, q + 1)


@kernel(nogil=True)
def find_two(least, allowed, pairs, sizes, point, stop):
    """The test of a split into two levels that has a point, and the points of its sides.

    The result is the test and an array of both points, the true side first; -1 if there is none.
    """
    F = pairs.shape[1]
    p, q, size, _ = sizes
    table, sides = np.full_like(least, NONE), np.empty((F, 2), dtype=np.int64)
    both = np.empty((2, 3), dtype=np.int64)
    for f in range(F):
        if stop[0]:
            break
        under = np.int64(pairs[0, f, f]) + np.int64(pairs[1, f, f])
        if under >= size and p + q - under >= size:
            true, false = side_fronts(table, allowed, pairs, sides, f, sizes)
            for i in range(len(true)):
                for j in range(len(false)):
                    if (true[i] + false[j] == point).all():
                        both[0], both[1] = true[i], false[j]
                        return f, both
    return -1, both


@kernel
def find_one(sides, sizes, point):
    """The test of a split into two leaves that has a point, and whether true is positive.

    The result is (-1, False) if there is none.
    """
    p, q, size, unit = sizes
    for f in range(len(sides)):
        p1, q1 = sides[f, 0], sides[f, 1]
        if p1 + q1 >= size and p + q - p1 - q1 >= size and point[0] == 2 * unit:
            if point[1] == q1 and point[2] == p - p1:
                return f, True
            if point[1] == q - q1 and point[2] == p1:
                return f, False
    return -1, False
