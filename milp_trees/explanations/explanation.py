"""`Explanation`: why a problem has no answer, what would help, and the nearest model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Limits
from milp_trees.explanations.conflict import Conflict, smallest_conflict
from milp_trees.explanations.demands import Demand, Demands
from milp_trees.explanations.feasible import Feasibility
from milp_trees.methods.finish import Clock
from milp_trees.problems.questions import Best
from milp_trees.results.result import Result, Status
from milp_trees.solving.solve import answer

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a problem has no answer.

    Parameters
    ----------
    result : Result
        The answer of the problem as it was stated.
    demands : tuple of Demand
        All constraints that the user stated.
    found : Conflict or None
        The smallest conflict; None if the problem has an answer, or if none was found.
    seconds : float
        Time of everything, without the first answer.
    """

    result: Result
    demands: tuple[Demand, ...]
    found: Conflict | None
    seconds: float

    @property
    def conflict(self) -> tuple[Demand, ...]:
        """The demands that conflict; none if the problem has an answer."""
        return () if self.found is None else tuple(self.demands[i] for i in self.found.members)


def explain(problem: Problem, limits: Limits, result: Result | None = None) -> Explanation:
    """Explain why a problem has no answer; `result` is its answer, if it is known."""
    if result is None:
        result = answer(replace(problem, question=Best()), None, limits)
    demands = Demands(result.problem)
    clock = Clock()
    found = None
    if result.status is Status.INFEASIBLE:
        ask = Feasibility(demands, limits.after(result.seconds))
        ask.rule_out(range(len(demands)), {}, result.certificate.proved_by or result.method)
        ask.learn(demands.problem.space.simplest(_actions(result.problem)))
        found = smallest_conflict(ask)
    return Explanation(result, demands.all, found, clock.seconds)


def _actions(problem: Any) -> tuple[Any, ...]:
    """The actions of a task that chooses among them."""
    return () if problem.task.predicts_numbers else problem.task.actions(problem.dataset)
