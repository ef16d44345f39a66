"""The search over sorted columns against the generic engine, and what its bounds must not do."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.ranked import RankedTests
from milp_trees.engines.dp.method import solve_view
from milp_trees.mip.registry import registry
from milp_trees.results.result import Status
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.tasks.views import CostMatrix


def numeric(seed: int, rows: int, columns: int, classes: int, distinct: int = 12) -> mt.Dataset:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {f"x{j}": rng.integers(0, distinct, rows).astype(float) for j in range(columns)}
    )
    frame["flag"] = rng.integers(0, 2, rows)
    frame["town"] = rng.choice(["a", "b", "c"], rows)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    return mt.Binarizer(kind="midpoints").dataset(
        frame, y, weights=rng.integers(0, 4, rows).astype(float)
    )


TASKS = {
    "accuracy": lambda: mt.Accuracy(),
    "leaf penalty": lambda: mt.Accuracy(leaf_penalty="1/40"),
    "feature costs": lambda: mt.Accuracy(
        feature_costs={"x0": "1/30", "flag": "1/300"}, leaf_penalty="1/500"
    ),
    "weighted": lambda: mt.tasks.WeightedError(),
    "balanced": lambda: mt.tasks.BalancedAccuracy(split_penalty="1/60"),
    "costs": lambda: mt.tasks.MisclassificationCosts(matrix=[[0, 3, 1], [2, 0, 5], [1, 1, 0]]),
}


@each_row("depth", [0, 1, 2, 3])
@each_row("task", TASKS)
@each_row("least", [1, 4])
def test_equals_the_generic_engine(task, depth, least):
    """Two and three actions, prices of columns, numbers and texts mixed, smallest leaves."""
    for seed in range(2):
        data = numeric(seed, 30, 2, 3 if task == "costs" or seed else 2)
        requested = mt.Problem(data, TASKS[task](), mt.Trees(depth, min_samples_leaf=least))
        view = requested.view(CostMatrix)
        result = mt.solve(requested, "dp-sorted")
        assert result.status is Status.OPTIMAL, result.message
        Z, _ = solve_view(view, requested.trees)
        assert result.value.exact == view.to_value(Z)
        assert result.certificate.bound_exact == result.value.exact


@pytest.mark.slow
def test_a_smallest_leaf_makes_supersets_cheaper():
    """opt(D') >= opt(D) for D' in D is false with a smallest leaf: rows may be what makes a leaf
    possible. Interval bounds must come from trees without.
    """
    grown = mt.Binarizer(kind="midpoints").dataset(
        pd.DataFrame({"x": [0.0, 0, 0, 1, 1, 1, 1]}), [1, 1, 1, 0, 0, 0, 0]
    )
    values = [
        brute_force_value(mt.Problem(d, mt.Accuracy(), mt.Trees(2, min_samples_leaf=3)))
        for d in (grown.subset(np.arange(1, 7)), grown)
    ]
    assert values == [2, 0]
    rng = np.random.default_rng(5)
    for _ in range(40):
        rows = 14
        frame = pd.DataFrame(
            {
                "x": rng.integers(0, 6, rows).astype(float),
                "z": rng.integers(0, 6, rows).astype(float),
            }
        )
        y = np.concatenate([[0, 1], rng.integers(0, 2, rows - 2)])
        data, space = (
            mt.Binarizer(kind="midpoints").dataset(frame, y, classes=(0, 1)),
            mt.Trees(2, min_samples_leaf=3),
        )
        requested = mt.Problem(data, mt.Accuracy(), space)
        assert mt.solve(requested, "dp-sorted").value.exact == brute_force_value(requested)
        deep = mt.Problem(data, mt.Accuracy(), mt.Trees(3, min_samples_leaf=3))
        view = deep.view(CostMatrix)
        assert mt.solve(deep, "dp-sorted").value.exact == view.to_value(
            solve_view(view, deep.trees)[0]
        )


def brute_force_value(asked: mt.Problem):
    return mt.solve(asked, "enumerate").value.exact


def test_weights_per_leaf():
    data = numeric(3, 30, 2, 2)
    requested = mt.Problem(data, mt.tasks.WeightedError(), mt.Trees(3, min_weight_leaf=6))
    assert mt.solve(requested, "dp-sorted").value.exact == mt.solve(requested, "dp").value.exact


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1, 997, 40_000_003])
def test_number_types(factor):
    """Sums of 16, 32 and 64 bits give the same tree."""
    data = numeric(1, 40, 2, 2)
    weights = np.array([1, factor])[data.y] * np.maximum(1, data.weights)
    requested = mt.Problem(
        data.with_(y=data.y, classes=data.classes, weights=weights),
        mt.tasks.WeightedError(),
        mt.Trees(3),
    )
    view = requested.view(CostMatrix)
    assert mt.solve(requested, "dp-sorted").value.exact == view.to_value(
        solve_view(view, requested.trees)[0]
    )


def test_many_thresholds_are_never_a_matrix(monkeypatch):
    """600 rows × 3 columns have 1800 thresholds; nobody asks for the matrix of outcomes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=600) for j in range(3)})
    y = (frame.x0 * frame.x1 + rng.normal(size=600) / 2 > 0).astype(int).to_numpy()
    data = mt.Binarizer(kind="midpoints").dataset(frame, y)
    assert data.n_features == 3 * 599

    def refuse(self):
        raise AssertionError("the matrix was made")

    monkeypatch.setattr(RankedTests, "dense", property(refuse))
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(3)), "dp-sorted", reference=None)
    assert result.optimal
    few = mt.solve(
        mt.Problem(mt.Binarizer(kind="quantiles").dataset(frame, y), mt.Accuracy(), mt.Trees(3)),
        "dp-sorted",
    )
    assert result.value.exact < few.value.exact


