"""BudgetRF: random forests whose features are cheap (Nan, Wang, Saligrama, ICML 2015).

Every tree is grown greedily: a split is chosen by its feature cost divided by the decrease of
impurity in the worse of its two children. Trees are added as long as the mean cost of the features
that a row needs stays within a budget. The growing itself is in `milp_trees.pruning.budget_forest`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from milp_trees.common.errors import DataError
from milp_trees.data import parameters
from milp_trees.engines.kit.compile import compile_once
from milp_trees.estimators._forest import InspectedForest, TreeArrays, class_arrays, class_errors
from milp_trees.estimators._progress import Growth, ProgressCallbacks, with_progress
from milp_trees.estimators._tables import Classifier
from milp_trees.methods.callback import current_callback
from milp_trees.methods.growing.rows import drawn_rows
from milp_trees.pruning.budget_forest.checks import check_costs, check_parameters, n_candidates
from milp_trees.pruning.budget_forest.watch import Watch, votes

if TYPE_CHECKING:
    from milp_trees.pruning.budget_forest.grow import Rules
    from milp_trees.pruning.budget_forest.trees import BudgetTree, SortedColumns


class BudgetForestClassifier(InspectedForest, ProgressCallbacks, Classifier, BaseEstimator):  # type: ignore[misc]
    """A forest whose trees take the cost of the features into account.

    At a node with rows S the best threshold of a column k minimises max(F(left), F(right)), where F
    is the impurity. The node is split on the column with the least `cost[k]` divided by the
    difference between F(S) and this minimum. Rows and thresholds are compared in double precision,
    and a threshold lies halfway between two neighbouring values (scikit-learn's forests round rows
    to single precision).

    All parameters are given by name.

    Parameters
    ----------
    n_estimators : int, default=40
        Number of trees; with a budget the largest number of trees.
    feature_costs : array of shape (p,), mapping or Series by column, optional
        Price of a column for one row, at least 0, all in the same unit; by default 1 each.
    groups : array of shape (p,), mapping or Series by column, optional
        Label of the group of every column. The columns of a group are acquired together: they have
        the same cost, and a row pays it once.
    criterion : {"threshold-pairs", "entropy"}, default="threshold-pairs"
        The impurity F. "threshold-pairs" is Σ_{i<j} [[n_i - α]⁺ [n_j - α]⁺ - α²]⁺, where n_i is the
        number of rows of class i. "entropy" is in nats, counts as 0 below α, and uses the mean of
        the children in place of their maximum.
    alpha : number, default=0
        The α above, at least 0; for "threshold-pairs" it is a number of rows. With a larger α the
        trees are smaller.
    max_depth : int, optional
        Largest number of levels of splits.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Number or share of the columns that are drawn at random as candidates at every node; None
        means all columns.
    budget : number, optional
        Largest mean cost of the features that a validation row needs for the whole forest; `fit`
        then needs `X_val`. Trees are added until the budget is exceeded, and the last one is
        dropped.
    bootstrap : bool, default=True
        Whether each tree is grown on n rows drawn with replacement; otherwise on all rows.
    voting : {"soft", "hard"}, default="soft"
        "soft" adds up the class shares of the leaves, "hard" counts the labels that the trees
        predict. The first of several equally good classes is predicted.
    free_after_use : bool, default=False
        Whether a column costs nothing below a node that tests it, or tests a column of its group.
        With False the cost counts at every split, as in the program of the authors.
    min_gain : float, default=1e-7
        A split must decrease F by more than this.
    random_state : int, RandomState or None, default=None
        Draws the rows and the columns.
    n_jobs : int or None, default=None
        Number of threads that grow trees, as in joblib. It does not change the forest.
    progress : callable, optional
        Called after every tree with a `TracePoint` (the seconds); True ends the forest there.
    verbose : bool or int, default=False
        Whether `fit` shows how far it is, on standard error or in the notebook (above 0: True).

    Attributes
    ----------
    estimators_ : list of BudgetTree
        Arrays named as in scikit-learn's `tree_`; `value` has shape (nodes, K).
    classes_ : array of shape (K,)
    feature_costs_ : float64 array of shape (p,)
    units_ : int64 array of shape (p,)
        Number of the group of every column.
    unit_costs_ : float64 array of shape (number of groups,)
        Cost of each group.
    validation_costs_, validation_errors_ : float64 arrays of shape (number of trees,)
        Mean cost, and share of wrong predictions, on the validation rows after each tree, including
        a dropped one. The first needs `X_val` in `fit`, the second also `y_val`.
    double_precision_ : bool
        True: rows and thresholds are compared in double precision, unlike in scikit-learn's
        forests.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    There are no row weights, because the theory is about numbers of rows; repeat rows instead.
    Ctrl-C stops the growing after the current tree.

    References
    ----------
    Nan, Wang, Saligrama (2015), "Feature-Budgeted Random Forest", ICML, PMLR 37:1983-1991.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BudgetForestClassifier(n_estimators=5, feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> float(forest.feature_cost(X).max()) <= 12
    True
    """

    def __init__(
        self,
        *,
        n_estimators: int = 40,
        feature_costs: Any = None,
        groups: Any = None,
        criterion: str = "threshold-pairs",
        alpha: Any = 0,
        max_depth: int | None = None,
        max_features: Any = None,
        budget: float | None = None,
        bootstrap: bool = True,
        voting: str = "soft",
        free_after_use: bool = False,
        min_gain: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.feature_costs = feature_costs
        self.groups = groups
        self.criterion = criterion
        self.alpha = alpha
        self.max_depth = max_depth
        self.max_features = max_features
        self.budget = budget
        self.bootstrap = bootstrap
        self.voting = voting
        self.free_after_use = free_after_use
        self.min_gain = min_gain
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------

    @with_progress
    def fit(
        self, X: Any, y: Any, *, X_val: Any = None, y_val: Any = None
    ) -> BudgetForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Numbers.
        y : array of shape (n,)
            Labels of any type.
        X_val : as X, optional
            Validation rows, on which the cost is measured after every tree; needed with a budget.
        y_val : as y, optional
            Their labels, for `validation_errors_`.

        Returns
        -------
        BudgetForestClassifier
            The estimator itself.

        Raises
        ------
        DataError
            The costs, the groups or a parameter are not allowed, or the first tree exceeds the
            budget.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_parameters(self)
        parameters.check_parameters(self, parameters.OF_FORESTS)
        self.classes_, labels = np.unique(y, return_inverse=True)
        names = list(getattr(self, "feature_names_in_", range(X.shape[1])))
        costs = check_costs(self.feature_costs, self.groups, names)
        self.feature_costs_, self.units_, self.unit_costs_ = costs
        watch = self._watch(X_val, y_val)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        _compile()

        from milp_trees.pruning.budget_forest.trees import sorted_columns

        columns = sorted_columns(X, labels, len(self.classes_))
        self.estimators_ = self._grow(columns, self._rules(X), seeds, watch)
        self.double_precision_ = True
        self._seeds, self._n_rows = seeds[: len(self.estimators_)], len(X)
        if watch is not None:
            self.validation_costs_ = np.array(watch.costs)
            if watch.y is not None:
                self.validation_errors_ = np.array(watch.errors)
        return self

    def _rules(self, X: np.ndarray) -> Rules:
        from milp_trees.pruning.budget_forest.grow import Rules
        from milp_trees.pruning.budget_forest.impurities import measure

        n, p = X.shape
        depth = 2**31 if self.max_depth is None else int(self.max_depth)
        k = n_candidates(self.max_features, p)
        m = measure(self.criterion, self.alpha, n)
        return Rules(
            m,
            self.feature_costs_,
            self.units_,
            bool(self.free_after_use),
            depth,
            k,
            float(self.min_gain) * m.scale,
        )

    def _watch(self, X_val: Any, y_val: Any) -> Watch | None:
        """Measure cost and errors on the validation rows; None if there are none."""
        self.__dict__.pop("validation_costs_", None)
        self.__dict__.pop("validation_errors_", None)
        if X_val is None:
            if y_val is not None:
                raise DataError("y_val holds the labels of validation rows; give X_val too.")
            if self.budget is not None:
                raise DataError(
                    "The cost of a forest with a budget is measured on validation rows; call fit(X, y, X_val=…, y_val=…)."
                )
            return None
        X = self._rows(X_val)
        y = None if y_val is None else column_or_1d(y_val)
        if y is not None and len(y) != len(X):
            raise DataError(
                f"The validation rows number {len(X)}, their labels {len(y)}; give one label per row."
            )
        return Watch(
            X,
            y,
            self.classes_,
            self.units_,
            self.unit_costs_,
            math.inf if self.budget is None else self.budget,
            self.voting,
        )

    def _grow(
        self, columns: SortedColumns, rules: Rules, seeds: np.ndarray, watch: Watch | None
    ) -> list[BudgetTree]:
        """Grow trees in the order of their seeds, until there are enough or the budget is exceeded.

        Parameters
        ----------
        columns : SortedColumns
            Sorted columns of the training rows.
        rules : Rules
        seeds : int array of shape (n_estimators,)
        watch : Watch or None
            Measures the cost on the validation rows.

        Raises
        ------
        DataError
            The first tree exceeds the budget.
        """
        from milp_trees.pruning.budget_forest.trees import grow_tree

        trees: list[BudgetTree] = []
        whole = self.budget is None and current_callback() is None
        at_once = len(seeds) if whole else effective_n_jobs(self.n_jobs)
        growth = Growth(len(seeds))
        with Parallel(n_jobs=self.n_jobs, require="sharedmem") as pool:
            for begin in range(0, len(seeds), at_once):
                for tree in pool(
                    delayed(grow_tree)(columns, rules, bool(self.bootstrap), int(seed))
                    for seed in seeds[begin : begin + at_once]
                ):
                    if watch is not None and not watch.affords(tree):
                        if not trees:
                            raise DataError(
                                f"The first tree costs {watch.costs[0]:g} per validation row, more than budget={self.budget}; raise the budget or alpha, "
                                "or lower max_depth."
                            )
                        return trees
                    trees.append(tree)
                if growth.ends(len(trees)):
                    break
        return trees

    #: Marks an ensemble whose trees can be pruned (`milp_trees.models.read_ensemble`).
    prunable_trees = True

    # -- the fitted forest ---------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Predicted class of every row, shape (n,)."""
        shares = self.predict_proba(X)
        labels: np.ndarray = self.classes_[shares.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, shape (n, K).

        With `voting="soft"` they are the means of the class shares in the leaves, and with
        `voting="hard"` the shares of the trees that predict each class.
        """
        X = self._rows(X)
        total = np.zeros((len(X), len(self.classes_)))
        for tree in self.estimators_:
            total += votes(tree.predict_proba(X), self.voting)
        return total / len(self.estimators_)

    def apply(self, X: Any) -> np.ndarray:
        """Number of the leaf that each row reaches in each tree, shape (n, number of trees)."""
        X = self._rows(X)
        return np.column_stack([tree.apply(X) for tree in self.estimators_])

    def _tree_arrays(self) -> list[TreeArrays]:
        return [class_arrays(tree) for tree in self.estimators_]

    _least = staticmethod(class_errors)

    def features_used(self, X: Any) -> np.ndarray:
        """Whether a row passes a test of a column in any tree; bool array of shape (n, p)."""
        return self._used(self._rows(X), np.arange(self.n_features_in_))

    def feature_cost(self, X: Any) -> np.ndarray:
        """Cost of the features that each row needs for the whole forest, shape (n,).

        Every group counts once.
        """
        return np.asarray(self._used(self._rows(X), self.units_) @ self.unit_costs_)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """For every tree the indices of the rows that it drew, computed again from the seeds."""
        check_is_fitted(self)
        return [
            drawn_rows(self._n_rows, bool(self.bootstrap), np.random.default_rng(int(seed)))
            for seed in self._seeds
        ]

    @property
    def oob_(self) -> np.ndarray:
        """Whether a tree did not draw a training row; bool array of shape (number of trees, n)."""
        out = np.ones((len(self.estimators_samples_), self._n_rows), dtype=bool)
        for row, samples in zip(out, self.estimators_samples_, strict=True):
            row[samples] = False
        return out

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        _compile()
        # The kernels are compiled for writable rows, so read-only ones are copied.
        return np.require(X, requirements=["C", "W"])

    def _used(self, X: np.ndarray, units: np.ndarray) -> np.ndarray:
        used = np.zeros((len(X), int(units.max()) + 1), dtype=bool)
        for tree in self.estimators_:
            tree.mark_used(X, units, used)
        return used


def _compile() -> None:
    """Compile the kernels, or load them, once per process."""
    compile_once("the growing of forests", _grow_tiny)


def _grow_tiny() -> None:
    """A tree on two rows."""
    from milp_trees.pruning.budget_forest.grow import Rules
    from milp_trees.pruning.budget_forest.impurities import measure
    from milp_trees.pruning.budget_forest.trees import grow_tree, sorted_columns

    X = np.array([[0.0], [1.0]])
    rules = Rules(measure("threshold-pairs", 0, 2), np.ones(1), np.arange(1), False, 2, 1, 0.0)
    tree = grow_tree(sorted_columns(X, np.array([0, 1]), 2), rules, False, 0)
    tree.apply(X)
    tree.mark_used(X, np.arange(1), np.zeros((2, 1), dtype=bool))
