"""The problems of rule lists on which the checks run by default."""

from __future__ import annotations

from milp_trees.lists.testing.problems import list_problems
from milp_trees.lists.testing.random_lists import random_list_problem
from milp_trees.problems.problem import Problem

#: Seeds of the random problems of lists, without and with side constraints: their optima have one
#: to three rules, or there is none.
LIST_SEEDS = (4, 5, 9, 11, 20, 24, 61, 99, 107, 128, 134, 154, 162, 179, 209, 283, 379)
SIDE_SEEDS = (8, 16, 25, 28, 31, 61, 110, 134, 146, 154, 265, 308, 360, 375, 385)


def default_list_problems(level: str = "quick") -> dict[str, Problem]:
    """All problems of rule lists of a level by name: named and random ones.

    `thorough` has two hundred more random problems, half of them with side constraints.
    """
    found = {
        **list_problems(),
        **{f"random-{s}": random_list_problem(s) for s in LIST_SEEDS},
        **{f"random-side-{s}": random_list_problem(s, side=True) for s in SIDE_SEEDS},
    }
    for s in range(1000, 1100 if level == "thorough" else 1000):
        found[f"more-{s}"] = random_list_problem(s)
        found[f"more-side-{s}"] = random_list_problem(s, side=True)
    return found
