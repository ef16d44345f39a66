"""Compiled search of trees of up to three levels of splits, with prices of tests. Loads numba.

A node is a set of rows with the price that every attribute has there (0 once it is paid). `sides`
counts all pairs of tests on a node; `three` then gives its best trees of depth three by number of
leaves. What is not asked for (`budget`) or cannot matter is skipped: a side with more than one split
pays at least the cheapest attribute for all its rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.gains import sort_tests
from milp_trees.engines.dp.layouts import data_at, work_at
from milp_trees.engines.dp.nodes import leaf_value, load, side_value, split, sums_by_test
from milp_trees.engines.dp.words import children, count
from milp_trees.engines.dp_paid.records import paid_at


@kernel(allocates=False)
def pay(paid, prices, a, after):
    """Prices of all attributes once attribute `a` is paid (-1: nothing is)."""
    for b in range(len(prices)):
        after[b] = prices[b]
    if a < 0:
        return
    after[a] = 0
    if paid.group[a] >= 0:
        for b in range(len(prices)):
            if paid.group[b] == paid.group[a]:
                after[b] = min(after[b], paid.discount[b])


@kernel(allocates=False)
def pay_test(paid_address, prices, f, after):
    """As `pay`, for the attribute of a test."""
    paid = paid_at(paid_address)
    pay(paid, prices, paid.attribute[f], after)


@kernel(allocates=False)
def _fill(table, data, paid):
    """The prices of all pairs of tests in the layout of `at.PRICES`."""
    R, base, low = paid.matrix_rows, paid.base, paid.low
    for i in range(data.n_tests):
        of_i = paid.relation[i]
        row, column = table[i], table[R + i]
        here, less = base[i], low[i]
        for j in range(data.n_tests):
            related = of_i[j]
            p, q = base[j], here
            if related == 1:
                p, q = low[j], less
            if related == 2:
                p, q = 0, 0
            row[j] = p
            column[j] = q


@kernel(allocates=False)
def _set_prices(data, paid, prices):
    """Tell the kernel for pairs what tests cost on a node."""
    for f in range(data.n_tests):
        a = paid.attribute[f]
        paid.base[f] = prices[a] if a >= 0 else 0
        paid.low[f] = min(prices[a], paid.discount[a]) if a >= 0 else 0
    if paid.prices_16.size:
        _fill(paid.prices_16, data, paid)
    elif paid.prices_32.size:
        _fill(paid.prices_32, data, paid)
    else:
        _fill(paid.prices_64, data, paid)


@kernel(allocates=False)
def _root_cost(paid, prices, f, weight):
    a = paid.attribute[f]
    return paid.split[f] + (prices[a] * weight if a >= 0 else 0)


@kernel(allocates=False)
def _cheapest(paid, prices):
    """The price of the cheapest test."""
    if paid.any_free or not len(prices):
        return np.int64(0)
    least = prices[0]
    for b in range(len(prices)):
        least = min(least, prices[b])
    return least


@kernel(allocates=False)
def _sides(data, work, paid, bits, prices):
    """Load a node: for every root test the best trees of its sides with at most one split."""
    _set_prices(data, paid, prices)
    load(data, work, bits)
    first = data.values.shape[1] - 1
    sums_by_test(data, bits, first, paid.weight)  # regret, replaced by weight below
    total = work.total[0]
    regret = total[first]
    for f in range(data.n_tests):
        r = paid.weight[0, f]
        out = paid.sides[f]
        out[0] = side_value(data, work.values[0, f]) + regret - r
        out[1] = min(out[0], side_value(data, work.values[1, f]) + regret - r)
        out[2] = side_value(data, work.values[2, f]) + r
        out[3] = min(out[2], side_value(data, work.values[3, f]) + r)
    sums_by_test(data, bits, data.n_values - 1, paid.weight)
    paid.total = total[data.n_values - 1]
    for f in range(data.n_tests):
        pay(paid, prices, paid.attribute[f], paid.after)
        least = _cheapest(paid, paid.after)
        right = paid.weight[0, f]
        penalties = 3 * data.leaf + 2 * data.least_split
        paid.floor[f, 0] = least * (paid.total - right) + penalties
        paid.floor[f, 1] = least * right + penalties


@kernel(allocates=False)
def sides(data_address, work_address, paid_address, bits, prices):
    """Load a node into `paid.sides`, `paid.floor`, `paid.weight`; returns the cost of a leaf."""
    data, work, paid = data_at(data_address), work_at(work_address), paid_at(paid_address)
    _sides(data, work, paid, bits, prices)
    return leaf_value(data, work.total[0])


@kernel(allocates=False)
def _offer(best, tests, left, k, value, f, a):
    if value < best[k]:
        best[k], tests[k], left[k] = value, f, a


@kernel(allocates=False)
def settle(best, tests, left):
    """A best tree with fewer leaves serves as one with more."""
    for k in range(2, len(best)):
        if best[k] >= best[k - 1]:
            best[k], tests[k], left[k] = best[k - 1], tests[k - 1], left[k - 1]


@kernel(allocates=False)
def _front_of_side(data, work, paid, prices, row, total, out):
    """Best trees of depth two of a side with at most 1, 2, 3, 4 leaves, from four rows of SIDES."""
    regret, weight = total[len(total) - 1], total[data.n_values - 1]
    two = three = four = 2 * INFINITY
    for f in range(data.n_tests):
        a, b = side_value(data, work.values[row, f]), side_value(data, work.values[row + 1, f])
        c, d = side_value(data, work.values[row + 2, f]), side_value(data, work.values[row + 3, f])
        cost = _root_cost(paid, prices, f, weight)
        two = min(two, a + c + cost)
        three = min(three, min(a + d, b + c) + cost)
        four = min(four, b + d + cost)
    out[1] = leaf_value(data, total)
    out[2] = min(out[1], two + regret)
    out[3] = min(out[2], three + regret)
    out[4] = min(out[3], four + regret)


@kernel(allocates=False)
def _bound(paid, f, side, a):
    """Lower bound on a side with at most `a` leaves; exact for one and two."""
    value = paid.sides[f, 2 * side + (0 if a == 1 else 1)]
    return value if a <= 2 else min(value, paid.floor[f, side])


@kernel(allocates=False)
def _may_matter(paid, f, cost, best, budget):
    for k in range(3, len(best)):
        goal = min(best[k], budget[k])
        for a in range(max(1, k - 4), min(k - 1, 4) + 1):
            if _bound(paid, f, 0, a) + _bound(paid, f, 1, k - a) + cost < goal:
                return True
    return False


@kernel(allocates=False)
def three(data_address, work_address, paid_address, bits, prices, budget, best, tests, left):
    """Best trees of at most three levels by number of leaves, where they are below a budget.

    Parameters: set of rows; price of every attribute; by number of leaves up to 8 (or fewer): the
    budget; out: value, root test (-1: a leaf), leaves on the left of the best tree found.
    """
    data, work, paid = data_at(data_address), work_at(work_address), paid_at(paid_address)
    F, most = data.n_tests, len(best) - 1
    single = sides(data_address, work_address, paid_address, bits, prices)
    for k in range(most + 1):
        best[k], tests[k], left[k] = single, -1, 0
    total = paid.total
    for f in range(F):
        cost, s = _root_cost(paid, prices, f, total), paid.sides[f]
        for a in range(2):
            for b in range(2):
                if a + b + 2 <= most:
                    _offer(best, tests, left, a + b + 2, s[a] + s[2 + b] + cost, f, a + 1)
        paid.score[f] = s[1] + s[3] + cost
    settle(best, tests, left)
    sort_tests(paid.order, paid.score, F)
    size = count(bits)
    for position in range(F):
        f = paid.order[position]
        cost = _root_cost(paid, prices, f, total)
        if not _may_matter(paid, f, cost, best, budget):
            work.tests_skipped += 1
            continue
        n = children(bits, data.tests[f], work.sides[0], work.sides[1])
        if n == 0 or n == size:
            continue
        pay(paid, prices, paid.attribute[f], paid.after)
        _set_prices(data, paid, paid.after)
        small = split(data, work, n, size)
        if small < 0:
            continue
        _front_of_side(data, work, paid, paid.after, 0, work.total[1], paid.found[small])
        _front_of_side(data, work, paid, paid.after, 4, work.total[2], paid.found[1 - small])
        for a in range(1, 5):
            for b in range(1, min(4, most - a) + 1):
                _offer(best, tests, left, a + b, paid.found[0, a] + paid.found[1, b] + cost, f, a)
        settle(best, tests, left)
    work.nodes += 1


# -- deeper nodes: bounds and values by number of leaves ----------------------------------------------
#
# Vectors are indexed by the number of leaves; one of two entries holds in entry 1 the value of any
# number of leaves.


@kernel(allocates=False)
def allowance(goal, cost, other, out):
    """out[a]: what a side with `a` leaves must stay below, if the other side costs `other[b]`."""
    for a in range(len(out)):
        out[a] = -INFINITY
    if len(goal) == 2:
        if goal[1] > -INFINITY:
            out[1] = max(out[1], goal[1] - cost - other[1])
        return
    for a in range(1, len(out)):
        for b in range(1, min(len(other), len(goal) - a)):
            if goal[a + b] > -INFINITY:
                out[a] = max(out[a], goal[a + b] - cost - other[b])


@kernel(allocates=False)
def could_improve(goal, cost, one, other):
    """Whether two sides with these costs or bounds are together below a goal."""
    if len(goal) == 2:
        return one[1] + other[1] + cost < goal[1]
    for a in range(1, len(one)):
        for b in range(1, min(len(other), len(goal) - a)):
            if one[a] + other[b] + cost < goal[a + b]:
                return True
    return False


@kernel(allocates=False)
def join(best, tests, left, f, cost, one, other):
    """Offer the trees of two sides of test f to the best ones of a node."""
    if len(best) == 2:
        _offer(best, tests, left, 1, one[1] + other[1] + cost, f, np.int64(1))
        return
    for a in range(1, len(one)):
        for b in range(1, min(len(other), len(best) - a)):
            _offer(best, tests, left, a + b, one[a] + other[b] + cost, f, a)
    settle(best, tests, left)


@kernel(allocates=False)
def _goal_of_sides(paid, cost, plain, c, s):
    """`paid.allowed`: what side s must stay below by leaves, and whether it can matter at all."""
    goal, other, allowed = paid.goal, paid.lower[1 - s], paid.allowed
    for a in range(c + 1):
        allowed[a] = -INFINITY
    if plain:
        if goal[1] > -INFINITY:
            allowed[c] = max(allowed[c], goal[1] - cost - other[c])
    else:
        for a in range(1, c + 1):
            for b in range(1, c + 1):
                if a + b < len(goal) and goal[a + b] > -INFINITY:
                    allowed[a] = max(allowed[a], goal[a + b] - cost - other[b])
    for a in range(1, c + 1):  # noqa: SIM110 (numba compiles loops better)
        if paid.lower[s, a] < min(allowed[a], paid.upper[s, a]):
            return True
    return False


@kernel(allocates=False)
def attempt(
    data_address,
    work_address,
    paid_address,
    bits,
    prices,
    f,
    cost,
    sides_of_f,
    floor_of_f,
    right_first,
    budget,
    best,
    tests,
    left,
):
    """Improve the best trees of four levels by those with root test f, if bounds allow any.

    Parameters: those of `three`; price of the test for all rows; the test's rows of `paid.sides`
    and `paid.floor` at this node; the side to begin with.
    """
    data, paid = data_at(data_address), paid_at(paid_address)
    plain = len(best) == 2
    c = 8 if plain else min(8, len(best) - 1)
    goal = paid.goal
    for k in range(len(goal)):
        goal[k] = min(best[k], budget[k]) if k < len(best) else -INFINITY
    for s in range(2):
        for a in range(1, c + 1):
            value = sides_of_f[2 * s + (0 if a == 1 else 1)]
            paid.upper[s, a] = value
            paid.lower[s, a] = value if a <= 2 else min(value, floor_of_f[s])
    if not _together(paid, cost, plain, c):
        return
    rows = paid.children
    n = children(bits, data.tests[f], rows[0], rows[1])
    if n == 0 or n == count(bits):
        return
    pay(paid, prices, paid.attribute[f], paid.next)
    for turn in range(2):
        s = 1 - turn if right_first else turn
        if not _goal_of_sides(paid, cost, plain, c, s):
            if not _together(paid, cost, plain, c):
                return
            continue
        allowed, found = paid.allowed[: c + 1], paid.child[0][: c + 1]
        three(
            data_address,
            work_address,
            paid_address,
            rows[s],
            paid.next,
            allowed,
            found,
            paid.child[1][: c + 1],
            paid.child[2][: c + 1],
        )
        for a in range(1, c + 1):
            paid.lower[s, a] = max(paid.lower[s, a], min(found[a], allowed[a]))
            paid.upper[s, a] = found[a]
        if not _together(paid, cost, plain, c):
            return
    if plain:
        _offer(best, tests, left, 1, paid.upper[0, c] + paid.upper[1, c] + cost, f, np.int64(1))
        return
    for a in range(1, c + 1):
        for b in range(1, min(c, len(best) - 1 - a) + 1):
            _offer(best, tests, left, a + b, paid.upper[0, a] + paid.upper[1, b] + cost, f, a)
    settle(best, tests, left)


@kernel(allocates=False)
def _together(paid, cost, plain, c):
    """Whether both sides together can be below a goal."""
    goal, lower = paid.goal, paid.lower
    if plain:
        return lower[0, c] + lower[1, c] + cost < goal[1]
    for a in range(1, c + 1):
        for b in range(1, c + 1):
            if a + b < len(goal) and lower[0, a] + lower[1, b] + cost < goal[a + b]:
                return True
    return False
