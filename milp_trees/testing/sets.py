"""Which problems the checks run on by default."""

from __future__ import annotations

from typing import Any

from milp_trees.problem import Problem
from milp_trees.testing.generate import random_cost_problem
from milp_trees.testing.problems import PROBLEMS, problem

#: Random problems by name: options of `random_cost_problem`. Two and three actions, binary and numeric tests, every kind of limit.
RANDOM: dict[str, dict[str, Any]] = {
    **{f"random-{s}": {"seed": s} for s in range(6)},
    **{f"random-three-actions-{s}": {"seed": s, "n_actions": 3, "n_tests": 2} for s in range(3)},
    **{f"random-numeric-{s}": {"seed": s, "numeric": True, "n_rows": 6} for s in range(3)},
    **{f"random-penalty-{s}": {"seed": s, "penalty": True} for s in range(2)},
    **{f"random-leaf-size-{s}": {"seed": s, "min_leaf": 2, "n_rows": 7} for s in range(2)},
    **{f"random-capacity-{s}": {"seed": s, "side": True} for s in range(2)},
    "random-everything": {"seed": 5, "n_actions": 3, "n_tests": 2, "n_rows": 7, "penalty": True, "side": True, "min_leaf": 2},
    "random-depth-1": {"seed": 3, "depth": 1, "n_actions": 4, "n_tests": 4},
}


def get(name: str) -> Problem:
    """A named or random problem, made once."""
    return problem(name) if name in PROBLEMS else random_cost_problem(**RANDOM[name])


def default_problems() -> dict[str, Problem]:
    """All named and random problems by name."""
    return {name: get(name) for name in [*PROBLEMS, *RANDOM]}
