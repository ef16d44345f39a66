"""`SPOForest`: a forest of trees for decisions (Elmachtoub, Liang, McNellis 2020).

Each tree is grown on a bootstrap sample. The forest averages the cost vectors that the trees
predict, and takes the best decision for the average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from milp_trees.common.errors import DataError, Infeasible
from milp_trees.decisions.estimators._spo import (
    GREEDY,
    CostRows,
    DecisionEstimator,
    normalised_regret,
)
from milp_trees.estimators._forest import InspectedForest, TreeArrays, drawn_columns
from milp_trees.estimators._progress import Growth, with_progress
from milp_trees.methods.growing.rows import drawn_rows
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees

VOTING = ("soft", "hard")


class SPOForest(InspectedForest, DecisionEstimator):
    """A forest of greedy trees for decisions.

    All parameters are given by name.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    decisions : DecisionSet, optional
        The set S of feasible decisions; by default the unit simplex, as for `SPOTree`.
    method : str, default="greedy-spo"
        One of the greedy methods of `SPOTree`: "greedy-spo",
        "greedy-spo:plateaus=squared-error" or "cart-spo".
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns that are drawn at every node: their number, their share, or all (None). Further
        columns are drawn if the node cannot be split on any of these.
    bootstrap : bool, default=True
        Whether each tree is grown on n rows drawn with replacement. A row that is drawn has its
        weight each time.
    oob_score : bool, default=False
        Whether `oob_score_` and `oob_prediction_` are computed.
    voting : {"soft", "hard"}, default="soft"
        "soft": the best decision for the mean of the cost vectors that the trees predict. "hard":
        the most frequent decision of the trees, and the first in lexicographic order if several
        are equally frequent.
    max_depth : int or None, default=None
        Largest number of levels of splits in a tree.
    min_samples_leaf : int, default=1
        Smallest number of drawn rows in a leaf; a row counts as often as it is drawn.
    min_weight_leaf : number, default=0
        Smallest total weight of the drawn rows in a leaf.
    binarizer, n_bins, categorical_features
        As for `SPOTree`.
    n_jobs : int or None, default=None
        Number of processes that grow trees, as in joblib. It does not change the forest.
    random_state : int, RandomState or None, default=None
        Draws the rows and the columns.
    progress : callable, optional
        Called after every tree with a `TracePoint` (the seconds); True ends the forest there.
    verbose : bool or int, default=False
        Whether `fit` shows how far it is, on standard error or in the notebook. A number above 0
        means True.

    Attributes
    ----------
    estimators_ : list of ForestTree
    decisions_ : DecisionSet
        The set S.
    oob_score_ : float
        Minus the normalised regret on the training rows that are out of bag, where the decision
        for a row comes from the trees that did not see it.
    oob_prediction_ : float array of shape (n, d)
        Mean cost vector that these trees predict for every training row of positive weight; NaN if
        every tree saw the row.
    n_outputs_ : int
        Length d of the cost vectors.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = SPOForest(n_estimators=10, random_state=0).fit(X, np.hstack([X, 1 - X]))
    >>> model.decide([[0.1], [0.9]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        decisions: Any = None,
        method: str = "greedy-spo",
        max_features: Any = "sqrt",
        bootstrap: bool = True,
        oob_score: bool = False,
        voting: str = "soft",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: Any = 0,
        binarizer: str = "quantiles",
        n_bins: int = 100,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.decisions = decisions
        self.method = method
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.voting = voting
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------

    @with_progress
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SPOForest:
        """Grow the trees.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n, d), or of shape (n,)
            True cost vector of every row.
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out.

        Returns
        -------
        SPOForest
            The estimator itself.

        Raises
        ------
        DataError, Infeasible, SolverFailure
            As for `SPOTree`. The estimator is then not fitted.
        """
        from milp_trees.decisions.engines.greedy_spo.forest import lean

        self.__dict__.pop("estimators_", None)
        self._check_choices()
        rows = self._rows(X, y, sample_weight)
        decisions = self._decision_set()
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        coder, columns, trees = self._grown(rows, decisions, seeds)
        out = self._out_of_bag(rows, decisions, columns.codes, trees) if self.oob_score else None
        for name in ("oob_prediction_", "oob_score_"):
            self.__dict__.pop(name, None)
        if out is not None:
            self.oob_prediction_, self.oob_score_ = out
        self.decisions_, self._seeds, self._n_rows = decisions, seeds[: len(trees)], rows.n
        self._coder, self.estimators_ = lean(coder, [tree for tree, _ in trees])
        return self

    def _check_choices(self) -> None:
        super()._check_choices()
        if registry.method(self.method).label not in GREEDY:
            raise DataError(
                f"method must be one of {', '.join(GREEDY)}; got {self.method!r}. Other methods find a single tree: use SPOTree."
            )
        if self.voting not in VOTING:
            raise DataError(f'voting must be "soft" or "hard"; got {self.voting!r}.')
        if self.oob_score and not self.bootstrap:
            raise DataError(
                "oob_score=True needs bootstrap=True: without it no row is left out of any tree."
            )

    def _grown(self, rows: CostRows, decisions: Any, seeds: np.ndarray) -> Any:
        """Grow the trees.

        Parameters
        ----------
        rows : CostRows
            Training rows.
        decisions : DecisionSet
        seeds : int array of shape (n_estimators,)

        Returns
        -------
        coder : Coder
        columns : Columns
            The coded columns of the training rows.
        trees : list of pairs (ForestTree, int array of shape (n,))
            Each tree, and how often it drew each row.

        Raises
        ------
        Infeasible
            There are too few rows for one leaf.
        """
        from joblib import Parallel, delayed

        from milp_trees.decisions.engines.greedy_spo.coder import Coder
        from milp_trees.decisions.engines.greedy_spo.fitting import CostSample
        from milp_trees.decisions.engines.greedy_spo.forest import grow_one
        from milp_trees.decisions.engines.greedy_spo.grow import compile_kernels

        coder = Coder(
            rows.table,
            "midpoints" if self.binarizer == "midpoints" else "values",
            orders=self._orders,
        )
        columns = coder.columns(rows.table)
        sample = CostSample(rows.costs, rows.weights, decisions)
        space = self._space_of()
        if not sample.enough(space):
            raise Infeasible(
                f"{rows.n} rows of weight {rows.weights.sum():g} are too few for one leaf; lower min_samples_leaf or min_weight_leaf."
            )
        rules = sample.rules(
            space,
            self.n_bins if self.binarizer == "quantiles" else 0,
            drawn_columns(self.max_features, len(rows.table)),
        )
        by = GREEDY[registry.method(self.method).label]
        # Computed here, so that the processes receive it instead of computing it once per tree.
        _ = sample.vectors if by == "squared-error" else sample.loss
        compile_kernels()
        order = columns.order()
        # The kernels are compiled for writable arrays, and memory-mapped ones are read-only.
        pool = Parallel(n_jobs=self.n_jobs, max_nbytes=None, return_as="generator")
        grown = pool(
            delayed(grow_one)(
                columns,
                order,
                sample,
                rules,
                by,
                bool(self.bootstrap),
                int(seed),
            )
            for seed in seeds
        )
        return coder, columns, Growth(len(seeds)).of(grown)

    def _space_of(self) -> Trees:
        return Trees(
            self.max_depth, None, self.min_samples_leaf, min_weight_leaf=self.min_weight_leaf
        )

    def _penalties(self) -> dict[str, Any]:
        return {}

    def _out_of_bag(
        self, rows: CostRows, decisions: Any, codes: np.ndarray, trees: Any
    ) -> tuple[np.ndarray, float]:
        """Compute `oob_prediction_` and `oob_score_`.

        Parameters
        ----------
        rows : CostRows
            Training rows.
        decisions : DecisionSet
        codes : int array of shape (columns, n)
            Coded columns of the training rows.
        trees : list of pairs (ForestTree, int array of shape (n,))
            Each tree, and how often it drew each row.

        Raises
        ------
        DataError
            No row is out of bag.
        """
        left_out = np.array([drawn == 0 for _, drawn in trees])
        seen = left_out.any(axis=0)
        if not seen.any():
            raise DataError(
                "Every tree has seen every row, so no row is out of bag; grow more trees, or give oob_score=False."
            )
        total = np.zeros_like(rows.costs)
        for (tree, _), out in zip(trees, left_out, strict=True):
            total[out] += tree.predict(codes[:, out])
        prediction = np.full_like(total, np.nan)
        prediction[seen] = total[seen] / left_out.sum(axis=0)[seen, None]
        taken = self._decided(
            [t for t, _ in trees], decisions, codes[:, seen], prediction[seen], left_out[:, seen]
        )
        return prediction, -normalised_regret(
            decisions, rows.costs[seen], taken, rows.weights[seen]
        )

    # -- the fitted forest ---------------------------------------------------------------------------

    def _codes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        codes: np.ndarray = self._coder.codes(self._table(self._columns(X)))
        return codes

    def _mean(self, codes: np.ndarray) -> np.ndarray:
        total = np.zeros((codes.shape[1], self.n_outputs_))
        for tree in self.estimators_:
            total += tree.predict(codes)
        return total / len(self.estimators_)

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the cost vectors that the trees predict.

        The shape is (n, d), or (n,) if the training target had one dimension.
        """
        return self._shaped(self._mean(self._codes(X)))

    def decide(self, X: Any) -> np.ndarray:
        """Decision for every row; float array of shape (n, d)."""
        codes = self._codes(X)
        return self._decided(
            self.estimators_,
            self.decisions_,
            codes,
            self._mean(codes),
            np.ones((len(self.estimators_), codes.shape[1]), dtype=bool),
        )

    def _decided(
        self, trees: Any, decisions: Any, codes: np.ndarray, mean: np.ndarray, asked: np.ndarray
    ) -> np.ndarray:
        """Decisions for rows, from the mean cost vectors or by a vote of the trees.

        Parameters
        ----------
        trees : list of ForestTree
        decisions : DecisionSet
        codes : int array of shape (columns, n)
            Coded columns of the rows.
        mean : float array of shape (n, d)
            Mean cost vectors.
        asked : bool array of shape (number of trees, n)
            Which trees vote on which row.
        """
        from milp_trees.decisions.engines.greedy_spo.forest import most_frequent

        if self.voting == "hard":
            return most_frequent(trees, decisions, codes, asked)
        answer: np.ndarray = decisions.solve(mean).decisions
        return answer

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """For every tree the sorted indices of the rows that it drew, with repetitions.

        The indices count the training rows of positive weight.
        """
        check_is_fitted(self)
        return [
            np.sort(drawn_rows(self._n_rows, self.bootstrap, np.random.default_rng(int(seed))))
            for seed in self._seeds
        ]

    def apply(self, X: Any) -> np.ndarray:
        """Number of the leaf that each row reaches in each tree, shape (n, number of trees)."""
        codes = self._codes(X)
        return np.column_stack([tree.apply(codes) for tree in self.estimators_])

    def _leaf_nodes(self, X: Any) -> list[np.ndarray]:
        reached = self.apply(X).T
        return [t.ends[leaf] for t, leaf in zip(self.estimators_, reached, strict=True)]

    def _tree_arrays(self) -> list[TreeArrays]:
        places = np.array([place for place, *_ in self._coder.rules])
        return [
            TreeArrays(t.left, t.right, places[t.column], (t.costs * t.weight[:, None])[t.leaf])
            for t in self.estimators_
        ]

    def get_depth(self) -> int:
        """Depth of the deepest tree."""
        check_is_fitted(self)
        return max(tree.depth for tree in self.estimators_)

    def get_n_leaves(self) -> int:
        """Number of leaves of all trees together."""
        check_is_fitted(self)
        return sum(len(tree.costs) for tree in self.estimators_)
