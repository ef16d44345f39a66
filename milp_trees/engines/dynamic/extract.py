"""Compiled recovery of the tree behind a value, from the table. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np
from numba import njit

from milp_trees.engines.dynamic.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dynamic.gains import gini_order
from milp_trees.engines.dynamic.layouts import data_at, stack_at, table_at, tree_at, work_at
from milp_trees.engines.dynamic.memory import look_up
from milp_trees.engines.dynamic.nodes import best_one, hash_children, load
from milp_trees.engines.dynamic.stack import ALLOWED, BASE, BUDGET, DEPTH, LEVEL, PHASE, RETURNED_TEST
from milp_trees.engines.dynamic.words import children, count

#: Positions in `tree.state`: sets waiting (less one), nodes written, the root's test (UNKNOWN: find it), whether a set has just been solved.
TOP, WRITTEN, ROOT_TEST, SOLVED = range(4)
UNKNOWN, _UNSOLVED = -3, -2


@njit(cache=True)
def _root_test(data, work, table, stack, tree, bits, key, depth, allowed):
    """Root test of an optimal tree of a set; -1: a leaf; _UNSOLVED: level 1 of the stack says what must be solved first."""
    if tree.state[SOLVED]:
        tree.state[SOLVED] = 0
        return stack.state[RETURNED_TEST]
    if depth == 0:
        return np.int64(-1)
    if depth == 1:
        return best_one(data, bits, work.sides[0], work.sides[1], work.total)[1]
    known, _, exact, test = look_up(table, key[0], key[1], depth | (allowed + 1) << 6 if depth > 2 else depth)
    if known and exact:
        return test
    if depth == 2:
        return load(data, work, bits)[1]
    stack.state[BASE] = stack.state[LEVEL] = 1
    number = stack.number[1]
    number[DEPTH], number[BUDGET], number[ALLOWED], number[PHASE] = depth, INFINITY, allowed, 0
    stack.bits[1] = bits
    stack.key[1] = key
    return np.int64(_UNSOLVED)


@njit(cache=True)
def _left_over(data, work, bits, test, allowed):
    """Discrepancies left below a test."""
    if allowed < 0:
        return allowed
    order = np.empty(len(data.tests), dtype=np.int64)
    gini_order(data, bits, order, work.weight, work.impurity)
    for k in range(len(order)):
        if order[k] == test:
            return max(np.int64(0), allowed - k)
    return np.int64(0)


@njit(cache=True, nogil=True)
def extract(data_address, work_address, table_address, stack_address, tree_address):
    """Write an optimal tree in preorder: a test's index, or -1 for a leaf. Splits with an empty side are left out.

    Returns False where a set must be solved first (`run` with the same stack, then `state[SOLVED] = 1`, and again). The stack is not the search's.
    """
    data, work, table, stack = data_at(data_address), work_at(work_address), table_at(table_address), stack_at(stack_address)
    tree = tree_at(tree_address)
    left, right = tree.sides[0], tree.sides[1]
    while tree.state[TOP] >= 0:
        top = tree.state[TOP]
        node, key = tree.waiting[top], tree.keys[top]
        depth, allowed = tree.depths[top, 0], tree.depths[top, 1]
        test = tree.state[ROOT_TEST]
        if tree.state[WRITTEN] > 0 or test == UNKNOWN:
            test = _root_test(data, work, table, stack, tree, node, key, depth, allowed)
            if test == _UNSOLVED:
                return False
        if test >= 0:
            n, size = children(node, data.tests[test], left, right), count(node)
            hash_children(data, work, node, work.hashes)
            h = work.hashes[test]
            tree.depths[top, 1] = tree.depths[top + 1, 1] = _left_over(data, work, node, test, allowed)
            tree.depths[top, 0] = tree.depths[top + 1, 0] = depth if depth == UNLIMITED else depth - 1
            # The right side waits below the left one.
            tree.waiting[top + 1] = left
            tree.waiting[top] = left if n == 0 else right
            tree.keys[top + 1, 0], tree.keys[top + 1, 1] = h[0], h[1]
            tree.keys[top, 0], tree.keys[top, 1] = (h[0], h[1]) if n == 0 else (h[2], h[3])
            if n == 0 or n == size:
                if tree.state[WRITTEN] == 0:
                    tree.state[ROOT_TEST] = UNKNOWN
                continue
            tree.state[TOP] += 2
        tree.out[tree.state[WRITTEN]] = test
        tree.state[WRITTEN] += 1
        tree.state[TOP] -= 1
    return True
