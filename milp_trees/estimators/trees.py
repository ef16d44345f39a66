"""`OptimalTreeClassifier`: an optimal classification tree as a scikit-learn estimator.

`fit` turns the columns into binary tests, builds a Problem and calls `solve`. By default numeric
columns get a threshold between any two neighbouring values (`binarizer="auto"`), and the tree is
optimal among all trees with such thresholds, as long as a proof can be expected within seconds.
Beyond that the method searches a set of thresholds that is chosen with the target in view, whose
best tree is no worse than the greedy one over all thresholds; `model.result_` says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from milp_trees.estimators._classifier import OptimalClassifier
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators._trees import OptimalTree

if TYPE_CHECKING:
    from milp_trees.results.size_path import SizePath


class OptimalTreeClassifier(OptimalClassifier, OptimalTree):
    """A classification tree that is optimal on the training rows among all trees of its size.

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
    task : str or Task, default="accuracy"
        What the tree optimises: a Task, or the name of a registered one such as "accuracy",
        "balanced-accuracy", "f1", "auc" or "mcc". A Task has its own penalties and constraints, and
        it decides whether rows are weighted.
    criterion : {"accuracy", "gini", "log_loss", "entropy"} or Task, default="accuracy"
        What a leaf predicts and what that costs. "accuracy": a class, and its errors (or those of
        `task`). "gini" and "log_loss" (also called "entropy"): probabilities of the classes, and
        their squared error (Brier score) or their negative log likelihood, summed over the rows.
        `ccp_alpha` is then a share of the loss of a single leaf.
    class_weight : mapping of class to number, "balanced", or None, default=None
        Factor of the errors on the rows of each class, 1 for a class that is not named. "balanced"
        gives all classes the same total weight. Factors are exact rationals (0.1 is one tenth) and
        multiply `sample_weight`; the task must be "accuracy" or "weighted", or `criterion` a loss of
        probabilities.
    ccp_alpha : number, default=0
        Penalty per leaf, added to the loss as a rate: with 0.01 a further leaf must correct more
        than one percent of the rows. It is the `leaf_penalty` of the tasks, and it plays the role
        of scikit-learn's parameter of this name. `OptimalTreeClassifierCV` chooses it.
    constraints : sequence of constraints, default=()
        Side constraints such as `mt.tasks.StatisticalParity(0.01)`. `fit` then needs `groups`, and
        `method` must be one that takes constraints, for example "state-flow@highs".
    split_on_group : bool, default=False
        Whether the tree may split on the column that `fit` gets as `groups`.
    method : str, default="auto"
        Name of any method of the registry, for example "flow-oct@highs". "auto" takes the default
        engine of the task: the quickest that is expected to prove the optimum over all thresholds,
        or else "dp" for most tasks.
    time_limit : float or None, default=60
        Seconds. If the tree is not proven optimal by then, `fit` issues a ConvergenceWarning.
    binarizer : {"auto", "midpoints", "quantiles", "buckets", "tree-guess"} or Binarizer, default="auto"
        Which thresholds numeric columns get: all of them, and where these are too much work for the
        method, a set that is chosen with the target in view (see `mt.Binarizer`). The
        others name a set; "quantiles:5" and "tree-guess:40" also state its size, as on the command
        line.
    n_bins : int, default=8
        Number of bins per column for "quantiles"; there are `n_bins - 1` thresholds.
    start : "auto", Tree, fitted estimator, name of a method, or None, default="auto"
        What the search begins with. "auto": an integer program begins with the tree of the default
        engine, and with binarizers that leave thresholds out the fitted tree is the greedy one over
        all thresholds if that is better. None or "none": nothing. A tree may also be a fitted `DecisionTreeClassifier` or
        `DecisionTreeRegressor` of scikit-learn on the same columns: every split becomes the
        candidate that divides the training rows of its node in the same way. A warning says which
        splits have none, and where the nearest was taken.
    reference : str or None, default="auto"
        The exact method with which the answer is compared; "auto" compares that of an integer
        program with the first that takes the problem. A contradiction is a SolverFailure. None or
        "none": no comparison.
    random_state : int, RandomState or None, default=None
        Seed of the solver.
    n_jobs : int or None, default=None
        Number of threads of the solver, as in joblib: None means 1, and -1 means all cores.
    progress : callable, optional
        Called with a `TracePoint` (seconds, incumbent, bound) while `fit` runs, at least about
        twice a second; if it returns True, `fit` keeps the best so far. Not part of a pickle.
    verbose : bool or int, default=False
        Whether `fit` shows incumbent, bound and gap while it runs, on standard error; in a notebook
        also the picture of a tree that has been found. A number above 0 means True.
    keep_data : bool, default=False
        Whether a pickle or copy of the fitted estimator contains the training rows. Without them
        it still predicts, and `result_` still has the value, the bound, its proof and hashes of the
        data; `mt.verify(model.result_)`, and `to_sklearn()` without rows, need the rows.

    Attributes
    ----------
    result_ : Result
        Value, bound, its proof, and times. Its problem contains the training data (in a pickle only
        with `keep_data=True`).
    tree_ : Tree
    status_ : str
        "optimal", or "feasible" if the tree is not proven optimal.
    bound_ : float or None
        No tree has a better value than this.
    gap_ : float or None
        Relative distance between the value and the bound; 0 if the tree is optimal.
    classes_ : array of shape (K,)
    binarizer_ : Binarizer
        The fitted binarizer; in a pickle without the data it has only the thresholds of the tree.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> OptimalTreeClassifier(max_depth=2).fit(X, y).result_.status.value
    'optimal'
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        task: Any = "accuracy",
        criterion: Any = "accuracy",
        class_weight: Any = None,
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
        self.task = task
        self.criterion = criterion
        self.class_weight = class_weight
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
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> OptimalTreeClassifier:
        """Find the optimal tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : array of shape (n,)
            Labels of any type.
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out. A whole-number weight has the same effect as repeating
            the row, also on the quantiles; only `min_samples_leaf`, constraints on groups and other
            limits on rows count every row once.
        groups : array of shape (n,), or name of a column of X, optional
            Values of the protected attribute, for constraints. If a column is named, the tree does
            not split on it, unless `split_on_group` allows it.

        Returns
        -------
        OptimalTreeClassifier
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, or the parameters and the rows do not fit together.
        Infeasible
            No tree satisfies the limits and constraints.
        NothingFound, SolverFailure
            The method found no tree within the limits, or it failed.
        """
        dataset, codes, table = self._prepare(X, y, sample_weight, groups)
        self._solve(dataset, self._stated_task(sample_weight is not None), table)
        self._count(codes)
        return self

    def size_path(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        max_leaf_nodes: int | None = None,
    ) -> SizePath:
        """Find the optimal tree of every size, and the values of `ccp_alpha` for each.

        This corresponds to scikit-learn's `cost_complexity_pruning_path`, but each tree is optimal
        for its size instead of pruned from a larger one. The estimator itself is not fitted, and
        its own `ccp_alpha` is ignored.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`.
        max_leaf_nodes : int, optional
            Largest number of leaves; by default `max_leaf_nodes` of the estimator, or else the
            number that its `max_depth` allows, but at most 16.

        Returns
        -------
        SizePath
            From a single run if the engine "dp-sizes" can solve the task, otherwise from one run
            per size.

        Raises
        ------
        DataError, Infeasible, NothingFound, SolverFailure
            As in `fit`.
        """
        model = clone(self)
        dataset, _, _ = model._prepare(X, y, sample_weight, groups)
        path: SizePath = model._path_of_sizes(dataset, sample_weight is not None, max_leaf_nodes)
        return path
