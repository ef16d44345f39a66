"""Prunings that find planted faults, as `milp_trees.testing.found_by_mutation`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.problems.problem import Problem
from milp_trees.pruning.feature_costs import FeatureCosts
from milp_trees.pruning.testing.random_prunings import random_problem


def _pruning(seed: int, **options: Any) -> Problem:
    made = random_problem(np.random.default_rng(seed), **options)
    return replace(
        made,
        dataset=replace(
            made.dataset, source={"testing": f"random_problem(seed={seed}, {options})"}
        ),
    )


def _at(lam: Fraction, made: Problem, **changes: Any) -> Problem:
    """The same pruning problem with another λ, for which some splits are worth their cost."""
    task: Any = made.task
    return replace(made, task=replace(task, lam=lam, **changes))


def _large_prices() -> Problem:
    """Prices above ten thousand units, and four levels."""
    made = _pruning(5, n_trees=1, depth=4, n_features=4, n_rows=12)
    return _at(
        Fraction(1, 20_000_000), made, costs=FeatureCosts([1_000_003, 300_007, 20_011, 500_009])
    )


FOUND_PRUNINGS: dict[str, Callable[[], Problem]] = {
    "sixty-rows": lambda: _at(
        Fraction(1, 99), _pruning(12, n_trees=2, depth=3, n_features=3, n_rows=110)
    ),
    "sixty-rows-for-nothing": lambda: _pruning(
        13, n_trees=2, depth=2, n_features=3, n_rows=120, lam=0
    ),
    "four-levels": lambda: _at(
        Fraction(1, 99), _pruning(5, n_trees=1, depth=4, n_features=4, n_rows=12)
    ),
    "four-levels-for-nothing": lambda: _pruning(
        10, n_trees=1, depth=4, n_features=4, n_rows=12, lam=0
    ),
    "four-levels-and-a-budget": lambda: _pruning(
        7, n_trees=1, depth=4, n_features=4, n_rows=12, budget=True
    ),
    "four-levels-and-large-prices": _large_prices,
    "large-prices-and-a-budget": lambda: _at(Fraction(0), _large_prices(), max_cost=1_200_000),
    "large-prices-for-nothing": lambda: _at(Fraction(0), _large_prices()),
}
