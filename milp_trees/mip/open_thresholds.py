"""Which thresholds formulations get where the data leave them open."""

from __future__ import annotations

from milp_trees.common.errors import Unsupported
from milp_trees.methods.thresholds import is_open, settled
from milp_trees.methods.work import Sizes, sizes_of
from milp_trees.problems.problem import Problem

#: Number of tests of a model; its size grows with every test.
MOST_TESTS = 40


class OfModels:
    """What every formulation gets where thresholds are open."""

    def most_tests(self, sizes: Sizes) -> int:
        """A few."""
        return MOST_TESTS


def for_models(problem: Problem) -> Problem:
    """The problem with the thresholds that formulations get."""
    return settled(problem, [OfModels()]).problem


def refuse_open(name: str, problem: Problem) -> None:
    """Refuse to build a model of many thresholds that were not chosen."""
    if is_open(problem) and (tests := sizes_of(problem).tests) > MOST_TESTS:
        raise Unsupported(
            f"The data leave their {tests} tests open, and a model of {name} with all of them would be large; "
            "choose them by problem = mt.choose_thresholds(problem), or state them: binarizer='quantiles:4', or 'midpoints' for all."
        )
