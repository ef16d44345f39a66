"""`SPOTree`: a tree for decisions as a scikit-learn estimator (Elmachtoub, Liang, McNellis 2020).

`fit(X, y)` takes the cost vectors of the rows, `predict` returns the mean cost vector of a leaf,
and `decide` returns the best decision for this mean. `spo_forest.py` has the forest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.decisions.estimators._spo import GREEDY, CostRows
from milp_trees.decisions.estimators._spo_search import DecisionTreeSearch
from milp_trees.estimators._progress import with_progress
from milp_trees.mip.registry import registry
from milp_trees.results.result import Result, Status

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet


class SPOTree(DecisionTreeSearch):
    """A tree whose leaves take decisions, trained to minimise the cost of the decisions.

    All parameters are given by name.

    Parameters
    ----------
    decisions : DecisionSet, optional
        The set S of feasible decisions, for example `mt.decisions.grid_paths(4, 4)`. By default it
        is the unit simplex: one of the d components is chosen.
    method : str, default="greedy-spo"
        Name of a method of the registry. Greedy methods choose thresholds at every node:
        "greedy-spo" splits by SPO loss; "greedy-spo:plateaus=squared-error" does the same, but
        splits by squared error where no split lowers the loss; "cart-spo" splits by the squared
        error of the cost vectors. For all other methods the thresholds are chosen once: "dp" (if S
        can be listed), "dp-oracle" (any S), "spot@highs" (if S is linear), ….
    max_depth : int or None, default=3
        Largest number of levels of splits. With None, greedy trees still end at 200 levels.
    max_leaf_nodes : int, optional
        Largest number of leaves.
    min_samples_leaf : int, default=1
        Smallest number of training rows in a leaf.
    min_weight_leaf : number, default=0
        Smallest total `sample_weight` in a leaf.
    binarizer : {"quantiles", "midpoints"}, default="quantiles"
        Thresholds of a numeric column. "quantiles": tests x < s, where the values s divide the
        distinct values into `n_bins` bins (for greedy methods the distinct values in the node), or
        all values if there are fewer. "midpoints": all midpoints between neighbouring values.
    n_bins : int, default=100
        Number of bins; there are `n_bins - 1` thresholds.
    categorical_features : sequence of column names or indices, optional
        Columns whose numbers are categories. A split separates a single category from the rest
        (`color == 3`). Columns of text are always categories.
    validation_fraction : float, default=0
        Share of the rows that `fit` sets aside in order to choose among the prunings of the tree.
        `fit(X, y, X_val=…, y_val=…)` gives such rows instead.
    slack : number or "one-se", default=0
        The smallest pruning is chosen whose validation loss exceeds the least one by at most this
        number; "one-se" stands for one standard error of the least one.
    time_limit : float or None, default=60
        Seconds, for methods that are not greedy.
    n_jobs : int or None, default=None
        Number of threads of a solver, as in joblib: None means 1, and -1 means all cores.
    random_state : int, RandomState or None, default=None
        Draws the rows that are set aside, and seeds the solver.
    progress : callable, optional
        Called with a `TracePoint` (seconds, incumbent, bound) while `fit` runs, at least about
        twice a second; if it returns True, `fit` keeps the best so far. Not part of a pickle.
    verbose : bool or int, default=False
        Whether `fit` shows how far it is, on standard error or in the notebook. A number above 0
        means True.
    keep_data : bool, default=False
        Whether a pickle or copy of the fitted estimator contains the training rows; see
        `OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        Its actions are labels of decisions: the chosen components, joined by `+`.
    result_ : Result
        Training loss of the tree (after the pruning) and its bound. Its problem contains the
        training rows.
    leaf_costs_, leaf_decisions_ : float arrays of shape (leaves, d)
        Mean cost vector and decision of every leaf, from left to right.
    decisions_ : DecisionSet
        The set S.
    pruning_path_ : PruningPath or None
        The prunings with their validation losses; None if there are no validation rows.
    status_, bound_, gap_
        As for `OptimalTreeClassifier`.
    n_outputs_ : int
        Length d of the cost vectors.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> model = SPOTree(max_depth=1).fit([[0.1], [0.2], [0.8]], [[1, 2], [1, 3], [4, 1]])
    >>> model.decide([[0.0], [0.9]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        *,
        decisions: Any = None,
        method: str = "greedy-spo",
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: Any = 0,
        binarizer: str = "quantiles",
        n_bins: int = 100,
        categorical_features: Any = None,
        validation_fraction: float = 0.0,
        slack: Any = 0,
        time_limit: float | None = 60.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: Any = None,
        verbose: bool | int = False,
        keep_data: bool = False,
    ) -> None:
        self.decisions = decisions
        self.method = method
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.validation_fraction = validation_fraction
        self.slack = slack
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.keep_data = keep_data

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
    ) -> SPOTree:
        """Find the tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n, d), or of shape (n,)
            True cost vector of every row.
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : as X, y, sample_weight, optional
            Validation rows, which choose among the prunings of the tree. The decisions in the
            leaves are still those of the training rows.

        Returns
        -------
        SPOTree
            The estimator itself.

        Raises
        ------
        DataError
            Cost vectors and decisions differ in length, or a parameter is not allowed.
        Infeasible
            There are fewer rows, or there is less weight, than one leaf needs.
        SolverFailure
            The oracle of S failed. The estimator is then not fitted.
        """
        for name in ("tree_", "_path"):  # an estimator whose fit fails is not fitted
            self.__dict__.pop(name, None)
        self._check_choices()
        label = registry.method(self.method).label
        rows = self._rows(X, y, sample_weight)
        decisions = self._decision_set()
        rows, held = self._held_out(rows, X_val, y_val, sample_weight_val)
        if label in GREEDY:
            result = self._grown(label, rows, held, decisions)
        else:
            result = self._solved(rows, held, decisions)
        self._settle(result, rows, decisions)
        return self

    def _held_out(
        self, rows: CostRows, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> tuple[CostRows, CostRows | None]:
        """Divide the rows into training rows and validation rows.

        Parameters
        ----------
        rows : CostRows
            The rows given to `fit`.
        X_val, y_val, sample_weight_val
            Validation rows as in `fit`; without them `validation_fraction` of the rows is set
            aside.

        Returns
        -------
        training : CostRows
        validation : CostRows or None

        Raises
        ------
        DataError
            The share is not allowed or leaves no training row, or only one of X_val and y_val is
            given.
        """
        share = self.validation_fraction
        if not 0 <= share < 1:
            raise DataError(
                f"validation_fraction is a share of the rows, at least 0 and below 1; got {share!r}."
            )
        if (X_val is None) != (y_val is None) or (X_val is None and sample_weight_val is not None):
            raise DataError("Give X_val and y_val together.")
        if X_val is not None:
            return rows, self._more_rows(X_val, y_val, sample_weight_val)
        n = round(share * rows.n)
        if not n:
            return rows, None
        order = check_random_state(self.random_state).permutation(rows.n)
        if n == rows.n:
            raise DataError(
                f"validation_fraction={share} leaves none of {rows.n} rows to train on; give more rows or a smaller share."
            )
        return rows.take(np.sort(order[n:])), rows.take(np.sort(order[:n]))

    def _settle(self, result: Result, rows: CostRows, decisions: DecisionSet) -> None:
        """Set the attributes of the fitted estimator, after everything has succeeded."""
        if result.status is Status.ERROR:
            raise SolverFailure(result.message)
        tree = result.tree
        routes = tree.routes(result.problem.dataset)
        sums, row_weight = (
            np.zeros((routes.n_leaves, rows.costs.shape[1])),
            np.zeros(routes.n_leaves),
        )
        np.add.at(sums, routes.leaf, rows.costs * rows.weights[:, None])
        np.add.at(row_weight, routes.leaf, rows.weights)
        self.decisions_ = decisions
        self.leaf_costs_ = sums / row_weight[:, None]
        self.leaf_decisions_ = np.array(
            [decisions.vector(str(tree.actions[a])) for a in routes.leaf_actions]
        )
        self.pruning_path_ = self.__dict__.pop("_path", None)
        self._keep(result)

    # -- the fitted tree -----------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Mean training cost vector of the leaf that each row reaches.

        The shape is (n, d), or (n,) if the training target had one dimension.
        """
        leaf = self.apply(X)
        return self._shaped(self.leaf_costs_[leaf])

    def decide(self, X: Any) -> np.ndarray:
        """Decision for every row; float array of shape (n, d)."""
        leaf = self.apply(X)
        decisions: np.ndarray = self.leaf_decisions_[leaf]
        return decisions
