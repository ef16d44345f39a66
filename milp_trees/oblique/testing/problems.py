"""Named tiny problems of oblique trees; each is a special case that a method may get wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy, MisclassificationCosts, WeightedError
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.policy import ActionCostMatrix

Maker = Callable[[], Problem]

#: All named problems of oblique trees.
OBLIQUE: dict[str, Maker] = {}


def named(make: Maker) -> Maker:
    """Register a function under its own name."""
    OBLIQUE[make.__name__.removeprefix("make_")] = make
    return make


@cache
def oblique_problems() -> dict[str, Problem]:
    """All named problems of oblique trees by name."""
    return {name: _made(name, make()) for name, make in OBLIQUE.items()}


def _made(name: str, problem: Problem) -> Problem:
    return replace(problem, dataset=replace(problem.dataset, source={"testing": name}))


def points(numbers: Any, **more: Any) -> Dataset:
    """A dataset of numeric columns x, y, …"""
    numbers = np.asarray(numbers, dtype=float)
    names = [*"xyzuv"][: numbers.shape[1]]
    blank = np.zeros((len(numbers), 0), dtype=np.uint8)
    return Dataset(blank, numeric=numbers, columns=names, **more)


@named
def make_diagonal() -> Problem:
    """One sloping split tells the classes apart, and no split on one column does."""
    data = points([[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 3]], y=[0, 0, 0, 1, 1, 1])
    return Problem(data, Accuracy(), ObliqueTrees(1))


@named
def make_cross() -> Problem:
    """Opposite corners have the same class: two splits are needed."""
    data = points([[0, 0], [1, 1], [0, 1], [1, 0], [3, 3]], y=["a", "a", "b", "b", "a"])
    return Problem(data, Accuracy(), ObliqueTrees(2))


@named
def make_equal_points() -> Problem:
    """Rows with equal numbers and different labels cannot be told apart."""
    data = points([[0, 1], [0, 1], [0, 1], [2, 0], [2, 0]], y=[0, 1, 1, 0, 1])
    return Problem(data, Accuracy(), ObliqueTrees(1))


@named
def make_one_column() -> Problem:
    """A single column, and a constant one."""
    data = points([[1, 5], [2, 5], [3, 5], [4, 5]], y=[0, 1, 0, 1])
    return Problem(data, Accuracy(), ObliqueTrees(2))


@named
def make_narrow() -> Problem:
    """The split that tells the classes apart leaves a gap of 1/8, and 1/5 is asked for."""
    data = points([[0, 0], [4, 4], [0, 1], [3, 4]], y=[0, 0, 1, 1])
    return Problem(data, Accuracy(), ObliqueTrees(1, gap="1/5"))


@named
def make_wide_enough() -> Problem:
    """The same points, and the gap of 1/8 is asked for exactly."""
    return replace(make_narrow(), space=ObliqueTrees(1, gap="1/8"))


@named
def make_priced_columns() -> Problem:
    """A split on both columns is right, and costs more than an error."""
    data = points([[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 3]], y=[0, 0, 0, 1, 1, 1])
    task = Accuracy(feature_costs={"x": "1/10", "y": "1/5"}, split_penalty="1/50")
    return Problem(data, task, ObliqueTrees(1))


@named
def make_cheap_columns() -> Problem:
    """The split on both columns is worth its price."""
    problem = make_priced_columns()
    return replace(problem, task=Accuracy(feature_costs={"x": "1/50", "y": "1/40"}))


@named
def make_penalised_leaves() -> Problem:
    """A second split would repair less than a leaf costs."""
    data = points([[0, 0], [1, 3], [2, 1], [3, 2], [1, 1]], y=[0, 1, 2, 1, 0])
    return Problem(data, Accuracy(leaf_penalty="1/6"), ObliqueTrees(2))


@named
def make_few_leaves() -> Problem:
    """Four leaves would tell all rows apart, and three are allowed."""
    data = points([[0, 5], [1, 5], [2, 5], [3, 5]], y=[0, 1, 0, 1])
    return Problem(data, Accuracy(), ObliqueTrees(2, max_leaf_nodes=3))


@named
def make_large_leaves() -> Problem:
    """Every leaf holds two rows."""
    data = points([[0, 0], [1, 2], [2, 1], [3, 3], [1, 0]], y=[1, 0, 0, 0, 1])
    return Problem(data, Accuracy(), ObliqueTrees(2, min_samples_leaf=2))


@named
def make_nothing_feasible() -> Problem:
    """No leaf is large enough."""
    return Problem(
        points([[0, 0], [1, 1]], y=[0, 1]), Accuracy(), ObliqueTrees(1, min_samples_leaf=3)
    )


@named
def make_weights() -> Problem:
    """Rows weigh 1, 2 and 5."""
    data = points(
        [[0, 0], [1, 2], [2, 1], [3, 3], [0, 3]], y=[0, 1, 0, 1, 1], weights=[1, 5, 2, 1, 2]
    )
    return Problem(data, WeightedError(), ObliqueTrees(1))


@named
def make_costs() -> Problem:
    """Costs of three actions that are no errors."""
    values = [[3, 0, 7], [1, 4, 2], [9, 9, 0], [0, 5, 5], [2, 2, 1]]
    data = points([[0, 0], [1, 2], [2, 1], [3, 3], [0, 3]], values=values)
    return Problem(data, ActionCostMatrix(), ObliqueTrees(1))


@named
def make_one_action() -> Problem:
    """There is nothing to choose."""
    data = points([[0, 0], [1, 2], [2, 1]], values=[[1], [0], [3]])
    return Problem(data, ActionCostMatrix(), ObliqueTrees(1))


@named
def make_large_costs() -> Problem:
    """Costs in the millions."""
    data = points([[0, 0], [1, 1], [2, 0], [0, 2], [1, 2]], y=["a", "b", "a", "b", "a"])
    task = MisclassificationCosts(matrix=[[0, 3_000_001], [1_999_999, 0]])
    return Problem(data, task, ObliqueTrees(1))


@named
def make_capacity() -> Problem:
    """At most one row may get the second class."""
    data = points([[0, 0], [1, 1], [2, 2], [0, 2], [1, 2]], y=[0, 0, 1, 1, 1])
    return Problem(data, Accuracy(constraints=(Capacity(1, at_most=1),)), ObliqueTrees(2))


@named
def make_quota() -> Problem:
    """At least two rows must get the second class, which only one has."""
    data = points([[0, 0], [1, 1], [2, 2], [0, 2], [1, 2]], y=[0, 0, 1, 0, 0])
    return Problem(data, Accuracy(constraints=(Capacity(1, at_least=2),)), ObliqueTrees(1))


@named
def make_depth_0() -> Problem:
    """A single leaf."""
    return Problem(points([[0, 0], [1, 1], [2, 0]], y=[0, 1, 1]), Accuracy(), ObliqueTrees(0))


@named
def make_three_columns() -> Problem:
    """A split on three columns."""
    data = points([[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]], y=[0, 0, 0, 1, 1])
    return Problem(data, Accuracy(), ObliqueTrees(1))


@named
def make_fractions() -> Problem:
    """Numbers with digits after the point, far from 0."""
    data = points([[1000.1, -0.3], [1000.2, -0.1], [1000.4, 0.2], [1000.2, 0.4]], y=[0, 1, 0, 1])
    return Problem(data, Accuracy(), ObliqueTrees(1))


def random_oblique_problem(rng: np.random.Generator, most_rows: int = 6) -> Problem:
    """A random problem with small integers as numbers.

    Parameters
    ----------
    rng : Generator
    most_rows : int
        Largest number of rows.
    """
    n, p = int(rng.integers(2, most_rows + 1)), int(rng.choice([1, 2, 2, 2, 3]))
    high, K = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    numbers = rng.integers(0, high, size=(n, p))
    if rng.random() < 0.15:
        numbers[:, 0] = 1
    space = ObliqueTrees(
        int(rng.choice([1, 2, 2, 3])),
        gap=str(rng.choice(["1/200", "1/200", "1/30", "2/11"])),
        max_leaf_nodes=int(rng.integers(1, 5)) if rng.random() < 0.25 else None,
        min_samples_leaf=int(rng.integers(2, 4)) if rng.random() < 0.2 else 1,
    )
    more: dict[str, Any] = {}
    if rng.random() < 0.3:
        more["leaf_penalty"] = str(rng.choice(["1/50", "1/7"]))
    if rng.random() < 0.3:
        names = [*"xyz"][:p]
        more["feature_costs"] = {c: f"{int(rng.integers(0, 4))}/20" for c in names}
    if rng.random() < 0.3:
        more["split_penalty"] = "1/40"
    kind = int(rng.integers(0, 3))
    if kind == 0:
        # Solvers do not tell penalties and costs in the millions apart.
        largest = int(rng.choice([4, 10, 10 if more else 3_000_000]))
        values = rng.integers(0, largest, size=(n, K))
        return Problem(points(numbers, values=values), ActionCostMatrix(**more), space)
    labels = rng.integers(0, K, size=n)
    labels[:2] = 0, 1  # a task of classes needs two
    if kind == 1:
        data = points(numbers, y=labels, weights=rng.integers(0, 6, size=n) + (labels < 2))
        return Problem(data, WeightedError(**more), space)
    if rng.random() < 0.3:
        most = int(rng.integers(0, n))
        more["constraints"] = (Capacity(int(labels.max()), at_most=most),)
    return Problem(points(numbers, y=labels), Accuracy(**more), space)
