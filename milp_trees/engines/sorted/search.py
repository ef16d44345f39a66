"""Compiled best-first search for the best tree of depth three or more over sorted columns.

A node keeps a pool of spans (column, cuts between a and b, lower bounds of the low side at a and of
the high side at b). The span with the least bound is cut in its middle, both sides are solved with
the rest of the budget, and two shorter spans with better bounds replace it (the interval bounds of
Brița, van der Linden, Demirović 2025, *ConTree*; here with a pool over all columns). The call stack
is an array: compiled functions that call each other cannot be cached.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"

from typing import Any

import numpy as np

from milp_trees.compiling.kernels import kernel
from milp_trees.engines.sorted.memory import archive, identify, look_up, remember, similar
from milp_trees.engines.sorted.nodes import INFINITY, find_runs, leaf_value, make_child, one_split
from milp_trees.engines.sorted.sweep import depth_two

#: Fields of a level's state.
(
    DEPTH,
    MODE,
    BUDGET,
    UB,
    BOUND,
    PHASE,
    OPEN,
    SPAN,
    CUT,
    LOW,
    HIGH,
    COLUMN,
    BEST_CUT,
    BEST_LOW,
    BEST_HIGH,
    CHILD_SIDE,
) = range(16)
#: Phases: what the next return of a child, or the driver, means.
ENTER, NEXT, GOT_LOW, GOT_HIGH, GOT_LIMITED_LOW, GOT_LIMITED_HIGH = range(6)
#: Fields of `shared`: best value found and lower bound at the root; depth-two calls, evaluated
#: cuts, cache hits, similarity bounds used, nodes.
BEST, LOWER, CALLS, CUTS, HITS, SIMILAR, NODES = range(7)


@kernel(nogil=True)
def quick(columns: Any, lists: Any, state: Any, level: int):
    """Answer a child's question without looking at its rows if it can be; -1 if not."""
    s = state.level[level]
    value, exact = look_up(state, level, s[DEPTH], s[MODE])
    if value >= 0 and (exact or value >= s[BUDGET]):
        state.shared[HITS] += 1
        return value
    if s[BUDGET] <= columns.leaf:
        return columns.leaf
    near = similar(columns, state, level, s[DEPTH], s[BUDGET])
    if near >= s[BUDGET]:
        state.shared[SIMILAR] += 1
        return near
    return np.int64(-1)


@kernel(nogil=True)
def small_depth(columns: Any, lists: Any, work: Any, state: Any, level: int) -> Any:
    """Solve a node of depth at most two."""
    s = state.level[level]
    limited = s[MODE] == 1
    if s[DEPTH] == 0:
        value = leaf_value(columns, lists, level)
        state.found[0], state.found[1] = -1, -1
    elif s[DEPTH] == 1:
        value = one_split(columns, lists, level, s[BUDGET], limited, state.found)
    else:
        state.shared[CALLS] += 1
        state.known[:] = 0
        hint = max(np.int64(0), state.found[2])
        value = depth_two(
            columns,
            lists,
            work,
            level,
            s[BUDGET],
            limited,
            state.known,
            hint,
            state.stop,
            state.found,
        )
        if state.found[0] >= 0:
            state.found[2] = state.found[0]
    s[COLUMN], s[BEST_CUT] = state.found[0], state.found[1]
    return value


@kernel(nogil=True)
def open_node(columns: Any, lists: Any, state: Any, level: int) -> None:
    """Fill the pool of a node with one span per column."""
    s = state.level[level]
    leaf = leaf_value(columns, lists, level)
    s[UB], s[BOUND] = min(s[BUDGET], leaf), leaf
    s[COLUMN], s[BEST_CUT], s[OPEN] = -1, -1, 0
    for c in range(lists.runs.shape[1]):
        last = lists.runs[level, c] - 1
        if last > 0:
            n = s[OPEN]
            spans, bounds = state.spans[level], state.bounds[level]
            spans[0, n], spans[1, n], spans[2, n] = c, -1, last
            bounds[0, n] = bounds[1, n] = bounds[2, n] = columns.leaf
            s[OPEN] = n + 1


