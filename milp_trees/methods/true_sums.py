"""Sums of rows' values over the rows on which each test is true, which greedy trees are grown from.

Rows with equal values are counted instead of added up where there are few kinds of them, as in
every classification; that takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from milp_trees.common.limits import Deadline

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


class Kinds(NamedTuple):
    """Rows with equal values.

    Parameters
    ----------
    of_row : uint8 array of shape (n,)
        The kind of every row.
    rows : int64 array of shape (kinds,)
        A row of every kind.
    """

    of_row: np.ndarray
    rows: np.ndarray


def kinds_of(columns: Sequence[np.ndarray]) -> Kinds | None:
    """The kinds of rows that some columns of integers tell apart.

    None if there are more than `KINDS` of them, or they are hard to tell apart.
    """
    n = len(columns[0])
    if not n:
        return None
    key, possible = np.zeros(n, dtype=np.int64), 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        if low == high:
            continue
        span = high - low + 1
        possible *= span
        if possible > POSSIBLE:
            return None
        key *= span
        key += column - low
    occurs = np.bincount(key, minlength=possible) > 0
    found = int(np.count_nonzero(occurs))
    if found > KINDS:
        return None
    of_row = (np.cumsum(occurs) - 1).astype(np.uint8)[key]
    rows = np.zeros(found, dtype=np.int64)
    rows[of_row] = np.arange(n)
    return Kinds(of_row, rows)


def true_sums(
    tests: np.ndarray | RankedTests, values: np.ndarray, kinds: Kinds | None = None
) -> MatrixSums | RankedSums:
    """What makes the sums for the tests of a view.

    Parameters
    ----------
    tests : uint8 array of shape (n, F), or RankedTests
    values : float array of shape (n, S), or (kinds, S)
        Of every row, or of every kind of rows. Those that are whole numbers below 2^53 are added
        up exactly.
    kinds : Kinds, optional

    Returns
    -------
    MatrixSums or RankedSums
    """
    if isinstance(tests, np.ndarray):
        return MatrixSums(tests, values, kinds)
    return RankedSums(tests, values, kinds)


class _Rows:
    """Rows, their kinds, and their values, or those of the kinds; see `true_sums`."""

    def __init__(self, n: int, values: np.ndarray, kinds: Kinds | None) -> None:
        self.values = values
        self.kind = None if kinds is None else kinds.of_row
        #: All rows, those of one kind together.
        self.rows = np.arange(n) if self.kind is None else np.argsort(self.kind, kind="stable")

    def ends(self, rows: np.ndarray) -> list[int]:
        """Where the rows of each kind begin, and where the last ones end."""
        assert self.kind is not None
        kinds = np.arange(len(self.values) + 1)
        places: list[int] = np.searchsorted(self.kind[rows], kinds).tolist()
        return places

    def total(self, rows: np.ndarray) -> np.ndarray:
        """Sums of the values of some rows, shape (S,); the rows are in the order of `rows`."""
        if self.kind is not None:
            return np.diff(self.ends(rows)) @ self.values
        values = self.values.take(rows, axis=0)
        return np.ones(len(rows)) @ values  # faster than numpy's sum along a short axis


class MatrixSums(_Rows):
    """Sums for tests in a 0/1 matrix; see `true_sums`."""

    def __init__(self, X: np.ndarray, values: np.ndarray, kinds: Kinds | None) -> None:
        super().__init__(len(X), values, kinds)
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
                own = few if self.kind is None else self.kind[few]
                out += self.values.take(own, axis=0).T @ self.X.take(few, axis=0).astype(float)
            return out
        counts, ends = np.zeros((len(self.values), F)), self.ends(rows)
        for count, begin, end in zip(counts, ends, ends[1:], strict=False):
            for few in _blocks(rows[begin:end], F):
                if deadline.passed:
                    return None
                X, whole = self.X.take(few, axis=0), len(few) // BYTES
                parts = X[: whole * BYTES].reshape(whole, BYTES, F).sum(axis=1, dtype=np.uint8)
                count += parts.sum(axis=0) + X[whole * BYTES :].sum(axis=0)
        return np.asarray(self.values.T @ counts)


class RankedSums(_Rows):
    """Sums for tests that are stored as ranks; see `true_sums`."""

    def __init__(self, ranked: RankedTests, values: np.ndarray, kinds: Kinds | None) -> None:
        super().__init__(len(ranked.codes), values, kinds)
        self.used, place = np.unique(ranked.column, return_inverse=True)  # none without tests
        most = np.full(len(self.used), -1)
        np.maximum.at(most, place, ranked.cut)
        # A row on which no test of a column is true has the last code of the column.
        self.most, self.codes = most + 1, ranked.codes
        self.begin = np.concatenate([[0], np.cumsum(self.most + 1)])
        self.first, self.last = self.begin[place], self.begin[place] + ranked.cut + 1

    def sums(self, rows: np.ndarray, deadline: Deadline) -> np.ndarray | None:
        """As `MatrixSums.sums`."""
        n_columns, width = len(self.used), int(self.begin[-1])
        if not n_columns:
            return np.zeros((self.values.shape[1], 0))
        counted = self.kind is not None
        # A line per kind or value, with a zero before the first code.
        below = np.zeros((self.values.shape[0 if counted else 1], width + 1))
        for few in _blocks(rows, n_columns):
            if deadline.passed:
                return None
            codes = self.codes.take(few, axis=0).take(self.used, axis=1)
            places = np.minimum(codes, self.most) + self.begin[:-1]
            if self.kind is not None:
                places += width * self.kind[few, None].astype(np.int64)
                counts = np.bincount(places.ravel(), minlength=len(below) * width)
                below[:, 1:] += counts.reshape(-1, width)
                continue
            for held, here in zip(below, self.values[few].T, strict=True):
                held[1:] += np.bincount(places.ravel(), here.repeat(n_columns), width)
        np.cumsum(below, axis=1, out=below)
        out: np.ndarray = below.take(self.last, axis=1) - below.take(self.first, axis=1)
        return self.values.T @ out if counted else out


def _blocks(rows: np.ndarray, columns: int) -> Iterator[np.ndarray]:
    """Parts of the rows that have about `BLOCK` entries each."""
    step = max(1, BLOCK // max(1, columns))
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step]
