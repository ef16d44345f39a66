"""A tiny problem for which every kernel is called once, so that it is compiled."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.fronts import rows as sets
from milp_trees.engines.side_fronts import kernels


def warm_up() -> None:
    """Compile all kernels, or read them from files."""
    sets.warm_up()
    X, two, one = np.ones((2, 1), np.uint8), np.zeros(2, np.int64), np.zeros(1, np.int64)
    words, _, rows, sums = sets.pack(X, np.ones((2, 7), dtype=np.int64))
    useful = (np.array([[0, 1, 9]], dtype=np.int64), one, one + 9, 10)
    given = (sums, 1, two, one, sums[0], useful)
    front = kernels.one_level(rows, words, *given)
    useful = kernels.window(sums[0], sums[0], useful)
    table = kernels.put_leaf(kernels.new_table(64), sums[0], two, useful)
    kernels.merge(table, front, front, 0, useful)
    kernels.front_of(table)
    kernels.best_pair(front, front, 0, useful)
