"""Compiled start on a set of rows: its answer at once, or its root tests in order. Loads numba.

Bounds
------
look-ahead : every tree that is not a leaf has two leaves and a split; one with four leaves or more
    costs four leaves and three splits, and one with fewer has depth two at most, so a depth-two
    optimum below that is optimal at any depth (Lin et al. 2020, GOSDT, section 4 and appendix B).
similarity, per test : see `memory`.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.compiling.kernels import kernel
from milp_trees.engines.dynamic.arrays import INFINITY
from milp_trees.engines.dynamic.depth_three import depth_three
from milp_trees.engines.dynamic.gains import gini_order, sort_tests
from milp_trees.engines.dynamic.memory import archive_level, look_up, similar, store
from milp_trees.engines.dynamic.nodes import best_two, hash_children, leaf_value, pair, sums
from milp_trees.engines.dynamic.words import copy, count, fill

#: What a level does next.
ENTER, NEXT, FIRST_BACK, SECOND_BACK = range(4)


@kernel(allocates=False)
def code(level):
    """Depth and allowed discrepancies in one number, as the table keeps them."""
    return level.depth | (level.allowed + 1) << 6


@kernel(allocates=False)
def _remembered(work, table, h1, h2, depth_code):
    """(known exactly, value or lower bound, test) of a set from the table."""
    if not work.cache:
        return False, np.int64(0), np.int64(-1)
    known, value, exact, test = look_up(table, h1, h2, depth_code)
    if known:
        work.hits += 1
        return exact, value, test
    return False, np.int64(0), np.int64(-1)


@kernel(allocates=False)
def answer(stack, value, exact, test):
    stack.returned, stack.exact, stack.returned_test = value, exact, test
    return True


@kernel(allocates=False)
def enter(data, work, table, stack, level):
    """Try to answer for a set at once: True if `stack` holds the answer.

    Otherwise the root tests are put in order.
    """
    bits = level.bits
    depth, budget = level.depth, level.budget
    work.nodes += 1
    total = level.total
    sums(data, bits, total)
    best, test = leaf_value(data, total), np.int64(-1)
    floor = min(best, 2 * data.leaf + data.least_split) if work.look_ahead else np.int64(0)
    if best <= floor:
        return answer(stack, best, best <= budget, test)
    h = level.key
    exact, value, known_test = _remembered(work, table, h[0], h[1], code(level))
    if exact:
        return answer(stack, value, value <= budget, known_test)
    floor = max(floor, value)
    if work.similarity and depth != 3 and level.allowed < 0:
        alike = similar(work, archive_level(work, depth), bits, data.heavy, data.n_masses > 0)
        if floor <= budget < alike:
            work.similar += 1
        floor = max(floor, alike)
    if floor > budget:
        return answer(stack, floor, False, test)
    level.best, level.test, level.lower, level.size = best, test, floor, count(bits)
    if best <= floor:
        return answer(stack, best, True, test)
    if depth == 3:
        value, exact, test = depth_three(data, work, table, stack, level)
        if stack.stop[0]:
            if value < level.best:
                level.best, level.test = value, test
        elif work.cache:
            store(table, h[0], h[1], code(level), value, exact, test)
        return answer(stack, value, exact, test)
    return _order(data, work, table, stack, level)


@kernel(allocates=False)
def _order(data, work, table, stack, level):
    """Bound and order the root tests; True if that answers for the set.

    Where leaves cost something, the depth-two trees of all children are evaluated first.
    """
    bits = level.bits
    F = data.n_tests
    fill(level.bound, level.lower)
    hash_children(data, work, bits, level.hashes)
    if data.leaf + data.least_split > 0 and work.look_ahead and level.allowed < 0:
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
    level.lower = max(level.lower, min(level.best, four))
    if level.best <= level.lower:
        work.ahead += 1
        return answer(stack, level.best, level.best <= budget, level.test)
    if level.lower > budget:
        work.ahead += 1
        return answer(stack, level.lower, False, level.test)
    for f in range(data.n_tests):
        copy(level.hashes[f], work.hashes[f])
    for f in range(data.n_tests):
        if stack.stop[0]:
            break
        if not pair(data, work, table, bits, f, np.int64(INFINITY)):
            level.bound[f] = INFINITY
            continue
        a, b = work.value[0, 0], work.value[1, 0]
        if a + b + data.split[f] < level.best:
            level.best, level.test = a + b + data.split[f], f
        level.bound[f] = max(level.lower, min(a, four) + min(b, four) + data.split[f])
    return False


@kernel(allocates=False)
def bound_of(data, work, table, bits, h1, h2, depth, allowed):
    """(known exactly, value or lower bound) of a child.

    The value is at least the cost of a leaf, on which the depth of the stack relies. Trees with
    four leaves or more cost at least `four`, and the others are no deeper than two.
    """
    exact, value, _ = _remembered(work, table, h1, h2, depth | (allowed + 1) << 6)
    value = max(value, data.leaf)
    four = 4 * data.leaf + 3 * data.least_split
    if not exact and value < four and allowed < 0 and work.look_ahead:
        known, two, _, _ = look_up(table, h1, h2, 2)
        if known:
            value = max(value, min(two, four))
    if not exact and work.similarity and allowed < 0:
        value = max(
            value,
            similar(work, archive_level(work, depth), bits, data.heavy, data.n_masses > 0),
        )
    return exact, value
