"""A tiny problem for which every kernel is called once, so that it is compiled."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.side_fronts import kernels


def warm_up() -> None:
    """Compile all kernels, or read them from files."""
    rows, values = np.arange(2), np.ones((2, 7), dtype=np.int64)
    X, two = np.array([[0], [1]], dtype=np.uint8), np.zeros(2, dtype=np.int64)
    base, one = np.array([[0, 1, 9]], dtype=np.int64), np.zeros(1, dtype=np.int64)
    given = (base, one, one + 9, 10)
    kernels.divide(rows, X, 0)
    kernels.side_sums(rows, X, values)
    sums = kernels.set_sums(rows, values)
    front = kernels.one_level(rows, X, values, 1, 2, two, one, *given)
    tables = (np.zeros(64, np.int64), np.full(64, kernels.EMPTY, np.int64), np.zeros(1, np.int64))
    kernels.put_leaf(*tables, sums, 2, two, *given)
    kernels.merge(*tables, *front, *front, 0, *given)
    kernels.front_of(*tables)
    kernels.best_pair(*front, *front, 0, *given)
