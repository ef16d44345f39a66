"""Problems that find planted faults.

Each is the smallest known problem on which some mutant of a formulation behaves differently.
`python -m tests.mutation` plants faults that only act from some row, column, threshold, level, node
or leaf size on; the problems here are for those that no other problem reached.
`FOUND_WIDE` goes to `wide_problems`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset

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
    "wide-forty-rows-capacity": {
        "seed": 0,
        "depth": 1,
        "actions": 2,
        "rows": 40,
        "shape": "seven-tests",
        "side": "capacity",
    },
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


def found_targets() -> dict[str, Dataset]:
    """Datasets with numeric targets, as `y` and as times with events: 70 rows, six groups."""
    rng, n = np.random.default_rng(70), 70
    fields: dict[str, Any] = {
        "X": rng.integers(0, 2, (n, 6)),
        "features": [BinaryFeature(f"t{j}") for j in range(6)],
        "weights": rng.integers(1, 9, n) / 4,
        "groups": rng.permutation(np.arange(n) % 6),
    }
    ends = np.column_stack([rng.integers(1, 20, n), rng.random(n) < 0.6])
    return {
        "found_targets()[number]": Dataset(**fields, y=rng.integers(1, 40, n) / 4),
        "found_targets()[time]": Dataset(**fields, targets=ends, target_names=("time", "event")),
    }
