"""Compiled search for the best trees of every number of leaves. Loads numba.

A node of the search is a set of rows with the depth and the leaves that are left; `search` keeps
the nodes on the way from the root as frames (no recursion) and returns after some work, so that the
caller can look at the clock. A frame goes through its root tests twice:

1. *pairs*: both sides of a test get their exact best trees of depth two with 1, 2, 3, 4 leaves from
   sums for pairs of tests. Trees with at most three leaves have no use for more depth, so after
   this the node is exact for up to four leaves, and at depth three for all.
2. *deep* (more than four leaves at more than depth three): sides whose larger trees could still
   matter become nodes.

Of a node not the best values are asked but those below a budget per number of leaves: `V[k] < U[k]`
or nothing. A side with `a` leaves matters only if it is below
`max_b (goal[a + b] - split - lower[b])`. Lower bounds of a side come from its trees with fewer
leaves and no loss at all, from the memo, and from similar sets solved before (`memory`).

Complexity of a node with n rows: F + 1 times that of the kernels for pairs, n F² / 16 operations on
bytes each, and F L² for the bounds of L numbers of leaves.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import (
    INFINITY,
)
from milp_trees.engines.dp.by_leaves.bounds import (
    combine,
    could_improve,
    front_two,
    own_costs,
    raise_floor,
    recall,
    remember,
)
from milp_trees.engines.dp.by_leaves.prices import charge, costs_of, mix, paid_at, pay, set_prices
from milp_trees.engines.dp.by_leaves.records import FRAME, frame_at, fronts_at, memo_at
from milp_trees.engines.dp.gains import sort_tests
from milp_trees.engines.dp.layouts import data_at, table_at, work_at
from milp_trees.engines.dp.memory import archive_level, archive_set, similar_per_test
from milp_trees.engines.dp.nodes import (
    hash_children,
    leaf_value,
    load,
    side_value,
    split,
    sums,
    sums_by_test,
)
from milp_trees.engines.dp.words import children, clear, copy, count, fill

#: Phases of a frame, and answers of `search`.
ENTER, PAIRS, DEEP, BETWEEN, AFTER, FINISH = range(6)
DONE, PAUSED, FULL = range(3)

_FRAME_BYTES = 8 * FRAME.size


@kernel(allocates=False)
def _frame(fronts, level):
    return frame_at(fronts.frames + _FRAME_BYTES * level)


@kernel(allocates=False)
def _enter(data, work, fronts, frame):
    """Prepare a new node: bounds of both sides of every test, trees of depth two, test order."""
    work.nodes += 1
    F, most = data.n_tests, frame.leaves
    frame.size, frame.position, frame.phase = count(frame.bits), 0, PAIRS
    frame.any_leaves = 1 if fronts.any_leaves and frame.depth > 3 else 0
    frame.width = most if frame.any_leaves else most - 1
    if frame.depth == 0:
        sums(data, frame.bits, work.total[0])
    else:
        if fronts.paid:
            set_prices(fronts.paid, frame.prices)
        load(data, work, frame.bits)
        sums_by_test(data, frame.bits, data.values.shape[1] - 1, fronts.regret)
    total = work.total[0]
    fill(frame.best, leaf_value(data, total))
    fill(frame.tests, -1)
    clear(frame.left)
    clear(frame.paired)
    if frame.depth <= 2:
        frame.phase = FINISH
    if frame.depth == 0:
        return
    if fronts.paid:
        charge(data, paid_at(fronts.paid), frame, total[data.n_values - 1])
    else:
        copy(data.split, frame.cost)
    if fronts.own.size:
        own_costs(data, fronts.own, frame.bits, frame.floor)
    for f in range(F):
        for side in range(2):
            lower, upper = frame.lower[f, side], frame.upper[f, side]
            regret = fronts.regret[0, f]
            if side == 0:
                regret = total[len(total) - 1] - regret
            clear(lower)
            lower[1] = side_value(data, work.values[2 * side, f]) + regret
            lower[2] = min(lower[1], side_value(data, work.values[2 * side + 1, f]) + regret)
            raise_floor(data, 2, frame.floor[f, side], lower, most)
            fill(upper, lower[2])
            upper[1] = lower[1]
        work.impurity[f] = frame.upper[f, 0, 2] + frame.upper[f, 1, 2] + frame.cost[f]
        combine(frame, f, min(2, frame.depth))
    sort_tests(frame.order, work.impurity, F)
    if most > 4 and frame.depth > 3:
        hash_children(data, work, frame.bits, frame.hashes)


@kernel(allocates=False)
def _set_goal(fronts, frame):
    """What trees of the node must stay below to matter."""
    for k in range(1, frame.leaves + 1):
        fronts.goal[k] = min(frame.best[k], frame.budget[k])


@kernel(allocates=False)
def _may_matter(fronts, frame, f, begin, width):
    _set_goal(fronts, frame)
    return could_improve(frame, f, fronts.goal, begin, width)


@kernel(allocates=False)
def _similar(data, work, depth, bits, most, lower):
    """Raise the lower bounds of a set up to `most` leaves by those of similar sets."""
    if work.similarity:
        level = archive_level(work, depth)
        similar_per_test(work, level, bits, data.heavy, data.relation, most + 1, lower)


@kernel(allocates=False)
def _pair(data, work, fronts, frame, f):
    """Both sides of one test with up to four leaves, unless bounds say that it cannot matter.

    Returns whether they were counted.
    """
    most, depth = frame.leaves, frame.depth
    width = frame.width if depth > 3 else min(4, most - 1)
    n = children(frame.bits, data.tests[f], work.sides[0], work.sides[1])
    if n == 0 or n == frame.size or not _may_matter(fronts, frame, f, 2, width):
        work.tests_skipped += 1
        return False
    for side in range(2):
        _similar(data, work, depth - 1, work.sides[side], width, frame.lower[f, side])
    if not _may_matter(fronts, frame, f, 2, width):
        work.tests_skipped += 1
        return False
    if fronts.paid:
        paid = paid_at(fronts.paid)
        pay(paid, frame.prices, f)
        set_prices(fronts.paid, paid.after)
    small = split(data, work, n, frame.size)
    if small < 0:
        return False
    _front_of_side(data, work, fronts, 0, work.total[1], fronts.found[small])
    _front_of_side(data, work, fronts, 4, work.total[2], fronts.found[1 - small])
    known = min(most, 3 if depth > 3 else 4)
    for side in range(2):
        found, lower, upper = fronts.found[side], frame.lower[f, side], frame.upper[f, side]
        for k in range(1, most + 1):
            upper[k] = found[min(k, 4)]
        for k in range(1, known + 1):
            lower[k] = found[k]
        raise_floor(data, known, frame.floor[f, side], lower, most)
        if work.similarity:
            archive_set(work, 2, work.sides[side], 0, found, 5)
    frame.paired[f] = 1
    combine(frame, f, min(4, most - 1))
    return True


@kernel(allocates=False)
def _front_of_side(data, work, fronts, row, total, out):
    """As `front_two`, with the prices after the root test."""
    cost = data.split
    if fronts.paid:
        paid = paid_at(fronts.paid)
        costs_of(data, paid, paid.after, total[data.n_values - 1], paid.cost)
        cost = paid.cost
    front_two(data, work, row, total, cost, out)


@kernel(allocates=False)
def _child(data, work, table, memo, fronts, frame, child, side):
    """Make a side of the frame's test the next frame if its larger trees could matter."""
    f, most, depth = frame.test, frame.leaves, frame.depth
    lower, upper, other = frame.lower[f, side], frame.upper[f, side], frame.lower[f, 1 - side]
    children(frame.bits, data.tests[f], work.sides[0], work.sides[1])
    copy(work.sides[side], child.bits)
    child.key[0], child.key[1] = frame.hashes[f, 2 * side], frame.hashes[f, 2 * side + 1]
    if fronts.paid:
        paid = paid_at(fronts.paid)
        pay(paid, frame.prices, f)
        copy(paid.after, child.prices)
        mix(child.prices, child.key, 0)
    e = recall(table, child.key[0], child.key[1], depth - 1)
    if e >= 0:
        work.hits += 1
        for k in range(4, frame.width + 1):
            lower[k] = max(lower[k], memo.entries[e, 0, k])
            upper[k] = min(upper[k - 1], min(upper[k], memo.entries[e, 1, k]))
    _similar(data, work, depth - 1, child.bits, frame.width, lower)
    fill(child.budget, -INFINITY)
    leaves = 0
    _set_goal(fronts, frame)
    for a in range(most if frame.any_leaves else 4, frame.width + 1):
        if frame.any_leaves:
            child.budget[a] = fronts.goal[a] - frame.cost[f] - other[a]
        for b in range(1, most - a + 1):
            left_over = fronts.goal[a + b] - frame.cost[f] - other[b]
            child.budget[a] = max(child.budget[a], left_over)
        if lower[a] < min(child.budget[a], upper[a]):
            leaves = a
    if leaves == 0:
        return False
    child.depth = depth - 1 if frame.any_leaves else min(depth - 1, leaves - 1)
    child.leaves, child.phase, child.memo_depth = leaves, ENTER, depth - 1
    return True


