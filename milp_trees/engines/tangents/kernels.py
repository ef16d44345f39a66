"""Compiled sums of a tangent over the leaves of small trees. Loads numba.

A tangent is a list of steps, each with a width and a height. What it gives for p positives and q
negatives is the sum of max(0, width · p − height · q) over its steps. All numbers are whole numbers
below 2⁵³ in doubles, so nothing is rounded.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel
def add_sums(ones, zeros, widths, heights, out):
    """Add what a tangent gives for each pair of counts."""
    for k in range(len(widths)):
        w, h = widths[k], heights[k]
        for i in range(len(out)):
            over = w * ones[i] - h * zeros[i]
            out[i] += over if over > 0.0 else 0.0


@kernel
def one_split(ones, zeros, p, q, widths, heights):
    """The sum over both sides of every test, whose true sides have the counts `ones`, `zeros`."""
    out = np.zeros(len(ones))
    add_sums(ones, zeros, widths, heights, out)
    add_sums(p - ones, q - zeros, widths, heights, out)
    return out


@kernel
def largest(sums, ones, zeros, p, q, least):
    """The largest sum of a test with enough rows on both sides; -inf if there is none."""
    out = -np.inf
    for i in range(len(sums)):
        true = ones[i] + zeros[i]
        if true >= least and p + q - true >= least and sums[i] > out:
            out = sums[i]
    return out


@kernel
def two_splits(pairs, p, q, least, which, widths, heights):
    """The largest sums of trees of two levels, for each root test in `which`.

    `pairs` holds positives and negatives for which both tests of a pair are true, shape (2, T, T).
    The columns of the result are trees of two, three and four leaves; -inf if there is none.
    """
    T = pairs.shape[1]
    ones, zeros = np.empty(T), np.empty(T)
    for g in range(T):
        ones[g], zeros[g] = pairs[0, g, g], pairs[1, g, g]
    alone = np.zeros(T)
    add_sums(ones, zeros, widths, heights, alone)
    other = np.zeros(T)
    add_sums(p - ones, q - zeros, widths, heights, other)
    out = np.empty((len(which), 3))
    for i in range(len(which)):
        g = which[i]
        p1, q1 = ones[g], zeros[g]
        true = one_split(pairs[0, g], pairs[1, g], p1, q1, widths, heights)
        split_true = largest(true, pairs[0, g], pairs[1, g], p1, q1, least)
        rest_ones, rest_zeros = ones - pairs[0, g], zeros - pairs[1, g]
        false = one_split(rest_ones, rest_zeros, p - p1, q - q1, widths, heights)
        split_false = largest(false, rest_ones, rest_zeros, p - p1, q - q1, least)
        out[i, 0] = alone[g] + other[g]
        out[i, 1] = max(split_true + other[g], alone[g] + split_false)
        out[i, 2] = split_true + split_false
    return out
