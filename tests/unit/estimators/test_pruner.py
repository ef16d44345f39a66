"""EnsemblePruner: the path is the hull of all prunings, pruned scikit-learn ensembles predict what
ours do, choices and budgets say what is proven.
"""

import io
import itertools
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt
from milp_trees.estimators._pruner_rows import choose
from milp_trees.study.along_curve import Rows, judge

CANCER = load_breast_cancer(as_frame=True)
DIABETES = load_diabetes(as_frame=True)
IRIS = load_iris(as_frame=True)
FOREST = RandomForestClassifier(6, max_depth=4, random_state=0)


@pytest.fixture(scope="module")
def cancer():
    """A pruner on a small forest, selected on rows set aside."""
    return mt.EnsemblePruner(FOREST, random_state=0).fit(CANCER.data, CANCER.target)


def tiny(seed, n_trees=2, **options):
    """A pruner with few enough prunings to enumerate."""
    X, y = make_classification(
        30, 4, n_informative=3, n_redundant=0, n_classes=2, flip_y=0.2, random_state=seed
    )
    X = np.round(X, 1)
    forest = RandomForestClassifier(n_trees, max_depth=2, random_state=seed)
    return mt.EnsemblePruner(forest, validation=None, **options).fit(X, y), X, y


def prunings(ensemble):
    """Every pruning as an array of kept splits."""
    splits = np.flatnonzero(ensemble.left >= 0)
    for kept in itertools.product([False, True], repeat=len(splits)):
        keep = np.zeros(ensemble.n_nodes, dtype=bool)
        keep[splits] = kept
        inner = splits[keep[splits] & (ensemble.parent[splits] >= 0)]
        if keep[ensemble.parent[inner]].all():
            yield keep


# -- the path ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("errors", ["train", "oob"])
def test_for_every_lambda_the_path_is_as_good_as_the_best_of_all_prunings(seed, errors):
    """Enumerated, with rational costs, at breakpoints and between them."""
    pruner, _, _ = tiny(seed, feature_costs=["1", "0.5", "2.25", "1/3"], errors=errors)
    scores = [
        pruner.problem_.task.parts(
            pruner.ensemble_.pruned(k).routes(pruner.problem_.dataset), pruner.problem_.dataset
        )
        for k in prunings(pruner.ensemble_)
    ]
    breaks = [Fraction(b) for b in pruner.path_.breakpoints]
    middles = [
        (a + b) / 2
        for a, b in itertools.pairwise([Fraction(0), *breaks, 2 * max(breaks, default=Fraction(1))])
    ]
    for lam in [Fraction(0), *breaks, *middles]:
        found = pruner.pruned(lam)
        assert found.error + lam * found.cost == min(e + lam * c for e, c in scores), (
            f"seed {seed}, lambda {lam}"
        )


def test_the_validation_curve_is_what_each_pruning_does_on_those_rows(cancer):
    """Figures computed along the path equal those of every pruned ensemble predicting on its own."""
    X, y = CANCER.data, CANCER.target
    pruner = mt.EnsemblePruner(
        FOREST,
        {"worst area": 3, "mean area": "0.5"},
        groups=[mt.tasks.Group("worst", ["worst area", "worst texture"], 2)],
        node_cost="0.1",
    )
    w = np.arange(len(y) - 300) % 3
    pruner.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:], sample_weight_val=w)
    curve = pruner.validation_curve_
    assert pruner.validation_rows_ == "given"
    for i in range(0, len(curve), 3):
        pruned = pruner.prune(curve.lam[i])
        assert curve.validation_error[i] == pytest.approx(
            np.average(pruned.predict(X[300:]) != y[300:], weights=w)
        )
        ensemble = pruner.pruned(curve.lam[i]).ensemble
        routes = ensemble.walk(X[300:].to_numpy())
        paid = pruner.costs_.per_row_cost(routes.used, routes.evaluations, ensemble.features)
        assert curve.validation_cost[i] == pytest.approx(np.average(paid, weights=w))
        assert curve.splits[i] == ensemble.n_splits
        np.testing.assert_allclose(
            pruner.feature_shares_.iloc[i], np.average(routes.used, axis=0, weights=w)
        )
    assert (curve.error.diff()[1:] > 0).all()
    assert (curve.cost.diff()[1:] < 0).all()


