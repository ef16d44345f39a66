"""Compiled values of the last two levels of a set of rows, test by test. Loads numba.

They are made by the kernels of `dp`. A side that holds too few rows or too little weight is not a
leaf, and its value is `NONE`. Complexity for n rows and F tests: F n / 64 for one level, and
F² n / 8 operations on bytes more for two.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.layouts import data_at, work_at
from milp_trees.engines.dp.nodes import leaf_value, load, side_value, sums, sums_by_test
from milp_trees.engines.dp.words import count

#: The value of what is not allowed; sums of a few of them do not overflow.
NONE = INFINITY


@kernel(allocates=False)
def _leaf(data, total):
    """Value and action of a leaf with these totals; of equal actions the first."""
    best, action = np.int64(0), np.int64(0)
    if data.leaf_function == 0:  # else there is one action
        for v in range(data.n_values):
            if total[v] < best:
                best, action = total[v], v + 1
    return leaf_value(data, total), action


@kernel(allocates=False)
def levels(data_address, work_address, bits, two, by_test, value, action, stump, size):
    """Leaf of a set of rows (value, action).

    `value` and `action` get those of both sides (0 false, 1 true) of every test; neither side is
    allowed if one is not. `size` gets the number of (merged) rows there. If `two`, `stump` gets the
    best tree of at most one split on either side. `by_test` (U + 1, F) is workspace.
    """
    data, work = data_at(data_address), work_at(work_address)
    total, side_total = work.total[0], work.total[1]
    if two:
        load(data, work, bits)
    else:
        sums(data, bits, total)
    sums_by_test(data, bits, 0, by_test)
    n = count(bits)
    for f in range(data.n_tests):
        size[1, f] = 0
        for w in range(len(bits)):
            size[1, f] += ones(bits[w] & data.tests[f, w])
        size[0, f] = n - size[1, f]
        for side in range(2):
            for u in range(len(total)):
                side_total[u] = by_test[u, f] if side else total[u] - by_test[u, f]
            value[side, f], action[side, f] = _leaf(data, side_total)
            if two:
                regret = side_total[len(total) - 1]
                stump[side, f] = side_value(data, work.values[2 * side + 1, f]) + regret
        # A side without rows is not allowed, whatever the smallest leaf is.
        if size[0, f] == 0 or size[1, f] == 0 or value[0, f] >= NONE or value[1, f] >= NONE:
            for side in range(2):
                value[side, f] = stump[side, f] = NONE
    return _leaf(data, total)
