"""`greedy`: a greedy rule list; it is never a proof.

Each rule is the one that lowers the objective most, prices included, when it is added at the end of
the list with its cheapest action, and the default rule has its cheapest action too. It stops when
no rule lowers the objective, or at the limit on the length. With `improve=on` the list is then
improved: as long as that lowers the objective, a rule is removed, or put at any place, or both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.lists.greedy import greedy_list
from milp_trees.lists.space import RuleLists
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Result

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


@register
@dataclass
class GreedyLists(Method):
    """Greedy heuristic.

    Parameters
    ----------
    improve : bool, default=False
        Whether the list is improved by changes of one rule.
    """

    improve: bool = False

    name = "greedy"
    title: ClassVar[str] = "Greedy rule list, one rule after the other (heuristic)"
    space = RuleLists
    exact = False

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.presolved_view()
            deadline = Watch(limits, clock.begin).deadline
        with clock("solve"):
            found = greedy_list(view, problem.space_as(RuleLists), deadline, self.improve)
            limit = deadline.limit
            if start is not None and view.objective(start) < view.objective(found):
                found = view.canonical(start)
        return finish(
            problem,
            self.name,
            found,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=clock,
            limit=limit,
        )
