"""Ensembles: read from every kind of model they predict what the stock does, stand in preorder,
survive JSON, and refuse what is none.
"""

import json

import numpy as np
import pytest
from ensemble_cases import NAMES, WINE_X, WINE_Y, data, gains
from row_tests import each_row
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.read_ensemble import ensemble_from_trees, out_of_bag
from milp_trees.models.tree import Tree

SUGAR_X, SUGAR_Y = load_diabetes(return_X_y=True)


WEIGHTS = np.random.default_rng(0).integers(0, 4, len(WINE_Y)).astype(float)


RARE = np.array(["rare"] * 2 + ["x"] * 80 + ["y"] * 96)


SEED = {"random_state": 0}


CLASSIFIERS = {
    "forest": (RandomForestClassifier(6, **SEED), WINE_Y, {}),
    "forest of names": (RandomForestClassifier(6, **SEED), NAMES, {}),
    "forest with weights": (RandomForestClassifier(6, **SEED), NAMES, {"sample_weight": WEIGHTS}),
    "forest with class weights": (
        RandomForestClassifier(6, class_weight="balanced_subsample", **SEED),
        NAMES,
        {},
    ),
    "forest of large leaves": (
        RandomForestClassifier(6, min_samples_leaf=5, max_samples=0.5, **SEED),
        NAMES,
        {},
    ),
    "best first": (
        RandomForestClassifier(6, max_leaf_nodes=7, criterion="entropy", **SEED),
        NAMES,
        {},
    ),
    "extra trees": (ExtraTreesClassifier(6, **SEED), NAMES, {}),
    "bagging of columns": (BaggingClassifier(n_estimators=6, max_features=0.5, **SEED), NAMES, {}),
    "bagging that misses classes": (
        BaggingClassifier(
            n_estimators=9, max_features=3, bootstrap_features=True, max_samples=4, **SEED
        ),
        RARE,
        {},
    ),
    "bagging of extra trees": (
        BaggingClassifier(ExtraTreeClassifier(), n_estimators=5, **SEED),
        WINE_Y * 5 - 3,
        {},
    ),
    "tree": (DecisionTreeClassifier(max_leaf_nodes=6, **SEED), NAMES, {}),
    "extra tree": (ExtraTreeClassifier(**SEED), NAMES, {}),
    "one class": (RandomForestClassifier(3, **SEED), np.zeros(len(WINE_X), dtype=int), {}),
    "truth values": (RandomForestClassifier(3, **SEED), WINE_Y > 0, {}),
    "budget forest": (mt.BudgetForestClassifier(n_estimators=5, **SEED), NAMES, {}),
    "budget forest by majority": (
        mt.BudgetForestClassifier(n_estimators=5, voting="hard", max_depth=2, **SEED),
        NAMES,
        {},
    ),
}


REGRESSORS = {
    "forest": RandomForestRegressor(4, max_depth=5, **SEED),
    "extra trees": ExtraTreesRegressor(4, max_depth=5, **SEED),
    "bagging of columns": BaggingRegressor(n_estimators=4, max_features=0.5, **SEED),
    "absolute error": DecisionTreeRegressor(criterion="absolute_error", max_depth=4, **SEED),
    "extra tree": ExtraTreeRegressor(max_leaf_nodes=9, **SEED),
    "poisson": RandomForestRegressor(3, criterion="poisson", max_depth=4, **SEED),
}


def slow_errors(ensemble, X, y):
    """Loss at every node, row by row."""
    out = np.zeros(ensemble.n_nodes)
    for x, target in zip(ensemble.checked(X), y, strict=True):
        for h in ensemble.roots.tolist():
            while h >= 0:
                value = ensemble.value[h]
                out[h] += (
                    (value[0] - target) ** 2
                    if ensemble.classes is None
                    else ensemble.classes[int(value.argmax())] != target
                )
                h = (
                    -1
                    if ensemble.left[h] < 0
                    else int(
                        ensemble.left[h]
                        if x[ensemble.column[h]] <= ensemble.threshold[h]
                        else ensemble.right[h]
                    )
                )
    return out


def check_preorder_and_json(ensemble):
    h = np.flatnonzero(ensemble.left >= 0)
    np.testing.assert_array_equal(ensemble.left[h], h + 1)
    np.testing.assert_array_equal(ensemble.right[h], h + 1 + ensemble.size[h + 1])
    back = mt.Ensemble.from_json(json.loads(json.dumps(ensemble.trees_json())))
    assert back.sha256 == ensemble.sha256
    for name in ("parent", "member", "feature_of"):
        np.testing.assert_array_equal(getattr(back, name), getattr(ensemble, name))


# -- reading ------------------------------------------------------------------------------------------------------


