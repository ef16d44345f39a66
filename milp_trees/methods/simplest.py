"""The answer of a run that has found nothing by itself: a predictor that needs no search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.limits import Deadline

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

    Only those are looked at for which a moment is enough.
    """
    until, best = Deadline.after(LOOKING), None
    for predictor in problem.space.simplest(problem.task.actions(problem.dataset)):
        if not problem.violations(predictor):
            value = problem.value(predictor)
            if best is None or value.better_than(best[0]):
                best = value, predictor
        if until.passed:
            break
    return None if best is None else best[1]
