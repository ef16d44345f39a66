"""`OptimalTreeRegressor`: an optimal regression tree as a scikit-learn estimator.

It states and solves a problem as `OptimalTreeClassifier` does. A leaf predicts a number, or one
number per output: the one of least loss on its training rows, which is their mean for squared error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from milp_trees.data.names import columns_and_names, columns_over
from milp_trees.estimators._losses import OptimalLossTree, spread
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators._tables import Regressor
from milp_trees.estimators._trees import QUANTITIES

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.results.size_path import SizePath


class OptimalTreeRegressor(Regressor, OptimalLossTree):  # type: ignore[misc]
    """A regression tree of least loss on the training rows among all trees of its size.

    All parameters are given by name.

    Parameters
    ----------
    max_depth : int or None, default=2
        Largest number of levels of splits. With None there is no limit, and `ccp_alpha` or
        `max_leaf_nodes` must keep the tree small.
    max_leaf_nodes : int, optional
        Largest number of leaves.
    min_samples_leaf : int, default=1
        Smallest number of training rows in a leaf; weights do not count.
    criterion : str or Task, default="squared_error"
        The loss: "squared_error", or the name of another registered loss of numbers, as scikit-learn
        or as the tasks call it ("poisson", "gamma", …). A Task has its own penalties.
    ccp_alpha : number, default=0
        Penalty per leaf, as a share of the loss of a single leaf: with 0.01 a further leaf must
        raise the training R² by more than 0.01, if the loss is squared error. It is the
        `leaf_penalty` of the tasks, and `OptimalTreeRegressorCV` chooses it. (The parameter of
        scikit-learn's trees with this name is an amount of the mean loss itself.)
    method : str, default="auto"
        Name of any method of the registry that takes the task. "auto" takes the default engine.
    time_limit : float or None, default=60
        Seconds. If the tree is not proven optimal by then, `fit` issues a ConvergenceWarning.
    binarizer, n_bins
        Which thresholds numeric columns get, as for `OptimalTreeClassifier`.
    start : "auto", Tree, fitted estimator, name of a method, or None, default="auto"
        What the search begins with, as for `OptimalTreeClassifier`: for example a fitted
        `DecisionTreeRegressor` of scikit-learn, whose splits are moved onto the candidates, or
        another fitted tree of this package.
    reference : str or None, default="auto"
        The exact method with which the answer is compared, as for `OptimalTreeClassifier`.
    random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeClassifier`.

    Attributes
    ----------
    result_ : Result
        Value, bound, its proof, and times. Its problem contains the training data (in a pickle only
        with `keep_data=True`).
    tree_ : Tree
        Its actions are the predictions of its leaves.
    value_ : float
        The training loss, with penalties if there are any.
    status_ : str
        "optimal", or "feasible" if the tree is not proven optimal.
    bound_ : float or None
        No tree has a smaller value than this.
    gap_ : float or None
        Relative distance between the value and the bound; about 0 if the tree is optimal.
    n_outputs_ : int
        Number of targets.
    binarizer_ : Binarizer
        The fitted binarizer; in a pickle without the data it has only the thresholds of the tree.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    >>> model.status_, round(model.score(X, y), 3)
    ('optimal', 0.436)
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        criterion: Any = "squared_error",
        ccp_alpha: Any = 0.0,
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
        self.criterion = criterion
        self.ccp_alpha = ccp_alpha
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OptimalTreeRegressor:
        """Find the optimal tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : array or DataFrame of shape (n,) or (n, k)
            Numbers. The losses of several targets are added up as they are; divide them by their
            deviations if they are not of one scale.
        sample_weight : array of shape (n,), optional
            Weights of the rows in the loss. Rows of weight 0 are left out.

        Returns
        -------
        OptimalTreeRegressor
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, or the parameters and the rows do not fit together.
        Infeasible
            No tree satisfies the limits.
        NothingFound, SolverFailure
            The method found no tree within the limits, or it failed.
        """
        dataset, _, table = self._prepare(X, y, sample_weight)
        self._solve(dataset, self._stated_task(sample_weight is not None), table)
        return self

    def size_path(
        self, X: Any, y: Any, sample_weight: Any = None, *, max_leaf_nodes: int | None = None
    ) -> SizePath:
        """Find the optimal tree of every size, and the values of `ccp_alpha` for each.

        The estimator itself is not fitted, and its own `ccp_alpha` is ignored.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        max_leaf_nodes : int, optional
            Largest number of leaves; by default `max_leaf_nodes` of the estimator, or else the
            number that its `max_depth` allows, but at most 16.

        Returns
        -------
        SizePath

        Raises
        ------
        DataError, Infeasible, NothingFound, SolverFailure
            As in `fit`.
        """
        model = clone(self)
        dataset, _, _ = model._prepare(X, y, sample_weight)
        path: SizePath = model._path_of_sizes(dataset, sample_weight is not None, max_leaf_nodes)
        return path

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, within: Any = None
    ) -> tuple[Dataset, None, Any]:
        """Check the arguments of `fit`, and fit the binarizer.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        groups : None
            The losses take no groups.
        within : table, optional
            The checked table of all rows, of which these are a part.

        Returns
        -------
        dataset : Dataset
        codes : None
            The rows have no classes.
        table : mapping of column name to array of shape (n,), or DataFrame
            The rows of the dataset.
        """
        _, names = columns_and_names(y, None, "y", "targets")
        self._target_names_ = names if names is not None and len(names) > 1 else None
        X, y = self._checked(X, y, **QUANTITIES)
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        learned = spread(y) if self._learns_thresholds() else np.zeros(len(y))
        targets = y.reshape(len(y), -1)
        called = None if names is None else tuple(map(str, names))
        dataset, table = self._rows_of(X, targets, called, sample_weight, learned, within)
        return dataset, None, table

    def _parts_of(self, X: Any, y: Any) -> Any:
        """What `_prepare` is to know of all rows for a part of them: `within`."""
        return self._checked(X, y, **QUANTITIES)[0]

    def _count(self, codes: None, dataset: Dataset | None = None) -> None:
        """Nothing follows from the rows of leaves but their predictions, which the tree has."""

    def predict(self, X: Any) -> np.ndarray:
        """Prediction for every row, shape (n,), or (n, k) of several targets."""
        return self._predicted(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination R² of the predictions, the mean over several targets.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n,) or (n, k)
            True targets. Columns are taken by the names that they had in `fit`, if they had any.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if self._target_names_ is not None and hasattr(y, "columns"):
            y = columns_over(y, list(self._target_names_), "y", "targets")
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
