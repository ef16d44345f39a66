"""A stated set of thresholds, and the greedy trees over all of them beside it."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.data.load import load_split
from milp_trees.results.threshold_words import sentence
from milp_trees.solving.thresholds import with_greedy

IRIS = mt.Problem(mt.load("iris"), mt.Accuracy(), mt.Trees(max_depth=2))
FEW = mt.Problem(mt.load("iris", binarizer="quantiles:4"), mt.Accuracy(), mt.Trees(max_depth=2))


def test_the_greedy_tree_over_all_thresholds_is_the_answer_if_it_is_better():
    alone = mt.solve(FEW, start=None)
    assert (alone.value.number, alone.status.value) == (22, "optimal")
    result = mt.solve(FEW)
    assert (result.value.number, result.status.value) == (6, "feasible")
    assert result.found_by == "the greedy tree over all thresholds"
    assert result.bound is result.root_bound is None
    assert {point.bound for point in result.trace} == {None}
    assert "dp proved 22 errors over 12 of 119 thresholds" in result.message
    assert FEW.value(result.tree) == result.value  # also on the data with fewer tests
    found = mt.verify(json.loads(json.dumps(result.to_json())))
    assert found.verdict.value == "recomputed"


def test_an_answer_that_is_better_than_greedy_says_so():
    problem = mt.Problem(mt.load("wine", binarizer="quantiles:9"), mt.Accuracy(), mt.Trees(3))
    result = mt.solve(problem)
    assert result.optimal
    assert result.found_by == ""
    counts = result.problem.dataset.source["thresholds"]
    assert result.value.number <= counts["greedy_tree"]
    assert f"greedy over all: {counts['greedy_tree']} errors" in result.to_json()["thresholds"]
    assert mt.verify(result.to_json()).verdict.value == "derived"


def test_comparisons_keep_to_the_stated_set():
    (row,) = mt.compare(FEW, ["dp"]).rows
    assert (row["objective"], row["status"]) == (22, "optimal")


def test_a_fitted_binarizer_is_taken_as_it_is():
    fitted = mt.Binarizer(kind="quantiles", n_bins=4).fit(
        pd.read_csv(pd.io.common.StringIO("x\n1\n2\n3\n4\n"))
    )
    data = mt.Dataset(np.eye(4, dtype=int), y=[0, 1, 0, 1])
    assert data.complete is None
    table = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6]})
    held = fitted.dataset(table, [0, 1, 0, 1, 0, 1])
    assert held.complete is None
    assert mt.solve(mt.Problem(held, mt.Accuracy(), mt.Trees(1))).optimal


def test_the_greedy_tree_is_that_of_the_training_rows(tmp_path):
    mt.example("heart", tmp_path / "heart.csv")
    train = mt.load(tmp_path / "heart.csv", binarizer="quantiles:2", test_size=0.3, seed=1)
    result = mt.solve(mt.Problem(train, mt.Accuracy(), mt.Trees(2)))
    assert result.found_by
    assert result.problem.dataset.n_rows == train.n_rows == 210
    assert mt.verify(json.loads(json.dumps(result.to_json()))).verdict.value == "recomputed"


def test_an_estimator_predicts_with_the_greedy_tree(tmp_path):
    table = mt.example("heart")
    X, y = table.drop(columns="disease"), table["disease"]
    model = mt.OptimalTreeClassifier(max_depth=2, binarizer="quantiles", n_bins=2)
    with pytest.warns(UserWarning, match="the greedy tree over all thresholds"):
        model.fit(X, y)
    assert (model.predict(X) != y).sum() == model.result_.value.number
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (other.predict(X) == model.predict(X)).all()
        assert (other.predict_proba(X) == model.predict_proba(X)).all()
    model.save(tmp_path / "model.json")
    again = type(model).load(tmp_path / "model.json")
    assert (again.predict(X) == model.predict(X)).all()
    pure = mt.OptimalTreeClassifier(max_depth=2, binarizer="quantiles", n_bins=2, start=None)
    assert pure.fit(X, y).result_.optimal
    assert pure.result_.value.number > model.result_.value.number


def test_altered_statements_on_thresholds_are_refused():
    stored = json.loads(json.dumps(mt.solve(FEW, start=None).to_json()))
    assert mt.verify(stored)

    def more(data):
        data["problem"]["data"]["thresholds"]["used"] = 119

    def fewer(data):
        data["problem"]["data"]["thresholds"]["of"] = 12
        data["thresholds"] = sentence(data)

    def better(data):
        data["problem"]["data"]["thresholds"]["greedy_tree"] = 5
        data["thresholds"] = sentence(data)

    def otherwise(data):
        data["thresholds"] = "over all 119 thresholds"

    def silent(data):
        del data["thresholds"]

    for alter in (more, fewer, better, otherwise, silent):
        altered = copy.deepcopy(stored)
        alter(altered)
        with pytest.raises(mt.errors.VerificationError):
            mt.verify(altered)


def test_the_tree_of_scikit_learn_is_the_answer_if_it_is_better():
    """For areas its tree is far better than ours and than all trees over the medians."""
    few = mt.load("breast-cancer", binarizer="quantiles:2")
    result = mt.solve(mt.Problem(few, mt.tasks.AUC(), mt.Trees(2)))
    assert result.found_by == "scikit-learn's tree over all thresholds"
    assert (
        result.value.number
        > mt.solve(mt.Problem(few, mt.tasks.AUC(), mt.Trees(2)), start=None).value.number
    )


def test_thresholds_beyond_the_largest_number_count_for_the_greedy_tree():
    data = mt.load("breast-cancer", binarizer=mt.Binarizer(max_thresholds=50))
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(2)))
    assert data.source["thresholds"]["used"] <= 50 < data.source["thresholds"]["of"]
    assert result.status.value == "feasible"
    assert result.value.number <= 33


def test_scores_of_the_greedy_tree_are_those_of_its_test_rows():
    train, test = load_split("iris", binarizer="quantiles:4", test_size=0.3)
    result = mt.solve(mt.Problem(train, mt.Accuracy(), mt.Trees(2)), test_data=test)
    assert "over all thresholds" in result.found_by
    right = (result.predictor.predict(test) == np.array(test.classes)[test.y]).mean()
    assert result.scores["test_accuracy"] == pytest.approx(right)


def test_a_start_with_other_thresholds_is_not_taken_and_says_so():
    start = mt.solve(IRIS).predictor
    for method in ("dp", "state-flow@highs"):
        result = mt.solve(FEW, method, start=start)
        assert (result.value.number, result.start["accepted"]) == (22, False)
        assert "is not among the tests" in result.start["reason"]


def test_a_contradiction_is_not_hidden_by_the_greedy_tree():
    wrong = dataclasses.replace(mt.solve(FEW, start=None), agrees=False)
    assert with_greedy(wrong, Limits()) is wrong
    assert with_greedy(dataclasses.replace(wrong, agrees=None), Limits()).value.number == 6


@pytest.mark.parametrize(
    ("wanted", "why"),
    [("dp", "dp made this answer"), ("state-flow@highs", "judged by engines only")],
)
def test_a_named_reference_that_does_not_judge_is_no_secret(wanted, why):
    result = mt.solve(FEW, "dp", reference=wanted, start=None)
    assert result.agrees
    assert f"The reference {wanted} did not judge this answer" in result.message
    assert why in result.message
