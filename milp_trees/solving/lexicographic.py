"""Goals in order: the best tree for the first, among these the best for the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.methods.transformation import Step, Steps, Transformation
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result
from milp_trees.solving.solve import answer
from milp_trees.tasks.task_value import TaskValue

#: The goal that is no task.
FEWEST_LEAVES = "fewest-leaves"


def lexicographic(
    problem: Problem,
    *then: Any,
    method: str | Method | None = None,
    limits: Limits | None = None,
    reference: str | None = None,
) -> list[Result]:
    """Solve for several goals in order; each keeps the optimum of those before it as a side row.

    Parameters
    ----------
    problem : Problem
        Its task is the first goal: a sum of exact costs of actions, without penalties.
    then : tasks, or "fewest-leaves"
        The further goals.
    method : str or Method, optional
        The method for all of them; by default the first that takes each problem.
    limits : Limits, optional
        For each goal.
    reference : str, optional
        As for `milp_trees.solve`.

    Returns
    -------
    list of Result
        One per goal; it ends with the first goal whose optimum was not proven.

    Raises
    ------
    DataError
        A goal is no task of that kind.
    """
    goals = GoalsInOrder(problem, then)
    found: list[Result] = goals.solve(
        lambda step: answer(step.problem, method, limits or Limits(), reference=reference)
    )
    return found


class GoalsInOrder(Transformation):
    """The problems of all goals; each but the first is made from the result of the one before.

    It ends with the first goal whose optimum was not proven.
    """

    title = "goals in order"

    def __init__(self, problem: Problem, then: Sequence[Any]) -> None:
        self.problem, self.goals = problem, [problem.task, *then]
        self.results: list[Result] = []
        for at, goal in enumerate(self.goals):
            if isinstance(goal, str) and goal != FEWEST_LEAVES:
                raise DataError(f"A goal is a task, or {FEWEST_LEAVES!r}; got {goal!r}.")
            if at > 0 and getattr(goal, "constraints", None):
                raise DataError(
                    "Further goals have no constraints of their own; give them to the first."
                )
            if at + 1 < len(self.goals):
                if goal == FEWEST_LEAVES:
                    raise DataError(f"{FEWEST_LEAVES!r} can only be the last goal.")
                TaskValue(goal)  # says so if an optimum of this goal cannot be kept

    def apply(self) -> Steps:
        kept = tuple(getattr(self.problem.task, "constraints", ()))
        for at, goal in enumerate(self.goals):
            # Among the optima of the first goals their costs are constant, and leaves decide.
            fewest = goal == FEWEST_LEAVES
            task: Any = replace(self.goals[0], leaf_penalty=1) if fewest else goal
            result = yield Step(replace(self.problem, task=replace(task, constraints=kept)))
            self.results.append(result)
            if not result.optimal:
                return
            if at + 1 < len(self.goals):
                plain = replace(task, constraints=())
                kept = (*kept, TaskValue(plain, _total(plain, result)))

    def invert(self) -> list[Result]:
        return self.results


def _total(task: Any, result: Result) -> Any:
    """What a task's costs add up to for the tree of a result, exactly."""
    data = result.problem.dataset
    whole, scale, _ = exact.integers(task.costs(data), rows=data.total_rows)
    action = result.predictor.routes(data).action
    return scale * int((whole[np.arange(len(action)), action] * data.row_counts).sum())
