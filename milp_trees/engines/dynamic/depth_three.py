"""Compiled search for the best tree of depth three on a set of rows: every root test with the best
trees of depth two on both sides. Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np
from numba import njit

from milp_trees.engines.dynamic.arrays import INFINITY, LEAF, LEAST_SPLIT, N_MASSES, N_TESTS
from milp_trees.engines.dynamic.memory import archive_set, similar, similar_per_test
from milp_trees.engines.dynamic.nodes import (
    CUT_AHEAD,
    CUT_SIMILAR,
    CUT_TEST,
    LOOK_AHEAD,
    PER_TEST,
    SIMILARITY,
    best_two,
    hash_children,
    pair,
)
from milp_trees.engines.dynamic.stack import STOP


@njit(cache=True)
def archive_level(work, depth):
    return min(depth, work.kept.shape[0] - 1)


@njit(cache=True)
def depth_three(data, work, table, board, bits, budget, bound):
    """(value, exact, root test) of the best tree of depth three, or of the best so far if it is
    stopped; `bound` is scratch for bounds per test.
    """
    F, leaf, split = data.par[N_TESTS], data.par[LEAF], data.par[LEAST_SPLIT]
    subsets_only = data.par[N_MASSES] > 0
    level = archive_level(work, 3)
    floor = np.int64(0)
    bound[:F] = 0
    if work.flags[SIMILARITY]:
        if work.flags[PER_TEST]:
            floor = similar_per_test(work, level, bits, data.heavy, subsets_only, F, bound)
        else:
            floor = similar(work, level, bits, data.heavy, subsets_only)
        if floor > budget:
            work.counters[CUT_SIMILAR] += 1
            return floor, False, np.int64(-1)
    best, test = best_two(data, work, bits)
    four = 4 * leaf + 3 * split
    if best <= floor or (work.flags[LOOK_AHEAD] and best <= four):
        work.counters[CUT_AHEAD] += 1
        return best, True, test
    hash_children(data, work, bits, work.hashes)
    lowest = INFINITY
    for f in range(F):
        if board[STOP]:
            return best, False, test
        goal = min(best, budget + 1)
        if bound[f] >= goal:
            work.counters[CUT_TEST] += 1
            lowest = min(lowest, bound[f])
            continue
        if pair(data, work, table, bits, f, goal):
            value = work.value[0, 0] + work.value[1, 0] + data.split[f]
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
    if work.flags[SIMILARITY]:
        archive_set(work, level, bits, result, bound, F)
    return result, exact, test
