"""Compiled sums over the low sides of all tests, for many nested sets of rows. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from milp_trees.common.compiling.kernels import kernel


@kernel(nogil=True)
def fill(rows, codes, sums, first, column, cuts, running, whole, out):
    """Sums of the sets {rows with code <= cut} and {the others}, and of all low sides in them.

    One pass over the rows, whatever the number of cuts: n p (d + 4) additions, and F (d + 4) per
    set.
    """
    n_columns = codes.shape[1]
    n_features, width = running.shape[0] - 1, running.shape[1]
    both = out.shape[0] > 1
    at = 0
    for j in range(cuts.size):
        while at < rows.size and codes[rows[at], column] <= cuts[j]:
            r = rows[at]
            for b in range(n_columns):
                c = first[b] + codes[r, b]
                if c < first[b + 1]:
                    for k in range(width):
                        running[c, k] += sums[r, k]
            for k in range(width):
                running[n_features, k] += sums[r, k]
            at += 1
        low = out[2 * j] if both else out[j]
        for b in range(n_columns):
            for c in range(first[b], first[b + 1]):
                for k in range(width):
                    low[c, k] = running[c, k] if c == first[b] else low[c - 1, k] + running[c, k]
        for k in range(width):
            low[n_features, k] = running[n_features, k]
        if both:
            high = out[2 * j + 1]
            for c in range(n_features + 1):
                for k in range(width):
                    high[c, k] = whole[c, k] - low[c, k]
