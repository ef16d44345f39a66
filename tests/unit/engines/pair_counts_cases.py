"""A node with its arrays, for the tests of sums over pairs."""

import numpy as np
from numba import njit

from milp_trees.common.compiling.vectors import call
from milp_trees.engines.dp import pair_counts as kernels
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.pair_counts import (
    COUNT,
    EVALUATE,
    PACK,
    aligned,
)
from milp_trees.engines.dp.pair_layout import pair_rows, scratch_bytes

TYPES = {"i16": np.int16, "i32": np.int32, "i64": np.int64}


@njit
def run(address, table):
    return call(address, table)


class Node:
    """Random rows, value vectors by group, and the table of arguments with every buffer full of
    rubbish.
    """

    def __init__(
        self,
        rng,
        dtype,
        F,
        V,
        M,
        group_sizes,
        low=-3,
        high=4,
        density=0.4,
        leaf=0,
        split=None,
        least=(),
    ):
        self.dtype, self.F, self.V, self.M, self.leaf, self.split, self.least = (
            dtype,
            F,
            V,
            M,
            leaf,
            split,
            least,
        )
        T, U, n = TYPES[dtype], V + M, sum(group_sizes)
        self.S, self.R, self.T, self.U, self.n, self.G = (
            (F + 31) // 32 * 32,
            pair_rows(F),
            T,
            U,
            n,
            len(group_sizes),
        )
        self.X = aligned((n + 1, self.S), np.uint8)
        self.X[:n, :F] = rng.random((n, F)) < density
        self.group = np.repeat(np.arange(self.G), group_sizes)
        self.coef = rng.integers(low, high, (self.G, U))
        if M:
            self.coef[:, V:] = rng.integers(1, 3, (self.G, M))
        self.addresses = kernels.kernel_addresses(dtype, split is not None, bool(M), V, n_masses=M)
        self.keep = []
        self.table = np.zeros(at.TABLE, np.int64)
        for entry, number in (
            (at.TESTS, F),
            (at.STRIDE, self.S),
            (at.VALUES, V),
            (at.MASSES, M),
            (at.LEAF, leaf),
            (at.GROUPS, self.G),
        ):
            self.table[entry] = number
        costs = np.zeros(self.S, T)
        costs[:F] = 0 if split is None else split
        self.put(at.SPLIT, costs)
        self.put(at.LEAST, np.array(least or [0], np.int64))
        self.put(at.SCRATCH, self.rubbish(scratch_bytes(self.S, U, n), np.uint8))
        self.put(at.COEF, self.coef.astype(np.int64))
        self.put(at.X, self.X)

    def rubbish(self, shape, dtype):
        buffer = aligned(shape, dtype)
        buffer.view(np.uint8)[...] = 0xA5
        return buffer

    def put(self, entry, array):
        """The address of this array, or of an aligned copy, in the table."""
        if array.ctypes.data % 64 or not array.flags.c_contiguous:
            copy = aligned(array.shape, array.dtype)
            copy[...] = array
            array = copy
        self.keep.append(array)
        self.table[entry] = array.ctypes.data
        return array

    def call(self, kernel):
        run(self.addresses[kernel], self.table.ctypes.data)

    def pack(self, rows):
        first = np.searchsorted(self.group[rows], np.arange(self.G + 1))
        self.put(at.ROWS, np.append(rows, 0).astype(np.int64))
        self.put(at.FIRST, first.astype(np.int64))
        slots = self.put(at.SLOTS, self.rubbish(self.G + 1, np.int64))
        packed = self.put(
            at.BYTES, self.rubbish((int((-(-np.diff(first) // 8)).sum()) + 1, self.S), np.uint8)
        )
        self.call(PACK)
        return slots, packed

    def pairs(self, rows, kernel=COUNT):
        """Pair sums of these rows by a kernel."""
        out = self.put(at.PAIRS, self.rubbish((self.U, self.R, self.S), self.T))
        if kernel == COUNT:
            self.pack(rows)
        else:
            self.words(rows)
        self.call(kernel)
        return out

    def words(self, rows):
        values = self.coef[self.group]
        weighted = (values.T[:, :, None] * self.X[None, : self.n].astype(np.int64)).astype(self.T)
        self.put(at.WEIGHTED, weighted)
        words = max(1, (self.n + 63) // 64)
        self.table[at.WEIGHTED_ROWS], self.table[at.WORDS] = self.n, words
        self.put(
            at.TEST_BITS,
            np.stack([bits(np.flatnonzero(self.X[: self.n, f]), words) for f in range(self.F)]),
        )
        self.put(at.MASK, bits(rows, words))

    def expected(self, rows):
        X = self.X[rows].astype(np.int64)
        values = self.coef[self.group[rows]]
        return np.stack([(X * values[:, [u]]).T @ X for u in range(self.U)])

    def totals(self, rows):
        return self.coef[self.group[rows]].sum(0).astype(np.int64)

    def prepare(self, rows, parent_rows=None):
        """Pair sums and totals of a node, and of its parent if it has one."""
        if parent_rows is None:
            self.table[at.PARENT] = 0
        else:
            self.table[at.PARENT] = self.pairs(parent_rows).ctypes.data
            self.put(at.PARENT_TOTALS, self.totals(parent_rows))
        self.pairs(rows)
        self.put(at.TOTALS, self.totals(rows))

    def evaluate(self, rows, parent_rows=None):
        """Values of the kernel: per test, best, test, best of the rest, test of the rest."""
        self.prepare(rows, parent_rows)
        per_test = self.put(at.PER_TEST, self.rubbish(self.S, self.T))
        self.call(EVALUATE)
        return per_test, *(
            int(self.table[k]) for k in (at.BEST, at.BEST_TEST, at.REST, at.REST_TEST)
        )

    def leaf_value(self, rows):
        """Cost of a leaf, None if it is too small."""
        total = self.totals(rows)
        return (
            None
            if any(total[self.V + m] < self.least[m] for m in range(self.M))
            else min(0, *total[: self.V]) + self.leaf
        )

    def split_value(self, rows, f, solve):
        X = self.X[rows, f] == 1
        sides = [solve(rows[~X]), solve(rows[X])]
        return (
            None
            if None in sides
            else sum(sides) + (0 if self.split is None else int(self.split[f]))
        )

    def depth_one(self, rows):
        return best(
            [self.leaf_value(rows)]
            + [self.split_value(rows, f, self.leaf_value) for f in range(self.F)]
        )

    def depth_two(self, rows):
        """Values of all root tests by trying all trees."""
        return [self.split_value(rows, f, self.depth_one) for f in range(self.F)]


def best(values):
    return min((v for v in values if v is not None), default=None)


def bits(rows, words):
    out = np.zeros(words, np.uint64)
    for row in rows:
        out[row // 64] |= np.uint64(1) << np.uint64(row % 64)
    return out
