"""scikit-learn's face: the whole estimator check, and that what comes out is the optimum."""

import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from joblib import effective_n_jobs
from row_tests import each_row
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt
from milp_trees.solving.solve import answer
from milp_trees.testing import expected_failed_checks

IRIS = load_iris(as_frame=True)
#: Every public estimator.
ESTIMATORS = [
    thing
    for thing in (getattr(mt, name) for name in dir(mt))
    if isinstance(thing, type) and issubclass(thing, BaseEstimator)
]


def test_all_parameters_of_all_estimators_are_given_by_name():
    """So that an order of parameters is never part of the interface."""
    kinds = {
        (cls.__name__, p.name): p.kind
        for cls in ESTIMATORS
        for p in inspect.signature(cls).parameters.values()
    }
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}, kinds
    assert len(ESTIMATORS) == 15


def test_an_idea_has_the_same_name_in_all_estimators():
    """Parameters are found in at least one estimator, and their other names in none."""
    one_name = {
        "method": ["engine", "solver"],
        "ccp_alpha": ["cost_complexity", "leaf_penalty", "split_penalty"],
        "n_jobs": ["threads", "jobs"],
        "task": ["objective"],
        "slack": ["one_standard_error"],
        "validation_fraction": ["validation"],
        "n_bins": ["quantiles"],
        "binarizer": ["splits", "thresholds"],
        "categorical_features": ["categorical"],
        "voting": ["aggregate"],
        "criterion": ["impurity"],
        "random_state": ["seed"],
    }
    found = {p for cls in ESTIMATORS for p in inspect.signature(cls).parameters}
    assert set(one_name) <= found
    assert found.isdisjoint(other for others in one_name.values() for other in others)


@pytest.mark.parametrize("n_jobs, threads", [(None, 1), (2, 2), (-1, effective_n_jobs(-1))])
def test_n_jobs_is_the_number_of_threads_of_the_solver(n_jobs, threads, monkeypatch):
    """As in joblib -1 stands for all cores and None for one; the run gets the number."""
    requested = []

    def watched(problem, method, limits, **more):
        requested.append(limits.threads)
        return answer(problem, method, limits, **more)

    monkeypatch.setattr("milp_trees.solving.solve.answer", watched)
    mt.OptimalTreeClassifier(max_depth=1, n_bins=3, n_jobs=n_jobs).fit(IRIS.data, IRIS.target)
    assert requested == [threads]


