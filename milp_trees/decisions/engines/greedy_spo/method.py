"""`greedy-spo`: a greedy tree for decisions; it gives an incumbent and no proof.

`greedy-spo` (Elmachtoub, Liang, McNellis 2020, *Decision trees for decision-making under the
predict-then-optimize framework*, section 4.1) takes at every node the test whose two sides, each
with its best decision, lose least. Of equal splits the first test of the dataset is taken. It
returns the cheapest pruning of the grown tree, penalties included; of equal ones the smallest.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import UnknownName
from milp_trees.common.limits import Deadline, Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import infeasible
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.decision_view import LeafOracle

if TYPE_CHECKING:
    from milp_trees.decisions.engines.greedy_spo.criteria import Criterion
    from milp_trees.problems.problem import Problem


class GreedyDecisions(Method):
    """The part that `greedy-spo` and `cart-spo` share: grow, prune, and decide in every leaf."""

    needs = LeafOracle
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba", "highspy", "networkx")
    exact = False
    takes_any_depth = True
    takes_min_weight = True

    def warm_up(self) -> None:
        from milp_trees.decisions.engines.greedy_spo.grow import compile_kernels

        compile_kernels()

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.view(LeafOracle)
            vertices = listed(problem)
            row_weight, unit, _ = exact.integers(view.row_weight)
            least = math.ceil(problem.trees.min_weight_leaf / unit)
        # The only thing that this heuristic can prove is that even one leaf has too few rows.
        if view.n_rows < problem.trees.min_samples_leaf or int(row_weight.sum()) < least:
            return infeasible(self.name, problem, clock)
        with clock("solve"):
            deadline = Watch(limits, clock.begin).deadline
            tree = self.tree(problem, view, vertices, row_weight, least, deadline)
            limit = deadline.limit
            if start is not None and view.loss(start) < view.loss(tree):
                tree = start
        return finish(
            problem,
            self.label,
            tree,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=clock,
            limit=limit,
        )

    def tree(
        self,
        problem: Problem,
        view: LeafOracle,
        vertices: np.ndarray | None,
        row_weight: np.ndarray,
        least: int,
        deadline: Deadline,
    ) -> Tree:
        """Grow until the deadline, prune, and give every leaf its best decision."""
        from milp_trees.decisions.engines.greedy_spo.columns import columns_of
        from milp_trees.decisions.engines.greedy_spo.criteria import decision_loss
        from milp_trees.decisions.engines.greedy_spo.grow import Rules, Sample, grow
        from milp_trees.methods.growing.prunings import cheapest

        space = problem.trees
        columns = columns_of(view)
        price = np.array([view.split_costs[view.index[tests[0]]] for tests in columns.tests])
        rules = Rules(
            space.max_depth, space.min_samples_leaf, least, price=price, deadline=deadline
        )
        grown = grow(
            columns,
            columns.order(),
            Sample(view.counts, row_weight),
            self.criterion(view, vertices),
            rules,
        )
        leaves = decision_loss(view.vectors, view.base, view.decisions, vertices)
        valued = replace(grown, loss=leaves.decide(grown.rows)[1])
        pruned = valued.cut_back(cheapest(valued, view.leaf_cost, price, space.max_leaf_nodes))
        names = [view.decisions.label(w) for w in leaves.decide(pruned.rows)[0]]
        return columns.tree(pruned, names, problem.task.actions(problem.dataset))

    @abstractmethod
    def criterion(self, view: LeafOracle, vertices: np.ndarray | None) -> Criterion:
        """The criterion by which splits are chosen."""


@register
@dataclass(frozen=True)
class GreedySPO(GreedyDecisions):
    """Greedy by SPO loss.

    Parameters
    ----------
    plateaus : {"first", "squared-error"}
        The test that is used where no split lowers the loss: the first of equal tests (the
        published rule), or the one with the least squared error of the cost vectors, after which
        splits further down can lower the loss.
    """

    is_fallback: ClassVar[bool] = True

    name: ClassVar[str] = "greedy-spo"  # type: ignore[misc]
    title: ClassVar[str] = "Greedy tree by the loss of its decisions (heuristic)"

    plateaus: str = "first"

    def __post_init__(self) -> None:
        if self.plateaus not in ("first", "squared-error"):
            raise UnknownName(
                f"greedy-spo:plateaus is first or squared-error; got {self.plateaus!r}."
            )

    def criterion(self, view: LeafOracle, vertices: np.ndarray | None) -> Criterion:
        from milp_trees.decisions.engines.greedy_spo.criteria import decision_loss
        from milp_trees.decisions.engines.greedy_spo.fitting import chosen

        loss = decision_loss(view.vectors, view.base, view.decisions, vertices)
        return chosen(
            "loss" if self.plateaus == "first" else "smoothed", loss, view.vectors, view.row_weight
        )


def listed(problem: Problem) -> np.ndarray | None:
    """The vertices of S in the order of the task's actions, if the task lists them."""
    labels = problem.task.actions(problem.dataset)
    return problem.view(LeafOracle).decisions.vertices(len(labels)) if labels else None
