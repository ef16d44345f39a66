"""Sums over the rows on which each test is true: counted, added up, from ranks, and in blocks."""

import numpy as np
from row_tests import each_row

from milp_trees.common.limits import NEVER, Deadline
from milp_trees.data.ranked import RankedTests
from milp_trees.methods import true_sums as module
from milp_trees.methods.true_sums import kinds_of, true_sums


def values(kinds, rng, rows):
    """Values of every row, and how their sums are asked for."""
    if kinds == "few":
        whole = np.eye(3, dtype=np.int64)[rng.integers(-2, 1, rows)]
        found = kinds_of(list(whole.T))
        return whole, (whole[found.rows].astype(float), found)
    if kinds == "many":
        whole = rng.integers(0, 90, (rows, 3))
        assert kinds_of(list(whole.T)) is None
        return whole, (whole.astype(float), None)
    thirds = rng.integers(0, 9, (rows, 2)) / 3.0
    return thirds, (thirds, None)


def ranks(rng, rows):
    """Three columns, of which one has no test; the tests are in any order, and not of all codes."""
    codes = rng.integers(0, 9, (rows, 3)).astype(np.int32)
    column = np.array([2, 0, 2, 0, 2])
    return RankedTests(codes, column, np.array([3, 0, 8, 5, 4]))


@each_row("kinds", ["few", "many", "fractions"])
@each_row("ranked", [False, True])
@each_row("block", [5, 10**6])
def test_sums_are_those_of_a_matrix_product(kinds, ranked, block, monkeypatch):
    """Also for more rows than a byte counts, and for some of the rows."""
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "SMALL", 0)
    rng = np.random.default_rng(0)
    tests = ranks(rng, 700) if ranked else rng.integers(0, 2, (700, 4)).astype(np.uint8)
    X = tests.dense if ranked else tests
    given, requested = values(kinds, rng, 700)
    sums = true_sums(tests, *requested)
    for share in (1.0, 0.6, 0.01):
        rows = sums.rows[rng.random(700) <= share]
        wanted = given[rows].T @ X[rows].astype(float)
        assert np.allclose(sums.sums(rows, NEVER), wanted, atol=1e-9)
        assert np.allclose(sums.total(rows), given[rows].sum(axis=0), atol=1e-9)


@each_row("kinds", ["few", "many"])
@each_row("ranked", [False, True])
def test_without_time_there_are_no_sums(kinds, ranked):
    rng = np.random.default_rng(0)
    tests = ranks(rng, 50) if ranked else rng.integers(0, 2, (50, 4)).astype(np.uint8)
    sums = true_sums(tests, *values(kinds, rng, 50)[1])
    assert sums.sums(sums.rows, Deadline(0.0)) is None


def test_no_rows_and_no_tests():
    none = true_sums(np.zeros((0, 3), dtype=np.uint8), np.zeros((0, 2)))
    assert none.sums(none.rows, NEVER).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert none.total(none.rows).tolist() == [0, 0]
    bare = true_sums(np.zeros((4, 0), dtype=np.uint8), np.ones((4, 2)))
    assert bare.sums(bare.rows, NEVER).shape == (2, 0)


def test_kinds_are_told_apart_by_all_columns():
    columns = [np.array([7, -5, 7, 7]), np.array([3, 3, 3, 3]), np.array([0, 0, 2, 0])]
    found = kinds_of(columns)
    assert found.of_row.tolist() == [1, 0, 2, 1]
    assert found.of_row[found.rows].tolist() == [0, 1, 2]
    assert kinds_of([np.array([0, 2**62])]) is None
    assert kinds_of([np.array([], dtype=np.int64)]) is None
