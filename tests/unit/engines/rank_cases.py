"""What the tests of areas under curves share."""

import numpy as np

import milp_trees as mt

RANKED = (
    "auc",
    "auc_perfect_first_split",
    "auc_max_leaves",
    "partial_auc",
    "partial_auc_first_class",
)


def data(seed, rows=12, tests=4):
    """Random rows of two classes, both present."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    y[:2] = 0, 1
    return mt.Dataset(rng.integers(0, 2, (rows, tests)), y=y)