def test_the_same_rows_give_the_objectives_own_cost():
    """On the rows of the objective, the validation cost is the cost of the objective: groups bought
    once, leaves and weights included.
    """
    weights = np.arange(30) % 3
    pruner, X, y = tiny(
        3,
        groups=[
            mt.tasks.Group("lab", ["x0", "x1"], 3, once=True),
            mt.tasks.Group("day", ["x2", "lab"], 1),
        ],
        leaf_cost="0.25",
        node_cost="0.5",
    )
    pruner.fit(X, y, sample_weight=weights)
    curve = pruner.validation_curve_
    np.testing.assert_allclose(curve.cost, curve.validation_cost, rtol=1e-12)
    for i in range(len(curve)):
        value = pruner.problem_.task.parts(
            pruner.pruned(curve.lam[i]).ensemble.routes(pruner.problem_.dataset),
            pruner.problem_.dataset,
        )
        assert curve.cost[i] == pytest.approx(float(value[1]))
        assert curve.error[i] == pytest.approx(float(value[0]))


def test_lambda_zero_keeps_what_pays_and_a_large_lambda_nothing(cancer):
    """At λ = 0 no pruning has fewer errors; beyond the last breakpoint every tree is a single leaf
    that needs no feature.
    """
    assert cancer.pruned(0).error == min(
        Fraction(e).limit_denominator(10**6) for e in cancer.validation_curve_.error
    )
    none = cancer.prune(10**6)
    assert {tree.tree_.node_count for tree in none.estimators_} == {1}
    assert cancer.pruned(10**6).cost == 0
    assert none.predict(CANCER.data).shape == (len(CANCER.target),)


# -- pruned scikit-learn ensembles ---------------------------------------------------------------------------------

