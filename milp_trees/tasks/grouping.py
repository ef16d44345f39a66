"""Groups of equal rows of a matrix, sums over them, and features of one original column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.scales import positions

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature

#: Odd factors of a hash of rows; rows with equal hashes are then compared.
_MULTIPLIERS = np.random.default_rng(1).integers(0, 2**63, 64, dtype=np.uint64) * np.uint64(
    2
) + np.uint64(1)


#: Weights of eight rows in a byte, as `numpy.packbits` orders them.
_POWERS = (1 << np.arange(7, -1, -1, dtype=np.uint8)).astype(np.uint8)[:, None]
#: Bytes of a block of rows that are packed at once.
_BLOCK = 2**18


def packed(X: np.ndarray) -> np.ndarray:
    """The rows of a 0/1 matrix as 64-bit words, shape (n, words)."""
    n, F = X.shape
    out = np.zeros((n, 8 * max(1, -(-F // 64))), dtype=np.uint8)
    if F:
        width = -(-F // 8)
        whole = np.ascontiguousarray(X)
        if F % 8:  # numpy is slow along the end of rows
            whole = np.zeros((n, 8 * width), dtype=np.uint8)
            whole[:, :F] = X
        out[:, :width] = np.packbits(whole.ravel()).reshape(n, width)
    return out.view(np.uint64)


def packed_columns(X: np.ndarray) -> np.ndarray:
    """The columns of a 0/1 matrix as 64-bit words, shape (F, words).

    The result is that of `packed(X.T)`, which would have to transpose the whole matrix.
    """
    n, F = X.shape
    out = np.zeros((F, 8 * max(1, -(-n // 64))), dtype=np.uint8)
    whole = n // 8
    # The same as packbits along the rows, but several times as fast; a block stays in the cache.
    step = max(1, _BLOCK // (8 * max(1, F)))
    for k in range(0, whole, step):
        end = min(whole, k + step)
        eights = X[8 * k : 8 * end].reshape(end - k, 8, F) * _POWERS
        out[:, k:end] = eights.sum(axis=1, dtype=np.uint8).T
    if n % 8:
        out[:, whole] = np.packbits(X[8 * whole :], axis=0)[0]
    return out.view(np.uint64)


def whole_column(n: int) -> np.ndarray:
    """A column of n ones as `packed_columns` packs it, shape (words,)."""
    out = np.zeros(8 * max(1, -(-n // 64)), dtype=np.uint8)
    out[: n // 8] = 255
    if n % 8:
        out[n // 8] = 256 - (1 << (8 - n % 8))
    return out.view(np.uint64)


def equal_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups of equal rows.

    Parameters
    ----------
    matrix : array of 64-bit integers, shape (n, columns)
        The rows.

    Returns
    -------
    first : int64 array of shape (groups,)
        First row of each group, increasing.
    group : int64 array of shape (n,)
        Group of each row.
    """
    words = np.ascontiguousarray(matrix).view(np.uint64)
    columns = words.shape[1]
    if columns == 1:
        key = words[:, 0]
    else:
        key = np.zeros(len(words), dtype=np.uint64)
        for c in range(columns):
            # After the shift, high bits change low bits of the product too.
            key = (key ^ (key >> np.uint64(31)) ^ words[:, c]) * _MULTIPLIERS[c % 64]
    first, group = _equal_keys(key)
    if len(first) == len(key) or columns == 1 or (words[first[group]] == words).all():
        return first, group
    # Two different rows have one key.
    _, first, group = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    return _by_first(first, group.ravel())


def _equal_keys(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `equal_rows`, of one number per row; faster than `numpy.unique`, which sorts stably."""
    n = len(key)
    order = key.argsort()
    ordered = key[order]
    begins = np.ones(n, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    starts = np.flatnonzero(begins)
    if len(starts) == n:
        return np.arange(n), np.arange(n)
    group = np.empty(n, dtype=np.int64)
    group[order] = np.cumsum(begins) - 1
    return _by_first(np.minimum.reduceat(order, starts), group)


def _by_first(first: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups and their first rows, numbered by these."""
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[group]


def sums_by_group(array: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Sums of the rows of an integer array over groups.

    Parameters
    ----------
    array : integer array of shape (n, …)
        The rows.
    group : int64 array of shape (n,)
        Group of each row, from `equal_rows`.
    n_groups : int
        Number of groups.

    Returns
    -------
    array of shape (n_groups, …)
    """
    return group_sums(group, n_groups)(array)


def group_sums(group: np.ndarray, n_groups: int) -> Callable[[np.ndarray], np.ndarray]:
    """The function that sums the rows of an array as `sums_by_group` does, for several arrays."""
    if n_groups == len(group):  # groups are numbered by first row, so every row is its own group
        return lambda array: array.astype(np.int64)
    order, sizes = np.argsort(group), np.bincount(group, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    return lambda array: np.add.reduceat(array[order].astype(np.int64), starts, axis=0)


def by_column(tests: Sequence[BinaryFeature]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Features grouped by original column: (name, indices by increasing threshold).

    Each feature that is no threshold is a group of its own. The thresholds of a column with
    missing values are two groups: those that answer yes where the value is missing, and those that
    answer no.
    """
    groups: dict[Any, list[int]] = {}
    for f, test in enumerate(tests):
        threshold = test.column if test.missing is None else (test.column, test.missing)
        groups.setdefault(threshold if test.kind == "<=" else (test.column, f), []).append(f)
    return tuple(
        (
            key if isinstance(key, str) else tests[fs[0]].name,
            _by_threshold(tests, fs) if len(fs) > 1 else tuple(fs),
        )
        for key, fs in groups.items()
    )


def _by_threshold(tests: Sequence[BinaryFeature], fs: list[int]) -> tuple[int, ...]:
    """Thresholds of one column, the lowest first."""
    at = positions([tests[f].value for f in fs], tests[fs[0]].order)
    return tuple(fs[k] for k in np.argsort(at, kind="stable").tolist())
