"""Compiled work on the rows of one node: its children, its leaf, and its best single split.

A node holds its rows once per column, in the order of that column, with the places where runs of
equal values end. A *cut* g of a column sends its first g + 1 runs to the low side. Import this
module only where it is used: it loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from milp_trees.compiling.kernels import kernel

#: More than every cost; several may be added.
INFINITY = 2**60


class Columns(NamedTuple):
    """The problem: what never changes.

    A leaf costs the sum of `first` and `unit` times the least sum of `values[v]`, or zero. In
    general `first` is the regret of action 0 and `values[v]` the difference of action v + 1 to it.
    Where a row loses the same on every action but one, and there are three or more, `first` is that
    loss, `labels` names the one, `weights` is the loss / unit, and `values[v]` is minus the weight
    on rows of label v. `worst` is the largest regret; `amounts` are what leaves need `least` of;
    `keys` are two random words per row; `costs` what a split on each column costs.
    """

    values: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    first: np.ndarray
    worst: np.ndarray
    amounts: np.ndarray
    keys: np.ndarray
    costs: np.ndarray
    by_cost: np.ndarray
    leaf: int
    unit: int
    least: int


class Lists(NamedTuple):
    """Rows of the nodes on the current path: one entry per level, column and row."""

    rows: np.ndarray
    ranks: np.ndarray
    ends: np.ndarray
    runs: np.ndarray
    size: np.ndarray
    side: np.ndarray


@kernel(nogil=True)
def find_runs(lists: Any, level: int) -> None:
    """Ends of the runs of equal values of every column of a node."""
    m = lists.size[level]
    for j in range(lists.runs.shape[1]):
        rank, ends = lists.ranks[level, j], lists.ends[level, j]
        n = 0
        for k in range(m - 1):
            ends[n] = k + 1
            n += rank[k] != rank[k + 1]
        ends[n] = m
        lists.runs[level, j] = n + 1


@kernel(nogil=True)
def make_child(lists: Any, level: int, column: int, cut: int, side: int) -> None:
    """Write the lists of the child on one side of a cut (0 low, 1 high) to the level below.

    Every list stays in the order of its column.
    """
    m = lists.size[level]
    k = lists.ends[level, column, cut]
    mark = lists.side
    order = lists.rows[level, column]
    for i in range(m):
        mark[order[i]] = (i < k) != (side == 1)
    size = k if side == 0 else m - k
    lists.size[level + 1] = size
    for j in range(lists.runs.shape[1]):
        rows, ranks = lists.rows[level, j], lists.ranks[level, j]
        to, to_ranks = lists.rows[level + 1, j], lists.ranks[level + 1, j]
        n = 0
        for i in range(m):
            # Written always, kept if the row belongs here: no branch to predict.
            to[n] = rows[i]
            to_ranks[n] = ranks[i]
            n += mark[rows[i]]
    find_runs(lists, level + 1)


@kernel(nogil=True)
def leaf_value(columns: Any, lists: Any, level: int) -> Any:
    """Cost of one leaf with the rows of a node."""
    rows = lists.rows[level, 0]
    m = lists.size[level]
    first = 0
    for i in range(m):
        first += columns.first[rows[i]]
    best = 0
    for v in range(columns.values.shape[0]):
        total = 0
        for i in range(m):
            total += columns.values[v, rows[i]]
        best = min(best, total)
    return columns.leaf + first + columns.unit * best


@kernel(nogil=True)
def one_split(columns: Any, lists: Any, level: int, budget: int, limited: bool, found: Any) -> Any:
    """Value of the best tree of depth one that costs less than `budget`, else the budget.

    The column and the cut are written to `found` (-1: a leaf).
    """
    V = columns.values.shape[0]
    m = lists.size[level]
    least = columns.least if limited else 0
    best = budget
    leaf = leaf_value(columns, lists, level)
    if leaf < best:
        best, found[0], found[1] = leaf, -1, -1
    total = np.zeros(V, dtype=np.int64)
    amount, base = 0, 0
    for i in range(m):
        r = lists.rows[level, 0, i]
        base += columns.first[r]
        amount += columns.amounts[r]
        for v in range(V):
            total[v] += columns.values[v, r]
    here = np.empty(V, dtype=np.int64)
    for j in range(lists.runs.shape[1]):
        here[:] = 0
        count, k = 0, 0
        for g in range(lists.runs[level, j] - 1):
            while k < lists.ends[level, j, g]:
                r = lists.rows[level, j, k]
                count += columns.amounts[r]
                for v in range(V):
                    here[v] += columns.values[v, r]
                k += 1
            low, high = 0, 0
            for v in range(V):
                low = min(low, here[v])
                high = min(high, total[v] - here[v])
            value = base + columns.unit * (low + high) + 2 * columns.leaf + columns.costs[j]
            if value < best and count >= least and amount - count >= least:
                best, found[0], found[1] = value, j, g
    return best
