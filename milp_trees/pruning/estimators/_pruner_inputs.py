"""The parameters and the rows of an `EnsemblePruner`, checked before anything is fitted."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    column_or_1d,
    validate_data,
)

from milp_trees.common.errors import DataError
from milp_trees.data.parameters import OF_PRUNING, check_parameters
from milp_trees.models.read_ensemble import check_prunable
from milp_trees.pruning.estimators import _pruner_rows as parts
from milp_trees.pruning.feature_costs import FeatureCosts
from milp_trees.pruning.path_scores import Rows


class PrunerInputs:
    """Base of `EnsemblePruner`, whose constructor sets the parameters."""

    estimator: Any
    feature_costs: Any
    groups: Any
    errors: str
    lam: Any
    budget: Any
    exact: bool
    slack: Any
    reference: str
    validation_fraction: Any
    loss: str
    node_cost: Any
    leaf_cost: Any
    denominator: int | None
    prefit: Any
    n_features_in_: int

    def _check_options(self) -> tuple[Any, bool]:
        check_parameters(self, OF_PRUNING)
        share = self.validation_fraction
        if share is not None and not (isinstance(share, Real) and 0 < float(share) < 1):
            raise DataError(
                f"validation_fraction is a share of the rows between 0 and 1, or None; got {share!r}."
            )
        if self.reference not in ("unpruned", "best"):
            raise DataError(f"reference is 'unpruned' or 'best'; got {self.reference!r}.")
        if self.loss not in ("auto", "error", "squared"):
            raise DataError(f"loss is 'auto', 'error' or 'squared'; got {self.loss!r}.")
        if self.exact and self.budget is None:
            raise DataError(
                "exact=True belongs to a budget; every pruning on the curve is already optimal for its lam."
            )
        if self.errors not in ("train", "oob", "held-out"):
            raise DataError(f"errors is 'train', 'oob' or 'held-out'; got {self.errors!r}.")
        if self.lam is not None and self.budget is not None:
            raise DataError("Give lam or budget, not both: each of them selects a pruning.")
        model, prefit = parts.unwrapped(self.estimator, self.prefit)
        check_prunable(model)
        return model, prefit

    def _needs_rows(self) -> bool:
        """Whether rows must be set aside if no validation rows are given."""
        if self.errors == "held-out":
            if self.validation_fraction is None:
                raise DataError(
                    "errors='held-out' needs rows that the trees have not seen: give X_val and y_val, or validation_fraction=0.25."
                )
            return True
        return self.lam is None and self.budget is None and self.validation_fraction is not None

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, row_costs: Any, reset: bool = True
    ) -> tuple[Rows, np.ndarray]:
        """Check rows and convert them to double precision.

        Parameters
        ----------
        X, y, sample_weight, row_costs
            As in `fit`.
        reset : bool, default=True
            Whether these are the training rows, whose columns are remembered.

        Returns
        -------
        rows : Rows
        y : array of shape (n,)

        Raises
        ------
        DataError, ValueError
            A value or a shape is not allowed.
        """
        shape: tuple[int, ...] = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise DataError(
                f"y has {shape[1]} columns; ensembles with one output can be pruned, so give one column."
            )
        classes = is_classifier(self)
        X, y = validate_data(
            self,
            X,
            y,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            y_numeric=not classes,
        )
        y = column_or_1d(y, warn=True)
        if classes and reset:
            check_classification_targets(y)
        weights = None
        if sample_weight is not None:
            weights = parts.round_weights(
                _check_sample_weight(sample_weight, X, ensure_non_negative=True), self.denominator
            )
        costs = parts.check_prices(row_costs)
        if costs is not None and len(costs) != len(X):
            raise DataError(
                f"row_costs has {len(costs)} rows for {len(X)} rows of X; give the prices of each row."
            )
        return Rows(X, y, weights, costs), y

    def _validation(self, X: Any, y: Any, sample_weight: Any, row_costs: Any) -> Rows | None:
        if X is None and y is None:
            return None
        if X is None or y is None:
            raise DataError("Give X_val and y_val together.")
        rows, _ = self._check_rows(X, y, sample_weight, row_costs, reset=False)
        parts.check_complete(rows.X, self._columns(), "X_val")
        return rows

    def _columns(self) -> list[str]:
        return [
            str(c)
            for c in getattr(
                self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]
            )
        ]

    def _costs(self) -> FeatureCosts:
        given = self.feature_costs
        if isinstance(given, FeatureCosts):
            if self.groups or self.node_cost or self.leaf_cost or self.denominator:
                raise DataError(
                    "feature_costs is a FeatureCosts, which has groups, node and leaf prices of its own; give them to it instead."
                )
            if given.per_row is not None:
                raise DataError(
                    "Prices that differ from row to row belong to rows: call fit(X, y, row_costs=prices)."
                )
            return given
        return FeatureCosts(
            given, None, self.groups, self.node_cost, self.leaf_cost, self.denominator
        )
