"""Tiny problems of trees whose leaves choose decisions, small enough to score every tree.

There is one for every kind of decision set that has a linear program. `DECISION_PROBLEMS` maps a
name to a function that makes the problem; `decision_problem(name)` makes it once. They are not part
of the problems of all formulations (`default_problems`), because most of those cannot take them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from milp_trees.decisions import combinatorial
from milp_trees.decisions.base import DecisionSet
from milp_trees.decisions.linear import LinearDecisions
from milp_trees.decisions.listed import ListedDecisions, UnitSimplex
from milp_trees.decisions.paths import grid_paths
from milp_trees.decisions.tasks.decision import Decision
from milp_trees.decisions.testing.found_by_mutation import FOUND_DECISIONS
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.testing._named import CUBE, SQUARE, dataset, numeric_dataset

NUMERIC = {"x": [1.0, 2, 2, 4, 5, 7], "z": [3.0, 1, 3, 1, 2, 2]}


#: A column with seven thresholds and one with two; then four columns, three of which matter.
LONG = {"x": [1.0, 2, 3, 4, 5, 6, 7, 8, 4, 6], "z": [3.0, 1, 3, 1, 2, 2, 1, 3, 2, 1]}
WIDE = {
    "x": [1.0, 2, 2, 1, 3, 3, 1, 2],
    "z": [3.0, 1, 3, 1, 2, 2, 1, 2],
    "u": [0.0, 1, 1, 0, 0, 1, 1, 0],
    "v": [0.0, 0, 1, 1, 2, 2, 0, 1],
}


def _of(
    S: DecisionSet,
    seed: int,
    depth: int = 2,
    ties: bool = False,
    low: float = 0.0,
    tests: Any = None,
    columns: Any = NUMERIC,
    **more: Any,
) -> Problem:
    """A problem with random costs of at least `low`, on numeric columns or the given features.

    Costs are integers with many ties, or real numbers.
    """
    task = {
        k: more.pop(k)
        for k in ("leaf_penalty", "split_penalty", "feature_costs", "listed", "normalised")
        if k in more
    }
    space = {
        k: more.pop(k)
        for k in ("max_leaf_nodes", "min_samples_leaf", "min_weight_leaf")
        if k in more
    }
    rng = np.random.default_rng(seed)
    n = len(columns["x"]) if tests is None else len(tests)
    C = (
        rng.integers(int(low), int(low) + 4, (n, S.dimension)).astype(float)
        if ties
        else low + 3 * rng.random((n, S.dimension))
    )
    data = (
        numeric_dataset(columns, values=C, **more)
        if tests is None
        else dataset(tests, values=C, **more)
    )
    return Problem(data, Decision(decisions=S, **task), Trees(depth, **space))


def _program(S: DecisionSet) -> LinearDecisions:
    """The set that is known by its program alone."""
    program = S.program()
    assert program is not None
    return LinearDecisions(program, components=S.components)


def _news() -> DecisionSet:
    return combinatorial.simplex_decisions(
        4, (np.random.RandomState(3).exponential(1.0, (2, 4)), np.ones(2))
    )


DECISION_PROBLEMS: dict[str, Callable[[], Problem]] = {
    "cheapest": lambda: _of(UnitSimplex(3), 0),
    "grid": lambda: _of(grid_paths(3, 3), 1),
    "grid-ties": lambda: _of(grid_paths(3, 3), 2, ties=True),
    "grid-not-listed": lambda: _of(grid_paths(3, 3), 3, listed=1),
    "listed-with-shares": lambda: _of(
        ListedDecisions([[1, 0, 2], [0, 1, 0], [0.5, 0.5, 1], [-1, 3, 0]]), 4, low=-2
    ),
    "hull-of-a-list": lambda: _of(
        _program(ListedDecisions([[1, 0], [0, 1], [0.25, 0.25]], ["u", "v"])), 5, low=-1, listed=1
    ),
    "news": lambda: _of(_news(), 6, low=-3, weights=[1, 2, 3, 1, 2, 5]),
    "news-not-listed": lambda: _of(_news(), 7, low=-3, listed=1),
    "simplex-of-both-signs": lambda: _of(UnitSimplex(3), 8, low=-1.5),
    "assignment": lambda: _of(combinatorial.assignment_decisions(3), 9, ties=True, low=-2),
    "knapsack": lambda: _of(
        combinatorial.knapsack_decisions([3, 1, 4, 2], 5), 10, low=-3, ties=True
    ),
    "two-resources": lambda: _of(
        combinatorial.knapsack_decisions([[3, 1, 4], [2, 2.5, 1]], [5, 4]), 11, low=-3, listed=1
    ),
    "whole-numbers": lambda: _of(
        LinearDecisions.from_arrays(at_most=([[2, 3]], [12]), upper=5, integer=True),
        12,
        low=-2,
        ties=True,
    ),
    "costs-in-millions": lambda: _scaled(_of(grid_paths(2, 3), 13), 1e6),
    "tiny-costs": lambda: _scaled(_of(grid_paths(2, 3), 14), 1e-6),
    "nothing-to-lose": lambda: _of(UnitSimplex(1), 15),
    "equal-rows": lambda: _of(
        UnitSimplex(3), 16, tests=[*SQUARE, [0, 0], [0, 0], [1, 1]], ties=True
    ),
    "cube": lambda: _of(UnitSimplex(2), 17, tests=CUBE, ties=True),
    "depth-0": lambda: _of(grid_paths(3, 2), 18, depth=0),
    "depth-1": lambda: _of(grid_paths(3, 2), 19, depth=1),
    "no-tests": lambda: _of(UnitSimplex(2), 20, tests=[[], [], []], depth=1),
    "min-leaf": lambda: _of(UnitSimplex(3), 21, min_samples_leaf=2),
    "min-leaf-forces-one": lambda: _of(
        UnitSimplex(3),
        22,
        tests=[[0, 1], [0, 0], [1, 0], [1, 1], [0, 1]],
        min_samples_leaf=3,
        depth=1,
    ),
    "min-weight": lambda: _of(
        UnitSimplex(3), 23, weights=[0.1, 0.1, 0.1, 2, 0.3, 1], min_weight_leaf=0.3
    ),
    "too-few-rows": lambda: _of(UnitSimplex(2), 24, min_samples_leaf=7, depth=1),
    "leaf-limit": lambda: _of(UnitSimplex(3), 25, max_leaf_nodes=3),
    "penalties": lambda: _of(grid_paths(2, 3), 26, leaf_penalty=0.05, feature_costs={"x": 0.2}),
    **FOUND_DECISIONS,
    "seven-thresholds": lambda: _of(UnitSimplex(3), 265, columns=LONG, low=-1),
    "three-levels": lambda: _of(UnitSimplex(3), 33, depth=3, columns=WIDE, low=-2),
    "three-levels-large-leaves": lambda: _of(
        UnitSimplex(2), 62, depth=3, columns=WIDE, min_samples_leaf=2, low=-1
    ),
    "three-levels-leaf-limit": lambda: _of(
        UnitSimplex(2), 28, depth=3, columns=WIDE, max_leaf_nodes=5, leaf_penalty=0.01
    ),
    "priced-columns": lambda: _of(
        UnitSimplex(3), 32, columns=WIDE, feature_costs={"x": 0.05, "z": 0.04, "u": 0.12, "v": 0.02}
    ),
    "weight-one-unit-short": lambda: _of(
        UnitSimplex(3),
        33,
        columns=LONG,
        weights=[0.1, 0.2, 0.3, 0.7, 0.2, 0.1, 0.9, 0.4, 0.3, 0.6],
        min_weight_leaf=1.1,
    ),
    "split-penalty": lambda: _of(
        grid_paths(2, 3), 27, split_penalty="1/20", normalised=True, weights=[1, 2, 1, 0, 3, 1]
    ),
}


@cache
def decision_problem(name: str) -> Problem:
    """The named problem, made once."""
    made = DECISION_PROBLEMS[name]()
    return replace(
        made, dataset=replace(made.dataset, source={"testing": f"the decision problem {name}"})
    )


def decision_problems() -> dict[str, Problem]:
    """All problems by name."""
    return {name: decision_problem(name) for name in DECISION_PROBLEMS}


def _scaled(problem: Problem, factor: float) -> Problem:
    values = problem.dataset.require("values", "This")
    return replace(problem, dataset=replace(problem.dataset, values=values * factor))
