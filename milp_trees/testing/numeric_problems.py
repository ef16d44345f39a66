"""Named tiny problems with numeric columns, and with sets of categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.data.category_sets import all_sets
from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import (
    Accuracy,
)
from milp_trees.testing._named import (
    dataset,
    named,
    numeric_dataset,
)


@named
def make_adjacent_thresholds() -> Problem:
    """Adjacent thresholds of one column: both sides of an interval need both."""
    return Problem(
        numeric_dataset({"age": [1, 2, 3, 4, 5, 3]}, y=[0, 1, 1, 0, 0, 1]), Accuracy(), Trees(2)
    )


@named
def make_uneven_gaps() -> Problem:
    """Columns with very different smallest gaps, one of them negative.

    In a model with an epsilon a midpoint is not a feasible threshold.
    """
    data = numeric_dataset(
        {"near": [0.0, 0.01, 0.02, 1.0, 1.0], "far": [-5, 5, -5, 5, -5]}, y=[0, 1, 0, 1, 0]
    )
    return Problem(data, Accuracy(), Trees(2))


@named
def make_free_routing() -> Problem:
    """Equal rows with different labels and a numeric column.

    A model in which rows choose their side at inactive nodes finds zero errors.
    """
    return Problem(
        numeric_dataset({"x": [1, 1, 2, 2, 2]}, y=[0, 1, 1, 0, 1]),
        Accuracy(split_penalty="1/20"),
        Trees(2),
    )


@named
def make_column_without_thresholds() -> Problem:
    """A constant numeric column beside a useful one; a node on it must not let rows choose."""
    return Problem(
        numeric_dataset({"flat": [7, 7, 7, 7], "x": [1, 2, 2, 3]}, y=[0, 1, 0, 0]),
        Accuracy(),
        Trees(1),
    )


@named
def make_bucketization_loses() -> Problem:
    """Perfect at depth 2 with all midpoints.

    With buckets (no thresholds between neighbours of one class) one row is wrong.
    """
    data = numeric_dataset({"a": [5, 0, 1, 2, 4, 3], "b": [3, 2, 4, 0, 1, 5]}, y=[0, 0, 1, 0, 1, 0])
    return Problem(data, Accuracy(), Trees(2))


def _sets(categories: str, flag: list[int], **more: Any) -> Any:
    """A column of categories with all sets of them, and a column of 0 and 1."""
    tests = [BinaryFeature("kind", "in", some) for some in all_sets(sorted(set(categories)))]
    answers = [test.evaluate(list(categories)) for test in tests]
    return dataset(np.column_stack([*answers, flag]), [*tests, BinaryFeature("flag")], **more)


@named
def make_category_sets() -> Problem:
    """Two of four categories, if the flag is 0, and the others if it is 1: two splits are perfect.

    The two are not the lowest or highest ones by their shares of a class.
    """
    data = _sets("abcdabcdb", [0, 0, 0, 0, 1, 1, 1, 1, 1], y=[1, 0, 0, 1, 0, 1, 1, 0, 1])
    return Problem(data, Accuracy(), Trees(2))


@named
def make_category_sets_priced() -> Problem:
    """A set of categories is worth its penalty, and single categories are not."""
    data = _sets("abcdeabd", [0, 1, 0, 1, 0, 1, 1, 0], y=[1, 0, 0, 1, 0, 1, 0, 1])
    return Problem(data, Accuracy(split_penalty="1/10"), Trees(2, max_leaf_nodes=3))
