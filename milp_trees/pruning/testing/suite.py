"""Prunings in the checks of this package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from milp_trees.models.space import space_classes
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.testing.model_problems import fitting
from milp_trees.pruning.testing.random_prunings import all_prunings
from milp_trees.testing.family_suites import Models, Suite

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem


def _golden(formulation: Formulation) -> Problem | None:
    """The first figure of the paper, which has two trees."""
    if PrunedEnsembles not in space_classes(formulation.space):
        return None
    return fitting(formulation, EXAMPLES["figure-1"]())[0]


class Prunings(Models):
    """All prunings of an ensemble."""

    space = PrunedEnsembles

    def every(self, problem: Problem) -> Iterator[Any]:
        return all_prunings(problem.space_as(PrunedEnsembles).ensemble)


SUITE = Suite(
    "prunings",
    default_pruning_problems,
    lambda: (make() for make in EXAMPLES.values()),
    _golden,
    Prunings(),
)
