"""Base of `SPOTree` and `SPOForest`: checked rows, decision set, and regret of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array

from milp_trees.common.errors import DataError
from milp_trees.data.checks import missing_in
from milp_trees.data.names import columns_and_names, columns_over
from milp_trees.data.parameters import OF_TREES, check_parameters
from milp_trees.data.table_columns import kind_of, order_of
from milp_trees.estimators._trees import OptimalModel, check_weights, take

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet

#: How the thresholds of numeric columns may be chosen.
THRESHOLDS = ("quantiles", "midpoints")

#: Greedy methods by their labels in the registry, and the criterion by which each of them splits
#: (one of `engines.decision_trees.fitting.CRITERIA`).
GREEDY = {
    "greedy-spo": "loss",
    "greedy-spo:plateaus=squared-error": "smoothed",
    "cart-spo": "squared-error",
}


@dataclass(frozen=True, eq=False)
class CostRows:
    """Rows of a table with their cost vectors.

    Parameters
    ----------
    table : mapping of column name to array of shape (n,)
        Columns of numbers, or of text for categories.
    costs : float array of shape (n, d)
        Cost vector of every row.
    weights : float array of shape (n,)
        Weight of every row, above 0.
    """

    table: Mapping[str, np.ndarray]
    costs: np.ndarray
    weights: np.ndarray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.costs)

    def take(self, rows: np.ndarray) -> CostRows:
        """Select rows by index."""
        return CostRows(
            {name: values[rows] for name, values in self.table.items()},
            self.costs[rows],
            self.weights[rows],
        )


class DecisionEstimator(RegressorMixin, OptimalModel):  # type: ignore[misc]
    """Base of `SPOTree` and `SPOForest`, which predict cost vectors and take decisions."""

    # -- rows ------------------------------------------------------------------------------------------------

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> CostRows:
        """Check the training rows given to `fit`, and leave out those of weight 0."""
        if hasattr(self.decisions, "in_order"):
            y = self.decisions.in_order(y, "y")
        _, names = columns_and_names(y, None, "y", "costs")
        self._cost_names = None if names is None else [str(c) for c in names]
        X, y = self._checked(X, y, multi_output=True, y_numeric=True)
        self._flat = np.ndim(y) == 1
        costs = np.asarray(y, dtype=float).reshape(len(y), -1)
        weights = (
            np.ones(len(costs))
            if sample_weight is None
            else check_weights(sample_weight, len(costs))
        )
        self._categories_of = self._categorical(X)
        self._orders = _orders(X)
        kept = np.flatnonzero(weights)
        rows = CostRows(
            self._table(take(X, kept)), np.ascontiguousarray(costs[kept]), weights[kept]
        )
        self.n_outputs_ = costs.shape[1]
        return rows

    def _more_rows(self, X: Any, y: Any, sample_weight: Any) -> CostRows:
        """Check validation rows."""
        table = self._table(self._columns(X))
        costs = self._costs(y, len(next(iter(table.values()))))
        weights = (
            np.ones(len(costs))
            if sample_weight is None
            else check_weights(sample_weight, len(costs))
        )
        return CostRows(table, costs, weights)

    def _costs(self, y: Any, n: int) -> np.ndarray:
        """Check the cost vectors of n validation or test rows."""
        names = getattr(self, "_cost_names", None)
        if names is None:
            y = self._decision_set().in_order(y, "y")
        else:
            y = columns_over(y, names, "y", "costs of the fit")
        costs = check_array(y, ensure_2d=False, dtype=float, input_name="y")
        costs = costs.reshape(len(costs), -1)
        if costs.shape != (n, self.n_outputs_):
            raise DataError(
                f"y must hold a cost vector of length {self.n_outputs_} for each of {n} rows; it has shape {np.shape(y)}."
            )
        return costs

    def _categorical(self, X: Any) -> frozenset[str]:
        """Names of the columns whose numbers are categories."""
        names = [str(c) for c in X]
        chosen = set()
        for given in () if self.categorical_features is None else self.categorical_features:
            if isinstance(given, (int, np.integer)) and 0 <= given < len(names):
                chosen.add(names[given])
            elif str(given) in names:
                chosen.add(str(given))
            else:
                raise DataError(
                    f"categorical_features names the column {given!r}, which X does not have; its columns are {', '.join(names[:12])}."
                )
        return frozenset(chosen)

    def _table(self, X: Any) -> dict[str, np.ndarray]:
        """Columns by name, with categories as text.

        Raises
        ------
        DataError
            A value is missing, or a column contains dates.
        """
        import pandas as pd

        out = {}
        for name in X:
            values = np.asarray(X[name])
            missing = missing_in(values)
            if missing.any():
                raise DataError(
                    f"The column {name!r} has a missing value in row {int(missing.argmax())}; fill it in or drop the row."
                )
            text = str(name) in self._categories_of or values.dtype.kind not in "biuf"
            if text:
                kind_of(str(name), pd.Series(values))  # raises an error for dates
            out[str(name)] = (
                np.array([_spelled(v) for v in values.tolist()], dtype=object) if text else values
            )
        return out

    # -- decisions -------------------------------------------------------------------------------------------

    def _decision_set(self) -> DecisionSet:
        """The set S of feasible decisions; by default the unit simplex on the columns of y.

        Raises
        ------
        DataError
            Cost vectors and decisions differ in length.
        """
        from milp_trees.decisions.base import DecisionSet
        from milp_trees.decisions.combinatorial import simplex_decisions

        if self.decisions is None:
            return simplex_decisions(self._cost_names or [str(k) for k in range(self.n_outputs_)])
        if not isinstance(self.decisions, DecisionSet):
            raise DataError(
                f"decisions must be a DecisionSet such as mt.decisions.grid_paths(4, 4), or None; got {type(self.decisions).__name__}."
            )
        if self.decisions.dimension != self.n_outputs_:
            raise DataError(
                f"y holds cost vectors of length {self.n_outputs_}, but a decision has {self.decisions.dimension} entries."
            )
        return self.decisions

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the normalised regret of the decisions; 0 is best.

        The regret is `Σ (c·w − z*(c)) / Σ |z*(c)|` over the rows, where w is the decision and `z*(c)`
        the least cost of any decision, as in PyEPO (Tang, Khalil 2022).

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n, d)
            True cost vectors.
        sample_weight : array of shape (n,), optional
            Weights of the rows in both sums.

        Returns
        -------
        float
            Minus infinity if every z* is 0 and a decision costs more than 0.

        Raises
        ------
        DataError
            y or the weights have the wrong shape, or a value is not allowed.
        """
        decisions = self.decide(X)
        costs = self._costs(y, len(decisions))
        weights = (
            np.ones(len(costs))
            if sample_weight is None
            else check_weights(sample_weight, len(costs))
        )
        return -normalised_regret(self.decisions_, costs, decisions, weights)

    def _least(self, sums: np.ndarray) -> np.ndarray:
        """The cost of the best decision for each sum of cost vectors, shape (m,)."""
        least: np.ndarray = self.decisions_.value(sums)
        return least

    # -- scikit-learn ----------------------------------------------------------------------------------------

    def _shaped(self, costs: np.ndarray) -> np.ndarray:
        """Predictions in the same shape as the training target."""
        return costs[:, 0] if self._flat else costs

    def _check_choices(self) -> None:
        check_parameters(self, OF_TREES)
        if self.binarizer not in THRESHOLDS:
            raise DataError(
                f'binarizer must be "quantiles" or "midpoints"; got {self.binarizer!r}.'
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "decisions_" in self.__dict__ and (
            "tree_" in self.__dict__ or "estimators_" in self.__dict__
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = False
        tags.regressor_tags.poor_score = (
            True  # the score is a regret, not a coefficient of determination
        )
        return tags


def normalised_regret(
    decisions: DecisionSet, costs: np.ndarray, taken: np.ndarray, weights: np.ndarray
) -> float:
    """The normalised regret Σ (c·w − z*(c)) / Σ |z*(c)|, where 0/0 counts as 0.

    Parameters
    ----------
    decisions : DecisionSet
    costs : float array of shape (n, d)
        True cost vectors c.
    taken : float array of shape (n, d)
        Decisions w.
    weights : float array of shape (n,)
        Weights of the rows in both sums.

    Returns
    -------
    float
        Infinity if the numerator is positive and the denominator 0.
    """
    least = decisions.value(costs)
    lost = float(weights @ ((costs * taken).sum(axis=1) - least))
    scale = float(weights @ np.abs(least))
    if scale:
        return lost / scale
    return float("inf") if lost > 0 else 0.0


def _orders(X: Any) -> dict[str, tuple[str, ...]]:
    """The categories of the columns of ordered categories, the lowest first."""
    import pandas as pd

    columns = {str(name): X[name] for name in X}
    return {
        name: order_of(column)
        for name, column in columns.items()
        if isinstance(column, pd.Series) and kind_of(name, column) == "ordered"
    }


def _spelled(value: Any) -> str:
    """A category as text; 1, 1.0 and True give the same text."""
    if isinstance(value, bool):
        return str(int(value))
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
