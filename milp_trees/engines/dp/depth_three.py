"""Compiled search for the best tree of depth three on a set of rows. Loads numba.

For every root test the best trees of depth two on both sides are found.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.gains import sort_tests
from milp_trees.engines.dp.memory import archive_level, archive_set, similar, similar_per_test
from milp_trees.engines.dp.nesting import by_sides, forget, note_side
from milp_trees.engines.dp.nodes import best_two, hash_children, pair, value_of_test
from milp_trees.engines.dp.words import clear


@kernel(allocates=False)
def _from_similar(data, work, bits, bound):
    """A lower bound from archived sets, which also raises those of the root tests."""
    kept = archive_level(work, 3)
    if work.per_test:
        return similar_per_test(work, kept, bits, data.heavy, data.relation, data.n_tests, bound)
    return similar(work, kept, bits, data.heavy, data.relation, np.int64(0))


@kernel(allocates=False)
def _rank(data, work):
    """Order the root tests of the loaded node by their depth-two trees, and forget their sides."""
    F = data.n_tests
    forget(work.low, np.int64(data.leaf))
    for f in range(F):
        work.impurity[f] = value_of_test(work, f)
    sort_tests(work.ranked, work.impurity, F)


@kernel(allocates=False)
def _note(data, work, f):
    """Keep what the last pair says of the sides of its test."""
    if work.nested:
        note_side(data, work.low, f, 0, work.value[0, 0])
        note_side(data, work.low, f, 1, work.value[1, 0])


@kernel(allocates=False)
def depth_three(data, work, table, stack, level):
    """(value, exact, root test) of the best tree of depth three, or a lower bound above the budget.

    After a stop it is the best tree so far. Bounds of the root tests are left in `level`.
    """
    F, leaf, split = data.n_tests, data.leaf, data.least_split
    bits, budget, bound = level.bits, level.budget, level.bound
    kept = archive_level(work, 3)
    clear(bound)
    floor = np.int64(0)
    if work.similarity:
        floor = _from_similar(data, work, bits, bound)
        if floor > budget:
            work.similar += 1
            return floor, False, np.int64(-1)
    if work.nested:
        work.args[at.PER_TEST] = work.per_test_values.ctypes.data
    best, test = best_two(data, work, bits)
    four = 4 * leaf + 3 * split
    if best <= floor or (work.look_ahead and best <= four):
        work.ahead += 1
        return best, True, test
    hash_children(data, work, bits, work.hashes)
    lowest = INFINITY
    if work.nested:
        _rank(data, work)
    for k in range(F):
        f = work.ranked[k] if work.nested else k
        if stack.stop[0]:
            return best, False, test
        goal = min(best, budget + 1)
        if work.nested:
            bound[f] = max(bound[f], by_sides(data, work.low, f))
        if bound[f] >= goal:
            work.tests_skipped += 1
            lowest = min(lowest, bound[f])
            continue
        if pair(data, work, table, bits, f, goal):
            value = work.value[0, 0] + work.value[1, 0] + data.split[f]
            _note(data, work, f)
            bound[f] = max(bound[f], value)
            if value < best:
                best, test = value, f
                if best <= floor:
                    break
        else:
            bound[f] = max(bound[f], goal)
        lowest = min(lowest, bound[f])
    if best <= floor:
        lowest = floor
    exact = best <= budget
    # A leaf and trees of depth two are covered by `best`; the others by the bounds of their root
    # tests.
    result = best if exact else max(min(best, lowest), budget + 1)
    if work.similarity:
        archive_set(work, kept, bits, result, bound, F)
    return result, exact, test
