"""Rule lists in the checks of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milp_trees.lists.space import RuleLists
from milp_trees.lists.testing.problems import list_problems
from milp_trees.models.space import space_classes
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy
from milp_trees.tasks.constraints import Capacity
from milp_trees.testing._named import SQUARE, dataset
from milp_trees.testing.family_suites import Suite
from milp_trees.testing.sets import default_list_problems

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation


def _golden(formulation: Formulation) -> Problem | None:
    """Four rows of two columns, two rules, and a side row."""
    if RuleLists not in space_classes(formulation.space):
        return None
    task = Accuracy(leaf_penalty="1/30", constraints=(Capacity(1, at_most=1),))
    return Problem(dataset(SQUARE, y=[0, 1, 1, 0]), task, RuleLists(max_length=2))


SUITE = Suite("lists", list_problems, lambda: list(default_list_problems().values()), _golden)
