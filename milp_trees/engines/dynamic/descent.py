"""Compiled search over sets of rows: a tree of depth three by pairs of children, deeper ones by
descent with an explicit stack. Loads numba.

A set is asked for with a budget: the answer is its optimum if that is at most the budget, else a
lower bound above it. The search returns to its caller, and goes on when called again, when a flag
is raised, when the table should grow, and when the root has a better tree.

Bounds
------
look-ahead : every tree that is not a leaf has two leaves and a split; one with four leaves or more
costs four leaves and three splits, and one
    with fewer has depth two at most, so a depth-two optimum below that is optimal at any depth (Lin
    et al. 2020, GOSDT, section 4 and appendix B).
similarity, per test : see `memory`.
sibling : what a side must cost at least is taken from the budget of the other side; its depth-two optimum bounds that too, by look-ahead.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

# Long lists of names stay on few lines.
# ruff: isort: skip_file

import numpy as np
from numba import njit

from milp_trees.engines.dynamic.arrays import (
    INFINITY,
    LEAF,
    LEAST_SPLIT,
    N_MASSES,
    N_TESTS,
    UNLIMITED,
)
from milp_trees.engines.dynamic.choice import goal_of, pick
from milp_trees.engines.dynamic.depth_three import archive_level, depth_three
from milp_trees.engines.dynamic.gains import gini_order, sort_tests
from milp_trees.engines.dynamic.layouts import data_at, stack_at, table_at, work_at
from milp_trees.engines.dynamic.memory import ROOM, USED, archive_set, look_up, similar, store
from milp_trees.engines.dynamic.nodes import (
    CACHE,
    CUT_AHEAD,
    CUT_SIBLING,
    CUT_SIMILAR,
    GINI,
    HITS,
    LARGER_FIRST,
    LOOK_AHEAD,
    NODES,
    SIBLING,
    SIMILARITY,
    UPPER,
    hash_children,
    large_enough,
    leaf_value,
    best_two,
    pair,
    sums,
)
from milp_trees.engines.dynamic.stack import (
    ALLOWED,
    BASE,
    BEST,
    BUDGET,
    CURRENT,
    DEPTH,
    EXACT,
    FIRST_SIDE,
    FIRST_VALUE,
    LEVEL,
    LOWER,
    OTHER_BOUND,
    OTHER_EXACT,
    PHASE,
    POSITION,
    REPORTED,
    RETURNED,
    RETURNED_TEST,
    SHARED_BEST,
    SIZE,
    STOP,
    TEST,
)
from milp_trees.engines.dynamic.words import atomic_add, atomic_min, children, copy, count, subtract

#: Why the search returned.
DONE, STOPPED, NEEDS_ROOM, IMPROVED = range(4)
#: What a level does next (0: enter its set).
_ENTER, _NEXT, _FIRST_BACK, _SECOND_BACK = range(4)


@njit(cache=True)
def code(number):
    """Depth and allowed discrepancies in one number, as the table keeps them."""
    return number[DEPTH] | (number[ALLOWED] + 1) << 6


@njit(cache=True)
def _remembered(work, table, h1, h2, depth_code):
    """(known exactly, value or lower bound, test) of a set from the table."""
    if not work.flags[CACHE]:
        return False, np.int64(0), np.int64(-1)
    known, value, exact, test = look_up(table, h1, h2, depth_code)
    if known:
        work.counters[HITS] += 1
        return exact, value, test
    return False, np.int64(0), np.int64(-1)


@njit(cache=True)
def _answer(stack, value, exact, test):
    stack.state[RETURNED], stack.state[EXACT], stack.state[RETURNED_TEST] = value, exact, test
    return True


@njit(cache=True)
def _enter(data, work, table, stack, lev):
    """Try to answer for a set at once: True if `stack.state` holds the answer. Else its root tests
    are put in order.
    """
    number, bits = stack.number[lev], stack.bits[lev]
    depth, budget = number[DEPTH], number[BUDGET]
    work.counters[NODES] += 1
    total = stack.total[lev]
    sums(data, bits, total)
    best, test = leaf_value(data, total), np.int64(-1)
    floor = (
        min(best, 2 * data.par[LEAF] + data.par[LEAST_SPLIT])
        if work.flags[LOOK_AHEAD]
        else np.int64(0)
    )
    if best <= floor:
        return _answer(stack, best, best <= budget, test)
    h = stack.key[lev]
    exact, value, known_test = _remembered(work, table, h[0], h[1], code(number))
    if exact:
        return _answer(stack, value, value <= budget, known_test)
    floor = max(floor, value)
    if work.flags[SIMILARITY] and depth != 3 and number[ALLOWED] < 0:
        alike = similar(work, archive_level(work, depth), bits, data.heavy, data.par[N_MASSES] > 0)
        if floor <= budget < alike:
            work.counters[CUT_SIMILAR] += 1
        floor = max(floor, alike)
    if floor > budget:
        return _answer(stack, floor, False, test)
    number[BEST], number[TEST], number[LOWER], number[SIZE] = best, test, floor, count(bits)
    if best <= floor:
        return _answer(stack, best, True, test)
    if depth == 3:
        value, exact, test = depth_three(
            data, work, table, stack.board, bits, budget, stack.bound[lev]
        )
        if stack.board[STOP]:
            if value < number[BEST]:
                number[BEST], number[TEST] = value, test
        elif work.flags[CACHE]:
            store(table, h[0], h[1], code(number), value, exact, test)
        return _answer(stack, value, exact, test)
    return _order(data, work, table, stack, lev)


@njit(cache=True)
def _order(data, work, table, stack, lev):
    """Bounds and order of the root tests. Where leaves cost something, the depth-two trees of all
    children are evaluated first.
    """
    number, bits = stack.number[lev], stack.bits[lev]
    F = data.par[N_TESTS]
    stack.bound[lev, :F] = number[LOWER]
    hash_children(data, work, bits, stack.hashes[lev])
    if (
        data.par[LEAF] + data.par[LEAST_SPLIT] > 0
        and work.flags[LOOK_AHEAD]
        and number[ALLOWED] < 0
    ):
        if _expand(data, work, table, stack, lev):
            return True
        for f in range(F):
            work.impurity[f] = stack.bound[lev, f]
        sort_tests(stack.order[lev], work.impurity, F)
    else:
        if lev == 0 and work.flags[UPPER] and number[ALLOWED] < 0:
            value, test = best_two(data, work, bits)
            if value < number[BEST]:
                number[BEST], number[TEST] = value, test
        if work.flags[GINI] or number[ALLOWED] >= 0:
            gini_order(data, bits, stack.order[lev], work.weight, work.impurity)
        else:
            for f in range(F):
                stack.order[lev, f] = f
    if lev == 0:
        for f in range(F):  # other threads may have raised them already
            stack.root_bound[f] = max(stack.root_bound[f], stack.bound[0, f])
    number[POSITION] = -1
    number[PHASE] = _NEXT
    return False


@njit(cache=True)
def _expand(data, work, table, stack, lev):
    """Upper and lower bounds of all root tests from the depth-two optima of the children; True if
    that settles the set.
    """
    number, bits = stack.number[lev], stack.bits[lev]
    budget = number[BUDGET]
    four = 4 * data.par[LEAF] + 3 * data.par[LEAST_SPLIT]
    value, test = best_two(data, work, bits)
    if value < number[BEST]:
        number[BEST], number[TEST] = value, test
    number[LOWER] = max(number[LOWER], min(number[BEST], four))
    if number[BEST] <= number[LOWER]:
        work.counters[CUT_AHEAD] += 1
        return _answer(stack, number[BEST], number[BEST] <= budget, number[TEST])
    if number[LOWER] > budget:
        work.counters[CUT_AHEAD] += 1
        return _answer(stack, number[LOWER], False, number[TEST])
    for f in range(data.par[N_TESTS]):
        copy(stack.hashes[lev, f], work.hashes[f])
    for f in range(data.par[N_TESTS]):
        if stack.board[STOP]:
            break
        if not pair(data, work, table, bits, f, np.int64(INFINITY)):
            stack.bound[lev, f] = INFINITY
            continue
        a, b = work.value[0, 0], work.value[1, 0]
        if a + b + data.split[f] < number[BEST]:
            number[BEST], number[TEST] = a + b + data.split[f], f
        stack.bound[lev, f] = max(number[LOWER], min(a, four) + min(b, four) + data.split[f])
    return False


@njit(cache=True)
def _bound(data, work, table, bits, h1, h2, depth, allowed):
    """(known exactly, value or lower bound) of a child; it is at least the cost of a leaf, which
    the depth of the stack relies on.

    Trees with four leaves or more cost at least `four`, and the others are no deeper than two.
    """
    exact, value, _ = _remembered(work, table, h1, h2, depth | (allowed + 1) << 6)
    value = max(value, data.par[LEAF])
    four = 4 * data.par[LEAF] + 3 * data.par[LEAST_SPLIT]
    if not exact and value < four and allowed < 0 and work.flags[LOOK_AHEAD]:
        known, two, _, _ = look_up(table, h1, h2, 2)
        if known:
            value = max(value, min(two, four))
    if not exact and work.flags[SIMILARITY] and allowed < 0:
        value = max(
            value,
            similar(work, archive_level(work, depth), bits, data.heavy, data.par[N_MASSES] > 0),
        )
    return exact, value


@njit(cache=True)
def _try(data, work, table, stack, lev, f):
    """Bounds of both sides of a root test; if they do not settle it, the first side becomes the
    next level.
    """
    number, bits = stack.number[lev], stack.bits[lev]
    depth = number[DEPTH] if number[DEPTH] == UNLIMITED else number[DEPTH] - 1
    allowed = number[ALLOWED] - number[POSITION] if number[ALLOWED] >= 0 else np.int64(-1)
    left, right = stack.side[lev, 0], stack.side[lev, 1]
    n = children(bits, data.tests[f], left, right)
    number[CURRENT] = f
    if n == 0 or n == number[SIZE] or not _both_large(data, work, stack, lev, right):
        return _settle(stack, lev, np.int64(INFINITY))
    h = stack.hashes[lev, f]
    left_exact, a = _bound(data, work, table, left, h[0], h[1], depth, allowed)
    right_exact, b = _bound(data, work, table, right, h[2], h[3], depth, allowed)
    goal = goal_of(stack, lev)
    low = a + b + data.split[f]
    if left_exact and right_exact:
        _offer(stack, lev, low, f)
        return _settle(stack, lev, low)
    if low >= goal:
        work.counters[CUT_SIBLING] += 1
        return _settle(stack, lev, low)
    # Where splits are free the larger side exhausts the budget sooner; where they cost, the smaller
    # one is settled by its depth-two tree.
    larger = (work.flags[LARGER_FIRST] != 0) == (data.par[LEAF] + data.par[LEAST_SPLIT] == 0)
    first = 0 if (2 * n <= number[SIZE]) == larger else 1
    if left_exact or right_exact:
        first = 1 if left_exact else 0
    number[FIRST_SIDE] = first
    number[OTHER_BOUND], number[OTHER_EXACT] = (b, right_exact) if first == 0 else (a, left_exact)
    number[PHASE] = _FIRST_BACK
    other = number[OTHER_BOUND] if work.flags[SIBLING] or number[OTHER_EXACT] else data.par[LEAF]
    return _push(stack, lev, first, depth, allowed, goal - 1 - data.split[f] - other)


@njit(cache=True)
def _both_large(data, work, stack, lev, right):
    if data.par[N_MASSES] == 0:
        return True
    sums(data, right, work.total[1])
    subtract(stack.total[lev], work.total[1], work.total[2])
    return large_enough(data, work.total[1]) and large_enough(data, work.total[2])


@njit(cache=True)
def _push(stack, lev, side, depth, allowed, budget):
    child = stack.number[lev + 1]
    child[DEPTH], child[BUDGET], child[ALLOWED], child[PHASE] = depth, budget, allowed, _ENTER
    copy(stack.side[lev, side], stack.bits[lev + 1])
    f = stack.number[lev, CURRENT]
    stack.key[lev + 1, 0] = stack.hashes[lev, f, 2 * side]
    stack.key[lev + 1, 1] = stack.hashes[lev, f, 2 * side + 1]
    stack.state[LEVEL] = lev + 1


@njit(cache=True)
def _settle(stack, lev, low):
    """Record a bound on the current root test and go on to the next one."""
    number = stack.number[lev]
    f = number[CURRENT]
    number[PHASE] = _NEXT
    if lev > 0:
        stack.bound[lev, f] = max(stack.bound[lev, f], low)
    else:
        stack.root_bound[f] = max(stack.root_bound[f], low)
        atomic_add(stack.busy.ctypes.data + 8 * f, -1)


@njit(cache=True)
def _offer(stack, lev, value, f):
    number = stack.number[lev]
    if value < number[BEST]:
        number[BEST], number[TEST] = value, f
        if lev == 0:
            atomic_min(stack.board.ctypes.data + 8 * SHARED_BEST, value)


@njit(cache=True)
def _back(data, work, stack, lev):
    """A side has been answered: try the other one, or settle the root test."""
    number = stack.number[lev]
    f, value, exact = number[CURRENT], stack.state[RETURNED], stack.state[EXACT] != 0
    cost = data.split[f]
    if number[PHASE] == _SECOND_BACK:
        total = number[FIRST_VALUE] + value + cost
        if exact:
            _offer(stack, lev, total, f)
        _settle(stack, lev, total)
        return
    total = value + number[OTHER_BOUND] + cost
    if not exact:
        _settle(stack, lev, total)
        return
    if number[OTHER_EXACT]:
        _offer(stack, lev, total, f)
        _settle(stack, lev, total)
        return
    goal = goal_of(stack, lev)
    if total >= goal:
        work.counters[CUT_SIBLING] += 1
        _settle(stack, lev, total)
        return
    number[FIRST_VALUE] = value
    number[PHASE] = _SECOND_BACK
    depth = number[DEPTH] if number[DEPTH] == UNLIMITED else number[DEPTH] - 1
    allowed = number[ALLOWED] - number[POSITION] if number[ALLOWED] >= 0 else np.int64(-1)
    _push(stack, lev, 1 - number[FIRST_SIDE], depth, allowed, goal - 1 - cost - value)


@njit(cache=True)
def _close(data, work, table, stack, lev):
    """All root tests have been tried: the set's optimum, or a bound above its budget."""
    number, F = stack.number[lev], data.par[N_TESTS]
    best, budget, test = number[BEST], number[BUDGET], number[TEST]
    exact = best <= budget
    value = best
    if not exact:
        if number[ALLOWED] < 0:
            for f in range(F):
                value = min(value, stack.bound[lev, f])
        else:
            value = budget + 1
        value = max(value, budget + 1)
    if work.flags[CACHE]:
        store(table, stack.key[lev, 0], stack.key[lev, 1], code(number), value, exact, test)
    if work.flags[SIMILARITY] and number[ALLOWED] < 0:
        archive_set(
            work, archive_level(work, number[DEPTH]), stack.bits[lev], value, stack.bound[lev], F
        )
    _answer(stack, value, exact, test)