def test_what_it_does_not_take_gets_a_sentence():
    method = registry.method("dp-sorted")
    costs = mt.Dataset([[0], [1]], values=[[0, 1], [1, 0]])
    capacity = Capacity(0, at_most=1)
    for message, requested in (
        (
            "side constraints",
            mt.Problem(costs, ActionCostMatrix(constraints=(capacity,)), mt.Trees(1)),
        ),
        (
            "in 64 bits",
            mt.Problem(
                costs.with_(values=[[0, 2**55 + 1], [2**55, 0]]), ActionCostMatrix(), mt.Trees(1)
            ),
        ),
    ):
        assert message in method.unsupported(requested)


# -- ranks ---------------------------------------------------------------------------------------------------


def test_ranked_tests_are_the_same_data():
    """Same outcomes, rows and predictions as the matrix they stand for."""
    data = numeric(2, 25, 2, 3)
    plain = mt.Dataset(
        np.array(data.X), data.features, y=data.y, classes=data.classes, weights=data.weights
    )
    assert data.ranked is not None
    assert plain.ranked is None
    rows = np.array([3, 1, 7])
    assert np.array_equal(data.subset(rows).X, plain.X[rows])
    for f, test in enumerate(data.features):
        assert (data.outcome(f) == plain.X[:, f]).all(), test.name
    requested = [mt.Problem(d, mt.Accuracy(), mt.Trees(2)) for d in (data, plain)]
    trees = [mt.solve(p, "dp-sorted").tree for p in requested]
    assert (trees[0].predict(data) == trees[0].predict(plain)).all()
    assert requested[0].value(trees[1]).exact == requested[1].value(trees[0]).exact


def test_tests_that_are_not_nested_are_columns_of_their_own():
    """Outcomes that contradict their thresholds are taken as they are."""
    X = [[1, 0], [0, 1], [1, 1], [0, 0]]
    data = mt.Dataset(
        X, [mt.BinaryFeature("x", "<=", 1.0), mt.BinaryFeature("x", "<=", 2.0)], y=[0, 0, 1, 1]
    )
    assert mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(2)), "dp-sorted").value.number == 0


def test_no_column_to_split_on():
    """Constant tests only: a leaf, at any depth."""
    requested = mt.Problem(mt.Dataset([[1], [1], [1]], y=[0, 1, 1]), mt.Accuracy(), mt.Trees(3))
    assert mt.solve(requested, "dp-sorted").value.number == 1