@pytest.mark.slow
@each_row(
    "make",
    [
        mt.OptimalTreeClassifier,
        mt.OptimalPolicyTree,
        mt.OptimalTreeRegressor,
        mt.CostSensitiveTreeClassifier,
        lambda: mt.OptimalRuleListClassifier(length_penalty=0.05),
        lambda: mt.OptimalTreeCV(max_leaf_nodes=3, cv=2),
    ],
)
def test_the_whole_check_estimator_passes(make):
    """No check fails but the expected ones; only what needs an environment variable is skipped."""
    expected = expected_failed_checks(make())
    outcomes = check_estimator(make(), on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert {
        o["check_name"]: str(o["exception"])
        for o in outcomes
        if o["status"] not in ("passed", "skipped", "xfail")
    } == {}
    assert {o["check_name"] for o in outcomes if o["status"] == "xfail"} <= set(expected)
    assert {o["check_name"] for o in outcomes if o["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert len(outcomes) > 40


@pytest.mark.slow
def test_array_api_checks_pass_too():
    """The skipped check, in a process that has the variable it needs."""
    script = (
        "from sklearn.utils.estimator_checks import check_estimator; import milp_trees as mt\n"
        "from milp_trees.testing import expected_failed_checks\n"
        "for e in (mt.OptimalTreeClassifier(), mt.OptimalPolicyTree(), mt.OptimalTreeRegressor()):\n"
        "    expected = expected_failed_checks(e)\n"
        "    outcomes = check_estimator(e, on_skip=None, expected_failed_checks=expected)\n"
        "    assert {o['status'] for o in outcomes} <= {'passed', 'xfail'}"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("depth", [1, 2])
def test_the_tree_is_at_least_as_accurate_as_any_greedy_one(depth):
    """On 0/1 columns both search the same trees, so the optimum is no worse than scikit-learn's
    greedy tree; the result says optimal.
    """
    data = load_breast_cancer()
    X = (data.data > np.median(data.data, axis=0)).astype(int)
    ours = mt.OptimalTreeClassifier(max_depth=depth).fit(X, data.target)
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, data.target)
    assert ours.score(X, data.target) >= greedy.score(X, data.target)
    assert ours.result_.status is mt.plugins.Status.OPTIMAL
    assert ours.result_.objective == (ours.predict(X) != data.target).sum()


def test_names_labels_and_leaves_survive():
    """A DataFrame's names are in the tree, labels come back as they were, probabilities are shares
    of the leaf's rows.
    """
    y = IRIS.target_names[IRIS.target]
    model = mt.OptimalTreeClassifier(max_depth=2).fit(IRIS.data, y)
    assert list(model.feature_names_in_) == list(IRIS.data.columns)
    assert {t.column for t in model.tree_.splits} <= set(IRIS.data.columns)
    assert set(model.predict(IRIS.data)) <= set(y)
    proba, leaf = model.predict_proba(IRIS.data), model.apply(IRIS.data)
    assert proba.sum(axis=1) == pytest.approx(1)
    for k, label in enumerate(model.classes_):
        assert proba[leaf == 0, k] == pytest.approx((y[leaf == 0] == label).mean())
    assert (model.get_depth(), model.get_n_leaves()) == (model.tree_.depth, leaf.max() + 1)


def test_text_columns_of_a_frame_are_one_hot_encoded():
    """Categories need no preparation, in fit and in predict; what was never missing may not be."""
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"] * 5, "age": list(range(20))})
    y = ["yes" if c == "red" else "no" for c in frame["colour"]]
    model = mt.OptimalTreeClassifier(max_depth=1).fit(frame, y)
    assert model.tree_.splits[0].name == "colour == red"
    assert model.predict(frame.iloc[:3]).tolist() == ["yes", "no", "no"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"age": "years"}))
    gone = frame.replace({"colour": {"red": None}})
    with pytest.raises(mt.DataError, match="missing value"):
        model.predict(gone)
    assert (mt.OptimalTreeClassifier(max_depth=1).fit(gone, y).predict(gone) == y).all()


def test_clone_pickle_and_grid_search():
    """The usual tools work, also with a penalty and a binarizer object."""
    model = mt.OptimalTreeClassifier(
        binarizer=mt.Binarizer(kind="quantiles", n_bins=4), ccp_alpha=0.01, start=None
    )
    grid = {
        "optimaltreeclassifier__max_depth": [0, 1, 2],
        "optimaltreeclassifier__ccp_alpha": [0, 0.4],
    }
    search = GridSearchCV(make_pipeline(clone(model)), grid, cv=3).fit(IRIS.data, IRIS.target)
    assert search.best_params_ == {
        "optimaltreeclassifier__max_depth": 2,
        "optimaltreeclassifier__ccp_alpha": 0,
    }
    best = search.best_estimator_[0]
    again = pickle.loads(pickle.dumps(best))
    assert (again.predict(IRIS.data) == best.predict(IRIS.data)).all()
    assert again.tree_ == best.tree_
    assert again.result_.status is mt.plugins.Status.OPTIMAL


def test_penalties_and_leaf_limits_shape_the_tree():
    """A large penalty per leaf leaves a single leaf; max_leaf_nodes and min_samples_leaf hold."""
    X, y = IRIS.data, IRIS.target
    assert mt.OptimalTreeClassifier(ccp_alpha=0.5).fit(X, y).get_n_leaves() == 1
    assert mt.OptimalTreeClassifier(max_depth=3, max_leaf_nodes=3).fit(X, y).get_n_leaves() == 3
    model = mt.OptimalTreeClassifier(min_samples_leaf=40).fit(X, y)
    assert np.bincount(model.apply(X)).min() >= 40


def test_tasks_and_weights():
    """Balanced accuracy equals weighting by class; a Task is taken as it is, and not beside other
    penalties.
    """
    X, y = IRIS.data, np.where(IRIS.target == 1, "rare", "other")
    keep = np.r_[0:60, 100:150]
    X, y = X.iloc[keep], y[keep]
    share = {c: (y == c).sum() for c in set(y)}

    def balanced(model):
        wrong = model.predict(X) != y
        return sum(wrong[y == c].sum() / n for c, n in share.items())

    by_task_name = mt.OptimalTreeClassifier(max_depth=1, task="balanced-accuracy").fit(X, y)
    by_weight = mt.OptimalTreeClassifier(max_depth=1).fit(
        X, y, sample_weight=np.where(y == "rare", share["other"], share["rare"])
    )
    task = mt.tasks.WeightedError(
        class_weight={"rare": int(share["other"]), "other": int(share["rare"])}
    )
    by_task = mt.OptimalTreeClassifier(max_depth=1, task=task).fit(X, y)
    assert (
        balanced(by_task_name)
        == pytest.approx(balanced(by_weight))
        == pytest.approx(balanced(by_task))
    )
    with pytest.raises(ValueError, match="give them to the Task"):
        mt.OptimalTreeClassifier(task=mt.Accuracy(), ccp_alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="task must be"):
        mt.OptimalTreeClassifier(task="gini").fit(X, y)


@each_row(
    "weights, sentence",
    [
        ([-1] + [1] * 149, "negative"),
        ([0] * 150, "at least one row"),
        ([1] * 3, "one entry per row"),
        ([np.nan] * 150, "NaN"),
    ],
)
def test_wrong_weights_are_refused_with_a_sentence(weights, sentence):
    """Weights must be nonnegative numbers, one per row, not all zero."""
    with pytest.raises(ValueError, match=sentence):
        mt.OptimalTreeClassifier().fit(IRIS.data, IRIS.target, sample_weight=weights)


def test_an_unproven_tree_comes_with_a_warning():
    """A time limit that is too short keeps a tree and warns."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (3000, 60)), rng.integers(0, 2, 3000)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = mt.OptimalTreeClassifier(max_depth=5, time_limit=0.5).fit(X, y)
    assert model.predict(X).shape == (3000,)


def test_a_start_may_be_a_tree_or_an_estimator():
    """A fitted estimator's tree starts the next one; the value is the same."""
    first = mt.OptimalTreeClassifier(max_depth=1).fit(IRIS.data, IRIS.target)
    second = mt.OptimalTreeClassifier(max_depth=1, start=first).fit(IRIS.data, IRIS.target)
    assert second.result_.objective == first.result_.objective


def test_fair_trees_through_fit():
    """The groups come with fit; naming a column keeps the tree from splitting on it; the constraint
    holds.
    """
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"group": rng.integers(0, 2, 80), "a": rng.integers(0, 2, 80), "b": rng.integers(0, 2, 80)}
    )
    frame["a"] |= frame["group"]
    y = ((frame["a"] + frame["group"] + rng.integers(0, 2, 80)) > 1).astype(int)
    free = mt.OptimalTreeClassifier(max_depth=2).fit(frame, y)
    fair = mt.OptimalTreeClassifier(
        max_depth=2, method="flow-oct@highs", constraints=(mt.tasks.StatisticalParity(0.05),)
    ).fit(frame, y, groups="group")
    gap = abs(np.diff([fair.predict(frame)[frame["group"] == g].mean() for g in (0, 1)])[0])
    assert gap <= 0.05
    assert "group" not in {t.column for t in fair.tree_.splits}
    assert fair.result_.objective >= free.result_.objective
    with pytest.raises(ValueError, match="does not have"):
        fair.fit(frame, y, groups="sex")


