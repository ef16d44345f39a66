"""Compiled best-first search for the best tree of depth three or more over sorted columns.

A node keeps a pool of spans (`spans`). The one with the least bound is cut in its middle, both
sides are solved with the rest of the budget, and two shorter spans with better bounds replace it
(the interval bounds of Brița, van der Linden, Demirović 2025, *ConTree*; here with a pool over all
columns and divisions of the leaves). The call stack is an array: compiled functions that call each
other cannot be cached.

Where leaves or splits have a price, a node is first solved at depth two: other trees have four
leaves at least, which cost so much that they often need not be looked at.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"

from functools import cache
from typing import Any

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.contexts import context_at
from milp_trees.engines.dp_sorted.memory import (
    BEST_CUT,
    BEST_DEPTH,
    BEST_HIGH,
    BEST_LEAVES,
    BEST_LOW,
    BOUND,
    BUDGET,
    CHILD_SIDE,
    COLUMN,
    CUT,
    DEPTH,
    FLOOR,
    HIGH,
    LEAVES,
    LOW,
    MODE,
    OPEN,
    PHASE,
    SPAN,
    UB,
    archive,
    fitted,
    identify,
    look_up,
    remember,
    similar,
    tag_of,
)
from milp_trees.engines.dp_sorted.nodes import (
    INFINITY,
    find_runs,
    large_enough,
    leaf_value,
    make_child,
    one_split,
    side_value,
)
from milp_trees.engines.dp_sorted.records import columns_of, lists_at, state_at, work_of
from milp_trees.engines.dp_sorted.spans import (
    AT,
    BEST,
    CALLS,
    CUTS,
    FULL,
    HITS,
    NODES,
    SIMILAR,
    better,
    choose,
    divide,
    open_node,
)
from milp_trees.engines.dp_sorted.sweep import depth_two

#: Phases: what the next return of a child, or the driver, means.
ENTER, NEXT, GOT_LOW, GOT_HIGH, GOT_LIMITED_LOW, GOT_LIMITED_HIGH = range(6)


@kernel(allocates=False)
def costs_deeper(columns: Any, depth: int) -> Any:
    """What trees deeper than `depth` cost at least for their leaves and splits."""
    return (depth + 2) * columns.leaf + (depth + 1) * columns.cheapest


@kernel(nogil=True, allocates=False)
def quick(columns: Any, state: Any, level: int):
    """Answer a child's question without looking at its rows if it can be; -1 if not."""
    s = state.level[level]
    depth, budget = s[DEPTH], s[BUDGET]
    value, exact = look_up(state, level, tag_of(depth, s[LEAVES], s[MODE]))
    if value >= 0 and (exact or value >= budget):
        state.shared[HITS] += 1
        return value
    if budget <= columns.leaf:
        return columns.leaf
    s[FLOOR] = max(s[FLOOR], value)
    if depth > 2 and columns.priced:
        # Trees of one level less are known, and those of as many levels cost at least `deeper`.
        less, leaves = fitted(depth - 1, s[LEAVES])
        value, exact = look_up(state, level, tag_of(less, leaves, s[MODE]))
        deeper = costs_deeper(columns, depth - 1)
        if min(value, deeper) >= budget or (exact and value <= deeper):
            state.shared[HITS] += 1
            return min(value, deeper)
    near = similar(columns, state, level)
    if near >= budget:
        state.shared[SIMILAR] += 1
        return near
    s[FLOOR] = max(s[FLOOR], near)
    return np.int64(-1)


@kernel(nogil=True, allocates=False)
def two_levels(columns: Any, lists: Any, work: Any, state: Any, level: int) -> Any:
    """Best tree of depth two of a node, or a bound; `found` gets its root."""
    state.shared[CALLS] += 1
    value = depth_two(columns, lists, work, state, level)
    if state.found[0] >= 0:
        state.found[2] = state.found[0]
    return value


