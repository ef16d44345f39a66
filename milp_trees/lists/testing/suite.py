"""Rule lists in the checks of this package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.lists.rule_list import RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.lists.testing.exhaustive import all_rule_lists, best_list, n_lists
from milp_trees.lists.testing.problems import list_problems
from milp_trees.lists.testing.random_lists import any_list
from milp_trees.lists.testing.sets import default_list_problems
from milp_trees.models.space import space_classes
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy
from milp_trees.tasks.constraints import Capacity
from milp_trees.testing._named import SQUARE, dataset
from milp_trees.testing.family_suites import Models, Suite

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation


class Lists(Models):
    """All rule lists of a problem."""

    space = RuleLists

    def every(self, problem: Problem) -> Iterator[RuleList]:
        return all_rule_lists(problem)

    def count(self, problem: Problem) -> float:
        return n_lists(problem)

    def best(self, problem: Problem) -> RuleList | None:
        return best_list(problem)

    def drawn(self, problem: Problem, rng: np.random.Generator) -> RuleList:
        return any_list(problem, rng)

    def is_limited(self, space: RuleLists) -> bool:
        return space.is_bounded or space.min_samples_rule > 1

    def excess(self, space: RuleLists, model: RuleList, routes: Any) -> Iterator[tuple[str, float]]:
        most = model.length if space.max_length is None else space.max_length
        yield "rules", model.length - most
        if model.length:
            sizes = np.bincount(routes.leaf, minlength=routes.n_leaves)[:-1]
            yield "rows", space.min_samples_rule - int(sizes.min())

    def larger(self, space: RuleLists) -> RuleLists | None:
        if space.max_length is None or space.max_length > 2:
            return None
        return replace(space, max_length=space.max_length + 1)

    def problems(self, level: str) -> dict[str, Problem]:
        return {f"list-{name}": one for name, one in default_list_problems(level).items()}


def _golden(formulation: Formulation) -> Problem | None:
    """Four rows of two columns, two rules, and a side row."""
    if RuleLists not in space_classes(formulation.space):
        return None
    task = Accuracy(leaf_penalty="1/30", constraints=(Capacity(1, at_most=1),))
    return Problem(dataset(SQUARE, y=[0, 1, 1, 0]), task, RuleLists(max_length=2))


SUITE = Suite(
    "lists",
    list_problems,
    lambda: list(default_list_problems().values()),
    _golden,
    Lists(),
)
