"""`TreeColumns`: the columns that a converted tree asks, made from the original table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from milp_trees.common.errors import DataError
from milp_trees.data.checks import check_columns
from milp_trees.estimators._tables import TakesTables
from milp_trees.models.export import NOTHING, asks_number

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature

_LARGEST = np.finfo(np.float32).max


class TreeColumns(TakesTables, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """From the original table to the columns of a converted tree, in single precision.

    scikit-learn rounds numbers to single precision before it compares them. This transformer
    rounds them so that every number stays on its side of every threshold of the tree. A question
    about a category, a date or a missing value becomes a column of 0 and 1.

    Parameters
    ----------
    columns : sequence of str
        The columns of the original table, in their order.
    names : sequence of str
        The columns that the converted tree asks, in their order.
    tests : sequence of BinaryFeature
        The questions of the tree.

    Raises
    ------
    DataError
        (By `fit` and `transform`.) Two thresholds have no number of single precision between them.
    """

    def __init__(
        self, *, columns: Sequence[str], names: Sequence[str], tests: Sequence[BinaryFeature]
    ) -> None:
        self.columns = columns
        self.names = names
        self.tests = tests

    def fit(self, X: Any = None, y: Any = None) -> TreeColumns:
        """Nothing is learned from the rows; the thresholds are checked."""
        for name in self.names:
            if name in self.columns:
                self._ends(name)
        self.n_features_in_ = len(self.columns)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The columns of the converted tree, float32 array of shape (n, number of names)."""
        questions = {t.name: t for t in self.tests if not asks_number(t)}
        if list(self.names) == [NOTHING] and NOTHING not in self.columns:
            return np.zeros((len(X), 1), dtype=np.float32)
        out = [
            questions[name].evaluate(self._column(X, questions[name].column)).astype(np.float32)
            if name in questions
            else self._rounded(name, self._column(X, name))
            for name in self.names
        ]
        return np.column_stack(out)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the converted tree."""
        return np.array(self.names, dtype=object)

    def _column(self, X: Any, name: str) -> np.ndarray:
        if hasattr(X, "columns"):
            spelled = {str(c): c for c in X.columns}
            check_columns([*(t.column for t in self.tests), name], spelled, "tree")
            return np.asarray(X[spelled[name]])
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise DataError(
                f"X must have {len(self.columns)} columns, as when the tree was fitted; it has the shape {rows.shape}."
            )
        return rows[:, list(self.columns).index(name)]

    def _thresholds(self, name: str) -> np.ndarray:
        requested = {float(t.value) for t in self.tests if t.column == name and t.kind == "<="}
        return np.array(sorted(requested))

    def _ends(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest number of single precision between neighbouring thresholds."""
        cuts = self._thresholds(name)
        with np.errstate(over="ignore"):
            near = cuts.astype(np.float32)
        above = np.where(near > cuts, near, np.nextafter(near, np.float32(np.inf)))
        upto = np.where(near <= cuts, near, np.nextafter(near, np.float32(-np.inf)))
        low, high = np.append(np.float32(-_LARGEST), above), np.append(upto, np.float32(_LARGEST))
        wrong = np.flatnonzero(~(low <= high))
        if len(wrong):
            raise DataError(
                f"scikit-learn compares in single precision, in which the thresholds of the column {name!r} near {cuts[min(wrong[0], len(cuts) - 1)]!r}"
                " cannot be told apart; subtract a constant from that column or rescale it."
            )
        return low, high

    def _rounded(self, name: str, values: np.ndarray) -> np.ndarray:
        numbers = np.asarray(values, dtype=float)
        low, high = self._ends(name)
        place = np.searchsorted(self._thresholds(name), numbers, side="left")
        with np.errstate(over="ignore"):
            near = numbers.astype(np.float32)
        rounded: np.ndarray = np.clip(near, low[place], high[place])
        return np.where(np.isfinite(numbers), rounded, near)

    def __sklearn_is_fitted__(self) -> bool:
        return True
