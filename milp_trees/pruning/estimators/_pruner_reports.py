"""Base of `EnsemblePruner` with its results: predictions, prunings, costs, tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.estimators._notebook import InNotebook, text_html
from milp_trees.estimators._tables import TakesTables, takes_tables
from milp_trees.estimators._warning import warn_user
from milp_trees.models.write_ensemble import write_ensemble
from milp_trees.pruning.estimators import _pruner_rows as parts
from milp_trees.pruning.estimators import _prunings as prunings
from milp_trees.pruning.path_scores import RowPrice, Rows, feature_table

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.models.ensemble import Ensemble
    from milp_trees.pruning.engines.min_cut.curve import PruningCurve


def _has_proba(pruner: PrunedModel) -> bool:
    return hasattr(parts.unwrapped(pruner.estimator, "auto")[0], "predict_proba")


class PrunedModel(InNotebook, TakesTables):
    """Base of `EnsemblePruner`, whose `fit` sets the attributes."""

    estimator: Any
    best_estimator_: Any
    selected_: prunings.Pruning
    ensemble_: Ensemble
    costs_: Any
    problem_: Any
    _priced_by_row: bool
    validation_curve_: pd.DataFrame
    feature_shares_: pd.DataFrame
    unpruned_: dict[str, float]
    validation_rows_: str
    lam_: float | None
    curve_: PruningCurve
    estimator_: Any

    def _model_html(self) -> str:
        """The selected pruning in words; empty before `fit`."""
        if "selected_" not in vars(self):
            return ""
        figures = "\n".join(f"{k}: {v}" for k, v in self.selected_.plain().items() if v is not None)
        return text_html(f"{self.selected_.ensemble.to_text()}\n{figures}")

    # -- predictions -------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Labels (for regression, numbers) that the selected pruning predicts, shape (n,)."""
        X = self._checked(X)
        message: np.ndarray = self.best_estimator_.predict(X)
        return message

    @available_if(_has_proba)  # type: ignore[untyped-decorator]
    @takes_tables
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the selected pruning, shape (n, number of classes)."""
        X = self._checked(X)
        shares: np.ndarray = self.best_estimator_.predict_proba(X)
        return shares

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy (for regression, the coefficient of determination) of the selected pruning.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float

        Raises
        ------
        DataError
            A value is missing.
        """
        X = self._checked(X)
        return float(self.best_estimator_.score(X, y, sample_weight))

    def _checked(self, X: Any) -> Any:
        """Rows for the inner estimator; a DataFrame stays one if feature names are known."""
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

    # -- pruning ---------------------------------------------------------------------------------------------

    def prune(
        self,
        lam: Any = None,
        *,
        budget: Any = None,
        exact: bool = False,
        time_limit: float | None = 60.0,
        method: str | None = None,
    ) -> Any:
        """Return a pruned copy of the fitted ensemble; `best_estimator_` does not change.

        Parameters
        ----------
        lam : number, optional
            The price λ of cost in units of error. At a breakpoint of the curve the smaller pruning
            is taken. A float stands for the breakpoint of which it is the nearest float.
        budget : number, optional
            Largest mean cost of a row, on the rows of the objective. Without `exact` the result is
            the best pruning *on the curve* within the budget, and another pruning within the budget
            may have a smaller error.
        exact : bool, default=False
            Whether the best of all prunings within the budget is found, by a mixed-integer program
            that starts from the pruning on the curve.
        time_limit : float or None, default=60
            Seconds for this program. If the pruning is not proven optimal by then, there is a
            ConvergenceWarning.
        method : str, optional
            Method for this program; by default the first one of the registry that takes a budget.

        Returns
        -------
        estimator
            Of the class of the fitted estimator. Its attribute `pruning_` is a dict with the keys
            `lam`, `error`, `cost`, `status`, `bound`, `gap`, `note` and `splits`.

        Raises
        ------
        DataError
            Not exactly one of `lam` and `budget` is given, λ is negative, or even the smallest
            pruning costs more than the budget.
        SolverFailure
            The solver failed.
        """
        return self._written(
            self.pruned(lam, budget=budget, exact=exact, time_limit=time_limit, method=method)
        )

    def pruned(
        self,
        lam: Any = None,
        *,
        budget: Any = None,
        exact: bool = False,
        time_limit: float | None = 60.0,
        method: str | None = None,
    ) -> prunings.Pruning:
        """Return a pruning as a `Pruning`: an `Ensemble` with exact error, cost and bound.

        Parameters
        ----------
        lam, budget, exact, time_limit, method
            As in `prune`.

        Returns
        -------
        Pruning

        Raises
        ------
        DataError, SolverFailure
            As in `prune`.
        """
        check_is_fitted(self, "curve_")
        if (lam is None) == (budget is None):
            raise DataError("Give lam or budget, and only one of them: it determines the pruning.")
        if lam is not None:
            if exact:
                raise DataError(
                    "exact=True belongs to a budget; every pruning on the curve is already optimal for its lam."
                )
            return prunings.at_lam(self.problem_, self.curve_, lam)
        point = prunings.at_budget(self.problem_, self.curve_, budget)
        if not exact or point.status == "optimal":
            return point
        limits = Limits.asked(time_limit=time_limit)
        found = prunings.within_budget(self.problem_, point, budget, method, limits)
        if found.status != "optimal":
            warn_user(found.note, ConvergenceWarning)
        return found

    def _written(self, pruning: prunings.Pruning) -> Any:
        out = write_ensemble(self.estimator_, pruning.ensemble)
        out.pruning_ = pruning.plain()
        return out

    # -- costs -------------------------------------------------------------------------------------------------

    def feature_cost(self, X: Any, *, unpruned: bool = False, row_costs: Any = None) -> np.ndarray:
        """Cost of the features that each row needs for its prediction.

        Groups that are paid once for all rows, and leaves, are not included.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        unpruned : bool, default=False
            Whether the cost is that of the unpruned ensemble instead of the selected pruning.
        row_costs : array of shape (n, K), optional
            Price of each feature for each row; needed if `fit` had `row_costs`.

        Returns
        -------
        float array of shape (n,)

        Raises
        ------
        DataError
            `row_costs` is needed, or a value is missing.
        """
        rows = self._rows(X, row_costs)
        ensemble = self.ensemble_ if unpruned else self.selected_.ensemble
        routes = ensemble.walk(rows.X)
        return RowPrice(self.costs_, ensemble, rows).per_row(routes.used, routes.evaluations)

    def cost_report(self, X: Any, y: Any = None, *, row_costs: Any = None) -> pd.DataFrame:
        """Compare the unpruned ensemble and the selected pruning on the given rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,), optional
            Labels or numbers, for the column `score`.
        row_costs : array of shape (n, K), optional
            Price of each feature for each row; needed if `fit` had `row_costs`.

        Returns
        -------
        DataFrame
            Index `unpruned` and `pruned`. Columns: `mean_cost` and `largest_cost` of a row,
            `cost_share` (mean cost divided by that of the unpruned ensemble), `features_per_row`,
            `features` (needed by at least one row), `splits`, and `score` if y is given.

        Raises
        ------
        DataError
            `row_costs` is needed, or a value is missing.
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
        """Table of the features of the selected pruning, in the order in which rows need them.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        row_costs : array of shape (n, K), optional
            Price of each feature for each row; needed if `fit` had `row_costs`.

        Returns
        -------
        DataFrame
            See `milp_trees.pruning.path_scores.feature_table`.
        """
        rows = self._rows(X, row_costs)
        return feature_table(self.selected_.ensemble, rows, self.costs_, self.ensemble_)

    def _rows(self, X: Any, row_costs: Any) -> Rows:
        X = self._numbers(X)
        if row_costs is None and self._priced_by_row:
            raise DataError(
                "The ensemble was pruned with prices that differ from row to row; give those of these rows as row_costs."
            )
        return Rows(X, row_costs=parts.check_prices(row_costs))

    # -- pictures ------------------------------------------------------------------------------------------------

    def plot(self, ax: Any = None) -> Any:
        """Plot error against cost along the curve, on the rows of the objective and for validation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default new axes.

        Returns
        -------
        matplotlib Axes
        """
        from milp_trees.pruning.plots import plot_curve

        check_is_fitted(self, "best_estimator_")
        return plot_curve(self, ax)

    def plot_acquisition(
        self, X: Any, ax: Any = None, *, most: int = 20, row_costs: Any = None
    ) -> Any:
        """Plot the share of the rows that need each feature, and the mean cost up to this feature.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        ax : matplotlib Axes, optional
            By default new axes.
        most : int, default=20
            Largest number of features that are shown.
        row_costs : array of shape (n, K), optional
            Price of each feature for each row; needed if `fit` had `row_costs`.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        DataError
            `row_costs` is needed, or a value is missing.
        """
        from milp_trees.pruning.plots import plot_acquisition

        return plot_acquisition(self.acquisition(X, row_costs=row_costs), ax, most)

    def plot_features(self, ax: Any = None, *, most: int = 25) -> Any:
        """Plot for each feature the share of the validation rows that need it, against λ.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default new axes.
        most : int, default=25
            Largest number of features that are shown.

        Returns
        -------
        matplotlib Axes
        """
        from milp_trees.pruning.plots import plot_features

        check_is_fitted(self, "best_estimator_")
        return plot_features(self, ax, most)
