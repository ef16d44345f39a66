"""Compiled work on the rows of one node: its children, its leaf, and its best single split.

A node holds its rows once per column, in the order of that column, with the places where runs of
equal values end. A *cut* g of a column sends its first g + 1 runs to the low side. Import this
module only where it is used: it loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.vectors import call_two

#: More than every cost; several may be added.
INFINITY = 2**60


class SearchColumns(NamedTuple):
    """The problem: what never changes.

    A leaf costs the sum of `first` and `unit` times the least sum of `values[v]`, or zero. In
    general `first` is the regret of action 0 and `values[v]` the difference of action v + 1 to it.
    Where a row loses the same on every action but one, and there are three or more, `first` is that
    loss, `labels` names the one, `weights` is the loss / unit, and `values[v]` is minus the weight
    on rows of label v. With a `leaf_function` (its address; 0: none) a leaf costs the sum of `first`
    and what the function says of its sums of `values`, which are whole numbers as doubles; the last
    of these is `first` itself. `worst` is the largest regret; a leaf needs at least `least[a]` of
    `amounts[a]`, for all of them; `keys` are two random words per row; `costs` is what a split on
    each column costs, and `cheapest` the least of that. Rounding makes no leaf cheaper by more than
    `slack`. `priced` says whether larger trees cost more
    for their leaves or splits.
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
    least: np.ndarray
    parameters: np.ndarray
    cheapest: int
    leaf: int
    unit: int
    slack: int
    priced: int
    leaf_function: int


class Lists(NamedTuple):
    """Rows of the nodes on the current path: one entry per level, column and row.

    `sums` is scratch: three times sums of `values` and of `first`.
    """

    rows: np.ndarray
    ranks: np.ndarray
    ends: np.ndarray
    runs: np.ndarray
    size: np.ndarray
    side: np.ndarray
    sums: np.ndarray


@kernel(nogil=True, allocates=False)
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


@kernel(nogil=True, allocates=False)
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


@kernel(allocates=False)
def least_of(columns: Any, sums: Any) -> Any:
    """What a leaf with these sums of `values` costs besides `first` and the price of a leaf."""
    if columns.leaf_function:
        return call_two(
            columns.leaf_function,
            np.int64(sums.ctypes.data),
            np.int64(columns.parameters.ctypes.data),
        )
    best = np.int64(0)
    for v in range(columns.values.shape[0]):
        best = min(best, sums[v])
    return columns.unit * best


@kernel(nogil=True, allocates=False)
def cost_of_leaf(columns: Any, rows: Any, begin: int, end: int, sums: Any) -> Any:
    """Cost of one leaf with the rows between two positions of a list; `sums` is scratch."""
    first = np.int64(0)
    for i in range(begin, end):
        first += columns.first[rows[i]]
    for v in range(columns.values.shape[0]):
        total = np.int64(0)
        for i in range(begin, end):
            total += np.int64(columns.values[v, rows[i]])
        sums[v] = total
    return columns.leaf + first + least_of(columns, sums)


@kernel(nogil=True, allocates=False)
def leaf_value(columns: Any, lists: Any, level: int) -> Any:
    """Cost of one leaf with the rows of a node."""
    return cost_of_leaf(columns, lists.rows[level, 0], 0, lists.size[level], lists.sums[0])


@kernel(nogil=True, allocates=False)
def side_value(columns: Any, lists: Any, level: int, column: int, cut: int, side: int) -> Any:
    """Cost of one leaf with the rows on one side of a cut (0 low, 1 high)."""
    k = lists.ends[level, column, cut]
    begin, end = (0, k) if side == 0 else (k, lists.size[level])
    return cost_of_leaf(columns, lists.rows[level, column], begin, end, lists.sums[0])


@kernel(nogil=True, allocates=False)
def holds_enough(columns: Any, rows: Any, begin: int, end: int) -> bool:
    """Whether the rows between two positions of a list have the least amounts."""
    for a in range(columns.least.shape[0]):
        amount = 0
        for i in range(begin, end):
            amount += columns.amounts[a, rows[i]]
        if amount < columns.least[a]:
            return False
    return True


@kernel(nogil=True, allocates=False)
def large_enough(columns: Any, lists: Any, level: int, column: int, cut: int) -> bool:
    """Whether both sides of a cut have the least amounts."""
    rows, k = lists.rows[level, column], lists.ends[level, column, cut]
    return holds_enough(columns, rows, 0, k) and holds_enough(columns, rows, k, lists.size[level])


@kernel(nogil=True, allocates=False)
def allowed_cuts(columns: Any, lists: Any, level: int, column: int, limited: bool):
    """First and last cut of a column whose both sides have the least amounts."""
    first, last = 0, lists.runs[level, column] - 2
    if not limited:
        return first, last
    rows, ends = lists.rows[level, column], lists.ends[level, column]
    for a in range(columns.least.shape[0]):
        amounts, least = columns.amounts[a], columns.least[a]
        amount, k, g = 0, 0, 0
        while g <= last:
            while k < ends[g]:
                amount += amounts[rows[k]]
                k += 1
            if amount >= least:
                break
            g += 1
        first = max(first, g)
        amount, k = 0, lists.size[level]
        while last >= first:
            while k > ends[last]:
                k -= 1
                amount += amounts[rows[k]]
            if amount >= least:
                break
            last -= 1
    return first, last


@kernel(nogil=True, allocates=False)
def one_split(columns: Any, lists: Any, level: int, limited: bool, found: Any) -> Any:
    """Value of the best tree of depth one.

    `found` gets column and cut (-1: a leaf), and after the hint the values of both sides and the
    number of leaves of the low one.
    """
    V, leaf = columns.values.shape[0], columns.leaf
    best = leaf_value(columns, lists, level)
    found[0], found[1], found[5] = -1, -1, 0
    total, here, rest = lists.sums[0], lists.sums[1], lists.sums[2]
    total[:] = 0
    for i in range(lists.size[level]):
        r = lists.rows[level, 0, i]
        total[V] += columns.first[r]
        for v in range(V):
            total[v] += np.int64(columns.values[v, r])
    for j in range(lists.runs.shape[1]):
        begin, end = allowed_cuts(columns, lists, level, j, limited)
        here[:] = 0
        k = 0
        for g in range(end + 1):
            while k < lists.ends[level, j, g]:
                r = lists.rows[level, j, k]
                here[V] += columns.first[r]
                for v in range(V):
                    here[v] += np.int64(columns.values[v, r])
                k += 1
            if g < begin:
                continue
            for v in range(V):
                rest[v] = total[v] - here[v]
            low, high = least_of(columns, here), least_of(columns, rest)
            value = total[V] + low + high + 2 * leaf + columns.costs[j]
            if value < best:
                best, found[0], found[1] = value, j, g
                found[3] = leaf + here[V] + low
                found[4] = leaf + total[V] - here[V] + high
    return best
