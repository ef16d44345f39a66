"""`EnsemblePruner`: fits an ensemble, prunes it for every λ at once, and selects one pruning.

The objective is that of Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles
with feature cost" (ICML): mean error of the trees + λ · mean cost of the features that a row needs.
One parametric minimum cut gives the optimal prunings for all λ; see `milp_trees.prune_curve`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags

from milp_trees.data.dataset import Dataset
from milp_trees.data.outline import lean
from milp_trees.estimators._progress import ProgressCallbacks, with_progress
from milp_trees.models.read_ensemble import out_of_bag, read_ensemble
from milp_trees.problems.problem import Problem
from milp_trees.pruning.estimators import _pruner_rows as parts
from milp_trees.pruning.estimators import _prunings as prunings
from milp_trees.pruning.estimators._pruner_inputs import PrunerInputs
from milp_trees.pruning.estimators._pruner_reports import PrunedModel
from milp_trees.pruning.path_scores import Rows, reference
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.tasks.pruned_error import PrunedError

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble


class EnsemblePruner(
    ProgressCallbacks,
    MetaEstimatorMixin,  # type: ignore[misc]
    PrunedModel,
    PrunerInputs,
    BaseEstimator,  # type: ignore[misc]
):
    """An ensemble of trees, pruned so that its predictions need cheaper features.

    All parameters are given by name.

    Parameters
    ----------
    estimator : estimator
        A tree, forest, extra trees or bagging of trees of scikit-learn (classifier or regressor),
        or a `BudgetForestClassifier`.
    feature_costs : number, mapping of name to number, sequence, or FeatureCosts, default=1
        Price of a feature for one row; a decimal number counts exactly as it is written. Features
        that are not in a mapping are free.
    groups : sequence of Group, default=()
        Features that have a common price in addition to their own prices.
    features : mapping of column to feature, or sequence of length d, optional
        Columns that are acquired together as one feature, such as the dummy variables of one
        question. `feature_costs` as a sequence then has one entry per feature, in the order in
        which the features first appear.
    errors : {"train", "oob", "held-out"}, default="train"
        Rows on which the errors of the nodes are counted: the rows given to `fit` ("train"), for
        each tree the rows that it did not draw ("oob"), or the validation rows ("held-out"; the use
        of features is then counted on them too).
    lam : number, optional
        The pruning that is optimal for this λ is selected.
    budget : number, optional
        Largest mean cost of a row; the best pruning on the curve within the budget is selected.
        Without `lam` and `budget` the validation rows choose the pruning.
    exact : bool, default=False
        Whether the best of all prunings within the budget is found, by a mixed-integer program with
        the budget as a constraint.
    slack : number or "one-se", default=0
        The cheapest pruning is selected whose validation error exceeds that of the reference by at
        most this number; "one-se" stands for one standard error of the reference.
    reference : {"unpruned", "best"}, default="unpruned"
        The unpruned ensemble, or the best of it and all prunings on the curve.
    validation_fraction : float or None, default=0.25
        Share of the rows (for classification, of every class) that `fit` sets aside before it grows
        the trees, if validation rows are needed and not given. With None the rows given to `fit`
        are used.
    loss : {"auto", "error", "squared"}, default="auto"
        The error of a tree: share of wrong labels, or squared error. "auto" takes the first for a
        classifier and the second for a regressor.
    node_cost, leaf_cost : number, default=0
        Price of every node that is evaluated for a row, and of every leaf of the ensemble.
    denominator : int, optional
        Costs and row weights are rounded to multiples of 1/denominator. Without it they must be
        numbers with few digits.
    prefit : {"auto", True, False}, default="auto"
        Whether `estimator` is already fitted; "auto" checks it. A fitted estimator, or one in
        scikit-learn's `FrozenEstimator`, is pruned as it is, and any other is cloned and fitted.
    time_limit : float or None, default=60
        Seconds for the program with `exact=True`.
    random_state : int, RandomState or None, default=None
        Draws the rows that are set aside; the inner estimator has its own.
    progress : callable, optional
        Called with a `TracePoint` (seconds, incumbent, bound) while the prunings are searched, at
        least about twice a second. If it returns True, the program for `exact=True` keeps the best
        so far; the curve has no part, and `fit` raises a NothingFound. Not part of a pickle.
    verbose : bool or int, default=False
        Whether `fit` shows how far it is, on standard error or in the notebook. A number above 0
        means True.
    keep_data : bool, default=False
        Whether a pickle or copy contains the rows on which errors and costs were counted. Without
        them it still predicts, and `prune` gives every pruning on the curve; a budget with
        `exact=True` needs the rows.

    Attributes
    ----------
    best_estimator_ : estimator
        The selected pruning, of the same class as `estimator`. Its attribute `pruning_` is a dict
        with error, cost and certificate.
    selected_ : Pruning
        The same with exact numbers.
    lam_ : float or None
        The smallest λ for which the selected pruning is optimal; None if it is not on the curve.
    hull_bound_ : float or None
        With a budget: a lower bound, given by the curve, on the error of all prunings within the
        budget.
    gap_ : float or None
        With a budget: relative distance between the error and its best known lower bound.
    estimator_ : estimator
        The unpruned ensemble.
    ensemble_ : Ensemble
        The unpruned ensemble as arrays.
    curve_ : PruningCurve
        The optimal prunings for all λ, with the exact values of λ at which they change.
    validation_curve_ : DataFrame
        One row per pruning on the curve, by increasing `lam` (the least λ for which it is optimal).
        `error` and `cost` are those of the objective; `validation_error` is that of the vote (for
        regression the mean squared error of the mean), with its `standard_error`; further columns
        are `validation_cost` and `splits`.
    feature_shares_ : DataFrame
        Share of the validation rows that need each feature, with the same index.
    unpruned_ : dict
        `error`, `cost`, `validation_error`, `standard_error`, `validation_cost` and `splits` of the
        unpruned ensemble.
    validation_rows_ : str
        Which rows the validation rows are: "given", "set aside", or "rows of fit".
    problem_ : Problem
        The pruning problem, with the rows on which errors and costs are counted.
    costs_ : FeatureCosts
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    The objective is the mean error of the single trees, not the error of their vote. The validation
    rows choose among the prunings by the error of the vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> pruner = EnsemblePruner(estimator=forest, feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> bool(pruner.feature_cost(X).mean() <= pruner.feature_cost(X, unpruned=True).mean())
    True
    """

    def __init__(
        self,
        *,
        estimator: Any,
        feature_costs: Any = 1,
        groups: Any = (),
        features: Any = None,
        errors: str = "train",
        lam: Any = None,
        budget: Any = None,
        exact: bool = False,
        slack: Any = 0,
        reference: str = "unpruned",
        validation_fraction: Any = 0.25,
        loss: str = "auto",
        node_cost: Any = 0,
        leaf_cost: Any = 0,
        denominator: int | None = None,
        prefit: Any = "auto",
        time_limit: float | None = 60.0,
        random_state: Any = None,
        progress: Any = None,
        verbose: bool | int = False,
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
        self.validation_fraction = validation_fraction
        self.loss = loss
        self.node_cost = node_cost
        self.leaf_cost = leaf_cost
        self.denominator = denominator
        self.prefit = prefit
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.keep_data = keep_data

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copies, without `progress`; with the rows if `keep_data=True`."""
        state = dict(super().__getstate__())
        return state if self.keep_data else lean(state)

    # -- fitting -------------------------------------------------------------------------------------

    @with_progress
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
        """Fit the ensemble if it is not fitted, prune it for every λ, and select a pruning.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            Numbers. For a fitted estimator: any rows on which errors and the use of features are to
            be counted. With `errors="oob"` they must be its training rows in the same order, which
            cannot be checked.
        y : array of shape (n,)
            Labels of any type, or numbers for regression.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        X_val, y_val, sample_weight_val : as X, y, sample_weight, optional
            Validation rows, which choose the pruning; with `errors="held-out"` errors are counted
            on them too.
        row_costs : array or DataFrame of shape (n, K), optional
            Price of each feature for each row, instead of `feature_costs`; the columns of a
            DataFrame are matched with the features by their names.
        row_costs_val : array of shape (n_val, K), optional
            The same for the validation rows.

        Returns
        -------
        EnsemblePruner
            The estimator itself.

        Raises
        ------
        DataError
            The arguments do not fit together, or values are missing.
        SolverFailure
            The solver failed (only with `exact=True`).
        """
        model, prefit = self._check_options()
        rows, y = self._check_rows(X, y, sample_weight, row_costs)
        parts.check_complete(rows.X, self._columns())
        # A DataFrame is passed on as it is, so that the inner estimator knows its column names.
        frame = X if hasattr(X, "iloc") else rows.X
        validation = self._validation(X_val, y_val, sample_weight_val, row_costs_val)
        if validation is None and not prefit and self._needs_rows():
            fit_on, aside = parts.set_aside(
                self.validation_fraction, y, is_classifier(model), self.random_state
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

    def _prune(self, rows: Rows, validation: Rows | None) -> None:
        columns = self._columns()
        self.ensemble_: Ensemble = read_ensemble(
            self.estimator_, columns, parts.feature_map(self.features, columns)
        )
        self.costs_ = self._costs()
        counted = validation if self.errors == "held-out" and validation is not None else rows
        costs = (
            self.costs_
            if counted.row_costs is None
            else replace(self.costs_, per_row=counted.row_costs, columns=None)
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
        self.curve_ = prunings.curve_of(self.problem_)
        self._priced_by_row = costs.per_row is not None
        self._reference(validation or rows)
        self._select()

    def _reference(self, rows: Rows) -> None:
        """Evaluate all prunings, and the unpruned ensemble, on the validation rows."""
        import pandas as pd

        enters, n = prunings.stages(self.curve_)
        compared, shares = reference(self.ensemble_, enters, n, rows, self.costs_)
        rising = slice(None, None, -1)
        points = self.curve_.vertices
        path = {
            "lam": [float(p.lambda_from) for p in points],
            "error": [float(p.error) for p in points],
            "cost": [float(p.cost) for p in points],
        }
        self.validation_curve_ = pd.DataFrame(path).join(compared[rising].reset_index(drop=True))
        self.feature_shares_ = pd.DataFrame(shares[rising], columns=list(self.ensemble_.features))
        everything = np.where(self.ensemble_.left >= 0, 0, 1)
        figures, _ = reference(self.ensemble_, everything, 1, rows, self.costs_)
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
                else self.pruned(self.curve_.vertices[k].lambda_from)
            )
        self.selected_ = chosen
        self.lam_ = None if chosen.lam is None else float(chosen.lam)
        self.hull_bound_ = (
            None if self.budget is None else float(self.curve_.below(self.budget).bound)
        )
        self.gap_ = chosen.gap
        self.best_estimator_ = self._written(chosen)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        return tags