@njit(cache=True, nogil=True)
def run(data_address, work_address, table_address, stack_address, best_first, bounded):
    """Go on until the set at level `stack.state[BASE]` is answered, or there is a reason to return.
    `bounded`: the table must not grow.
    """
    data, work, table, stack = (
        data_at(data_address),
        work_at(work_address),
        table_at(table_address),
        stack_at(stack_address),
    )
    F, base = data.par[N_TESTS], stack.state[BASE]
    while True:
        lev = stack.state[LEVEL]
        if lev < base:
            return DONE
        if stack.board[STOP]:
            return STOPPED
        number = stack.number[lev]
        if number[PHASE] == _ENTER:
            if not bounded and table.state[USED] > table.state[ROOM]:
                return NEEDS_ROOM
            if _enter(data, work, table, stack, lev) and not stack.board[STOP]:
                stack.state[LEVEL] = lev - 1
        elif number[PHASE] == _NEXT:
            if lev == 0 and base == 0 and number[BEST] < stack.state[REPORTED]:
                stack.state[REPORTED] = number[BEST]
                atomic_min(stack.board.ctypes.data + 8 * SHARED_BEST, number[BEST])
                return IMPROVED
            f = pick(stack, lev, F, best_first)
            if f >= 0:
                _try(data, work, table, stack, lev, f)
            elif lev == 0:
                _answer(stack, number[BEST], True, number[TEST])
                stack.state[LEVEL] = -1
            else:
                _close(data, work, table, stack, lev)
                stack.state[LEVEL] = lev - 1
        else:
            _back(data, work, stack, lev)