@each_row("name", CLASSIFIERS)
def test_classifiers_predict_what_the_stock_does_and_count_their_errors(name):
    model, y, more = CLASSIFIERS[name]
    model.fit(WINE_X, y, **more)
    ensemble = mt.read_ensemble(model)
    np.testing.assert_array_equal(ensemble.predict(WINE_X), model.predict(WINE_X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(
            ensemble.mean_value(ensemble.walk(WINE_X).leaf), model.predict_proba(WINE_X)
        )
    view = gains(ensemble, WINE_X, y)
    assert view.exact
    assert view.error.tolist() == slow_errors(ensemble, WINE_X, y).tolist()
    check_preorder_and_json(ensemble)


@each_row("name", REGRESSORS)
def test_regressors_predict_what_the_stock_does_and_add_up_their_errors(name):
    model = REGRESSORS[name].fit(SUGAR_X, SUGAR_Y)
    ensemble = mt.read_ensemble(model)
    np.testing.assert_allclose(ensemble.predict(SUGAR_X), model.predict(SUGAR_X), rtol=1e-12)
    view, expected = gains(ensemble, SUGAR_X, SUGAR_Y), slow_errors(ensemble, SUGAR_X, SUGAR_Y)
    assert not view.exact
    found = view.error * float(view.error_unit) * ensemble.n_trees * len(SUGAR_Y)
    np.testing.assert_allclose(found, expected, atol=1e-9 * expected.max())
    check_preorder_and_json(ensemble)


def test_squared_errors_keep_their_digits_where_the_target_is_far_from_zero():
    y = 1e9 + SUGAR_Y
    ensemble = mt.read_ensemble(DecisionTreeRegressor(max_depth=4, random_state=0).fit(SUGAR_X, y))
    problem = mt.Problem(
        data(ensemble, SUGAR_X, y), mt.pruning.PrunedError(0), mt.PrunedEnsembles(ensemble)
    )
    view = problem.view(mt.pruning.NodeGains)
    assert float(view.to_value(view.objective(ensemble))) == pytest.approx(
        problem.value(ensemble).number, rel=1e-9
    )


def test_columns_of_a_frame_are_matched_by_name():
    frame = load_wine(as_frame=True).data
    model = RandomForestClassifier(3, random_state=0).fit(frame, NAMES)
    ensemble = mt.read_ensemble(model)
    assert ensemble.columns == tuple(frame.columns)
    np.testing.assert_array_equal(ensemble.predict(frame), model.predict(frame))
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(ensemble.predict(turned), model.predict(frame))
    with pytest.raises(mt.DataError, match="do not fit the columns of the ensemble"):
        ensemble.predict(frame.rename(columns={"hue": "tint"}))
    with pytest.raises(mt.DataError, match="in another order"):
        mt.read_ensemble(model, list(turned.columns))


def test_own_trees_predict_the_same_as_an_ensemble():
    dataset = mt.load("planted:rows=80,tests=5,depth=2,noise=0.1,seed=4")
    trees = [
        mt.solve(mt.Problem(dataset, mt.Accuracy(), mt.Trees(max_depth=d)), "dp").predictor
        for d in (1, 2)
    ]
    ensemble, rows = ensemble_from_trees(trees, dataset)
    leaf = ensemble.routes(rows).leaf
    for t, tree in enumerate(trees):
        np.testing.assert_array_equal(ensemble.label[leaf[:, t]], tree.routes(dataset).action)
    check_preorder_and_json(ensemble)


def test_inner_nodes_of_own_trees_count_weights():
    dataset = mt.Dataset([[0], [0], [1]], y=["a", "a", "b"], weights=[1, 1, 5])
    tree = Tree(Branch(dataset.features[0], Leaf(0), Leaf(1)), ("a", "b"))
    ensemble, _ = ensemble_from_trees([tree], dataset)
    assert ensemble.value[0].tolist() == [2, 5]


def test_features_may_stand_for_several_columns():
    model = DecisionTreeClassifier(random_state=0).fit(WINE_X, WINE_Y)
    ensemble = mt.read_ensemble(model, features={"x6": "panel", "x9": "panel", "x12": "panel"})
    assert len(ensemble.features) == 11
    assert {ensemble.features[k] for k in ensemble.feature[ensemble.column == 6]} == {"panel"}


def test_pruned_trees_end_where_they_are_cut():
    ensemble = mt.read_ensemble(
        RandomForestClassifier(3, max_depth=3, random_state=0).fit(WINE_X, WINE_Y)
    )
    keep = np.zeros(ensemble.n_nodes, dtype=bool)
    keep[ensemble.roots[0]] = True
    cut = ensemble.pruned(keep)
    routes = cut.walk(WINE_X)
    assert (cut.n_splits, cut.n_leaves) == (1, 4)
    assert set(routes.leaf[:, 0]) == {int(ensemble.left[0]), int(ensemble.right[0])}
    assert set(routes.leaf[:, 1]) == {int(ensemble.roots[1])}
    assert routes.used.sum(axis=1).tolist() == routes.evaluations.tolist() == [1] * len(WINE_X)
    assert cut.same_trees(ensemble)


# -- out-of-bag rows ----------------------------------------------------------------------------------------------


@each_row(
    "model",
    [
        RandomForestClassifier(4, random_state=0),
        BaggingClassifier(n_estimators=4, random_state=0),
        BaggingClassifier(n_estimators=4, bootstrap=False, max_samples=0.5, random_state=0),
        mt.BudgetForestClassifier(n_estimators=4, random_state=0),
    ],
)
def test_out_of_bag_rows_are_those_that_a_tree_did_not_see(model):
    model.fit(WINE_X, WINE_Y)
    weights = out_of_bag(model, len(WINE_X))
    for t, rows in enumerate(model.estimators_samples_):
        assert set(np.flatnonzero(weights[:, t] == 0)) == set(np.asarray(rows).tolist())


@each_row(
    ("model", "rows", "sentence"),
    [
        (RandomForestClassifier(2, bootstrap=False).fit(WINE_X, WINE_Y), 178, "no out-of-bag rows"),
        (
            BaggingClassifier(n_estimators=2, bootstrap=False).fit(WINE_X, WINE_Y),
            178,
            "no out-of-bag rows",
        ),
        (DecisionTreeClassifier().fit(WINE_X, WINE_Y), 178, "no out-of-bag rows"),
        (RandomForestClassifier(2), 178, "not fitted"),
        (RandomForestClassifier(2).fit(WINE_X, WINE_Y), 170, "fitted on 178 rows, 170 are given"),
        (RandomForestClassifier(2).fit(WINE_X, WINE_Y), 190, "fitted on 178 rows, 190 are given"),
    ],
)
def test_where_there_are_no_out_of_bag_rows_it_is_said(model, rows, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        out_of_bag(model, rows)
