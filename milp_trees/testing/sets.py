"""The problems on which the checks run by default."""

from __future__ import annotations

from typing import Any

from milp_trees.common.errors import UnknownName
from milp_trees.models.space import Trees, space_classes
from milp_trees.problems.problem import Problem
from milp_trees.testing.drawn import drawn_problem
from milp_trees.testing.family_suites import suites
from milp_trees.testing.generate import random_cost_problem
from milp_trees.testing.problems import PROBLEMS, problem
from milp_trees.testing.wide import WIDE, wide_problems

#: Random problems by name: options of `random_cost_problem`. They have two and three actions,
#: binary and numeric features, and every kind of limit.
RANDOM: dict[str, dict[str, Any]] = {
    **{f"random-{s}": {"seed": s} for s in range(6)},
    **{f"random-three-actions-{s}": {"seed": s, "n_actions": 3, "n_features": 2} for s in range(3)},
    **{f"random-numeric-{s}": {"seed": s, "numeric": True, "n_rows": 6} for s in range(3)},
    **{f"random-penalty-{s}": {"seed": s, "penalty": True} for s in range(2)},
    **{f"random-leaf-size-{s}": {"seed": s, "min_leaf": 2, "n_rows": 7} for s in range(2)},
    **{f"random-capacity-{s}": {"seed": s, "side": True} for s in range(2)},
    "random-everything": {
        "seed": 5,
        "n_actions": 3,
        "n_features": 2,
        "n_rows": 7,
        "penalty": True,
        "side": True,
        "min_leaf": 2,
    },
    "random-depth-1": {"seed": 3, "depth": 1, "n_actions": 4, "n_features": 4},
}


#: Largest number of nonzeros of a model that is solved at a level.
MOST_NONZEROS = {"quick": 2000, "thorough": 12000}
#: Problems for formulation × solver: an optimum, no solution, and a minimum leaf size with a side
#: row.
PAIR_PROBLEMS = ("two_action_costs", "cannot_hold", "capacity_from_below")


def get(name: str) -> Problem:
    """A named or random problem of the level `quick`, made once."""
    if name in PROBLEMS:
        return problem(name)
    return random_cost_problem(**RANDOM[name]) if name in RANDOM else drawn_problem(**WIDE[name])


def tiny_problems() -> dict[str, Problem]:
    """The named and random problems, each small enough to be solved many times."""
    return {name: get(name) for name in [*PROBLEMS, *RANDOM]}


def is_wide(name: str) -> bool:
    """Whether a default problem is one of the drawn ones."""
    return name.startswith("wide-")


def default_problems(level: str = "quick") -> dict[str, Problem]:
    """All problems of a level by name: named, random and wide ones.

    Raises
    ------
    UnknownName
        There is no such level.
    """
    if level not in MOST_NONZEROS:
        raise UnknownName(f"There is no level {level!r}; known are {', '.join(MOST_NONZEROS)}.")
    return tiny_problems() | wide_problems(level)


def problems_of(space: Any, level: str = "quick") -> dict[str, Problem]:
    """All problems of a level in the spaces that a method or formulation declares."""
    spaces = space_classes(space)
    found = default_problems(level) if Trees in spaces else {}
    for one in (suite.models for suite in suites() if spaces != (Trees,)):
        found |= one.problems(level) if one is not None and one.space in spaces else {}
    return found
