"""Problems of decisions that find planted faults, as `milp_trees.testing.found_by_mutation`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.decisions.linear import LinearDecisions
from milp_trees.decisions.listed import ListedDecisions, UnitSimplex
from milp_trees.decisions.tasks.decision import Decision
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
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
