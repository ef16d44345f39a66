"""Compiled start on a set of rows: its answer at once, or its root tests in order. Loads numba.

Bounds
------
look-ahead : every tree that is not a leaf has two leaves and a split; one with four leaves or more
    costs four leaves and three splits, and one with fewer has depth two at most, so a depth-two
    optimum below that is optimal at any depth (Lin et al. 2020, GOSDT, section 4 and appendix B).
free : a bound for trees of any depth, which every later search of the set may use, whatever its
    depth. A tree deeper than r has r + 2 leaves at least, so that a bound for depth r is free up to
    what r + 2 leaves and r + 1 splits cost, and entirely where there are too few rows for them. That
    of a root test is the sum of those of its sides.
similarity, per test : see `memory`.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dp.depth_three import depth_three
from milp_trees.engines.dp.gains import gini_order, sort_tests
from milp_trees.engines.dp.memory import (
    archive_level,
    look_up,
    look_up_free,
    similar,
    store,
    store_free,
)
from milp_trees.engines.dp.nesting import forget
from milp_trees.engines.dp.nodes import best_two, hash_children, leaf_value, pair, sums
from milp_trees.engines.dp.words import copy, count, fill

#: What a level does next.
ENTER, NEXT, FIRST_BACK, SECOND_BACK = range(4)


@kernel(allocates=False)
def code(level):
    """Depth and allowed discrepancies in one number, as the table keeps them."""
    return level.depth | (level.allowed + 1) << 6


@kernel(allocates=False)
def _remembered(work, table, h1, h2, depth_code, carried):
    """(known exactly, value or lower bound, test) of a set from the table.

    Without a depth limit that is the bound for trees of any depth, which was looked up before.
    """
    if not work.cache or (carried and depth_code == UNLIMITED):
        return False, np.int64(0), np.int64(-1)
    known, value, exact, test = look_up(table, h1, h2, depth_code)
    if known:
        work.hits += 1
        return exact, value, test
    return False, np.int64(0), np.int64(-1)


@kernel(allocates=False)
def _remembered_free(work, table, h1, h2):
    """(value or lower bound, depth that its tree needs, test) of a set for trees of any depth."""
    if not work.cache:
        return np.int64(0), np.int64(UNLIMITED + 1), np.int64(-1)
    value, needs, test = look_up_free(table, h1, h2)
    if value:
        work.hits += 1
    return value, needs, test


@kernel(allocates=False)
def carries(data, work, allowed):
    """Whether bounds for trees of any depth are worth keeping.

    If neither leaves cost something nor have a minimum, deep trees cost nothing.
    """
    return work.free_bounds != 0 and allowed < 0 and (data.n_masses > 0 or data.priced)


@kernel(allocates=False)
def cost_deeper(data, level):
    """What trees that are deeper than a set is asked for cost at least.

    They have two leaves more than levels; where there is no room for as many, there is none.
    """
    depth = level.depth
    if depth == UNLIMITED or level.size < depth + 2:
        return np.int64(INFINITY)
    for k in range(data.n_masses):
        if level.total[data.n_values + k] < (depth + 2) * data.least[k]:
            return np.int64(INFINITY)
    return (depth + 2) * data.leaf + (depth + 1) * data.least_split


@kernel(allocates=False)
def answer(stack, value, exact, test, free):
    stack.returned, stack.exact, stack.returned_test = value, exact, test
    stack.returned_free = free
    return True


@kernel(allocates=False)
def keep(data, work, table, level, value, exact, test, free):
    """Put a value or bound of a set into the table, and its bound for trees of any depth.

    The latter only if it is better than what is known of it.
    """
    if not work.cache:
        return
    h = level.key
    if carries(data, work, level.allowed):
        if free >= value:
            store_free(table, h[0], h[1], value, exact, test, level.depth)
            return
        if free > level.free:
            store_free(table, h[0], h[1], free, False, np.int64(-1), np.int64(0))
    store(table, h[0], h[1], code(level), value, exact, test)


@kernel(allocates=False)
def enter(data, work, table, stack, level):
    """Try to answer for a set at once: True if `stack` holds the answer.

    Otherwise the root tests are put in order. `level.lower` is a bound that is known already.
    """
    bits = level.bits
    depth, budget = level.depth, level.budget
    work.nodes += 1
    total = level.total
    level.size = count(bits)
    sums(data, bits, total)
    best, test = leaf_value(data, total), np.int64(-1)
    floor = min(best, 2 * data.leaf + data.least_split) if work.look_ahead else np.int64(0)
    if best <= floor:
        return answer(stack, best, best <= budget, test, best)
    h = level.key
    level.free = floor
    carried = carries(data, work, level.allowed)
    if carried:
        value, needs, known_test = _remembered_free(work, table, h[0], h[1])
        if needs <= depth:
            return answer(stack, value, value <= budget, known_test, value)
        level.free = floor = max(floor, value)
    exact, value, known_test = _remembered(work, table, h[0], h[1], code(level), carried)
    if exact:
        return answer(stack, value, value <= budget, known_test, level.free)
    floor = max(floor, value, level.lower)
    if floor > budget:
        return answer(stack, floor, False, test, _free(data, level, floor))
    level.best, level.test, level.lower = best, test, floor
    if best <= floor:
        free = _free(data, level, best)
        keep(data, work, table, level, best, True, test, free)
        return answer(stack, best, True, test, free)
    if depth == 3:
        value, exact, test = depth_three(data, work, table, stack, level)
        if stack.stop[0]:
            if value < level.best:
                level.best, level.test = value, test
        else:
            free = _free(data, level, value)
            keep(data, work, table, level, value, exact, test, free)
            level.free = free
        return answer(stack, value, exact, test, level.free)
    return _order(data, work, table, stack, level)


@kernel(allocates=False)
def alike(data, work, depth, bits, floor):
    """The better one of a bound on a set and those from similar sets."""
    level = archive_level(work, depth)
    return similar(work, level, bits, data.heavy, data.relation, floor)


@kernel(allocates=False)
def _free(data, level, value):
    """A bound for trees of any depth from one for the depth of a set."""
    if level.allowed >= 0:  # the bound holds for some trees only
        return level.free
    return max(level.free, min(value, cost_deeper(data, level)))


@kernel(allocates=False)
def _order(data, work, table, stack, level):
    """Bound and order the root tests; True if that answers for the set.

    Where leaves cost something, the depth-two trees of all children are evaluated first.
    """
    bits = level.bits
    F = data.n_tests
    fill(level.bound, level.lower)
    fill(level.free_bound, level.free)
    if work.nested:
        forget(level.low, np.int64(data.leaf))
    hash_children(data, work, bits, level.hashes)
    if data.priced and work.look_ahead and level.allowed < 0:
        if _expand(data, work, table, stack, level):
            return True
        for f in range(F):
            work.impurity[f] = level.bound[f]
        sort_tests(level.order, work.impurity, F)
    else:
        if level.number == 0 and level.allowed < 0:  # a tree to have if the search is stopped
            value, test = best_two(data, work, bits)
            if value < level.best:
                level.best, level.test = value, test
        if work.gini or level.allowed >= 0:
            gini_order(data, bits, level.order, work.weight, work.impurity)
        else:
            for f in range(F):
                level.order[f] = f
    if level.number == 0:
        for f in range(F):  # other threads may have raised them already
            stack.root_bound[f] = max(stack.root_bound[f], level.bound[f])
            stack.root_free[f] = max(stack.root_free[f], level.free_bound[f])
    level.position = -1
    level.phase = NEXT
    return False


@kernel(allocates=False)
def _expand(data, work, table, stack, level):
    """Upper and lower bounds of all root tests from the depth-two optima of the children.

    True if that answers for the set.
    """
    bits = level.bits
    budget = level.budget
    four = 4 * data.leaf + 3 * data.least_split
    value, test = best_two(data, work, bits)
    if value < level.best:
        level.best, level.test = value, test
    ahead = min(level.best, four)
    level.lower, level.free = max(level.lower, ahead), max(level.free, ahead)
    if level.best <= level.lower:
        work.ahead += 1
        free = _free(data, level, level.best)
        return answer(stack, level.best, level.best <= budget, level.test, free)
    if level.lower > budget:
        work.ahead += 1
        return answer(stack, level.lower, False, level.test, _free(data, level, level.lower))
    for f in range(data.n_tests):
        copy(level.hashes[f], work.hashes[f])
    for f in range(data.n_tests):
        if stack.stop[0]:
            break
        if not pair(data, work, table, bits, f, np.int64(INFINITY)):
            level.bound[f] = level.free_bound[f] = INFINITY
            continue
        a, b = work.value[0, 0], work.value[1, 0]
        if a + b + data.split[f] < level.best:
            level.best, level.test = a + b + data.split[f], f
        ahead = min(a, four) + min(b, four) + data.split[f]
        level.bound[f] = max(level.lower, ahead)
        level.free_bound[f] = max(level.free, ahead)
    return False


@kernel(allocates=False)
def bound_of(data, work, table, h1, h2, depth, allowed):
    """(known exactly, value or lower bound, bound for trees of any depth) of a child.

    The value is at least the cost of a leaf, on which the depth of the stack relies. Trees with
    four leaves or more cost at least `four`, and the others are no deeper than two.
    """
    free = np.int64(data.leaf)
    carried = carries(data, work, allowed)
    if carried:
        value, needs, _ = _remembered_free(work, table, h1, h2)
        if needs <= depth:
            return True, value, value
        free = max(free, value)
    exact, value, _ = _remembered(work, table, h1, h2, depth | (allowed + 1) << 6, carried)
    four = 4 * data.leaf + 3 * data.least_split
    if not exact and max(value, free) < four and allowed < 0 and work.look_ahead:
        known, two, _, _ = look_up(table, h1, h2, 2)
        if known:
            free = max(free, min(two, four))
    return exact, max(value, free), free
