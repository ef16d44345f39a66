"""Random problems along the axes on which a fault may be hidden.

The axes are depth, actions, rows, thresholds, leaf sizes, penalties, side rows and costs. A fault
often needs two values together (depth 3 and five actions), rarely three. So `designs` combines the
values of all axes such that every pair of values of two axes occurs in some problem (a covering
array), and `drawn_problem` draws a problem of each design from a seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy
from milp_trees.tasks.constraints import (
    Capacity,
    ConditionalStatisticalParity,
    EqualisedOdds,
    EqualOpportunity,
    PredictiveEquality,
    StatisticalParity,
)
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.testing._named import numeric_dataset

#: Features of a drawn problem by the name of their shape: number of 0/1 columns, and number of
#: thresholds of every numeric column.
SHAPES: dict[str, tuple[int, tuple[int, ...]]] = {
    "four-tests": (4, ()),
    "seven-tests": (7, ()),
    "eight-tests": (8, ()),
    "nine-thresholds": (0, (9,)),
    "seventeen-thresholds": (0, (17,)),
    "three-columns": (1, (3, 2)),
}
#: Fairness constraints by the name of the axis' value.
FAIRNESS: dict[str, type] = {
    "parity": StatisticalParity,
    "conditional": ConditionalStatisticalParity,
    "opportunity": EqualOpportunity,
    "predictive": PredictiveEquality,
    "odds": EqualisedOdds,
}


@lru_cache(maxsize=256)
def drawn_problem(
    seed: int,
    depth: int = 2,
    actions: int = 2,
    rows: int = 12,
    shape: str = "four-tests",
    costs: str = "any",
    penalty: str = "none",
    leaves: int | None = None,
    min_leaf: int = 1,
    side: str = "none",
) -> Problem:
    """A problem with these values of the axes.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.
    depth, actions, rows : int, default=2, 2, 12
        Depth of the trees, number of actions and of rows.
    shape : str
        A key of `SHAPES`.
    costs : {"labels", "any", "millions"}
        Misclassified rows; any costs from -6 to 9; the same times up to 10^5.
    penalty : {"none", "leaf", "split", "columns"}
        A price per leaf, per split, or per leaf and column.
    leaves : int, optional
        Largest number of leaves.
    min_leaf : int, default=1
        Smallest number of rows in a leaf.
    side : str
        "none", "capacity" (of one action from above), "band" (of every action from below or above),
        or a key of `FAIRNESS`, for five groups.

    Returns
    -------
    Problem
    """
    given_axes = dict(locals())
    source = {"testing": f"drawn_problem({', '.join(f'{k}={v!r}' for k, v in given_axes.items())})"}
    rng = np.random.default_rng([seed, depth, actions, rows])
    bare = _dataset(rng, rows, *SHAPES[shape])
    best = (
        Tree(_full_tree(bare.features, actions, depth, rng), tuple(range(actions)))
        .routes(bare)
        .action
    )
    wrong = np.arange(actions) != best[:, None]
    if costs == "labels":
        y = np.where(rng.random(rows) < 0.15, rng.integers(0, actions, rows), best)
        given: dict[str, Any] = {"y": y, "classes": tuple(range(actions))}
    else:
        values = rng.integers(-6, 4, (rows, actions)) + 6 * wrong
        values *= 1 if costs == "any" else rng.integers(1, 10**5, (rows, 1))
        given = {"values": values, "y": best, "classes": tuple(range(actions))}
    given |= {
        "groups": rng.permutation(np.arange(rows) % 5),
        "factor": rng.permutation(np.arange(rows) % 2),
    }
    unit = {"labels": 1, "any": 4, "millions": 10**5}[costs]
    options = _penalties(rng, penalty, bare, unit, rows) | {
        "constraints": _side(side, rows, actions)
    }
    task: Any = Accuracy(**options) if costs == "labels" else ActionCostMatrix(**options)
    return Problem(bare.with_(**given, source=source), task, Trees(depth, leaves, min_leaf))


def _full_tree(
    tests: Sequence[BinaryFeature], actions: int, depth: int, rng: np.random.Generator
) -> Node:
    """A tree of full depth with random tests, whose leaves have all actions in turn."""
    turn = iter(rng.permutation(np.arange(2**depth) % actions).tolist())

    def grow(levels: int) -> Node:
        if not levels:
            return Leaf(next(turn))
        return Branch(tests[int(rng.integers(len(tests)))], grow(levels - 1), grow(levels - 1))

    return grow(depth)


def _dataset(
    rng: np.random.Generator, rows: int, binary: int, thresholds: Sequence[int], **more: Any
) -> Dataset:
    """0/1 columns and numeric ones with the given numbers of thresholds.

    The values of numeric columns are 0, 1, 4, 9, …, one more than there are thresholds.
    """
    X, tests = rng.integers(0, 2, (rows, binary)), [BinaryFeature(f"t{j}") for j in range(binary)]
    columns = {f"c{j}": _numbers(rng, rows, m) for j, m in enumerate(thresholds)}
    if columns:
        numeric = numeric_dataset(columns)
        X, tests = np.column_stack([X, numeric.X]), [*tests, *numeric.features]
    return Dataset(X, tests, **more)


def _numbers(rng: np.random.Generator, rows: int, thresholds: int) -> list[float]:
    """Squares of 0, 1, …, each at least once if there are enough rows."""
    return (
        rng.permutation(
            np.concatenate(
                [
                    np.arange(thresholds + 1),
                    rng.integers(0, thresholds + 1, max(0, rows - thresholds - 1)),
                ]
            )[:rows]
        )
        ** 2.0
    ).tolist()


def _penalties(
    rng: np.random.Generator, penalty: str, dataset: Dataset, unit: int, rows: int
) -> dict[str, Any]:
    """Penalties of a few units of cost (they are given per row).

    With them some splits improve the value and others do not.
    """

    def price(most: int) -> Fraction:
        return Fraction(int(rng.integers(1, most)) * unit, 2 * rows)

    if penalty == "leaf":
        return {"leaf_penalty": price(5)}
    if penalty == "split":
        return {"split_penalty": price(5)}
    if penalty == "columns":
        return {
            "leaf_penalty": price(3),
            "feature_costs": {c: price(6) for c in sorted({t.column for t in dataset.features})},
        }
    return {}


def _side(side: str, rows: int, actions: int) -> tuple[Any, ...]:
    if side == "none":
        return ()
    if side == "capacity":
        return (Capacity(actions - 1, at_most=rows // (actions + 1)),)
    if side == "band":
        return tuple(
            Capacity(k, at_most=rows // 2) if k % 2 else Capacity(k, at_least=rows // (2 * actions))
            for k in range(actions)
        )
    return (FAIRNESS[side]("2/5", actions - 1),)


def designs(axes: Mapping[str, Sequence[Any]], seed: int = 0) -> list[dict[str, Any]]:
    """Combinations of values such that every pair of values of two axes occurs.

    Each next combination is the one with the most new pairs among a few random ones.
    """
    rng = np.random.default_rng(seed)
    names = list(axes)
    missing = {
        ((a, i), (b, j))
        for a, b in combinations(names, 2)
        for i in range(len(axes[a]))
        for j in range(len(axes[b]))
    }
    found = []
    while missing:
        (a, i), (b, j) = min(missing)
        offers = [
            {n: int(rng.integers(len(axes[n]))) for n in names} | {a: i, b: j} for _ in range(50)
        ]
        best = max(offers, key=lambda offer: len(missing & _pairs(offer)))
        missing -= _pairs(best)
        found.append({n: axes[n][best[n]] for n in names})
    return found


def _pairs(design: Mapping[str, int]) -> set[Any]:
    return set(combinations(design.items(), 2))
