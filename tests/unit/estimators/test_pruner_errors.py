"""What the pruner refuses: one sentence each."""

import numpy as np
import pytest
from pruner_cases import CANCER, FOREST
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt

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
