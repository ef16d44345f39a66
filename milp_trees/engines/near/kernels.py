"""Compiled values of the last two levels of a set of rows, test by test. Loads numba.

The values of a group of rows, `coef`, are K costs, then the number of original rows, then their
weight. A side that has too little of either is not a leaf, and its value is `NONE`. Complexity for
n
rows and F tests: F n bytes for one level, F² n for two.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.compiling.kernels import kernel
from milp_trees.engines.states.columns import _members, _sums, _totals

#: The value of what is not allowed; sums of a few of them do not overflow.
NONE = 2**60


@kernel
def _leaf(total, K, leaf, least):
    """Value and action of a leaf with these totals; of equal actions the first."""
    if total[K] < least[0] or total[K + 1] < least[1]:
        return NONE, 0
    best = 0
    for k in range(1, K):
        if total[k] < total[best]:
            best = k
    return total[best] + leaf, best


@kernel
def _sides(total, by_test, K, leaf, least, value, action):
    """Leaf of each side (0 false, 1 true) of every test; neither is allowed if one is not."""
    other = np.empty(len(total), dtype=np.int64)
    for f in range(by_test.shape[1]):
        for v in range(len(total)):
            other[v] = total[v] - by_test[v, f]
        value[0, f], action[0, f] = _leaf(other, K, leaf, least)
        value[1, f], action[1, f] = _leaf(by_test[:, f], K, leaf, least)
        # A side without rows is not allowed, whatever the smallest leaf is.
        if other[K] == 0 or by_test[K, f] == 0 or value[0, f] == NONE or value[1, f] == NONE:
            value[0, f] = value[1, f] = NONE


@kernel
def one_level(words, X, group, coef, K, leaf, least, value, action):
    """Leaf of a set of rows (value, action).

    `value` and `action` get those of both sides of every test.
    """
    rows = np.empty(X.shape[0], dtype=np.int64)
    m = _members(words, rows)
    total = np.empty(coef.shape[1], dtype=np.int64)
    by_test = np.empty((coef.shape[1], X.shape[1]), dtype=np.int64)
    _totals(rows[:m], group, coef, total)
    _sums(rows[:m], X, group, coef, by_test)
    _sides(total, by_test, K, leaf, least, value, action)
    return _leaf(total, K, leaf, least)


@kernel
def two_levels(words, X, group, coef, K, leaf, split, least, value, action, stump, size):
    """As `one_level`, with the best tree of at most one split on each side.

    `stump` gets its value for either side of every test, `size` the number of (merged) rows there.
    """
    n, F = X.shape
    V = coef.shape[1]
    rows, inside = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    m = _members(words, rows)
    total, part = np.empty(V, dtype=np.int64), np.empty(V, dtype=np.int64)
    by_test, of_part = np.empty((V, F), dtype=np.int64), np.empty((V, F), dtype=np.int64)
    sides, unused = np.empty((2, F), dtype=np.int64), np.empty((2, F), dtype=np.int64)
    _totals(rows[:m], group, coef, total)
    _sums(rows[:m], X, group, coef, by_test)
    _sides(total, by_test, K, leaf, least, value, action)
    for f in range(F):
        true = 0
        for i in range(m):
            true += X[rows[i], f]
        size[0, f], size[1, f] = m - true, true
        if value[0, f] == NONE:
            stump[0, f] = stump[1, f] = NONE
            continue
        small = 1 if 2 * true <= m else 0
        k = 0
        for i in range(m):
            if X[rows[i], f] == small:
                inside[k] = rows[i]
                k += 1
        _totals(inside[:k], group, coef, part)
        _sums(inside[:k], X, group, coef, of_part)
        for turn in range(2):
            side = small if turn == 0 else 1 - small
            _sides(part, of_part, K, leaf, least, sides, unused)
            best = value[side, f]
            for g in range(F):
                if sides[0, g] != NONE:
                    best = min(best, sides[0, g] + sides[1, g] + split[g])
            stump[side, f] = best
            for v in range(V):  # the other side has the rest
                part[v] = total[v] - part[v]
                for g in range(F):
                    of_part[v, g] = by_test[v, g] - of_part[v, g]
    return _leaf(total, K, leaf, least)
