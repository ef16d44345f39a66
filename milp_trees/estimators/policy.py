"""`OptimalPolicyTree`: a tree whose leaves choose actions, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from milp_trees.errors import DataError
from milp_trees.estimators._trees import OptimalTree, action_values, check_groups
from milp_trees.tasks.policy import ActionValues, DoublyRobust, InversePropensity


class OptimalPolicyTree(OptimalTree):
    """A tree whose leaves choose actions so that their mean value on the training rows is largest.

    All parameters are given by name.

    Parameters
    ----------
    max_depth, max_leaf_nodes, min_samples_leaf
        Limits on the size, as for `OptimalTreeClassifier`.
    ccp_alpha : number, default=0
        Penalty per leaf, in the unit of the mean value.
    constraints, split_on_group, method, time_limit, binarizer, n_bins, start, random_state
        As for `OptimalTreeClassifier`.
    n_jobs, keep_data
        As for `OptimalTreeClassifier`.

    Attributes
    ----------
    actions_ : array of shape (K,)
        Names of the actions.
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
        ccp_alpha: Any = 0.0,
        constraints: Any = (),
        split_on_group: bool = False,
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        start: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_data: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.ccp_alpha = ccp_alpha
        self.constraints = constraints
        self.split_on_group = split_on_group
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_data = keep_data

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        treatments: Any = None,
        outcomes: Any = None,
        propensities: Any = None,
        groups: Any = None,
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
        observed = {"treatments": treatments, "outcomes": outcomes, "propensities": propensities}
        missing = [k for k, v in observed.items() if v is None]
        if 0 < len(missing) < 3:
            raise DataError(
                f"Give treatments, outcomes and propensities together; {', '.join(missing)} is missing."
            )
        names = tuple(y.columns) if hasattr(y, "columns") and len(y.columns) > 1 else None
        if y is None and not missing:
            X, _ = self._checked(X, np.zeros(len(outcomes)))
            # Some binarizers learn thresholds from a target: here the observed treatment, and below
            # the action of largest value.
            target = np.unique(treatments, return_inverse=True)[1]
        else:
            X, y = self._checked(X, y, multi_output=True, y_numeric=True)
            y = action_values(y)
            target = y.argmax(axis=1)
        if names is None and not missing:
            names = tuple(np.unique(treatments).tolist())
        levels, column = check_groups(groups, X)
        task = (ActionValues if missing else InversePropensity if y is None else DoublyRobust)(
            **self._penalties()
        )
        self._fit_binarizer(X, target)
        dataset = self.binarizer_.dataset(
            X, values=y, actions=names, groups=levels, group_column=column, **observed
        )
        self.actions_ = np.array(task.actions(dataset))
        self._solve(dataset, task)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Chosen action of every row, shape (n,)."""
        chosen = self._chosen(X)
        actions: np.ndarray = self.actions_[chosen]
        return actions

    def score(self, X: Any, y: Any) -> float:
        """Mean value of the chosen actions on rows with values `y`; larger is better."""
        chosen = self._chosen(X)
        values = action_values(check_array(y, ensure_2d=False, dtype=float))
        if values.shape[1] != len(self.actions_):
            raise DataError(
                f"y must have one column per action ({len(self.actions_)}); it has {values.shape[1]}."
            )
        return float(values[np.arange(len(values)), chosen].mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
