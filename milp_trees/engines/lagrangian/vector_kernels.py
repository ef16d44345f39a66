"""Compiled work on vectors: all small trees of a set of rows, sums of two lists, the best sum.

A vector is (cost, totals…) relative to the first action, and its price the scalar product with the
weights (`kernels`). A table of vectors keeps the smallest cost for every vector of totals. Loads
numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.layouts import data_at, work_at
from milp_trees.engines.dp.nodes import load, side_value
from milp_trees.engines.dp.words import children, count
from milp_trees.engines.lagrangian.kernels import side_sums

_MULTIPLY = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


class VectorTerms(NamedTuple):
    """What vectors are made of.

    Parameters
    ----------
    columns : int64 array of shape (n, U)
        Per row its relative costs and coefficients, action by action, then what leaves need a
        minimum of, `least`.
    first, tests : int64 arrays
        The tests that are true on a row are `tests[first[row]:first[row + 1]]`.
    weights, leaf, most : int64 arrays of shape (J,)
        Weights of the price, the vector of a leaf of the first action, and the largest totals.
    split : int64 array of shape (F,)
        Costs of the tests.
    n_actions : int
    """

    columns: np.ndarray
    first: np.ndarray
    tests: np.ndarray
    weights: np.ndarray
    leaf: np.ndarray
    split: np.ndarray
    least: np.ndarray
    most: np.ndarray
    n_actions: int


class VectorWork(NamedTuple):
    """What the kernels write on: for the left side, the right side and the set itself.

    `by_test` (3, F, U) and `total` (3, U) are sums of the columns; `rows` (2, n, J) and `prices`
    (2, n) the vectors of both sides, `cell` (2, U) and `vector` (J,) those of a leaf.
    """

    by_test: np.ndarray
    total: np.ndarray
    rows: np.ndarray
    prices: np.ndarray
    cell: np.ndarray
    vector: np.ndarray


class SortedVectors(NamedTuple):
    """Vectors, one a row (cost, totals…), sorted by price; and their prices."""

    rows: np.ndarray
    prices: np.ndarray


class VectorSlots(NamedTuple):
    """A hash table of vectors: `rows[i]` for i < `used[0]`, found through `numbers`, -1 if free."""

    rows: np.ndarray
    numbers: np.ndarray
    used: np.ndarray


@kernel(allocates=False)
def _hash(vector):
    h = np.uint64(0x9E3779B97F4A7C15)
    for j in range(1, len(vector)):
        h = (h ^ np.uint64(vector[j])) * _MULTIPLY
        h ^= h >> _SHIFT
    return h


@kernel(allocates=False)
def insert(table, vector):
    """Keep the smallest cost for every vector of totals; returns False where there is no room."""
    rows, numbers, used = table
    mask = len(numbers) - 1
    slot = np.int64(_hash(vector) & np.uint64(mask))
    while numbers[slot] >= 0:
        i = numbers[slot]
        same = True
        for j in range(1, len(vector)):
            same = same and rows[i, j] == vector[j]
        if same:
            if vector[0] < rows[i, 0]:
                rows[i, 0] = vector[0]
            return True
        slot = (slot + 1) & mask
    if used[0] == len(rows):
        return False
    for j in range(len(vector)):
        rows[used[0], j] = vector[j]
    numbers[slot] = used[0]
    used[0] += 1
    return True


@kernel(nogil=True, allocates=False)
def rehash(table):
    """Fill the empty slots of a table, whose rows differ in their totals."""
    rows, numbers, used = table
    mask = len(numbers) - 1
    for i in range(used[0]):
        slot = np.int64(_hash(rows[i]) & np.uint64(mask))
        while numbers[slot] >= 0:
            slot = (slot + 1) & mask
        numbers[slot] = i


@kernel(allocates=False)
def _price(weights, vector):
    price = np.int64(0)
    for j in range(len(weights)):
        price += weights[j] * vector[j]
    return price


@kernel(allocates=False)
def _large_enough(values, least):
    """Whether the masses, the last of these sums, suffice for a leaf."""
    first = len(values) - len(least)
    for k in range(len(least)):  # noqa: SIM110 (numba compiles loops better)
        if values[first + k] < least[k]:
            return False
    return True


@kernel(nogil=True, allocates=False)
def options(side, at, stumps, allowance, terms, work):
    """Vectors of all leaves, and with `stumps` all trees with one split, within an allowance.

    `side` is that of the sums in `work`, `at` that of the vectors. They are sorted by price; returns
    their number.
    """
    by_test, total, cell = work.by_test[side], work.total[side], work.cell
    out, prices = work.rows[at], work.prices[at]
    weights, leaf, split, least = terms.weights, terms.leaf, terms.split, terms.least
    K, J = terms.n_actions, len(leaf)
    n = 0
    if _large_enough(total, least):
        for k in range(K):
            for j in range(J):
                out[n, j] = leaf[j] + (total[(k - 1) * J + j] if k else 0)
            prices[n] = _price(weights, out[n])
            if prices[n] <= allowance:
                n += 1
    for f in range(len(split) if stumps else 0):
        for u in range(len(total)):
            cell[1, u] = by_test[f, u]
            cell[0, u] = total[u] - by_test[f, u]
        if not (_large_enough(cell[0], least) and _large_enough(cell[1], least)):
            continue
        for a in range(K):
            for b in range(K):
                if a == b:
                    continue
                for j in range(J):
                    value = 2 * leaf[j]
                    if a:
                        value += cell[0, (a - 1) * J + j]
                    if b:
                        value += cell[1, (b - 1) * J + j]
                    out[n, j] = value
                out[n, 0] += split[f]
                prices[n] = _price(weights, out[n])
                if prices[n] <= allowance:
                    n += 1
    _sort(out, prices, n)
    return n


@kernel(allocates=False)
def _sort(rows, prices, n):
    """Shell sort of a short list by price."""
    gap = n // 2
    while gap:
        for i in range(gap, n):
            k = i
            while k >= gap and prices[k - gap] > prices[k]:
                prices[k - gap], prices[k] = prices[k], prices[k - gap]
                for j in range(rows.shape[1]):
                    rows[k - gap, j], rows[k, j] = rows[k, j], rows[k - gap, j]
                k -= gap
        gap //= 2


@kernel(nogil=True, allocates=False)
def insert_sums(left, right, f, allowance, begin, terms, vector, table, stop):
    """Insert the sums of all pairs of vectors whose prices sum up to at most an allowance.

    The cost of test f is added to the costs, but not to the prices. Totals above `terms.most` are
    left out. Returns the first row of `left` that is not done, because there is no room or the run
    is stopped.
    """
    rows, others, prices, most = left.rows, right.rows, right.prices, terms.most
    split = terms.split[f]
    for i in range(begin, len(rows)):
        if stop[0]:
            return i
        rest = allowance - left.prices[i]
        for k in range(len(others)):
            if prices[k] > rest:
                break
            fits = True
            for j in range(len(vector)):
                vector[j] = rows[i, j] + others[k, j]
                fits = fits and vector[j] <= most[j]
            vector[0] += split
            if fits and not insert(table, vector):
                return i
    return len(rows)


@kernel(nogil=True, allocates=False)
def insert_two_levels(data_address, work_address, bits, allowance, begin, terms, work, table, stop):
    """Insert the vectors of all trees of depth at most two on a set of rows, within an allowance.

    Returns the first root test that is not done, because there is no room.
    """
    data, node = data_at(data_address), work_at(work_address)
    columns, first, tests = terms.columns, terms.first, terms.tests
    by_test, total = work.by_test, work.total
    load(data, node, bits)
    side_sums(data_address, bits, columns, first, tests, by_test[2], total[2])
    if begin == 0:
        for i in range(options(2, 0, False, allowance, terms, work)):
            if not insert(table, work.rows[0, i]):
                return np.int64(0)
    size = count(bits)
    for f in range(begin, data.n_tests):
        one, other = side_value(data, node.values[1, f]), side_value(data, node.values[3, f])
        rest = allowance - data.split[f]
        if one + other > rest:
            continue
        n = children(bits, data.tests[f], node.sides[0], node.sides[1])
        if n == 0 or n == size:
            continue
        small = 1 if 2 * n <= size else 0
        side_sums(
            data_address, node.sides[small], columns, first, tests, by_test[small], total[small]
        )
        for u in range(total.shape[1]):
            total[1 - small, u] = total[2, u] - total[small, u]
            for g in range(data.n_tests):
                by_test[1 - small, g, u] = by_test[2, g, u] - by_test[small, g, u]
        n_left = options(0, 0, True, rest - other, terms, work)
        n_right = options(1, 1, True, rest - one, terms, work)
        left = SortedVectors(work.rows[0, :n_left], work.prices[0, :n_left])
        right = SortedVectors(work.rows[1, :n_right], work.prices[1, :n_right])
        if insert_sums(left, right, f, rest, 0, terms, work.vector, table, stop) < n_left:
            return f
    return np.int64(data.n_tests)


@kernel(nogil=True)
def cheapest_pair(left, right, lower, upper, best, stop):
    """The cheapest sum of a row of `left` and a row of `right` whose totals lie within bounds.

    `left` is sorted by its first total from the largest, `right` from the smallest. Only sums below
    `best` count. Returns (cost, row of `left`, row of `right`), with the rows -1 if there is none.
    """
    at_left, at_right = np.int64(-1), np.int64(-1)
    if left.shape[1] == 2:
        # The window of rows of `right` that fit moves upwards; its minima wait in a queue.
        queue = np.empty(len(right), dtype=np.int64)
        head, tail, last = 0, 0, 0
        for i in range(len(left)):
            while last < len(right) and left[i, 1] + right[last, 1] <= upper[1]:
                while tail > head and right[queue[tail - 1], 0] >= right[last, 0]:
                    tail -= 1
                queue[tail] = last
                tail += 1
                last += 1
            while head < tail and left[i, 1] + right[queue[head], 1] < lower[1]:
                head += 1
            if head < tail and left[i, 0] + right[queue[head], 0] < best:
                best = left[i, 0] + right[queue[head], 0]
                at_left, at_right = i, queue[head]
        return best, at_left, at_right
    begin = end = 0
    for i in range(len(left)):
        if stop[0]:
            break
        while end < len(right) and left[i, 1] + right[end, 1] <= upper[1]:
            end += 1
        while begin < end and left[i, 1] + right[begin, 1] < lower[1]:
            begin += 1
        for k in range(begin, end):
            if left[i, 0] + right[k, 0] >= best:
                continue
            fits = True
            for j in range(2, left.shape[1]):
                fits = fits and lower[j] <= left[i, j] + right[k, j] <= upper[j]
            if fits:
                best = left[i, 0] + right[k, 0]
                at_left, at_right = i, k
    return best, at_left, at_right
