"""Results for the question `front`: every model is recomputed, and superfluous ones are dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.methods.finish import Clock, finish
from milp_trees.problems.problem import Problem
from milp_trees.results.front import place
from milp_trees.results.result import Limit, Result, Solution, Status
from milp_trees.tasks.base import Task

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree


def finish_front(
    problem: Problem,
    method: str,
    predictors: Iterable[Tree],
    *,
    complete: bool,
    proved_by: str | None,
    clock: Clock,
    bound: Fraction | float | None = None,
    limit: Limit | None = None,
    infeasible: bool = False,
    **more: Any,
) -> Result:
    """Make the Result of a front from its predictors.

    Values and coordinates are recomputed from each predictor. Of predictors with equal coordinates
    the first is kept; those that another one dominates are dropped.
    """
    front = nondominated(problem, [_recomputed(problem, p) for p in predictors])
    front.sort(key=lambda s: (place((s.value,)), place(s.coordinates)))
    most = problem.question.most
    kept, whole = tuple(front[:most]), complete and (most is None or len(front) <= most)
    result = finish(
        problem,
        method,
        kept[0].predictor if kept else None,
        bound=bound,
        claims_optimal=whole,
        proved_by=proved_by,
        clock=clock,
        limit=limit,
        infeasible=infeasible,
        **more,
    )
    for solution in kept:
        wrong = problem.violations(solution.predictor)
        if wrong:
            message = f"{method} returned an infeasible tree: {' '.join(wrong)}"
            return replace(result, status=Status.ERROR, message=message, complete=False)
    certificate = result.certificate
    if kept:
        checked = (*certificate.checked, "coordinates recomputed from every tree")
        certificate = replace(certificate, checked=checked)
    if whole and result.status is not Status.ERROR:
        certificate = replace(certificate, proved_by=proved_by)
    return replace(result, solutions=kept, complete=whole, certificate=certificate)


def _recomputed(problem: Problem, predictor: Tree) -> Solution:
    routes = predictor.routes(problem.dataset)
    value = problem.task.value(routes, problem.dataset)
    return Solution(predictor, value, problem.coordinates(predictor, routes))


def nondominated(problem: Problem, solutions: Iterable[Solution]) -> list[Solution]:
    """The solutions that no other one dominates, the first of those with equal coordinates."""
    different: dict[tuple[Fraction, ...], Solution] = {}
    for solution in solutions:
        different.setdefault(place(solution.coordinates), solution)
    found = [different[key] for key in sorted(different)]
    own = type(problem.task).dominates
    if getattr(problem.question, "against", None) is not None or own is Task.dominates:
        return [found[i] for i in _smallest(sorted(different))]
    return [
        s
        for s in found
        if not any(problem.task.dominates(o.coordinates, s.coordinates) for o in found)
    ]


def _smallest(points: list[tuple[Fraction, ...]]) -> list[int]:
    """Positions of the points that no other one is below.

    The points are different and sorted.
    """
    ranks = []  # exact numbers are compared once, and then as small integers
    for column in zip(*points, strict=True):
        order = {number: rank for rank, number in enumerate(sorted(set(column)))}
        ranks.append([order[number] for number in column])
    rows = np.array(ranks, dtype=np.int64).T
    if len(ranks) == 2:
        least = np.minimum.accumulate(rows[:, 1])
        return [i for i in range(len(rows)) if not i or rows[i, 1] < least[i - 1]]
    return [i for i in range(len(rows)) if (rows[: i + 1] <= rows[i]).all(axis=1).sum() == 1]
