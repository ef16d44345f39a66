"""`RankedTests`: binary features that are thresholds of few columns, stored as ranks.

Features `column <= t` of one column are nested, so the number of thresholds below a value gives
the values of all of them. With all midpoints of a few thousand rows there are tens of thousands of
features; their 0/1 matrix is made only when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

#: Number of rows of the 0/1 matrix that are made at a time.
BLOCK = 64


@dataclass(frozen=True, eq=False)
class RankedTests:
    """Binary features as ranks: feature f is 1 on row i iff `codes[i, column[f]] <= cut[f]`.

    Parameters
    ----------
    codes : int32 array of shape (n, p)
        Number of thresholds of the column below the row's value.
    column, cut : int64 arrays of shape (F,)
        Column of `codes` and largest code that gives 1, for each feature.
    gap : float array of shape (F, 2), optional
        For a threshold the largest value of the column at or below it and the smallest value
        above it (infinite where there is none), on these rows or on more rows; NaN for other
        features. Exports that round values need it.
    """

    codes: np.ndarray
    column: np.ndarray
    cut: np.ndarray
    gap: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], len(self.column)

    def outcome(self, test: int, rows: Any = slice(None)) -> np.ndarray:
        """Values 0/1 of one feature on the given rows."""
        return (self.codes[rows, self.column[test]] <= self.cut[test]).astype(np.uint8)

    def blocks(self) -> Iterator[np.ndarray]:
        """The 0/1 matrix, a block of rows at a time."""
        for begin in range(0, self.shape[0], BLOCK):
            yield (self.codes[begin : begin + BLOCK][:, self.column] <= self.cut).astype(np.uint8)

    @cached_property
    def dense(self) -> np.ndarray:
        """The whole 0/1 matrix, made once; it takes rows × features bytes."""
        if np.array_equal(self.column, np.arange(self.codes.shape[1])):  # a feature per column
            answers = np.less_equal(self.codes, self.cut).view(np.uint8)
            answers.setflags(write=False)
            return answers
        out = np.empty(self.shape, dtype=np.uint8)
        begin = 0
        for block in self.blocks():
            out[begin : begin + len(block)] = block
            begin += len(block)
        out.setflags(write=False)
        return out

    def take(self, rows: Any) -> RankedTests:
        """The same features on some rows (indices or mask)."""
        return RankedTests(self.codes[rows], self.column, self.cut, self.gap)

    def select(self, tests: Any) -> RankedTests:
        """Some of the features."""
        if len(tests) == len(self.column) and (np.asarray(tests) == np.arange(len(tests))).all():
            return self
        return RankedTests(
            self.codes,
            self.column[tests],
            self.cut[tests],
            None if self.gap is None else self.gap[tests],
        )

    def least_codes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes, columns and cuts that depend on the answers of these features alone.

        Codes may count thresholds that are none of the features, and columns without features may
        lie between others. Here they do not.

        Returns
        -------
        codes : int32 array of shape (n, p)
        column, cut : int64 arrays of shape (F,)
        """
        used, first = np.unique(self.column, return_index=True)
        order = used[np.argsort(first)]
        codes = np.empty((len(self.codes), len(order)), dtype=np.int32)
        column, cut = np.empty_like(self.column), np.empty_like(self.cut)
        for c, old in enumerate(order.tolist()):
            here = self.column == old
            cuts, place = np.unique(self.cut[here], return_inverse=True)
            codes[:, c] = np.searchsorted(cuts, self.codes[:, old], side="left")
            column[here], cut[here] = c, place
        return codes, column, cut


def gaps(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """The neighbours of thresholds among a column's values, shape (m, 2); see `RankedTests`."""
    ordered = np.concatenate([[-np.inf], np.sort(values.astype(float)), [np.inf]])
    above = np.searchsorted(ordered, thresholds, side="right")
    return np.column_stack([ordered[above - 1], ordered[above]])


class MaybeRanked:
    """Mixin of frozen dataclasses with a field `X` that may be given as RankedTests.

    The ranks are kept as `ranked`; `X` becomes the 0/1 matrix when it is first read.
    """

    #: The features as ranks, if `X` was given in this form.
    ranked: RankedTests | None

    def _keep_ranked(self) -> RankedTests | None:
        """Move a ranked `X` aside; to be called first in `__post_init__`."""
        given = self.__dict__["X"]
        ranked = given if isinstance(given, RankedTests) else None
        if ranked is not None:
            del self.__dict__["X"]
        self.__dict__["ranked"] = ranked
        return ranked

    def __getattr__(self, name: str) -> Any:
        ranked = self.__dict__.get("ranked")
        if name == "X" and ranked is not None:
            return ranked.dense
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def n_rows(self) -> int:
        return int(self.stored.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.stored.shape[1])

    @property
    def stored(self) -> Any:
        """`X` in the form in which it is stored."""
        return self.__dict__["X"] if self.ranked is None else self.ranked

    def outcome(self, test: int, rows: Any = slice(None)) -> np.ndarray:
        """Values 0/1 of one feature on the given rows."""
        return (
            np.asarray(self.X[rows, test])
            if self.ranked is None
            else self.ranked.outcome(test, rows)
        )