@kernel(nogil=True, allocates=False)
def take_found(state: Any, level: int, depth: int) -> None:
    """Make the tree of at most two levels in `found` the best one of a node."""
    s, found = state.level[level], state.found
    s[COLUMN], s[BEST_CUT], s[BEST_DEPTH] = found[0], found[1], depth
    s[BEST_LOW], s[BEST_HIGH], s[BEST_LEAVES] = found[3], found[4], found[5]


@kernel(nogil=True, allocates=False)
def small_depth(columns: Any, lists: Any, work: Any, state: Any, level: int) -> Any:
    """Solve a node of depth at most two."""
    s = state.level[level]
    if s[DEPTH] == 0:
        value = leaf_value(columns, lists, level)
        state.found[0], state.found[1] = -1, -1
    elif s[DEPTH] == 1:
        value = one_split(columns, lists, level, s[MODE] == 1, state.found)
    else:
        value = two_levels(columns, lists, work, state, level)
    take_found(state, level, s[DEPTH])
    return value


@kernel(nogil=True, allocates=False)
def look_ahead(columns: Any, lists: Any, work: Any, state: Any, level: int) -> None:
    """Solve a node at depth two; it then has a tree, and a bound for all others."""
    s = state.level[level]
    value = two_levels(columns, lists, work, state, level)
    if state.stop[0]:
        return
    s[FLOOR] = max(s[FLOOR], min(value, costs_deeper(columns, 2)))
    if value < s[UB]:
        s[UB] = value
        take_found(state, level, np.int64(2))
        if level == 0:
            state.shared[BEST] = min(state.shared[BEST], value)
    if level > 0:
        remember(state, level, tag_of(2, 0, s[MODE]), value, value < s[BUDGET])


@kernel(nogil=True, allocates=False)
def ask(
    columns: Any, lists: Any, state: Any, level: int, side: int, budget: int, floor: int, phase: int
) -> Any:
    """Put the question for one side of the chosen cut on the stack; it costs at least `floor`."""
    s, child, spans = state.level[level], state.level[level + 1], state.spans[level]
    s[PHASE], s[CHILD_SIDE] = phase, side
    i = s[SPAN]
    leaves = spans[3, i] if side == 0 else s[LEAVES] - spans[3, i]
    child[DEPTH], child[LEAVES] = fitted(s[DEPTH] - 1, leaves)
    child[MODE], child[BUDGET], child[FLOOR] = phase >= GOT_LIMITED_LOW, budget, floor
    child[PHASE] = ENTER
    if child[DEPTH] > 0:
        identify(columns, lists, state, level, spans[0, i], s[CUT], side)
    return level + 1


@kernel(nogil=True, allocates=False)
def enter(columns: Any, lists: Any, work: Any, state: Any, level: int):
    """Answer a question that needs no pool, or open the pool and return -1."""
    s = state.level[level]
    if level > 0:
        above = state.level[level - 1]
        column, cut, side = state.spans[level - 1, 0, above[SPAN]], above[CUT], above[CHILD_SIDE]
        if s[DEPTH] == 0:
            return side_value(columns, lists, level - 1, column, cut, side)
        answer = quick(columns, state, level)
        if answer >= 0:
            return answer
        make_child(lists, level - 1, column, cut, side)
    else:
        find_runs(lists, level)
    if s[DEPTH] <= 2:
        answer = small_depth(columns, lists, work, state, level)
        if level > 0 and not state.stop[0]:
            keep(state, level, answer, answer < s[BUDGET])
        return answer
    open_node(columns, lists, state, level)
    state.shared[NODES] += 1
    if columns.priced:
        look_ahead(columns, lists, work, state, level)
    s[PHASE] = NEXT
    return np.int64(-1)


@kernel(nogil=True, allocates=False)
def keep(state: Any, level: int, value: int, exact: bool) -> None:
    """Remember a node's optimum or lower bound."""
    s = state.level[level]
    remember(state, level, tag_of(s[DEPTH], s[LEAVES], s[MODE]), value, exact)
    if s[MODE] == 0:
        archive(state, level, value)


