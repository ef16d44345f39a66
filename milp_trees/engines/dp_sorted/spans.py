"""Compiled pools of spans: what a node of the search over sorted columns has still to look at.

A span is a column, two of its cuts a and b, and the largest number of leaves of the low side (0: no
limit), with lower bounds of the low side at a and of the high side at b. It stands for the cuts
between a and b. Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"

from typing import Any

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp_sorted.memory import (
    BEST_CUT,
    BEST_DEPTH,
    BEST_HIGH,
    BEST_LEAVES,
    BEST_LOW,
    BOUND,
    BUDGET,
    COLUMN,
    CUT,
    DEPTH,
    FLOOR,
    LEAVES,
    OPEN,
    SPAN,
    UB,
)
from milp_trees.engines.dp_sorted.nodes import INFINITY, leaf_value

#: Fields of `shared`: best value found and lower bound at the root; depth-two calls, evaluated
#: cuts, cache hits, similarity bounds used, nodes; whether pools are too small; the level at work.
BEST, LOWER, CALLS, CUTS, HITS, SIMILAR, NODES, FULL, AT = range(9)


@kernel(nogil=True, allocates=False)
def open_node(columns: Any, lists: Any, state: Any, level: int) -> None:
    """Fill the pool of a node with one span per column and number of leaves of the low side."""
    s = state.level[level]
    leaf = leaf_value(columns, lists, level)
    s[UB], s[BOUND] = min(s[BUDGET], leaf), leaf
    s[COLUMN], s[BEST_CUT], s[OPEN] = -1, -1, 0
    spans, bounds = state.spans[level], state.bounds[level]
    first = last = np.int64(0)
    if s[LEAVES] > 0:
        full = np.int64(1) << min(s[DEPTH] - 1, 40)
        first, last = max(np.int64(1), s[LEAVES] - full), min(full, s[LEAVES] - 1)
    for c in range(lists.runs.shape[1]):
        end = lists.runs[level, c] - 1
        for leaves in range(first, last + 1 if end > 0 else first):
            n = s[OPEN]
            spans[0, n], spans[1, n], spans[2, n], spans[3, n] = c, -1, end, leaves
            bounds[0, n] = bounds[1, n] = bounds[2, n] = columns.leaf
            s[OPEN] = n + 1


@kernel(nogil=True, allocates=False)
def choose(columns: Any, state: Any, level: int) -> bool:
    """Take the span with the least bound, and the cut in its middle.

    False if no span can hold a better tree.
    """
    s, spans, bounds = state.level[level], state.spans[level], state.bounds[level]
    if level == 0:
        state.shared[LOWER] = max(state.shared[LOWER], min(s[UB], s[FLOOR]))
    if s[UB] <= s[FLOOR]:
        s[BOUND] = min(s[BOUND], s[FLOOR])
        return False
    best, value, n, i = -1, INFINITY, s[OPEN], 0
    while i < n:
        bound = bounds[0, i] + bounds[1, i] + columns.costs[spans[0, i]]
        if bound >= s[UB] or spans[2, i] - spans[1, i] < 2:
            if spans[2, i] - spans[1, i] > 1:
                s[BOUND] = min(s[BOUND], bound)
            n -= 1
            for k in range(3):
                spans[k, i], bounds[k, i] = spans[k, n], bounds[k, n]
            spans[3, i] = spans[3, n]
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


@kernel(nogil=True, allocates=False)
def divide(state: Any, level: int, low: int, high: int) -> None:
    """Replace the chosen span by what lies on both sides of its cut."""
    s, spans, bounds = state.level[level], state.spans[level], state.bounds[level]
    i, n, t = s[SPAN], s[OPEN], s[CUT]
    spans[0, n], spans[1, n], spans[2, n], spans[3, n] = spans[0, i], t, spans[2, i], spans[3, i]
    bounds[0, n], bounds[1, n] = max(low, bounds[0, i]), bounds[1, i]
    spans[2, i] = t
    bounds[1, i] = max(high, bounds[1, i])
    s[OPEN] = n + 1


@kernel(nogil=True, allocates=False)
def better(state: Any, level: int, value: int, low: int, high: int) -> None:
    """A tree of the node that costs less than all before, with the chosen cut at its root."""
    s, i = state.level[level], state.level[level, SPAN]
    s[UB], s[COLUMN], s[BEST_CUT] = value, state.spans[level, 0, i], s[CUT]
    s[BEST_LOW], s[BEST_HIGH] = low, high
    s[BEST_LEAVES], s[BEST_DEPTH] = state.spans[level, 3, i], s[DEPTH]
    if level == 0:
        state.shared[BEST] = min(state.shared[BEST], value)