@kernel(nogil=True)
def choose(columns: Any, state: Any, level: int) -> bool:
    """Take the span with the least bound, and the cut in its middle.

    False if no span can hold a better tree.
    """
    s, spans, bounds = state.level[level], state.spans[level], state.bounds[level]
    best, value, n, i = -1, INFINITY, s[OPEN], 0
    while i < n:
        bound = bounds[0, i] + bounds[1, i] + columns.costs[spans[0, i]]
        if bound >= s[UB] or spans[2, i] - spans[1, i] < 2:
            if spans[2, i] - spans[1, i] > 1:
                s[BOUND] = min(s[BOUND], bound)
            n -= 1
            for k in range(3):
                spans[k, i], bounds[k, i] = spans[k, n], bounds[k, n]
            continue
        if bound < value or (
            bound == value and spans[2, i] - spans[1, i] > spans[2, best] - spans[1, best]
        ):
            best, value = i, bound
        i += 1
    s[OPEN] = n
    if level == 0:
        state.shared[LOWER] = max(state.shared[LOWER], min(s[UB], s[BOUND], value))
    if best < 0:
        return False
    s[SPAN], s[CUT] = best, (spans[1, best] + spans[2, best]) // 2
    return True


@kernel(nogil=True)
def divide(state: Any, level: int, low: int, high: int) -> None:
    """Replace the chosen span by what lies on both sides of its cut."""
    s, spans, bounds = state.level[level], state.spans[level], state.bounds[level]
    i, n, t = s[SPAN], s[OPEN], s[CUT]
    spans[0, n], spans[1, n], spans[2, n] = spans[0, i], t, spans[2, i]
    bounds[0, n], bounds[1, n] = max(low, bounds[0, i]), bounds[1, i]
    spans[2, i] = t
    bounds[1, i] = max(high, bounds[1, i])
    s[OPEN] = n + 1


@kernel(nogil=True)
def large_enough(columns: Any, lists: Any, level: int, c: int, cut: int) -> bool:
    """Whether both sides of a cut have the least amount."""
    rows, k = lists.rows[level, c], lists.ends[level, c, cut]
    low, high = 0, 0
    for i in range(lists.size[level]):
        if i < k:
            low += columns.amounts[rows[i]]
        else:
            high += columns.amounts[rows[i]]
    return low >= columns.least and high >= columns.least


@kernel(nogil=True)
def ask(
    columns: Any, lists: Any, state: Any, level: int, side: int, budget: int, mode: int, phase: int
) -> Any:
    """Put the question for one side of the chosen cut on the stack."""
    s = state.level[level]
    s[PHASE], s[CHILD_SIDE] = phase, side
    child = state.level[level + 1]
    child[DEPTH], child[MODE], child[BUDGET], child[PHASE] = s[DEPTH] - 1, mode, budget, ENTER
    identify(columns, lists, state, level, state.spans[level, 0, s[SPAN]], s[CUT], side)
    return level + 1


@kernel(nogil=True)
def better(lists: Any, state: Any, level: int, value: int, low: int, high: int) -> None:
    """A tree of the node that costs less than all before."""
    s = state.level[level]
    s[UB], s[COLUMN], s[BEST_CUT], s[BEST_LOW], s[BEST_HIGH] = (
        value,
        state.spans[level, 0, s[SPAN]],
        s[CUT],
        low,
        high,
    )
    if level == 0:
        state.shared[BEST] = min(state.shared[BEST], value)


