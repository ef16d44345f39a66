"""What a fit begins with, and what it leaves when a limit ends it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import milp_trees as mt
from milp_trees.common.errors import NothingFound
from milp_trees.solving.solve import answer

IRIS = load_iris(as_frame=True)


@pytest.fixture
def given(monkeypatch):
    """The starts that runs of estimators were given."""
    found = []

    def watched(problem, method, limits, *, start=None, **more):
        found.append(start)
        return answer(problem, method, limits, start=start, **more)

    monkeypatch.setattr("milp_trees.solving.solve.answer", watched)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_of_scikit_learn_becomes_one_that_divides_the_training_rows_alike(given, seed):
    """With all midpoints every split has a candidate, so the start predicts what the tree predicts."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.integers(0, 9, 60), "b": rng.random(60), "c": rng.integers(0, 2, 60)}
    )
    y = (X["a"] + 5 * X["b"] + rng.random(60) > 6).astype(int) + X["c"]
    theirs = DecisionTreeClassifier(max_depth=3, random_state=seed).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = mt.OptimalTreeClassifier(max_depth=3, binarizer="midpoints", start=theirs)
        model.fit(X, y)
    start = given[0]
    assert (start.predict(X) != y).sum() == (theirs.predict(X) != y).sum()
    parts = pd.crosstab(start.routes(model.result_.problem.dataset).leaf, theirs.apply(X))
    assert ((parts > 0).sum(axis=0) == 1).all()  # no leaf of theirs is divided
    assert model.result_.start["accepted"] is not False
    assert model.result_.objective <= (theirs.predict(X) != y).sum()


def test_thresholds_without_a_candidate_are_said(given):
    """The nearest candidate is the one that moves the fewest rows; the depth limit cuts."""
    X, y = IRIS.data, IRIS.target
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    model = mt.OptimalTreeClassifier(max_depth=2, binarizer="quantiles", n_bins=3, start=theirs)
    message = r"start was changed: .* not among the candidates.* left out"
    with pytest.warns(UserWarning, match=message):
        model.fit(X, y)
    assert given[0].depth <= 2
    assert set(given[0].splits) <= set(model.binarizer_.features)
    with pytest.warns(UserWarning, match="start was changed"):
        mt.OptimalTreeClassifier(n_bins=2, binarizer="quantiles", start=model).fit(X, y)


def test_a_regression_tree_may_start_a_policy_and_sizes_hold(given):
    """The leaves take the actions of least cost on their rows; too many leaves are merged."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.arange(40) % 7, "b": np.arange(40) % 5})
    gain = np.column_stack([np.zeros(40), X["a"] - 3.0, X["b"] - 2.0]) + 0.1 * rng.random((40, 3))
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, gain[:, 1])
    model = mt.OptimalPolicyTree(max_leaf_nodes=3, max_depth=3, start=theirs, binarizer="midpoints")
    model.fit(X, gain)
    assert given[0].n_leaves == 3
    assert model.result_.start["accepted"] is not False
    value = gain[np.arange(40), np.searchsorted(given[0].actions, given[0].predict(X))].mean()
    assert model.score(X, gain) >= value - 1e-6
    two = np.column_stack([gain[:, 0], gain[:, 1]])
    with pytest.raises(mt.DataError, match="several outputs"):
        mt.OptimalPolicyTree(start=DecisionTreeRegressor(max_depth=1).fit(X, two)).fit(X, gain)


def test_a_regression_tree_begins_with_that_of_scikit_learn(given):
    """It divides the training rows alike and predicts their means, of several targets, too."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.where(rng.random(60) < 0.2, np.nan, rng.random(60)), "b": range(60)})
    y = np.column_stack([X["b"] % 7, 3.0 * X["a"].fillna(2)])
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = mt.OptimalTreeRegressor(max_depth=3, start=theirs).fit(X, y)
    dataset = model.result_.problem.dataset
    assert given[0].predict(dataset) == pytest.approx(theirs.predict(X))
    assert model.result_.start["accepted"] is not False
    assert model.value_ <= ((theirs.predict(X) - y) ** 2).sum() + 1e-9
    again = mt.OptimalTreeRegressor(max_depth=3, start=model).fit(X, 10 - y)
    assert given[1].predict(dataset) == pytest.approx(10 - model.predict(X))
    assert again.value_ == pytest.approx(model.value_)


def test_a_regression_tree_with_too_many_leaves_is_merged_where_that_costs_least(given):
    """The two leaves with the most alike targets become one."""
    X, y = np.arange(8).reshape(-1, 1), np.array([0, 0, 1, 1, 10, 10, 30, 30])
    theirs = DecisionTreeRegressor(random_state=0).fit(X, y)
    mt.OptimalTreeRegressor(max_leaf_nodes=3, max_depth=3, start=theirs, method="dp").fit(X, y)
    assert sorted(set(given[0].actions)) == [0.5, 10.0, 30.0]


