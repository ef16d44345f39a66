"""Compiled walks of rows down a tree. Import this module only where it is used: it loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from milp_trees.compiling.kernels import kernel


@kernel(nogil=True)
def leaves(X, left, right, feature, threshold, found):
    """Write the leaf that every row of X (n, p) reaches."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
        found[i] = node


@kernel(nogil=True)
def mark(X, left, right, feature, threshold, units, used):
    """Set used[i, u] where row i meets a test of a column of unit u."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            used[i, units[feature[node]]] = True
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
