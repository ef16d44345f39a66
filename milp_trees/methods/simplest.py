"""The answer of a run that has found nothing by itself: a predictor that needs no search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.limits import Deadline
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problem import Problem

#: Seconds that trying the simplest predictors may take.
LOOKING = 0.05


def met_or_simplest(problem: Problem) -> Any:
    """The best predictor that was met before a model was complete, or else the simplest one."""
    view = problem._views.get((True, True))
    found = None if view is None else getattr(view.memo.get("met"), "tree", None)
    return _simplest(problem) if found is None or problem.violations(found) else found


def _simplest(problem: Problem) -> Any:
    """The best of the simplest predictors, which need no search; None if none is feasible.

    Only those are looked at for which a moment is enough, those of the cheapest action first.
    """
    until, best = Deadline.after(LOOKING), None
    found = problem.space.simplest(problem.task.actions(problem.dataset))
    view = problem._views.get(CostMatrix)
    if view is not None and len(found) == view.n_actions:  # there is one per action
        found = [found[k] for k in view.costs.sum(axis=0).argsort(kind="stable").tolist()]
    for predictor in found:
        if not problem.violations(predictor):
            value = problem.value(predictor)
            if best is None or value.better_than(best[0]):
                best = value, predictor
        if until.passed:
            break
    return None if best is None else best[1]
