"""Weights of rows as integers, and their sums over the nodes of an ensemble."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction, integers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.ensemble import Ensemble


def numbers(given: Any, name: str) -> np.ndarray:
    """Weights as an array of numbers, or of Fractions if they are given as Fractions or text."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise DataError(f"{name} must be an array; its rows differ in length.") from None
    if array.dtype.kind in "biuf":
        return array
    numbers = [fraction(v, f"An entry of {name}") for v in array.ravel().tolist()]
    return np.array([*numbers, None], dtype=object)[:-1].reshape(
        array.shape
    )  # with the None, NumPy does not convert Fractions


def whole_numbers(weights: np.ndarray, name: str) -> tuple[np.ndarray, Fraction]:
    """Weights as integers."""
    numbers = weights.astype(float)
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise DataError(f"{name} must be finite and not negative.")
    whole, unit, exact = integers(weights)
    if not exact:
        raise DataError(
            f"{name} have more digits than exact arithmetic takes; round them, for example to three decimals."
        )
    return whole, unit


def total_weight(whole: np.ndarray, n_trees: int) -> int:
    total = int(whole.sum()) * (n_trees if whole.shape[1] == 1 else 1)
    if total <= 0:
        raise DataError(
            "The weights of the rows that count errors sum to 0; at least one must be positive."
        )
    return total


def codes(dataset: Dataset, ensemble: Ensemble) -> np.ndarray:
    """Index of every row's class among the ensemble's classes; -1 if the class is not there."""
    y = dataset.require("y", "Counting errors")
    place = {c: k for k, c in enumerate(ensemble.classes or ())}
    spelled = {str(c): k for c, k in place.items()}
    known = [place.get(c, spelled.get(str(c), -1)) for c in dataset.classes or ()]
    if known and max(known) < 0:
        raise DataError(
            f"The data have the classes {list(dataset.classes or ())[:6]}, the ensemble {list(ensemble.classes or ())[:6]}: none in common."
        )
    return np.array(known, dtype=np.int64)[y]


def targets(dataset: Dataset) -> np.ndarray:
    """The numbers that a regression ensemble predicts, shape (n,)."""
    y = dataset.require("y", "A squared error")
    try:
        return np.array(dataset.classes, dtype=float)[y]
    except (TypeError, ValueError):
        raise DataError(
            "A regression ensemble needs numbers as its target; this one holds labels."
        ) from None


def per_node(ensemble: Ensemble, leaf: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
    """Sums over the rows at every node.

    Parameters
    ----------
    ensemble : Ensemble
        The unpruned ensemble.
    leaf : int32 array of shape (n, T)
        Leaves that the rows reach.
    weights : list of arrays of shape (n, 1) or (n, T)
        Numbers to be summed.

    Returns
    -------
    array of shape (len(weights), M)
    """
    at = leaf.ravel()
    sums = np.stack(
        [
            np.bincount(
                at, weights=np.broadcast_to(w, leaf.shape).ravel(), minlength=ensemble.n_nodes
            )
            for w in weights
        ],
        axis=1,
    )
    return add_upwards(ensemble, sums).T


def per_class(
    ensemble: Ensemble, leaf: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Weight of the rows at every node whose class is the node's label.

    Parameters
    ----------
    ensemble : Ensemble
        The unpruned ensemble.
    leaf : int32 array of shape (n, T)
        Leaves that the rows reach.
    y : int array of shape (n,)
        Class of each row.
    weights : array of shape (n, 1) or (n, T)
        Weights of the rows.

    Returns
    -------
    array of shape (M,)
    """
    K = len(ensemble.classes or ())
    seen = y >= 0
    at = leaf[seen].astype(np.int64) * K + y[seen, None]
    counts = np.bincount(
        at.ravel(), weights=weights[seen].ravel(), minlength=ensemble.n_nodes * K
    ).reshape(-1, K)
    return np.asarray(add_upwards(ensemble, counts)[np.arange(ensemble.n_nodes), ensemble.label])


def add_upwards(ensemble: Ensemble, sums: np.ndarray) -> np.ndarray:
    """Add every node's sums to those of its ancestors."""
    for level in ensemble.levels[:0:-1]:
        np.add.at(sums, ensemble.parent[level], sums[level])
    return sums
