"""Tests keep the names, categories and thresholds of the columns they came from."""

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt

FRAME = pd.DataFrame({"age": [20.0, 30, 30, 40], "smoker": ["no", "yes", "no", "no"], "town": ["a", "b", "c", "a"], "flag": [0, 1, 1, 0]})


def test_every_kind_of_column_gets_its_tests():
    binarizer = mt.Binarizer().fit(FRAME)
    assert [t.name for t in binarizer.tests] == ["age <= 25", "age <= 35", "smoker == yes", "town == a", "town == b", "town == c", "flag"]
    assert binarizer.transform(FRAME).tolist()[1] == [0, 1, 1, 0, 1, 0, 1]


def test_outcomes_equal_the_tests_evaluated_on_the_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "c": rng.choice(list("abc"), 50)})
    for kind in ("auto", "midpoints", "quantiles", "tree-guess"):
        binarizer = mt.Binarizer(kind).fit(frame, frame["x"] > 0)
        X = binarizer.transform(frame)
        for j, test in enumerate(binarizer.tests):
            assert (X[:, j] == test.evaluate(frame[test.column].to_numpy())).all(), (kind, test)


def test_midpoints_separate_every_two_distinct_values():
    values = np.array([1.0, np.nextafter(1.0, 2), 2.0, 2.0, 1e300])
    X = mt.Binarizer("midpoints").fit_transform(pd.DataFrame({"x": values}))
    assert X.sum(axis=0).tolist() == [1, 2, 4]


def test_quantiles_are_few():
    frame = pd.DataFrame({"x": np.arange(1000.0)})
    assert [t.value for t in mt.Binarizer("quantiles", n_bins=4).fit(frame).tests] == [249.5, 499.5, 749.5]


def test_guessed_thresholds_find_the_one_that_matters():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(size=200), "noise": rng.uniform(size=200)})
    binarizer = mt.Binarizer("tree-guess").fit(frame, frame["x"] <= 0.4)
    assert len(binarizer.tests) == 1
    assert binarizer.tests[0].column == "x"
    assert abs(binarizer.tests[0].value - 0.4) < 0.02


def test_a_binarizer_survives_json():
    import json

    binarizer = mt.Binarizer("quantiles", n_bins=3).fit(FRAME)
    again = mt.Binarizer.from_json(json.loads(json.dumps(binarizer.to_json())))
    assert again.tests == binarizer.tests
    assert (again.transform(FRAME) == binarizer.transform(FRAME)).all()


def test_a_binarizer_is_a_scikit_learn_transformer():
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    binarizer = clone(mt.Binarizer("quantiles", n_bins=3))
    assert make_pipeline(binarizer).fit(FRAME).transform(FRAME).shape == (4, 6)
    binarizer.fit(FRAME)
    assert binarizer.get_feature_names_out().tolist()[:2] == ["age <= 35", "smoker == yes"]


def test_arrays_get_columns_named_by_position():
    data = mt.Binarizer().dataset(np.array([[0.5, 1], [1.5, 0]]), y=["u", "v"])
    assert [t.name for t in data.tests] == ["0 <= 1", "1"]
    assert data.classes == ("u", "v")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: mt.Binarizer().fit(pd.DataFrame({"a": [1, None]})), "'a' has a missing value in row 1"),
        (lambda: mt.Binarizer().fit(pd.DataFrame({"a": [1, np.inf, 2]})), "infinite"),
        (lambda: mt.Binarizer(max_categories=2).fit(FRAME), "'town' holds 3 different texts"),
        (lambda: mt.Binarizer("tree-guess").fit(FRAME), "give y"),
        (lambda: mt.Binarizer("medians").fit(FRAME), "no binarizer 'medians'"),
        (lambda: mt.Binarizer().fit(FRAME).transform(FRAME.drop(columns="age")), "no column 'age'"),
        (lambda: mt.Binarizer().fit(FRAME).transform(FRAME.assign(age="old")), "must hold numbers"),
        (lambda: mt.Binarizer().tests, "not fitted"),
        (lambda: mt.Binarizer.from_name("quantiles:x"), "no binarizer 'quantiles:x'"),
    ],
)
def test_what_cannot_be_binarized_gets_a_sentence(make, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        make()
