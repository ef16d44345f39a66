"""Tasks and methods by name, no depth limit, and the penalty chosen by cross-validation."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt
from milp_trees.estimators._penalty_cv import candidates
from milp_trees.testing import expected_failed_checks

IRIS = load_iris(as_frame=True)
CANCER = load_breast_cancer(as_frame=True)
COLUMNS = ["mean texture", "worst radius", "worst texture", "worst concave points"]


@pytest.mark.slow
def test_the_whole_check_estimator_passes():
    """No check fails; only what needs an environment variable is skipped."""
    model = mt.OptimalTreeClassifierCV(max_depth=2, max_leaf_nodes=3, cv=2)
    expected = expected_failed_checks(model)
    outcomes = check_estimator(model, on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert {
        o["check_name"]: str(o["exception"])
        for o in outcomes
        if o["status"] not in ("passed", "skipped", "xfail")
    } == {}
    assert {o["check_name"] for o in outcomes if o["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert len(outcomes) > 40


def test_the_chosen_penalty_has_the_best_mean_score_and_its_tree_is_kept():
    """The scores are those of fixed penalties cross-validated one by one; the tree is that of the
    penalty on all rows.
    """
    X, y = CANCER.data[COLUMNS], CANCER.target
    folds = StratifiedKFold(3)
    model = mt.OptimalTreeClassifierCV(max_depth=3, max_leaf_nodes=5, n_bins=4, cv=folds).fit(X, y)
    table = model.cv_results_
    assert table["mean_test_score"].max() == model.best_score_
    assert list(table["ccp_alpha"]) == sorted(table["ccp_alpha"], reverse=True)
    assert list(table["n_leaves"]) == [p.n_leaves for p in model.size_path_.hull]
    for penalty, mean in zip(table["ccp_alpha"], table["mean_test_score"], strict=True):
        fixed = mt.OptimalTreeClassifier(
            max_depth=3, max_leaf_nodes=5, n_bins=4, ccp_alpha=str(penalty)
        )
        assert cross_val_score(fixed, X, y, cv=folds).mean() == pytest.approx(mean, abs=0.01), (
            "equal optima may predict differently"
        )
    alone = mt.OptimalTreeClassifier(
        max_depth=3, max_leaf_nodes=5, n_bins=4, ccp_alpha=str(model.ccp_alpha_)
    ).fit(X, y)
    assert alone.result_.value.number == pytest.approx(model.result_.value.number)
    assert (model.status_, model.gap_) == ("optimal", 0.0)
    assert model.bound_ == model.result_.objective
    assert model.get_n_leaves() == model.size_path_.at_penalty(str(model.ccp_alpha_)).n_leaves


def test_pickle_clone_names_text_weights_and_groups():
    """What scikit-learn does with estimators works; folds may keep groups together."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"colour": rng.choice(["red", "blue"], 60), "age": rng.integers(0, 50, 60)})
    y = np.where((X["colour"] == "red") & (X["age"] > 20), "yes", "no")
    model = mt.OptimalTreeClassifierCV(max_depth=2, max_leaf_nodes=4, cv=3, n_bins=4)
    model.fit(X, y, sample_weight=rng.integers(0, 3, 60))
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert list(model.feature_names_in_) == ["colour", "age"]
    assert {t.column for t in model.tree_.splits} == {"colour", "age"}
    assert clone(model).get_params() == model.get_params()
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    grouped = clone(model).set_params(cv=GroupKFold(2)).fit(X, y, groups=np.arange(60) % 4)
    assert len([k for k in grouped.cv_results_ if k.startswith("split")]) == 2
    assert make_pipeline(clone(model)).fit(X, y).score(X, y) > 0.9


def test_candidates_lie_inside_their_intervals():
    """Every tree of the hull has one short penalty for which it alone is the best."""
    path = mt.OptimalTreeClassifier(max_depth=4, max_leaf_nodes=8).size_path(IRIS.data, IRIS.target)
    chosen = candidates(path)
    assert [path.at_penalty(p) for p in chosen] == list(path.hull)
    for point, penalty in zip(path.hull, chosen, strict=True):
        low, high = path.interval(point)
        assert low < penalty or penalty == 0
        assert high is None or penalty < high


