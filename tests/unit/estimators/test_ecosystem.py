"""The estimators among the tools of scikit-learn, pandas and SciPy."""

import joblib
import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from scipy import sparse
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags

import milp_trees as mt
from milp_trees.estimators import _sparse

RNG = np.random.default_rng(0)
X = (RNG.random((80, 5)) < 0.3) * RNG.integers(1, 4, (80, 5))
Y = np.where(X[:, 0] > 0, "yes", "no")
COSTS = RNG.random((80, 3))


@each_row("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
@each_row(
    "model, target",
    [
        (mt.OptimalTreeClassifier(), Y),
        (mt.OptimalRuleListClassifier(), Y),
        (mt.OptimalTreeClassifierCV(max_depth=2, cv=2, max_leaf_nodes=3), Y),
        (mt.OptimalPolicyTree(), COSTS),
        (mt.SPOTree(max_depth=2), COSTS),
        (mt.SPOForest(n_estimators=2, random_state=0), COSTS),
    ],
)
def test_a_sparse_table_gives_the_same_model_as_a_dense_one(form, model, target):
    """In fit and in predict; the tag says that sparse tables are taken."""
    dense = model.fit(X, target).predict(X)
    assert (model.fit(form(X), target).predict(form(X)) == dense).all()
    assert get_tags(model).input_tags.sparse


def test_a_sparse_table_is_asked_about_values_and_costs_as_a_dense_one():
    """The methods that make a dataset of new rows."""
    X = np.array([[0.0, 2], [1, 0], [0, 0], [3, 1]] * 3)
    rows, gains, labels = sparse.csr_array(X), np.c_[X[:, 0], 1 - X[:, 0]], [0, 1, 0, 1] * 3
    policy = mt.OptimalPolicyTree(max_depth=1).fit(rows, gains)
    assert policy.policy_value(rows, gains).value == policy.policy_value(X, gains).value
    assert policy.policy_leaves(rows, gains).equals(policy.policy_leaves(X, gains))
    costs = mt.CostSensitiveTreeClassifier(matrix=[[0, 2], [3, 0]]).fit(rows, labels)
    assert costs.cost_report(rows, labels) == costs.cost_report(X, labels)


def test_a_sparse_table_that_is_too_large_is_refused_with_its_size(monkeypatch):
    """Nothing huge is made dense silently; a prediction makes only the asked columns dense."""
    model = mt.OptimalTreeClassifier(max_depth=1).fit(sparse.csr_matrix(X), Y)
    monkeypatch.setattr(_sparse, "MOST_CELLS", 100)
    assert (model.predict(sparse.csr_matrix(X)) == Y).all()
    with pytest.raises(mt.DataError, match=r"80 rows and 5 columns.*GiB"):
        mt.OptimalTreeClassifier().fit(sparse.csr_matrix(X), Y)


def test_pipelines_searches_and_scores():
    """A search over a parameter of a step; every fold is fitted; names come through set_output."""
    steps = make_pipeline(
        MinMaxScaler(), SelectKBest(k=3), mt.OptimalTreeClassifier(class_weight="balanced")
    )
    steps.set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(steps, {"optimaltreeclassifier__max_depth": [0, 1]}, cv=2)
    best = search.fit(frame, Y).best_estimator_[-1]
    assert best.max_depth == 1
    assert best.feature_names_in_.tolist()[0] == "a"
    assert best.tree_.splits[0].column == "a"
    assert cross_val_score(steps, frame, Y, cv=3).tolist() == [1.0] * 3
    assert mt.Binarizer().set_output(transform="pandas").fit(frame).transform(frame).shape[0] == 80


def test_nullable_types_joblib_and_other_columns(tmp_path):
    """pandas' nullable types hold numbers; a file of joblib predicts; other names are refused."""
    frame = pd.DataFrame(X, columns=list("abcde")).convert_dtypes()
    frame["e"] = frame["e"] > 1
    model = mt.OptimalTreeClassifier().fit(
        frame.astype({"e": "boolean"}), pd.Series(Y, dtype="string")
    )
    assert model.predict(frame).tolist() == Y.tolist()
    joblib.dump(model, tmp_path / "model.joblib")
    assert (joblib.load(tmp_path / "model.joblib").predict(frame) == Y).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(mt.DataError, match="one class only"):
        mt.OptimalTreeClassifier().fit(frame, ["yes"] * 80)