def test_one_class_is_refused():
    """A target with one class is a mistake, not a model."""
    with pytest.raises(ValueError, match="one class only"):
        mt.OptimalTreeClassifier().fit(IRIS.data, np.zeros(150))


# -- policies ----------------------------------------------------------------------------------------------------


def randomised_trial(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 80, n), "smoker": rng.integers(0, 2, n)})
    values = pd.DataFrame(
        {
            "none": np.zeros(n),
            "pill": np.where(X["age"] > 50, 3.0, -1.0),
            "diet": np.where(X["smoker"] == 1, 1.0, 0.5),
        }
    )
    taken = rng.integers(0, 3, n)
    outcome = values.to_numpy()[np.arange(n), taken]
    return X, values, np.array(values.columns)[taken], outcome


def test_policy_from_known_values_is_the_best_policy():
    """With the values known, a depth-2 tree with all midpoints recovers the best action of every
    row.
    """
    X, values, _, _ = randomised_trial()
    model = mt.OptimalPolicyTree(max_depth=2, binarizer="midpoints").fit(X, values)
    assert list(model.actions_) == ["none", "pill", "diet"]
    assert (
        model.score(X, values)
        == pytest.approx(values.max(axis=1).mean())
        == pytest.approx(model.result_.objective)
    )
    assert model.predict(X.iloc[:5]).tolist() == values.iloc[:5].idxmax(axis=1).tolist()


