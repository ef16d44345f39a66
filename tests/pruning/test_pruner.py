"""EnsemblePruner: its curve is the hull of all prunings, and costs and errors are counted as defined."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import OneHotEncoder
from small_pruners import CANCER, FOREST, prunings, tiny

import milp_trees as mt

# -- the path -------------------------------------------------------------------------------------


@each_row("seed", range(6))
@each_row("errors", ["train", "oob"])
def test_for_every_lambda_the_path_is_as_good_as_the_best_of_all_prunings(seed, errors):
    """Enumerated, with rational costs, at breakpoints and between them."""
    pruner, _, _ = tiny(seed, feature_costs=["1", "0.5", "2.25", "1/3"], errors=errors)
    scores = [
        pruner.problem_.task.parts(
            pruner.ensemble_.pruned(k).routes(pruner.problem_.dataset), pruner.problem_.dataset
        )
        for k in prunings(pruner.ensemble_)
    ]
    breaks = [Fraction(b) for b in pruner.curve_.breakpoints]
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
        estimator=FOREST,
        feature_costs={"worst area": 3, "mean area": "0.5"},
        groups=[mt.pruning.Group("worst", ["worst area", "worst texture"], 2)],
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
            mt.pruning.Group("lab", ["x0", "x1"], 3, once=True),
            mt.pruning.Group("day", ["x2", "lab"], 1),
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


# -- where errors are counted ---------------------------------------------------------------------


def test_out_of_bag_errors_count_for_each_tree_the_rows_it_did_not_see():
    """The unpruned error is the mean error of the trees on those rows."""
    X, y = CANCER.data.to_numpy(), CANCER.target.to_numpy()
    forest = RandomForestClassifier(7, random_state=0).fit(X, y)
    pruner = mt.EnsemblePruner(estimator=forest, errors="oob").fit(X, y)
    wrong = seen = 0
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        wrong, seen = wrong + (tree.predict(X[out]) != y[out]).sum(), seen + len(out)
    assert pruner.unpruned_["error"] == pytest.approx(wrong / seen)


def test_held_out_errors_are_those_on_validation_rows():
    """Given, or set aside."""
    X, y = CANCER.data, CANCER.target
    pruner = mt.EnsemblePruner(estimator=FOREST, errors="held-out").fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert pruner.problem_.dataset.n_rows == len(y) - 300
    trees = [tree.predict(X[300:].to_numpy()) for tree in pruner.estimator_.estimators_]
    assert pruner.unpruned_["error"] == pytest.approx(np.mean([t != y[300:] for t in trees]))
    aside = mt.EnsemblePruner(
        estimator=FOREST, errors="held-out", lam="0.001", validation_fraction=0.3, random_state=0
    ).fit(X, y)
    assert aside.validation_rows_ == "set aside"
    assert 0.28 < aside.problem_.dataset.n_rows / len(y) < 0.32


def test_rows_set_aside_have_all_classes_in_their_shares():
    """And every class stays among the rows the trees are grown on, even of one row."""
    from milp_trees.pruning.estimators._pruner_rows import set_aside

    y = np.array(["a"] * 60 + ["b"] * 20 + ["c"])
    fit, aside = set_aside(0.25, y, True, 0)
    assert sorted([*fit, *aside]) == list(range(81))
    assert dict(zip(*np.unique(y[aside], return_counts=True), strict=True)) == {"a": 15, "b": 5}


# -- costs ----------------------------------------------------------------------------------------


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
        estimator=FOREST,
        feature_costs="0.5",
        groups=[mt.pruning.Group("all", list(CANCER.data.columns), 7)],
        lam="0.001",
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
        mt.EnsemblePruner(
            estimator=FOREST, feature_costs=mt.pruning.FeatureCosts(per_row=prices)
        ).fit(X, y)


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
    pruner = mt.EnsemblePruner(
        estimator=FOREST, feature_costs={"colour": 5, "size": 1}, features=features, lam=0
    ).fit(X, y)
    assert pruner.ensemble_.features == ("colour", "size")
    assert pruner.feature_cost(X).max() <= 6
    in_order = mt.EnsemblePruner(
        estimator=FOREST, feature_costs=[5, 1], features=list(features.values()), lam=0
    ).fit(X, y)
    np.testing.assert_array_equal(in_order.feature_cost(X), pruner.feature_cost(X))
