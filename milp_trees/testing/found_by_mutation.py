"""Problems that find planted faults.

Each is the smallest known problem on which some mutant of a formulation behaves differently.
`python -m tests.mutation` plants faults that only act from some row, column, threshold, level, node
or leaf size on; the problems here are for those that no other problem reached. `FOUND_WIDE` goes to
`wide_problems`, `FOUND_DECISIONS` to `decision_problems`, `FOUND_PRUNINGS` to
`default_pruning_problems`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.decisions.linear import LinearDecisions
from milp_trees.decisions.listed import ListedDecisions, UnitSimplex
from milp_trees.decisions.tasks.decision import Decision
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.pruning.feature_costs import FeatureCosts
from milp_trees.pruning.testing.random_prunings import random_problem
from milp_trees.testing._named import dataset, numeric_dataset


def _decision(
    columns: dict[str, list[float]],
    depth: int,
    seed: int,
    *,
    binary: Any = None,
    low: int = -3,
    task: Any = None,
    **space: Any,
) -> Problem:
    """Integer costs of three decisions on numeric columns, with further 0/1 columns."""
    rng = np.random.default_rng(seed)
    n = len(next(iter(columns.values())))
    numeric = numeric_dataset(columns)
    X, tests = numeric.X, list(numeric.features)
    if binary is not None:
        X = np.column_stack([binary, X])
        tests = [*(BinaryFeature(f"b{j}") for j in range(len(binary[0]))), *tests]
    data = dataset(X, tests, values=rng.integers(low, 10, (n, 3)).astype(float))
    return Problem(data, Decision(decisions=UnitSimplex(3), **(task or {})), Trees(depth, **space))


def make_sixty_four_rows() -> Problem:
    """More than sixty rows that cannot be merged: a grid of two columns, seven thresholds each."""
    x, z = np.array(list(product(range(8), range(8)))).T.astype(float).tolist()
    return _decision({"x": x, "z": z}, 1, 1)


def make_nine_thresholds_and_four_columns() -> Problem:
    """A column of nine thresholds beside three of one, at two levels.

    The third column has a price.
    """
    x = [float(v * v) for v in range(10)] * 2
    binary = np.random.default_rng(2).integers(0, 2, (20, 3)).tolist()
    return _decision({"x": x}, 2, 2, binary=binary, task={"feature_costs": {"b1": 2, "x": "1/2"}})


def make_three_levels() -> Problem:
    """Three levels, which are filled by the thresholds of two columns."""
    x, z = [0.0, 1, 2, 3] * 5, [0.0, 0, 0, 1, 1, 2, 2] * 2 + [0.0, 1, 2, 0, 1, 2]
    return _decision({"x": x, "z": z}, 3, 3)


def make_three_levels_and_five_leaves() -> Problem:
    """Three levels of which only five leaves are allowed."""
    x, z = [0.0, 1, 2, 3] * 5, [0.0, 0, 0, 1, 1, 2, 2] * 2 + [0.0, 1, 2, 0, 1, 2]
    return _decision({"x": x, "z": z}, 3, 4, max_leaf_nodes=5)


def make_four_rows_a_leaf() -> Problem:
    """A minimum of four rows in each leaf of fourteen rows."""
    rng = np.random.default_rng(5)
    return _decision(
        {
            "x": rng.integers(0, 5, 14).astype(float).tolist(),
            "z": rng.integers(0, 4, 14).astype(float).tolist(),
        },
        2,
        5,
        min_samples_leaf=4,
    )


#: Options of `drawn_problem`: more than sixty different rows, at one and at two levels; five groups
#: among them.
FOUND_WIDE: dict[str, dict[str, Any]] = {
    "wide-sixty-rows": {
        "seed": 0,
        "depth": 1,
        "actions": 3,
        "rows": 90,
        "shape": "eight-tests",
        "penalty": "leaf",
    },
    "wide-sixty-rows-labels": {
        "seed": 0,
        "depth": 2,
        "actions": 2,
        "rows": 90,
        "shape": "eight-tests",
        "costs": "labels",
    },
    "wide-sixty-rows-parity": {
        "seed": 0,
        "depth": 2,
        "actions": 2,
        "rows": 90,
        "shape": "eight-tests",
        "min_leaf": 4,
        "side": "parity",
    },
}


def make_hull_of_sixty_points() -> Problem:
    """Decisions with more than sixty further variables: the shares of the points of a list."""
    program = ListedDecisions(list(product(range(-4, 4), range(8)))).program()
    assert program is not None
    values = np.random.default_rng(7).integers(-3, 10, (4, 2)).astype(float)
    data = dataset([[0], [0], [1], [1]], values=values)
    return Problem(
        data,
        Decision(decisions=LinearDecisions(program, components=("u", "v")), listed=1),
        Trees(1),
    )


def make_weights_and_large_costs() -> Problem:
    """A minimum weight that is not a multiple of the weights, and costs above ten thousand."""
    made = make_three_levels()
    data = made.dataset
    assert data.values is not None
    weights = [0.1, 0.2, 0.5, 0.25] * (data.n_rows // 4)
    return Problem(
        data.with_(values=data.require("values", "This") * 1e5, weights=weights),
        made.task,
        Trees(2, min_weight_leaf=0.65),
    )


FOUND_DECISIONS: dict[str, Callable[[], Problem]] = {
    make.__name__.removeprefix("make_").replace("_", "-"): make
    for make in (
        make_sixty_four_rows,
        make_nine_thresholds_and_four_columns,
        make_three_levels,
        make_three_levels_and_five_leaves,
        make_four_rows_a_leaf,
        make_hull_of_sixty_points,
        make_weights_and_large_costs,
    )
}


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


def found_datasets() -> dict[str, Dataset]:
    """Datasets for tasks, with 64 rows, five groups, a factor of three values and large costs.

    They have two or five classes, or six classes of which one has no row; one has no weights.
    """
    out = {}
    for name, K in (
        ("2 classes", 2),
        ("5 classes", 5),
        ("6 classes, one without rows", 6),
        ("no weights", 2),
        ("heavy rows", 3),
    ):
        rng, n = np.random.default_rng(K), 64
        names, present = tuple(f"class {k}" for k in range(K)), min(K, 5)
        out[f"found_datasets()[{name}]"] = Dataset(
            rng.integers(0, 2, (n, 6)),
            [BinaryFeature(f"t{j}") for j in range(6)],
            y=rng.integers(0, present, n),
            classes=names,
            weights=None
            if name == "no weights"
            else rng.integers(1, 9, n) * (12_500 if name == "heavy rows" else 0.25),
            groups=rng.permutation(np.arange(n) % 5),
            factor=rng.integers(0, 3, n),
            treatments=np.array(names)[rng.integers(0, K, n)],
            outcomes=rng.integers(-5, 6, n) / 2,
            propensities=rng.choice([0.25, 0.5, 0.75], n),
            values=rng.integers(-90_000, 90_000, (n, K)) / 2,
            actions=names,
        )
    return out
