"""Rows and columns as words, and groups of equal rows."""

import numpy as np
import pytest
from row_tests import each_row

from milp_trees.tasks.grouping import (
    equal_rows,
    group_sums,
    packed,
    packed_columns,
    whole_column,
)


@each_row("columns", [0, 1, 7, 8, 9, 63, 64, 65, 130])
@each_row("rows", [0, 1, 8, 70])
def test_rows_and_columns_are_packed_alike(rows, columns):
    """Words of every width, with zeros behind the last entry."""
    X = np.random.default_rng(rows).integers(0, 2, (rows, columns)).astype(np.uint8)
    words = packed(X)
    bits = np.unpackbits(words.view(np.uint8), axis=1) if rows else np.zeros((0, 64 * 3))
    assert (bits[:, :columns] == X).all()
    assert not bits[:, columns:].any()
    assert (packed_columns(np.ascontiguousarray(X.T)) == words).all()


@each_row("rows", [1, 7, 8, 9, 64, 65])
def test_a_whole_column_is_one_of_ones(rows):
    assert (whole_column(rows) == packed_columns(np.ones((rows, 1), dtype=np.uint8))[0]).all()


@pytest.mark.parametrize("columns", [3, 70])
def test_groups_of_equal_rows_are_numbered_by_their_first_rows(columns):
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, (6, columns)).astype(np.uint8)
    X = few[rng.integers(0, 6, 40)]
    first, group = equal_rows(packed(X))
    assert (X[first[group]] == X).all()
    assert (np.diff(first) > 0).all()
    assert len(first) == len(np.unique(X, axis=0))
    values = rng.integers(-9, 9, (40, 2))
    wanted = [values[group == k].sum(axis=0).tolist() for k in range(len(first))]
    assert group_sums(group, len(first))(values).tolist() == wanted


def test_rows_that_all_differ_are_groups_of_their_own():
    first, group = equal_rows(packed(np.eye(5, dtype=np.uint8)))
    assert first.tolist() == group.tolist() == [0, 1, 2, 3, 4]
