"""How long a run will probably take, and on what this guess rests.

For a formulation it is the time class of its size (`milp_trees.solving.estimate`), for an engine
only a guess. The time limit bounds every run, so sums are stated beside the sum of the limits.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, NamedTuple

from milp_trees.common.limits import Limits, Stopped
from milp_trees.methods.deadline import within
from milp_trees.problems.problem import Problem
from milp_trees.solving.estimate import CLASSES, estimated
from milp_trees.studies.planning.methods import Chosen

#: Seconds that stand for each time class; the last one stands for the time limit.
SECONDS = {CLASSES[0]: 0.5, CLASSES[1]: 5.0, CLASSES[2]: 60.0, CLASSES[3]: float("inf")}
#: Seconds that stand for an exact engine and for a heuristic, whose times nothing predicts.
ENGINE, HEURISTIC = 1.0, 0.1
#: Seconds that stand for a run without a time limit whose model may never be solved.
ENDLESS = 3600.0
#: Seconds in which the size of a model must be found.
COUNTING = 2.0


class Estimate(NamedTuple):
    """Seconds of a run without its limit, and on what they rest."""

    seconds: float
    basis: str

    def under(self, limits: Limits) -> float:
        """The seconds with the limit."""
        return min(self.seconds, ENDLESS if limits.time is None else limits.time)


def estimate(chosen: Chosen, problem: Problem) -> Estimate:
    """The estimate for a method on a problem."""
    method: Any = chosen.method
    if not chosen.takes_start:
        reason = method.unsupported(problem)
        if reason:
            return Estimate(0.0, f"unsupported: {reason}")
        if method.exact:
            return Estimate(ENGINE, "a guess for an engine; the time limit bounds it")
        return Estimate(HEURISTIC, "a guess for a heuristic")
    _load()
    method.formulation.warm_up(problem.space)
    try:
        row = within(COUNTING, lambda: estimated(method.formulation, problem))
    except Stopped:
        return Estimate(float("inf"), "its size takes long to count; the time limit is taken")
    if row["time_class"] is None:
        return Estimate(0.0, f"unsupported: {row['reason']}")
    return Estimate(SECONDS[row["time_class"]], f"the time class {row['time_class']!r} of its size")


@cache
def _load() -> None:
    """Load the large libraries before the clock starts: an import that is cut short spoils them."""
    for name in ("numba", "scipy.sparse", "pyomo.environ"):
        importlib.import_module(name)
