"""Absolute error: medians as actions, exact values, and the models with a continuous prediction."""

from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.plugins import CostMatrix
from milp_trees.testing import problem


def least(X, y, w, depth):
    """The least absolute error of all trees of a depth, by trying all, in fractions."""

    def best(rows, left):
        found = min(sum(w[i] * abs(y[i] - y[j]) for i in rows) for j in rows)
        for f in range(X.shape[1]) if left else ():
            sides = [[i for i in rows if X[i, f] == side] for side in (0, 1)]
            if all(sides):
                found = min(found, sum(best(side, left - 1) for side in sides))
        return found

    return best([*range(len(y))], depth)


@pytest.mark.parametrize("seed", range(12))
def test_dp_finds_what_trying_all_trees_finds(seed):
    """Exactly, with weights, decimals and large offsets."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 11))
    X = rng.integers(0, 2, (n, 3)).astype(np.uint8)
    y = rng.integers(0, 12, n) / 4 + (1e6 if seed % 3 == 0 else 0)
    w = rng.integers(1, 5, n)
    data = mt.Dataset(X, y=y, weights=w.astype(float))
    found = mt.solve(mt.Problem(data, mt.tasks.AbsoluteError(), mt.Trees(2)), "dp")
    assert found.optimal
    assert found.value.exact == least(X, [Fraction(t) for t in y], w.tolist(), 2)


def test_a_penalty_is_a_share_of_the_error_of_one_leaf():
    """Targets 0 0 4 8: the error of one leaf is 12 at the median 0 or 4; two leaves have 4."""
    data = mt.Dataset([[0], [0], [1], [1]], y=[0, 0, 4, 8])
    task = mt.tasks.AbsoluteError(leaf_penalty="1/10")
    found = mt.solve(mt.Problem(data, task, mt.Trees(1)), "dp")
    assert found.value.exact == Fraction(4, 12) + 2 * Fraction(1, 10)


def test_predictions_of_other_rows_are_valued():
    """The numbers that a tree predicts need not be targets of the rows that it is asked about."""
    task = mt.tasks.AbsoluteError()
    train = mt.Dataset([[0], [1]], y=[1.5, 4])
    other = mt.Dataset([[0], [1], [1]], y=[2, 3, 0.25], weights=[1, 2, 1])
    tree = mt.solve(mt.Problem(train, task, mt.Trees(1)), "dp").tree
    assert task.value(tree.routes(other), other).exact == Fraction(1, 2) + 2 + Fraction(15, 4)


def test_text_and_several_targets_are_refused_with_a_sentence():
    task = mt.tasks.AbsoluteError()
    with pytest.raises(mt.DataError, match="predicts numbers, and the target holds 'a'"):
        mt.solve(mt.Problem(mt.Dataset([[0], [1]], y=["a", "b"]), task, mt.Trees(1)), "dp")
    two = mt.Dataset([[0], [1]], targets=[[1, 2], [3, 4]], target_names=("u", "v"))
    with pytest.raises(mt.DataError, match="predicts one number, and the data have 2 targets"):
        mt.solve(mt.Problem(two, task, mt.Trees(1)), "dp")


def distances_of(name):
    """What the published models read from the costs of a named problem."""
    formulation = registry.formulation("ort-binary")
    module = __import__(type(formulation).__module__, fromlist=["distances"])
    return module.distances(formulation.presolved_view(problem(name)))


def test_models_read_targets_and_prices_from_the_costs():
    """Targets are counted from the smallest one, -2.25; a row of weight 0 has the price 0."""
    found = distances_of("absolute_error_weights")
    view = registry.formulation("ort-binary").presolved_view(problem("absolute_error_weights"))
    said = np.abs(found.target[:, None] - found.action) * found.price[:, None]
    assert np.array_equal(said, view.costs)
    assert (found.price == 0).tolist() == [w == 0 for w in (0.5, 1, 2, 1.25, 0, 3, 1)]
    assert found.action[0] == 0


def test_models_take_costs_that_were_rounded_to_a_grid():
    """Eleven decimals: the value is exact, the costs of the view are not."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (40, 3)).astype(np.uint8)
    y = rng.integers(1, 10**12, 40) / 10**11
    stated = mt.Problem(mt.Dataset(X, y=y), mt.tasks.AbsoluteError(), mt.Trees(1))
    assert not stated.view(CostMatrix).exact
    found = mt.solve(stated, "ort-binary@highs", start=None)
    assert found.optimal
    assert found.value.number == pytest.approx(mt.solve(stated, "dp").value.number, rel=1e-6)


def test_costs_that_are_no_distances_are_refused_with_a_sentence():
    """Errors of classes that are numbers are none; nor is a class of text."""
    for y in ([0, 1, 2, 2], ["a", "b", "c", "c"]):
        data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=y)
        refused = mt.Problem(data, mt.Accuracy(), mt.Trees(1))
        assert refused.view(CostMatrix).n_actions == 3
        for name in ("ort-binary", "dtip-regression"):
            why = registry.formulation(name).unsupported(refused)
            assert "costs that are distances" in why


def test_the_paper_s_encoding_says_what_it_lacks():
    """Penalties, limits on leaves and on rows in them."""
    formulation = registry.formulation("dtip-regression")
    assert "without penalties" in formulation.unsupported(problem("absolute_error_weights"))
    assert "minimum leaf size" in formulation.unsupported(problem("absolute_error_min_leaf"))


@pytest.mark.parametrize("name", ["ort-binary", "dtip-regression"])
def test_a_published_model_proves_the_value_of_dp(name):
    """On HiGHS, without a start."""
    stated = problem("absolute_error")
    found = mt.solve(stated, f"{name}@highs", start=None)
    assert found.optimal
    assert found.value.exact == mt.solve(stated, "dp").value.exact
