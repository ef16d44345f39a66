"""Buffers of the kernels, and the calls with their long argument lists."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.dynamic import kernels
from milp_trees.engines.dynamic.instance import Instance

#: Seconds that one call of a kernel should take at most, so that limits and Ctrl-C are noticed.
SLICE = 0.1


class Work:
    """Work arrays for one instance; `front`, `test` and `left` hold the last answer by number of leaves."""

    def __init__(self, instance: Instance) -> None:
        self.instance = inst = instance
        dtype, (n, padded), V = inst.dtype, inst.X.shape, inst.values.shape[1]
        number = dtype.type
        self.order = np.zeros(0, dtype=np.int64)
        self.leaf, self.least, self.infinity = number(inst.leaf), number(inst.least), number(inst.infinity)
        self.P = np.zeros((V, max(1, inst.n_tests), padded), dtype=dtype)
        self.scratch = (np.zeros((n // 8 + 1, padded), dtype=np.uint8), np.zeros(padded, dtype=np.uint8), np.zeros(padded, dtype=dtype))
        self.room = (
            np.zeros_like(self.P), np.zeros_like(self.P), np.zeros((V, padded), dtype=dtype),
            np.zeros((4, padded), dtype=dtype), np.zeros((4, padded), dtype=dtype),
        )  # fmt: skip
        self.front, self.test, self.left = np.zeros(8, dtype=dtype), np.zeros(8, dtype=np.int64), np.zeros(8, dtype=np.int64)
        self.total = np.zeros(V, dtype=dtype)
        self.single = number(0)

    def sums(self, rows: np.ndarray) -> None:
        """Pair sums of a set of rows, and from them its best trees of depth two."""
        inst = self.instance
        self.total = inst.values[rows].sum(axis=0, dtype=inst.dtype)
        kernels.pair_sums(inst.X, rows, inst.starts, inst.coef, inst.values, inst.n_tests, self.P, *self.scratch)
        _, _, column, cell, sides = self.room
        kernels.evaluate(self.P, self.total, inst.n_tests, self.leaf, inst.split, self.least, self.infinity, column, cell, sides)
        self.single = inst.dtype.type(kernels.root_leaf(self.total, self.leaf, self.least, self.infinity))
        kernels.front_two(sides, inst.n_tests, inst.split, self.single, self.infinity, self.front, self.test, self.left)

    def order_by_two(self) -> np.ndarray:
        """Tests by the value of the best depth-two tree with that root (call `sums` before)."""
        F, sides = self.instance.n_tests, self.room[4]
        value = np.minimum(sides[0], sides[1])[:F].astype(np.int64) + np.minimum(sides[2], sides[3])[:F] + self.instance.split[:F]
        return np.argsort(value, kind="stable")

    def begin_three(self) -> None:
        """Start from the best trees of depth two."""
        self.order = self.order_by_two()
        for part in (self.front, self.test, self.left):
            part[4:] = part[3]

    def three(self, rows: np.ndarray, begin: int, end: int, limited: bool, enough: int) -> None:
        inst = self.instance
        kernels.search_three(
            inst.X, rows, inst.starts, inst.coef, inst.values, inst.n_tests, self.P, self.total, self.order[begin:end], self.leaf, inst.split,
            self.least, self.infinity, limited, enough, self.front, self.test, self.left, self.room, *self.scratch,
        )  # fmt: skip

    def tests_per_slice(self, n_rows: int) -> int:
        """Root tests per kernel call, by a rough count of byte operations (1e10 a second)."""
        F, V = self.instance.n_tests, self.instance.values.shape[1]
        per_row = 1 / 8 if len(self.instance.coef) else 8 * V
        return max(1, int(SLICE / (1e-10 * F * F * (n_rows * per_row + 20 * V))))
