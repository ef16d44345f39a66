"""Tiny problems of shifted rows, small enough to score every tree.

`ROBUST_PROBLEMS` maps a name to a function that makes the problem; `robust_problem(name)` makes it
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.robust.tasks.robust_boxes import RobustBoxes
from milp_trees.robust.tasks.robust_budget import RobustBudget
from milp_trees.testing._named import CUBE, SQUARE, dataset


def shifted_dataset(
    columns: dict[str, list[float]],
    y: list[Any],
    thresholds: dict[str, list[float]] | None = None,
    categories: dict[str, list[str]] | None = None,
) -> Dataset:
    """Numeric columns with all midpoints (or given thresholds), and columns of categories."""
    tests: list[BinaryFeature] = []
    answers: list[np.ndarray] = []
    for name, values in columns.items():
        middle = [(a + b) / 2 for a, b in pairwise(sorted(set(values)))]
        for t in (thresholds or {}).get(name, middle):
            tests.append(BinaryFeature(name, "<=", float(t)))
            answers.append(np.array(values) <= t)
    for name, words in (categories or {}).items():
        for word in sorted(set(words)):
            tests.append(BinaryFeature(name, "==", word))
            answers.append(np.array(words) == word)
    X = np.array(answers, dtype=np.uint8).T if answers else np.zeros((len(y), 0), dtype=np.uint8)
    numeric = np.array(list(columns.values()), dtype=float).T.reshape(len(y), len(columns))
    return Dataset(X, tests, y=np.array(y), numeric=numeric, columns=list(columns))


def _boxes(
    data: Dataset, radius: Any, depth: int, leaves: int | None = None, **task: Any
) -> Problem:
    return Problem(data, RobustBoxes(radius=radius, **task), Trees(depth, leaves))


def _budget(
    data: Dataset, budget: Any, costs: Any, depth: int, leaves: int | None = None, **task: Any
) -> Problem:
    return Problem(data, RobustBudget(budget=budget, costs=costs, **task), Trees(depth, leaves))


LINE = {"x": [1.0, 2, 3, 4, 6, 7, 9]}
PLANE = {"x": [1.0, 2, 4, 4, 6, 7], "z": [3.0, 1, 3, 1, 2, 5]}
#: Leaves below both columns may hold no row of the data, and shifted rows.
EMPTY_LEAF = {"x": [0.0, 0, 1, 1, 1, 2, 2], "z": [3.0, 9, 6, 6, 7, 0, 0]}
COLOURS = ["red", "red", "green", "blue", "blue", "green"]


def _random(seed: int, budget: bool) -> Problem:
    rng = np.random.default_rng(seed)
    n = 6
    data = shifted_dataset(
        {"x": rng.integers(0, 4, n).astype(float).tolist()},
        rng.integers(0, 2 + seed % 2, n).tolist(),
        categories={"c": [str(v) for v in rng.integers(0, 3, n)]} if seed % 3 else None,
    )
    if budget:
        return (
            _budget(data, int(rng.integers(1, 6)), {"x": 1, "c": 2}, 2)
            if seed % 3
            else _budget(data, int(rng.integers(1, 6)), {"x": 1}, 2)
        )
    return _boxes(data, int(rng.integers(1, 3)), 2)


ROBUST_PROBLEMS: dict[str, Callable[[], Problem]] = {
    "boxes-on-a-line": lambda: _boxes(shifted_dataset(LINE, list("aaababb")), 1, 2),
    "boxes-touch-a-threshold": lambda: _boxes(
        shifted_dataset({"x": [1.0, 2, 3, 4]}, list("abba"), {"x": [1, 2, 3]}), 1, 2
    ),
    "boxes-of-two-columns": lambda: _boxes(
        shifted_dataset(PLANE, list("aababb"), {"x": [3, 5], "z": [1.5, 2.5]}),
        {"x": 1, "z": "3/2"},
        2,
    ),
    "boxes-three-classes": lambda: _boxes(
        shifted_dataset({"x": [0.0, 0.5, 1.5, 2, 4, 5]}, list("aabbcc"), {"x": [1, 3, 3.25]}),
        "1/2",
        2,
    ),
    "boxes-no-shift": lambda: _boxes(dataset(SQUARE, y=[0, 1, 1, 0]), 0, 2),
    "boxes-binary": lambda: _boxes(dataset(CUBE, y=[0, 0, 0, 1, 1, 1, 1, 1]), {"0": 1}, 2),
    "boxes-categories": lambda: _boxes(
        shifted_dataset({}, list("aabbab"), categories={"colour": COLOURS}), 1, 2
    ),
    "boxes-fixed-categories": lambda: _boxes(
        shifted_dataset({"x": LINE["x"][:6]}, list("aabbab"), {"x": [2.5]}, {"colour": COLOURS}),
        {"x": 1},
        2,
    ),
    "boxes-empty-leaf": lambda: _boxes(
        shifted_dataset(EMPTY_LEAF, list("aabbbcc"), {"x": [0.5, 1.5], "z": [4.5]}),
        {"x": 1},
        2,
    ),
    "boxes-penalties": lambda: _boxes(
        shifted_dataset(PLANE, list("aababb"), {"x": [3, 5], "z": [2.5]}),
        {"x": "1/2"},
        2,
        leaf_penalty="1/30",
        feature_costs={"x": "1/8"},
    ),
    "boxes-leaf-limit": lambda: _boxes(shifted_dataset(LINE, list("abababb")), "1/2", 2, 3),
    "boxes-no-tests": lambda: _boxes(dataset([[], [], []], y=[0, 1, 1]), 1, 1),
    "boxes-depth-0": lambda: _boxes(dataset(SQUARE, y=[0, 1, 1, 1]), 1, 0),
    "budget-on-a-line": lambda: _budget(
        shifted_dataset({"x": [1.0, 2, 3, 5, 6, 9]}, list("aabbaa")), 4, 1, 2
    ),
    "budget-of-halves": lambda: _budget(
        shifted_dataset(PLANE, list("aababb"), {"x": [3, 5], "z": [1.5, 2.5]}),
        "5/2",
        {"x": "1/2", "z": "3/4"},
        2,
    ),
    "budget-categories": lambda: _budget(
        shifted_dataset({"x": LINE["x"][:6]}, list("aabbab"), {"x": [2, 3.5]}, {"colour": COLOURS}),
        3,
        {"x": 1, "colour": 2},
        2,
    ),
    "budget-empty-cells": lambda: _budget(
        shifted_dataset({"x": [1.0, 2, 3, 4]}, list("abab"), {"x": [1.2, 1.7, 2.5, 3]}), 2, 1, 2
    ),
    "budget-empty-leaf": lambda: _budget(
        shifted_dataset(EMPTY_LEAF, list("aabbbcc"), {"x": [0.5, 1.5], "z": [4.5]}),
        2,
        {"x": 1},
        2,
    ),
    "budget-none": lambda: _budget(dataset(SQUARE, y=[0, 1, 1, 0]), 0, 1, 2),
    "budget-three-classes": lambda: _budget(
        dataset(CUBE, y=[0, 0, 1, 1, 2, 2, 0, 1]), 3, {"0": 2, "1": 1}, 2
    ),
    "budget-penalties": lambda: _budget(
        dataset(CUBE, y=[0, 0, 1, 1, 1, 1, 0, 1]), 2, 1, 2, split_penalty="1/15"
    ),
    "budget-leaf-limit": lambda: _budget(dataset(CUBE, y=[0, 0, 1, 1, 1, 1, 0, 1]), 2, 2, 2, 3),
    "budget-depth-0": lambda: _budget(dataset(SQUARE, y=[0, 1, 1, 1]), 1, 1, 0),
    "budget-no-tests": lambda: _budget(dataset([[], [], []], y=[0, 1, 1]), 1, 1, 1),
    **{f"boxes-random-{s}": lambda s=s: _random(s, False) for s in range(4)},  # type: ignore[misc]
    **{f"budget-random-{s}": lambda s=s: _random(s, True) for s in range(4)},  # type: ignore[misc]
}


@cache
def robust_problem(name: str) -> Problem:
    """The named problem, made once."""
    made = ROBUST_PROBLEMS[name]()
    source = {"testing": f"the robust problem {name}"}
    return replace(made, dataset=replace(made.dataset, source=source))


def robust_problems() -> dict[str, Problem]:
    """All problems by name."""
    return {name: robust_problem(name) for name in ROBUST_PROBLEMS}
