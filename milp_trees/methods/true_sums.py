"""Sums of rows' values over the rows on which each test is true, which greedy trees are grown from.

Rows with equal values are counted instead of added up where there are few kinds of them, as in
every classification; that takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.limits import Deadline

if TYPE_CHECKING:
    from milp_trees.data.ranked import RankedTests

#: Entries of the tests that are looked at between two looks at the clock: a few milliseconds.
BLOCK = 1_000_000
#: Entries of a node of a 0/1 matrix up to which its rows are added up, which takes fewer steps.
SMALL = 50_000
#: Rows that are counted in bytes, and the largest number of kinds of rows that are counted.
BYTES, KINDS = 250, 32
#: Largest number of kinds of rows that may be possible, of which not all need occur.
POSSIBLE = 2**16


def true_sums(tests: Any, values: np.ndarray) -> MatrixSums | RankedSums:
    """What makes the sums for the tests of a view.

    Parameters
    ----------
    tests : uint8 array of shape (n, F), or RankedTests
    values : float array of shape (n, S)
        Of every row. Those that are whole numbers below 2^53 are added up exactly.

    Returns
    -------
    MatrixSums or RankedSums
    """
    if isinstance(tests, np.ndarray):
        return MatrixSums(tests, values)
    return RankedSums(tests, values)


class _Kinds:
    """Rows by their values.

    Parameters
    ----------
    values : float array of shape (n, S)
    most : int
        Largest number of kinds.
    """

    def __init__(self, values: np.ndarray, most: int) -> None:
        self.values = values
        #: The kind of every row, and the values of every kind; None if there are too many.
        self.kind = _kinds(values, most)
        n = len(values)
        #: All rows, those of one kind together.
        self.rows = np.arange(n) if self.kind is None else np.argsort(self.kind, kind="stable")
        if self.kind is not None:
            which = np.zeros(int(self.kind.max()) + 1, dtype=np.int64)
            which[self.kind] = np.arange(n)
            self.of_kind = values[which]

    def ends(self, rows: np.ndarray) -> list[int]:
        """Where the rows of each kind begin, and where the last ones end."""
        assert self.kind is not None
        kinds = np.arange(len(self.of_kind) + 1)
        places: list[int] = np.searchsorted(self.kind[rows], kinds).tolist()
        return places

    def total(self, rows: np.ndarray) -> np.ndarray:
        """Sums of the values of some rows, shape (S,); the rows are in the order of `rows`."""
        if self.kind is not None:
            return np.diff(self.ends(rows)) @ self.of_kind
        values = self.values.take(rows, axis=0)
        return np.ones(len(rows)) @ values  # faster than numpy's sum along a short axis


class MatrixSums(_Kinds):
    """Sums for tests in a 0/1 matrix; see `true_sums`."""

    def __init__(self, X: np.ndarray, values: np.ndarray) -> None:
        super().__init__(values, KINDS)
        self.X = X

    def sums(self, rows: np.ndarray, deadline: Deadline) -> np.ndarray | None:
        """The sums over some rows, shape (S, tests); None if the time is over by then.

        The rows are in the order of `rows`.
        """
        F = self.X.shape[1]
        if self.kind is None or len(rows) * F <= SMALL:
            out = np.zeros((self.values.shape[1], F))
            for few in _blocks(rows, F):
                if deadline.passed:
                    return None
                out += self.values.take(few, axis=0).T @ self.X.take(few, axis=0).astype(float)
            return out
        counts, ends = np.zeros((len(self.of_kind), F)), self.ends(rows)
        for count, begin, end in zip(counts, ends, ends[1:], strict=False):
            for few in _blocks(rows[begin:end], F):
                if deadline.passed:
                    return None
                X, whole = self.X.take(few, axis=0), len(few) // BYTES
                parts = X[: whole * BYTES].reshape(whole, BYTES, F).sum(axis=1, dtype=np.uint8)
                count += parts.sum(axis=0) + X[whole * BYTES :].sum(axis=0)
        return self.of_kind.T @ counts


class RankedSums(_Kinds):
    """Sums for tests that are stored as ranks; see `true_sums`."""

    def __init__(self, ranked: RankedTests, values: np.ndarray) -> None:
        super().__init__(values, values.shape[1])
        self.used, place = np.unique(ranked.column, return_inverse=True)
        most = np.full(len(self.used), -1)
        np.maximum.at(most, place, ranked.cut)
        # A row on which no test of a column is true has the last code of the column.
        self.most, self.codes = most + 1, ranked.codes
        self.begin = np.concatenate([[0], np.cumsum(self.most + 1)])
        self.first, self.last = self.begin[place], self.begin[place] + ranked.cut + 1

    def sums(self, rows: np.ndarray, deadline: Deadline) -> np.ndarray | None:
        """As `MatrixSums.sums`."""
        n_columns, width = len(self.used), int(self.begin[-1])
        kinds = None if self.kind is None else len(self.of_kind)
        below = np.zeros((kinds or self.values.shape[1], width + 1))  # a zero before the first code
        for few in _blocks(rows, n_columns):
            if deadline.passed:
                return None
            codes = self.codes.take(few, axis=0).take(self.used, axis=1)
            places = np.minimum(codes, self.most) + self.begin[:-1]
            if self.kind is not None:
                places += width * self.kind[few, None].astype(np.int64)
                below[:, 1:] += np.bincount(places.ravel(), minlength=below[:, 1:].size).reshape(
                    -1, width
                )
                continue
            for held, here in zip(below, self.values[few].T, strict=True):
                held[1:] += np.bincount(places.ravel(), here.repeat(n_columns), width)
        np.cumsum(below, axis=1, out=below)
        out: np.ndarray = below.take(self.last, axis=1) - below.take(self.first, axis=1)
        return out if kinds is None else self.of_kind.T @ out


def _kinds(values: np.ndarray, most: int) -> np.ndarray | None:
    """The number of the kind of every row; None if the kinds are many, or hard to tell apart."""
    if not len(values):
        return None
    key, possible = np.zeros(len(values), dtype=np.int64), 1
    for column in values.T:
        low, high = float(column.min()), float(column.max())
        if low == high:
            continue
        if not high - low < POSSIBLE // possible:
            return None
        steps = column - low
        whole = steps.astype(np.int64)
        if not (whole == steps).all():
            return None
        span = int(high - low) + 1
        key, possible = key * span + whole, possible * span
    occurs = np.bincount(key, minlength=possible) > 0
    if np.count_nonzero(occurs) > most:
        return None
    number = (np.cumsum(occurs) - 1).astype(np.uint8)
    return number[key]


def _blocks(rows: np.ndarray, columns: int) -> Iterator[np.ndarray]:
    """Parts of the rows that have about `BLOCK` entries each."""
    step = max(1, BLOCK // max(1, columns))
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step]
