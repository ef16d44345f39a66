"""Compiled fronts: the cheapest tree for every combination of totals of the side rows. Loads numba.

The totals of all side rows are one integer, the *key* of a tree: digits in a mixed base that is
wide enough for every total of every set of rows. Keys of parts add up to the key of the whole. A
front is two arrays, keys and costs, sorted by cost; no key occurs twice. While a front is made it
is a hash table with open addressing.

Columns of `values` (one row per row of the data): number of original rows, cost of each of the K
actions, key of each action, then smallest and largest coefficient for each side row.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel

#: Marks an empty place of a hash table; no cost is that large.
EMPTY = np.int64(2**62)


@kernel
def set_sums(rows, values):
    """Sums of the columns of `values` over some rows."""
    out = np.zeros(values.shape[1], dtype=np.int64)
    for i in rows:
        for c in range(values.shape[1]):
            out[c] += values[i, c]
    return out


@kernel
def side_sums(rows, X, values):
    """The same over the rows on which each feature is true, shape (F, columns)."""
    out = np.zeros((X.shape[1], values.shape[1]), dtype=np.int64)
    for i in rows:
        for f in range(X.shape[1]):
            if X[i, f]:
                for c in range(values.shape[1]):
                    out[f, c] += values[i, c]
    return out


@kernel
def divide(rows, X, f):
    """The rows on which a feature is false, and those on which it is true."""
    false, true = np.empty_like(rows), np.empty_like(rows)
    n = m = 0
    for i in rows:
        if X[i, f]:
            true[m] = i
            m += 1
        else:
            false[n] = i
            n += 1
    return false[:n].copy(), true[:m].copy()


@kernel
def within(key, base, low, high):
    """Whether every total in a key lies between its bounds.

    `base` has the smallest total, the stride and the number of digits of every side row.
    """
    rest = key
    for j in range(len(base)):
        rest -= base[j, 0] * base[j, 1]
    for j in range(len(base)):
        total = (rest // base[j, 1]) % base[j, 2] + base[j, 0]
        if total < low[j] or total > high[j]:
            return False
    return True


@kernel
def put(keys, costs, used, key, cost):
    """Enter a point; the tables are twice as large once they are half full.

    `used` holds the number of points.
    """
    mask = len(keys) - 1
    place = (key * np.int64(-7046029254386353131) >> 20) & mask
    while costs[place] != EMPTY and keys[place] != key:
        place = (place + 1) & mask
    if costs[place] == EMPTY:
        used[0] += 1
        keys[place], costs[place] = key, cost
        if 2 * used[0] > len(keys):
            return larger(keys, costs)
    elif cost < costs[place]:
        costs[place] = cost
    return keys, costs


@kernel
def larger(keys, costs):
    """The tables with twice as many places."""
    mask = 2 * len(keys) - 1
    new_keys = np.zeros(mask + 1, dtype=np.int64)
    new_costs = np.full(mask + 1, EMPTY, dtype=np.int64)
    for i in range(len(keys)):
        if costs[i] != EMPTY:
            place = (keys[i] * np.int64(-7046029254386353131) >> 20) & mask
            while new_costs[place] != EMPTY:
                place = (place + 1) & mask
            new_keys[place], new_costs[place] = keys[i], costs[i]
    return new_keys, new_costs


@kernel
def front_of(keys, costs, used):
    """The points of a table, sorted by cost."""
    n = used[0]
    found_keys, found_costs = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    m = 0
    for i in range(len(keys)):
        if costs[i] != EMPTY:
            found_keys[m], found_costs[m] = keys[i], costs[i]
            m += 1
    order = np.argsort(found_costs, kind="mergesort")
    return found_keys[order], found_costs[order]


@kernel
def put_leaf(keys, costs, used, sums, n_actions, leaf, base, low, high, below):
    """Enter the leaves of a set with these sums; `leaf` is the cost and the key of a leaf."""
    for k in range(n_actions):
        cost, key = sums[1 + k] + leaf[0], sums[1 + n_actions + k] + leaf[1]
        if cost < below and within(key, base, low, high):
            keys, costs = put(keys, costs, used, key, cost)
    return keys, costs


@kernel
def one_level(rows, X, values, size, n_actions, leaf, splits, base, low, high, below):
    """The front of a set for at most one split: keys and costs."""
    keys, costs = np.zeros(64, dtype=np.int64), np.full(64, EMPTY, dtype=np.int64)
    used = np.zeros(1, dtype=np.int64)
    whole, true = set_sums(rows, values), side_sums(rows, X, values)
    keys, costs = put_leaf(keys, costs, used, whole, n_actions, leaf, base, low, high, below)
    for f in range(X.shape[1]):
        if true[f, 0] < size or whole[0] - true[f, 0] < size:
            continue
        for k in range(n_actions):
            for m in range(n_actions):
                if k == m:
                    continue  # a leaf has the same totals, fewer leaves, and costs no more
                cost = splits[f] + 2 * leaf[0] + true[f, 1 + k] + whole[1 + m] - true[f, 1 + m]
                at = 1 + n_actions
                key = 2 * leaf[1] + true[f, at + k] + whole[at + m] - true[f, at + m]
                if cost < below and within(key, base, low, high):
                    keys, costs = put(keys, costs, used, key, cost)
    return front_of(keys, costs, used)


@kernel
def merge(keys, costs, used, a_keys, a_costs, b_keys, b_costs, split, base, low, high, below):
    """Enter all sums of a point of one front and a point of another."""
    for i in range(len(a_keys)):
        for j in range(len(b_keys)):
            cost = a_costs[i] + b_costs[j] + split
            if cost >= below:
                break
            key = a_keys[i] + b_keys[j]
            if within(key, base, low, high):
                keys, costs = put(keys, costs, used, key, cost)
    return keys, costs


@kernel
def best_pair(a_keys, a_costs, b_keys, b_costs, split, base, low, high, below):
    """The cheapest sum of two points that is below a bound and within the side rows.

    The result is its cost and both positions; the positions are -1 if there is none.
    """
    best, first, second = below, -1, -1
    for i in range(len(a_keys)):
        if not len(b_keys) or a_costs[i] + b_costs[0] + split >= best:
            break
        for j in range(len(b_keys)):
            cost = a_costs[i] + b_costs[j] + split
            if cost >= best:
                break
            if within(a_keys[i] + b_keys[j], base, low, high):
                best, first, second = cost, i, j
                break
    return best, first, second
