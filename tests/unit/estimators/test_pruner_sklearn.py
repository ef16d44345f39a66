"""The pruner as scikit-learn sees it: pruned ensembles of its own, and its contract."""

import io
import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from pruner_cases import CANCER, DIABETES, FOREST
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt

IRIS = load_iris(as_frame=True)


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
