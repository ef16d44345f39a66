"""Compiled recovery of the tree behind a value, from the table. Loads numba.

A value was either put together from optima of both sides, which the table holds unless it had to
forget them, or it is that of a tree of depth three, which the search had from its bounds; the
depth-two optima of the sides tell which.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dp.gains import gini_order
from milp_trees.engines.dp.layouts import (
    data_at,
    level_of,
    stack_at,
    table_at,
    tree_at,
    work_at,
)
from milp_trees.engines.dp.memory import look_up, look_up_free
from milp_trees.engines.dp.nodes import best_one, best_two, hash_children
from milp_trees.engines.dp.words import children, copy, count

#: Root tests that are not known yet, and that another search must find first.
UNKNOWN, _UNSOLVED = -3, -2
#: A set whose tree was not found again.
LOST = -4


@kernel(allocates=False)
def _root_test(data, work, table, stack, tree):
    """(root test, value, depth) of an optimal tree of the set on top of those that wait.

    The test is -1 for a leaf, _UNSOLVED if level 1 of the stack says what must be solved first.
    """
    top = tree.top
    bits, key = tree.waiting[top], tree.keys[top]
    depth, allowed, most = tree.depths[top, 0], tree.depths[top, 1], tree.depths[top, 2]
    if tree.solved:
        tree.solved = 0
        if not stack.exact:  # no tree within what was said, which must not be
            return np.int64(LOST), most, depth
        return stack.returned_test, stack.returned, depth
    if depth == 0:
        return np.int64(-1), most, depth
    if depth == 1:
        value, test = best_one(data, bits, work.sides[0], work.sides[1], work.total)
        return test, value, depth
    if depth > 2 and allowed < 0:
        value, needs, test = look_up_free(table, key[0], key[1])
        if needs <= depth:  # its sides are known for the depth at which it was found
            return test, value, needs
    known, value, exact, test = look_up(
        table, key[0], key[1], depth | (allowed + 1) << 6 if depth > 2 else depth
    )
    if known and exact:
        return test, value, depth
    if depth == 2:
        value, test = best_two(data, work, bits)
        return test, value, depth
    stack.base = stack.level = 1
    level = level_of(stack, 1)
    # Bounds from other sets hold for exact losses, and may be some units above a rounded optimum.
    budget = min(most, np.int64(INFINITY) - tree.slack) + tree.slack
    level.depth, level.budget, level.allowed, level.phase = depth, budget, allowed, 0
    level.lower = 0
    copy(bits, level.bits)
    copy(key, level.key)
    return np.int64(_UNSOLVED), most, depth


@kernel(allocates=False)
def _two_suffice(data, work, table, left, right, h, most):
    """Whether trees of depth two on both sides cost at most `most` together."""
    known, value, _, _ = look_up(table, h[0], h[1], 2)
    if not known:
        value = best_two(data, work, left)[0]
    if value >= most:
        return False
    most -= value
    known, value, _, _ = look_up(table, h[2], h[3], 2)
    if not known:
        value = best_two(data, work, right)[0]
    return value <= most


@kernel(allocates=False)
def _left_over(data, work, stack, bits, test, allowed):
    """Discrepancies left below a test."""
    if allowed < 0:
        return allowed
    order = level_of(stack, 0).order  # free: what must be solved first begins at level 1
    gini_order(data, bits, order, work.weight, work.impurity)
    for k in range(len(order)):
        if order[k] == test:
            return max(np.int64(0), allowed - k)
    return np.int64(0)


@kernel(nogil=True, allocates=False)
def extract(data_address, work_address, table_address, stack_address, tree_address):
    """Write an optimal tree in preorder: the index of a test, or -1 for a leaf.

    Splits with an empty side are left out. Returns False where a set must be solved first (`run`
    with the same stack, then `tree.solved = 1`, and again). The stack is not that of the search,
    but both are stopped together.
    """
    data, work, table, stack = (
        data_at(data_address),
        work_at(work_address),
        table_at(table_address),
        stack_at(stack_address),
    )
    tree = tree_at(tree_address)
    left, right = tree.sides[0], tree.sides[1]
    while tree.top >= 0:
        top = tree.top
        node, depth, allowed = tree.waiting[top], tree.depths[top, 0], tree.depths[top, 1]
        test, value = tree.root_test, tree.root_value
        if tree.written > 0 or test == UNKNOWN:
            test, value, depth = _root_test(data, work, table, stack, tree)
            if test == _UNSOLVED:
                return False
            if test == LOST:
                tree.written = LOST
                return True
        if test >= 0:
            n, size = children(node, data.tests[test], left, right), count(node)
            hash_children(data, work, node, work.hashes)
            h = work.hashes[test]
            tree.depths[top, 1] = tree.depths[top + 1, 1] = _left_over(
                data, work, stack, node, test, allowed
            )
            below = depth if depth == UNLIMITED else depth - 1
            most = value - data.split[test]
            if (
                below > 2
                and allowed < 0
                and 0 < n < size
                and _two_suffice(data, work, table, left, right, h, most)
            ):
                below = np.int64(2)
            tree.depths[top, 0] = tree.depths[top + 1, 0] = below
            tree.depths[top, 2] = tree.depths[top + 1, 2] = (
                most - data.leaf if 0 < n < size else INFINITY
            )
            # The right side waits below the left one.
            copy(left, tree.waiting[top + 1])
            copy(left if n == 0 else right, tree.waiting[top])
            tree.keys[top + 1, 0], tree.keys[top + 1, 1] = h[0], h[1]
            tree.keys[top, 0], tree.keys[top, 1] = (h[0], h[1]) if n == 0 else (h[2], h[3])
            if n == 0 or n == size:
                if tree.written == 0:
                    tree.root_test = UNKNOWN
                continue
            tree.top += 2
        tree.out[tree.written] = test
        tree.written += 1
        tree.top -= 1
    return True
