"""Which rows of a matrix are equal, how sums over them are formed, and which tests are thresholds
of one column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature

#: Odd numbers that rows are multiplied with to find equal ones; what they find is checked.
_MULTIPLIERS = np.random.default_rng(1).integers(0, 2**63, 64, dtype=np.uint64) * np.uint64(
    2
) + np.uint64(1)


def packed(X: np.ndarray) -> np.ndarray:
    """The rows of a 0/1 matrix as 64-bit words, shape (n, words)."""
    n, F = X.shape
    out = np.zeros((n, 8 * max(1, -(-F // 64))), dtype=np.uint8)
    if F:
        out[:, : -(-F // 8)] = np.packbits(np.ascontiguousarray(X), axis=1)
    return out.view(np.uint64)


def packed_columns(X: np.ndarray) -> np.ndarray:
    """The columns of a 0/1 matrix as 64-bit words, shape (F, words): as `packed(X.T)`, which would
    have to turn the whole matrix over.
    """
    n, F = X.shape
    out = np.zeros((F, 8 * max(1, -(-n // 64))), dtype=np.uint8)
    if n and F:
        bits = np.zeros((-(-n // 8), F), dtype=np.uint8)
        for i in range(min(8, n)):  # what packbits does along the rows, several times as fast
            part = X[i::8]
            bits[: len(part)] |= part << np.uint8(7 - i)
        out[:, : bits.shape[0]] = bits.T
    return out.view(np.uint64)


def equal_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups of equal rows.

    Parameters
    ----------
    matrix : array of 64-bit integers, shape (n, columns)

    Returns
    -------
    first : int64 array of shape (groups,)
        First row of each group, rising.
    group : int64 array of shape (n,)
    """
    words = np.ascontiguousarray(matrix).view(np.uint64)
    columns = words.shape[1]
    if columns == 1:
        key = words[:, 0]
    else:
        key = np.zeros(len(words), dtype=np.uint64)
        for c in range(columns):
            # The shift makes high bits matter for low ones.
            key = (key ^ (key >> np.uint64(31)) ^ words[:, c]) * _MULTIPLIERS[c % 64]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.ravel()
    if columns > 1 and not (words[first[group]] == words).all():  # two different rows with one key
        _, first, group = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[group]


def sums_by_group(array: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Sums of the rows of an integer array over groups, shape (groups, …)."""
    if n_groups == len(group):  # groups are numbered by first row: every row is its own
        return array.astype(np.int64)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    return np.add.reduceat(array[order].astype(np.int64), starts, axis=0)


def by_column(tests: Sequence[BinaryFeature]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Tests grouped by original column: (name, test indices by rising threshold); other tests are
    groups of their own.
    """
    groups: dict[Any, list[int]] = {}
    for f, test in enumerate(tests):
        groups.setdefault(test.column if test.kind == "<=" else (test.column, f), []).append(f)
    return tuple(
        (
            key if isinstance(key, str) else tests[fs[0]].name,
            tuple(sorted(fs, key=lambda f: tests[f].value or 0)),
        )
        for key, fs in groups.items()
    )
