"""Compiled columns of states: stops, last splits if one level is left, and splits. Loads numba.

One enumeration serves four: of trees and of rule lists (`milp_trees.lists.hypergraph.kernels`), all
or those within a bound. A state has an **allowance**: what a subtree there may cost at the prices
of the side rows. A column that costs more is left out; without a bound all allowances are `FAR`.

Where a leaf costs a function of sums (`LossSums`) there is one action: its value is the constant part
of the rows, and the function is asked about the sums behind it.

Kernels work on as many states as their output arrays have room for and return where they stopped;
the caller makes more room and calls again. Complexity per state, for m of n rows, F tests and V
values: F n / 64, and m F bytes plus F V per group of rows where leaves of splits are summed.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.vectors import call_two
from milp_trees.engines.hypergraph.graph import LAST, SPLIT, STOP
from milp_trees.engines.hypergraph.row_sets import (
    ONE,
    contains_first,
    fill,
    insert,
    lowest,
    members,
)
from milp_trees.engines.kit.rowsets import copy, hash_of, mixed, same

#: Places in a row of `StateColumns.info`: `LEFT` and `RIGHT` are actions, `FALSE` and `TRUE` the states
#: of the next level that a split enters.
STATE, KIND, TEST, LEFT, RIGHT, COST, FALSE, TRUE = range(8)

#: The allowance without a bound: larger than every cost.
FAR = 2**61
#: An optimal value of this size stands for what is not allowed; a few of them can be added.
NONE = 2**60


class StateData(NamedTuple):
    """What the kernels read of a view.

    Parameters
    ----------
    X : uint8 array of shape (n, F or more)
        Truth of the tests, in the order of bits.
    truth : uint64 array of shape (F, words)
        The rows of every test.
    group : int64 array of shape (n,)
        Group of every row; rows of one group have equal values.
    coef : int64 array of shape (groups, V)
        K costs, S·K side coefficients, K costs at prices if they are others (they begin at
        `priced`), what a leaf function takes (it begins at `sums`), then what leaves need a minimum
        of: last the number of rows.
    amounts : int64 array of shape (M, n)
        The last values, row by row.
    least : int64 array of shape (M,)
        The minima of leaves.
    split : int64 array of shape (2, F)
        Prices of the tests, and the same at prices of the side rows.
    n_actions, n_side, priced, leaf, priced_leaf : int
    only_default : int
        An action that no rule takes, only the default rule; -1 if there is none.
    merge : bool
        Whether of columns with the same effect only the cheapest is kept.
    leaf_function, parameters, sums : int, int64 array of shape (2,), int
        The compiled function that leaves cost (`kit.leaf_code`), 0 if it is the cheapest action.
    tie : int
        Units of a leaf's price that are part of no loss.
    """

    X: np.ndarray
    truth: np.ndarray
    group: np.ndarray
    coef: np.ndarray
    amounts: np.ndarray
    least: np.ndarray
    split: np.ndarray
    n_actions: int
    n_side: int
    priced: int
    leaf: int
    priced_leaf: int
    only_default: int
    merge: bool
    leaf_function: int
    parameters: np.ndarray
    sums: int
    tie: int


class StateColumns(NamedTuple):
    """Columns, one a row (see `STATE`), and their numbers of the side rows."""

    info: np.ndarray
    side: np.ndarray

    @classmethod
    def room(cls, n: int, n_side: int) -> StateColumns:
        return cls(np.empty((n, 8), dtype=np.int64), np.empty((n, n_side), dtype=np.int64))


class StateWork(NamedTuple):
    """What the kernels write on.

    `most` is the largest number of columns of a state, `slots` a hash table for them. There are
    three sums over rows, in total and by test, and `side_total` for both sides of a test; the other
    arrays are for the sides of all tests.
    """

    most: int
    rows: np.ndarray
    total: np.ndarray
    side_total: np.ndarray
    by_test: np.ndarray
    counts: np.ndarray
    slots: np.ndarray
    number: np.ndarray
    sides: np.ndarray
    keys: np.ndarray
    tests: np.ndarray
    child: np.ndarray

    @classmethod
    def of(cls, data: StateData, most: int) -> StateWork:
        V, (F, W), tests = data.coef.shape[1], data.truth.shape, data.X.shape[1]
        return cls(
            most,
            rows=np.empty((2, len(data.group)), dtype=np.int64),
            total=np.zeros((3, V), dtype=np.int64),
            side_total=np.zeros((2, V), dtype=np.int64),
            by_test=np.zeros((3, V, tests), dtype=np.int64),
            counts=np.zeros(tests, dtype=np.uint8),
            slots=np.empty(1 << (2 * most - 1).bit_length(), dtype=np.int64),
            number=np.empty(data.n_side, dtype=np.int64),
            sides=np.empty((F + 2, W), dtype=np.uint64),
            keys=np.empty(F, dtype=np.uint64),
            tests=np.empty(F, dtype=np.int64),
            child=np.empty(W, dtype=np.uint64),
        )


@kernel(allocates=False)
def _flush(g, coef, count, by_test):
    for v in range(coef.shape[1]):
        c = coef[g, v]
        if c:
            for f in range(by_test.shape[1]):
                by_test[v, f] += c * np.int64(count[f])
    fill(count, 0)


@kernel(allocates=False)
def add_up(rows, m, group, coef, total):
    """Sums of the values over the first m of some rows."""
    fill(total, 0)
    for i in range(m):
        for v in range(coef.shape[1]):
            total[v] += coef[group[rows[i]], v]


@kernel(allocates=False)
def add_up_by_test(rows, m, X, group, coef, count, by_test):
    """by_test[v, f] = sum of value v over those of the first m rows for which test f is true.

    Rows of one group (equal values) that are adjacent are counted in bytes: `count`, all 0 before
    and after.
    """
    for v in range(coef.shape[1]):
        fill(by_test[v], 0)
    g, n = np.int64(-1), 0
    for i in range(m):
        r = rows[i]
        if n and (group[r] != g or n == 255):
            _flush(g, coef, count, by_test)
            n = 0
        g = group[r]
        for f in range(X.shape[1]):
            count[f] += X[r, f]
        n += 1
    if n:
        _flush(g, coef, count, by_test)


@kernel(allocates=False)
def put(row, state, kind, test, left, right, cost, false, true):
    """Write a column."""
    row[0], row[1], row[2], row[3] = state, kind, test, left
    row[4], row[5], row[6], row[7] = right, cost, false, true


@kernel(allocates=False)
def leaf_cost(data, total, k):
    """What a leaf with these sums and an action costs, without the price of leaves."""
    if data.leaf_function:
        sums = np.int64(total.ctypes.data) + 8 * data.sums
        return total[k] + call_two(data.leaf_function, sums, np.int64(data.parameters.ctypes.data))
    return total[k]


@kernel(allocates=False)
def leaf_priced(data, total, k):
    """The same at the prices at which columns are bounded."""
    return leaf_cost(data, total, k) if data.leaf_function else total[data.priced + k]


@kernel(allocates=False)
def take_sides(f, total, by_test, side_total):
    """The sums of both sides of a test: 0 false, 1 true."""
    for v in range(len(total)):
        side_total[1, v] = by_test[v, f]
        side_total[0, v] = total[v] - by_test[v, f]


@kernel(allocates=False)
def stops(s, total, allowance, data, out, n):
    """Add the stops of a state that fit; returns the number of columns.

    With merging one stop is kept for each vector of side numbers.
    """
    start, K, S = n, data.n_actions, data.n_side
    info, side = out.info, out.side
    for k in range(K):
        if leaf_priced(data, total, k) + data.priced_leaf > allowance:
            continue
        at, cost = n, leaf_cost(data, total, k) + data.leaf
        for c in range(start, n if data.merge else start):
            alike = True
            for j in range(S):
                alike = alike and side[c, j] == total[K + j * K + k]
            if alike:
                at = c
        if at < n and info[at, COST] <= cost:
            continue
        put(info[at], s, STOP, -1, k, k, cost, -1, -1)
        for j in range(S):
            side[at, j] = total[K + j * K + k]
        n = max(n, at + 1)
    return n


@kernel(allocates=False)
def place(cost, following, info, side, n, slots, number):
    """The row in which a column is written, or -1.

    That is the next one, or that of a column with the same effect that costs more.
    """
    h = mixed(np.uint64(following + 1)) ^ hash_of(number)
    mask = len(slots) - 1
    slot = np.int64(h & np.uint64(mask))
    while slots[slot] >= 0:
        at = slots[slot]
        if info[at, FALSE] == following and same(side[at], number):
            return at if cost < info[at, COST] else np.int64(-1)
        slot = (slot + 1) & mask
    slots[slot] = n
    return np.int64(n)


@kernel(allocates=False)
def last_splits(s, n_tests, total, by_test, allowance, data, work, out, stopped):
    """Add the last splits by the first tests of `work.tests`, with the actions of leaves that fit.

    `stopped` is the number of columns before the stops of the state, and after them. With merging a
    split is left out if a stop has the same side numbers and costs no more. Returns the number of
    columns.
    """
    K, S, merge, sides = data.n_actions, data.n_side, data.merge, work.side_total
    info, side, number, slots = out.info, out.side, work.number, work.slots
    split, leaves, priced_leaves = data.split, 2 * data.leaf, 2 * data.priced_leaf
    chooses = data.leaf_function == 0
    start, n = stopped
    end = n
    if merge:
        fill(slots, -1)
    for i in range(n_tests):
        f = work.tests[i]
        take_sides(f, total, by_test, sides)
        for left in range(K):
            for right in range(K):
                if right == data.only_default or (merge and chooses and left == right):
                    continue
                priced = leaf_priced(data, sides[1], right) + leaf_priced(data, sides[0], left)
                if priced + priced_leaves + split[1, f] > allowance:
                    continue
                cost = leaf_cost(data, sides[1], right) + leaf_cost(data, sides[0], left)
                cost += leaves + split[0, f]
                for j in range(S):
                    b = K + j * K
                    number[j] = by_test[b + right, f] + total[b + left] - by_test[b + left, f]
                at = n
                if merge:
                    covered = False
                    for c in range(start, end):
                        covered = covered or (info[c, COST] <= cost and same(side[c], number))
                    at = np.int64(-1)
                    if not covered:
                        at = place(cost, -1, info, side, n, slots, number)
                if at >= 0:
                    put(info[at], s, LAST, f, left, right, cost, -1, -1)
                    for j in range(S):
                        side[at, j] = number[j]
                    n = max(n, at + 1)
    return n


@kernel(allocates=False)
def _cheapest_last_split(s, n_tests, total, by_test, allowance, data, work, out, stopped):
    """Add the cheapest last split, if it fits and costs less than the stop."""
    info, split, sides = out.info, data.split, work.side_total
    start, n = stopped
    best = info[start, COST] if n > start else np.int64(2**62)
    found = False
    for i in range(n_tests):
        f = work.tests[i]
        take_sides(f, total, by_test, sides)
        left = right = 0
        for k in range(1, data.n_actions):
            if sides[1, k] < sides[1, right]:
                right = k
            if sides[0, k] < sides[0, left]:
                left = k
        cost = leaf_cost(data, sides[1], right) + leaf_cost(data, sides[0], left)
        cost += 2 * data.leaf + split[0, f]
        if cost >= best:
            continue
        priced = leaf_priced(data, sides[1], right) + leaf_priced(data, sides[0], left)
        if priced + 2 * data.priced_leaf + split[1, f] <= allowance:
            best = cost
            found = True
            put(info[n], s, LAST, f, left, right, cost, -1, -1)
    return n + 1 if found else n


@kernel(allocates=False)
def _enough(total, least):
    """Whether a leaf holds enough of everything that it needs."""
    first, enough = len(total) - len(least), True
    for m in range(len(least)):
        enough = enough and total[first + m] >= least[m]
    return enough


@kernel(allocates=False)
def _allowed(f, total, by_test, least):
    """Whether both sides of a test hold enough (at least one row)."""
    first, enough = len(total) - len(least), True
    for m in range(len(least)):
        true = by_test[first + m, f]
        enough = enough and true >= least[m] and total[first + m] - true >= least[m]
    return enough


@kernel(allocates=False)
def stop_columns(level, allowance, begin, data, cheapest, work, out):
    """Stops of the states from `begin` on, and the cost of the cheapest one of each.

    Returns the first state that is not done, and the number of columns.
    """
    rows, total, info = work.rows[0], work.total[0], out.info
    n = np.int64(0)
    for s in range(begin, len(level)):
        if n + data.n_actions > len(info):
            return s, n
        start = n
        add_up(rows, members(level[s], rows), data.group, data.coef, total)
        if _enough(total, data.least):
            n = stops(s, total, allowance[s], data, out, n)
        cheapest[s] = 2**62
        for c in range(start, n):
            cheapest[s] = min(cheapest[s], info[c, COST])
    return len(level), n


@kernel(allocates=False)
def last_columns(above, level, allowance, family, done, begin, data, work, out):
    """Stops and last splits of the states with one level left.

    The states are found through the splits (parent, left, right) that enter them. If a parent has
    several, only the smaller child is summed; the sums of the other are those of the parent minus
    these. Without side rows a state gets its cheapest stop and, if that is cheaper still, its
    cheapest last split. With them it gets one column per kind and vector of side numbers. Without
    merging it gets all of them, also splits whose leaves have one action. Returns the first split
    that is not done, and the number of columns.
    """
    X, group, coef, count = data.X, data.group, data.coef, work.counts
    rows, total, by_test = work.rows, work.total, work.by_test
    n, parent = np.int64(0), np.int64(-1)
    for c in range(begin, len(family)):
        if n + 2 * work.most > len(out.info):
            return c, n
        small, large = family[c, 1], family[c, 2]
        if done[small] and done[large]:
            continue
        a, b = 0, 1
        m, others = members(level[small], rows[0]), members(level[large], rows[1])
        if m > others:
            small, large, m, others, a, b = large, small, others, m, 1, 0
        subtracts = parent == family[c, 0]
        if not (subtracts or done[large]) and c + 1 < len(family):
            subtracts = family[c + 1, 0] == family[c, 0]
        if subtracts or not done[small]:
            add_up(rows[a], m, group, coef, total[1])
            add_up_by_test(rows[a], m, X, group, coef, count, by_test[1])
        if not done[small]:
            done[small] = True
            n = _leaf_columns(small, total[1], by_test[1], allowance[small], data, work, out, n)
        if done[large]:
            continue
        done[large] = True
        if not subtracts:
            add_up(rows[b], others, group, coef, total[2])
            add_up_by_test(rows[b], others, X, group, coef, count, by_test[2])
        else:
            if parent != family[c, 0]:
                parent = family[c, 0]
                m = members(above[parent], rows[0])
                add_up(rows[0], m, group, coef, total[0])
                add_up_by_test(rows[0], m, X, group, coef, count, by_test[0])
            for v in range(total.shape[1]):
                total[2, v] = total[0, v] - total[1, v]
                for f in range(X.shape[1]):
                    by_test[2, v, f] = by_test[0, v, f] - by_test[1, v, f]
        n = _leaf_columns(large, total[2], by_test[2], allowance[large], data, work, out, n)
    return len(family), n


@kernel(allocates=False)
def _leaf_columns(s, total, by_test, allowance, data, work, out, n):
    if not _enough(total, data.least):
        return n
    start = n
    stopped = start, stops(s, total, allowance, data, out, n)
    n_tests, tests, least = 0, work.tests, data.least
    for f in range(len(tests)):
        if _allowed(f, total, by_test, least):
            tests[n_tests] = f
            n_tests += 1
    if data.merge and not data.n_side:
        return _cheapest_last_split(s, n_tests, total, by_test, allowance, data, work, out, stopped)
    return last_splits(s, n_tests, total, by_test, allowance, data, work, out, stopped)


@kernel(allocates=False)
def _too_small(words, amounts, least):
    """Whether a set holds less than `least` of the amounts of its rows."""
    total = 0
    for w in range(len(words)):
        word = words[w]
        while word:
            total += amounts[64 * w + lowest(word)]
            if total >= least:
                return False
            word &= word - ONE
    return True


@kernel(allocates=False)
def _divides(right, left, amounts, least):
    """Whether both sides of a test hold a row and enough of everything that leaves need."""
    any_right = any_left = np.uint64(0)
    for w in range(len(right)):
        any_right |= right[w]
        any_left |= left[w]
    if not any_right or not any_left:
        return False
    for m in range(len(least)):
        trivial = m + 1 == len(least) and least[m] == 1  # the last amount counts rows
        if not trivial and (
            _too_small(right, amounts[m], least[m]) or _too_small(left, amounts[m], least[m])
        ):
            return False
    return True


@kernel(allocates=False)
def _tests(state, data, values, allowance, work):
    """Tests that split a state into two sides that fit; returns their number.

    With merging, of tests that divide the state in the same way only the cheapest is kept.
    """
    n, T, split, merge = 0, data.truth, data.split, data.merge
    sides, keys, tests = work.sides, work.keys, work.tests
    right, left = sides[len(tests)], sides[len(tests) + 1]
    for f in range(len(T)):
        if len(values):
            low, high = values[0, f], values[1, f]
            if low >= NONE or high >= NONE or low + high + split[1, f] > allowance:
                continue
        for w in range(len(state)):
            right[w] = state[w] & T[f, w]
            left[w] = state[w] & ~T[f, w]
        if not len(values) and not _divides(right, left, data.amounts, data.least):
            continue
        known = -1
        if merge:
            side = right if contains_first(right, state) else left
            h = hash_of(side)
            for i in range(n):
                if keys[i] == h and same(sides[i], side):
                    known = i
                    break
            if known < 0:
                keys[n] = h
                copy(side, sides[n])
        if known < 0:
            tests[n] = f
            n += 1
        elif split[1, f] < split[1, tests[known]]:
            tests[known] = f
    return n


@kernel(allocates=False)
def split_columns(level, allowance, begin, end, data, values, table, work, out):
    """Split the states from `begin` to `end` by all tests that fit, into sets of the next level.

    `values[i, side, f]` is the optimal value of a side of test f for state begin + i, `NONE` if
    it is not allowed; without a bound its shape is (1, 0, F). A state with a negative allowance is
    not split. Returns the first state that is not done, and the number of columns.
    """
    T, split, below = data.truth, data.split, table.allowance
    F, W = T.shape
    info, side_numbers, tests, child = out.info, out.side, work.tests, work.child
    n, bounded = np.int64(0), values.shape[1] > 0
    for s in range(begin, end):
        if table.used[0] + 2 * F > len(below) or n + F > len(info):
            return s, n
        rest = allowance[s]
        if rest < 0:
            continue
        value = values[s - begin if bounded else 0]
        for i in range(_tests(level[s], data, value, rest, work)):
            f = tests[i]
            put(info[n], s, SPLIT, f, -1, -1, split[0, f], -1, -1)
            for side in range(2):
                for w in range(W):
                    child[w] = level[s, w] & (T[f, w] if side else ~T[f, w])
                at = insert(child, table)
                spare = rest - split[1, f] - value[1 - side, f] if bounded else rest
                below[at] = max(below[at], spare)
                info[n, FALSE + side] = at
            for j in range(data.n_side):
                side_numbers[n, j] = 0
            n += 1
    return end, n
