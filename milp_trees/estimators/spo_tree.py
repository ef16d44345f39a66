"""scikit-learn's face of trees for decisions: `SPOTree` (Elmachtoub, Liang, McNellis 2020);
`SPOForest` is its neighbour.

`fit(X, y)` takes the cost vectors of the rows, `predict` gives the mean cost vector of a leaf,
`decide` the decision that is best for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from milp_trees.errors import DataError, Infeasible, SolverFailure
from milp_trees.estimators._spo import GREEDY, CostRows, DecisionEstimator
from milp_trees.methods.finish import Clock, finish
from milp_trees.models.tree import RawRows
from milp_trees.problem import Problem
from milp_trees.results.result import Result, Status
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.decision import Decision

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.engines.decision_trees.fitting import CostSample
    from milp_trees.engines.decision_trees.grow import GrownTree

#: What thresholds may lose that were chosen on the way.
SCOPE = "thresholds were chosen node by node, so another threshold may give a better tree"
#: Methods that grow here, by their own names and by those of the engines.
GROWN = {**GREEDY, **{greedily.engine: greedily for greedily in GREEDY.values()}}


class SPOTree(DecisionEstimator):
    """A tree whose leaves take decisions, trained for what the decisions cost.

    Parameters
    ----------
    decisions : DecisionSet, optional
        S, for example `mt.decisions.grid_paths(4, 4)`; by default the unit simplex, "the cheapest of d".
    method : str, default="greedy"
        "greedy": the best split by SPO loss at every node; "smoothed": the same, and where no split
        lowers the loss the one of least squared error of the cost vectors; "cart": by squared
        error; or an exact method of the registry on the same kind of thresholds, chosen once: "dp"
        (S is listed), "dp-oracle" (any S), "spot@highs" (S is linear), ….
    max_depth : int or None, default=3
        None: no limit below 200 levels, at which greedy trees end in any case.
    max_leaf_nodes : int, optional
    min_samples_leaf : int, default=1
    min_weight_leaf : number, default=0
        Smallest total `sample_weight` in a leaf.
    splits : {"quantiles", "midpoints"}, default="quantiles"
        Thresholds of a numeric column: Q-quantiles of the distinct values (of those in the node,
        where the method is greedy; all values if there are fewer), as tests x < s with a value s of
        the column; or all midpoints.
    quantiles : int, default=100
        Q.
    categorical : sequence of column names or indices, optional
        Columns whose numbers are categories; each is split off alone (`color == 3`). Columns of
        text are categories anyway.
    validation_fraction : float, default=0
        Share of the rows that are put aside and choose among the prunings of the tree; `fit(…,
        validation=)` gives such rows instead.
    one_standard_error : bool, default=False
        Whether the smallest pruning within one standard error of the best is taken.
    time_limit : float or None, default=60
        Seconds, for exact methods.
    threads : int, default=1
    random_state : int, RandomState or None
        Draws the validation rows; seed of the solver.
    keep_data : bool, default=False
        Whether a pickle or copy of the fitted estimator holds the training rows; see
        `OptimalTreeClassifier`.

    Attributes
    ----------
    tree_, predictor_ : Tree
        Its actions are labels of decisions (components joined by `+`).
    result_ : Result
        Training loss and what is proven about it; its problem holds the training rows (after a
        pruning, the loss is that of the pruned tree).
    leaf_costs_, leaf_decisions_ : float arrays of shape (leaves, d)
        Mean cost vector and decision of every leaf, from left to right.
    decisions_ : DecisionSet
    pruning_path_ : PruningPath or None
    status_, bound_, gap_
        As for `OptimalTreeClassifier`.
    n_outputs_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> model = SPOTree(max_depth=1).fit([[0.1], [0.2], [0.8]], [[1, 2], [1, 3], [4, 1]])
    >>> model.decide([[0.0], [0.9]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        decisions: Any = None,
        method: str = "greedy",
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: Any = 0,
        splits: str = "quantiles",
        quantiles: int = 100,
        categorical: Any = None,
        validation_fraction: float = 0.0,
        one_standard_error: bool = False,
        time_limit: float | None = 60.0,
        threads: int = 1,
        random_state: Any = None,
        keep_data: bool = False,
    ) -> None:
        self.decisions = decisions
        self.method = method
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.splits = splits
        self.quantiles = quantiles
        self.categorical = categorical
        self.validation_fraction = validation_fraction
        self.one_standard_error = one_standard_error
        self.time_limit = time_limit
        self.threads = threads
        self.random_state = random_state
        self.keep_data = keep_data

    # -- fitting ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, validation: Any = None) -> SPOTree:
        """Find the tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array or DataFrame of shape (n, d), or of shape (n,)
            True cost vector of every row.
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out.
        validation : (X, y) or (X, y, sample_weight), optional
            Rows that choose among the prunings of the tree; leaves keep the decisions of the
            training rows.

        Raises
        ------
        DataError
            Cost vectors and decisions differ in length; a parameter is out of range.
        Infeasible
            Fewer rows, or less weight, than one leaf needs.
        SolverFailure
            The oracle of S failed. The estimator is then not fitted.
        """
        for name in ("tree_", "_path"):  # a fit that fails leaves nothing that could be asked
            self.__dict__.pop(name, None)
        self._check_choices()
        rows = self._rows(X, y, sample_weight)
        decisions = self._decision_set()
        rows, held = self._held_out(rows, validation)
        if self.method in GROWN:
            self._fit_greedy(rows, held, decisions)
        else:
            self._fit_exact(rows, held, decisions)
        return self

    def _held_out(self, rows: CostRows, validation: Any) -> tuple[CostRows, CostRows | None]:
        """Training rows and those that choose the pruning."""
        share = self.validation_fraction
        if not 0 <= share < 1:
            raise DataError(
                f"validation_fraction is a share of the rows, at least 0 and below 1; got {share!r}."
            )
        if validation is not None:
            if not isinstance(validation, (tuple, list)) or len(validation) not in (2, 3):
                raise DataError("validation is (X, y) or (X, y, sample_weight).")
            return rows, self._more_rows(*validation, *([None] if len(validation) == 2 else []))
        n = round(share * rows.n)
        if not n:
            return rows, None
        order = check_random_state(self.random_state).permutation(rows.n)
        if n == rows.n:
            raise DataError(
                f"validation_fraction={share} leaves none of {rows.n} rows to train on; give more rows or a smaller share."
            )
        return rows.take(np.sort(order[n:])), rows.take(np.sort(order[:n]))

    @property
    def _space(self) -> Trees:
        return Trees(
            self.max_depth,
            self.max_leaf_nodes,
            self.min_samples_leaf,
            min_weight_leaf=self.min_weight_leaf,
        )

    def _fit_greedy(self, rows: CostRows, held: CostRows | None, decisions: DecisionSet) -> None:
        """Grow here, with thresholds chosen node by node; the result's problem has the tests that
        the tree uses.
        """
        from milp_trees.engines.decision_trees.coder import Coder, dataset_of
        from milp_trees.engines.decision_trees.fitting import CostSample
        from milp_trees.engines.decision_trees.grow import compile_kernels
        from milp_trees.engines.decision_trees.prune import cheapest

        compile_kernels()
        clock, space = Clock(), self._space
        coder = Coder(rows.table, "midpoints" if self.splits == "midpoints" else "values")
        columns = coder.columns(rows.table)
        name, by = GROWN[self.method]
        with clock("solve"):
            sample = CostSample(rows.costs, rows.weights, decisions)
            if not sample.enough(space):
                raise Infeasible(
                    f"{rows.n} rows of weight {rows.weights.sum():g} are too few for one leaf; lower min_samples_leaf or min_weight_leaf."
                )
            tree = sample.grow(
                columns, space, by=by, quantiles=self.quantiles if self.splits == "quantiles" else 0
            )
            if held is not None:
                tree = self._pruned(
                    tree, sample, coder.codes(held.table), held, squared=by == "squared-error"
                )
            most = space.max_leaf_nodes
            # Splits that save nothing go; a regression tree keeps its own, for its predictions.
            if (by != "squared-error" and held is None) or len(tree.leaves) > (
                most or tree.n_nodes
            ):
                tree = cheapest(sample.valued(tree), 0.0, np.zeros(len(columns.tests)), most)
        places = {
            (int(c), int(k)): columns.tests[c][k]
            for c, k in zip(tree.column, tree.cut, strict=True)
            if c >= 0
        }
        dataset = dataset_of(
            columns,
            {test: place for place, test in places.items()},
            rows.table,
            **self._fields(rows, decisions, SCOPE),
        )
        problem = Problem(dataset, Decision(decisions=decisions), space)
        found = sample.to_tree(tree, columns, problem.task.actions(dataset))
        self._settle(
            finish(
                problem, name, found, bound=None, claims_optimal=False, proved_by=None, clock=clock
            ),
            rows,
            decisions,
        )

    def _fit_exact(self, rows: CostRows, held: CostRows | None, decisions: DecisionSet) -> None:
        """Thresholds chosen once, a problem, a method; then the pruning, if there are rows for it."""
        from milp_trees.engines.decision_trees.coder import Coder, dataset_of
        from milp_trees.engines.decision_trees.fitting import CostSample
        from milp_trees.engines.decision_trees.grow import grown_from

        coder = Coder(rows.table, self.splits, self.quantiles)
        columns = coder.columns(rows.table)
        dataset = dataset_of(columns, table=rows.table, **self._fields(rows, decisions, coder.loss))
        problem = Problem(dataset, Decision(decisions=decisions), self._space)
        result = self._run(
            problem, self.method, GREEDY["greedy"].engine if "@" in self.method else None
        )
        if held is not None:
            clock, sample = Clock(), CostSample(rows.costs, rows.weights, decisions)
            tree = self._pruned(
                grown_from(result.tree, columns),
                sample,
                coder.codes(held.table),
                held,
                squared=False,
            )
            if len(tree.leaves) < result.tree.n_leaves:
                found = sample.to_tree(tree, columns, problem.task.actions(dataset))
                proof = result.certificate
                bound = proof.bound if proof.bound_exact is None else proof.bound_exact
                pruned = finish(
                    problem,
                    result.method,
                    found,
                    bound=bound,
                    claims_optimal=False,
                    proved_by=proof.proved_by,
                    clock=clock,
                    limit=result.limit,
                )
                result = replace(
                    pruned, seconds=result.seconds + pruned.seconds, times=result.times
                )
        self._settle(result, rows, decisions)

    def _fields(self, rows: CostRows, decisions: DecisionSet, loss: str) -> dict[str, Any]:
        """What a Dataset of the training rows is made of, beside its tests."""
        return {
            "values": rows.costs,
            "actions": decisions.components,
            "weights": rows.weights,
            "source": {"loss": loss} if loss else {},
        }

    def _pruned(
        self, tree: GrownTree, sample: CostSample, codes: np.ndarray, held: CostRows, squared: bool
    ) -> GrownTree:
        """The pruning that validation rows choose, by the loss the tree was grown by; its path is
        kept.
        """
        from milp_trees.engines.decision_trees.prune import judge, prune

        tree, loss = sample.judged_by(tree, held.costs, squared)
        judged = judge(tree, tree.apply(codes), held.weights, loss)
        pruned, self._path = prune(
            tree, float(sample.weights.sum()), judged, self.one_standard_error
        )
        return pruned

    def _settle(self, result: Result, rows: CostRows, decisions: DecisionSet) -> None:
        """Everything that a fitted estimator has; nothing before this could be asked for."""
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

    # -- what can be asked of a fitted tree --------------------------------------------------------------------

    def apply(self, X: Any) -> np.ndarray:
        """Leaf that each row reaches, numbered from left to right."""
        check_is_fitted(self)
        leaves: np.ndarray = self.tree_.routes(
            RawRows(self.tree_, self._table(self._columns(X)))
        ).leaf
        return leaves

    def predict(self, X: Any) -> np.ndarray:
        """Mean training cost vector of every row's leaf, shape (n, d), or (n,) after a `y` of shape
        (n,).
        """
        leaf = self.apply(X)
        return self._shaped(self.leaf_costs_[leaf])

    def decide(self, X: Any) -> np.ndarray:
        """Decision for every row, shape (n, d)."""
        leaf = self.apply(X)
        decisions: np.ndarray = self.leaf_decisions_[leaf]
        return decisions

    def to_text(self) -> str:
        """The tree as indented text, with the labels of decisions in the leaves."""
        check_is_fitted(self)
        text: str = self.tree_.to_text()
        return text

    def to_svg(self) -> str:
        """The tree as an SVG picture, with the training rows counted in its leaves."""
        check_is_fitted(self)
        picture: str = self.tree_.picture(self.result_.problem.dataset)
        return picture
