"""The best trees of every size by one run per size, and the best tree for a penalty per leaf."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.common.exact import fraction
from milp_trees.common.limits import Limit
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.transformation import Step, Steps, Transformation
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best
from milp_trees.results.result import Result, bound_of
from milp_trees.results.size_path import Point, SizePath
from milp_trees.tasks.comparing import exact_value


class BySize(Transformation):
    """The path of the best trees of every size, by one run per size.

    Parameters
    ----------
    problem : Problem
    max_leaves : int
        Largest number of leaves.
    method : str
        Name of the method, for the path.
    """

    title = "size by size"

    def __init__(self, problem: Problem, max_leaves: int, method: str) -> None:
        self.problem, self.max_leaves, self.method = problem, max_leaves, method
        self.points: list[Point] = []
        self.seconds: float = 0.0
        self.limit: Limit | None = None
        #: What the method keeps between the sizes, such as a model that stays built.
        self.kept: dict[str, Any] = {}

    def apply(self) -> Steps:
        """The problem of every size; it starts from the tree of the size before.

        Raises
        ------
        SolverFailure
            A run ended with an error, or the method cannot take the problem.
        """
        for k in range(1, self.max_leaves + 1):
            start = self.points[-1].predictor if self.points else None
            space = self.problem.space.with_leaves(k)
            problem = replace(self.problem, space=space)
            problem.keep_in(self.kept)
            result: Result = yield Step(problem, start)
            if result.status.value in ("error", "unsupported"):
                raise SolverFailure(f"{self.method} failed at {k} leaves: {result.message}")
            self.seconds, self.limit = self.seconds + result.seconds, result.limit or self.limit
            if result.predictor is not None:
                bound = bound_of(result)
                self.points.append(Point.of(self.problem, k, result.predictor, bound))
            if result.limit is not None and result.limit.by_user:
                break

    def invert(self) -> SizePath:
        return SizePath(self.problem, tuple(self.points), self.method, self.limit, self.seconds)


def result_at(path: SizePath, penalty: Any) -> Result:
    """The tree that is best for a penalty per leaf, as the result of the problem with that penalty.

    It is the best among the sizes of the path.
    """
    each = fraction(penalty, "penalty")
    task: Any = path.problem.task
    if not hasattr(task, "leaf_penalty"):
        raise DataError(
            f"The task {task.name} has no penalty per leaf; take at_penalty, or the task's own "
            "penalty."
        )
    point = path.at_penalty(each)
    space = path.problem.space.with_leaves(max(p.leaves for p in path.points))
    penalised = replace(task, leaf_penalty=task.leaf_penalty + each)
    problem = Problem(path.problem.dataset, penalised, space, Best())
    result = finish(
        problem,
        path.method,
        point.predictor,
        bound=exact_value(problem.value(point.predictor)) if path.proven else None,
        claims_optimal=path.proven,
        proved_by=path.method,
        clock=Clock(),
        limit=path.limit,
    )
    return replace(result, seconds=path.seconds)
