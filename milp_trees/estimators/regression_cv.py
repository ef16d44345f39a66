"""`OptimalTreeRegressorCV`: cross-validation chooses the penalty per leaf (`_penalty_cv`)."""

from __future__ import annotations

from typing import Any

from milp_trees.estimators._penalty_cv import PenaltyByFolds
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators.regression import OptimalTreeRegressor


class OptimalTreeRegressorCV(PenaltyByFolds, OptimalTreeRegressor):  # type: ignore[misc]
    """An optimal regression tree whose size is chosen by cross-validation.

    All parameters are given by name.

    Parameters
    ----------
    max_depth : int or None, default=4
        Largest number of levels of splits; None is no limit.
    max_leaf_nodes : int, default=8
        Largest number of leaves that is tried.
    min_samples_leaf, criterion, method, binarizer, n_bins
        As for `OptimalTreeRegressor`.
    random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeRegressor`.
    time_limit : float or None, default=60
        Seconds for each size path; there is one on all rows and one per fold.
    cv : int, splitter or iterable, default=5
        As everywhere in scikit-learn; a whole number is the number of folds.
    scoring : str or callable, optional
        As everywhere in scikit-learn, for example "neg_mean_squared_error"; by default R².

    Attributes
    ----------
    ccp_alpha_ : float
        The penalty per leaf with the best mean score; the largest of several equally good ones.
    size_path_ : SizePath
        The optimal trees of all sizes on all rows.
    cv_results_ : dict of arrays
        `ccp_alpha`, `n_leaves` (of the tree on all rows), `mean_test_score`, `std_test_score`,
        `split0_test_score`, ….
    best_score_ : float
        The best mean score.
    result_, tree_, value_, status_, bound_, gap_, n_outputs_, binarizer_, n_features_in_, \
    feature_names_in_
        As for `OptimalTreeRegressor`. "optimal" means that no tree of up to `max_leaf_nodes`
        leaves has a smaller penalised loss.

    Examples
    --------
    >>> X = [[k % 4, k % 3] for k in range(48)]
    >>> y = [5.0 if a == 3 else 0.1 * b for a, b in X]
    >>> OptimalTreeRegressorCV(max_leaf_nodes=4).fit(X, y).get_n_leaves()
    4
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 4,
        max_leaf_nodes: int = 8,
        min_samples_leaf: int = 1,
        criterion: Any = "squared_error",
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        cv: Any = 5,
        scoring: Any = None,
        progress: Any = None,
        verbose: bool | int = False,
        keep_data: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.criterion = criterion
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.cv = cv
        self.scoring = scoring
        self.progress = progress
        self.verbose = verbose
        self.keep_data = keep_data

    @with_progress
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OptimalTreeRegressorCV:
        """Find the size path on all rows and on each fold; choose the penalty by its mean score.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n,) or (n, k)
        sample_weight : array of shape (n,), optional
            Weights for training; in the scores every row counts once.

        Returns
        -------
        OptimalTreeRegressorCV
            The estimator itself.

        Raises
        ------
        DataError, Infeasible, NothingFound, SolverFailure
            As for `OptimalTreeRegressor`.
        """
        self._fit_by_folds(X, y, sample_weight)
        return self
