"""A permutation changes the order of rows and features, and nothing else."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.data.permute import orders, permuted


@pytest.mark.parametrize("binarizer", ["quantiles:5", "midpoints"])
def test_every_row_and_every_feature_is_there_in_another_order(binarizer):
    data = mt.load("iris", binarizer=binarizer).with_(weights=np.arange(150.0))
    moved = permuted(data, 7)
    rows, features = orders(data, 7)
    assert sorted(rows) == list(range(150))
    assert (rows != np.arange(150)).any()
    assert moved.features == tuple(data.features[j] for j in features) != data.features
    for j, feature in enumerate(moved.features):
        assert (moved.outcome(j) == data.outcome(data.index[feature])[rows]).all()
    assert (data.X[rows][:, features] == moved.X).all()
    assert (moved.y == data.y[rows]).all()
    assert (moved.weights == rows).all()
    assert moved.classes == data.classes
    assert (moved.source["permutation"], moved.source["sha256"]) == (7, data.source["sha256"])


def test_seeds_give_orders_and_0_is_the_order_as_given():
    data = mt.load("planted:rows=50,tests=9")
    assert permuted(data, 0) is data
    assert permuted(data, 1).sha256 == permuted(data, 1).sha256 != permuted(data, 2).sha256
    for wrong in (-1, 1.5, True):
        with pytest.raises(DataError, match="A permutation is a whole number"):
            permuted(data, wrong)


@pytest.mark.parametrize("method", ["dp", "dp-sorted"])
def test_the_optimum_is_the_same_in_every_order(method):
    data = mt.load("wine", binarizer="quantiles:4")
    values = {
        mt.solve(
            mt.Problem(permuted(data, k), mt.Accuracy(), mt.Trees(2)), method, start=None
        ).value.exact
        for k in range(4)
    }
    assert len(values) == 1