@cache
def solver(number: str) -> Any:
    """The compiled `solve` for a number type; its arguments are addresses (`records.tables`)."""
    columns_at, work_at = context_at(columns_of(number)), context_at(work_of(number))

    @kernel(nogil=True, allocates=False)
    def solve_at(columns: int, lists: int, work: int, state: int) -> None:
        solve(columns_at(columns), lists_at(lists), work_at(work), state_at(state))

    return solve_at


@kernel(nogil=True, allocates=False)
def solve(columns: Any, lists: Any, work: Any, state: Any) -> None:  # noqa: C901
    """Solve the node at level 0, whose state and lists are set.

    Its UB then is the optimum if that is below the budget, else the budget; its root is in its
    state. After a stop UB is the value of the best tree so far, or the budget. Where the pools are
    too small for the spans, `FULL` is set: with larger ones the search goes on when it is called
    again.
    """
    level, answer = np.int64(state.shared[AT]), np.int64(0)
    state.shared[AT] = state.shared[FULL] = 0
    while not state.stop[0]:
        s = state.level[level]
        phase, s[PHASE] = s[PHASE], NEXT
        if phase == ENTER:
            answer = enter(columns, lists, work, state, level)
            if answer >= 0:
                if level == 0:
                    s[UB] = min(s[BUDGET], answer)
                    return
                level -= 1
            continue
        if phase == NEXT:
            if s[OPEN] + 1 >= state.spans.shape[2]:
                state.shared[AT], state.shared[FULL] = level, 1
                return
            if choose(columns, state, level):
                state.shared[CUTS] += 1
                i = s[SPAN]
                rest = s[UB] - columns.costs[state.spans[level, 0, i]] - state.bounds[level, 1, i]
                floor = state.bounds[level, 0, i]
                level = ask(columns, lists, state, level, 0, rest, floor, GOT_LOW)
                continue
            if level == 0:
                return
            answer = s[UB] if s[UB] < s[BUDGET] else max(s[BOUND], s[BUDGET])
            keep(state, level, answer, s[UB] < s[BUDGET])
            level -= 1
            continue
        i = s[SPAN]
        least_low, least_high = state.bounds[level, 0, i], state.bounds[level, 1, i]
        rest = s[UB] - columns.costs[state.spans[level, 0, i]]
        if phase == GOT_LOW:
            s[LOW] = answer
            if answer < rest - least_high or s[CUT] - state.spans[level, 1, i] > 1:
                rest -= least_low
                level = ask(columns, lists, state, level, 1, rest, least_high, GOT_HIGH)
                continue
            s[HIGH] = 0
            value = answer + least_high
        elif phase == GOT_HIGH:
            s[HIGH] = answer
            value = max(s[LOW], least_low) + max(answer, least_high)
            if value < rest and s[MODE] == 1:
                # Without the least amounts this cut would do; what does it cost with them?
                value = INFINITY
                if large_enough(columns, lists, level, state.spans[level, 0, i], s[CUT]):
                    rest -= s[HIGH]
                    level = ask(columns, lists, state, level, 0, rest, s[LOW], GOT_LIMITED_LOW)
                    continue
            elif value < rest:
                better(state, level, s[UB] - rest + value, s[LOW], answer)
        elif phase == GOT_LIMITED_LOW:
            value = answer + s[HIGH]
            if value < rest:
                state.bounds[level, 2, i] = answer
                rest -= answer
                level = ask(columns, lists, state, level, 1, rest, s[HIGH], GOT_LIMITED_HIGH)
                continue
        else:
            low = state.bounds[level, 2, i]
            value = low + answer
            if value < rest:
                better(state, level, s[UB] - rest + value, low, answer)
        if value >= rest:
            s[BOUND] = min(s[BOUND], s[UB] - rest + value)
        divide(state, level, s[LOW], s[HIGH])
