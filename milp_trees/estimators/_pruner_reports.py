"""What can be asked of a fitted `EnsemblePruner`: predictions, costs, tables, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from milp_trees.errors import DataError
from milp_trees.estimators import _pruner_rows as parts
from milp_trees.estimators._prunings import Pruning
from milp_trees.study.along_curve import RowPrice, Rows, feature_table

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.models.ensemble import Ensemble


def _has_proba(pruner: PrunedModel) -> bool:
    return hasattr(parts.unwrapped(pruner.estimator, "auto")[0], "predict_proba")


class PrunedModel:
    """Base of `EnsemblePruner`; a subclass fits."""

    estimator: Any
    best_estimator_: Any
    selected_: Pruning
    ensemble_: Ensemble
    costs_: Any
    problem_: Any
    _priced_by_row: bool
    validation_curve_: pd.DataFrame
    feature_shares_: pd.DataFrame
    unpruned_: dict[str, float]
    validation_rows_: str
    lam_: float | None
    estimator_: Any

    # -- predictions -------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Labels or numbers of the selected pruning, shape (n,)."""
        X = self._checked(X)
        said: np.ndarray = self.best_estimator_.predict(X)
        return said

    @available_if(_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the selected pruning, shape (n, number of classes)."""
        X = self._checked(X)
        shares: np.ndarray = self.best_estimator_.predict_proba(X)
        return shares

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or the coefficient of determination, of the selected pruning."""
        X = self._checked(X)
        return float(self.best_estimator_.score(X, y, sample_weight))

    def _checked(self, X: Any) -> Any:
        """Rows for the inner estimator: a DataFrame stays one where that knows its names."""
        rows = self._numbers(X)
        return (
            X if hasattr(X, "iloc") and hasattr(self.best_estimator_, "feature_names_in_") else rows
        )

    def _numbers(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "best_estimator_")
        rows: np.ndarray = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite=False
        )
        parts.check_complete(rows, self.ensemble_.columns)
        return rows

    # -- costs -------------------------------------------------------------------------------------------------

    def feature_cost(self, X: Any, *, unpruned: bool = False, row_costs: Any = None) -> np.ndarray:
        """What every row pays at prediction time, shape (n,).

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        unpruned : bool, default=False
            For the unpruned ensemble instead of the selected one.
        row_costs : array of shape (n, K), optional
            Price of each feature for each row; needed where `fit` had them.

        Notes
        -----
        Groups that are bought once for all rows, and leaves, are not in it.
        """
        rows = self._rows(X, row_costs)
        ensemble = self.ensemble_ if unpruned else self.selected_.ensemble
        routes = ensemble.walk(rows.X)
        return RowPrice(self.costs_, ensemble, rows).per_row(routes.used, routes.evaluations)

    def cost_report(self, X: Any, y: Any = None, *, row_costs: Any = None) -> pd.DataFrame:
        """The unpruned and the selected ensemble side by side on the given rows.

        Returns
        -------
        DataFrame
            Index `unpruned`, `pruned`. Columns: `mean_cost`, `largest_cost` of a row, `cost_share`
            of the unpruned mean, `features_per_row`, `features` (needed for any row), `splits`;
            with y also `score`.
        """
        import pandas as pd

        rows = self._rows(X, row_costs)
        table = []
        for name, ensemble, model in (
            ("unpruned", self.ensemble_, self.estimator_),
            ("pruned", self.selected_.ensemble, self.best_estimator_),
        ):
            routes = ensemble.walk(rows.X)
            paid = RowPrice(self.costs_, ensemble, rows).per_row(routes.used, routes.evaluations)
            line = {
                "ensemble": name,
                "mean_cost": paid.mean(),
                "largest_cost": paid.max(),
                "cost_share": np.nan,
                "features_per_row": routes.used.sum(axis=1).mean(),
                "features": int(routes.used.any(axis=0).sum()),
                "splits": ensemble.n_splits,
            }
            table.append(line if y is None else {**line, "score": model.score(self._checked(X), y)})
        frame = pd.DataFrame(table).set_index("ensemble")
        full = frame.loc["unpruned", "mean_cost"]
        frame["cost_share"] = frame["mean_cost"] / full if full else 1.0
        return frame

    def acquisition(self, X: Any, *, row_costs: Any = None) -> pd.DataFrame:
        """Features of the selected ensemble in the order in which rows need them; see
        `milp_trees.study.along_path.feature_table`.
        """
        rows = self._rows(X, row_costs)
        return feature_table(self.selected_.ensemble, rows, self.costs_, self.ensemble_)

    def _rows(self, X: Any, row_costs: Any) -> Rows:
        X = self._numbers(X)
        if row_costs is None and self._priced_by_row:
            raise DataError(
                "The ensemble was pruned with prices that differ from row to row; give those of these rows as row_costs."
            )
        return Rows(X, row_costs=None if row_costs is None else check_array(row_costs, dtype=None))

    # -- pictures ------------------------------------------------------------------------------------------------

    def plot(self, ax: Any = None) -> Any:
        """Error against cost: the path on the rows that the objective counts, the vote on
        validation rows, the selected pruning. Returns the axes.
        """
        from milp_trees.study.pruning_plots import plot_curve

        check_is_fitted(self, "best_estimator_")
        return plot_curve(self, ax)

    def plot_acquisition(
        self, X: Any, ax: Any = None, *, most: int = 20, row_costs: Any = None
    ) -> Any:
        """Bars: share of the rows that need each feature of the selected ensemble; line: mean cost
        so far. Returns the axes.
        """
        from milp_trees.study.pruning_plots import plot_acquisition

        return plot_acquisition(self.acquisition(X, row_costs=row_costs), ax, most)

    def plot_features(self, ax: Any = None, *, most: int = 25) -> Any:
        """Which features are needed at which λ, by how many rows. Returns the axes."""
        from milp_trees.study.pruning_plots import plot_features

        check_is_fitted(self, "best_estimator_")
        return plot_features(self, ax, most)
