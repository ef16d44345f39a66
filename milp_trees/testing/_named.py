"""The store of named tiny problems, and short ways to define one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy

Maker = Callable[[], Problem]

#: All named problems.
PROBLEMS: dict[str, Maker] = {}

#: The four points of two binary features, and the eight of three.
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
CUBE = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]


def named(make: Maker) -> Maker:
    """Register a function under its own name."""
    PROBLEMS[make.__name__.removeprefix("make_")] = make
    return make


@cache
def problem(name: str) -> Problem:
    """The named problem, made once, so that all checks of a process share its views."""
    made = PROBLEMS[name]()
    return replace(made, dataset=replace(made.dataset, source={"testing": name}))


def numeric_dataset(columns: dict[str, list[float]], **more: Any) -> Dataset:
    """A dataset whose features are all midpoints of neighbouring distinct values of columns."""
    tests: list[BinaryFeature] = []
    outcomes: list[np.ndarray] = []
    for name, values in columns.items():
        distinct = sorted(set(values))
        for low, high in pairwise(distinct):
            tests.append(BinaryFeature(name, "<=", float((low + high) / 2)))
            outcomes.append(tests[-1].evaluate(values))
    n = len(next(iter(columns.values())))
    return dataset(np.array(outcomes).T if outcomes else np.zeros((n, 0)), tests, **more)


def dataset(X: Any, tests: Sequence[BinaryFeature] = (), **more: Any) -> Dataset:
    # The constructor takes any array-like; the annotations of its fields describe what it stores.
    return Dataset(X, tests, **more)


def accuracy(X: Any, y: Any, depth: int, task: Any = None, **space: Any) -> Problem:
    return Problem(dataset(X, y=y), task or Accuracy(), Trees(depth, **space))
