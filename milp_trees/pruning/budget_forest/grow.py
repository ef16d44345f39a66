"""Compiled growing of one tree. Loads numba.

The loop over nodes is compiled too, unlike that of `milp_trees.methods.growing`: a forest has
thousands of nodes of a few rows, each of which takes less time than one call from Python.

Every column keeps the rows of a node in its own order, and a split divides all these lists stably.

At a node of m distinct rows, k candidate columns and K classes a split is found in O(k m K) and the
lists of all p columns are divided in O(p m).

A cut of a column sends the rows up to some value to the left. The cut of a column is the one with
the least F of the worse child (for entropy: the least mean), and of equal ones the first. The
column is the one with the least risk = cost / (F - that value), of equal risks the one that lowers
F more, then the first.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.methods.growing.kernels import divide
from milp_trees.pruning.budget_forest.impurities import THRESHOLD_PAIRS, Measure, pairs_added, value

#: Number of fixed columns of the table of nodes; class counts follow.
PARENT, LEFT, RIGHT, FEATURE, LOW, HIGH, ROWS, COUNTS = 0, 1, 2, 3, 4, 5, 6, 7


class Rules(NamedTuple):
    """How a tree is grown.

    Impurity, cost (p,) and unit (p,) of the columns, whether a unit is free once tested, and
    limits; `min_gain` is in the units of compiled code.
    """

    measure: Measure
    costs: np.ndarray
    units: np.ndarray
    free_after_use: bool
    max_depth: int
    max_features: int
    min_gain: float


class DrawnRows(NamedTuple):
    """The rows of a tree.

    Their order by column and ranks of their values (p, n), classes (n,) and numbers of draws (n,),
    and the number of classes.
    """

    order: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    times: np.ndarray
    n_classes: int


@kernel(nogil=True, allocates=False)
def best_cut(measure, order, ranks, begin, end, labels, times, counts):
    """The best cut of one column between `begin` and `end`.

    Returns the impurity that remains (infinity: no cut), and the position where the right side
    begins.
    """
    whole, left, right = counts
    best, place = np.inf, -1
    if ranks[order[begin]] == ranks[order[end - 1]]:
        return best, place
    pairs, expected = measure.impurity.number == THRESHOLD_PAIRS, measure.impurity.expected
    p, q, total = measure.p, measure.q, 0
    for c in range(whole.size):
        left[c] = 0
        right[c] = whole[c]
        total += whole[c]
    low, high, passed = 0.0, value(measure, whole), 0
    for i in range(begin, end - 1):
        row = order[i]
        c, m = labels[row], times[row]
        right[c] -= m
        if pairs:
            low += pairs_added(left, c, m, p, q)
            high -= pairs_added(right, c, m, p, q)
        left[c] += m
        passed += m
        if ranks[row] == ranks[order[i + 1]]:
            continue
        if not pairs:
            low = value(measure, left)
            high = value(measure, right)
        left_over = (passed * low + (total - passed) * high) / total if expected else max(low, high)
        if left_over < best:
            best, place = left_over, i + 1
    return best, place


@kernel(nogil=True, allocates=False)
def price_list(rules, nodes, node, paid, prices):
    """Costs of the columns at a node.

    With `free_after_use`, a unit (a column or its group) that an ancestor has tested costs nothing.
    """
    if rules.free_after_use:
        above = nodes[node, PARENT]
        while above >= 0:
            paid[rules.units[nodes[above, FEATURE]]] = node
            above = nodes[above, PARENT]
    for f in range(prices.size):
        free = rules.free_after_use and paid[rules.units[f]] == node
        prices[f] = 0.0 if free else rules.costs[f]


@kernel(nogil=True, allocates=False)
def draw(candidates, k, rng):
    """Move k random columns to the front (the first steps of a Fisher–Yates shuffle)."""
    for i in range(k):
        j = i + int(rng.random() * (candidates.size - i))
        candidates[i], candidates[j] = candidates[j], candidates[i]


@kernel(nogil=True)
def larger(nodes):
    """The same table with room for twice as many nodes."""
    new = np.zeros((2 * nodes.shape[0], nodes.shape[1]), np.int64)
    for i in range(nodes.shape[0]):
        for j in range(nodes.shape[1]):
            new[i, j] = nodes[i, j]
    return new


@kernel(nogil=True)
def grow(rows, rules, rng):  # noqa: C901
    """Grow one tree; its nodes in depth-first order, left child first."""
    order, ranks, labels, times = rows.order, rows.ranks, rows.labels, rows.times
    measure = rules.measure
    n_classes, k, max_depth = rows.n_classes, rules.max_features, rules.max_depth
    n_columns, m = order.shape
    nodes = np.zeros((64, COUNTS + n_classes), np.int64)
    stack = np.zeros(
        (m + 1, 6), np.int64
    )  # parent, side, begin, end, depth, the column whose list is divided there
    goes_first = np.zeros(labels.size, np.bool_)
    spare = np.zeros(m, np.int32)
    counts = (
        np.zeros(n_classes, np.int64),
        np.zeros(n_classes, np.int64),
        np.zeros(n_classes, np.int64),
    )  # of the node and of both sides
    whole, left, right = counts
    candidates = np.arange(n_columns)
    paid = np.full(n_columns, -1, np.int64)
    prices = np.zeros(n_columns)
    stack[0, 0], stack[0, 3] = -1, m
    waiting, made = 1, 0
    while waiting:
        waiting -= 1
        parent, side, begin, end, depth, column = stack[waiting]
        node = made
        made += 1
        if made > nodes.shape[0]:
            nodes = larger(nodes)
        if parent >= 0:
            nodes[parent, side] = node
        nodes[node, PARENT], nodes[node, LEFT], nodes[node, RIGHT], nodes[node, FEATURE] = (
            parent,
            -1,
            -1,
            -2,
        )
        nodes[node, ROWS] = end - begin
        for c in range(n_classes):
            whole[c] = 0
        for i in range(begin, end):
            whole[labels[order[column, i]]] += times[order[column, i]]
        for c in range(n_classes):
            nodes[node, COUNTS + c] = whole[c]
        impurity = value(measure, whole)
        if impurity <= 0.0 or depth >= max_depth:
            continue

        if k < n_columns:
            draw(candidates, k, rng)
        price_list(rules, nodes, node, paid, prices)
        best, place, least, most = -1, -1, np.inf, 0.0
        for i in range(k):
            f = candidates[i]
            rest, at = best_cut(measure, order[f], ranks[f], begin, end, labels, times, counts)
            gain = impurity - rest
            if at < 0 or not gain > rules.min_gain:
                continue
            risk = prices[f] / gain
            if (
                best < 0
                or risk < least
                or (risk == least and (gain > most or (gain == most and f < best)))
            ):
                best, place, least, most = f, at, risk, gain
        if best < 0:
            continue

        nodes[node, FEATURE], nodes[node, LOW], nodes[node, HIGH] = (
            best,
            order[best, place - 1],
            order[best, place],
        )
        for c in range(n_classes):
            left[c] = 0
        for i in range(begin, end):
            row = order[best, i]
            goes_first[row] = i < place
            if i < place:
                left[labels[row]] += times[row]
        for c in range(n_classes):
            right[c] = whole[c] - left[c]
        # Children that are leaves need the list of this column only, and it is divided already.
        if depth + 1 < max_depth and (value(measure, left) > 0.0 or value(measure, right) > 0.0):
            divide(order, begin, end, goes_first, spare)
        for turn in range(2):
            entry = stack[waiting]
            entry[0], entry[1], entry[4], entry[5] = (
                node,
                RIGHT if turn == 0 else LEFT,
                depth + 1,
                best,
            )
            entry[2], entry[3] = (place, end) if turn == 0 else (begin, place)
            waiting += 1
    return nodes[:made].copy()


@kernel(nogil=True)
def mark(X, left, right, feature, threshold, units, used):
    """Set used[i, u] if row i meets a test of a column of unit u."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            used[i, units[feature[node]]] = True
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
