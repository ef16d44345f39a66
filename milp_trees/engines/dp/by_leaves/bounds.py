"""Compiled bounds and values by number of leaves, and the memo of solved nodes. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.memory import look_up, store
from milp_trees.engines.dp.nodes import leaf_value, side_value
from milp_trees.engines.dp.words import clear, fill, lowest


@kernel(allocates=False)
def raise_floor(data, known, price, lower, most):
    """Lower bounds for more than `known` leaves from the exact value with `known` leaves.

    A tree with more leaves costs at least its leaves and splits and the price of a split, or what
    its rows cost in any tree, even if it makes no other mistake.
    """
    free_of_errors = (known + 1) * data.leaf + known * data.least_split + price
    for k in range(known + 1, most + 1):
        lower[k] = min(lower[known], max(lower[k], free_of_errors))


@kernel(allocates=False)
def own_costs(data, own, bits, floor):
    """floor[f, side]: what the rows of both sides of every test cost in any tree."""
    clear(floor)
    F, whole = data.n_tests, np.int64(0)
    for w in range(len(bits)):
        word = bits[w]
        while word:
            r = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            cost, row = own[r], data.X[r]
            if cost:
                whole += cost
                for f in range(F):
                    floor[f, 1] += cost * row[f]
    for f in range(F):
        floor[f, 0] = whole - floor[f, 1]


@kernel(allocates=False)
def could_improve(frame, f, goal, begin, width):
    """Whether both sides of a test, of at most `width` leaves each, can cost less than a goal.

    `goal[k]` is that of trees with k leaves, for k from `begin` on.
    """
    lower, cost, most = frame.lower[f], frame.cost[f], frame.leaves
    if frame.any_leaves:
        return lower[0, most] + lower[1, most] + cost < goal[most]
    for k in range(begin, most + 1):
        for a in range(max(1, k - width), min(k - 1, width) + 1):
            if lower[0, a] + lower[1, k - a] + cost < goal[k]:
                return True
    return False


@kernel(allocates=False)
def combine(frame, f, width):
    """Offer a root test with the best trees known of both sides, of at most `width` leaves each."""
    most, best, upper, cost = frame.leaves, frame.best, frame.upper, frame.cost[f]
    if frame.any_leaves:
        value = upper[f, 0, most] + upper[f, 1, most] + cost
        if value < best[most]:
            best[most], frame.tests[most], frame.left[most] = value, f, most
        return
    for a in range(1, min(width, most - 1) + 1):
        for b in range(1, min(width, most - a) + 1):
            value = upper[f, 0, a] + upper[f, 1, b] + cost
            if value < best[a + b]:
                best[a + b], frame.tests[a + b], frame.left[a + b] = value, f, a
    for k in range(2, most + 1):
        if best[k] >= best[k - 1]:
            best[k], frame.tests[k], frame.left[k] = (
                best[k - 1],
                frame.tests[k - 1],
                frame.left[k - 1],
            )


@kernel(allocates=False)
def front_two(data, work, row, total, cost, out):
    """Best values of depth two with at most 1, 2, 3, 4 leaves, from four vectors of SIDES.

    `cost` is that of every test at the root.
    """
    regret = total[len(total) - 1]
    two = three = four = np.int64(2 * INFINITY)
    for f in range(data.n_tests):
        a, b = side_value(data, work.values[row, f]), side_value(data, work.values[row + 1, f])
        c, d = side_value(data, work.values[row + 2, f]), side_value(data, work.values[row + 3, f])
        two = min(two, a + c + cost[f])
        three = min(three, min(a + d, b + c) + cost[f])
        four = min(four, b + d + cost[f])
    out[1] = leaf_value(data, total)
    out[2] = min(out[1], two + regret)
    out[3] = min(out[2], three + regret)
    out[4] = min(out[3], four + regret)


# -- memo ------------------------------------------------------------------------------------------


@kernel(allocates=False)
def recall(table, h1, h2, depth):
    """Number of the entry of a set at a depth, -1 if there is none; it is a value of the table."""
    known, entry, _, _ = look_up(table, h1, h2, depth)
    return entry if known else np.int64(-1)


@kernel(allocates=False)
def remember(table, memo, frame):
    """Keep what is known of a node; False if the memo must grow first."""
    e = recall(table, frame.key[0], frame.key[1], frame.memo_depth)
    if e < 0:
        if memo.used >= memo.most:
            return True
        if memo.used >= len(memo.entries) or table.used[0] > table.room:
            return False
        e = memo.used
        memo.used += 1
        store(table, frame.key[0], frame.key[1], frame.memo_depth, e, True, np.int64(-1))
        fill(memo.entries[e, 0], 0)
        fill(memo.entries[e, 1], INFINITY)
    entry = memo.entries[e]
    for k in range(1, frame.leaves + 1):
        entry[0, k] = max(entry[0, k], frame.answer[0, k])
        if frame.best[k] < entry[1, k]:
            entry[1, k], entry[2, k], entry[3, k] = frame.best[k], frame.tests[k], frame.left[k]
    return True
