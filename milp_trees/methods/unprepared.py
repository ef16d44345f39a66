"""The answer of a run that is stopped from outside, before the method can answer itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from milp_trees.common.errors import worded
from milp_trees.common.limits import Deadline, Limit, Stopped
from milp_trees.methods.deadline import within
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.front import finish_front
from milp_trees.methods.simplest import incumbent_or_trivial, known_incumbent
from milp_trees.methods.start import refusal
from milp_trees.methods.threshold_sources import grown_over_all
from milp_trees.methods.thresholds import best_of
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best, Front
from milp_trees.results.result import Result

#: How a run ends that is stopped from outside.
ENDED = {
    Limit.TIME: "The time limit (raise --time-limit) ended",
    Limit.MEMORY: "The memory limit (raise --memory-limit) ended",
    Limit.INTERRUPTED: "The run was interrupted",
    Limit.CALLBACK: "The progress function stopped the run",
    Limit.NODES: "The node limit ended",
}


#: Seconds after a time limit that a greedy model may take where there is none.
GROWING = 1.0


def unprepared(name: str, problem: Problem, start: Any, clock: Clock, limit: Limit) -> Result:
    """The answer of a run that was stopped from outside."""
    refused = refusal(problem, start)
    known = None if refused else start
    sentence: dict[str, Any] = {}
    if refused:
        sentence = {"accepted": False, "reason": refused}
    elif start is not None:
        sentence = {"accepted": None, "value": problem.value(start).number}
    watch = problem.watch
    message = f"{worded(ENDED[limit])} while the data were being prepared, or the answer read."
    if problem.question.name == Front.name:
        tree = _without_search(problem, limit) if known is None else known
        return finish_front(
            problem,
            name,
            [] if tree is None else [tree],
            complete=False,
            proved_by=None,
            clock=clock,
            limit=limit,
            start=sentence,
            message=message,
        )
    return finish(
        problem,
        name,
        _without_search(problem, limit) if known is None else known,
        bound=None,
        claims_optimal=False,
        proved_by=None,
        clock=clock,
        limit=limit,
        start=sentence,
        message=message,
        watch=watch if watch is not None and watch.fallback is not None else None,
    )


def _without_search(problem: Problem, limit: Limit) -> Any:
    """The best predictor that was met or needs no search; after a time limit also a greedy one.

    Where the watch of the run has a greedy one already, that is no worse than the simplest.
    """
    if problem.watch is not None and problem.watch.fallback is not None:
        return problem.watch.better(known_incumbent(problem))
    known = incumbent_or_trivial(problem)
    if limit is not Limit.TIME or not isinstance(problem.question, Best):
        return known
    found = [] if known is None else [known]
    with suppress(Stopped):
        within(GROWING, lambda: _grow(problem, found))
    best = best_of(found, problem)
    return known if best is None else best[1]


def _grow(problem: Problem, found: list[Any]) -> None:
    """Add greedy models, which do not grow in the second half of their time."""
    for one in grown_over_all(problem, Deadline.after(GROWING / 2)):
        found.append(one.tree)
