"""Compiled steps of the reduction: splits, stops and last splits that fit into allowances.

Loads numba. Sets are bit strings in the layout of `dp`. The values of a group of rows, `coef`, are
K costs, S·K side coefficients, K Lagrangian costs, and what leaves need a minimum of (`least`): last
the count. Kernels work on as many states as their output arrays have room for, and return where they
stopped.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.hypergraph.columns import (
    LAST,
    STOP,
    _allowed,
    _enough,
    _members,
    _put,
    _sums,
    _totals,
)
from milp_trees.engines.hypergraph.row_sets import _contains_first, _copy, _find, _hash, _same
from milp_trees.engines.near_best.kernels import NONE, levels

_MULTIPLY = np.uint64(0xBF58476D1CE4E5B9)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def values_of_sides(data_address, work_address, sets, begin, by_test, scratch, values):
    """The best tree of at most one split on both sides of every test: values[i, side, f].

    They are those of the sets from `begin` on, as many as `values` has room for. `scratch` is
    (3, 2, F).
    """
    for i in range(len(values)):
        levels(
            data_address,
            work_address,
            sets[begin + i],
            True,
            by_test,
            scratch[0],
            scratch[1],
            values[i],
            scratch[2],
        )


@kernel
def _fitting(state, T, split, value, allowance, merge, sides, keys, tests):
    """Tests whose sides fit into an allowance; returns their number.

    With `merge`, of tests that divide the state in the same way only the cheapest is kept.
    """
    n = 0
    right, left = sides[len(tests)], sides[len(tests) + 1]
    for f in range(len(T)):
        if value[0, f] >= NONE or value[1, f] >= NONE:
            continue
        if value[0, f] + value[1, f] + split[f] > allowance:
            continue
        known = -1
        if merge:
            for w in range(len(state)):
                right[w] = state[w] & T[f, w]
                left[w] = state[w] & ~T[f, w]
            side = right if _contains_first(right, state) else left
            h = _hash(side)
            for i in range(n):
                if keys[i] == h and _same(sides[i], side):
                    known = i
                    break
            if known < 0:
                keys[n] = h
                _copy(side, sides[n])
        if known < 0:
            tests[n] = f
            n += 1
        elif split[f] < split[tests[known]]:
            tests[known] = f
    return n


@kernel
def expand(
    level, allowance, begin, T, split, values, merge, bits, hashes, table, below, n_sets, columns
):
    """Split the states from `begin` on by all tests that fit, into sets of the next level.

    `values[i]` belongs to the state begin + i; as many states are split. Column c is (state, test,
    left, right). `below` gets the largest allowance of every new set.

    Returns the first state that is not done, the number of sets and the number of columns.
    """
    F, W = T.shape
    sides = np.empty((F + 2, W), dtype=np.uint64)
    keys = np.empty(F, dtype=np.uint64)
    tests = np.empty(F, dtype=np.int64)
    child = np.empty(W, dtype=np.uint64)
    n_columns = 0
    for i in range(len(values)):
        s = begin + i
        if (
            n_sets + 2 * F > len(bits)
            or 2 * (n_sets + 2 * F) > len(table)
            or n_columns + F > len(columns)
        ):
            return s, n_sets, n_columns
        value = values[i]
        for t in range(
            _fitting(level[s], T, split, value, allowance[s], merge, sides, keys, tests)
        ):
            f = tests[t]
            columns[n_columns, 0] = s
            columns[n_columns, 1] = f
            for side in range(2):
                for w in range(W):
                    child[w] = level[s, w] & (T[f, w] if side else ~T[f, w])
                h = _hash(child)
                slot = _find(child, h, bits, hashes, table)
                at = table[slot]
                if at < 0:
                    at = n_sets
                    table[slot] = at
                    _copy(child, bits[at])
                    hashes[at] = h
                    below[at] = -1
                    n_sets += 1
                below[at] = max(below[at], allowance[s] - split[f] - value[1 - side, f])
                columns[n_columns, 2 + side] = at
            n_columns += 1
    return begin + len(values), n_sets, n_columns


@kernel
def leaf_columns(
    level,
    allowance,
    begin,
    X,
    group,
    coef,
    F,
    K,
    S,
    leaf,
    split,
    priced_leaf,
    priced_split,
    least,
    last,
    merge,
    trivial,
    most,
    info,
    side,
):
    """Stops, and with `last` last splits, of the states from `begin` on, as far as they fit.

    With `merge`, of columns with equal side numbers one is kept, as in the full hypergraph. With
    `trivial`, both leaves of a last split may have one action.

    Returns the first state that is not done, and the number of columns.
    """
    V, P = coef.shape[1], K + S * K
    rows = np.empty(len(group), dtype=np.int64)
    by_test = np.zeros((V, X.shape[1]), dtype=np.int64)
    total = np.zeros(V, dtype=np.int64)
    number = np.empty(S, dtype=np.int64)
    size = 2
    while size < 2 * most:
        size *= 2
    table = np.empty(size, dtype=np.int64)
    n_columns = 0
    for s in range(begin, len(level)):
        if n_columns + most > len(info):
            return s, n_columns
        m = _members(level[s], rows)
        _totals(rows[:m], group, coef, total)
        if not _enough(total, least):
            continue
        start = n_columns
        for k in range(K):
            if total[P + k] + priced_leaf > allowance[s]:
                continue
            for j in range(S):
                number[j] = total[K + j * K + k]
            at = _like(number, side, start, n_columns) if merge else n_columns
            if at < n_columns and info[at, 5] <= total[k] + leaf:
                continue
            _put(info[at], s, STOP, -1, k, k, total[k] + leaf)
            for j in range(S):
                side[at, j] = number[j]
            n_columns = max(n_columns, at + 1)
        if not last:
            continue
        stops = n_columns
        table[:] = -1
        _sums(rows[:m], X, group, coef, by_test)
        for f in range(F):
            if not _allowed(f, total, by_test, least):
                continue
            for left in range(K):
                for right in range(K):
                    if left == right and not trivial:
                        continue
                    priced = by_test[P + right, f] + total[P + left] - by_test[P + left, f]
                    if priced + 2 * priced_leaf + priced_split[f] > allowance[s]:
                        continue
                    cost = by_test[right, f] + total[left] - by_test[left, f] + 2 * leaf + split[f]
                    h = _SEED
                    for j in range(S):
                        base = K + j * K
                        number[j] = (
                            by_test[base + right, f] + total[base + left] - by_test[base + left, f]
                        )
                        h = (h ^ np.uint64(number[j])) * _MULTIPLY
                        h ^= h >> _SHIFT
                    at = n_columns
                    if merge:
                        stop = _like(number, side, start, stops)
                        if stop < stops and info[stop, 5] <= cost:
                            continue
                        slot = np.int64(h & np.uint64(size - 1))
                        while table[slot] >= 0 and not _equal(side[table[slot]], number):
                            slot = (slot + 1) & (size - 1)
                        if table[slot] < 0:
                            table[slot] = n_columns
                        else:
                            at = table[slot]
                            if info[at, 5] <= cost:
                                continue
                    _put(info[at], s, LAST, f, left, right, cost)
                    for j in range(S):
                        side[at, j] = number[j]
                    n_columns = max(n_columns, at + 1)
    return len(level), n_columns


@kernel
def _equal(a, b):
    equal = True
    for j in range(len(b)):
        equal = equal and a[j] == b[j]
    return equal


@kernel
def _like(number, side, start, stop):
    """The first of some columns with these side numbers; `stop` if there is none."""
    for c in range(start, stop):
        if _equal(side[c], number):
            return c
    return stop
