"""Compiled fronts: the cheapest tree for every combination of totals of the side rows. Loads numba.

The totals of all side rows are one integer, the *key* of a tree: digits in a mixed base that is
wide enough for every total of every set of rows. Keys of parts add up to the key of the whole. A
front is two arrays, keys and costs, sorted by cost; no key occurs twice. While a front is made it
is a hash table with open addressing: keys, costs, and the number of points in an array of one.

Columns of sums: number of original rows, cost of each of the K actions, key of each action, then
smallest and largest coefficient for each side row. `useful` says which points are of use: `base`
(smallest total, stride and number of digits of every side row), `low` and `high` (bounds of the
totals), `below` (all costs are smaller).
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.fronts.rows import set_sums, side_sums

#: Marks an empty place of a hash table; no cost is that large.
EMPTY = np.int64(2**62)


@kernel
def within(key, useful):
    """Whether every total in a key lies between its bounds."""
    base, low, high, _ = useful
    rest = key
    for j in range(len(base)):
        rest -= base[j, 0] * base[j, 1]
    for j in range(len(base)):
        total = (rest // base[j, 1]) % base[j, 2] + base[j, 0]
        if total < low[j] or total > high[j]:
            return False
    return True


@kernel
def new_table(size):
    """An empty table; its size is a power of two."""
    costs = np.full(size, EMPTY, dtype=np.int64)
    return np.zeros(size, dtype=np.int64), costs, np.zeros(1, dtype=np.int64)


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
    new_keys, new_costs, _ = new_table(2 * len(keys))
    mask = len(new_keys) - 1
    for i in range(len(keys)):
        if costs[i] != EMPTY:
            place = (keys[i] * np.int64(-7046029254386353131) >> 20) & mask
            while new_costs[place] != EMPTY:
                place = (place + 1) & mask
            new_keys[place], new_costs[place] = keys[i], costs[i]
    return new_keys, new_costs


@kernel
def front_of(table):
    """The points of a table, sorted by cost."""
    keys, costs, used = table
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
def put_leaf(table, whole, leaf, useful):
    """Enter the leaves of a set with these sums; `leaf` is the cost and the key of a leaf."""
    keys, costs, used = table
    n_actions = n_actions_of(whole, useful)
    for k in range(n_actions):
        cost, key = whole[1 + k] + leaf[0], whole[1 + n_actions + k] + leaf[1]
        if cost < useful[3] and within(key, useful):
            keys, costs = put(keys, costs, used, key, cost)
    return keys, costs, used


@kernel
def n_actions_of(whole, useful):
    """The number of actions, from the number of columns."""
    return (len(whole) - 1 - 2 * len(useful[0])) // 2


@kernel
def window(whole, everything, useful):
    """Which points of a set are of use, from its sums and those of all rows.

    Outside the bounds no labels of the other rows bring the whole within the side rows.
    """
    base, low, high, below = useful
    J, first = len(base), len(whole) - 2 * len(base)
    least, most = np.empty(J, dtype=np.int64), np.empty(J, dtype=np.int64)
    for j in range(J):
        least[j] = low[j] - everything[first + J + j] + whole[first + J + j]
        most[j] = high[j] - everything[first + j] + whole[first + j]
    return base, least, most, below


@kernel
def one_level(rows, words, sums, size, leaf, splits, everything, useful):
    """The front of a set for at most one split: keys and costs."""
    whole, true = set_sums(rows, sums), side_sums(rows, words, sums)
    useful = window(whole, everything, useful)
    n_actions, below = n_actions_of(whole, useful), useful[3]
    keys, costs, used = put_leaf(new_table(64), whole, leaf, useful)
    for f in range(words.shape[1]):
        if true[0, f] < size or whole[0] - true[0, f] < size:
            continue
        for k in range(n_actions):
            for m in range(n_actions):
                if k == m:
                    continue  # a leaf has the same totals, fewer leaves, and costs no more
                cost = splits[f] + 2 * leaf[0] + true[1 + k, f] + whole[1 + m] - true[1 + m, f]
                at = 1 + n_actions
                key = 2 * leaf[1] + true[at + k, f] + whole[at + m] - true[at + m, f]
                if cost < below and within(key, useful):
                    keys, costs = put(keys, costs, used, key, cost)
    return front_of((keys, costs, used))


@kernel
def merge(table, a, b, split, useful):
    """Enter all sums of a point of one front and a point of another."""
    keys, costs, used = table
    (a_keys, a_costs), (b_keys, b_costs), below = a, b, useful[3]
    for i in range(len(a_keys)):
        for j in range(len(b_keys)):
            cost = a_costs[i] + b_costs[j] + split
            if cost >= below:
                break
            key = a_keys[i] + b_keys[j]
            if within(key, useful):
                keys, costs = put(keys, costs, used, key, cost)
    return keys, costs, used


@kernel
def best_pair(a, b, split, useful):
    """The cheapest sum of two points that is of use.

    The result is its cost and both positions; the positions are -1 if there is none.
    """
    (a_keys, a_costs), (b_keys, b_costs) = a, b
    best, first, second = useful[3], -1, -1
    for i in range(len(a_keys)):
        if not len(b_keys) or a_costs[i] + b_costs[0] + split >= best:
            break
        for j in range(len(b_keys)):
            cost = a_costs[i] + b_costs[j] + split
            if cost >= best:
                break
            if within(a_keys[i] + b_keys[j], useful):
                best, first, second = cost, i, j
                break
    return best, first, second
