"""Estimators as JSON files, and as trees of scikit-learn that predict the same."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, export_text
from sklearn.utils.validation import check_is_fitted

import milp_trees as mt

RNG = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "a": RNG.random(N),
        "colour": RNG.choice(["red", "blue", "green"], N),
        "s": RNG.integers(0, 2, N),
    }
)
Y = np.where((FRAME.a > 0.4) ^ (FRAME.colour == "red"), "yes", "no")
COSTS = RNG.random((N, 4))
NAMED = pd.DataFrame(COSTS[:, :3], columns=list("uvw"))

FITTED = [
    (mt.OptimalTreeClassifier(class_weight="balanced", random_state=3), FRAME, Y, {}),
    (mt.OptimalTreeClassifier(task="f1"), FRAME[["a", "s"]].to_numpy(), Y == "yes", {}),
    (
        mt.OptimalTreeClassifier(
            task=mt.tasks.WeightedError(class_weight={"yes": "1/3"}),
            binarizer=mt.Binarizer(kind="quantiles", n_bins=4),
        ),
        FRAME,
        Y,
        {},
    ),
    (mt.OptimalRuleListClassifier(max_literals=2), FRAME, Y, {}),
    (mt.FairTreeClassifier(), FRAME, Y, {"sensitive_features": "s"}),
    (
        mt.FairTreeClassifier(constraint=mt.tasks.EqualOpportunity(0.2)),
        FRAME,
        Y,
        {"sensitive_features": FRAME.s},
    ),
    (mt.OptimalTreeClassifierCV(max_depth=2, cv=2, max_leaf_nodes=3), FRAME, Y, {}),
    (mt.CostSensitiveTreeClassifier(matrix=[[0, 2], [1, 0]]), FRAME, Y, {}),
    (mt.OptimalPolicyTree(), FRAME, NAMED, {}),
    (mt.OptimalPolicyTree(honest_fraction=0.3, random_state=0), FRAME, COSTS, {}),
    (mt.SPOTree(max_depth=2), FRAME, COSTS, {}),
    (mt.SPOTree(method="dp", decisions=mt.decisions.grid_paths(2, 2)), FRAME, COSTS, {}),
]


@each_row("case", FITTED)
def test_a_saved_estimator_is_the_same_when_it_is_loaded(case, tmp_path):
    """Predictions, certificate and importances are kept; the file holds no row of the data."""
    model, X, y, more = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X, y, **more)
    file = tmp_path / "model.json"
    model.save(file)
    again = type(model).load(file)
    check_is_fitted(again)
    assert type(again) is type(model)
    assert (again.predict(X) == model.predict(X)).all()
    assert again.apply(X).tolist() == model.apply(X).tolist()
    assert again.result_.value == model.result_.value
    assert (again.bound_, again.gap_, again.status_) == (model.bound_, model.gap_, model.status_)
    assert again.feature_importances_ == pytest.approx(model.feature_importances_)
    if hasattr(model, "predict_proba"):
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
    again.save(tmp_path / "again.json")
    first, second = (json.loads(f.read_text()) for f in (file, tmp_path / "again.json"))
    assert {**first, "left_out": []} == {**second, "left_out": []}
    assert all(repr(value) not in file.read_text() for value in FRAME.a.tolist())
    assert (clone(again).fit(X, y, **more).predict(X) == model.predict(X)).all()
    assert (pickle.loads(pickle.dumps(again)).predict(X) == model.predict(X)).all()


def test_other_files_and_values_are_refused_with_a_sentence(tmp_path):
    """Format, version, class and damage are told apart."""
    model = mt.OptimalTreeClassifier().fit(FRAME, Y)
    file = tmp_path / "model.json"
    model.save(file)
    good = json.loads(file.read_text())

    def changed(**new):
        file.write_text(json.dumps(good | new))
        return file

    for new, sentence in (
        ({"format": "other"}, "no fitted estimator"),
        ({"version": 99}, "version 99"),
        ({"class": "Other"}, "holds a fitted Other"),
        ({"parameters": {"max_deep": 3}}, "damaged"),
        ({"fitted": {}}, "damaged"),
    ):
        with pytest.raises(mt.DataError, match=sentence):
            mt.OptimalTreeClassifier.load(changed(**new))
    with pytest.raises(mt.DataError, match="is no SPOTree"):
        mt.SPOTree.load(changed())
    file.write_text("not JSON")
    with pytest.raises(mt.DataError, match="no JSON file"):
        mt.OptimalTreeClassifier.load(file)
    folds = mt.OptimalTreeClassifierCV(max_depth=1, cv=KFold(2)).fit(FRAME, Y)
    with pytest.raises(mt.DataError, match="parameter cv"):
        folds.save(file)
    mt.OptimalTreeCV(max_leaf_nodes=2, cv=2).fit(FRAME, Y).save(file)
    assert mt.OptimalTreeClassifier.load(file).get_n_leaves() <= 2


# -- scikit-learn ------------------------------------------------------------------------------------------------


def close_rows(model, n=10_000):
    """Random rows with values at the thresholds, beside them, and rounded to single precision."""
    rng = np.random.default_rng(1)
    cuts = [t.value for t in model.tree_.splits if t.column == "a"] or [0.5]
    near, which = rng.choice(cuts, n), rng.integers(0, 5, n)
    choices = [
        near,
        np.nextafter(near, 2),
        np.nextafter(near, -2),
        near.astype(np.float32).astype(float),
    ]
    a = np.select([which == k for k in range(4)], choices, rng.random(n))
    colour = rng.choice(["red", "blue", "green", "unseen"], n)
    return pd.DataFrame({"a": a, "colour": colour, "s": rng.integers(0, 2, n)})


@each_row("case", [FITTED[k] for k in (0, 4, 7, 8, 10)])
def test_the_pipeline_predicts_exactly_what_the_model_predicts(case):
    """On ten thousand rows, many of which single precision alone would send another way."""
    model, X, y, more = case
    model = clone(model).fit(X, y, **more)
    tree = model.tree_
    theirs, rows = model.to_sklearn(), close_rows(model)
    wanted = tree.predict({c: rows[c].to_numpy() for c in rows})
    assert (theirs.predict(rows).astype(str) == wanted.astype(str)).all()
    assert [str(c) for c in theirs.classes_] == [str(c) for c in tree.actions]
    names = list(theirs["columns"].get_feature_names_out())
    text = export_text(theirs["tree"], feature_names=names)
    for test in tree.splits:
        assert test.column in text
    assert (pickle.loads(pickle.dumps(theirs)).predict(rows) == theirs.predict(rows)).all()
    with pytest.raises(mt.DataError, match="does not have"):
        theirs.predict(rows[["s"]])


def test_numbers_alone_give_a_plain_tree_and_a_pipeline_on_request():
    """The plain tree takes the original array; only the pipeline is exact beside thresholds."""
    X = np.column_stack([np.arange(40) * 0.1, np.arange(40) % 3])
    y = (np.arange(40) // 10) % 2
    model = mt.OptimalTreeClassifier(max_depth=3, binarizer="midpoints").fit(X, y)
    plain, exact = model.to_sklearn(), model.to_sklearn(pipeline=True)
    assert isinstance(plain, DecisionTreeClassifier)
    named = {"columns": ["0", "1"]}
    assert (plain.predict(pd.DataFrame(X, **named)) == y).all()
    cuts = np.array([t.value for t in model.tree_.splits if t.column == "0"])
    near = np.concatenate([cuts, np.nextafter(cuts, 9), np.nextafter(cuts, -9)])
    rows = np.column_stack([near, np.zeros(len(near))])
    assert (exact.predict(rows) == model.predict(rows)).all()
    assert (plain.predict(pd.DataFrame(rows, **named)) != model.predict(rows)).any()
    with pytest.raises(mt.DataError, match="must have 2 columns"):
        exact.predict(rows[:, :1])
    tight = mt.OptimalTreeClassifier(max_depth=2, binarizer="midpoints")
    tight.fit((1.7e9 + np.arange(12.0))[:, None], np.arange(12) // 4 % 2)
    with pytest.raises(mt.DataError, match="cannot be told apart"):
        tight.to_sklearn(pipeline=True)
