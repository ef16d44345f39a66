"""`OptimalTreeClassifierCV`: cross-validation chooses the penalty per leaf.

The procedure is that of Breiman, Friedman, Olshen, Stone (1984), *Classification and Regression
Trees*, with optimal trees of every size in place of pruned ones. The size path on all rows divides
the penalties into intervals on which the best tree is the same. One penalty from each interval is
scored on every fold, with the tree that is best for this penalty on the training rows of the fold.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from milp_trees.common.errors import DataError
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators._texts import with_text_columns
from milp_trees.estimators._warning import warn_user
from milp_trees.estimators.trees import OptimalTreeClassifier
from milp_trees.methods.by_size import result_at

if TYPE_CHECKING:
    from milp_trees.results.size_path import SizePath


class OptimalTreeClassifierCV(OptimalTreeClassifier):
    """An optimal classification tree whose size is chosen by cross-validation.

    All parameters are given by name.

    Parameters
    ----------
    max_depth : int or None, default=4
        Largest number of levels of splits; None is no limit.
    max_leaf_nodes : int, default=8
        Largest number of leaves that is tried.
    min_samples_leaf, task, class_weight, constraints, split_on_group, method, binarizer, n_bins
        As for `OptimalTreeClassifier`.
    random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeClassifier`.
    time_limit : float or None, default=60
        Seconds for each size path; there is one on all rows and one per fold.
    cv : int, splitter or iterable, default=5
        As everywhere in scikit-learn; a whole number is the number of stratified folds.
    scoring : str or callable, optional
        As everywhere in scikit-learn; by default the accuracy.

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
    result_, tree_, status_, bound_, gap_, classes_, binarizer_, n_features_in_, feature_names_in_
        As for `OptimalTreeClassifier`. "optimal" means that no tree of up to `max_leaf_nodes`
        leaves has a smaller penalised loss.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> OptimalTreeClassifierCV(max_depth=3, max_leaf_nodes=5).fit(X, y).get_n_leaves()
    5
    """

    #: Parameters of the base class that this class lacks: the size path covers all penalties.
    ccp_alpha = 0.0
    start = "auto"

    def __init__(
        self,
        *,
        max_depth: int | None = 4,
        max_leaf_nodes: int = 8,
        min_samples_leaf: int = 1,
        task: Any = "accuracy",
        class_weight: Any = None,
        constraints: Any = (),
        split_on_group: bool = False,
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
        self.task = task
        self.class_weight = class_weight
        self.constraints = constraints
        self.split_on_group = split_on_group
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
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> OptimalTreeClassifierCV:
        """Find the size path on all rows and on each fold; choose the penalty by its mean score.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,)
            Labels of any type.
        sample_weight : array of shape (n,), optional
            Weights for training; in the scores every row counts once.
        groups : array of shape (n,), or name of a column of X, optional
            For constraints, and for splitters that keep groups together (`GroupKFold`).

        Returns
        -------
        OptimalTreeClassifierCV
            The estimator itself.

        Raises
        ------
        DataError, Infeasible, NothingFound, SolverFailure
            As for `OptimalTreeClassifier`.
        """
        dataset, codes, _ = self._prepare(X, y, sample_weight, groups)
        path = self._path_of_sizes(dataset, sample_weight is not None)
        if not path.proven:
            why = f"{path.method} reached a limit before every size of tree was proven optimal; the trees found are kept. For a proof raise time_limit, or lower max_leaf_nodes or n_bins."
            warn_user(why, ConvergenceWarning)
        penalties = candidates(path)
        scores = self._scores(X, y, sample_weight, groups, penalties)
        means = scores.mean(axis=0)
        # Candidates are in falling order, so the first maximum belongs to the largest penalty.
        best = int(means.argmax())
        self.size_path_, self.best_score_ = path, float(means[best])
        self.ccp_alpha_ = float(penalties[best])
        self.cv_results_ = {
            "ccp_alpha": np.array(penalties, dtype=float),
            "n_leaves": np.array([path.at_penalty(p).n_leaves for p in penalties]),
            "mean_test_score": means,
            "std_test_score": scores.std(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        }
        self._keep(result_at(path, penalties[best]))
        self._count(codes)
        return self

    def _scores(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, penalties: list[Fraction]
    ) -> np.ndarray:
        """Score every penalty on every fold.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`.
        penalties : list of Fraction
            Penalties per leaf.

        Returns
        -------
        float array of shape (folds, penalties)

        Raises
        ------
        DataError
            `cv` gives no folds.
        """
        X = with_text_columns(X)
        if not hasattr(X, "iloc"):
            X = X.tocsr() if issparse(X) else np.asarray(X)
        y = np.asarray(y).ravel()
        levels = self._columns(X)[groups] if isinstance(groups, str) else groups
        scorer = check_scoring(self, scoring=self.scoring)
        within = self._checked(X, y)[0], self.classes_
        rows = []
        for train, test in check_cv(self.cv, y, classifier=True).split(X, y, levels):
            model = clone(self)
            weights = (
                None if sample_weight is None else _safe_indexing(np.asarray(sample_weight), train)
            )
            inside = (
                groups
                if groups is None or isinstance(groups, str)
                else _safe_indexing(np.asarray(groups), train)
            )
            dataset, codes, _ = model._prepare(
                _safe_indexing(X, train), y[train], weights, inside, within
            )
            path = model._path_of_sizes(dataset, weights is not None)
            unseen, truth = _safe_indexing(X, test), y[test]
            known: dict[int, float] = {}
            for penalty in penalties:
                point = path.at_penalty(penalty)
                if id(point) not in known:
                    model.tree_ = point.predictor
                    model._count(codes, dataset)
                    known[id(point)] = float(scorer(model, unseen, truth))
            rows.append([known[id(path.at_penalty(penalty))] for penalty in penalties])
        if not rows:
            raise DataError(
                "cv gave no folds; give a number of at least 2 or a splitter of scikit-learn."
            )
        return np.array(rows)


def candidates(path: SizePath) -> list[Fraction]:
    """One penalty per interval of the size path, from the largest to the smallest.

    Each is a short decimal near the geometric mean of its interval; the largest tree gets 0.
    """
    ends = path.penalties
    if not ends:
        return [Fraction(0)]
    return [
        _short(ends[0], None),
        *(_short(low, high) for high, low in pairwise(ends)),
        Fraction(0),
    ]


def _short(low: Fraction, high: Fraction | None) -> Fraction:
    """The shortest decimal near the geometric mean of an interval that lies inside it.

    If there is no upper end, the decimal is near the lower one.
    """
    middle = sqrt(low * high) if high is not None else 1.05 * float(low)
    for digits in range(1, 17):
        number = Fraction(f"{middle:.{digits}g}")
        if low < number and (high is None or number < high):
            return number
    return low  # here the smaller and the larger tree are equally good
