"""The answer of a run that has found nothing by itself: a predictor that needs no search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Deadline
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Seconds that trying the simplest predictors may take, and how many are tried in any case where
#: their order is not known.
LOOKING, LEAST = 0.05, 2


def incumbent_or_trivial(problem: Problem) -> Any:
    """The best predictor that was met before a model was complete, or else the simplest one."""
    found = known_incumbent(problem)
    return _simplest(problem) if found is None else found


def known_incumbent(problem: Problem) -> Any:
    """The best predictor that was met before a model was complete; None without a feasible one."""
    view = problem._views.get((True, True))
    found = None if view is None else getattr(getattr(view, "incumbent", None), "tree", None)
    return None if found is None or problem.violations(found) else found


def _simplest(problem: Problem) -> Any:
    """The best of the simplest predictors, which need no search; None if none is feasible.

    Those of the cheapest actions are looked at first, as far as a moment is enough: at least
    `LEAST`, and until one is feasible.
    """
    until, best = Deadline.after(LOOKING), None
    actions = problem.task.actions(problem.dataset)
    if not actions and isinstance(problem.space, Trees) and problem.task.offers(LeafSums):
        sums = problem.first_view((LeafSums,))
        trees = map(sums.decided, problem.space.simplest(("",)))
        return next((tree for tree in trees if not problem.violations(tree)), None)
    found = problem.space.simplest(actions)
    costs = _costs_alone(problem) if len(found) > 1 else None
    if costs is not None and len(found) == len(costs):  # there is one per action
        found = [found[k] for k in costs.argsort(kind="stable").tolist()]
    for tried, predictor in enumerate(found, start=1):
        if not problem.violations(predictor):
            value = problem.value(predictor)
            if best is None or value.better_than(best[0]):
                best = value, predictor
        if best is not None and until.passed and (costs is not None or tried >= LEAST):
            break
    return None if best is None else best[1]


def _costs_alone(problem: Problem) -> Any:
    """What every action costs if all rows get it; None if the task does not know."""
    view = problem._views.get(CostMatrix)
    return problem.task.costs_alone(problem.dataset) if view is None else view.costs.sum(axis=0)
