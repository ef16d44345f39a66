"""`OptimalSurvivalTree`: an optimal tree for times of events, as a scikit-learn estimator.

Targets and predictions are those of scikit-survival. A leaf predicts a hazard relative to a baseline
that all rows share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from milp_trees.common.errors import DataError
from milp_trees.estimators._losses import OptimalLossTree, spread
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators._trees import QUANTITIES, check_weights
from milp_trees.estimators.step_function import StepFunction

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.results.size_path import SizePath

#: What the targets of a row are called in a dataset.
TARGETS = ("time", "event")


class OptimalSurvivalTree(OptimalLossTree):
    """A survival tree of largest likelihood on the training rows among all trees of its size.

    A leaf predicts a hazard θ relative to the Nelson-Aalen baseline Λ of all training rows, so its
    survival function is exp(-θ Λ(t)) (LeBlanc and Crowley 1992, *Relative risk trees for censored
    survival data*). All parameters are given by name.

    Parameters
    ----------
    max_depth, max_leaf_nodes, min_samples_leaf
        Limits on the size, as for `OptimalTreeRegressor`.
    criterion : str or Task, default="survival"
        The loss: the name of a registered one of times and events, or a Task with its own penalties.
    ccp_alpha : number, default=0
        Penalty per leaf, as a share of the loss of a single leaf.
    method, time_limit, binarizer, n_bins, start, reference
        As for `OptimalTreeRegressor`.
    random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeRegressor`.

    Attributes
    ----------
    unique_times_ : array of shape (m,)
        Times of the events of the training rows, in order, beginning with 0.
    cum_baseline_hazard_ : StepFunction
        The cumulative hazard of a relative hazard of 1. It stays in a pickle.
    result_, tree_, value_, status_, bound_, gap_, binarizer_, n_features_in_, feature_names_in_
        As for `OptimalTreeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> died, days = [1, 1, 1, 1, 0, 1, 0, 0], [2, 3, 4, 6, 5, 9, 9, 9]
    >>> y = np.array(list(zip(died, days)), dtype=[("died", bool), ("days", float)])
    >>> model = OptimalSurvivalTree(max_depth=1).fit([[0], [0], [0], [0], [1], [1], [1], [1]], y)
    >>> model.predict([[0], [1]]).round(2).tolist()
    [2.65, 0.29]
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        criterion: Any = "survival",
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OptimalSurvivalTree:
        """Find the optimal tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : structured array of shape (n,), or DataFrame with two columns
            Whether the event of a row was seen, as truth values, and the time of the event or of
            the censoring, as numbers; whatever they are called, and in any order.
        sample_weight : array of shape (n,), optional
            Weights of the rows in the likelihood and the baseline. Rows of weight 0 are left out.

        Returns
        -------
        OptimalSurvivalTree
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, or y does not hold events and times.
        Infeasible
            No tree satisfies the limits.
        NothingFound, SolverFailure
            The method found no tree within the limits, or it failed.
        """
        dataset, table = self._prepare(X, y, sample_weight)
        self._solve(dataset, self._stated_task(sample_weight is not None), table)
        self._keep_baseline(dataset)
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
        dataset, _ = model._prepare(X, y, sample_weight)
        path: SizePath = model._path_of_sizes(dataset, sample_weight is not None, max_leaf_nodes)
        return path

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Dataset, Any]:
        """Check the arguments of `fit`, and fit the binarizer; the dataset and its table."""
        event, time = events_and_times(y)
        X, time = self._checked(X, time, **QUANTITIES)
        time = np.asarray(time, dtype=float).ravel()
        learned = np.zeros(len(time))
        if self._learns_thresholds():  # in view of events that the baseline does not explain
            learned = spread(event - _baseline(time, event, None)(time))
        targets = np.column_stack([time, event.astype(float)])
        return self._rows_of(X, targets, TARGETS, sample_weight, learned)

    def _keep_baseline(self, dataset: Dataset) -> None:
        """Keep the baseline of the task on the training rows, or the one that it states."""
        task: Any = self.result_.problem.task
        stated, rows = (
            getattr(task, "baseline", None),
            dataset.require("targets", type(self).__name__),
        )
        self.cum_baseline_hazard_ = (
            _baseline(rows[:, 0], rows[:, 1] > 0, dataset.weights)
            if stated is None
            else StepFunction(*stated)
        )
        self.unique_times_ = self.cum_baseline_hazard_.x

    def predict(self, X: Any) -> np.ndarray:
        """Risk of every row, shape (n,): the hazard of its leaf relative to the baseline."""
        return self._predicted(X)

    def predict_cumulative_hazard_function(self, X: Any, return_array: bool = False) -> np.ndarray:
        """Predict the cumulative hazard of every row.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        return_array : bool, default=False
            Whether to return the values at `unique_times_`.

        Returns
        -------
        array of StepFunction of shape (n,)
            Or a float array of shape (n, m). Rows of one leaf share their function.
        """
        check_is_fitted(self)
        hazard = self.cum_baseline_hazard_.y
        return self._functions(X, lambda theta: theta * hazard, return_array)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> np.ndarray:
        """Predict the probability of every row that its event comes later than a time.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        return_array : bool, default=False
            Whether to return the values at `unique_times_`.

        Returns
        -------
        array of StepFunction of shape (n,)
            Or a float array of shape (n, m). Rows of one leaf share their function.
        """
        check_is_fitted(self)
        hazard = self.cum_baseline_hazard_.y
        return self._functions(X, lambda theta: np.exp(-theta * hazard), return_array)

    def _functions(self, X: Any, of_hazard: Any, return_array: bool) -> np.ndarray:
        """A function of the relative hazard for every row, as values or as step functions."""
        chosen = self._chosen(X)
        curves = [of_hazard(float(theta)) for theta in self.tree_.actions]
        if return_array:
            return np.array(curves)[chosen]
        functions = np.empty(len(curves), dtype=object)
        functions[:] = [StepFunction(self.unique_times_, curve) for curve in curves]
        found: np.ndarray = functions[chosen]
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's concordance of the predicted risks.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : structured array of shape (n,), or DataFrame with two columns
            As in `fit`.
        sample_weight : array of shape (n,), optional
            Weights of the rows; a pair counts the product of its weights.

        Returns
        -------
        float
            Share of the comparable pairs in which the row with the earlier event has the higher
            risk; equal risks count one half.

        Raises
        ------
        DataError
            No two rows are comparable.
        """
        from milp_trees.tasks.survival_scores import concordance

        risk = self.predict(X)
        event, time = events_and_times(y)
        weights = np.ones(len(time))
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(time))
        found = concordance(time, event, risk, weights)
        if found is None:
            raise DataError(
                "No two rows are comparable: none with an event is earlier than another row. Score more rows."
            )
        return float(found)


def events_and_times(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Events, as truth values, and times, as numbers, from a structured array or a DataFrame.

    Parameters
    ----------
    y : structured array of shape (n,), or DataFrame with two columns

    Raises
    ------
    DataError
        There are not two fields, of which one holds truth values and the other numbers.
    """
    own = y.columns if hasattr(y, "columns") else getattr(getattr(y, "dtype", None), "names", None)
    names = [] if own is None else list(own)
    fields = [np.asarray(y[name]) for name in names]
    events = [f for f in fields if f.dtype.kind == "b"]
    times = [f for f in fields if f.dtype.kind in "iuf"]
    if len(fields) != 2 or len(events) != 1 or len(times) != 1:
        held = ", ".join(f"{n} ({f.dtype})" for n, f in zip(names, fields, strict=True))
        raise DataError(
            "y must be a structured array (or a DataFrame) with two fields: whether the event was seen, as truth values, and the time, as numbers; for example"
            f" np.array(list(zip(died, days)), dtype=[('died', bool), ('days', float)]). It has {held or 'no fields'}."
        )
    return events[0], times[0]


def _baseline(time: np.ndarray, event: np.ndarray, weights: Any) -> StepFunction:
    """The cumulative hazard of Nelson and Aalen, which begins with 0 at time 0."""
    from milp_trees.tasks.survival import nelson_aalen

    times, hazard = nelson_aalen(time, event, weights)
    if len(times) and times[0] == 0:
        return StepFunction(times, hazard)
    return StepFunction(np.r_[0.0, times], np.r_[0.0, hazard])
