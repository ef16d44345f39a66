"""The penalty per leaf of an optimal tree by cross-validation, for classes and for numbers.

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
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from milp_trees.common.errors import DataError
from milp_trees.estimators._texts import with_text_columns
from milp_trees.estimators._trees import OptimalTree
from milp_trees.estimators._warning import warn_user
from milp_trees.methods.by_size import result_at

if TYPE_CHECKING:
    from milp_trees.results.size_path import SizePath


class PenaltyByFolds(OptimalTree):
    """Base class; it stands before an estimator of one tree, whose penalty it chooses."""

    #: Parameters of the other base class that this class lacks: the size path covers all penalties.
    ccp_alpha = 0.0
    start = "auto"
    cv: Any
    scoring: Any
    #: Methods of the other base class: rows as a dataset, and what follows from a tree on rows.
    _prepare: Any
    _count: Any
    _parts_of: Any

    def _fit_by_folds(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        """Find the size path on all rows and on each fold; choose the penalty by its mean score."""
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
        y = np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        levels = self._columns(X)[groups] if isinstance(groups, str) else groups
        scorer = check_scoring(self, scoring=self.scoring)
        within = self._parts_of(X, y)
        rows = []
        for train, test in check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, levels):
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
