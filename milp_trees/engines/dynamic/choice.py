"""Compiled choice of the next root test of a set, and what a tree with it must stay below to
matter. Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.compiling.kernels import njit
from milp_trees.engines.dynamic.arrays import INFINITY
from milp_trees.engines.dynamic.stack import ALLOWED, BEST, BUDGET, POSITION, RUNG, SHARED_BEST
from milp_trees.engines.dynamic.words import atomic_add


@njit(cache=True)
def goal_of(stack, lev):
    """What a tree with the current root test must stay below to matter."""
    number = stack.number[lev]
    goal = min(number[BEST], number[BUDGET] + 1)
    if lev == 0:
        goal = min(goal, stack.board[SHARED_BEST], number[RUNG] + 1)
    return goal


@njit(cache=True)
def pick(stack, lev, F, best_first):
    """The next root test of a set, -1 if none is left."""
    number = stack.number[lev]
    if lev == 0:
        return _pick_at_root(stack, F, best_first)
    goal = min(number[BEST], number[BUDGET] + 1)
    last = F - 1 if number[ALLOWED] < 0 else min(F - 1, number[ALLOWED])
    while number[POSITION] < last:
        number[POSITION] += 1
        f = stack.order[lev, number[POSITION]]
        if stack.bound[lev, f] < goal:
            return f
    return np.int64(-1)


@njit(cache=True)
def _pick_at_root(stack, F, best_first):
    """The next free root test: the first in order, or the one with the lowest bound, which is then
    tried up to the next bound only.
    """
    number = stack.number[0]
    last = F - 1 if number[ALLOWED] < 0 else min(F - 1, number[ALLOWED])
    while True:
        goal = min(number[BEST], number[BUDGET] + 1, stack.board[SHARED_BEST])
        chosen, second = np.int64(-1), goal
        for k in range(last + 1):
            f = stack.order[0, k]
            low = stack.root_bound[f]
            if low >= goal or stack.busy[f]:
                continue
            if chosen < 0:
                chosen, number[POSITION] = f, k
                if not best_first:
                    break
            elif low < stack.root_bound[chosen]:
                chosen, second, number[POSITION] = f, stack.root_bound[chosen], k
            else:
                second = min(second, low)
        if chosen < 0:
            return np.int64(-1)
        if atomic_add(stack.busy.ctypes.data + 8 * chosen, 1) == 0:
            break
        atomic_add(stack.busy.ctypes.data + 8 * chosen, -1)
    low = stack.root_bound[chosen]
    number[RUNG] = max(second, low + max(1, (goal - low) // 4)) if best_first else INFINITY
    return chosen
