"""Compiled paths of rows down a tree. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from milp_trees.common.compiling.kernels import kernel


@kernel(nogil=True)
def leaves(X, left, right, feature, threshold, found):
    """Write to `found` the leaf that every row of X (n, p) reaches."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
        found[i] = node


@kernel(nogil=True)
def mark(X, left, right, feature, threshold, units, used):
    """Set used[i, u] if row i meets a test of a column of unit u."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            used[i, units[feature[node]]] = True
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
