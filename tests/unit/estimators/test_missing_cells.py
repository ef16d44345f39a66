"""Estimators on tables with missing cells: what they keep, convert and refuse."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt


def table(seed):
    """Sixty rows with missing numbers, texts and dates, and a target that knows what is missing."""
    r = np.random.default_rng(seed)
    day = pd.to_datetime("2020-01-01") + pd.to_timedelta(r.integers(0, 300, 60), unit="D")
    frame = pd.DataFrame({"age": r.normal(size=60), "town": r.choice(["a", "b", "c"], 60)})
    frame["day"] = day
    for name in frame.columns:
        frame.loc[r.random(60) < 0.25, name] = None
    first = frame["age"].isna() | (frame["town"] == "b")
    y = np.where(r.random(60) < 0.1, ~first, first).astype(int)
    return frame, y


@each_row("seed", range(4))
def test_a_converted_tree_predicts_the_same_on_the_original_table(seed):
    frame, y = table(seed)
    model = mt.OptimalTreeClassifier(max_depth=3).fit(frame, y)
    assert any(t.missing or t.kind == "missing" for t in model.tree_.splits)
    assert (model.to_sklearn().predict(frame) == model.predict(frame)).all()
    fresh, _ = table(seed + 100)
    assert (model.to_sklearn().predict(fresh) == model.predict(fresh)).all()


def test_a_tree_that_answers_for_missing_values_is_not_converted_alone():
    """Alone, it would compare the numbers of the one column with 0.5 where the tree asks for 7.5."""
    X = np.array([[1.0], [2.0], [np.nan], [7.0], [8.0], [9.0], [np.nan]])
    y = np.array([0, 0, 1, 0, 1, 1, 1])
    model = mt.OptimalTreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(mt.DataError, match="missing values go; leave out pipeline=False"):
        model.to_sklearn(pipeline=False)
    for pipeline in (None, True):
        assert (model.to_sklearn(pipeline=pipeline).predict(X) == y).all()


@pytest.mark.parametrize(
    "model", [mt.OptimalTreeClassifier(max_depth=2), mt.OptimalRuleListClassifier(max_length=2)]
)
def test_arrays_may_hold_missing_numbers(model, tmp_path):
    """The tag says so, the model is not worse than one that ignores the rows' gaps, and it is kept."""
    frame, y = table(0)
    X = np.column_stack([frame["age"], np.arange(60) % 7])
    model.fit(X, y)
    assert model.__sklearn_tags__().input_tags.allow_nan
    assert model.score(X, y) > mt.OptimalTreeClassifier(max_depth=2).fit(X[:, 1:], y).score(
        X[:, 1:], y
    )
    model.save(tmp_path / "model.json")
    again = type(model).load(tmp_path / "model.json")
    assert (again.predict(X) == model.predict(X)).all()
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(np.isnan(X), np.inf, X))


def test_a_column_that_was_complete_must_stay_complete():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = mt.OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])
    with pytest.raises(mt.DataError, match="had none when the features were chosen"):
        model.predict([[np.nan]])


def test_masked_cells_are_missing_cells():
    X = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 99.0]])
    masked, y = np.ma.masked_equal(X, 99.0), [0, 0, 1, 1]
    model = mt.OptimalTreeClassifier(max_depth=1).fit(masked, y)
    stated = mt.OptimalTreeClassifier(max_depth=1).fit(masked.filled(np.nan), y)
    assert model.binarizer_.features == stated.binarizer_.features
    with pytest.raises(mt.DataError, match="had none when the features were chosen"):
        mt.OptimalTreeClassifier(max_depth=1).fit(X[:, 1:], y).predict(masked[:, 1:])


def test_cells_of_another_byte_order_may_be_missing():
    X = np.array([[0.0], [1.0], [np.nan], [3.0]])
    foreign = X.astype(X.dtype.newbyteorder("S"))
    model = mt.OptimalTreeClassifier(max_depth=1).fit(foreign, [0, 0, 1, 1])
    assert model.predict(foreign).tolist() == model.predict(X).tolist() == [0, 0, 1, 1]


def test_trees_for_decisions_refuse_missing_cells():
    frame, _ = table(0)
    costs = np.random.default_rng(0).random((60, 3))
    with pytest.raises(ValueError, match="NaN"):
        mt.SPOTree(max_depth=2).fit(frame[["age"]].to_numpy(), costs)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_missing_treatment_is_refused_with_a_remedy(gap):
    frame, y = table(0)
    treatments = y.astype(object)
    treatments[3] = gap
    seen = {"outcomes": np.ones(60), "propensities": np.full(60, 0.5)}
    with pytest.raises(mt.DataError, match="treatments has a missing value at row 3; drop"):
        mt.OptimalPolicyTree(max_depth=1).fit(frame, treatments=treatments, **seen)


def test_a_missing_group_is_refused_with_a_remedy():
    frame, y = table(0)
    groups = np.array(["a", "b"] * 30, dtype=object)
    groups[3] = None
    with pytest.raises(mt.DataError, match="sensitive_features has a missing value at row 3; drop"):
        mt.FairTreeClassifier(max_depth=1).fit(frame, y, sensitive_features=groups)
