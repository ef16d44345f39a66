"""Compiled recovery of the tree behind a value, by asking again along it. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np
from numba import njit

from milp_trees.engines.dynamic.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dynamic.descent import DONE, run
from milp_trees.engines.dynamic.gains import gini_order
from milp_trees.engines.dynamic.memory import look_up
from milp_trees.engines.dynamic.nodes import best_one, hash_children, load
from milp_trees.engines.dynamic.stack import ALLOWED, BASE, BUDGET, DEPTH, LEVEL, PHASE, RETURNED_TEST
from milp_trees.engines.dynamic.words import children, count


@njit(cache=True)
def _root_test(data, work, table, stack, bits, key, depth, allowed):
    """Root test of an optimal tree of a set (-1: a leaf, -2: stopped)."""
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
    return stack.state[RETURNED_TEST] if run(data, work, table, stack, False, True) == DONE else np.int64(-2)


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
def extract(data, work, table, stack, bits, depth, allowed, test, out):
    """Write an optimal tree of a set with a given root test in preorder: a test's index, or -1 for a leaf. Returns the number of nodes, or -1.

    `stack` is not the one of the search. Splits with an empty side are left out.
    """
    most = 2 * len(data.tests) + 4
    waiting = np.empty((most, len(bits)), dtype=np.uint64)
    keys = np.zeros((most, 2), dtype=np.uint64)
    depths = np.empty((most, 2), dtype=np.int64)
    waiting[0], depths[0, 0], depths[0, 1] = bits, depth, allowed
    left, right = np.empty_like(bits), np.empty_like(bits)
    top, written = 0, 0
    while top >= 0:
        node, key = waiting[top].copy(), keys[top].copy()
        d, a = depths[top]
        if written > 0 or test == -3:
            test = _root_test(data, work, table, stack, node, key, d, a)
            if test == -2:
                return -1
        if test >= 0:
            n = children(node, data.tests[test], left, right)
            hash_children(data, work, node, work.hashes)
            a = _left_over(data, work, node, test, a)
            d = d if d == UNLIMITED else d - 1
            # The right side waits below the left one.
            waiting[top], keys[top] = right, work.hashes[test, 2:]
            waiting[top + 1], keys[top + 1] = left, work.hashes[test, :2]
            depths[top : top + 2, 0] = d
            depths[top : top + 2, 1] = a
            if n == 0 or n == count(node):
                if n == 0:
                    waiting[top], keys[top] = left, work.hashes[test, :2]
                if written == 0:
                    test = -3
                continue
            top += 2
        out[written] = test
        written += 1
        top -= 1
    return written
