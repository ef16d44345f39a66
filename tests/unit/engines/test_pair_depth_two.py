"""Depth two from sums over pairs: many tests, large numbers, sides of all root tests."""

import itertools

import numpy as np
import pytest
from pair_counts_cases import Node
from row_tests import each_row

from milp_trees.common.compiling.vectors import largest
from milp_trees.engines.dp import pair_counts as kernels
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.pair_counts import (
    EVALUATE,
    HASH,
    SIDES,
)
from milp_trees.engines.dp.pair_layout import forbidden

BITS = {"i16": 16, "i32": 32, "i64": 64}


CASES = [*itertools.product(["i16"], [(1, 0), (1, 1), (3, 0), (2, 2)], [False, True])]
CASES += [
    ("i32", (1, 0), False),
    ("i32", (1, 1), False),
    ("i32", (2, 0), True),
    ("i64", (1, 0), False),
    ("i64", (2, 2), True),
]


@pytest.mark.slow
@each_row("dtype, numbers, has_split", CASES)
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


@each_row("dtype, numbers, has_split", CASES)
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


@each_row("dtype, numbers, has_split", CASES)
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