@kernel(nogil=True)
def solve(columns: Any, lists: Any, work: Any, state: Any) -> Any:
    """Value of the node at level 0, whose state and lists are set.

    It is the optimum if that is below the node's budget, else a lower bound of at least the
    budget. The best root test is in the state of the node. After a stop the value is that of the
    best tree so far, or the budget.
    """
    level = answer = np.int64(0)
    while True:
        s = state.level[level]
        phase = s[PHASE]
        if state.stop[0]:
            return state.level[0, UB]
        if phase == ENTER:
            if level > 0:
                answer = quick(columns, lists, state, level)
                if answer >= 0:
                    level -= 1
                    continue
                above = state.level[level - 1]
                make_child(
                    lists,
                    level - 1,
                    state.spans[level - 1, 0, above[SPAN]],
                    above[CUT],
                    above[CHILD_SIDE],
                )
            else:
                find_runs(lists, level)
            if s[DEPTH] <= 2:
                answer = small_depth(columns, lists, work, state, level)
                if level == 0:
                    s[UB] = min(s[BUDGET], answer)
                    return answer
                if not state.stop[0]:
                    remember(state, level, s[DEPTH], s[MODE], answer, answer < s[BUDGET])
                    if s[MODE] == 0:
                        archive(state, level, s[DEPTH], answer)
                level -= 1
                continue
            open_node(columns, lists, state, level)
            state.shared[NODES] += 1
            s[PHASE] = NEXT
        elif phase == NEXT:
            if not choose(columns, state, level):
                answer = s[UB] if s[UB] < s[BUDGET] else max(s[BOUND], s[BUDGET])
                if level == 0:
                    return answer
                remember(state, level, s[DEPTH], s[MODE], answer, s[UB] < s[BUDGET])
                if s[MODE] == 0:
                    archive(state, level, s[DEPTH], answer)
                level -= 1
                continue
            state.shared[CUTS] += 1
            c = state.spans[level, 0, s[SPAN]]
            budget = s[UB] - columns.costs[c] - state.bounds[level, 1, s[SPAN]]
            level = ask(columns, lists, state, level, 0, budget, 0, GOT_LOW)
        elif phase == GOT_LOW:
            s[LOW] = answer
            c = state.spans[level, 0, s[SPAN]]
            budget = s[UB] - columns.costs[c] - state.bounds[level, 0, s[SPAN]]
            if (
                answer >= s[UB] - columns.costs[c] - state.bounds[level, 1, s[SPAN]]
                and s[CUT] - state.spans[level, 1, s[SPAN]] < 2
            ):
                s[BOUND] = min(
                    s[BOUND], answer + state.bounds[level, 1, s[SPAN]] + columns.costs[c]
                )
                divide(state, level, answer, 0)
                s[PHASE] = NEXT
                continue
            level = ask(columns, lists, state, level, 1, budget, 0, GOT_HIGH)
        elif phase == GOT_HIGH:
            s[HIGH] = answer
            c = state.spans[level, 0, s[SPAN]]
            value = (
                max(s[LOW], state.bounds[level, 0, s[SPAN]])
                + max(answer, state.bounds[level, 1, s[SPAN]])
                + columns.costs[c]
            )
            s[PHASE] = NEXT
            if value < s[UB] and s[MODE] == 1:
                # Without the least amount this cut would do; what does it cost with it?
                if large_enough(columns, lists, level, c, s[CUT]):
                    level = ask(
                        columns,
                        lists,
                        state,
                        level,
                        0,
                        s[UB] - columns.costs[c] - s[HIGH],
                        1,
                        GOT_LIMITED_LOW,
                    )
                    continue
            elif value < s[UB]:
                better(lists, state, level, value, s[LOW], answer)
                divide(state, level, s[LOW], s[HIGH])
                continue
            else:
                s[BOUND] = min(s[BOUND], value)
            divide(state, level, s[LOW], s[HIGH])
        elif phase == GOT_LIMITED_LOW:
            c = state.spans[level, 0, s[SPAN]]
            s[PHASE] = NEXT
            if answer + s[HIGH] + columns.costs[c] < s[UB]:
                state.bounds[level, 2, s[SPAN]] = answer
                level = ask(
                    columns,
                    lists,
                    state,
                    level,
                    1,
                    s[UB] - columns.costs[c] - answer,
                    1,
                    GOT_LIMITED_HIGH,
                )
                continue
            s[BOUND] = min(s[BOUND], answer + s[HIGH] + columns.costs[c])
            divide(state, level, s[LOW], s[HIGH])
        else:
            c = state.spans[level, 0, s[SPAN]]
            low = state.bounds[level, 2, s[SPAN]]
            s[PHASE] = NEXT
            value = low + answer + columns.costs[c]
            if value < s[UB]:
                better(lists, state, level, value, low, answer)
            else:
                s[BOUND] = min(s[BOUND], value)
            divide(state, level, s[LOW], s[HIGH])
