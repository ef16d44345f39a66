"""Compiled columns of states: stops, and last splits if one level is left. Loads numba.

Kernels work on as many states as their output arrays have room for and return where they stopped.
The values of a group of rows, `coef`, are K costs, then S·K side coefficients, then what leaves need a minimum (`least`) of: last the count. Of a
column, `info` holds (state, kind, test, left action, right action, cost), and `side` its S side
numbers. Complexity per state, for m rows, F tests and V values: m F bytes, plus F V per group of
rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel

STOP, LAST = 0, 2

_MULTIPLY = np.uint64(0xBF58476D1CE4E5B9)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_ONE = np.uint64(1)


@kernel
def _members(words, rows):
    """Row numbers of a set; returns how many."""
    m = 0
    for w in range(len(words)):
        word = words[w]
        base = 64 * w
        while word:
            if word & _ONE:
                rows[m] = base
                m += 1
            word >>= _ONE
            base += 1
    return m


@kernel
def _flush(g, coef, count, by_test):
    for v in range(coef.shape[1]):
        c = coef[g, v]
        if c:
            for f in range(by_test.shape[1]):
                by_test[v, f] += c * np.int64(count[f])
    count[:] = 0


@kernel
def _sums(rows, X, group, coef, by_test):
    """by_test[v, f] = sum of value v over the rows for which test f is true.

    Rows of one group (equal values) are adjacent and are counted in bytes.
    """
    by_test[:] = 0
    count = np.zeros(X.shape[1], dtype=np.uint8)
    g, n = np.int64(-1), 0
    for r in rows:
        if n and (group[r] != g or n == 255):
            _flush(g, coef, count, by_test)
            n = 0
        g = group[r]
        for f in range(X.shape[1]):
            count[f] += X[r, f]
        n += 1
    if n:
        _flush(g, coef, count, by_test)


@kernel
def _totals(rows, group, coef, total):
    total[:] = 0
    for r in rows:
        for v in range(coef.shape[1]):
            total[v] += coef[group[r], v]


@kernel
def stop_columns(level, begin, group, coef, K, S, leaf, least, merge, best_stop, info, side):
    """Stop columns of the states from `begin` on, and the cost of the cheapest one of each.

    Returns the first state that is not done, and the number of columns.
    """
    rows = np.empty(len(group), dtype=np.int64)
    total = np.zeros(coef.shape[1], dtype=np.int64)
    n_columns = 0
    for s in range(begin, len(level)):
        if n_columns + K > len(info):
            return s, n_columns
        start = n_columns
        _totals(rows[: _members(level[s], rows)], group, coef, total)
        if _enough(total, least):
            n_columns = _stops(s, total, K, S, leaf, merge, info, side, n_columns)
        best_stop[s] = 2**62
        for c in range(start, n_columns):
            best_stop[s] = min(best_stop[s], info[c, 5])
    return len(level), n_columns


@kernel
def last_columns(
    parents,
    family,
    level,
    done,
    begin,
    X,
    group,
    coef,
    F,
    K,
    S,
    leaf,
    split,
    least,
    most,
    merge,
    info,
    side,
):
    """Stops and last splits of the states with one level left.

    The states are found through the splits (parent, left, right) that enter them.


    Only the smaller child is summed; the sums of the other are those of the parent minus these.
    Without side rows a state gets its cheapest stop and, if that is cheaper still, its cheapest
    last split. With them it gets one column per kind and vector of side numbers, at most `most` per
    state. Without `merge` it gets all of them, also splits whose leaves have one action. Returns the first split that is not done, and the number of columns.
    """
    V = coef.shape[1]
    rows = np.empty(len(group), dtype=np.int64)
    others = np.empty(len(group), dtype=np.int64)
    sums = np.zeros((3, V, X.shape[1]), dtype=np.int64)
    totals = np.zeros((3, V), dtype=np.int64)
    table = np.empty(_power(2 * most), dtype=np.int64)
    n_columns, parent = 0, -1
    for c in range(begin, len(family)):
        if n_columns + 2 * most > len(info):
            return c, n_columns
        small, large = family[c, 1], family[c, 2]
        if done[small] and done[large]:
            continue
        if family[c, 0] != parent:
            parent = family[c, 0]
            m = _members(parents[parent], rows)
            _totals(rows[:m], group, coef, totals[0])
            _sums(rows[:m], X, group, coef, sums[0])
        m = _members(level[small], rows)
        n = _members(level[large], others)
        if m > n:
            small, large, rows, others, m, n = large, small, others, rows, n, m
        _totals(rows[:m], group, coef, totals[1])
        _sums(rows[:m], X, group, coef, sums[1])
        if not done[small]:
            n_columns = _leaf_columns(
                small,
                totals[1],
                sums[1],
                F,
                K,
                S,
                leaf,
                split,
                least,
                merge,
                info,
                side,
                n_columns,
                table,
            )
            done[small] = True
        if not done[large]:
            for v in range(V):
                totals[2, v] = totals[0, v] - totals[1, v]
                for f in range(X.shape[1]):
                    sums[2, v, f] = sums[0, v, f] - sums[1, v, f]
            n_columns = _leaf_columns(
                large,
                totals[2],
                sums[2],
                F,
                K,
                S,
                leaf,
                split,
                least,
                merge,
                info,
                side,
                n_columns,
                table,
            )
            done[large] = True
    return len(family), n_columns


@kernel
def _leaf_columns(
    s, total, by_test, F, K, S, leaf, split, least, merge, info, side, n_columns, table
):
    if not _enough(total, least):
        return n_columns
    start = n_columns
    n_columns = _stops(s, total, K, S, leaf, merge, info, side, n_columns)
    if S or not merge:
        table[:] = -1
        return _last_splits(
            s,
            total,
            by_test,
            F,
            K,
            S,
            leaf,
            split,
            least,
            merge,
            info,
            side,
            start,
            n_columns,
            table,
        )
    return _last_split(s, total, by_test, F, K, leaf, split, least, info[start, 5], info, n_columns)


@kernel
def _power(n):
    size = 2
    while size < n:
        size *= 2
    return size


@kernel
def _put(row, s, kind, test, left, right, cost):
    row[0], row[1], row[2], row[3], row[4], row[5] = s, kind, test, left, right, cost


@kernel
def _stops(s, total, K, S, leaf, merge, info, side, n_columns):
    start = n_columns
    for k in range(K):
        at = n_columns
        for c in range(start, n_columns if merge else start):
            same = True
            for j in range(S):
                same = same and side[c, j] == total[K + j * K + k]
            if same:
                at = c
        if at < n_columns and info[at, 5] <= total[k] + leaf:
            continue
        _put(info[at], s, STOP, -1, k, k, total[k] + leaf)
        for j in range(S):
            side[at, j] = total[K + j * K + k]
        n_columns = max(n_columns, at + 1)
    return n_columns


@kernel
def _enough(total, least):
    """Whether a leaf holds enough of everything that it needs."""
    first, enough = len(total) - len(least), True
    for m in range(len(least)):
        enough = enough and total[first + m] >= least[m]
    return enough


@kernel
def _allowed(f, total, by_test, least):
    """Whether both sides of a test hold enough (at least one row)."""
    first, enough = len(total) - len(least), True
    for m in range(len(least)):
        true = by_test[first + m, f]
        enough = enough and true >= least[m] and total[first + m] - true >= least[m]
    return enough


@kernel
def _last_split(s, total, by_test, F, K, leaf, split, least, stop, info, n_columns):
    """The cheapest last split, if it is cheaper than the stop."""
    best = stop
    found = False
    for f in range(F):
        if not _allowed(f, total, by_test, least):
            continue
        left = right = 0
        for k in range(1, K):
            if by_test[k, f] < by_test[right, f]:
                right = k
            if total[k] - by_test[k, f] < total[left] - by_test[left, f]:
                left = k
        cost = by_test[right, f] + total[left] - by_test[left, f] + 2 * leaf + split[f]
        if cost < best:
            best = cost
            found = True
            _put(info[n_columns], s, LAST, f, left, right, cost)
    return n_columns + 1 if found else n_columns


@kernel
def _last_splits(
    s, total, by_test, F, K, S, leaf, split, least, merge, info, side, start, n_columns, table
):
    """The cheapest last split for every vector of side numbers, or all without `merge`.

    With `merge` it is left out if a stop has the same numbers and costs no more.
    """
    stops = n_columns
    number = np.empty(S, dtype=np.int64)
    mask = len(table) - 1
    for f in range(F):
        if not _allowed(f, total, by_test, least):
            continue
        for left in range(K):
            for right in range(K):
                if merge and left == right:
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
                if not merge:
                    _put(info[n_columns], s, LAST, f, left, right, cost)
                    for j in range(S):
                        side[n_columns, j] = number[j]
                    n_columns += 1
                    continue
                if _covered(cost, number, info, side, start, stops):
                    continue
                slot = np.int64(h & np.uint64(mask))
                while table[slot] >= 0 and not _equal(side[table[slot]], number):
                    slot = (slot + 1) & mask
                at = table[slot]
                if at < 0:
                    at = n_columns
                    n_columns += 1
                    table[slot] = at
                    for j in range(S):
                        side[at, j] = number[j]
                elif info[at, 5] <= cost:
                    continue
                _put(info[at], s, LAST, f, left, right, cost)
    return n_columns


@kernel
def _equal(a, b):
    equal = True
    for j in range(len(b)):
        equal = equal and a[j] == b[j]
    return equal


@kernel
def _covered(cost, number, info, side, start, stops):
    covered = False
    for c in range(start, stops):
        covered = covered or (info[c, 5] <= cost and _equal(side[c], number))
    return covered
