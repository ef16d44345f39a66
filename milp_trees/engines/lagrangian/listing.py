"""Compiled lists of vectors: all small trees of a set of rows, sums of two lists, the best sum.

A vector is (cost, totals…) relative to the first action, and its price the scalar product with the
weights (`kernels`). A **bag** keeps the smallest cost for every vector of totals, in a hash table
whose row i is (cost, totals…) for i < used[0]. Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.layouts import data_at, work_at
from milp_trees.engines.dp.nodes import load, side_value
from milp_trees.engines.dp.words import children, count
from milp_trees.engines.lagrangian.kernels import side_sums

_MULTIPLY = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


@kernel(allocates=False)
def _hash(vector):
    h = np.uint64(0x9E3779B97F4A7C15)
    for j in range(1, len(vector)):
        h = (h ^ np.uint64(vector[j])) * _MULTIPLY
        h ^= h >> _SHIFT
    return h


@kernel(allocates=False)
def put(bag, slots, used, vector):
    """Keep the smallest cost for every vector of totals; returns False where there is no room.

    Row i of `bag` is (cost, totals…) for i < used[0].
    """
    mask = len(slots) - 1
    slot = np.int64(_hash(vector) & np.uint64(mask))
    while slots[slot] >= 0:
        i = slots[slot]
        same = True
        for j in range(1, len(vector)):
            same = same and bag[i, j] == vector[j]
        if same:
            if vector[0] < bag[i, 0]:
                bag[i, 0] = vector[0]
            return True
        slot = (slot + 1) & mask
    if used[0] == len(bag):
        return False
    for j in range(len(vector)):
        bag[used[0], j] = vector[j]
    slots[slot] = used[0]
    used[0] += 1
    return True


@kernel(nogil=True, allocates=False)
def rehash(bag, slots, n):
    """Fill empty slots with the first n rows, which differ in their totals."""
    mask = len(slots) - 1
    for i in range(n):
        slot = np.int64(_hash(bag[i]) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = i


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
def options(
    sums_true, total, weights, leaf, split, least, n_actions, stumps, allowance, cell, out, prices
):
    """Vectors of all leaves, and with `stumps` all trees with one split, within an allowance.

    They are written to `out`, sorted by price; returns their number. `cell` (2, U) is workspace.
    """
    J = len(leaf)
    n = 0
    if _large_enough(total, least):
        for k in range(n_actions):
            for j in range(J):
                out[n, j] = leaf[j] + (total[(k - 1) * J + j] if k else 0)
            prices[n] = _price(weights, out[n])
            if prices[n] <= allowance:
                n += 1
    for f in range(len(split) if stumps else 0):
        for u in range(len(total)):
            cell[1, u] = sums_true[f, u]
            cell[0, u] = total[u] - sums_true[f, u]
        if not (_large_enough(cell[0], least) and _large_enough(cell[1], least)):
            continue
        for a in range(n_actions):
            for b in range(n_actions):
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
def merge(
    left,
    left_prices,
    n_left,
    right,
    right_prices,
    n_right,
    split,
    allowance,
    most,
    begin,
    vector,
    bag,
    slots,
    used,
    stop,
):
    """Put the sums of all pairs of rows whose prices sum up to at most an allowance.

    `split` is added to the costs, but not to the prices. Both lists are sorted by price. Totals
    above `most` are left out. Returns the first row of `left` that is not done, because there is no
    room or the run is stopped.
    """
    for i in range(begin, n_left):
        if stop[0]:
            return i
        rest = allowance - left_prices[i]
        for k in range(n_right):
            if right_prices[k] > rest:
                break
            fits = True
            for j in range(len(vector)):
                vector[j] = left[i, j] + right[k, j]
                fits = fits and vector[j] <= most[j]
            vector[0] += split
            if fits and not put(bag, slots, used, vector):
                return i
    return n_left


@kernel(nogil=True, allocates=False)
def vectors_two(
    data_address,
    work_address,
    bits,
    columns,
    first,
    tests,
    weights,
    leaf,
    split,
    least,
    n_actions,
    allowance,
    most,
    begin,
    side_true,
    totals,
    cell,
    lists,
    prices,
    vector,
    bag,
    slots,
    used,
    stop,
):
    """Put the vectors of all trees of depth at most two on a set of rows, within an allowance.

    Returns the first root test that is not done, because there is no room. `side_true` (3, F, U)
    and `totals` (3, U) are workspace for the sums of the left side, the right side and the set,
    `lists`, `prices` for the vectors of both sides, and `cell` (2, U), `vector` for those of a leaf.
    """
    data, work = data_at(data_address), work_at(work_address)
    load(data, work, bits)
    side_sums(data_address, bits, columns, first, tests, side_true[2], totals[2])
    if begin == 0:
        n = options(
            side_true[2],
            totals[2],
            weights,
            leaf,
            split,
            least,
            n_actions,
            False,
            allowance,
            cell,
            lists[0],
            prices[0],
        )
        for i in range(n):
            if not put(bag, slots, used, lists[0, i]):
                return np.int64(0)
    size = count(bits)
    for f in range(begin, data.n_tests):
        one, other = side_value(data, work.values[1, f]), side_value(data, work.values[3, f])
        rest = allowance - data.split[f]
        if one + other > rest:
            continue
        n = children(bits, data.tests[f], work.sides[0], work.sides[1])
        if n == 0 or n == size:
            continue
        small = 1 if 2 * n <= size else 0
        side_sums(
            data_address, work.sides[small], columns, first, tests, side_true[small], totals[small]
        )
        for u in range(totals.shape[1]):
            totals[1 - small, u] = totals[2, u] - totals[small, u]
            for g in range(data.n_tests):
                side_true[1 - small, g, u] = side_true[2, g, u] - side_true[small, g, u]
        n_left = options(
            side_true[0],
            totals[0],
            weights,
            leaf,
            split,
            least,
            n_actions,
            True,
            rest - other,
            cell,
            lists[0],
            prices[0],
        )
        n_right = options(
            side_true[1],
            totals[1],
            weights,
            leaf,
            split,
            least,
            n_actions,
            True,
            rest - one,
            cell,
            lists[1],
            prices[1],
        )
        done = merge(
            lists[0],
            prices[0],
            n_left,
            lists[1],
            prices[1],
            n_right,
            split[f],
            rest,
            most,
            0,
            vector,
            bag,
            slots,
            used,
            stop,
        )
        if done < n_left:
            return f
    return np.int64(data.n_tests)


@kernel(nogil=True)
def meet(left, right, lower, upper, best, stop):
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
