"""How `SPOTree` finds its tree: grown node by node, or by a method of the registry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import Infeasible
from milp_trees.decisions.estimators._spo import GREEDY, CostRows, DecisionEstimator
from milp_trees.decisions.tasks.decision import Decision
from milp_trees.estimators._importance import drops_of_sums
from milp_trees.estimators._trees import OptimalTree
from milp_trees.methods.finish import Clock, finish
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.decisions.engines.greedy_spo.fitting import CostSample
    from milp_trees.decisions.engines.greedy_spo.prune import PruningPath
    from milp_trees.methods.growing.tree import GrownTree
    from milp_trees.results.result import Result

#: Why a tree whose thresholds are chosen node by node may be improved; part of the result.
SCOPE = "thresholds were chosen node by node, so another threshold may give a better tree"


class DecisionTreeSearch(DecisionEstimator, OptimalTree):
    """Base of `SPOTree`, whose constructor sets the parameters."""

    method: str
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: int
    min_weight_leaf: Any
    binarizer: str
    n_bins: int
    slack: Any
    _path: PruningPath

    @property
    def _space(self) -> Trees:
        return Trees(
            self.max_depth,
            self.max_leaf_nodes,
            self.min_samples_leaf,
            min_weight_leaf=self.min_weight_leaf,
        )

    def _grown(
        self, label: str, rows: CostRows, held: CostRows | None, decisions: DecisionSet
    ) -> Result:
        """Grow a tree whose thresholds are chosen node by node.

        The problem of the result contains only the tests that the tree uses.

        Parameters
        ----------
        label : str
            One of `GREEDY`.
        rows : CostRows
            Training rows.
        held : CostRows or None
            Validation rows.
        decisions : DecisionSet

        Raises
        ------
        Infeasible
            There are too few rows for one leaf.
        """
        from milp_trees.decisions.engines.greedy_spo.coder import Coder, dataset_of
        from milp_trees.decisions.engines.greedy_spo.fitting import CostSample
        from milp_trees.decisions.engines.greedy_spo.grow import compile_kernels
        from milp_trees.methods.growing.prunings import cheapest

        compile_kernels()
        clock, space = Clock(), self._space
        coder = Coder(
            rows.table,
            "midpoints" if self.binarizer == "midpoints" else "values",
            orders=self._orders,
        )
        columns = coder.columns(rows.table)
        by = GREEDY[label]
        with clock("solve"):
            sample = CostSample(rows.costs, rows.weights, decisions)
            if not sample.enough(space):
                raise Infeasible(
                    f"{rows.n} rows of weight {rows.weights.sum():g} are too few for one leaf; lower min_samples_leaf or min_weight_leaf."
                )
            tree = sample.grow(
                columns, space, by=by, quantiles=self.n_bins if self.binarizer == "quantiles" else 0
            )
            if held is not None:
                tree = self._pruned(
                    tree, sample, coder.codes(held.table), held, squared=by == "squared-error"
                )
            most = space.max_leaf_nodes
            # Splits that save nothing are removed, except in a regression tree, where they still
            # improve the predicted costs.
            if (by != "squared-error" and held is None) or len(tree.leaves) > (
                most or tree.n_nodes
            ):
                valued = sample.valued(tree)
                tree = valued.cut_back(cheapest(valued, 0.0, np.zeros(len(columns.tests)), most))
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
        return finish(
            problem, label, found, bound=None, claims_optimal=False, proved_by=None, clock=clock
        )

    def _solved(self, rows: CostRows, held: CostRows | None, decisions: DecisionSet) -> Result:
        """Choose thresholds once, solve the problem, and prune if there are validation rows."""
        from milp_trees.decisions.engines.greedy_spo.coder import Coder, dataset_of
        from milp_trees.decisions.engines.greedy_spo.fitting import CostSample
        from milp_trees.decisions.engines.greedy_spo.grow import grown_from

        coder = Coder(rows.table, self.binarizer, self.n_bins, self._orders)
        columns = coder.columns(rows.table)
        dataset = dataset_of(
            columns, table=rows.table, **self._fields(rows, decisions, coder.threshold_note)
        )
        problem = Problem(dataset, Decision(decisions=decisions), self._space)
        # A solver starts from the tree of the first greedy method.
        start = next(iter(GREEDY)) if "@" in self.method else None
        result = self._run(problem, self.method, start)
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
        return result

    def _fields(self, rows: CostRows, decisions: DecisionSet, note: str) -> dict[str, Any]:
        """Arguments of the Dataset of the training rows, without its tests."""
        return {
            "values": rows.costs,
            "actions": decisions.components,
            "weights": rows.weights,
            "source": {"threshold_note": note} if note else {},
        }

    def _pruned(
        self, tree: GrownTree, sample: CostSample, codes: np.ndarray, held: CostRows, squared: bool
    ) -> GrownTree:
        """Prune the tree by its loss on the validation rows, and store the pruning path.

        Parameters
        ----------
        tree : GrownTree
        sample : CostSample
            Training rows.
        codes : int array of shape (columns, v)
            Coded columns of the validation rows.
        held : CostRows
            Validation rows.
        squared : bool
            Whether the loss is the squared error of the costs instead of the SPO loss.
        """
        from milp_trees.decisions.engines.greedy_spo.prune import prune, reference

        tree, loss = sample.compared_with(tree, held.costs, squared)
        compared = reference(tree, tree.apply(codes), held.weights, loss)
        pruned, self._path = prune(tree, float(sample.weights.sum()), compared, self.slack)
        return pruned

    def _drops_of_splits(self) -> np.ndarray:
        rows = self.result_.problem.dataset
        sums = np.zeros((self.tree_.n_leaves, self.n_outputs_))
        paid = rows.require("values", "The importance") * rows.row_weights[:, None]
        np.add.at(sums, self.tree_.routes(rows).leaf, paid)
        return drops_of_sums(self.tree_, sums, self._least)
