"""Compiled scans of the splits of a node, whose rows lie in the order of every column. Loads numba.

Rows with a code of at most `cut` are the side on which the test is true (the right child). A scan
walks the rows of a column upwards and values every cut that leaves enough rows and weight on both
sides; a cut must beat the best so far by more than the rounding error of sums, so that of equal
cuts the first in the first column is taken.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.methods.growing.kernels import divide


class Table(NamedTuple):
    """What is the same for all nodes of a tree.

    Codes, row order by column, counts and whole weights of rows, least leaf, quantiles (0 = all).
    """

    codes: np.ndarray
    order: np.ndarray
    counts: np.ndarray
    row_weight: np.ndarray
    min_samples_leaf: int
    min_weight_leaf: int
    quantiles: int


class Lots(NamedTuple):
    """The rows of a node, their number and whole weight, and the prices of columns."""

    table: Table
    begin: int
    end: int
    rows: int
    weight: int
    price: np.ndarray


@kernel(nogil=True)
def positions(lots, column, where, cuts):
    """Write the allowed cuts of one column; return their number.

    `where[q]` becomes the end of the true side in `order`, `cuts[q]` its cut.

    With `quantiles` = Q > 0 and m > Q distinct values u in the node, only the values u[ceil(k (m -
    1) / Q)], k = 1..Q-1, begin a false side, and the cut is just below that value; otherwise every
    value does, and the cut is the value before it.
    """
    table, begin, end = lots.table, lots.begin, lots.end
    codes, order, quantiles = table.codes[column], table.order[column], table.quantiles
    counts, row_weight, rows, weight = table.counts, table.row_weight, lots.rows, lots.weight
    least, least_weight = table.min_samples_leaf, table.min_weight_leaf
    steps = 0
    if quantiles > 0:
        for i in range(begin + 1, end):
            if codes[order[i]] != codes[order[i - 1]]:
                steps += 1
    thin = quantiles > 0 and quantiles - 1 < steps
    found, here, n, w = 0, 0, 0, 0
    for i in range(begin + 1, end):
        before = order[i - 1]
        n += counts[before]
        w += row_weight[before]
        code = codes[order[i]]
        if code == codes[before]:
            continue
        here += 1
        if thin:
            k = min(here * quantiles // steps, quantiles - 1)
            if k < 1 or k * steps <= (here - 1) * quantiles:
                continue
        if n < least or rows - n < least or w < least_weight or weight - w < least_weight:
            continue
        where[found] = i
        cuts[found] = code - 1 if quantiles > 0 else codes[before]
        found += 1
    return found


@kernel(nogil=True)
def add(values, order, begin, end, sums):
    """Add the values of some rows to the sums."""
    for i in range(begin, end):
        row = order[i]
        for k in range(sums.size):
            sums[k] += values[row, k]


@kernel(nogil=True)
def listed_value(true, total, price):
    """The cheapest vertex on both sides, and the price."""
    low, high = true[0], total[0] - true[0]
    for k in range(1, true.size):
        low = min(low, true[k])
        high = min(high, total[k] - true[k])
    return low + high + price


@kernel(nogil=True)
def squared_value(true, total, part, share, price):
    """Squared error around the means of both sides up to a constant, and the price.

    Sums are of weighted and centred vectors; `part` of the weight `share` is on the true side.
    """
    low, high = 0.0, 0.0
    for k in range(true.size):
        low += true[k] * true[k]
        rest = total[k] - true[k]
        high += rest * rest
    value = price
    if part > 0.0:
        value -= low / part
    if share - part > 0.0:
        value -= high / (share - part)
    return value


@kernel(nogil=True)
def scan(lots, columns, values, total, weights, share, slack):
    """Best cut by squared error, or by the cheapest vertex without weights: (value, column, cut).

    The column is -1 if no cut is allowed. `total` are the sums of the rows' values in the node, and
    `share` that of their weights.
    """
    true = np.empty(total.size)
    where = np.empty(lots.end - lots.begin, np.int64)
    cuts = np.empty(lots.end - lots.begin, np.int64)
    best, best_column, best_cut = np.inf, -1, -1
    for c in columns:
        true[:] = 0.0
        part, begin, order, price = 0.0, lots.begin, lots.table.order[c], lots.price[c]
        for q in range(positions(lots, c, where, cuts)):
            add(values, order, begin, where[q], true)
            if weights.size:
                for i in range(begin, where[q]):
                    part += weights[order[i]]
                value = squared_value(true, total, part, share, price)
            else:
                value = listed_value(true, total, price)
            begin = where[q]
            if value < best - slack:
                best, best_column, best_cut = value, c, cuts[q]
    return best, best_column, best_cut


@kernel(nogil=True)
def true_sides(lots, columns, values):
    """All allowed cuts: (sums of the values on the true side, column, cut) in order."""
    most = (lots.end - lots.begin) * len(columns)
    where = np.empty(lots.end - lots.begin, np.int64)
    cuts = np.empty(lots.end - lots.begin, np.int64)
    sums = np.empty((most, values.shape[1]))
    column_of = np.empty(most, np.int64)
    cut_of = np.empty(most, np.int64)
    true = np.empty(values.shape[1])
    found = 0
    for c in columns:
        true[:] = 0.0
        begin, order = lots.begin, lots.table.order[c]
        for q in range(positions(lots, c, where, cuts)):
            add(values, order, begin, where[q], true)
            begin = where[q]
            sums[found] = true
            column_of[found] = c
            cut_of[found] = cuts[q]
            found += 1
    return sums[:found], column_of[:found], cut_of[:found]


@kernel(nogil=True)
def divide_at(order, begin, end, codes, cut, goes_first, spare):
    """Move rows on which a test is false to the front, in every column's order.

    Returns the position where the other rows begin.
    """
    middle = begin
    for i in range(begin, end):
        row = order[0, i]
        first = codes[row] > cut
        goes_first[row] = first
        middle += 1 if first else 0
    divide(order, begin, end, goes_first, spare)
    return middle


@kernel(nogil=True)
def weakest_links(parent, left, right, loss, slack):
    """The parameter at which every node becomes a leaf in weakest-link pruning.

    It is at least 0, and infinite for leaves (`left` < 0).


    `loss` is each node's loss as a leaf. A parent comes before its children. All links within
    `slack` of the weakest are collapsed together.
    """
    n = len(parent)
    at = np.full(n, np.inf)
    below = np.empty(n)
    leaves = np.empty(n, np.int64)
    alpha = 0.0
    while left[0] >= 0 and at[0] == np.inf:
        weakest = np.inf
        for t in range(n - 1, -1, -1):
            if left[t] < 0 or at[t] < np.inf:
                below[t], leaves[t] = loss[t], 1
            else:
                below[t] = below[left[t]] + below[right[t]]
                leaves[t] = leaves[left[t]] + leaves[right[t]]
        for t in range(n):  # what hangs below a collapsed node is gone
            if left[t] >= 0 and at[t] == np.inf:
                weakest = min(weakest, (loss[t] - below[t]) / (leaves[t] - 1))
        alpha = max(alpha, weakest)
        for t in range(n):
            gone = t > 0 and at[parent[t]] < np.inf
            if (
                left[t] >= 0
                and at[t] == np.inf
                and (gone or loss[t] - below[t] <= (alpha + slack) * (leaves[t] - 1))
            ):
                at[t] = alpha
    return at
