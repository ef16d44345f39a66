"""scikit-learn's face of pruning: `EnsemblePruner` fits an ensemble, prunes it for every λ at once
and chooses one pruning.

The objective is that of Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles
with feature cost" (ICML): mean error of the trees + λ · mean cost of the features that a row needs.
All its optima come from one parametric minimum cut; see `milp_trees.prune_path`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from milp_trees.data.dataset import Dataset
from milp_trees.data.outline import lean
from milp_trees.data.parameters import OF_PRUNING, check_parameters
from milp_trees.errors import DataError
from milp_trees.estimators import _pruner_rows as parts
from milp_trees.estimators import _prunings as prunings
from milp_trees.estimators._pruner_reports import PrunedModel
from milp_trees.limits import Limits
from milp_trees.models.read_ensemble import check_prunable, out_of_bag, read_ensemble
from milp_trees.models.write_ensemble import write_ensemble
from milp_trees.problem import Problem
from milp_trees.spaces.pruned import PrunedEnsembles
from milp_trees.study.along_curve import Rows, judge
from milp_trees.tasks.feature_costs import FeatureCosts
from milp_trees.tasks.pruning import PrunedError

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble


class EnsemblePruner(MetaEstimatorMixin, PrunedModel, BaseEstimator):  # type: ignore[misc]
    """An ensemble of trees, pruned so that its predictions need cheaper features.

    Parameters
    ----------
    estimator : estimator
        Tree, forest, extra trees or bagging of trees of scikit-learn (classifier or regressor), or
        a `BudgetForestClassifier`.
    feature_costs : number, mapping of name to number, sequence, or FeatureCosts, default=1
        What it costs to know a feature of one row; numbers count as written. Features that a
        mapping leaves out are free.
    groups : sequence of Group, default=()
        Features with a common price on top of their own.
    features : mapping of column to feature, or sequence of length d, optional
        Columns that are acquired together as one feature, such as the dummy variables of one
        question. A sequence of `feature_costs` then has one entry per feature, in the order in
        which they first appear.
    errors : {"train", "oob", "held-out"}, default="train"
        Rows on which errors of nodes are counted: those given to `fit`; for each tree those that it
        did not see; or the validation rows (that is also where feature use is then counted).
    lam : number, optional
        λ of the pruning to select.
    budget : number, optional
        Largest mean cost of a row, to select the best pruning on the path within it. Without `lam`
        and `budget` one is chosen on validation rows.
    exact : bool, default=False
        With a budget: solve the program with a budget row, for a proof.
    slack : number or "one-se", default=0
        Select the cheapest pruning whose validation error is at most that of the reference + slack.
        `one-se`: one standard error of it.
    reference : {"unpruned", "best"}, default="unpruned"
        `best`: the best of the unpruned ensemble and all prunings.
    validation : number or None, default=0.25
        Share of the rows that `fit` sets aside before it grows the trees, where rows are needed and
        none are given; for classification of every class. None: choose on the rows given to `fit`.
    loss : {"auto", "error", "squared"}
    node_cost, leaf_cost : number, default=0
        Price of every node evaluated for a row, and of every leaf of the ensemble.
    denominator : int, optional
        Costs, and row weights, are rounded to multiples of 1/denominator. Without it they must be
        short numbers.
    prefit : {"auto", True, False}, default="auto"
        Whether `estimator` is fitted already. `auto` looks. A fitted one, or one in scikit-learn's
        `FrozenEstimator`, is pruned as it is; any other is cloned and fitted.
    time_limit : float or None, default=60
        Seconds for the program with a budget.
    random_state : int, RandomState or None
        Of the rows that are set aside. The estimator has its own.
    keep_data : bool, default=False
        Whether a pickle or copy holds the rows on which errors and costs were counted. Without them
        it predicts, and `prune` gives every pruning of the path; a budget with `exact=True` needs
        them.

    Attributes
    ----------
    best_estimator_ : estimator
        The selected pruning, of the estimator's class. Its `pruning_` is a dict of what is known
        about it.
    selected_ : Pruning
        The same with exact numbers.
    lam_ : float or None
        The smallest λ for which it is optimal; None where it is not on the path.
    hull_bound_ : float or None
        With a budget: no pruning within it has a smaller error than this, by the path alone.
    gap_ : float or None
    estimator_ : estimator
        The unpruned ensemble.
    ensemble_ : Ensemble
        The same as arrays.
    path_ : PruningCurve
        Every λ at which the optimum changes, exactly.
    validation_curve_ : DataFrame
        A row per pruning on the path, `lam` (where it begins) rising: objective's `error` and
        `cost`; `validation_error` of the vote (for regression the mean squared error of the mean),
        its `standard_error`, `validation_cost`, `splits`.
    feature_shares_ : DataFrame
        Share of the validation rows that need each feature, with the same index.
    unpruned_ : dict
        `validation_error`, `standard_error`, `validation_cost`, `splits` of the unpruned ensemble.
    validation_rows_ : str
        Which rows those are: `given`, `set aside`, or `rows of fit`.
    problem_ : Problem
    costs_ : FeatureCosts
    classes_, n_features_in_, feature_names_in_

    Notes
    -----
    The objective is the error of single trees, averaged, not of their vote; a pruning is chosen by
    its vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> pruner = EnsemblePruner(RandomForestClassifier(10, random_state=0), feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> bool(pruner.feature_cost(X).mean() <= pruner.feature_cost(X, unpruned=True).mean())
    True
    """

    def __init__(
        self,
        estimator: Any,
        feature_costs: Any = 1,
        *,
        groups: Any = (),
        features: Any = None,
        errors: str = "train",
        lam: Any = None,
        budget: Any = None,
        exact: bool = False,
        slack: Any = 0,
        reference: str = "unpruned",
        validation: Any = 0.25,
        loss: str = "auto",
        node_cost: Any = 0,
        leaf_cost: Any = 0,
        denominator: int | None = None,
        prefit: Any = "auto",
        time_limit: float | None = 60.0,
        random_state: Any = None,
        keep_data: bool = False,
    ) -> None:
        self.estimator = estimator
        self.feature_costs = feature_costs
        self.groups = groups
        self.features = features
        self.errors = errors
        self.lam = lam
        self.budget = budget
        self.exact = exact
        self.slack = slack
        self.reference = reference
        self.validation = validation
        self.loss = loss
        self.node_cost = node_cost
        self.leaf_cost = leaf_cost
        self.denominator = denominator
        self.prefit = prefit
        self.time_limit = time_limit
        self.random_state = random_state
        self.keep_data = keep_data

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copies: without the rows, unless `keep_data`."""
        state = dict(super().__getstate__())
        return state if self.keep_data else lean(state)

    # -- fitting ---------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        row_costs: Any = None,
        row_costs_val: Any = None,
    ) -> EnsemblePruner:
        """Fit the ensemble (if it is not fitted), prune it for every λ, select a pruning.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d), numbers
            For a fitted estimator any rows on which errors and feature use are to be counted; with
            `errors="oob"` its training rows in their order (which cannot be checked: its samples
            are positions).
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        X_val, y_val, sample_weight_val : as X, y, sample_weight, optional
            Validation rows, to choose a pruning on; with `errors="held-out"` to count errors on,
            too.
        row_costs, row_costs_val : arrays of shape (n, K), optional
            Price of each feature for each row, instead of `feature_costs`.

        Raises
        ------
        DataError
            Arguments do not fit together, or values are missing.
        """
        model, prefit = self._check_options()
        rows, y = self._check_rows(X, y, sample_weight, row_costs)
        parts.check_complete(rows.X, self._columns())
        frame = (
            X if hasattr(X, "iloc") else rows.X
        )  # a DataFrame's names are to be known to the inner estimator too
        validation = self._validation(X_val, y_val, sample_weight_val, row_costs_val)
        if validation is None and not prefit and self._needs_rows():
            fit_on, aside = parts.set_aside(
                self.validation, y, is_classifier(model), self.random_state
            )
            validation = Rows(*parts.take(aside, rows.X, rows.y, rows.weights, rows.row_costs))
            frame, y = parts.take(fit_on, frame, y)
            rows = Rows(*parts.take(fit_on, rows.X, rows.y, rows.weights, rows.row_costs))
            self.validation_rows_ = "set aside"
        else:
            self.validation_rows_ = "rows of fit" if validation is None else "given"
        self.estimator_ = model if prefit else parts.fitted_clone(model, frame, y, rows.weights)
        parts.check_same_columns(
            self.estimator_, self.n_features_in_, getattr(self, "feature_names_in_", None)
        )
        if is_classifier(model):
            self.classes_ = self.estimator_.classes_
            if validation is not None:
                parts.check_same_classes(self.classes_, validation.y)
        self._prune(rows, validation)
        return self

    def _check_options(self) -> tuple[Any, bool]:
        check_parameters(self, OF_PRUNING)
        parts.check_choice(self.slack, self.reference)
        if self.loss not in ("auto", "error", "squared"):
            raise DataError(f"loss is 'auto', 'error' or 'squared'; got {self.loss!r}.")
        if self.exact and self.budget is None:
            raise DataError(
                "exact=True belongs to a budget; for one lam every pruning on the path is optimal already."
            )
        if self.errors not in ("train", "oob", "held-out"):
            raise DataError(f"errors is 'train', 'oob' or 'held-out'; got {self.errors!r}.")
        if self.lam is not None and self.budget is not None:
            raise DataError("Give lam or budget, not both: each of them selects a pruning.")
        model, prefit = parts.unwrapped(self.estimator, self.prefit)
        check_prunable(model)
        return model, prefit

    def _needs_rows(self) -> bool:
        """Whether rows are to be set aside when none are given."""
        if self.errors == "held-out":
            if self.validation is None:
                raise DataError(
                    "errors='held-out' needs rows that the trees have not seen: give X_val and y_val, or validation=0.25."
                )
            return True
        return self.lam is None and self.budget is None and self.validation is not None

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, row_costs: Any, reset: bool = True
    ) -> tuple[Rows, np.ndarray]:
        """Checked rows, as doubles."""
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
        costs = (
            None
            if row_costs is None
            else check_array(row_costs, dtype=None, input_name="row_costs")
        )
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

    def _prune(self, rows: Rows, validation: Rows | None) -> None:
        from milp_trees.engines.pruning.curve import prune_curve

        columns = self._columns()
        self.ensemble_: Ensemble = read_ensemble(
            self.estimator_, columns, parts.feature_map(self.features, columns)
        )
        self.costs_ = self._costs()
        counted = validation if self.errors == "held-out" and validation is not None else rows
        costs = (
            self.costs_
            if counted.row_costs is None
            else replace(self.costs_, per_row=counted.row_costs)
        )
        weights = None
        if self.errors == "oob":
            weights = out_of_bag(self.estimator_, len(rows.X)) * rows.w[:, None]
        data = Dataset(
            np.zeros((len(counted.X), 0)),
            numeric=counted.X,
            columns=columns,
            y=counted.y,
            weights=counted.weights,
        )
        self.problem_ = Problem(
            data, PrunedError(0, costs, weights, loss=self.loss), PrunedEnsembles(self.ensemble_)
        )
        self.path_ = prune_curve(self.problem_)
        self._priced_by_row = costs.per_row is not None
        self._judge(validation or rows)
        self._select()

    def _judge(self, rows: Rows) -> None:
        """Figures of all prunings, and of the unpruned ensemble, on the validation rows."""
        import pandas as pd

        enters, n = prunings.stages(self.path_)
        judged, shares = judge(self.ensemble_, enters, n, rows, self.costs_)
        rising = slice(None, None, -1)
        points = self.path_.vertices
        path = {
            "lam": [float(p.lambda_from) for p in points],
            "error": [float(p.error) for p in points],
            "cost": [float(p.cost) for p in points],
        }
        self.validation_curve_ = pd.DataFrame(path).join(judged[rising].reset_index(drop=True))
        self.feature_shares_ = pd.DataFrame(shares[rising], columns=list(self.ensemble_.features))
        everything = np.where(self.ensemble_.left >= 0, 0, 1)
        figures, _ = judge(self.ensemble_, everything, 1, rows, self.costs_)
        error, cost = prunings.totals(self.problem_, self.ensemble_.kept)
        self.unpruned_ = {"error": float(error), "cost": float(cost), **figures.iloc[0].to_dict()}

    def _select(self) -> None:
        if self.budget is not None:
            chosen = self.pruned(budget=self.budget, exact=self.exact, time_limit=self.time_limit)
        elif self.lam is not None:
            chosen = self.pruned(self.lam)
        else:
            k = parts.choose(self.validation_curve_, self.unpruned_, self.slack, self.reference)
            chosen = (
                prunings.unpruned(self.problem_)
                if k is None
                else self.pruned(self.path_.vertices[k].lambda_from)
            )
        self.selected_ = chosen
        self.lam_ = None if chosen.lam is None else float(chosen.lam)
        self.hull_bound_ = (
            None if self.budget is None else float(self.path_.below(self.budget).bound)
        )
        self.gap_ = chosen.gap
        self.best_estimator_ = self._written(chosen)

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
        """A pruned copy of the fitted ensemble; the selected one stays what it is.

        Parameters
        ----------
        lam : number, optional
            Price of cost in terms of error. At a breakpoint the smaller pruning is taken; a double
            that is the nearest to one stands for it.
        budget : number, optional
            Largest mean cost of a row, on the rows that the objective counts. Without `exact` the
            result is the best pruning *on the path* within it, which is in general not the best
            within it.
        exact : bool, default=False
            Solve the program with the budget as a row, started from that pruning, bounded by the
            path.
        time_limit : float or None, default=60
            Seconds for that. A result without proof comes with a ConvergenceWarning.
        method : str, optional
            One that takes a budget; by default the first that does.

        Returns
        -------
        estimator
            Of the fitted estimator's class. `pruning_` is a dict: `lam`, `error`, `cost`, `status`,
            `bound`, `gap`, `note`, `splits`.

        Raises
        ------
        DataError
            The budget is below what the smallest pruning costs, or λ is negative.
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
        """The same as an `Ensemble` with exact figures."""
        check_is_fitted(self, "path_")
        if (lam is None) == (budget is None):
            raise DataError("Give lam or budget: one of them says which pruning is meant.")
        if lam is not None:
            if exact:
                raise DataError(
                    "exact=True belongs to a budget; for one lam every pruning on the path is optimal already."
                )
            return prunings.at_lam(self.problem_, self.path_, lam)
        point = prunings.at_budget(self.problem_, self.path_, budget)
        if not exact or point.status == "optimal":
            return point
        limits = Limits.asked(time_limit=time_limit)
        found = prunings.within_budget(self.problem_, point, budget, method, limits)
        if found.status != "optimal":
            warnings.warn(found.note, ConvergenceWarning, stacklevel=3)
        return found

    def _written(self, pruning: prunings.Pruning) -> Any:
        out = write_ensemble(self.estimator_, pruning.ensemble)
        out.pruning_ = pruning.plain()
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        return tags
