"""The drawn problems of the suite, with few rows and much variety.

They have deep trees, many actions, rows, thresholds, groups and side rows, large leaves and large
costs. `WIDE` was made by `designs` (every pair of values of two axes occurs). The seed of each
problem is the one, of up to 300, for which most of its limits matter: without the last level, the
leaf limit, a row of the leaf size, or the side constraints, the optimum would be another one.
"""

from __future__ import annotations

from typing import Any

from milp_trees.problems.problem import Problem
from milp_trees.testing.drawn import drawn_problem
from milp_trees.testing.found_by_mutation import FOUND_WIDE

AXES = (
    "depth",
    "actions",
    "rows",
    "shape",
    "costs",
    "penalty",
    "leaves",
    "min_leaf",
    "side",
    "seed",
)

#: Problems that every formulation of general costs takes.
PLAIN: list[tuple[Any, ...]] = [
    (3, 2, 24, "three-columns", "labels", "leaf", None, 1, "none", 4),
    (2, 2, 72, "seven-tests", "any", "split", 3, 1, "none", 0),
    (3, 2, 20, "four-tests", "millions", "none", 5, 1, "none", 0),
    (2, 2, 24, "nine-thresholds", "millions", "columns", None, 1, "none", 16),
    (2, 3, 30, "seventeen-thresholds", "labels", "columns", 3, 1, "none", 3),
    (3, 3, 20, "four-tests", "any", "split", None, 1, "none", 1),
    (2, 3, 24, "three-columns", "millions", "leaf", 3, 1, "none", 6),
    (3, 3, 72, "seven-tests", "labels", "none", None, 1, "none", 0),
    (2, 5, 24, "nine-thresholds", "labels", "none", 3, 1, "none", 9),
    (3, 5, 24, "three-columns", "any", "columns", None, 1, "none", 1),
    (3, 5, 30, "seventeen-thresholds", "millions", "split", None, 1, "none", 4),
    (2, 5, 20, "four-tests", "any", "leaf", 3, 1, "none", 1),
    (3, 3, 24, "nine-thresholds", "labels", "split", 5, 1, "none", 2),
    (2, 2, 30, "seventeen-thresholds", "any", "none", None, 1, "none", 0),
    (3, 5, 20, "four-tests", "labels", "columns", 5, 1, "none", 46),
    (2, 5, 72, "seven-tests", "millions", "columns", None, 1, "none", 0),
    (2, 3, 72, "seven-tests", "labels", "leaf", 3, 1, "none", 3),
    (3, 2, 24, "nine-thresholds", "any", "leaf", None, 1, "none", 0),
    (2, 3, 30, "seventeen-thresholds", "labels", "leaf", None, 1, "none", 1),
    (3, 3, 24, "three-columns", "millions", "none", None, 1, "none", 0),
    (2, 3, 24, "three-columns", "millions", "split", None, 1, "none", 0),
]
#: Problems with a minimum leaf size.
LARGE_LEAVES: list[tuple[Any, ...]] = [
    (3, 2, 72, "seven-tests", "labels", "none", None, 3, "none", 0),
    (2, 2, 24, "nine-thresholds", "any", "columns", 3, 5, "none", 27),
    (3, 2, 30, "seventeen-thresholds", "millions", "columns", None, 4, "none", 4),
    (2, 3, 64, "four-tests", "labels", "none", None, 4, "none", 1),
    (3, 3, 72, "seven-tests", "any", "columns", 5, 3, "none", 2),
    (3, 3, 24, "nine-thresholds", "millions", "none", 5, 5, "none", 6),
    (2, 5, 30, "seventeen-thresholds", "labels", "columns", 3, 3, "none", 7),
    (3, 5, 30, "seventeen-thresholds", "any", "none", None, 5, "none", 0),
    (2, 5, 64, "four-tests", "millions", "columns", 3, 4, "none", 0),
    (3, 5, 24, "nine-thresholds", "labels", "columns", None, 5, "none", 15),
    (2, 5, 72, "seven-tests", "any", "columns", None, 4, "none", 0),
    (2, 2, 64, "four-tests", "millions", "none", None, 3, "none", 0),
    (3, 3, 64, "four-tests", "any", "none", 5, 5, "none", 3),
    (2, 3, 24, "nine-thresholds", "millions", "none", 3, 3, "none", 3),
    (3, 3, 24, "nine-thresholds", "millions", "none", None, 4, "none", 0),
    (2, 3, 30, "seventeen-thresholds", "millions", "none", None, 3, "none", 2),
    (2, 5, 72, "seven-tests", "millions", "columns", 3, 5, "none", 3),
]
#: Problems with side rows: a capacity, one per action, and all notions of fairness between five
#: groups.
SIDE_ROWS: list[tuple[Any, ...]] = [
    (3, 2, 64, "four-tests", "labels", "none", None, 1, "parity", 2),
    (2, 2, 24, "nine-thresholds", "any", "none", 3, 3, "capacity", 11),
    (2, 2, 20, "four-tests", "millions", "none", None, 3, "band", 13),
    (3, 2, 20, "four-tests", "any", "none", 5, 1, "conditional", 0),
    (3, 2, 64, "four-tests", "millions", "none", 5, 3, "opportunity", 0),
    (3, 2, 24, "nine-thresholds", "millions", "none", None, 1, "predictive", 0),
    (2, 2, 20, "four-tests", "labels", "none", 3, 3, "odds", 17),
    (2, 3, 24, "nine-thresholds", "labels", "none", None, 1, "opportunity", 3),
    (2, 3, 64, "four-tests", "any", "none", 3, 3, "predictive", 3),
    (3, 3, 64, "four-tests", "millions", "none", None, 1, "capacity", 0),
    (3, 3, 64, "four-tests", "labels", "none", 5, 1, "band", 0),
    (2, 3, 20, "four-tests", "any", "none", 3, 3, "parity", 48),
    (2, 3, 64, "four-tests", "any", "none", None, 3, "conditional", 0),
    (3, 3, 24, "nine-thresholds", "millions", "none", None, 1, "odds", 6),
    (3, 5, 24, "nine-thresholds", "labels", "none", None, 1, "conditional", 3),
    (2, 5, 64, "four-tests", "any", "none", 3, 3, "odds", 0),
    (2, 5, 20, "four-tests", "millions", "none", 3, 1, "parity", 1),
    (3, 5, 20, "four-tests", "labels", "none", None, 1, "capacity", 8),
    (2, 5, 24, "nine-thresholds", "any", "none", None, 3, "band", 0),
    (2, 5, 20, "four-tests", "any", "none", None, 1, "opportunity", 0),
    (2, 5, 20, "four-tests", "labels", "none", None, 1, "predictive", 0),
    (2, 5, 24, "nine-thresholds", "millions", "none", 3, 1, "conditional", 3),
    (2, 3, 24, "nine-thresholds", "millions", "none", 3, 3, "parity", 15),
]
#: Four levels: trees are encoded and decoded, and the models are solved only between trees.
DEEP: list[tuple[Any, ...]] = [
    (4, 2, 30, "nine-thresholds", "labels", "leaf", None, 1, "none", 0),
    (4, 5, 64, "four-tests", "any", "columns", 9, 1, "none", 0),
    (4, 3, 64, "four-tests", "any", "none", None, 3, "none", 0),
    (4, 3, 64, "four-tests", "labels", "none", None, 1, "band", 0),
]
TABLES = {"plain": PLAIN, "large-leaves": LARGE_LEAVES, "side-rows": SIDE_ROWS, "deep": DEEP}
#: Other seeds for the same designs at the level `thorough`.
MORE_SEEDS = 3

#: Name of a problem → options of `drawn_problem`.
WIDE: dict[str, dict[str, Any]] = {
    f"wide-{kind}-{i}": dict(zip(AXES, row, strict=True))
    for kind, table in TABLES.items()
    for i, row in enumerate(table)
} | FOUND_WIDE


def wide_problems(level: str = "quick") -> dict[str, Problem]:
    """The drawn problems of a level by name.

    `thorough` has those of `quick`, and the same designs with other seeds.
    """
    found = {name: drawn_problem(**options) for name, options in WIDE.items()}
    for k in range(MORE_SEEDS if level == "thorough" else 0):
        found |= {
            f"{name}-{k}": drawn_problem(**{**options, "seed": 1000 + k})
            for name, options in WIDE.items()
        }
    return found