def test_starts_for_other_columns_or_labels_are_refused():
    """Each sentence says what does not fit."""
    X, y = IRIS.data, IRIS.target
    with pytest.raises(mt.DataError, match="not fitted"):
        mt.OptimalTreeClassifier(start=DecisionTreeClassifier()).fit(X, y)
    other = DecisionTreeClassifier().fit(X.add_suffix("x"), y)
    with pytest.raises(mt.DataError, match="asks the column"):
        mt.OptimalTreeClassifier(start=other).fit(X, y)
    fewer = DecisionTreeClassifier().fit(X.to_numpy()[:, :3], y)
    with pytest.raises(mt.DataError, match="has 3 columns"):
        mt.OptimalTreeClassifier(start=fewer).fit(X, y)
    unlike = DecisionTreeRegressor(max_depth=1).fit(X, y)
    with pytest.raises(mt.DataError, match="labels of the start"):
        mt.OptimalTreeClassifier(task="f1", start=unlike).fit(X, y == 1)
    with pytest.raises(mt.DataError, match="rule-lists"):
        mt.OptimalRuleListClassifier(start=unlike).fit(X, y)


def test_a_start_that_is_not_feasible_is_not_used_and_a_warning_says_so():
    """The reason is in the result too."""
    X, y = IRIS.data, IRIS.target
    deep = mt.OptimalTreeClassifier(max_depth=2, n_bins=3).fit(X, y)
    with pytest.warns(UserWarning, match="start was not used"):
        model = mt.OptimalTreeClassifier(max_depth=1, n_bins=3, start=deep).fit(X, y)
    assert model.result_.start["accepted"] is False


RNG = np.random.default_rng(0)
ROWS, LABELS, GROUPS = (
    RNG.integers(0, 2, (300, 8)),
    RNG.integers(0, 2, 300),
    RNG.integers(0, 2, 300),
)


@each_row(
    "model, more",
    [
        (mt.OptimalTreeClassifier(max_depth=4), {}),
        (mt.OptimalTreeClassifier(max_depth=3, method="flow-oct@highs"), {}),
        (mt.OptimalTreeClassifier(max_depth=4, task="f1", min_samples_leaf=90), {}),
        (mt.OptimalTreeClassifierCV(max_depth=2, cv=2, method="flow-oct@highs"), {}),
        (mt.OptimalRuleListClassifier(max_literals=3), {}),
        (mt.FairTreeClassifier(max_depth=3, max_disparity=0), {"sensitive_features": GROUPS}),
        (mt.OptimalPolicyTree(max_depth=4), {"y": RNG.random((300, 3))}),
        (mt.SPOTree(max_depth=4, method="dp-oracle"), {"y": RNG.random((300, 3))}),
    ],
)
def test_the_shortest_limit_leaves_a_model_and_says_what_is_known(model, more):
    """No limit raises that nothing was found; the warning has value, bound, gap and what to do."""
    y = more.pop("y", LABELS) if "y" in more else LABELS
    with pytest.warns(ConvergenceWarning, match=r"time_limit") as stated:
        model.set_params(time_limit=0.001).fit(ROWS, y, **more)
    message = " ".join(str(w.message) for w in stated)
    assert len(model.predict(ROWS)) == 300
    assert model.status_ == "feasible"
    if not isinstance(model, mt.OptimalTreeClassifierCV):
        assert f"has {model.result_.value}" in message
        assert "no bound is known" in message or "none is better than" in message


def test_a_method_that_finds_nothing_leaves_a_greedy_model(monkeypatch):
    """Whatever the method answers without a model, a feasible greedy one is returned if there is one."""

    def nothing(problem, method, limits, **more):
        return mt.plugins.Method.run(Nothing(), problem, limits)

    class Nothing(mt.plugins.Method):
        name = "nothing"

        def search(self, problem, limits, start, progress):
            from milp_trees.methods.finish import Clock, finish

            return finish(
                problem,
                "nothing",
                None,
                bound=None,
                claims_optimal=False,
                proved_by=None,
                clock=Clock(),
            )

    monkeypatch.setattr("milp_trees.solving.solve.answer", nothing)
    with pytest.warns(ConvergenceWarning, match="no bound is known"):
        model = mt.OptimalTreeClassifier().fit(IRIS.data, IRIS.target)
    assert model.score(IRIS.data, IRIS.target) > 0.9
    with pytest.raises(NothingFound):
        mt.OptimalTreeClassifier(min_samples_leaf=151).fit(IRIS.data, IRIS.target)


def test_a_start_that_was_fitted_on_an_array_is_refused_for_a_frame_with_names():
    X, y = np.arange(8.0).reshape(-1, 1), [0, 0, 0, 0, 1, 1, 1, 1]
    start = mt.OptimalTreeClassifier(max_depth=1).fit(X, y)
    frame = pd.DataFrame(X, columns=["age"])
    with pytest.raises(mt.DataError, match="asks the column '0', and X has the columns age"):
        mt.OptimalTreeClassifier(max_depth=1, start=start).fit(frame, y)
