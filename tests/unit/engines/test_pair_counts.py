"""Kernels of pair sums against plain NumPy, and depth-two values against all trees."""

import itertools

import numpy as np
import pytest
from numba import njit

from milp_trees.engines.dynamic import pair_counts as kernels
from milp_trees.engines.dynamic import pair_layout as at
from milp_trees.engines.dynamic.pair_counts import (
    COUNT,
    EVALUATE,
    GATHER,
    HASH,
    PACK,
    SIDES,
    aligned,
)
from milp_trees.engines.dynamic.pair_layout import forbidden, largest, pair_rows, scratch_bytes

TYPES = {"i16": np.int16, "i32": np.int32, "i64": np.int64}
BITS = {"i16": 16, "i32": 32, "i64": 64}


@njit
def run(address, table):
    return kernels.call(address, table)


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


def upper(F):
    """Pairs that must be valid: lanes from the block of 32 of the row's test on."""
    return np.arange(F)[None, :] >= np.arange(F)[:, None] // 32 * 32


@pytest.mark.parametrize("kernel", [COUNT, GATHER], ids=["count", "gather"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "F, V, M, sizes",
    [
        (1, 1, 0, [5]),
        (3, 2, 1, [0, 9, 0]),
        (4, 1, 0, []),
        (31, 1, 2, [0, 0]),
        (33, 3, 0, [247, 248, 249, 7]),
        (65, 1, 0, [496, 497]),
        (97, 2, 2, [1, 8, 17, 0, 300]),
        (140, 1, 0, [60, 40]),
        (70, 4, 1, [12, 300, 9]),
    ],
)
def test_pair_sums(kernel, dtype, F, V, M, sizes):
    rng = np.random.default_rng(F)
    node = Node(rng, dtype, F, V, M, sizes, low=-7, high=8)
    for rows in (np.arange(node.n), np.flatnonzero(rng.random(node.n) < 0.5), np.arange(0)):
        out, expected = node.pairs(rows, kernel), node.expected(rows)[:, :F, :F]
        needed = upper(F)
        assert (out[:, :F, :F][:, needed] == expected[:, needed]).all()
        for i in range(node.R):  # padding is zero
            assert not out[:, i, max(F, i // 32 * 32) :].any()
            assert i < F or not out[:, i, i // 32 * 32 :].any()


@pytest.mark.parametrize("dtype", TYPES)
def test_dense_counts_do_not_overflow_bytes(dtype):
    """All rows on which all tests are true: the largest counts."""
    node = Node(np.random.default_rng(0), dtype, 40, 1, 0, [2000], low=1, high=2, density=2)
    assert (node.pairs(np.arange(2000))[0, :40, 32:40] == 2000).all()


def test_pack():
    rng = np.random.default_rng(1)
    node = Node(rng, "i16", 70, 1, 0, [3, 0, 20, 8])
    rows = np.flatnonzero(rng.random(node.n) < 0.8)
    slots, packed = node.pack(rows)
    expected, starts = [], [0]
    for g in range(node.G):
        mine = rows[node.group[rows] == g]
        for k in range(0, len(mine), 8):
            eight = node.X[mine[k : k + 8]].astype(np.int64)
            expected.append((eight << np.arange(len(eight))[:, None]).sum(0))
        starts.append(len(expected))
    assert slots.tolist() == starts
    assert (packed[: len(expected)] == np.array(expected)).all()


CASES = [*itertools.product(["i16"], [(1, 0), (1, 1), (3, 0), (2, 2)], [False, True])]
CASES += [
    ("i32", (1, 0), False),
    ("i32", (1, 1), False),
    ("i32", (2, 0), True),
    ("i64", (1, 0), False),
    ("i64", (2, 2), True),
]


@pytest.mark.parametrize("dtype, numbers, has_split", CASES)
def test_depth_two_is_the_best_of_all_trees(dtype, numbers, has_split):
    V, M = numbers
    rng = np.random.default_rng(V + 10 * M)
    for F in (1, 2, 5, 9):
        for leaf in (0, 2):
            split = rng.integers(0, 3, F) if has_split else None
            sizes = rng.integers(0, 9, 4).tolist()
            node = Node(
                rng,
                dtype,
                F,
                V,
                M,
                sizes,
                leaf=leaf,
                split=split,
                least=tuple(rng.integers(1, 6, M).tolist()),
            )
            parent = np.arange(node.n)
            rows = parent[rng.random(node.n) < 0.5]
            per_test, *results = node.evaluate(rows, parent)
            rest = np.setdiff1d(parent, rows)
            none = forbidden(BITS[dtype])
            values, others = (
                [none if v is None else v for v in node.depth_two(r)] for r in (rows, rest)
            )
            assert per_test[:F].tolist() == values
            assert (per_test[F:] == largest(BITS[dtype])).all()
            assert results == [
                min(values),
                int(np.argmin(values)),
                min(others),
                int(np.argmin(others)),
            ]


def reference(node, pairs, total):
    """Depth-two values of all root tests from full symmetric pair sums, with Python's integers."""
    none, F = forbidden(BITS[node.dtype]), node.F
    split = np.zeros(F, np.int64) if node.split is None else node.split

    def cost(sums):
        value = np.minimum(0, sums[: node.V].min(0))
        for m in range(node.M):
            value = np.where(sums[node.V + m] < node.least[m], none, value)
        return value

    n11, n = pairs, total[:, None, None]
    ni, nj = (np.einsum("uii->ui", pairs)[:, :, None], np.einsum("uii->ui", pairs)[:, None, :])
    right = (cost(n11) + cost(ni - n11) + split).min(1) + 2 * node.leaf
    left = (cost(nj - n11) + cost(n - ni - nj + n11) + split).min(1) + 2 * node.leaf
    ni = ni[:, :, 0]
    right, left = (
        np.minimum(right, cost(ni) + node.leaf),
        np.minimum(left, cost(total[:, None] - ni) + node.leaf),
    )
    bad = (right >= none // 3) | (left >= none // 3)
    return np.where(bad, none, right + left + split)


@pytest.mark.parametrize("dtype, numbers, has_split", CASES)
def test_depth_two_of_many_tests(dtype, numbers, has_split):
    V, M = numbers
    rng = np.random.default_rng(V + 10 * M + has_split)
    for F in (3, 4, 7, 15, 16, 17, 32, 33, 50, 64, 100, 140):
        split = rng.integers(0, 3, F) if has_split else None
        sizes = [int(rng.integers(0, 120)) for _ in range(3)]
        node = Node(
            rng,
            dtype,
            F,
            V,
            M,
            sizes,
            leaf=int(rng.integers(0, 3)),
            split=split,
            least=(4, 9)[:M],
            density=rng.random(),
        )
        parent = np.arange(node.n)
        rows = parent[rng.random(node.n) < 0.4]
        rest = np.setdiff1d(parent, rows)
        values, others = (
            reference(node, node.expected(r)[:, :F, :F], node.totals(r)) for r in (rows, rest)
        )
        per_test, *results = node.evaluate(rows, parent)
        assert per_test[:F].tolist() == values.tolist()
        assert results == [values.min(), values.argmin(), others.min(), others.argmin()]
        per_test, *alone = node.evaluate(rows)
        assert alone[:2] == results[:2]
        node.table[at.PER_TEST] = 0
        node.call(EVALUATE)
        assert int(node.table[at.BEST]) == results[0]


def test_numbers_close_to_the_limits():
    """The largest sums that are allowed, without and with masses."""
    rng = np.random.default_rng(3)
    for M, most in ((0, 32767), (1, 8191)):
        node = Node(
            rng,
            "i16",
            40,
            1,
            M,
            [1] * 100,
            leaf=300,
            split=rng.integers(0, 200, 40),
            least=(20,)[:M],
        )
        size = (most - 4 * 300 - 3 * 200) // 100
        node.coef[:, 0] = rng.choice([-size, size], 100)
        node.put(at.COEF, node.coef.astype(np.int64))
        rows = np.flatnonzero(rng.random(100) < 0.5)
        values = reference(node, node.expected(rows)[:, :40, :40], node.totals(rows))
        assert node.evaluate(rows, np.arange(100))[0][:40].tolist() == values.tolist()


@pytest.mark.parametrize("dtype, numbers, has_split", CASES)
def test_sides_of_all_root_tests(dtype, numbers, has_split):
    """A leaf, and the best tree with one split at most, on either side of every test; of the node
    and of the rest of its parent.
    """
    V, M = numbers
    rng = np.random.default_rng(V)
    for F in (1, 6, 17, 40):
        split = rng.integers(0, 3, F) if has_split else None
        node = Node(rng, dtype, F, V, M, [10, 30, 5], leaf=1, split=split, least=(5, 12)[:M])
        parent = np.arange(node.n)
        rows = np.flatnonzero(rng.random(node.n) < 0.6)
        node.prepare(rows, parent)
        found = node.put(at.SIDES_OUT, node.rubbish((2, 4, node.S), np.int64))
        node.call(SIDES)
        for kind, part in zip(found, (rows, np.setdiff1d(parent, rows)), strict=True):
            for f in range(0, F, 1 + F // 7):
                true = node.X[part, f] == 1
                for side, held in ((0, part[~true]), (2, part[true])):
                    for value, solve in enumerate((node.leaf_value, node.depth_one)):
                        expected = solve(held)
                        got = int(kind[side + value, f])
                        if expected is None:
                            assert got >= forbidden(BITS[dtype])
                        else:
                            assert got == expected


def test_hashes():
    """Both children's NH hashes as by definition; words without rows may be left out."""
    rng = np.random.default_rng(2)
    n_words, n_features = 8, 3
    keys = kernels.hash_keys(n_words, seed=5)
    node = Node(rng, "i16", 1, 1, 0, [1])
    whole = rng.integers(0, 2**64, n_words, np.uint64)
    whole[2:5] = 0
    tests = rng.integers(0, 2**64, (n_features, n_words), np.uint64)
    node.table[[at.SET_WORDS, at.SET_TESTS_STRIDE, at.SET_COUNT, at.KEYS_STRIDE]] = (
        n_words,
        n_words,
        n_features,
        n_words,
    )
    node.put(at.SET, whole)
    node.put(at.SET_TESTS, tests)
    node.put(at.KEYS, keys)
    out = node.put(at.HASHES, node.rubbish((n_features, 4), np.uint64))
    node.call(HASH)

    def nh(words, key):
        total = 0
        for word, k in zip(words.tolist(), key.tolist(), strict=True):
            k1, k2 = k % 2**32, k >> 32
            total += (word + k1) % 2**32 * (((word >> 32) + k2) % 2**32) - k1 * k2 if word else 0
        return total % 2**64

    for f in range(n_features):
        sides = (whole & ~tests[f], whole & tests[f])
        assert out[f].tolist() == [nh(side, key) for side in sides for key in keys[:2]]
    assert len(set(out.ravel().tolist())) == 4 * n_features
