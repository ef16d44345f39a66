"""Compiled answers for all rows at depths up to two. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.layouts import data_at, work_at
from milp_trees.engines.dp.nodes import best_one, best_two, leaf_value, sums
from milp_trees.engines.dp.words import children, count


@kernel(allocates=False)
def single_leaf(data_address, work_address):
    """Cost of one leaf for all rows."""
    data, work = data_at(data_address), work_at(work_address)
    sums(data, data.everything, work.total[0])
    return leaf_value(data, work.total[0])


@kernel(nogil=True, allocates=False)
def up_to_two(data_address, work_address, depth, tests, sides):
    """Best tree of depth one or two: (value, number of nodes).

    Its tests are written to `tests` in preorder, -1 for a leaf; there is room for seven. `sides`
    (2, W) is scratch. A split with an empty side is left out.
    """
    data, work = data_at(data_address), work_at(work_address)
    if depth == 1:
        value, test = best_one(data, data.everything, work.sides[0], work.sides[1], work.total)
    else:
        value, test = best_two(data, work, data.everything)
    tests[0] = test
    if test < 0:
        return value, 1
    n = children(data.everything, data.tests[test], sides[0], sides[1])
    # Rows on which the test is true are on the right.
    all_left, all_right = n == 0, n == count(data.everything)
    written = 0 if all_left or all_right else 1
    for k in range(2):
        if (k == 0 and all_right) or (k == 1 and all_left):
            continue
        below = np.int64(-1)
        if depth == 2:
            _, below = best_one(data, sides[k], work.sides[0], work.sides[1], work.total)
        tests[written] = below
        if below >= 0:
            tests[written + 1] = tests[written + 2] = -1
            written += 2
        written += 1
    return value, written
