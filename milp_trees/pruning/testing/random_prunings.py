"""Random ensembles to prune, and all prunings of a small ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from milp_trees.models.ensemble import Ensemble
from milp_trees.problems.problem import Problem
from milp_trees.pruning.feature_costs import FeatureCosts, Group
from milp_trees.pruning.tasks.pruned_error import PrunedError
from milp_trees.pruning.testing.examples import Drawing, pruning_problem


def random_problem(
    rng: np.random.Generator,
    n_trees: int = 2,
    depth: int = 2,
    n_features: int = 3,
    n_rows: int = 5,
    budget: bool = False,
    prices: str = "any",
    lam: Any = None,
) -> Problem:
    """Random trees on random rows, with rational prices and λ.

    The trees were not fitted on these rows, so gains may be negative.
    """
    columns = [f"x{k + 1}" for k in range(n_features)]

    def grow(levels: int) -> Drawing:
        label = str(rng.choice(["A", "B"]))
        if not levels or rng.random() < 0.2:
            return label
        return (
            label,
            str(rng.choice(columns)),
            float(rng.integers(3)) + 0.5,
            grow(levels - 1),
            grow(levels - 1),
        )

    rows = {c: rng.integers(0, 4, n_rows).astype(float).tolist() for c in columns}
    costs = (
        _random_costs(rng, columns, n_rows)
        if prices == "any"
        else FeatureCosts([_rational(rng, 6) for _ in columns])
    )
    error_weights = (
        rng.integers(0, 3, (n_rows, n_trees)) if rng.random() < 0.4 else rng.integers(0, 3, n_rows)
    )
    error_weights[0] = 1
    cost_weights = rng.integers(0, 3, n_rows)
    cost_weights[-1] = 1
    if lam is None:
        lam = Fraction(0) if budget and rng.random() < 0.5 else _rational(rng, 3) / 2
    most = _rational(rng, 8) * n_features / 3 if budget else None
    task = PrunedError(lam, costs, error_weights, cost_weights, max_cost=most)
    return pruning_problem(
        [grow(depth) for _ in range(n_trees)],
        rows,
        [str(c) for c in rng.choice(["A", "B"], n_rows)],
        task,
    )


def _random_costs(rng: np.random.Generator, columns: list[str], n_rows: int) -> FeatureCosts:
    groups = []
    if rng.random() < 0.5:
        groups = [
            Group(
                "g",
                columns[: int(rng.integers(1, len(columns) + 1))],
                _rational(rng, 4),
                once=bool(rng.random() < 0.4),
            )
        ]
        if rng.random() < 0.4:
            groups.append(
                Group(
                    "above", ["g", *columns[-1:]], _rational(rng, 4), once=bool(rng.random() < 0.5)
                )
            )
    per_row = None
    if rng.random() < 0.25:
        per_row = np.array(
            [[_rational(rng, 3) for _ in columns] for _ in range(n_rows)], dtype=object
        )
    features = [Fraction(0) if rng.random() < 0.2 else _rational(rng, 6) for _ in columns]
    node, leaf = (_rational(rng, 2) / 8 if rng.random() < 0.3 else Fraction(0) for _ in range(2))
    return FeatureCosts(features, per_row, groups, node, leaf)


def _rational(rng: np.random.Generator, largest: int) -> Fraction:
    """A rational between 0 and `largest` with a small denominator."""
    below = int(rng.choice([1, 2, 3, 7]))
    return Fraction(int(rng.integers(0, largest * below + 1)), below)


def all_prunings(ensemble: Ensemble) -> Iterator[Ensemble]:
    """Every pruning of an ensemble, once.

    It is for tiny ensembles: the number of prunings is the product over the trees.
    """

    def of(h: int) -> list[tuple[int, ...]]:
        if ensemble.left[h] < 0:
            return [()]
        both = product(of(int(ensemble.left[h])), of(int(ensemble.right[h])))
        return [(), *((h, *a, *b) for a, b in both)]

    for kept in product(*(of(int(root)) for root in ensemble.roots)):
        keep = np.zeros(ensemble.n_nodes, dtype=bool)
        keep[[h for tree in kept for h in tree]] = True
        yield ensemble.pruned(keep)
