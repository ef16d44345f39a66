"""Trees of scikit-learn on the features of a dataset, and how far they are from the best."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import milp_trees as mt
from milp_trees.models.read_tree import read_sklearn_tree


def table(rng):
    """Whole numbers, large numbers near each other, 0 and 1, and missing cells."""
    n = int(rng.integers(20, 90))
    return pd.DataFrame(
        {
            "a": rng.integers(0, 9, n),
            "b": 1e6 + np.round(rng.random(n), 2),
            "c": rng.integers(0, 2, n),
            "d": np.where(rng.random(n) < 0.15, np.nan, np.round(rng.random(n), 1)),
            "e": np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 2, n)),
        }
    )


@each_row("seed", range(12))
def test_the_tree_that_is_read_divides_the_rows_alike(seed):
    """Of one target, of two, and of classes; also where scikit-learn's rounding merges values."""
    rng = np.random.default_rng(seed)
    X = table(rng)
    y = np.round(X["a"] + 5 * X["d"].fillna(1) + rng.random(len(X)), 3)
    targets = np.column_stack([y, -(y**2)]) if seed % 3 else y.to_numpy()
    data = mt.Binarizer().fit(X).dataset(X, fitted_on=X, targets=targets.reshape(len(X), -1))
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, targets)
    ours = read_sklearn_tree(theirs, data)
    assert np.array_equal(ours.predict(data), theirs.predict(X))
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    labels = np.where(y > y.median(), "high", "low")
    data = mt.Binarizer(kind="quantiles", n_bins=3).fit(X).dataset(X, labels, fitted_on=X)
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X.to_numpy(), labels)
    assert (read_sklearn_tree(theirs, data).predict(data) == theirs.predict(X.to_numpy())).all()
    shares = read_sklearn_tree(theirs, data, shares=True).predict(data)
    assert shares == pytest.approx(theirs.predict_proba(X.to_numpy()))


def test_the_gap_of_a_regression_tree_of_scikit_learn():
    """Its value is its own squared error on these rows; the bound is the optimum."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.random(80).round(2), "b": rng.random(80).round(2)})
    y = (np.sin(9 * X["a"]) * (X["b"] > 0.4)).round(3)
    theirs = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    best = mt.OptimalTreeRegressor(max_depth=2).fit(X, y)
    problem = best.result_.problem
    gap = mt.gap_of(theirs, problem)
    assert gap.value.number == pytest.approx(((theirs.predict(X) - y) ** 2).sum())
    assert gap.bound == pytest.approx(best.value_)
    assert gap.absolute == pytest.approx(gap.value.number - best.value_)
    assert mt.gap_of(best, problem).absolute == pytest.approx(0, abs=1e-9)
    deep = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    assert any("depth" in v or "levels" in v for v in mt.gap_of(deep, problem).violations)


def test_the_gap_of_a_classification_tree_of_scikit_learn():
    """Its errors and those of the best tree; trees of two targets are refused."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 5))
    y = (X[:, 0] ^ X[:, 1]) | (rng.random(60) < 0.1)
    data = mt.Dataset(X, y=y)
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    gap = mt.gap_of(theirs, problem)
    assert gap.value.number == (theirs.predict(X) != y).sum()
    assert gap.bound == mt.solve(problem).value.number
    two = DecisionTreeClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises(mt.DataError, match="several classes"):
        mt.gap_of(two, problem)


def test_trees_for_other_columns_are_refused():
    """The sentence says what does not fit."""
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    data = mt.Binarizer().fit(X).dataset(X, targets=y[:, None], fitted_on=X)
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(2))
    with pytest.raises(mt.DataError, match="fitted on 1 columns"):
        mt.gap_of(DecisionTreeRegressor().fit(X[:, :1], y), problem)
    named = DecisionTreeRegressor().fit(pd.DataFrame(X, columns=["u", "v"]), y)
    with pytest.raises(mt.DataError, match="No feature of the data divides"):
        mt.gap_of(named, problem)
    shifted = DecisionTreeRegressor().fit(X + 2.5, y)
    with pytest.raises(mt.DataError, match="No feature of the data divides"):
        mt.gap_of(shifted, problem)
