"""`cart`: a greedy tree, grown by impurity and pruned by exact cost; it is never a proof.

Growing follows Breiman, Friedman, Olshen, Stone (1984) with the Gini impurity of the rows' best
actions, each row weighted by what a wrong action costs it on average; for misclassified weight this
is the usual weighted Gini. Splits on the last level are chosen by cost itself. Where leaves cost a
function of sums, such as squared error, every split is chosen by what its two leaves cost. Of all
prunings of the grown tree within the limit on leaves, the cheapest is returned, penalties included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import infeasible
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.greedy_tree import greedy_tree, reduced_view
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


@register
class Cart(Method):
    """Greedy heuristic."""

    name = "cart"
    title: ClassVar[str] = "Greedy tree by impurity, pruned by exact cost (heuristic)"
    needs: ClassVar[tuple[type, ...]] = (CostMatrix, LeafSums)
    exact = False
    takes_min_weight = True
    takes_min_treatment = True

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = reduced_view(problem)
            deadline = Watch(limits, clock.begin).deadline
        with clock("solve"):
            tree = greedy_tree(view, problem.trees, deadline)
            limit = deadline.limit
            if start is not None and (tree is None or view.objective(start) < view.objective(tree)):
                tree = view.canonical(start)
        # The only thing that this heuristic can prove is that even one leaf has too few rows.
        if tree is None:
            return infeasible(self.name, problem, clock)
        return finish(
            problem,
            self.name,
            tree,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=clock,
            limit=limit,
        )
