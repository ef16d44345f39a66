"""Sums of costs over sets of rows as 64-bit words. Loads numba.

The rows are those of a reduced view, each of which stands for a class of equal rows, so most data
need a few words only. A sum of costs over a set is one look-up per byte: `byte_sums` holds, for
every byte of a set and each of its 256 values, the sums of the costs of its rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

import numpy as np

from milp_trees.common.compiling.kernels import kernel


def byte_sums(amounts: np.ndarray) -> np.ndarray:
    """Sums of amounts over the rows of every byte of a set."""
    n, K = amounts.shape
    padded = np.zeros((max(1, -(-n // 64)) * 64, K), dtype=np.int64)
    padded[:n] = amounts
    by_byte = padded.reshape(-1, 8, K)
    sums = np.zeros((len(by_byte), 256, K), dtype=np.int64)
    for j in range(8):  # the values with highest bit j are those below 2^j, with row j added
        sums[:, 1 << j : 2 << j] = sums[:, : 1 << j] + by_byte[:, j : j + 1]
    return sums


@kernel(allocates=False)
def add_up(bits, sums, total):
    """total[k] = sum of column k over the set `bits`."""
    for k in range(len(total)):
        total[k] = 0
    for w in range(len(bits)):
        rest, b = bits[w], 8 * w
        while rest:
            value = np.int64(rest & np.uint64(255))
            for k in range(len(total)):
                total[k] += sums[b, value, k]
            rest >>= np.uint64(8)
            b += 1
