"""`SPOForest`: trees for decisions on bootstrap samples; the decision is the best for their
averaged cost vectors (Elmachtoub, Liang, McNellis 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from milp_trees.errors import DataError, Infeasible, Unsupported
from milp_trees.estimators._spo import GREEDY, CostRows, DecisionEstimator, normalised_regret
from milp_trees.spaces.trees import Trees

AGGREGATES = ("costs", "votes")


class SPOForest(DecisionEstimator):
    """A forest of greedy trees for decisions.

    Parameters
    ----------
    n_estimators : int, default=100
    decisions : DecisionSet, optional
        S; by default the unit simplex, "the cheapest of d".
    method : {"greedy", "smoothed", "cart"}, default="greedy"
        Splits by SPO loss; by SPO loss and, where no split lowers it, by squared error of the cost
        vectors; or by squared error.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns drawn at every node: their number, their share, or all (None). If none of them can
        be split on, further ones are drawn.
    bootstrap : bool, default=True
        Whether each tree is grown on n rows drawn with replacement; their weights go with them.
    oob_score : bool, default=False
        Whether the rows left out of a tree judge it.
    aggregate : {"costs", "votes"}, default="costs"
        A decision is the best for the mean of the trees' cost vectors, or the most frequent
        decision of the trees (of equally frequent ones the first in lexicographic order).
    max_depth : int or None, default=None
    min_samples_leaf : int, default=1
        Draws are counted.
    min_weight_leaf : number, default=0
    splits, quantiles, categorical
        As for `SPOTree`.
    n_jobs : int or None
        Processes, as in joblib. The forest does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    estimators_ : list of ForestTree
    decisions_ : DecisionSet
    oob_score_ : float
        Minus the normalised regret on the rows that some tree left out, each judged by those trees.
    oob_prediction_ : float array of shape (n, d)
        Their mean cost vectors for the training rows of positive weight; NaN where every tree has
        seen the row.
    n_outputs_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = SPOForest(10, random_state=0).fit(X, np.hstack([X, 1 - X]))
    >>> model.decide([[0.1], [0.9]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        decisions: Any = None,
        method: str = "greedy",
        max_features: Any = "sqrt",
        bootstrap: bool = True,
        oob_score: bool = False,
        aggregate: str = "costs",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: Any = 0,
        splits: str = "quantiles",
        quantiles: int = 100,
        categorical: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.decisions = decisions
        self.method = method
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.aggregate = aggregate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.splits = splits
        self.quantiles = quantiles
        self.categorical = categorical
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -- fitting ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SPOForest:
        """Grow the trees.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n, d), or of shape (n,)
            True cost vector of every row.
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out.

        Raises
        ------
        DataError, Infeasible, SolverFailure
            As for `SPOTree`. The estimator is then not fitted.
        """
        from milp_trees.engines.decision_trees.forest import lean

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
        self.decisions_, self._seeds, self._n_rows = decisions, seeds, rows.n
        self._coder, self.estimators_ = lean(coder, [tree for tree, _ in trees])
        return self

    def _check_choices(self) -> None:
        super()._check_choices()
        if self.method not in GREEDY or self.aggregate not in AGGREGATES:
            raise DataError(
                f'method is "greedy", "smoothed" or "cart" and aggregate "costs" or "votes"; got {self.method!r} and {self.aggregate!r}. '
                "Exact methods take one tree: SPOTree."
            )
        if self.oob_score and not self.bootstrap:
            raise DataError(
                "oob_score=True needs bootstrap=True: without it no row is left out of any tree."
            )

    def _grown(self, rows: CostRows, decisions: Any, seeds: np.ndarray) -> Any:
        """The coder of the columns, the coded columns, and every tree with the draws of its rows."""
        from joblib import Parallel, delayed

        from milp_trees.engines.decision_trees.coder import Coder
        from milp_trees.engines.decision_trees.fitting import CostSample
        from milp_trees.engines.decision_trees.forest import grow_one
        from milp_trees.engines.decision_trees.grow import compile_kernels

        coder = Coder(rows.table, "midpoints" if self.splits == "midpoints" else "values")
        columns = coder.columns(rows.table)
        sample = CostSample(rows.costs, rows.weights, decisions)
        space = Trees(
            self.max_depth, None, self.min_samples_leaf, min_weight_leaf=self.min_weight_leaf
        )
        if not sample.enough(space):
            raise Infeasible(
                f"{rows.n} rows of weight {rows.weights.sum():g} are too few for one leaf; lower min_samples_leaf or min_weight_leaf."
            )
        rules = sample.rules(
            space, self.quantiles if self.splits == "quantiles" else 0, self._drawn(len(rows.table))
        )
        _ = (
            sample.loss if self.method != "cart" else sample.vectors
        )  # computed once, sent to every process
        compile_kernels()
        order = columns.order()
        # Arrays are sent, not mapped: kernels are compiled for writable ones.
        trees = Parallel(n_jobs=self.n_jobs, max_nbytes=None)(
            delayed(grow_one)(
                columns,
                order,
                sample,
                rules,
                GREEDY[self.method].by,
                bool(self.bootstrap),
                int(seed),
            )
            for seed in seeds
        )
        return coder, columns, trees

    def _drawn(self, p: int) -> int:
        """`max_features` as a number of columns."""
        m = self.max_features
        if m is None:
            return p
        if m in ("sqrt", "log2"):
            return max(1, int(np.sqrt(p) if m == "sqrt" else np.log2(p)))
        if isinstance(m, (int, np.integer)) and not isinstance(m, bool) and m >= 1:
            return min(int(m), p)
        if isinstance(m, (float, np.floating)) and 0 < m <= 1:
            return max(1, int(m * p))
        raise DataError(
            f'max_features is a number of columns, a share of them in (0, 1], "sqrt", "log2" or None; got {m!r}.'
        )

    def _out_of_bag(
        self, rows: CostRows, decisions: Any, codes: np.ndarray, trees: Any
    ) -> tuple[np.ndarray, float]:
        """Mean cost vectors of the trees that left a row out, and minus the regret of their
        decisions.
        """
        left_out = np.array([drawn == 0 for _, drawn in trees])
        seen = left_out.any(axis=0)
        if not seen.any():
            raise DataError(
                "Every tree has seen every row, so none is out of bag; grow more trees, or give oob_score=False."
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

    # -- what can be asked of a fitted forest ------------------------------------------------------------------

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
        """Mean cost vector of the trees, shape (n, d), or (n,) after a `y` of shape (n,)."""
        return self._shaped(self._mean(self._codes(X)))

    def decide(self, X: Any) -> np.ndarray:
        """Decision for every row, shape (n, d)."""
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
        """Decisions from mean cost vectors, or by the votes of the trees that are asked (bool array
        of shape (trees, rows)).
        """
        from milp_trees.engines.decision_trees.forest import most_frequent

        if self.aggregate == "votes":
            return most_frequent(trees, decisions, codes, asked)
        answer: np.ndarray = decisions.solve(mean).decisions
        return answer

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Training rows of positive weight that every tree was grown on, in order, repeats
        included.
        """
        from milp_trees.engines.decision_trees.forest import drawn_rows

        check_is_fitted(self)
        draws = (
            drawn_rows(self._n_rows, bool(self.bootstrap), np.random.default_rng(int(seed)))
            for seed in self._seeds
        )
        return [np.repeat(np.arange(len(drawn)), drawn) for drawn in draws]

    def apply(self, X: Any) -> np.ndarray:
        """Leaf of every row in every tree, shape (n, number of trees)."""
        codes = self._codes(X)
        return np.column_stack([tree.apply(codes) for tree in self.estimators_])

    def get_depth(self) -> int:
        """Levels of splits of the deepest tree."""
        check_is_fitted(self)
        return max(tree.depth for tree in self.estimators_)

    def get_n_leaves(self) -> int:
        """Leaves of all trees together."""
        check_is_fitted(self)
        return sum(len(tree.costs) for tree in self.estimators_)

    def to_sklearn(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Any:
        """Not for forests.

        Raises
        ------
        Unsupported
        """
        raise Unsupported(
            "A forest for decisions has no counterpart in scikit-learn; its trees are in estimators_."
        )
