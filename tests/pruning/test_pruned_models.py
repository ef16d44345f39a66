"""The models that EnsemblePruner returns are scikit-learn's own and predict what ours predict."""

import io
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from row_tests import each_row
from sklearn.base import is_regressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from small_pruners import CANCER, DIABETES, IRIS

import milp_trees as mt

MODELS = [
    RandomForestClassifier(8, random_state=0),
    RandomForestClassifier(4, max_leaf_nodes=9, class_weight="balanced", random_state=0),
    ExtraTreesClassifier(5, random_state=1),
    BaggingClassifier(
        n_estimators=5, max_features=0.4, bootstrap_features=True, max_samples=0.2, random_state=0
    ),
    DecisionTreeClassifier(random_state=0),
    mt.BudgetForestClassifier(n_estimators=4, random_state=0),
    mt.BudgetForestClassifier(n_estimators=4, voting="hard", random_state=0),
    RandomForestRegressor(6, random_state=0),
    ExtraTreesRegressor(4, min_samples_leaf=4, random_state=0),
    BaggingRegressor(
        DecisionTreeRegressor(max_leaf_nodes=20), n_estimators=4, max_features=0.5, random_state=0
    ),
    DecisionTreeRegressor(criterion="absolute_error", max_depth=6, random_state=0),
]


@pytest.mark.slow
@each_row(
    "model, text",
    [(m, text) for m in MODELS for text in (False, True) if not (text and is_regressor(m))],
)
def test_the_stock_predict_of_a_pruned_ensemble_says_exactly_what_ours_does(model, text):
    """For every kind, along the whole path, also after pickle and joblib, bit by bit; labels may be
    text.
    """
    data = DIABETES if is_regressor(model) else IRIS if text else CANCER
    X, y = data.data, (np.array(data.target_names)[data.target] if text else data.target)
    pruner = mt.EnsemblePruner(estimator=model, random_state=0).fit(X, y)
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
        mt.EnsemblePruner(estimator=forest).fit(CANCER.data, CANCER.target).best_estimator_,
        "oob_score_",
    )


def test_an_ensemble_of_another_model_is_not_written(cancer):
    """One sentence instead of broken trees."""
    other = RandomForestClassifier(3, max_depth=1, random_state=0).fit(CANCER.data, CANCER.target)
    with pytest.raises(mt.DataError, match="not read from this RandomForestClassifier"):
        mt.write_ensemble(other, cancer.ensemble_)
