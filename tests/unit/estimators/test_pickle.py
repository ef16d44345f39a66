"""A pickled estimator is a model with its certificate: training rows travel only where they are
asked for.
"""

import copy
import pickle

import numpy as np
import pytest
from row_tests import each_row
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt
from milp_trees import verify

#: A number of rows that no array has by chance.
N = 503
X, Y = (part[:N] for part in load_breast_cancer(return_X_y=True, as_frame=True))
COSTS = np.c_[Y, 1 - Y].astype(float)

TREES = {
    "classifier": (lambda **k: mt.OptimalTreeClassifier(**k), Y),
    "all midpoints": (
        lambda **k: mt.OptimalTreeClassifier(max_depth=1, binarizer="midpoints", **k),
        Y,
    ),
    "cross-validated": (
        lambda **k: mt.OptimalTreeClassifierCV(max_depth=2, max_leaf_nodes=3, cv=2, **k),
        Y,
    ),
    "policy": (lambda **k: mt.OptimalPolicyTree(max_depth=1, **k), COSTS),
    "spo": (lambda **k: mt.SPOTree(max_depth=2, **k), COSTS),
    "spo, exact, pruned": (
        lambda **k: mt.SPOTree(
            method="dp", max_depth=2, n_bins=4, validation_fraction=0.2, random_state=0, **k
        ),
        COSTS,
    ),
}
ENSEMBLES = {
    "spo forest": (lambda: mt.SPOForest(n_estimators=5, max_depth=5, random_state=0), COSTS),
    "budget forest": (lambda: mt.BudgetForestClassifier(n_estimators=5, random_state=0), Y),
    "pruner": (
        lambda: mt.EnsemblePruner(
            estimator=RandomForestClassifier(5, random_state=0), random_state=0
        ),
        Y,
    ),
    "pruner, out of bag": (
        lambda: mt.EnsemblePruner(
            estimator=RandomForestClassifier(5, random_state=0), errors="oob", budget=3
        ),
        Y,
    ),
}


def again(model):
    return pickle.loads(pickle.dumps(model))


