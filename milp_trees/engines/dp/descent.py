"""Compiled search over sets of rows: descent with an explicit stack. Loads numba.

A set is asked for with a budget: the answer is its optimum if that is at most the budget, else a
lower bound above it. The search returns to its caller, and goes on when called again, when a flag
is raised, when the table should grow, when the root has a better tree, and after some nodes.

What a side must cost at least is taken from the budget of the other side (`sibling`); its depth-two
optimum bounds that too, by look-ahead.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dp.entering import (
    ENTER,
    FIRST_BACK,
    NEXT,
    SECOND_BACK,
    alike,
    answer,
    bound_of,
    carries,
    cost_deeper,
    enter,
    keep,
)
from milp_trees.engines.dp.layouts import data_at, level_of, stack_at, table_at, work_at
from milp_trees.engines.dp.memory import archive_level, archive_set
from milp_trees.engines.dp.nesting import by_sides, note_side
from milp_trees.engines.dp.nodes import large_enough, sums
from milp_trees.engines.dp.words import atomic_add, atomic_min, children, copy, subtract

#: Why the search returned.
DONE, STOPPED, NEEDS_ROOM, IMPROVED, PAUSED = range(5)


@kernel(allocates=False)
def _goal_of(stack, level):
    """What a tree with the current root test must stay below to matter."""
    goal = min(level.best, level.budget + 1)
    if level.number == 0:
        goal = min(goal, stack.shared_best[0], level.rung + 1)
    return goal


@kernel(allocates=False)
def _pick(data, work, stack, level, F, best_first):
    """The next root test of a set, -1 if none is left."""
    if level.number == 0:
        return _pick_at_root(data, work, stack, level, F, best_first)
    goal = min(level.best, level.budget + 1)
    last = F - 1 if level.allowed < 0 else min(F - 1, level.allowed)
    while level.position < last:
        level.position += 1
        f = level.order[level.position]
        if work.nested and level.allowed < 0:
            level.bound[f] = max(level.bound[f], by_sides(data, level.low, f))
        if level.bound[f] < goal:
            return f
    return np.int64(-1)


@kernel(allocates=False)
def _pick_at_root(data, work, stack, level, F, best_first):
    """The next free root test: the first in order, or the one with the lowest bound.

    The latter is searched only up to the next bound.
    """
    last = F - 1 if level.allowed < 0 else min(F - 1, level.allowed)
    while True:
        goal = min(level.best, level.budget + 1, stack.shared_best[0])
        chosen, second = np.int64(-1), goal
        for k in range(last + 1):
            f = level.order[k]
            if work.nested and level.allowed < 0:
                nested = by_sides(data, level.low, f)
                if nested > stack.root_bound[f]:
                    stack.root_bound[f] = nested
            low = stack.root_bound[f]
            if low >= goal or stack.busy[f]:
                continue
            if chosen < 0:
                chosen, level.position = f, k
                if not best_first:
                    break
            elif low < stack.root_bound[chosen]:
                chosen, second, level.position = f, stack.root_bound[chosen], k
            else:
                second = min(second, low)
        if chosen < 0:
            return np.int64(-1)
        if atomic_add(stack.busy.ctypes.data + 8 * chosen, 1) == 0:
            break
        atomic_add(stack.busy.ctypes.data + 8 * chosen, -1)
    low = stack.root_bound[chosen]
    level.rung = max(second, low + max(1, (goal - low) // 4)) if best_first else INFINITY
    return chosen


@kernel(allocates=False)
def _try(data, work, table, stack, level, f):
    """Bound both sides of a root test; if that does not settle it, one side is the next level."""
    depth = level.depth if level.depth == UNLIMITED else level.depth - 1
    allowed = level.allowed - level.position if level.allowed >= 0 else np.int64(-1)
    left, right = level.side[0], level.side[1]
    n = children(level.bits, data.tests[f], left, right)
    level.current = f
    if n == 0 or n == level.size or not _both_large(data, work, stack, level, right):
        return _settle(data, work, stack, level, np.int64(INFINITY), np.int64(INFINITY))
    h = level.hashes[f]
    left_exact, a, a_free = bound_of(data, work, table, h[0], h[1], depth, allowed)
    right_exact, b, b_free = bound_of(data, work, table, h[2], h[3], depth, allowed)
    nested = work.nested and allowed < 0
    if nested:
        if not left_exact:
            a = max(a, level.low[f, 0])
        if not right_exact:
            b = max(b, level.low[f, 1])
        note_side(data, level.low, f, 0, a)
        note_side(data, level.low, f, 1, b)
    goal = _goal_of(stack, level)
    low, free = a + b + data.split[f], a_free + b_free + data.split[f]
    if left_exact and right_exact:
        _offer(stack, level, low, f)
        return _settle(data, work, stack, level, low, free)
    if low < goal and work.similarity and allowed < 0:
        if not left_exact:
            a = alike(data, work, depth, left, a)
        if not right_exact:
            b = alike(data, work, depth, right, b)
        low = a + b + data.split[f]
        if nested:
            note_side(data, level.low, f, 0, a)
            note_side(data, level.low, f, 1, b)
        if low >= goal:
            work.similar += 1
    if low >= goal:
        work.siblings += 1
        return _settle(data, work, stack, level, low, free)
    # Where splits are free the larger side exhausts the budget sooner; where they cost, the smaller
    # one is settled by its depth-two tree.
    larger = (work.larger_first != 0) == (data.priced == 0)
    first = 0 if (2 * n <= level.size) == larger else 1
    if left_exact or right_exact:
        first = 1 if left_exact else 0
    level.first_side = first
    level.other_bound, level.other_exact = (b, right_exact) if first == 0 else (a, left_exact)
    level.other_free = b_free if first == 0 else a_free
    level.phase = FIRST_BACK
    other = level.other_bound if work.sibling or level.other_exact else data.leaf
    budget = goal - 1 - data.split[f] - other
    return _push(stack, level, first, depth, allowed, budget, a if first == 0 else b)


@kernel(allocates=False)
def _both_large(data, work, stack, level, right):
    if data.n_masses == 0:
        return True
    sums(data, right, work.total[1])
    subtract(level.total, work.total[1], work.total[2])
    return large_enough(data, work.total[1]) and large_enough(data, work.total[2])


@kernel(allocates=False)
def _push(stack, level, side, depth, allowed, budget, lower):
    child, f = level_of(stack, level.number + 1), level.current
    child.lower, child.depth, child.budget, child.allowed, child.phase = (
        lower,
        depth,
        budget,
        allowed,
        ENTER,
    )
    copy(level.side[side], child.bits)
    child.key[0], child.key[1] = level.hashes[f, 2 * side], level.hashes[f, 2 * side + 1]
    stack.level = child.number


@kernel(allocates=False)
def _settle(data, work, stack, level, low, free):
    """Record bounds on the current root test and go on to the next one."""
    f = level.current
    level.phase = NEXT
    if level.number > 0:
        level.bound[f] = max(level.bound[f], low)
        level.free_bound[f] = max(level.free_bound[f], free)
    else:
        stack.root_bound[f] = max(stack.root_bound[f], low)
        if carries(data, work, level.allowed):
            free = max(free, min(stack.root_bound[f], cost_deeper(data, level)))
        stack.root_free[f] = max(stack.root_free[f], free)
        atomic_add(stack.busy.ctypes.data + 8 * f, -1)


@kernel(allocates=False)
def _offer(stack, level, value, f):
    if value < level.best:
        level.best, level.test = value, f
        if level.number == 0:
            atomic_min(stack.shared_best.ctypes.data, value)


@kernel(allocates=False)
def _back(data, work, stack, level):
    """A side has been answered: try the other one, or settle the root test."""
    f, value, exact = level.current, stack.returned, stack.exact != 0
    if work.nested and level.allowed < 0:
        first = level.first_side if level.phase == FIRST_BACK else 1 - level.first_side
        note_side(data, level.low, f, first, value)
    cost, free = data.split[f], stack.returned_free
    if level.phase == SECOND_BACK:
        total = level.first_value + value + cost
        if exact:
            _offer(stack, level, total, f)
        _settle(data, work, stack, level, total, level.first_free + free + cost)
        return
    total, whole = value + level.other_bound + cost, free + level.other_free + cost
    if not exact:
        _settle(data, work, stack, level, total, whole)
        return
    if level.other_exact:
        _offer(stack, level, total, f)
        _settle(data, work, stack, level, total, whole)
        return
    goal = _goal_of(stack, level)
    if total >= goal:
        work.siblings += 1
        _settle(data, work, stack, level, total, whole)
        return
    side = 1 - level.first_side
    depth = level.depth if level.depth == UNLIMITED else level.depth - 1
    allowed = level.allowed - level.position if level.allowed >= 0 else np.int64(-1)
    lower = level.other_bound
    if work.similarity and allowed < 0:
        lower = alike(data, work, depth, level.side[side], lower)
        if value + lower + cost >= goal:
            work.similar += 1
            _settle(data, work, stack, level, value + lower + cost, whole)
            return
    level.first_value, level.first_free, level.phase = value, free, SECOND_BACK
    _push(stack, level, side, depth, allowed, goal - 1 - cost - value, lower)


@kernel(allocates=False)
def _close(data, work, table, stack, level):
    """All root tests have been tried: the set's optimum, or a bound above its budget."""
    F = data.n_tests
    best, budget, test = level.best, level.budget, level.test
    exact = best <= budget
    value, free = budget + 1, level.free
    if level.allowed < 0:
        low, deeper = best, cost_deeper(data, level)
        value = best
        for f in range(F):
            value = min(value, level.bound[f])
            low = min(low, max(level.free_bound[f], min(level.bound[f], deeper)))
        free = max(free, low)
    value = best if exact else max(value, free, budget + 1)
    keep(data, work, table, level, value, exact, test, free)
    if work.similarity and level.allowed < 0:
        archive_set(work, archive_level(work, level.depth), level.bits, value, level.bound, F)
    answer(stack, value, exact, test, free)


