"""EnsemblePruner follows scikit-learn's conventions, and its errors are one sentence."""

import warnings

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator
from small_pruners import CANCER, FOREST

import milp_trees as mt

# -- scikit-learn's contract ----------------------------------------------------------------------


#: Growing on bootstrap samples is itself not the same for weights and repeated rows, as
#: scikit-learn's own forests declare.
BOOTSTRAP = {"check_sample_weight_equivalence_on_dense_data"}


@pytest.mark.slow
@each_row(
    "pruner, expected",
    [
        (mt.EnsemblePruner(estimator=ExtraTreesClassifier(5, random_state=0), lam="0.001"), set()),
        (
            mt.EnsemblePruner(
                estimator=DecisionTreeRegressor(random_state=0), validation_fraction=None
            ),
            set(),
        ),
        (
            mt.EnsemblePruner(estimator=RandomForestClassifier(5, random_state=0), random_state=0),
            BOOTSTRAP,
        ),
        (
            mt.EnsemblePruner(
                estimator=RandomForestRegressor(5, random_state=0), errors="oob", random_state=0
            ),
            BOOTSTRAP,
        ),
    ],
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
    assert is_classifier(mt.EnsemblePruner(estimator=FOREST))
    assert is_regressor(mt.EnsemblePruner(estimator=RandomForestRegressor()))
    assert is_regressor(mt.EnsemblePruner(estimator=FrozenEstimator(RandomForestRegressor())))
    assert hasattr(mt.EnsemblePruner(estimator=FOREST), "predict_proba")
    assert not hasattr(mt.EnsemblePruner(estimator=RandomForestRegressor()), "predict_proba")


def test_it_works_in_a_grid_search_and_a_pipeline():
    """λ and parameters of the inner estimator are tuned like any other."""
    grid = GridSearchCV(
        mt.EnsemblePruner(estimator=FOREST),
        {"lam": [0, "0.01"], "estimator__n_estimators": [2, 4]},
        cv=2,
    ).fit(CANCER.data, CANCER.target)
    assert grid.best_estimator_.lam_ is not None
    assert len(grid.best_estimator_.best_estimator_.estimators_) in (2, 4)
    assert (
        make_pipeline(mt.EnsemblePruner(estimator=FOREST, lam="0.01"))
        .fit(CANCER.data, CANCER.target)
        .score(CANCER.data, CANCER.target)
        > 0.8
    )


def test_a_fitted_estimator_is_pruned_as_it_is_and_an_unfitted_one_is_cloned():
    """As scikit-learn's FrozenEstimator has it; `prefit` decides otherwise."""
    X, y = CANCER.data, CANCER.target
    forest = clone(FOREST).fit(X[:300], y[:300])
    for given in (forest, FrozenEstimator(forest)):
        pruner = mt.EnsemblePruner(estimator=given).fit(X[300:], y[300:])
        assert pruner.estimator_ is forest
        assert pruner.validation_rows_ == "rows of fit"
        assert pruner.problem_.dataset.n_rows == len(X) - 300
    again = mt.EnsemblePruner(estimator=forest, prefit=False, lam=0).fit(X, y)
    assert again.estimator_ is not forest
    fresh = clone(FOREST)
    mt.EnsemblePruner(estimator=fresh, lam=0).fit(X, y)
    assert not hasattr(fresh, "estimators_")


def test_row_weights_count_like_repeated_rows():
    """In the objective of a tree that is given."""
    X, y = CANCER.data, CANCER.target
    forest = clone(FOREST).fit(X, y)
    times = np.arange(len(y)) % 3
    weighted = mt.EnsemblePruner(estimator=forest).fit(X, y, sample_weight=times)
    repeated = mt.EnsemblePruner(estimator=forest).fit(
        X.loc[np.repeat(X.index, times)], np.repeat(y, times)
    )
    columns = ["lam", "error", "cost", "validation_error", "validation_cost", "splits"]
    pd.testing.assert_frame_equal(
        weighted.validation_curve_[columns], repeated.validation_curve_[columns]
    )


def test_long_weights_are_rounded_where_a_denominator_is_stated():
    """And refused with the remedy where none is."""
    X, y = CANCER.data, CANCER.target
    weights = np.random.default_rng(0).random(len(y))
    with pytest.raises(mt.DataError, match="more digits than exact"):
        mt.EnsemblePruner(estimator=FOREST, lam=0).fit(X, y, sample_weight=weights)
    mt.EnsemblePruner(estimator=FOREST, lam=0, denominator=1000).fit(X, y, sample_weight=weights)


# -- sentences ------------------------------------------------------------------------------------


@each_row(
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
            {"groups": [mt.pruning.Group("g", ["nothing"], 1)]},
            "member 'nothing', which is no feature",
        ),
        ({"errors": "test"}, "errors is 'train', 'oob' or 'held-out'; got 'test'"),
        ({"estimator": ExtraTreesClassifier(2), "errors": "oob"}, "no out-of-bag rows"),
        ({"estimator": DecisionTreeClassifier(), "errors": "oob"}, "no out-of-bag rows"),
        ({"errors": "held-out", "validation_fraction": None}, "give X_val and y_val"),
        ({"validation_fraction": 2}, "validation_fraction is a share of the rows between 0 and 1"),
        ({"lam": 1, "budget": 1}, "Give lam or budget, not both"),
        ({"lam": -1}, "lam must be a finite number of at least 0"),
        ({"budget": -1}, "budget must be a finite number of at least 0, or None; got -1"),
        ({"leaf_cost": 1, "budget": 3}, "the cheapest costs 6, the budget is 3"),
        ({"slack": "two-se"}, "slack must be a finite number or 'one-se'"),
        ({"slack": None}, "slack must be a finite number or 'one-se'; got None"),
        ({"slack": float("nan")}, "slack must be a finite number or 'one-se'; got nan"),
        (
            {"validation_fraction": (1, 2)},
            "validation_fraction is a share of the rows between 0 and 1",
        ),
        ({"reference": "worst"}, "reference is 'unpruned' or 'best'"),
        ({"loss": "squared"}, "use loss='error'"),
    ],
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
        mt.EnsemblePruner(estimator=forest).fit(X.iloc[:, 1:], y)
    with pytest.raises(mt.DataError, match="column 0 was 'mean radius' and is 'mean texture'"):
        mt.EnsemblePruner(estimator=forest).fit(X.iloc[:, [1, 0, *range(2, 30)]], y)
    holes = X.copy()
    holes.iloc[3, 2] = np.nan
    with pytest.raises(mt.DataError, match=r"Row 3 of X has nan .* column 'mean perimeter'"):
        mt.EnsemblePruner(estimator=FOREST).fit(holes, y)
    with pytest.raises(mt.DataError, match="Row 3 of X_val has nan"):
        mt.EnsemblePruner(estimator=FOREST).fit(X, y, X_val=holes, y_val=y)
    with pytest.raises(mt.DataError, match="Row 3 of X has nan"):
        mt.EnsemblePruner(estimator=forest).fit(X, y).predict(holes)
    with pytest.raises(mt.DataError, match="y has 2 columns"):
        mt.EnsemblePruner(estimator=FOREST).fit(X, np.column_stack([y, y]))
    with pytest.raises(mt.DataError, match="X_val and y_val together"):
        mt.EnsemblePruner(estimator=FOREST).fit(X, y, X_val=X)
    with pytest.raises(mt.DataError, match=r"y_val has the classes .* none in common"):
        mt.EnsemblePruner(estimator=FOREST).fit(
            X, y, X_val=X, y_val=np.where(y == 1, "benign", "malignant")
        )
    with pytest.raises(ValueError, match="row_costs contains NaN"):
        mt.EnsemblePruner(estimator=FOREST).fit(X, y, row_costs=np.full(X.shape, np.nan))
    with pytest.raises(mt.DataError, match="takes no sample_weight"):
        mt.EnsemblePruner(estimator=mt.BudgetForestClassifier(n_estimators=2)).fit(
            X, y, sample_weight=np.ones(len(y))
        )


def test_prune_asks_for_one_of_two(cancer):
    """λ or a budget; exact belongs to a budget."""
    for wrong in ({}, {"lam": 1, "budget": 1}):
        with pytest.raises(mt.DataError, match="Give lam or budget"):
            cancer.prune(**wrong)
    with pytest.raises(mt.DataError, match="exact=True belongs to a budget"):
        cancer.prune(0, exact=True)