def per_row(thing, path="", seen=None):
    """Paths of what a model holds that has one entry per training row."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return [path] if set(thing.shape) & set(range(N // 2, N + 1)) else []
    if isinstance(thing, (str, bytes, int, float, type(None))):
        return []
    if isinstance(thing, dict):
        parts = list(thing.items())
    elif isinstance(thing, (list, tuple, set, frozenset, np.ndarray)):
        parts = list(enumerate(thing))
    else:
        parts = list(getattr(thing, "__dict__", {}).items())
    own = [path] if isinstance(thing, (dict, list, tuple)) and N // 2 <= len(thing) <= N else []
    return own + [found for name, part in parts for found in per_row(part, f"{path}.{name}", seen)]


@pytest.fixture(scope="module", params=TREES)
def tree(request):
    make, y = TREES[request.param]
    return make, y, make().fit(X, y)


def test_a_pickled_tree_has_no_rows_and_predicts_the_same(tree):
    """No array is as long as the data; what is predicted and what is proven is the same."""
    _, _, model = tree
    small = again(model)
    assert len(per_row(model)) > 0
    assert per_row(small) == []
    assert len(pickle.dumps(model)) < 8000
    assert (small.predict(X) == model.predict(X)).all()
    assert (small.status_, small.bound_, small.gap_) == (model.status_, model.bound_, model.gap_)
    assert small.result_.to_json() == model.result_.to_json()
    assert repr(small.result_) == repr(model.result_)
    assert "<svg" in small.result_._repr_html_()
    assert per_row(again(small)) == []
    assert per_row(copy.deepcopy(model)) == []


def test_what_needs_the_rows_says_so(tree):
    """Verification and figures of nodes are refused in a sentence that names the remedy; with the
    rows they are there again.
    """
    _, y, model = tree
    small = again(model)
    for ask in (
        lambda: mt.verify(small.result_),
        small.to_sklearn,
        lambda: mt.solve(small.result_.problem, "dp"),
        lambda: small.result_.problem.dataset.y,
    ):
        with pytest.raises(
            mt.DataError, match="left out when it was pickled or copied; set keep_data=True"
        ):
            ask()
    assert small.to_sklearn(X).tree_.n_node_samples[0] == N
    if model.result_.problem.question.name == "best":
        assert verify(small.result_.to_json(), model.result_.problem.dataset)
    if y is Y:
        np.testing.assert_allclose(
            small.to_sklearn(X, y).tree_.value, model.to_sklearn().tree_.value
        )


def test_rows_are_kept_where_they_are_asked_for(tree):
    """`keep_data=True`, also set after fit."""
    make, _, model = tree
    assert make(keep_data=True).keep_data
    model.set_params(keep_data=True)
    try:
        kept = again(model)
        assert mt.verify(kept.result_)
        assert kept.result_.problem.dataset.sha256 == model.result_.problem.dataset.sha256
        assert kept.to_sklearn().tree_.n_node_samples[0] == model.result_.problem.dataset.n_rows
    finally:
        model.set_params(keep_data=False)


@each_row("name", ENSEMBLES)
def test_a_pickled_ensemble_has_no_rows_and_predicts_the_same(name):
    """Forests and prunings: trees, figures and seeds, no rows."""
    make, y = ENSEMBLES[name]
    model = make().fit(X, y)
    small = again(model)
    assert per_row(small) == []
    assert (small.predict(X) == model.predict(X)).all()
    if hasattr(model, "estimators_samples_"):
        assert all(
            (a == b).all()
            for a, b in zip(small.estimators_samples_, model.estimators_samples_, strict=True)
        )
    if name == "spo forest":
        assert (small.decide(X) == model.decide(X)).all()
        assert (small.apply(X) == model.apply(X)).all()


def test_a_pickled_pruner_gives_every_pruning_of_its_path_and_no_certificate():
    """The path needs no rows; a program with a budget row, and a flow that proves a pruning, do."""
    forest = RandomForestClassifier(4, max_depth=3, random_state=0)
    model = mt.EnsemblePruner(estimator=forest, errors="oob", lam="0.01").fit(
        X, Y, row_costs=np.full((N, X.shape[1]), 2)
    )
    small = again(model)
    for ask in {"lam": 0.003}, {"budget": 4}:
        assert small.prune(**ask).pruning_ == model.prune(**ask).pruning_
    assert small.curve_.to_json() == model.curve_.to_json()
    assert small.problem_.spec()["data"]["left_out"] == ["error_weights", "row_costs"]
    assert small.problem_.spec()["data"]["arrays_sha256"] == model.problem_.dataset.sha256
    with pytest.raises(mt.DataError, match="prices that differ from row to row"):
        small.feature_cost(X)
    assert (small.feature_cost(X, row_costs=np.ones((N, X.shape[1]))) <= 30).all()
    with pytest.raises(mt.DataError, match="left out"):
        small.prune(budget=4, exact=True)
    with pytest.raises(mt.DataError, match="pickled without its rows"):
        small.curve_.certificate("0.01")
    kept = again(model.set_params(keep_data=True))
    assert kept.curve_.certificate("0.01")
    assert kept.prune(budget=4, exact=True).pruning_["status"]


def test_a_pickled_cost_sensitive_tree_reports_the_costs_of_new_rows():
    """Attributes have columns that the tree does not test, and their thresholds are left out."""
    X, y = [[0, 0], [1, 1], [2, 0], [3, 1]] * 3, [0, 0, 1, 1] * 3
    model = mt.CostSensitiveTreeClassifier(matrix=[[0, 9], [9, 0]], attributes={"0": 1, "1": 2})
    expected = model.fit(X, y).cost_report(X, y)
    assert expected["mean_cost"] == 1
    assert again(model).cost_report(X, y) == expected
