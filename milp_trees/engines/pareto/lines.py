"""Compiled lower bounds of weighted errors, which leave tests out before fronts are made.

Loads numba. For weights a, b the best a · FP + b · FN of all trees of two levels on a set costs far
less than their front: it is made from pair counts by sums, minima and maxima alone. A smallest size
of leaves is ignored in the last level, so the numbers are lower bounds.

A *corner* is a pair (FP, FN) that could still be better than the incumbent while no larger one
could: what is useful is at most one of the corners in both. `border[c, k]` holds the weighted
errors of the corners. A test can only be useful if for one corner, its sides need no more than this
for all weights together.

All sums stay below 2³¹: the caller chooses small enough weights.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.pareto.kernels import NONE, in_reach, pairs_of, put_sums, two_levels
from milp_trees.engines.partial_trees.kernels import count


@kernel
def least_of(pairs, p, q, size, weights, low, stop):
    """The least weighted errors of trees of at most two levels, for every pair of weights.

    `low[k, f]` becomes that of the trees with test f above; it is NONE if a side is too small.
    """
    F = pairs.shape[1]
    out = np.empty(len(weights), dtype=np.int64)
    total = np.empty(F, dtype=np.int32)
    for k in range(len(weights)):
        a, b = np.int32(weights[k, 0]), np.int32(weights[k, 1])
        for g in range(F):
            total[g] = a * pairs[1, g, g] - b * pairs[0, g, g]
        out[k] = min(a * q, b * p)
        for f in range(F):
            if stop[0]:
                return out
            p1, q1 = np.int64(pairs[0, f, f]), np.int64(pairs[1, f, f])
            if p1 + q1 < size or p + q - p1 - q1 < size:
                low[k, f] = NONE
                continue
            # Errors of a split are b · p + s or a · q - s, with s of one part; s = 0 is a leaf.
            least = most = other_least = other_most = np.int32(0)
            ones, zeros = pairs[0, f], pairs[1, f]
            for g in range(F):
                s = np.int32(np.int32(a * zeros[g]) - np.int32(b * ones[g]))
                rest = np.int32(total[g] - s)
                least, most = min(least, s), max(most, s)
                other_least, other_most = min(other_least, rest), max(other_most, rest)
            low[k, f] = min(b * p1 + least, a * q1 - most) + min(
                b * (p - p1) + other_least, a * (q - q1) - other_most
            )
            out[k] = min(out[k], low[k, f])
    return out


@kernel
def both_sides(whole, part, given, low, stop):
    """Pair counts, sizes and least weighted errors of a side of a test, then of the other side.

    `whole` holds the pair counts of a set, `part` the rows of a side. `given` are the tests by words
    and the number of words that hold positives, the sizes of the set, and the weights.
    """
    words, ups, (p, q, size, unit), weights = given
    pairs = pairs_of(part, words, ups, stop)
    p1, q1 = count(part, part, 0, ups), count(part, part, ups, len(part))
    rest, p2, q2 = whole - pairs, p - p1, q - q1
    one = least_of(pairs, p1, q1, size, weights, low[0], stop)
    two = least_of(rest, p2, q2, size, weights, low[1], stop)
    return (pairs, (p1, q1, size, unit), one), (rest, (p2, q2, size, unit), two)


@kernel(nogil=True)
def least_sums(whole, part, given, stop):
    """The least weighted errors of both sides of a test together, for every pair of weights."""
    low = np.empty((2, len(given[3]), whole.shape[1]), dtype=np.int64)
    one, two = both_sides(whole, part, given, low, stop)
    return one[2] + two[2]


@kernel(nogil=True)
def split(least, allowed, whole, part, given, border, stop):
    """Enter the sums of the fronts of both sides of a test, as far as they can be useful.

    The result is both fronts, without points that are useless for this split.
    """
    weights = given[3]
    low = np.empty((2, len(weights), whole.shape[1]), dtype=np.int64)
    inner, outer = both_sides(whole, part, given, low, stop)
    (pairs, sizes, one), (rest, other_sizes, two) = inner, outer
    table = np.full_like(least, NONE)
    first = np.empty((0, 3), dtype=np.int64)
    if in_reach(one + two, border):
        first = two_levels(table, allowed, pairs, (low[0], two, border), sizes, stop)
    second = first[:0]
    if len(first):
        for k in range(len(weights)):
            for i in range(len(first)):
                sums = weights[k, 0] * first[i, 1] + weights[k, 1] * first[i, 2]
                one[k] = sums if i == 0 else min(one[k], sums)
        second = two_levels(table, allowed, rest, (low[1], one, border), other_sizes, stop)
        if not stop[0]:
            put_sums(least, allowed, first, second)
    return first, second
