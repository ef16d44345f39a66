"""`OptimalPolicyTree`: a tree whose leaves choose actions, as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from milp_trees.common.errors import DataError
from milp_trees.data.checks import checked_labels
from milp_trees.data.names import columns_and_names, columns_over
from milp_trees.estimators._groups import check_groups
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators._trees import (
    OptimalTree,
    action_values,
    check_weights,
    take,
)
from milp_trees.solving.policy_values import Estimate, default_task, policy_leaves, policy_value

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset


class OptimalPolicyTree(OptimalTree):
    """A tree whose leaves choose actions so that their mean value on the training rows is largest.

    All parameters are given by name.

    Parameters
    ----------
    max_depth, max_leaf_nodes, min_samples_leaf
        Limits on the size, as for `OptimalTreeClassifier`.
    min_samples_treatment : int, default=0
        Smallest number of rows in a leaf with each treatment that was observed on some row.
    honest_fraction : number in [0, 1), default=0
        Share of the training rows that are kept out of the choice of thresholds and tree, at random
        within each treatment; on these rows `value_` and `leaves_` are estimated. A capacity counts
        the other rows.
    ccp_alpha : number, default=0
        Penalty per leaf, in the unit of the mean value.
    constraints, split_on_group, method, time_limit, binarizer, n_bins, start, reference, random_state
        As for `OptimalTreeClassifier`.
    n_jobs, progress, verbose, keep_data
        As for `OptimalTreeClassifier`.

    Attributes
    ----------
    actions_ : array of shape (K,)
        Names of the actions.
    value_ : Estimate
        The estimated value of the policy with its 95 % interval, on the rows that did not choose
        it. With `honest_fraction` only.
    leaves_ : DataFrame
        The same for every action in every leaf, as `policy_leaves` returns it. With
        `honest_fraction` only.
    result_, tree_, status_, bound_, gap_, binarizer_, n_features_in_, feature_names_in_
        As for `OptimalTreeClassifier`.

    Examples
    --------
    >>> OptimalPolicyTree(max_depth=1).fit([[20], [60]], [[1.0, 0.0], [0.0, 3.0]]).predict([[25], [70]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_treatment: int = 0,
        honest_fraction: float = 0.0,
        ccp_alpha: Any = 0.0,
        constraints: Any = (),
        split_on_group: bool = False,
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        start: Any = "auto",
        reference: str | None = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Any = None,
        verbose: bool | int = False,
        keep_data: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_treatment = min_samples_treatment
        self.honest_fraction = honest_fraction
        self.ccp_alpha = ccp_alpha
        self.constraints = constraints
        self.split_on_group = split_on_group
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.start = start
        self.reference = reference
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.verbose = verbose
        self.keep_data = keep_data

    @with_progress
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        treatments: Any = None,
        outcomes: Any = None,
        propensities: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> OptimalPolicyTree:
        """Find the optimal policy.

        The values of the actions are either known (`y` alone), or they are estimated from observed
        treatments: by inverse propensity weighting without `y`, and by the doubly robust estimate
        if `y` contains predicted outcomes.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n, K), or of shape (n,), optional
            Value of every action on every row; the columns of a DataFrame name the actions. A
            single column is the gain of acting (1) over not acting (0), for example an estimated
            treatment effect.
        treatments : array of shape (n,), optional
            The action that was observed on each row.
        outcomes : array of shape (n,), optional
            The outcome of that action; larger is better.
        propensities : array of shape (n,), optional
            The probability with which that action was chosen, above 0.
        groups : array of shape (n,), or name of a column of X, optional
            Values of the protected attribute, for constraints.
        sample_weight : array of shape (n,), optional
            Weights of the rows in the mean value.

        Returns
        -------
        OptimalPolicyTree
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, or only some of treatments, outcomes and propensities are
            given.
        Infeasible
            No tree satisfies the limits and constraints.
        NothingFound, SolverFailure
            The method found no tree within the limits, or it failed.
        """
        observed = _observed(treatments, outcomes, propensities)
        if observed:
            treatments = checked_labels(treatments, "treatments", len(treatments))
        _, names = columns_and_names(y, None, "y", "actions")
        names = names if names is not None and len(names) > 1 else None
        if y is None and observed:
            X, _ = self._checked(X, np.zeros(len(outcomes)))
            # Some binarizers learn thresholds from a target: here the observed treatment, and below
            # the action of largest value.
            target = np.unique(treatments, return_inverse=True)[1]
        else:
            X, y = self._checked(X, y, multi_output=True, y_numeric=True)
            y = action_values(y)
            target = y.argmax(axis=1)
        if names is None and observed:
            given = tuple(np.unique(treatments).tolist())
            # An action that no row has leaves the actions without names: they are 0, 1, ….
            names = given if y is None or y.shape[1] == len(given) else None
        levels, column = check_groups(groups, X)
        weights = None if sample_weight is None else check_weights(sample_weight, len(target))
        learn, left_out = self._parts(treatments, len(target))
        self._fit_binarizer(take(X, learn), target[learn], X if len(left_out) else None)
        rows = self.binarizer_.dataset(
            X,
            fitted_on=take(X, learn),
            values=y,
            actions=names,
            groups=levels,
            group_column=column,
            weights=weights,
            **observed,
        )
        kind = type(default_task(rows))
        self.actions_ = np.array(kind().actions(rows))
        self._solve(rows.subset(learn), kind(**self._penalties()), take(X, learn))
        for name in {"value_", "leaves_"} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        if len(left_out):
            if self.result_.found_by:  # the tree asks thresholds that the binarizer left out
                rows = rows.complete or rows
            self.value_ = policy_value(self.tree_, rows.subset(left_out))
            self.leaves_ = policy_leaves(self.tree_, rows.subset(left_out))
        return self

    def _parts(self, treatments: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows that choose the tree, and rows that are kept for the estimate."""
        from sklearn.model_selection import train_test_split

        if not 0 <= self.honest_fraction < 1:
            raise DataError(
                f"honest_fraction must be at least 0 and less than 1; got {self.honest_fraction}."
            )
        if not self.honest_fraction:
            return np.arange(n), np.arange(0)
        try:
            learn, left_out = train_test_split(
                np.arange(n),
                test_size=self.honest_fraction,
                random_state=self.random_state,
                stratify=None if treatments is None else np.asarray(treatments),
            )
        except ValueError as why:
            raise DataError(
                f"The rows cannot be divided with honest_fraction={self.honest_fraction}: {why} Give more rows, or set it to 0."
            ) from None
        return np.sort(learn), np.sort(left_out)

    def predict(self, X: Any) -> np.ndarray:
        """Chosen action of every row, shape (n,)."""
        chosen = self._chosen(X)
        actions: np.ndarray = self.actions_[chosen]
        return actions

    def score(self, X: Any, y: Any) -> float:
        """Mean value of the chosen actions on rows with values `y`; larger is better."""
        chosen = self._chosen(X)
        values = self._values(y)
        if len(values) != len(chosen):
            raise DataError(
                f"y has {len(values)} rows, X has {len(chosen)}; give the values of each row."
            )
        return float(values[np.arange(len(values)), chosen].mean())

    def _values(self, y: Any) -> np.ndarray:
        """Values of the actions on new rows, in the order of `actions_`, shape (n, K)."""
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            y = columns_over(y, self.actions_.tolist(), "y", "actions")
        values = action_values(check_array(y, ensure_2d=False, dtype=float, input_name="y"))
        if values.shape[1] != len(self.actions_):
            raise DataError(
                f"y must have one column per action ({len(self.actions_)}); it has {values.shape[1]}."
            )
        return values

    def policy_value(
        self,
        X: Any,
        y: Any = None,
        *,
        treatments: Any = None,
        outcomes: Any = None,
        propensities: Any = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> Estimate:
        """The estimated value of the fitted policy on new rows, with its interval.

        Parameters
        ----------
        X, y, treatments, outcomes, propensities, sample_weight
            As for `fit`, on rows that the tree was not fitted on.
        **options
            `against`, `level`, `interval`, `draws`, `seed`, as for `milp_trees.policy_value`.

        Returns
        -------
        Estimate
        """
        rows = self._new_rows(X, y, treatments, outcomes, propensities, sample_weight)
        return policy_value(self.tree_, rows, **options)

    def policy_leaves(
        self,
        X: Any,
        y: Any = None,
        *,
        treatments: Any = None,
        outcomes: Any = None,
        propensities: Any = None,
        sample_weight: Any = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """The value of every action in every leaf on new rows, with intervals.

        Parameters
        ----------
        X, y, treatments, outcomes, propensities, sample_weight
            As for `fit`, on rows that the tree was not fitted on.
        level : float, default=0.95
            Confidence level of each interval.

        Returns
        -------
        DataFrame
            As `milp_trees.policy_leaves` returns it.
        """
        rows = self._new_rows(X, y, treatments, outcomes, propensities, sample_weight)
        return policy_leaves(self.tree_, rows, level=level)

    def _new_rows(
        self,
        X: Any,
        y: Any,
        treatments: Any,
        outcomes: Any,
        propensities: Any,
        sample_weight: Any,
    ) -> Dataset:
        check_is_fitted(self)
        observed = _observed(treatments, outcomes, propensities)
        if y is None and not observed:
            raise DataError("Give y, or treatments, outcomes and propensities, or all of them.")
        columns = self._columns(X)
        n = len(next(iter(columns.values())))
        weights = None if sample_weight is None else check_weights(sample_weight, n)
        return self.binarizer_.dataset(
            columns,
            values=None if y is None else self._values(y),
            actions=tuple(self.actions_.tolist()),
            weights=weights,
            **observed,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _observed(treatments: Any, outcomes: Any, propensities: Any) -> dict[str, Any]:
    """What was observed, by name: all three, or nothing."""
    given = {"treatments": treatments, "outcomes": outcomes, "propensities": propensities}
    missing = [k for k, v in given.items() if v is None]
    if 0 < len(missing) < 3:
        raise DataError(
            f"Give treatments, outcomes and propensities together; {', '.join(missing)} is missing."
        )
    return {} if missing else given
