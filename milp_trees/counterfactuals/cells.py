"""An ensemble over cells: every column is the number of the interval in which its value lies.

The thresholds of a column divide its numbers into intervals, and an ensemble predicts the same for
all numbers of one. So a counterfactual chooses an interval per column: their prices are known
exactly, and the comparisons of the ensemble are those of whole numbers, which a solver's tolerances
cannot confuse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.counterfactuals.columns import Column, Found
from milp_trees.data.feature import BinaryFeature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from milp_trees.models.ensemble import Ensemble


@dataclass(frozen=True)
class Cells:
    """The intervals of the columns of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble
        With the numbers of intervals in place of the columns and thresholds.
    found : mapping of str to mapping of int to Found
        For every column that is asked for, the nearest value of each interval that has one.
    """

    ensemble: Ensemble
    found: Mapping[str, Mapping[int, Found]]


def tests_of(ensemble: Ensemble) -> dict[str, list[BinaryFeature]]:
    """The comparisons of the splits that are kept, per column, the least threshold first.

    Where values are rounded to 32 bits before they are compared, the thresholds are those of the
    values before they are rounded.
    """
    out: dict[str, list[BinaryFeature]] = {}
    for name, thresholds in _thresholds(ensemble).items():
        out[name] = [BinaryFeature(name, "<=", float(t)) for t in np.unique(thresholds)]
    return out


def _thresholds(ensemble: Ensemble) -> dict[str, np.ndarray]:
    kept = np.flatnonzero(ensemble.kept)
    limits = largest_below(ensemble.threshold[kept], ensemble.single)
    of = ensemble.column[kept]
    return {ensemble.columns[c]: limits[of == c] for c in np.unique(of).tolist()}


def largest_below(thresholds: np.ndarray, single: bool) -> np.ndarray:
    """The largest double that a comparison with each threshold answers by yes; shape (m,).

    Parameters
    ----------
    thresholds : float array of shape (m,)
    single : bool
        Whether values are rounded to 32 bits before they are compared.

    Returns
    -------
    float array of shape (m,)
    """
    thresholds = np.asarray(thresholds, dtype=float)
    if not single:
        return thresholds
    below = thresholds.astype(np.float32)
    below = np.where(
        below.astype(float) > thresholds, np.nextafter(below, np.float32(-np.inf)), below
    )
    above = np.nextafter(below, np.float32(np.inf)).astype(float)
    # A double between two floats is rounded to the nearer one, in the middle to the even one.
    middle = below.astype(float) + (above - below.astype(float)) / 2
    rounded = middle.astype(np.float32).astype(float)
    return np.where(rounded <= thresholds, middle, np.nextafter(middle, -np.inf))


def cells_of(ensemble: Ensemble, columns: Mapping[str, Column]) -> Cells:
    """The cells of an ensemble and the price of each.

    Parameters
    ----------
    ensemble : Ensemble
    columns : mapping of str to Column
        What every column that is asked for may hold.

    Returns
    -------
    Cells
    """
    tests = tests_of(ensemble)
    found: dict[str, dict[int, Found]] = {}
    for name, asked in tests.items():
        column, rest = columns[name], columns[name].whole
        found[name] = {}
        for k, test in enumerate(asked):
            held = None if rest is None else column.where(rest, test, True)
            rest = None if rest is None else column.where(rest, test, False)
            if held is not None:
                found[name][k] = column.nearest(held)
        if rest is not None:
            found[name][len(asked)] = column.nearest(rest)
    threshold = ensemble.threshold.copy()
    limits = largest_below(threshold, ensemble.single)
    for name, asked in tests.items():
        here = ensemble.kept & (ensemble.column == ensemble.columns.index(name))
        threshold[here] = np.searchsorted([t.value for t in asked], limits[here])
    return Cells(replace(ensemble, threshold=threshold, single=False), found)


def row_of(cells: Cells, chosen: Mapping[str, int]) -> dict[str, Any]:
    """The values of the chosen cells, with their prices."""
    return {name: cells.found[name][k] for name, k in chosen.items()}