def test_the_path_of_an_estimator_is_that_of_its_limits():
    """Sizes up to max_leaf_nodes; the estimator stays unfitted; a formulation gives the same path."""
    model = mt.OptimalTreeClassifier(max_depth=2, n_bins=3)
    path = model.size_path(IRIS.data.iloc[:, 2:], IRIS.target)
    assert not hasattr(model, "tree_")
    assert (len(path.points), path.method) == (4, "dp-sizes")
    by_formulation = (
        clone(model)
        .set_params(method="state-flow@highs")
        .size_path(IRIS.data.iloc[:, 2:], IRIS.target)
    )
    assert [p.value for p in by_formulation.points] == [p.value for p in path.points]
    for point in path.hull[:-1]:
        fitted = clone(model).set_params(ccp_alpha=path.interval(point)[0] + Fraction(1, 1000))
        assert fitted.fit(IRIS.data.iloc[:, 2:], IRIS.target).get_n_leaves() == point.n_leaves


def metrics(task, y, model, X):
    scores = {
        "balanced-accuracy": lambda: balanced_accuracy_score(y, model.predict(X)),
        "f1": lambda: f1_score(y, model.predict(X)),
        "mcc": lambda: matthews_corrcoef(y, model.predict(X)),
        "auc": lambda: roc_auc_score(y, model.predict_proba(X)[:, 1]),
    }
    return scores[task]()


@each_row("task", ["balanced-accuracy", "f1", "mcc", "auc"])
def test_tasks_by_name(task):
    """The value is scikit-learn's metric of the fitted tree on the training rows, and no tree of
    another task has more of it.
    """
    X, y = CANCER.data[COLUMNS], CANCER.target
    own = mt.OptimalTreeClassifier(max_depth=2, n_bins=3, task=task).fit(X, y)
    other = mt.OptimalTreeClassifier(max_depth=2, n_bins=3).fit(X, y)
    assert own.status_ == "optimal"
    assert metrics(task, y, own, X) == pytest.approx(own.result_.value.number)
    assert own.result_.value.number >= metrics(task, y, other, X) - 1e-12


def test_ccp_alpha_is_a_penalty_per_leaf():
    """It is added to the loss once per leaf, for a metric as for the error rate."""
    X, y = CANCER.data[COLUMNS], CANCER.target
    model = mt.OptimalTreeClassifier(max_depth=2, n_bins=3, task="f1", ccp_alpha="1/100").fit(X, y)
    f1 = f1_score(y, model.predict(X))
    assert model.result_.value.number == pytest.approx(1 - f1 + 0.01 * model.get_n_leaves())


def test_no_depth_limit_with_a_penalty_or_with_leaves():
    """Both are proven; the penalised tree is the one that a sufficient depth gives."""
    X, y = IRIS.data, IRIS.target
    free = mt.OptimalTreeClassifier(max_depth=None, ccp_alpha="0.02", n_bins=4).fit(X, y)
    deep = mt.OptimalTreeClassifier(max_depth=5, ccp_alpha="0.02", n_bins=4).fit(X, y)
    assert free.status_ == "optimal"
    assert free.result_.value == deep.result_.value
    few = mt.OptimalTreeClassifier(max_depth=None, max_leaf_nodes=4, n_bins=4).fit(X, y)
    assert few.status_ == "optimal"
    assert few.get_n_leaves() <= 4


def test_methods_and_tasks_by_name():
    """Any method of the registry works; a task that is unknown or of another kind is refused."""
    X, y = IRIS.data.iloc[:, 2:], IRIS.target
    by_flow = mt.OptimalTreeClassifier(max_depth=1, n_bins=3, method="flow-oct@highs").fit(X, y)
    assert by_flow.result_.method == "flow-oct@highs"
    assert (
        by_flow.result_.value
        == mt.OptimalTreeClassifier(max_depth=1, n_bins=3, method="dp").fit(X, y).result_.value
    )
    for name in "action-values", "balanced", "gini":
        with pytest.raises(ValueError, match="task must be"):
            mt.OptimalTreeClassifier(task=name).fit(X, y)
    with pytest.raises(ValueError, match="takes no row weights"):
        mt.OptimalTreeClassifier(task="mcc").fit(X, y, sample_weight=np.ones(len(y)))