def test_policy_from_a_randomised_trial():
    """Inverse propensity weighting recovers it from observed outcomes; perfect predictions make the
    doubly robust value the true one.
    """
    X, values, treatments, outcomes = randomised_trial()
    observed = {
        "treatments": treatments,
        "outcomes": outcomes,
        "propensities": np.full(len(X), 1 / 3),
    }
    ipw = mt.OptimalPolicyTree(binarizer="midpoints").fit(X, **observed)
    robust = mt.OptimalPolicyTree(binarizer="midpoints").fit(X, values, **observed)
    assert set(ipw.predict(X)) <= set(values.columns)
    assert (
        robust.score(X, values)
        == pytest.approx(values.max(axis=1).mean())
        == pytest.approx(robust.result_.objective)
    )
    with pytest.raises(ValueError, match="propensities is missing"):
        mt.OptimalPolicyTree().fit(X, treatments=treatments, outcomes=outcomes)


def test_one_column_is_the_gain_of_acting():
    """Where the gain is positive the tree acts, elsewhere it does not."""
    X = np.arange(10).reshape(-1, 1)
    gain = np.where(X[:, 0] < 4, 2.0, -1.0)
    model = mt.OptimalPolicyTree(max_depth=1).fit(X, gain)
    assert model.predict(X).tolist() == [1] * 4 + [0] * 6
    assert model.score(X, gain) == pytest.approx(0.8)


def test_policy_tree_in_grid_search_and_capacity():
    """Its score is the mean value, so a grid search picks the deeper tree; a capacity limits how
    many rows get an action.
    """
    X, values, _, _ = randomised_trial(200)
    search = GridSearchCV(mt.OptimalPolicyTree(), {"max_depth": [0, 2]}, cv=3).fit(
        X, values.to_numpy()
    )
    assert search.best_params_ == {"max_depth": 2}
    limited = mt.OptimalPolicyTree(
        max_depth=1, method="flow-oct@highs", constraints=(mt.tasks.Capacity("pill", at_most=20),)
    ).fit(X, values)
    assert (limited.predict(X) == "pill").sum() <= 20


def test_estimators_draw_themselves_with_scikit_learn():
    """Both estimators give a tree for scikit-learn's plotting tools that predicts the same."""
    model = mt.OptimalTreeClassifier().fit(IRIS.data, IRIS.target)
    theirs = model.to_sklearn()
    columns = IRIS.data[list(theirs.feature_names_in_)].to_numpy(dtype=np.float32)
    assert (
        theirs.classes_[theirs.tree_.predict(columns).argmax(axis=1)] == model.predict(IRIS.data)
    ).all()
    X, values, _, _ = randomised_trial(60)
    assert set(mt.OptimalPolicyTree().fit(X, values).to_sklearn().classes_) == set(values.columns)
