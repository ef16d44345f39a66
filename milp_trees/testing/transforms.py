"""Changes of a problem that keep its optimum (or, for a deeper space, do not make it worse).

Each returns None if it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.problems.problem import Problem
from milp_trees.testing.family_suites import models_of

Transform = Callable[[Problem], Problem | None]


def permute_rows(problem: Problem) -> Problem:
    """The rows in another order."""
    order = np.random.default_rng(1).permutation(problem.dataset.n_rows)
    return replace(problem, dataset=problem.dataset.subset(order))


def permute_tests(problem: Problem) -> Problem:
    """The features in another order."""
    data = problem.dataset
    order = np.random.default_rng(2).permutation(data.n_features)
    return replace(
        problem,
        dataset=data.with_(
            X=data.X[:, order], features=[data.features[j] for j in order], classes=data.classes
        ),
    )


def permute_labels(problem: Problem) -> Problem | None:
    """Classes or actions in reverse order.

    It does not apply if the task or a constraint refers to them by position.
    """
    data, spec = problem.dataset, problem.task.spec()
    by_position = "matrix" in spec or any(
        "favourable" not in c and "action" not in c for c in spec.get("constraints", [])
    )
    if (
        by_position
        or data.treatments is not None
        or (data.y is not None and data.values is not None)
    ):
        return None
    if data.classes is not None and data.y is not None:
        last = len(data.classes) - 1
        return replace(
            problem, dataset=data.with_(y=last - data.y, classes=tuple(reversed(data.classes)))
        )
    if data.values is not None and data.actions is not None:
        return replace(
            problem,
            dataset=data.with_(values=data.values[:, ::-1], actions=tuple(reversed(data.actions))),
        )
    return None


def weights_to_duplicates(problem: Problem) -> Problem | None:
    """Rows of integer weight w as w rows of weight 1.

    It does not apply if rows are counted (leaf sizes, side constraints).
    """
    data, spec = problem.dataset, problem.task.spec()
    if (
        data.weights is None
        or not problem.task.weighs_rows
        or "constraints" in spec
        or problem.space.least_rows > 1
    ):
        return None
    whole = data.weights.astype(int)
    if not (whole == data.weights).all():
        return None
    rows = np.repeat(np.arange(data.n_rows), whole)
    return replace(problem, dataset=replace(data.subset(rows), weights=None))


def add_constant_test(problem: Problem) -> Problem:
    """One more feature, 0 on every row."""
    data = problem.dataset
    X = np.column_stack([data.X, np.zeros(data.n_rows, dtype=int)])
    return replace(
        problem,
        dataset=data.with_(
            X=X,
            features=[*data.features, BinaryFeature("false on every row")],
            classes=data.classes,
        ),
    )


def one_level_deeper(problem: Problem) -> Problem | None:
    """One more level of splits (up to two), or one more rule (up to three)."""
    if models := models_of(problem.space):
        space = models.larger(problem.space)
    else:
        depth = problem.trees.depth
        space = replace(problem.trees, max_depth=depth + 1) if depth < 2 else None
    return None if space is None else replace(problem, space=space)


#: Transforms that keep the optimal value.
EQUAL: dict[str, Transform] = {
    t.__name__: t
    for t in (permute_rows, permute_tests, permute_labels, weights_to_duplicates, add_constant_test)
}
