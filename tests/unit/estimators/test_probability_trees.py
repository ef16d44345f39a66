"""`OptimalTreeClassifier(criterion=…)`: leaves that predict probabilities of the classes."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt
from milp_trees.testing import expected_failed_checks

IRIS = load_iris(as_frame=True)
NAMES = IRIS.target_names[IRIS.target]


def brier(model, X, y, weights=None):
    """Sum over rows and classes of the squared difference of probability and outcome."""
    hits = np.asarray(y)[:, None] == model.classes_
    squares = ((model.predict_proba(X) - hits) ** 2).sum(axis=1)
    return (squares if weights is None else weights * squares).sum()


def logs(model, X, y, weights=None):
    """The log loss of scikit-learn, as a sum."""
    probability = model.predict_proba(X)
    return log_loss(y, probability, normalize=False, sample_weight=weights, labels=model.classes_)


LOSSES = {"gini": brier, "log_loss": logs}


@pytest.mark.slow
@pytest.mark.parametrize("criterion", LOSSES)
def test_the_whole_check_estimator_passes(criterion):
    """No check fails but the expected ones; only what needs an environment variable is skipped."""
    model = mt.OptimalTreeClassifier(criterion=criterion)
    expected = expected_failed_checks(model)
    outcomes = check_estimator(model, on_fail=None, on_skip=None, expected_failed_checks=expected)
    wrong = {o["check_name"] for o in outcomes if o["status"] not in ("passed", "xfail")}
    assert wrong <= {"check_array_api_input"}
    assert len(outcomes) > 40


@pytest.mark.parametrize("criterion", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_shares_and_their_loss_is_the_value(criterion, weighted):
    """With row weights; no tree of scikit-learn with this criterion has a smaller loss."""
    weights = np.random.default_rng(0).integers(0, 4, 150) if weighted else None
    model = mt.OptimalTreeClassifier(max_depth=2, criterion=criterion)
    model.fit(IRIS.data, NAMES, sample_weight=weights)
    loss = LOSSES[criterion](model, IRIS.data, NAMES, weights)
    assert model.status_ == "optimal"
    assert model.result_.objective == pytest.approx(loss)
    leaf, probability = model.apply(IRIS.data), model.predict_proba(IRIS.data)
    w = np.ones(150) if weights is None else weights
    for k in range(model.get_n_leaves()):
        here = leaf == k
        for c, name in enumerate(model.classes_):
            share = w[here & (name == NAMES)].sum() / w[here].sum()
            assert probability[here, c] == pytest.approx(share)
    assert (model.predict(IRIS.data) == model.classes_[probability.argmax(axis=1)]).all()
    theirs = DecisionTreeClassifier(max_depth=2, criterion=criterion, random_state=0)
    theirs.fit(IRIS.data, NAMES, weights)
    assert loss <= LOSSES[criterion](theirs, IRIS.data, NAMES, weights) + 1e-9


def test_entropy_is_another_name_of_the_log_loss():
    """As in scikit-learn."""
    found = [
        mt.OptimalTreeClassifier(criterion=name).fit(IRIS.data, NAMES).result_.objective
        for name in ("log_loss", "entropy", "log-loss")
    ]
    assert found[0] == found[1] == found[2]


def test_factors_of_classes_are_weights_of_their_rows():
    """They multiply the row weights, in the loss and in the probabilities."""
    factors = {"setosa": 1, "versicolor": 3, "virginica": "1/2"}
    weights = np.array([{"setosa": 1, "versicolor": 3, "virginica": 0.5}[n] for n in NAMES])
    named = mt.OptimalTreeClassifier(criterion="gini", class_weight=factors).fit(IRIS.data, NAMES)
    rows = mt.OptimalTreeClassifier(criterion="gini")
    rows.fit(IRIS.data, NAMES, sample_weight=weights)
    assert named.result_.objective == pytest.approx(rows.result_.objective)
    assert named.predict_proba(IRIS.data) == pytest.approx(rows.predict_proba(IRIS.data))


def test_a_class_without_weight_keeps_its_column():
    """It is known, and has no probability anywhere."""
    weights = np.where(NAMES == "virginica", 0, 1)
    model = mt.OptimalTreeClassifier(criterion="gini")
    model.fit(IRIS.data, NAMES, sample_weight=weights)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.predict_proba(IRIS.data)[:, 2].max() == 0


@each_row(
    "given, sentence",
    [
        ({"criterion": "mse"}, "Registered losses: .*gini"),
        ({"criterion": "squared_error"}, "loss of predicted probabilities"),
        ({"criterion": "gini", "task": "f1"}, "either task='f1' or criterion='gini'"),
        ({"criterion": None}, "must be the name of a loss"),
        ({"criterion": "weighted"}, "task weighted, which is no such loss"),
        (
            {"criterion": "gini", "constraints": (mt.tasks.StatisticalParity(0.1),)},
            "takes no constraints",
        ),
    ],
)
def test_what_is_no_loss_of_probabilities_is_refused(given, sentence):
    """So is what the loss does not take, and a task beside it."""
    target = IRIS.target if given["criterion"] == "squared_error" else NAMES
    with pytest.raises(mt.DataError, match=sentence):
        mt.OptimalTreeClassifier(**given).fit(IRIS.data, target)


def test_what_else_a_classifier_does(tmp_path):
    """Penalties, importances, starts, files, scikit-learn's tree and the gap of a CART tree."""
    X = IRIS.data
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, NAMES)
    model = mt.OptimalTreeClassifier(criterion="gini", ccp_alpha="0.05", start=theirs)
    model.fit(X, NAMES)
    alone = 1 - (pd.Series(NAMES).value_counts(normalize=True) ** 2).sum()
    share = brier(model, X, NAMES) / (150 * alone)
    assert model.result_.objective == pytest.approx(share + 0.05 * model.get_n_leaves())
    assert model.result_.start["accepted"] is not False
    assert model.feature_importances_.sum() == pytest.approx(1)
    model.save(tmp_path / "model.json")
    again = mt.OptimalTreeClassifier.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (again.predict(X) == model.predict(X)).all()
    converted = model.to_sklearn()
    columns = X[list(converted.feature_names_in_)]
    assert np.array_equal(converted.predict_proba(columns), model.predict_proba(X))
    problem = mt.Problem(model.result_.problem.dataset, mt.tasks.Gini(), mt.Trees(2))
    gap = mt.gap_of(theirs, problem)
    assert gap.value.number == pytest.approx(brier(theirs, X, NAMES))
    best = mt.OptimalTreeClassifier(criterion="gini").fit(X, NAMES)
    assert gap.bound == pytest.approx(best.result_.objective)


def test_the_size_is_chosen_by_cross_validation():
    """By any score of scikit-learn, such as the log loss."""
    model = mt.OptimalTreeClassifierCV(
        criterion="gini", max_leaf_nodes=4, cv=3, scoring="neg_log_loss", binarizer="quantiles"
    )
    model.fit(IRIS.data, NAMES)
    assert model.get_n_leaves() in (3, 4)
    assert model.predict_proba(IRIS.data).shape == (150, 3)