@kernel(allocates=False)
def _finish(work, table, memo, frame, parent):
    """Give what is known of a finished node to its parent, the memo and the archive.

    False if the memo must grow first.
    """
    lower = parent.lower[parent.test, parent.side]
    for k in range(1, frame.leaves + 1):
        frame.answer[0, k] = max(lower[k], min(frame.best[k], frame.budget[k]))
        frame.answer[1, k] = frame.best[k]
    if not remember(table, memo, frame):
        return False
    if work.similarity:
        level = archive_level(work, frame.memo_depth)
        fill(work.kept_tests[level, work.kept[level, 1]], 0)
        archive_set(work, level, frame.bits, 0, frame.answer[0], frame.leaves + 1)
    return True


@kernel(allocates=False)
def _take(frame, child):
    """Bounds of a side from the answer of the frame below."""
    lower, upper = frame.lower[frame.test, frame.side], frame.upper[frame.test, frame.side]
    for k in range(1, frame.width + 1):
        if k <= child.leaves:
            lower[k] = max(lower[k], child.answer[0, k])
        upper[k] = min(upper[k], child.answer[1, min(k, child.leaves)])


@kernel(allocates=False)
def _next_deep(data, work, fronts, frame):
    """Open the next test whose sides' larger trees could matter; False if there is none."""
    while frame.position < data.n_tests:
        f = frame.order[frame.position]
        frame.position += 1
        if frame.paired[f] and _may_matter(fronts, frame, f, 5, frame.width):
            n = children(frame.bits, data.tests[f], work.sides[0], work.sides[1])
            frame.test, frame.side = f, 1 if 2 * n > frame.size else 0
            return True
    return False