@kernel(nogil=True, allocates=False)
def run(data_address, work_address, table_address, stack_address, best_first, bounded):
    """Continue until the set at level `stack.base` is answered, or there is a reason to return.

    With `bounded` the table must not grow.
    """
    data, work, table, stack = (
        data_at(data_address),
        work_at(work_address),
        table_at(table_address),
        stack_at(stack_address),
    )
    F, base = data.n_tests, stack.base
    while True:
        if stack.level < base:
            return DONE
        if stack.stop[0]:
            return STOPPED
        level = level_of(stack, stack.level)
        if level.phase == ENTER:
            if not bounded and table.used[0] > table.room:
                return NEEDS_ROOM
            if 0 < stack.until <= work.nodes:
                return PAUSED
            if enter(data, work, table, stack, level) and not stack.stop[0]:
                if level.number == 0:
                    for f in range(F):
                        stack.root_free[f] = max(stack.root_free[f], stack.returned_free)
                stack.level -= 1
        elif level.phase == NEXT:
            if level.number == 0 and base == 0 and level.best < stack.reported:
                stack.reported = level.best
                atomic_min(stack.shared_best.ctypes.data, level.best)
                return IMPROVED
            f = _pick(data, work, stack, level, F, best_first)
            if f >= 0:
                _try(data, work, table, stack, level, f)
            elif level.number == 0:
                answer(stack, level.best, True, level.test, np.int64(0))
                stack.level = -1
            else:
                _close(data, work, table, stack, level)
                stack.level -= 1
        else:
            _back(data, work, stack, level)
