"""`OptimalTreeCV`: cross-validation chooses the number of leaves of any optimal tree or rule list.

It works for every estimator of one tree and so for every task: a policy, a fair or a cost-sensitive
tree; and for a rule list, whose rules and default rule are its leaves. The score of a size is the task's own value on the rows that were left out
(`milp_trees.choose_size`).
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from milp_trees.common.errors import DataError
from milp_trees.estimators._notebook import InNotebook
from milp_trees.estimators._solving import sizes_of
from milp_trees.estimators._tables import TakesTables
from milp_trees.estimators._trees import OptimalModel
from milp_trees.estimators._warning import warn_user
from milp_trees.estimators.trees import OptimalTreeClassifier
from milp_trees.models.space import Space
from milp_trees.problems.problem import Problem
from milp_trees.solving.choose_size import SizeChoice, choose_size, limited

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Attributes of the fitted estimator that are its own.
_COPIED = ("classes_", "tree_", "rule_list_", "result_")


def _has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "estimator_", self._model()), name)


class OptimalTreeCV(InNotebook, TakesTables, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An optimal tree or rule list whose size is chosen by cross-validation, for any task.

    The thresholds of numeric columns are chosen once, on all rows; the trees are learned on the
    training rows of each fold alone. All parameters are given by name.

    Parameters
    ----------
    estimator : estimator of one tree, default=OptimalTreeClassifier(max_depth=4)
        `OptimalTreeClassifier`, `CostSensitiveTreeClassifier`, `FairTreeClassifier`,
        `OptimalTreeRegressor`, `OptimalSurvivalTree`, `OptimalPolicyTree`,
        `OptimalRuleListClassifier`, …. Its task is the score, with its
        penalties; its `max_leaf_nodes` or `max_length` is ignored, its `time_limit` holds for every
        fold.
    max_leaf_nodes : int, default=8
        Largest number of leaves that is tried; those of a rule list are its rules and its default
        rule.
    max_depths : sequence of int, optional
        Depth limits of trees that are tried; by default that of the estimator alone.
    cv : int or splitter, default=5
        As everywhere in scikit-learn; a whole number is the number of folds, stratified by class
        or observed treatment.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all rows with the chosen size.
    choice_ : SizeChoice
        The chosen size and all scores.
    cv_results_ : dict of arrays
        `max_depth`, `max_leaf_nodes`, `mean_test_score`, `std_test_score`, `split0_test_score`, …:
        the task's values, negative where smaller is better.
    best_score_ : float
        The best mean score.
    result_, tree_, rule_list_, classes_, n_features_in_, feature_names_in_
        Those of `estimator_`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> OptimalTreeCV(max_leaf_nodes=4).fit(X, y).choice_.max_leaf_nodes
    4
    """

    def __init__(
        self,
        *,
        estimator: Any = None,
        max_leaf_nodes: int = 8,
        max_depths: Any = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depths = max_depths
        self.cv = cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **given: Any) -> OptimalTreeCV:
        """Choose the size, and fit the estimator with it on all rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array, optional
            As the estimator takes it.
        sample_weight : array of shape (n,), optional
            If the estimator takes weights; they count in the scores too.
        **given
            Further arguments of the estimator's `fit`, such as `groups`, `sensitive_features` or
            `treatments`.

        Returns
        -------
        OptimalTreeCV
            The estimator itself.

        Raises
        ------
        DataError
            The estimator is not one of an optimal tree, or an argument is not allowed.
        Infeasible
            No size has a feasible tree on every fold.
        """
        model = clone(self._model())
        if not isinstance(model, OptimalModel):
            raise DataError(
                f"estimator must be an optimal tree, for example OptimalTreeClassifier(); got {model!r}."
            )
        most = self.max_leaf_nodes
        if not isinstance(most, int | np.integer) or isinstance(most, bool) or most < 1:
            raise DataError(f"max_leaf_nodes must be a whole number of at least 1; got {most!r}.")
        found: list[SizeChoice] = []

        def choose(problem: Problem) -> Space:
            found.append(self._choose(problem, model, sample_weight))
            return limited(problem.space, found[0].max_depth, found[0].max_leaf_nodes)

        if sample_weight is not None:
            given["sample_weight"] = sample_weight
        model._choose_size = choose
        try:
            self.estimator_ = model.fit(X, y, **given)
        finally:
            del model._choose_size
        for name in (*_COPIED, "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.choice_ = found[0]
        if not self.choice_.proven:
            why = "Some sizes were compared by trees that are not proven to be the best of their size, because a run on a fold reached a limit. For a proof raise time_limit, or lower max_leaf_nodes or n_bins."
            warn_user(why, ConvergenceWarning)
        self._report()
        return self

    def _model(self) -> Any:
        return OptimalTreeClassifier(max_depth=4) if self.estimator is None else self.estimator

    def _choose(self, problem: Problem, model: OptimalModel, sample_weight: Any) -> SizeChoice:
        """The size for the problem that the estimator states."""
        rows = problem.dataset
        classes = rows.y if rows.classes is not None else rows.treatments
        target = None if classes is None else np.unique(np.asarray(classes), return_inverse=True)[1]
        splitter = check_cv(self.cv, target, classifier=target is not None)
        by_group = None if isinstance(self.cv, int) else rows.groups
        folds = splitter.split(np.zeros((rows.n_rows, 1)), target, by_group)
        if not isinstance(self.cv, int) and not hasattr(self.cv, "split"):
            folds = _among_rows(folds, sample_weight, rows.n_rows)
        return choose_size(
            problem,
            int(self.max_leaf_nodes),
            folds,
            max_depths=self.max_depths,
            method=model._method(),
            limits=model._limits(),
            paths=sizes_of,
        )

    def _report(self) -> None:
        choice = self.choice_
        sign = 1.0 if self.result_.problem.task.sense == "max" else -1.0
        scores = sign * choice.scores
        self.best_score_ = sign * choice.value
        self.cv_results_ = {
            "max_depth": np.array(choice.depths, dtype=object),
            "max_leaf_nodes": choice.leaves,
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        }

    # -- the fitted model ----------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the fitted model, shape (n,), or (n, k) of several targets."""
        check_is_fitted(self)
        predicted: np.ndarray = self.estimator_.predict(X)
        return predicted

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the classes in a row's leaf, shape (n, K)."""
        check_is_fitted(self)
        shares: np.ndarray = self.estimator_.predict_proba(X)
        return shares

    @available_if(_has("score"))
    def score(self, X: Any, y: Any = None, **given: Any) -> float:
        """The estimator's own score.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array, optional
            As the estimator takes it.
        **given
            Further arguments of the estimator's `score`.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(self.estimator_.score(X, y, **given))

    def apply(self, X: Any) -> np.ndarray:
        """Leaf of each row, counted from the left; int array of shape (n,)."""
        check_is_fitted(self)
        leaves: np.ndarray = self.estimator_.apply(X)
        return leaves

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row visits, as for the estimator itself; shape (n, nodes)."""
        check_is_fitted(self)
        return self.estimator_.decision_path(X)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of every column in the drop of the loss, as for the estimator itself."""
        check_is_fitted(self)
        shares: np.ndarray = self.estimator_.feature_importances_
        return shares

    @property
    def binary_importances_(self) -> dict[str, float]:
        """The same for the binary features of the model by their names, the largest first."""
        check_is_fitted(self)
        return dict(self.estimator_.binary_importances_)

    def to_text(self) -> str:
        """The fitted model as text."""
        check_is_fitted(self)
        return str(self.estimator_.to_text())

    def to_svg(self) -> str:
        """The fitted model as an SVG picture."""
        check_is_fitted(self)
        return str(self.estimator_.to_svg())

    def plot(self, ax: Any = None) -> Any:
        """Draw the fitted model with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return self.estimator_.plot(ax)

    def save(self, path: Any) -> None:
        """Write `estimator_` to a JSON file; its class loads it.

        Parameters
        ----------
        path : str or Path
        """
        check_is_fitted(self)
        self.estimator_.save(path)

    @available_if(_has("to_sklearn"))
    def to_sklearn(self, *rows: Any, **given: Any) -> Any:
        """The fitted tree for scikit-learn's tools; see `OptimalTreeClassifier.to_sklearn`.

        Parameters
        ----------
        *rows, **given
            As there.

        Returns
        -------
        DecisionTreeClassifier or Pipeline
        """
        check_is_fitted(self)
        return self.estimator_.to_sklearn(*rows, **given)

    @available_if(_has("get_depth"))
    def get_depth(self) -> int:
        """Depth of the fitted tree."""
        check_is_fitted(self)
        return int(self.estimator_.get_depth())

    def get_n_leaves(self) -> int:
        """Number of leaves of the fitted model."""
        check_is_fitted(self)
        return int(self.estimator_.get_n_leaves())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._model())
        tags.estimator_type, tags.classifier_tags = own.estimator_type, own.classifier_tags
        tags.regressor_tags = own.regressor_tags
        tags.target_tags, tags.input_tags = own.target_tags, own.input_tags
        return tags


def _among_rows(folds: Any, sample_weight: Any, n_rows: int) -> list[Any]:
    """Folds that count all rows given to `fit`, as indices of the rows of the problem.

    Rows of weight 0 are left out of it.
    """
    kept = None if sample_weight is None else np.flatnonzero(np.asarray(sample_weight))
    if kept is None or len(kept) != n_rows:
        return list(folds)
    place = np.full(len(np.asarray(sample_weight)), -1)
    place[kept] = np.arange(len(kept))
    found = [[place[np.asarray(part)] for part in fold] for fold in folds]
    return [(train[train >= 0], test[test >= 0]) for train, test in found]
