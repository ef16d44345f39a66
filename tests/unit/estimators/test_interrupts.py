"""Ctrl-C during a fit, alone or as one of many; and targets that are no classes."""

import dataclasses

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import milp_trees as mt
from milp_trees.common.errors import NothingFound
from milp_trees.common.limits import Limit
from milp_trees.solving import solve as solving


@pytest.fixture
def interrupted(monkeypatch):
    """Every run ends as one that was interrupted; the list grows with every run."""
    found = []

    def ended(function):
        def run(*given, **named):
            result = function(*given, **named)
            found.append(dataclasses.replace(result, limit=Limit.INTERRUPTED))
            return found[-1]

        return run

    for name in ("answer", "path_of_sizes"):
        monkeypatch.setattr(solving, name, ended(getattr(solving, name)))
    return found


@pytest.mark.parametrize(
    "search",
    [
        lambda model, X, y: GridSearchCV(model, {"max_depth": [1, 2]}, cv=2).fit(X, y),
        lambda model, X, y: cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=2),
        lambda model, X, y: OneVsRestClassifier(model).fit(X, y),
        lambda model, X, y: mt.OptimalTreeCV(estimator=model, cv=2).fit(X, y),
        lambda model, X, y: mt.OptimalTreeClassifierCV(max_depth=1, cv=2).fit(X, y),
    ],
)
def test_a_search_that_is_interrupted_in_one_fit_makes_no_other(search, interrupted):
    X, y = np.arange(12.0).reshape(-1, 1), np.array([0, 1, 1, 0] * 3)
    with pytest.raises(KeyboardInterrupt):
        search(mt.OptimalTreeClassifier(max_depth=1), X, y)
    assert len(interrupted) == 1


def test_a_single_fit_that_is_interrupted_keeps_its_model(interrupted):
    X, y = np.arange(12.0).reshape(-1, 1), np.array([0, 1, 1, 0] * 3)
    model = make_pipeline(StandardScaler(), mt.OptimalTreeClassifier(max_depth=1)).fit(X, y)
    assert len(interrupted) == 1
    assert model[-1].result_.limit is Limit.INTERRUPTED


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("make", [mt.OptimalTreeClassifier, mt.OptimalRuleListClassifier])
def test_a_target_of_numbers_that_are_no_classes_says_what_to_do(make):
    X = np.arange(40.0).reshape(-1, 1)
    with pytest.raises(mt.DataError, match=r"Unknown label type: y holds 40 .*pandas[.]qcut"):
        make(time_limit=1).fit(X, np.arange(40) / 7)
    with pytest.warns(UserWarning, match="40 different numbers in 40 rows, and each of them"):
        make(time_limit=1).fit(X, np.arange(40))


@pytest.mark.parametrize("limit", [Limit.INTERRUPTED, Limit.MEMORY])
def test_sizes_that_are_stopped_before_any_tree_are_not_called_infeasible(limit, monkeypatch):
    """As where Ctrl-C arrives while thresholds are chosen."""
    problem = mt.Problem(mt.Dataset([[0], [1]], y=[0, 1]), mt.Accuracy(), mt.Trees(max_depth=1))
    method = solving.named_method("dp-sizes")
    stopped = dataclasses.replace(mt.solve(problem, "cart"), limit=limit)
    monkeypatch.setattr(type(method), "run", lambda *given: stopped)
    wanted = KeyboardInterrupt if limit is Limit.INTERRUPTED else NothingFound
    with pytest.raises(wanted):
        solving.path_of_sizes(problem, 2, "dp-sizes", mt.Limits())
