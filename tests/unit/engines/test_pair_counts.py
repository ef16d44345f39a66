"""Kernels of pair sums against plain NumPy, and depth-two values against all trees."""

import numpy as np
import pytest
from pair_counts_cases import TYPES, Node
from row_tests import each_row

from milp_trees.engines.dp.pair_counts import (
    COUNT,
    GATHER,
)


def upper(F):
    """Pairs that must be valid: lanes from the block of 32 of the row's test on."""
    return np.arange(F)[None, :] >= np.arange(F)[:, None] // 32 * 32


@pytest.mark.slow
@each_row("kernel", [COUNT, GATHER])
@each_row("dtype", TYPES)
@each_row(
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