@kernel(allocates=False)
def _by_four_leaves(data, work, frame):
    """Begin the second round through the tests, those with the best trees of four leaves first."""
    F = data.n_tests
    for f in range(F):
        work.impurity[f] = frame.upper[f, 0, 4] + frame.upper[f, 1, 4] + frame.cost[f]
    sort_tests(frame.order, work.impurity, F)
    frame.position, frame.phase = 0, DEEP


@kernel(allocates=False)
def search(data_address, work_address, table_address, memo_address, fronts_address, quota):
    """Go on with the search until it is done or some work is done.

    Returns DONE, PAUSED or FULL (the memo must grow).
    """
    data, work, table = data_at(data_address), work_at(work_address), table_at(table_address)
    memo, fronts = memo_at(memo_address), fronts_at(fronts_address)
    F = data.n_tests
    spent = 0.0
    while spent <= quota:
        frame, child = _frame(fronts, fronts.level), _frame(fronts, fronts.level + 1)
        counted = F * F * (frame.size * 0.125 + 20.0 * data.n_values)
        if data.leaf_function:
            counted *= 4.0  # sums of doubles, and a division per cell
        if frame.phase == ENTER:
            _enter(data, work, fronts, frame)
            spent += counted
        elif frame.phase == PAIRS:
            if frame.position < F:
                f = frame.order[frame.position]
                frame.position += 1
                spent += counted if _pair(data, work, fronts, frame, f) else 100.0
            elif frame.depth == 3 or frame.leaves <= 4:
                frame.phase = FINISH
            else:
                _by_four_leaves(data, work, frame)
        elif frame.phase == DEEP:
            if _next_deep(data, work, fronts, frame):
                frame.phase = BETWEEN
                if _child(data, work, table, memo, fronts, frame, child, frame.side):
                    fronts.level += 1
            else:
                frame.phase = FINISH
        elif frame.phase == BETWEEN:
            frame.side, frame.phase = 1 - frame.side, AFTER
            if _may_matter(fronts, frame, frame.test, 5, frame.width) and _child(
                data, work, table, memo, fronts, frame, child, frame.side
            ):
                fronts.level += 1
        elif frame.phase == AFTER:
            combine(frame, frame.test, frame.width)
            frame.phase = DEEP
        elif fronts.level == 0:
            return DONE
        else:
            parent = _frame(fronts, fronts.level - 1)
            if not _finish(work, table, memo, frame, parent):
                return FULL
            _take(parent, frame)
            fronts.level -= 1
    return PAUSED


@kernel(allocates=False)
def known(data_address, work_address, table_address, fronts_address, bits, prices, test, depth):
    """The memo's entries of both sides of a test of a set, -1 where there is none.

    `prices` become those after the test.
    """
    data, work, table = data_at(data_address), work_at(work_address), table_at(table_address)
    fronts = fronts_at(fronts_address)
    hash_children(data, work, bits, work.hashes)
    h = work.hashes[test]
    if fronts.paid:
        paid = paid_at(fronts.paid)
        pay(paid, prices, test)
        copy(paid.after, prices)
        mix(prices, h, 0)
        mix(prices, h, 2)
    return recall(table, h[0], h[1], depth), recall(table, h[2], h[3], depth)
