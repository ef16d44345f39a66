"""Sizes of regression and survival trees by cross-validation."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt

RNG = np.random.default_rng(2)
X = RNG.integers(0, 2, (80, 5))
Y = np.round(2.0 * X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=80), 2)
FOLDS = KFold(4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: mt.OptimalTreeRegressorCV(max_depth=2, max_leaf_nodes=3, cv=2),
        lambda: mt.OptimalTreeCV(
            estimator=mt.OptimalTreeRegressor(max_depth=2), max_leaf_nodes=3, cv=2
        ),
    ],
)
def test_the_whole_check_estimator_passes(make):
    """No check fails; only what needs an environment variable is skipped."""
    outcomes = check_estimator(make(), on_fail=None, on_skip=None)
    wrong = {o["check_name"]: str(o["exception"]) for o in outcomes if o["status"] != "passed"}
    assert set(wrong) <= {"check_array_api_input"}, wrong
    assert len(outcomes) > 40


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_the_chosen_penalty_has_the_best_mean_score_and_its_tree_is_kept(scoring):
    """The scores are those of fixed penalties, which are cross-validated one by one."""
    model = mt.OptimalTreeRegressorCV(max_depth=3, max_leaf_nodes=5, cv=FOLDS, scoring=scoring)
    table = model.fit(X, Y).cv_results_
    assert table["mean_test_score"].max() == model.best_score_
    assert list(table["n_leaves"]) == [p.n_leaves for p in model.size_path_.hull]
    for penalty, mean in zip(table["ccp_alpha"], table["mean_test_score"], strict=True):
        fixed = mt.OptimalTreeRegressor(max_depth=3, max_leaf_nodes=5, ccp_alpha=str(penalty))
        alone = cross_val_score(fixed, X, Y, cv=FOLDS, scoring=scoring)
        assert alone.mean() == pytest.approx(mean)
    chosen = mt.OptimalTreeRegressor(
        max_depth=3, max_leaf_nodes=5, ccp_alpha=str(model.ccp_alpha_)
    ).fit(X, Y)
    assert chosen.value_ == pytest.approx(model.value_)
    assert model.status_ == "optimal"


def test_a_size_path_has_the_least_loss_of_every_size():
    """And the penalties at which the best tree changes are shares of the loss of one leaf."""
    path = mt.OptimalTreeRegressor(max_depth=3).size_path(X, Y, max_leaf_nodes=6)
    values = [p.value.number for p in path.points]
    assert path.proven
    for k, value in enumerate(values, start=1):
        alone = mt.OptimalTreeRegressor(max_depth=3, max_leaf_nodes=k).fit(X, Y)
        assert alone.value_ == pytest.approx(value)
    for penalty, (small, large) in zip(
        path.penalties, zip(path.hull, path.hull[1:], strict=False), strict=True
    ):
        both = [p.loss + penalty * p.n_leaves for p in (small, large)]
        assert both[0] == both[1]
        below = mt.OptimalTreeRegressor(
            max_depth=3, ccp_alpha=Fraction(penalty) * Fraction(99, 100)
        )
        above = mt.OptimalTreeRegressor(
            max_depth=3, ccp_alpha=Fraction(penalty) * Fraction(101, 100)
        )
        if large.n_leaves < 6:  # larger trees than those of the path may be better
            assert below.fit(X, Y).get_n_leaves() >= large.n_leaves
            assert above.fit(X, Y).get_n_leaves() <= small.n_leaves


def test_several_targets_and_weights_are_chosen_for_too():
    """The folds of a table with two targets; a weight of 0 leaves a row out of the training."""
    both, weights = np.column_stack([Y, 10 - Y]), np.where(np.arange(80) % 9, 2, 0)
    model = mt.OptimalTreeRegressorCV(max_leaf_nodes=4, cv=3).fit(X, both, sample_weight=weights)
    assert model.predict(X).shape == (80, 2)
    assert model.best_score_ > 0.2


def test_the_size_of_any_tree_is_chosen_by_its_own_loss():
    """A regression tree is one of them."""
    found = mt.OptimalTreeCV(
        estimator=mt.OptimalTreeRegressor(max_depth=3), max_leaf_nodes=5, cv=FOLDS
    ).fit(X, Y)
    scores = []
    for train, test in FOLDS.split(X):
        fixed = mt.OptimalTreeRegressor(max_depth=3, max_leaf_nodes=3).fit(X[train], Y[train])
        scores.append(-((fixed.predict(X[test]) - Y[test]) ** 2).sum())
    assert found.cv_results_["mean_test_score"][2] == pytest.approx(np.mean(scores))
    assert found.score(X, Y) == found.estimator_.score(X, Y)
    assert found.result_.optimal
