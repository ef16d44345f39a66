"""`greedy-oblique`: a greedy oblique tree; it is never a proof.

Each split is the one that lowers the cost of its node most along the columns and a few directions
between rows; see `milp_trees.oblique.greedy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.oblique.greedy import greedy_tree
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.oblique.view import oblique_view
from milp_trees.results.result import Result

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


@register
class GreedyOblique(Method):
    """Greedy heuristic."""

    name = "greedy-oblique"
    title: ClassVar[str] = "Greedy oblique tree, one split after the other (heuristic)"
    space = ObliqueTrees
    exact = False

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view, deadline = oblique_view(problem), Watch(limits, clock.begin).deadline
        with clock("solve"):
            found = greedy_tree(view, problem.space_as(ObliqueTrees), deadline)
            if problem.violations(found):
                found = None  # type: ignore[assignment]
        return finish(
            problem,
            self.name,
            start if found is None else found,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=clock,
            limit=deadline.limit,
            infeasible=int(view.counts.sum()) < problem.space_as(ObliqueTrees).min_samples_leaf,
        )
