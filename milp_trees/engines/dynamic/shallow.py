"""Compiled answers for all rows at depths up to two. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from numba import njit

from milp_trees.engines.dynamic.layouts import data_at, work_at
from milp_trees.engines.dynamic.nodes import best_one, best_two, leaf_value, sums


@njit(cache=True)
def single_leaf(data_address, work_address):
    """Cost of one leaf for all rows."""
    data, work = data_at(data_address), work_at(work_address)
    sums(data, data.everything, work.total[0])
    return leaf_value(data, work.total[0])


@njit(cache=True, nogil=True)
def up_to_two(data_address, work_address, depth):
    """(value, root test or -1) of the best tree of depth one or two."""
    data, work = data_at(data_address), work_at(work_address)
    if depth == 2:
        return best_two(data, work, data.everything)
    return best_one(data, data.everything, work.sides[0], work.sides[1], work.total)
