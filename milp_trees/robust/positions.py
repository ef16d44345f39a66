"""Where rows may be in each column, as cells between which the answers of its tests change.

The tests of a numeric column cut it into intervals, and a column of categories has a cell per
category. A cell stands for all values in it, since no tree of the problem tells them apart. How far
a row is from a cell is computed in integers, in a unit of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.errors import NoView
from milp_trees.common.exact import common_unit, fraction

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.data.feature import BinaryFeature

#: Largest number of units of a value or a distance.
LARGEST = 2**60


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column.

    Parameters
    ----------
    answers : uint8 array of shape (tests of the column, cells)
        What each test answers in each cell.
    at : int64 array of shape (n,)
        The cell of every row.
    down, up : int64 arrays of shape (n, cells)
        How far a row is shifted at least to be in a cell below or above its own, in units; 0 for
        its own cell, -1 where the cell is not on this side.
    unit : Fraction
        The unit of distances.
    open_above : bool
        Whether a shift to a cell above must be larger than `up`, and not equal to it.
    """

    answers: np.ndarray
    at: np.ndarray
    down: np.ndarray
    up: np.ndarray
    unit: Fraction
    open_above: bool


def fixed_cells(X: np.ndarray) -> Cells:
    """The cells of a column that is not shifted: the answers that its tests give on the rows.

    Parameters
    ----------
    X : uint8 array of shape (n, tests of the column)
        The answers.
    """
    patterns, at = np.unique(X, axis=0, return_inverse=True)
    far = np.full((len(X), len(patterns)), -1, dtype=np.int64)
    far[np.arange(len(X)), at.ravel()] = 0
    return Cells(patterns.T.copy(), at.ravel(), far, far.copy(), Fraction(1), False)


def cells_of(dataset: Dataset, tests: Sequence[BinaryFeature], X: np.ndarray, whole: bool) -> Cells:
    """The cells of a column that may be shifted.

    Parameters
    ----------
    dataset : Dataset
    tests : sequence of BinaryFeature
        The candidate tests of the column.
    X : uint8 array of shape (n, tests)
        Their answers.
    whole : bool
        Whether a numeric column holds whole numbers and is shifted by whole numbers.

    Raises
    ------
    NoView
        It is not known how far the rows are from the thresholds, or the column has missing values,
        or numbers that are not whole.
    """
    kinds, column = {t.kind for t in tests}, tests[0].column
    if "missing" in kinds or any(t.missing is not None for t in tests):
        raise NoView(
            f"The column {column!r} has missing values, and it is not said how far they are shifted; fill them in, or give the column no shift."
        )
    if kinds == {"<="}:
        return _numeric_cells(dataset, tests, X, whole)
    if kinds == {"is"} and len(tests) == 1:
        return _category_cells(np.array([[0, 1]], dtype=np.uint8), X[:, 0].astype(np.int64))
    if kinds == {"=="}:
        return _named_cells(X)
    raise NoView(
        f"The column {column!r} has tests of several kinds ({', '.join(sorted(kinds))}), between which no shift is defined; give it one kind of tests, or no shift."
    )


def _named_cells(X: np.ndarray) -> Cells:
    """A cell per category with a test, and one for all others if a row is in none of them."""
    others = bool((X.sum(axis=1) == 0).any())
    answers = np.eye(X.shape[1], dtype=np.uint8)
    at = X.argmax(axis=1).astype(np.int64)
    if others:
        answers = np.column_stack([answers, np.zeros(X.shape[1], dtype=np.uint8)])
        at[X.sum(axis=1) == 0] = X.shape[1]
    return _category_cells(answers, at)


def _category_cells(answers: np.ndarray, at: np.ndarray) -> Cells:
    """Categories are one unit apart, whichever they are."""
    far = np.ones((len(at), answers.shape[1]), dtype=np.int64)
    far[np.arange(len(at)), at] = 0
    return Cells(answers, at, far, far.copy(), Fraction(1), False)


def _numeric_cells(
    dataset: Dataset, tests: Sequence[BinaryFeature], X: np.ndarray, whole: bool
) -> Cells:
    column = tests[0].column
    values = _values(dataset, tests, X)
    if whole and any(x.denominator != 1 for x in values):
        raise NoView(
            f"The column {column!r} holds numbers that are not whole, and the budget counts shifts by whole numbers; scale or round the column, or give it no cost."
        )
    thresholds = [fraction(t.place) for t in tests]
    if whole:
        thresholds = [Fraction(t // 1) for t in thresholds]
    unit = Fraction(1) if whole else common_unit([*values, *thresholds])
    x, cuts = _in_units(values, unit, column), _in_units(thresholds, unit, column)
    order = np.unique(cuts)
    answers = (cuts[:, None] >= np.append(order, LARGEST)[None, :]).astype(np.uint8)
    at = np.searchsorted(order, x, side="left")
    top, bottom = np.append(order, LARGEST), np.append(-LARGEST, order)
    below, above = np.arange(len(order) + 1) < at[:, None], np.arange(len(order) + 1) > at[:, None]
    # A value of a cell is above the threshold at its bottom; whole numbers are above it by one.
    up = np.where(above, bottom[None, :] - x[:, None] + int(whole), -1)
    down = np.where(below, x[:, None] - top[None, :], -1)
    own = np.arange(len(order) + 1) == at[:, None]
    up[own] = down[own] = 0
    return Cells(answers, at, down, up, unit, not whole)


def _in_units(numbers: list[Fraction], unit: Fraction, column: str) -> np.ndarray:
    found = [x / unit for x in numbers]
    if any(abs(x) >= LARGEST // 4 for x in found):
        raise NoView(
            f"The values and thresholds of {column!r} have too many digits for exact distances; round the column."
        )
    return np.array([int(x) for x in found], dtype=np.int64)


def _values(dataset: Dataset, tests: Sequence[BinaryFeature], X: np.ndarray) -> list[Fraction]:
    """The numbers of a column, as they were written."""
    column = tests[0].column
    if dataset.numeric is not None and column in (dataset.columns or ()):
        given = dataset.numeric[:, list(dataset.columns or ()).index(column)]
        wrong = [t for j, t in enumerate(tests) if ((given <= t.place) != (X[:, j] == 1)).any()]
        if wrong:
            raise NoView(
                f"The numeric column {column!r} does not agree with its test {wrong[0].name!r}; make both from the same table."
            )
        return [fraction(x) for x in given.tolist()]
    found = _between(dataset, tests, X)
    if found is None:
        raise NoView(
            f"It is not known how far the rows are from the thresholds of {column!r}; give all thresholds (Binarizer(kind='midpoints')), or the numbers (Dataset(…, numeric=X, columns=names))."
        )
    return found


def _between(
    dataset: Dataset, tests: Sequence[BinaryFeature], X: np.ndarray
) -> list[Fraction] | None:
    """The numbers where the thresholds leave one value between each two of them, or None."""
    ranked = dataset.ranked
    if ranked is None or ranked.gap is None:
        return None
    gap = np.array([ranked.gap[dataset.index[t]] for t in tests])
    order = np.argsort([t.place for t in tests])
    low = np.append(-np.inf, gap[order, 1])  # the smallest value above the threshold below
    high = np.append(gap[order, 0], np.inf)
    low[0], high[-1] = high[0], low[-1]
    cell = len(tests) - X.sum(axis=1).astype(np.int64)
    if not np.isfinite(low[cell]).all() or (low[cell] != high[cell]).any():
        return None
    return [fraction(x) for x in low[cell].tolist()]
