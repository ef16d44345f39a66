"""scikit-learn's face: `OptimalTreeClassifier` and `OptimalPolicyTree`.

`fit` binarizes the columns, states a Problem and hands it to `solve`; everything else is
scikit-learn's usual contract. By default a numeric column with at most 20 distinct values is cut at
all midpoints and any other at 7 quantiles (`binarizer="auto"`, `n_bins=8`): the tree is optimal
among the trees with those thresholds. Take `binarizer="midpoints"` for all of them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from milp_trees.by_name import registry
from milp_trees.errors import DataError, UnknownName
from milp_trees.estimators._trees import (
    OptimalTree,
    action_values,
    check_groups,
    check_weights,
    take,
)
from milp_trees.exact import fraction
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.base import Task
from milp_trees.tasks.policy import ActionValues, DoublyRobust, InversePropensity

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.results.size_path import SizePath


class OptimalTreeClassifier(ClassifierMixin, OptimalTree):  # type: ignore[misc]
    """A classification tree that is optimal on the training rows among all trees of its size.

    Parameters
    ----------
    max_depth : int or None, default=2
        None: no limit; then a penalty (`cost_complexity`) or `max_leaf_nodes` keeps the tree small.
    max_leaf_nodes : int, optional
    min_samples_leaf : int, default=1
        Rows are counted, not weighed.
    objective : str or Task, default="accuracy"
        Name of a task: `accuracy`, `balanced-accuracy` (or `balanced`), `f1`, `f-beta`, `auc`,
        `mcc`, … (`milp_trees.by_name` knows all). Classes are weighted by
        `objective=mt.tasks.WeightedError(class_weight={"ill": 5})`. A Task brings its own penalties and
        constraints, and says whether rows are weighed.
    cost_complexity : number, default=0
        Penalty per split as a fraction of all rows: with 0.01 a split must save more than one
        percent of errors. A penalty per leaf (the regularisation of GOSDT) gives the same trees,
        because a tree has one leaf more than splits. `OptimalTreeClassifierCV` tunes it.
    leaf_penalty : number, default=0
        The same per leaf.
    constraints : sequence of constraints, default=()
        Side constraints, for example `mt.tasks.StatisticalParity(0.01)`; `fit` then needs the groups, and
        `method` one that takes them (`state-flow@highs`).
    method : str, default="auto"
        Any method of the registry, `flow-oct@highs` for example; "auto" is the engine that takes
        the objective, mostly `dp`.
    engine : str, optional
        Another name for `method`.
    threads : int, default=1
        Threads of a solver.
    time_limit : float or None, default=60
        Seconds; a tree that is not proven optimal by then comes with a ConvergenceWarning.
    binarizer : {"auto", "midpoints", "quantiles", "tree-guess"} or Binarizer, default="auto"
    n_bins : int, default=8
        Bins of the quantiles (`n_bins - 1` thresholds per column).
    start : Tree, fitted estimator, name of a method, or None
        A tree to begin with.
    random_state : int, RandomState or None
        Seed of the solver.
    keep_data : bool, default=False
        Whether a pickle or copy of the fitted estimator holds the training rows. Without them it
        predicts, and `result_` shows the value, the bound, who proved it and hashes of the data;
        `mt.verify(model.result_)` and `to_sklearn()` without rows need them.

    Attributes
    ----------
    result_ : Result
        Value, bound, who proved it, times; its problem holds the training data (in a pickle only
        with `keep_data`).
    tree_, predictor_ : Tree
    status_, bound_, gap_ : str, float, float
        What is proven: "optimal" with gap 0, or "feasible" with a bound.
    classes_ : array of shape (K,)
    binarizer_ : Binarizer
        In a pickle without the data it makes the tests of the tree only.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> OptimalTreeClassifier(max_depth=2).fit(X, y).result_.status.value
    'optimal'
    """

    def __init__(
        self,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        objective: Any = "accuracy",
        cost_complexity: Any = 0.0,
        leaf_penalty: Any = 0.0,
        constraints: Any = (),
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        start: Any = None,
        random_state: Any = None,
        engine: str | None = None,
        threads: int = 1,
        keep_data: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.objective = objective
        self.cost_complexity = cost_complexity
        self.leaf_penalty = leaf_penalty
        self.constraints = constraints
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.start = start
        self.random_state = random_state
        self.engine = engine
        self.threads = threads
        self.keep_data = keep_data

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> OptimalTreeClassifier:
        """Find the optimal tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : array of shape (n,), labels of any type
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out. Whole weights mean the same as repeated rows, for the
            quantiles too.
        groups : array of shape (n,), or name of a column of X, optional
            Levels of the protected attribute, for constraints; a column that is named is not split
            on.
        """
        dataset, codes = self._prepare(X, y, sample_weight, groups)
        self._solve(dataset, self._task(sample_weight is not None))
        self._count(dataset, codes)
        return self

    def cost_complexity_path(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        max_leaf_nodes: int | None = None,
    ) -> SizePath:
        """The optimal trees of all sizes on these rows, and the penalties for which each is the
        best. Nothing is fitted.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`.
        max_leaf_nodes : int, optional
            Largest size; by default that of the estimator, or what its `max_depth` allows, at most
            16.

        Returns
        -------
        Path
            From one run where the engine takes the objective, else from one run per size.
            `cost_complexity` is not looked at: it is what the path is about.
        """
        model = clone(self)
        dataset, _ = model._prepare(X, y, sample_weight, groups)
        path: SizePath = model._path(dataset, sample_weight is not None, max_leaf_nodes)
        return path

    def _path(
        self, dataset: Dataset, weighted: bool, max_leaf_nodes: int | None = None
    ) -> SizePath:
        from milp_trees.problem import Problem
        from milp_trees.study.solving import path_of_sizes

        most = (
            max_leaf_nodes
            or self.max_leaf_nodes
            or (16 if self.max_depth is None else min(16, 2**self.max_depth))
        )
        problem = Problem(
            dataset,
            self._task(weighted, cost_complexity=0),
            Trees(self.max_depth, most, self.min_samples_leaf),
        )
        return path_of_sizes(problem, most, self._method(), self._limits())

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Dataset, np.ndarray]:
        """Check the arguments, fit the binarizer; the dataset and the index of every row's class."""
        X, y = self._checked(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = None if sample_weight is None else check_weights(sample_weight, len(y))
        groups, column = check_groups(groups, X)
        if weights is not None:
            kept = np.flatnonzero(weights)
            X, y, weights, groups = (
                take(X, kept),
                y[kept],
                weights[kept],
                None if groups is None else groups[kept],
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels = tuple(c.item() if hasattr(c, "item") else c for c in self.classes_)
        if len(labels) < 2:
            raise DataError(
                f"y holds one class only ({labels[0]!r}); a classifier needs at least two. Check which column is the target."
            )
        again = _repeats(weights, len(y))
        self._fit_binarizer(take(X, again), codes[again])
        dataset = self.binarizer_.dataset(
            X, codes, classes=labels, weights=weights, groups=groups, group_column=column
        )
        return dataset, codes

    def _count(self, dataset: Dataset, codes: np.ndarray) -> None:
        """Shares of the classes in the leaves."""
        labels = self.classes_
        self._shares_ = np.zeros((self.tree_.n_leaves, len(labels)))
        np.add.at(self._shares_, (self.tree_.routes(dataset).leaf, codes), dataset.row_weights)
        totals = self._shares_.sum(axis=1, keepdims=True)
        self._shares_ = np.divide(
            self._shares_,
            totals,
            out=np.full_like(self._shares_, 1 / len(labels)),
            where=totals > 0,
        )

    def _task(self, weighted: bool, cost_complexity: Any = None) -> Task:
        """The objective as a task, with the penalties (`cost_complexity` instead of the
        estimator's, if given).
        """
        if isinstance(self.objective, Task):
            if self.cost_complexity or self.leaf_penalty or self.constraints:
                raise DataError(
                    "objective is a Task, which has penalties and constraints of its own; give them to the Task instead."
                )
            return self.objective
        name = (
            {"balanced": "balanced-accuracy"}.get(self.objective, self.objective)
            if isinstance(self.objective, str)
            else self.objective
        )
        if not isinstance(name, str):
            raise DataError(
                f'objective must be the name of a classification task ("accuracy", "f1", "auc", …) or a Task; got {self.objective!r}.'
            )
        try:
            kind, given = registry.written_task(name)
            if weighted and kind.weighted_by is not None:
                kind = registry.task(kind.weighted_by)
        except UnknownName as error:
            raise DataError(f"objective must be the name of a task or a Task. {error}") from None
        if not kind.of_classes:
            raise DataError(
                f'objective must be the name of a classification task ("accuracy", "f1", "auc", …) or a Task; got {self.objective!r}.'
            )
        if weighted and not kind.weighs_rows:
            raise DataError(
                f'objective="{name}" takes no row weights; leave out sample_weight, or use objective="accuracy".'
            )
        penalties = self._penalties()
        if cost_complexity is not None:
            penalties["split_penalty"] = cost_complexity
        known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
        if "split_penalty" not in known:  # a penalty per leaf chooses the same trees
            penalties["leaf_penalty"] = sum(
                fraction(penalties.pop(k), k) for k in ("leaf_penalty", "split_penalty")
            )
        given |= {k: v for k, v in penalties.items() if k in known or v}
        if not given.keys() <= known:
            raise DataError(
                f"The objective {name} takes no {(given.keys() - known).pop()}; it takes {', '.join(sorted(known))}."
            )
        task: Task = kind(**given)
        return task

    def predict(self, X: Any) -> np.ndarray:
        """Label of every row."""
        chosen = self._chosen(X)
        labels: np.ndarray = self.classes_[chosen]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of each class among the (weighted) training rows of the leaf, shape (n, K)."""
        leaf = self.apply(X)
        shares: np.ndarray = self._shares_[leaf]
        return shares


class OptimalPolicyTree(OptimalTree):
    """A tree whose leaves choose actions, with the largest mean value of the chosen actions on the
    training rows.

    Parameters
    ----------
    max_depth, max_leaf_nodes, min_samples_leaf, cost_complexity, leaf_penalty, constraints
    method, time_limit, binarizer, n_bins, start, random_state, engine, threads, keep_data
        As for `OptimalTreeClassifier`; penalties are in units of the mean value.

    Attributes
    ----------
    result_ : Result
    tree_, predictor_ : Tree
    actions_ : array of shape (K,)
        Names of the actions.
    binarizer_ : Binarizer
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> OptimalPolicyTree(max_depth=1).fit([[20], [60]], [[1.0, 0.0], [0.0, 3.0]]).predict([[25], [70]])
    array([0, 1])
    """

    def __init__(
        self,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        cost_complexity: Any = 0.0,
        leaf_penalty: Any = 0.0,
        constraints: Any = (),
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        start: Any = None,
        random_state: Any = None,
        engine: str | None = None,
        threads: int = 1,
        keep_data: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.cost_complexity = cost_complexity
        self.leaf_penalty = leaf_penalty
        self.constraints = constraints
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.start = start
        self.random_state = random_state
        self.engine = engine
        self.threads = threads
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

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n, K), or of shape (n,)
            Value of every action on every row; the columns of a DataFrame name the actions. One
            column alone is the gain of acting (1) over not acting (0), for example an estimated
            treatment effect.
        treatments, outcomes, propensities : arrays of shape (n,), optional
            Observed action, its outcome (larger is better), and the probability with which it was
            chosen. Without `y` the value is estimated by inverse propensity weighting; with it
            (predicted outcomes) by the doubly robust estimate.
        groups : array of shape (n,), or name of a column of X, optional
            For constraints.
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
            # A binarizer that learns from a target gets the action that was taken, or the one that
            # looks best.
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
        """Action for every row."""
        chosen = self._chosen(X)
        actions: np.ndarray = self.actions_[chosen]
        return actions

    def score(self, X: Any, y: Any) -> float:
        """Mean value of the chosen actions, `y` as in `fit`; larger is better."""
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


def _repeats(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Indices of the rows from which thresholds are chosen: each as often as its weight says, where
    weights are whole numbers of modest size.
    """
    if weights is None or (weights != np.floor(weights)).any() or weights.sum() > 100 * n:
        return np.arange(n)
    return np.repeat(np.arange(n), weights.astype(np.int64))
