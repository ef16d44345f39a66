"""Compiled order of root tests by impurity or by the cost of leaves. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.engines.dp.nodes import leaf_units
from milp_trees.engines.dp.words import clear, lowest, subtract


@kernel(allocates=False)
def _weights(data, bits, weight):
    """weight[f, k]: the most that the rows with test f true and cheapest action k can lose.

    weight[F, k] is that of all rows with cheapest action k.
    """
    F = data.n_tests
    for f in range(weight.shape[0]):
        clear(weight[f])
    if not data.by_row and data.n_values == 1:
        for g in range(data.n_groups):
            k, most = data.group_best[g], data.group_most[g]
            if most:
                n = 0
                for w in range(data.group_range[g, 0], data.group_range[g, 1]):
                    n += ones(bits[w] & data.group_bits[g, w])
                weight[F, k] += most * n
                for f in range(F):
                    n = 0
                    for w in range(data.group_range[g, 0], data.group_range[g, 1]):
                        n += ones(bits[w] & data.group_bits[g, w] & data.tests[f, w])
                    weight[f, k] += most * n
        return
    for w in range(len(bits)):
        word = bits[w]
        while word:
            r = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            k, most = data.best[r], data.most[r]
            weight[F, k] += most
            row = data.X[r]
            for f in range(F):
                weight[f, k] += most * row[f]


@kernel(allocates=False)
def sort_tests(order, score, n):
    """Order the first n tests by rising score, ties by index.

    This is the sort of Shell (1959); those of numba take seconds to compile.
    """
    for f in range(n):
        order[f] = f
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            f = order[i]
            j = i
            while j >= gap and (
                score[order[j - gap]] > score[f]
                or (score[order[j - gap]] == score[f] and order[j - gap] > f)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = f
        gap //= 2


@kernel(allocates=False)
def _leaf_order(data, bits, order, weight, impurity):
    """Order tests by what two leaves cost; `weight` (F + 2, U + 1) holds sums by test."""
    F = data.n_tests
    for f in range(weight.shape[0]):
        clear(weight[f])
    U = weight.shape[1]
    for w in range(len(bits)):
        word = bits[w]
        while word:
            r = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            row = data.X[r]
            for u in range(U):
                x = data.values[r, u]
                weight[F, u] += x
                for f in range(F):
                    weight[f, u] += x * row[f]
    for f in range(F):
        subtract(weight[F], weight[f], weight[F + 1])
        impurity[f] = float(leaf_units(data, weight[f]) + leaf_units(data, weight[F + 1]))
    sort_tests(order, impurity, F)


@kernel(allocates=False)
def gini_order(data, bits, order, weight, impurity):
    """Order tests by the Gini impurity of the cheapest actions on both sides.

    Rows are weighted by what a wrong action can cost.
    """
    if data.leaf_function:
        _leaf_order(data, bits, order, weight, impurity)
        return
    F, K = data.n_tests, data.n_actions
    _weights(data, bits, weight)
    for f in range(F):
        right = left = 0.0
        right_squares = left_squares = 0.0
        for k in range(K):
            a = float(weight[f, k])
            b = float(weight[F, k]) - a
            right += a
            left += b
            right_squares += a * a
            left_squares += b * b
        impurity[f] = (right - right_squares / right if right > 0 else 0.0) + (
            left - left_squares / left if left > 0 else 0.0
        )
    sort_tests(order, impurity, F)
