"""A small view, for the tests of column generation."""

from fractions import Fraction

import numpy as np

from milp_trees.pruning.view import NodeGains


def _one_split(parent, left, right, error, price=0, **more):
    need = np.zeros(1, dtype=np.int32)
    return NodeGains(
        parent,
        left,
        right,
        np.zeros(3, dtype=np.int64),
        np.array([0, -1, -1]),
        np.array(error, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
        np.ones((1, 1), dtype=np.int32),
        np.zeros(1, dtype=np.int64),
        np.array([0, 1]),
        need,
        np.array([price]),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros((0, 2), dtype=np.int64),
        ("a",),
        Fraction(1),
        Fraction(1),
        Fraction(1),
        **more,
    )
