"""Compiled loops over the rows of a node, which lie in the order of every column. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel(nogil=True)
def divide(order, begin, end, goes_first, spare):
    """Divide the rows of a node in every column's order; they keep their order within a side."""
    for c in range(order.shape[0]):
        front, back = begin, 0
        for i in range(begin, end):
            row = order[c, i]
            if goes_first[row]:
                order[c, front] = row
                front += 1
            else:
                spare[back] = row
                back += 1
        for i in range(back):
            order[c, front + i] = spare[i]


@kernel(nogil=True)
def leaves(values, column, cut, low, high):
    """Leaf that every row reaches; values of shape (n, columns), `low` is the child up to a cut."""
    found = np.empty(values.shape[0], np.int64)
    for i in range(values.shape[0]):
        t = 0
        while low[t] >= 0:
            t = low[t] if values[i, column[t]] <= cut[t] else high[t]
        found[i] = t
    return found