MODELS = [
    RandomForestClassifier(8, random_state=0),
    RandomForestClassifier(4, max_leaf_nodes=9, class_weight="balanced", random_state=0),
    ExtraTreesClassifier(5, random_state=1),
    BaggingClassifier(
        n_estimators=5, max_features=0.4, bootstrap_features=True, max_samples=0.2, random_state=0
    ),
    DecisionTreeClassifier(random_state=0),
    mt.BudgetForestClassifier(4, random_state=0),
    mt.BudgetForestClassifier(4, voting="majority", random_state=0),
    RandomForestRegressor(6, random_state=0),
    ExtraTreesRegressor(4, min_samples_leaf=4, random_state=0),
    BaggingRegressor(
        DecisionTreeRegressor(max_leaf_nodes=20), n_estimators=4, max_features=0.5, random_state=0
    ),
    DecisionTreeRegressor(criterion="absolute_error", max_depth=6, random_state=0),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model, text",
    [(m, text) for m in MODELS for text in (False, True) if not (text and is_regressor(m))],
    ids=lambda v: type(v).__name__,
)
def test_the_stock_predict_of_a_pruned_ensemble_says_exactly_what_ours_does(model, text):
    """For every kind, along the whole path, also after pickle and joblib, bit by bit; labels may be
    text.
    """
    data = DIABETES if is_regressor(model) else IRIS if text else CANCER
    X, y = data.data, (np.array(data.target_names)[data.target] if text else data.target)
    pruner = mt.EnsemblePruner(model, random_state=0).fit(X, y)
    lams = pruner.validation_curve_.lam
    for lam in [0, *lams[:: max(1, len(lams) // 5)], 10**9]:
        ours, stock = pruner.pruned(lam).ensemble, pruner.prune(lam)
        assert type(stock) is type(model)
        buffer = io.BytesIO()
        joblib.dump(stock, buffer)
        buffer.seek(0)
        for again in (stock, pickle.loads(pickle.dumps(stock)), joblib.load(buffer)):
            np.testing.assert_array_equal(again.predict(X), ours.predict(X.to_numpy()))
        if hasattr(stock, "predict_proba"):
            np.testing.assert_array_equal(
                stock.predict_proba(X), ours.mean_value(ours.walk(X.to_numpy()).leaf)
            )


def test_a_pruned_tree_holds_the_kept_nodes_only_and_the_original_is_untouched(cancer):
    """Sizes, depths and the numbers at nodes are those of a tree that was grown so; the unpruned
    forest still predicts as before.
    """
    before = cancer.estimator_.predict_proba(CANCER.data)
    lam = cancer.validation_curve_.lam.iloc[len(cancer.validation_curve_) // 2]
    pruned, ensemble = cancer.prune(lam), cancer.pruned(lam).ensemble
    assert (
        sum(t.tree_.node_count for t in pruned.estimators_)
        == 2 * ensemble.n_splits + ensemble.n_trees
    )
    for old, new in zip(cancer.estimator_.estimators_, pruned.estimators_, strict=True):
        assert new.get_depth() <= old.get_depth()
        assert new.get_n_leaves() == (new.tree_.children_left < 0).sum()
        assert new.tree_.n_node_samples[0] == old.tree_.n_node_samples[0]
        inner = new.tree_.children_left >= 0
        sums = (
            new.tree_.n_node_samples[new.tree_.children_left[inner]]
            + new.tree_.n_node_samples[new.tree_.children_right[inner]]
        )
        np.testing.assert_array_equal(sums, new.tree_.n_node_samples[inner])
        assert new.apply(CANCER.data.to_numpy()).max() < new.tree_.node_count
    np.testing.assert_array_equal(cancer.estimator_.predict_proba(CANCER.data), before)
    used = np.flatnonzero(pruned.feature_importances_)
    assert set(used) <= set(np.flatnonzero(ensemble.walk(CANCER.data.to_numpy()).used.any(axis=0)))


def test_a_pruning_that_keeps_all_is_a_copy_of_the_model():
    """Node by node."""
    forest = RandomForestClassifier(3, random_state=0).fit(CANCER.data, CANCER.target)
    copy = mt.write_ensemble(forest, mt.read_ensemble(forest))
    for old, new in zip(forest.estimators_, copy.estimators_, strict=True):
        assert old.tree_ is not new.tree_
        for name in (
            "children_left",
            "children_right",
            "feature",
            "threshold",
            "value",
            "impurity",
            "n_node_samples",
            "weighted_n_node_samples",
        ):
            np.testing.assert_array_equal(getattr(old.tree_, name), getattr(new.tree_, name))
        assert old.tree_.max_depth == new.tree_.max_depth


@pytest.mark.slow
def test_a_pruned_forest_is_loaded_without_this_package(cancer, tmp_path):
    """What is deployed is plain scikit-learn, with what is known about it."""
    joblib.dump(cancer.best_estimator_, tmp_path / "pruned.joblib")
    script = (
        "import sys, joblib\n"
        f"model = joblib.load({str(tmp_path / 'pruned.joblib')!r})\n"
        "assert not any(m.startswith('milp_trees') for m in sys.modules)\n"
        "print(model.pruning_['status'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "optimal"


def test_out_of_bag_figures_of_the_unpruned_forest_are_not_carried_over():
    """`oob_score_` is about other trees."""
    forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(
        CANCER.data, CANCER.target
    )
    assert not hasattr(
        mt.EnsemblePruner(forest).fit(CANCER.data, CANCER.target).best_estimator_, "oob_score_"
    )


def test_an_ensemble_of_another_model_is_not_written(cancer):
    """One sentence instead of broken trees."""
    other = RandomForestClassifier(3, max_depth=1, random_state=0).fit(CANCER.data, CANCER.target)
    with pytest.raises(mt.DataError, match="not read from this RandomForestClassifier"):
        mt.write_ensemble(other, cancer.ensemble_)


# -- scikit-learn's contract ---------------------------------------------------------------------------------------

#: Growing on bootstrap samples is itself not the same for weights and repeated rows, as
#: scikit-learn's own forests declare.
BOOTSTRAP = {"check_sample_weight_equivalence_on_dense_data"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "pruner, expected",
    [
        (mt.EnsemblePruner(ExtraTreesClassifier(5, random_state=0), lam="0.001"), set()),
        (mt.EnsemblePruner(DecisionTreeRegressor(random_state=0), validation=None), set()),
        (mt.EnsemblePruner(RandomForestClassifier(5, random_state=0), random_state=0), BOOTSTRAP),
        (
            mt.EnsemblePruner(
                RandomForestRegressor(5, random_state=0), errors="oob", random_state=0
            ),
            BOOTSTRAP,
        ),
    ],
    ids=["extra-trees", "tree-regressor", "forest", "forest-regressor"],
)
def test_the_whole_check_estimator_passes(pruner, expected):
    """No other check fails; only what needs an environment variable is skipped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_estimator(pruner, on_fail=None, on_skip=None)
    assert {
        o["check_name"]: str(o["exception"])
        for o in outcomes
        if o["status"] not in ("passed", "skipped") and o["check_name"] not in expected
    } == {}
    assert {o["check_name"] for o in outcomes if o["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert len(outcomes) > 40


def test_it_is_a_classifier_or_a_regressor_as_its_estimator_is():
    """And has probabilities where that has."""
    assert is_classifier(mt.EnsemblePruner(FOREST))
    assert is_regressor(mt.EnsemblePruner(RandomForestRegressor()))
    assert is_regressor(mt.EnsemblePruner(FrozenEstimator(RandomForestRegressor())))
    assert hasattr(mt.EnsemblePruner(FOREST), "predict_proba")
    assert not hasattr(mt.EnsemblePruner(RandomForestRegressor()), "predict_proba")


def test_it_works_in_a_grid_search_and_a_pipeline():
    """λ and parameters of the inner estimator are tuned like any other."""
    grid = GridSearchCV(
        mt.EnsemblePruner(FOREST), {"lam": [0, "0.01"], "estimator__n_estimators": [2, 4]}, cv=2
    ).fit(CANCER.data, CANCER.target)
    assert grid.best_estimator_.lam_ is not None
    assert len(grid.best_estimator_.best_estimator_.estimators_) in (2, 4)
    assert (
        make_pipeline(mt.EnsemblePruner(FOREST, lam="0.01"))
        .fit(CANCER.data, CANCER.target)
        .score(CANCER.data, CANCER.target)
        > 0.8
    )


def test_a_fitted_estimator_is_pruned_as_it_is_and_an_unfitted_one_is_cloned():
    """As scikit-learn's FrozenEstimator has it; `prefit` decides otherwise."""
    X, y = CANCER.data, CANCER.target
    forest = clone(FOREST).fit(X[:300], y[:300])
    for given in (forest, FrozenEstimator(forest)):
        pruner = mt.EnsemblePruner(given).fit(X[300:], y[300:])
        assert pruner.estimator_ is forest
        assert pruner.validation_rows_ == "rows of fit"
        assert pruner.problem_.dataset.n_rows == len(X) - 300
    again = mt.EnsemblePruner(forest, prefit=False, lam=0).fit(X, y)
    assert again.estimator_ is not forest
    fresh = clone(FOREST)
    mt.EnsemblePruner(fresh, lam=0).fit(X, y)
    assert not hasattr(fresh, "estimators_")


def test_row_weights_count_like_repeated_rows():
    """In the objective of a tree that is given."""
    X, y = CANCER.data, CANCER.target
    forest = clone(FOREST).fit(X, y)
    times = np.arange(len(y)) % 3
    weighted = mt.EnsemblePruner(forest).fit(X, y, sample_weight=times)
    repeated = mt.EnsemblePruner(forest).fit(X.loc[np.repeat(X.index, times)], np.repeat(y, times))
    columns = ["lam", "error", "cost", "validation_error", "validation_cost", "splits"]
    pd.testing.assert_frame_equal(
        weighted.validation_curve_[columns], repeated.validation_curve_[columns]
    )


def test_long_weights_are_rounded_where_a_denominator_is_stated():
    """And refused with the remedy where none is."""
    X, y = CANCER.data, CANCER.target
    weights = np.random.default_rng(0).random(len(y))
    with pytest.raises(mt.DataError, match="more digits than exact"):
        mt.EnsemblePruner(FOREST, lam=0).fit(X, y, sample_weight=weights)
    mt.EnsemblePruner(FOREST, lam=0, denominator=1000).fit(X, y, sample_weight=weights)


# -- where errors are counted ----------------------------------------------------------------------------------------


def test_out_of_bag_errors_count_for_each_tree_the_rows_it_did_not_see():
    """The unpruned error is the mean error of the trees on those rows."""
    X, y = CANCER.data.to_numpy(), CANCER.target.to_numpy()
    forest = RandomForestClassifier(7, random_state=0).fit(X, y)
    pruner = mt.EnsemblePruner(forest, errors="oob").fit(X, y)
    wrong = seen = 0
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        wrong, seen = wrong + (tree.predict(X[out]) != y[out]).sum(), seen + len(out)
    assert pruner.unpruned_["error"] == pytest.approx(wrong / seen)


def test_held_out_errors_are_those_on_validation_rows():
    """Given, or set aside."""
    X, y = CANCER.data, CANCER.target
    pruner = mt.EnsemblePruner(FOREST, errors="held-out").fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert pruner.problem_.dataset.n_rows == len(y) - 300
    trees = [tree.predict(X[300:].to_numpy()) for tree in pruner.estimator_.estimators_]
    assert pruner.unpruned_["error"] == pytest.approx(np.mean([t != y[300:] for t in trees]))
    aside = mt.EnsemblePruner(
        FOREST, errors="held-out", lam="0.001", validation=0.3, random_state=0
    ).fit(X, y)
    assert aside.validation_rows_ == "set aside"
    assert 0.28 < aside.problem_.dataset.n_rows / len(y) < 0.32


def test_rows_set_aside_have_all_classes_in_their_shares():
    """And every class stays among the rows the trees are grown on, even of one row."""
    from milp_trees.estimators._pruner_rows import set_aside

    y = np.array(["a"] * 60 + ["b"] * 20 + ["c"])
    fit, aside = set_aside(0.25, y, True, 0)
    assert sorted([*fit, *aside]) == list(range(81))
    assert dict(zip(*np.unique(y[aside], return_counts=True), strict=True)) == {"a": 15, "b": 5}


# -- costs -----------------------------------------------------------------------------------------------------------


def test_the_cost_of_a_row_is_that_of_the_features_on_its_paths(cancer):
    """Counted by hand from scikit-learn's own decision paths."""
    X = CANCER.data.to_numpy()[:40]
    need = np.zeros((40, 30), dtype=bool)
    for tree in cancer.best_estimator_.estimators_:
        path = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        for i, nodes in enumerate(path):
            feature = tree.tree_.feature[nodes]
            need[i, feature[feature >= 0]] = True
    np.testing.assert_array_equal(cancer.feature_cost(CANCER.data[:40]), need.sum(axis=1))
    report = cancer.cost_report(CANCER.data, CANCER.target)
    assert report.loc["pruned", "mean_cost"] == pytest.approx(
        cancer.feature_cost(CANCER.data).mean()
    )
    assert report.loc["pruned", "score"] == cancer.score(CANCER.data, CANCER.target)
    assert report.loc["unpruned", "mean_cost"] == pytest.approx(
        cancer.feature_cost(CANCER.data, unpruned=True).mean()
    )


def test_the_acquisition_table_adds_up_to_the_mean_cost(cancer):
    """Features by the share of the rows that need them."""
    table = cancer.acquisition(CANCER.data)
    assert (table["share"].diff()[1:] <= 0).all()
    assert table["cumulative_cost"].iloc[-1] == pytest.approx(
        cancer.feature_cost(CANCER.data).mean()
    )
    assert (table["share"] <= table["share_unpruned"]).all()
    grouped = mt.EnsemblePruner(
        FOREST, "0.5", groups=[mt.tasks.Group("all", list(CANCER.data.columns), 7)], lam="0.001"
    ).fit(CANCER.data, CANCER.target)
    table = grouped.acquisition(CANCER.data)
    assert table["mean_cost"].iloc[0] == pytest.approx(7.5 * table["share"].iloc[0])
    assert table["cumulative_cost"].iloc[-1] == pytest.approx(
        grouped.feature_cost(CANCER.data).mean()
    )


def test_prices_may_differ_from_row_to_row():
    """The objective takes those of its rows, the validation curve those of its own; asking for a
    cost without them is refused.
    """
    pruner, X, y = tiny(1)
    prices = np.array([[1, 2, 1, 1], [3, 1, Fraction(1, 2), 0]] * 15, dtype=object)
    pruner.fit(X, y, row_costs=prices)
    for lam in pruner.validation_curve_.lam:
        found = pruner.pruned(lam)
        used = found.ensemble.walk(X).used
        assert found.cost == sum(Fraction(p) for p in prices[used]) / 30
    np.testing.assert_allclose(
        pruner.validation_curve_.cost, pruner.validation_curve_.validation_cost
    )
    assert pruner.feature_cost(X, row_costs=prices, unpruned=True).shape == (30,)
    with pytest.raises(mt.DataError, match="as row_costs"):
        pruner.feature_cost(X)
    with pytest.raises(mt.DataError, match="fit\\(X, y, row_costs=prices\\)"):
        mt.EnsemblePruner(FOREST, mt.tasks.FeatureCosts(per_row=prices)).fit(X, y)


def test_dummy_columns_of_one_question_are_one_feature():
    """The price is paid once, whichever of its columns are tested."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"colour": rng.choice(["red", "green", "blue"], 200), "size": rng.random(200)}
    )
    y = (table.colour == "red") ^ (table["size"] > 0.5)
    coder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
    ).set_output(transform="pandas")
    X = coder.fit_transform(table)
    features = {c: c.split("__")[1].split("_")[0] for c in X.columns}
    pruner = mt.EnsemblePruner(FOREST, {"colour": 5, "size": 1}, features=features, lam=0).fit(X, y)
    assert pruner.ensemble_.features == ("colour", "size")
    assert pruner.feature_cost(X).max() <= 6
    in_order = mt.EnsemblePruner(FOREST, [5, 1], features=list(features.values()), lam=0).fit(X, y)
    np.testing.assert_array_equal(in_order.feature_cost(X), pruner.feature_cost(X))


# -- the choice ------------------------------------------------------------------------------------------------------


def curve(errors, costs):
    return pd.DataFrame(
        {
            "validation_error": errors,
            "validation_cost": costs,
            "standard_error": 0.03,
            "splits": [9, 5, 2, 0][: len(errors)],
        }
    )


@pytest.mark.parametrize(
    "slack, reference, expected",
    [
        (0, "unpruned", 1),
        (0.025, "unpruned", 2),
        (1, "unpruned", 3),
        (0, "best", 1),
        (0.02, "best", 1),
        ("one-se", "best", 2),
        ("one-se", "unpruned", 2),
    ],
)
def test_the_cheapest_pruning_within_the_slack_is_chosen(slack, reference, expected):
    """By hand."""
    unpruned = {"validation_error": 0.10, "standard_error": 0.03}
    assert (
        choose(curve([0.11, 0.09, 0.12, 0.5], [8, 5, 2, 0]), unpruned, slack, reference) == expected
    )


def test_where_no_pruning_passes_the_ensemble_stays_as_it_is():
    """It says so, and predicts as before."""
    assert (
        choose(
            curve([0.11, 0.2], [8, 5]),
            {"validation_error": 0.1, "standard_error": 0.1},
            0,
            "unpruned",
        )
        is None
    )
    X, y = CANCER.data, CANCER.target
    pruner = mt.EnsemblePruner(FOREST, slack=-1).fit(X, y)
    assert pruner.selected_.status == "unpruned"
    assert pruner.lam_ is None
    np.testing.assert_array_equal(pruner.predict(X), pruner.estimator_.predict(X))


def test_the_selected_pruning_is_no_worse_on_validation_rows(cancer):
    """With slack 0; and no cheaper pruning on the path is as good."""
    curve = cancer.validation_curve_
    at = curve.index[curve.lam == cancer.lam_][0]
    assert curve.validation_error[at] <= cancer.unpruned_["validation_error"]
    assert (curve.validation_error[at + 1 :] > cancer.unpruned_["validation_error"]).all()
    assert cancer.best_estimator_.pruning_["status"] == "optimal"


# -- budgets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_budget_gives_the_hull_point_below_it_and_a_bound_that_holds(seed):
    """Against all prunings: it is within the budget, the bound is below the best there is, and
    "optimal" is said only where it is true.
    """
    pruner, X, y = tiny(seed)
    scores = [
        pruner.problem_.task.parts(
            pruner.ensemble_.pruned(k).routes(pruner.problem_.dataset), pruner.problem_.dataset
        )
        for k in prunings(pruner.ensemble_)
    ]
    for budget in [Fraction(k, 7) for k in range(0, 30, 2)]:
        best = min(e for e, c in scores if c <= budget)
        found = pruner.pruned(budget=budget)
        assert found.cost <= budget
        assert found.bound <= best
        assert found.status in ("hull point", "optimal")
        assert (found.status == "hull point") == ("not proven optimal" in found.note)
        if found.status == "optimal":
            assert found.error == best
            assert found.gap == 0


@pytest.mark.parametrize("seed", range(3))
def test_exact_budgets_equal_enumeration(seed):
    """The program with the budget as a row, from the hull point."""
    pruner, X, y = tiny(seed)
    scores = [
        pruner.problem_.task.parts(
            pruner.ensemble_.pruned(k).routes(pruner.problem_.dataset), pruner.problem_.dataset
        )
        for k in prunings(pruner.ensemble_)
    ]
    improved = 0
    for budget in [Fraction(k, 7) for k in range(1, 22, 4)]:
        found = pruner.pruned(budget=budget, exact=True)
        assert found.error == min(e for e, c in scores if c <= budget)
        assert (found.status, found.gap) == ("optimal", 0)
        improved += found.error < pruner.pruned(budget=budget).error
    if seed == 0:
        assert improved, "the exact program should beat the hull somewhere"


def test_a_budget_program_that_is_stopped_says_what_is_known():
    """No time at all: a ConvergenceWarning, the hull point at worst, and the hull's bound at worst."""
    pruner = mt.EnsemblePruner(RandomForestClassifier(10, random_state=0), lam=0).fit(
        CANCER.data, CANCER.target
    )
    with pytest.warns(ConvergenceWarning, match="stopped without a proof"):
        found = pruner.prune(budget="4.7", exact=True, time_limit=0.01).pruning_
    corner = pruner.pruned(budget="4.7")
    assert found["status"] == "feasible"
    assert found["gap"] > 0
    assert found["error"] <= float(corner.error)
    assert found["bound"] >= float(corner.bound)


def test_a_budget_given_to_the_pruner_selects_and_keeps_the_hull_bound():
    """`hull_bound_` and `gap_` say how far it may be from the best; the note is in words."""
    pruner = mt.EnsemblePruner(FOREST, budget=3).fit(CANCER.data, CANCER.target)
    assert pruner.selected_.cost <= 3
    assert pruner.hull_bound_ <= float(pruner.selected_.error)
    assert pruner.best_estimator_.pruning_["gap"] == pruner.gap_
    assert "hull" in pruner.best_estimator_.pruning_["note"]


# -- sentences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, sentence",
    [
        (
            {"estimator": GradientBoostingClassifier()},
            "GradientBoostingClassifier adds up its trees",
        ),
        ({"estimator": LogisticRegression()}, "LogisticRegression is no ensemble of trees"),
        ({"estimator": IsolationForest()}, "IsolationForest is no ensemble of trees"),
        (
            {"estimator": VotingClassifier([("tree", DecisionTreeClassifier())])},
            "VotingClassifier is no ensemble of trees",
        ),
        (
            {"estimator": BaggingClassifier(KNeighborsClassifier())},
            "bags a KNeighborsClassifier, which is no tree",
        ),
        ({"estimator": FOREST, "prefit": True}, "RandomForestClassifier is not fitted yet"),
        ({"estimator": FrozenEstimator(FOREST)}, "RandomForestClassifier is not fitted yet"),
        ({"prefit": "yes"}, "prefit is 'auto', True or False; got 'yes'"),
        ({"feature_costs": -1}, "costs must not be negative"),
        (
            {"feature_costs": {"mean area": -1}},
            "The cost of mean area is -1; costs must not be negative",
        ),
        ({"feature_costs": {"meen area": 1}}, "a cost for 'meen area', which is no feature"),
        ({"feature_costs": [1, 2]}, "2 feature costs are given for 30 features"),
        ({"feature_costs": float("nan")}, "must be finite"),
        ({"features": {"meen area": "area"}}, "no column 'meen area'"),
        ({"features": ["a", "b"]}, "names 2 features for 30 columns"),
        (
            {"groups": [mt.tasks.Group("g", ["nothing"], 1)]},
            "member 'nothing', which is no feature",
        ),
        ({"errors": "test"}, "errors is 'train', 'oob' or 'held-out'; got 'test'"),
        ({"estimator": ExtraTreesClassifier(2), "errors": "oob"}, "no out-of-bag rows"),
        ({"estimator": DecisionTreeClassifier(), "errors": "oob"}, "no out-of-bag rows"),
        ({"errors": "held-out", "validation": None}, "give X_val and y_val"),
        ({"validation": 2}, "validation is a share of the rows between 0 and 1"),
        ({"lam": 1, "budget": 1}, "Give lam or budget, not both"),
        ({"lam": -1}, "lam must be a finite number of at least 0"),
        ({"budget": -1}, "budget must be a finite number of at least 0, or None; got -1"),
        ({"leaf_cost": 1, "budget": 3}, "the cheapest costs 6, the budget is 3"),
        ({"slack": "two-se"}, "slack is a number or 'one-se'"),
        ({"slack": None}, "slack is a number or 'one-se'; got None"),
        ({"slack": float("nan")}, "slack is a number or 'one-se'; got nan"),
        ({"validation": (1, 2)}, "validation is a share of the rows between 0 and 1"),
        ({"reference": "worst"}, "reference is 'unpruned' or 'best'"),
        ({"loss": "squared"}, "use loss='error'"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_is_wrong_is_said_in_one_sentence(options, sentence):
    """Before or while fitting."""
    with pytest.raises(mt.DataError) as error:
        mt.EnsemblePruner(**{"estimator": FOREST, "random_state": 0, **options}).fit(
            CANCER.data, CANCER.target
        )
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_models_that_are_read_alone_are_checked_too():
    """`read_ensemble` takes what can be pruned, fitted."""
    X, y = CANCER.data, CANCER.target
    with pytest.raises(mt.DataError, match="VotingClassifier is no ensemble of trees"):
        mt.read_ensemble(VotingClassifier([("tree", DecisionTreeClassifier())]).fit(X, y))
    for unfitted in (FOREST, DecisionTreeClassifier()):
        with pytest.raises(mt.DataError, match="is not fitted yet; call fit"):
            mt.read_ensemble(unfitted)
    with pytest.raises(mt.DataError, match="predicts 2 outputs"):
        mt.read_ensemble(clone(FOREST).fit(X, np.column_stack([y, y])))
    with pytest.raises(mt.DataError, match="fitted on 30 columns; 2 names are given"):
        mt.read_ensemble(clone(FOREST).fit(X, y), ["a", "b"])


def test_rows_that_do_not_fit_are_named():
    """Other columns, missing values, several outputs, validation rows without labels."""
    X, y = CANCER.data, CANCER.target
    forest = clone(FOREST).fit(X, y)
    with pytest.raises(mt.DataError, match="fitted on 30 columns; X has 29"):
        mt.EnsemblePruner(forest).fit(X.iloc[:, 1:], y)
    with pytest.raises(mt.DataError, match="column 0 was 'mean radius' and is 'mean texture'"):
        mt.EnsemblePruner(forest).fit(X.iloc[:, [1, 0, *range(2, 30)]], y)
    holes = X.copy()
    holes.iloc[3, 2] = np.nan
    with pytest.raises(mt.DataError, match=r"Row 3 of X has nan .* column 'mean perimeter'"):
        mt.EnsemblePruner(FOREST).fit(holes, y)
    with pytest.raises(mt.DataError, match="Row 3 of X_val has nan"):
        mt.EnsemblePruner(FOREST).fit(X, y, X_val=holes, y_val=y)
    with pytest.raises(mt.DataError, match="Row 3 of X has nan"):
        mt.EnsemblePruner(forest).fit(X, y).predict(holes)
    with pytest.raises(mt.DataError, match="y has 2 columns"):
        mt.EnsemblePruner(FOREST).fit(X, np.column_stack([y, y]))
    with pytest.raises(mt.DataError, match="X_val and y_val together"):
        mt.EnsemblePruner(FOREST).fit(X, y, X_val=X)
    with pytest.raises(mt.DataError, match=r"y_val has the classes .* none in common"):
        mt.EnsemblePruner(FOREST).fit(X, y, X_val=X, y_val=np.where(y == 1, "benign", "malignant"))
    with pytest.raises(ValueError, match="row_costs contains NaN"):
        mt.EnsemblePruner(FOREST).fit(X, y, row_costs=np.full(X.shape, np.nan))
    with pytest.raises(mt.DataError, match="takes no sample_weight"):
        mt.EnsemblePruner(mt.BudgetForestClassifier(2)).fit(X, y, sample_weight=np.ones(len(y)))


def test_prune_asks_for_one_of_two(cancer):
    """λ or a budget; exact belongs to a budget."""
    for wrong in ({}, {"lam": 1, "budget": 1}):
        with pytest.raises(mt.DataError, match="Give lam or budget"):
            cancer.prune(**wrong)
    with pytest.raises(mt.DataError, match="exact=True belongs to a budget"):
        cancer.prune(0, exact=True)


# -- pictures --------------------------------------------------------------------------------------------------------


def test_pictures_are_drawn_with_their_labels(cancer):
    """Also for regression, for a path of one pruning, and on axes that are given."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = cancer.plot()
    assert ax.get_xlabel() == "mean cost of a row"
    assert any("selected" in t.get_text() for t in ax.get_legend().get_texts())
    shown = [t.get_text() for t in cancer.plot_features(most=7).get_yticklabels()]
    assert len(shown) == 7
    used = cancer.acquisition(CANCER.data)
    assert [
        t.get_text() for t in cancer.plot_acquisition(CANCER.data, most=3).get_yticklabels()
    ] == list(used.index[:3])
    numbers = mt.EnsemblePruner(RandomForestRegressor(3, max_depth=3, random_state=0)).fit(
        DIABETES.data, DIABETES.target
    )
    _, given = plt.subplots()
    assert numbers.plot(given) is given
    assert given.get_ylabel() == "mean squared error"
    flat = mt.EnsemblePruner(FOREST, validation=None).fit(np.zeros((10, 2)), np.arange(10) % 2)
    for picture in (
        flat.plot,
        flat.plot_features,
        lambda: flat.plot_acquisition(np.zeros((10, 2))),
    ):
        picture().figure.canvas.draw()
    plt.close("all")


def test_a_feature_leaves_the_picture_where_no_row_needs_it(cancer):
    """Shares along the path never rise with λ."""
    assert (cancer.feature_shares_.diff()[1:] <= 0).all(axis=None)
    shares = judge(
        cancer.ensemble_,
        np.where(cancer.ensemble_.left >= 0, 0, 1),
        1,
        Rows(CANCER.data.to_numpy()),
        cancer.costs_,
    )[1]
    np.testing.assert_allclose(
        shares[0], cancer.ensemble_.walk(CANCER.data.to_numpy()).used.mean(axis=0)
    )
