"""Ensembles that are not read: each refusal is one sentence."""

import copy
import time

import numpy as np
import pandas as pd
import pytest
from ensemble_cases import NAMES, WINE_X, WINE_Y, gains
from row_tests import each_row
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

import milp_trees as mt
from milp_trees.models.tree_arrays import assemble

# -- refusals -----------------------------------------------------------------------------------------------------


class Committee(AdaBoostClassifier):
    """A boosted ensemble whose name does not give it away."""


TWO_OUTPUTS = np.column_stack([WINE_Y, WINE_Y > 0])


@each_row(
    ("model", "sentence"),
    lambda: [
        ("a text", "no ensemble of trees"),
        (RandomForestClassifier, "no ensemble of trees"),
        (RandomForestClassifier(), "not fitted"),
        (BaggingClassifier(), "not fitted"),
        (DecisionTreeClassifier(), "not fitted"),
        (mt.BudgetForestClassifier(), "not fitted"),
        (GradientBoostingClassifier(n_estimators=2), "adds up its trees"),
        (HistGradientBoostingClassifier(max_iter=2), "adds up its trees"),
        (AdaBoostClassifier(n_estimators=2), "adds up its trees"),
        (Committee(n_estimators=2).fit(WINE_X, WINE_Y), "no ensemble of trees"),
        (
            VotingClassifier([("tree", DecisionTreeClassifier())]).fit(WINE_X, WINE_Y),
            "no ensemble of trees",
        ),
        (
            StackingClassifier([("tree", DecisionTreeClassifier())]).fit(WINE_X, WINE_Y),
            "no ensemble of trees",
        ),
        (OneVsRestClassifier(DecisionTreeClassifier()).fit(WINE_X, WINE_Y), "no ensemble of trees"),
        (IsolationForest(n_estimators=2).fit(WINE_X), "no ensemble of trees"),
        (RandomTreesEmbedding(n_estimators=2).fit(WINE_X), "no ensemble of trees"),
        (LogisticRegression(max_iter=9000), "no ensemble of trees"),
        (BaggingClassifier(LogisticRegression(max_iter=9000), n_estimators=2), "is no tree"),
        (BaggingClassifier(RandomForestClassifier(2), n_estimators=2), "is no tree"),
        (RandomForestClassifier(2).fit(WINE_X, TWO_OUTPUTS), "2 outputs"),
        (DecisionTreeRegressor().fit(WINE_X, TWO_OUTPUTS), "2 outputs"),
    ],
)
def test_models_that_are_no_fitted_ensembles_are_refused(model, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        mt.read_ensemble(model)


FOREST = RandomForestClassifier(2, max_depth=3, random_state=0).fit(WINE_X, WINE_Y)


@each_row(
    ("options", "sentence"),
    [
        ({"columns": ["a"]}, "fitted on 13 columns; 1 names"),
        ({"columns": ["a"] * 13}, "Two columns are called 'a'"),
        ({"columns": "abcdefghijklm"}, "must be a list"),
        ({"features": {"q": "z"}}, "no column 'q'"),
    ],
)
def test_names_that_do_not_fit_are_refused(options, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        mt.read_ensemble(FOREST, **options)


@each_row(
    ("X", "sentence"),
    [
        (WINE_X[:, :3], "fitted on 13 columns"),
        (WINE_X[0], "fitted on 13 columns"),
        ([["a"] * 13], "needs numbers"),
        ([[1, 2], [1]], "needs numbers"),
        (
            np.where(WINE_X > 1000, np.nan, WINE_X),
            "Row 0 has a missing or infinite value in the column 'x12'",
        ),
        (
            np.where(WINE_X > 1000, np.inf, WINE_X),
            "Row 0 has a missing or infinite value in the column 'x12'",
        ),
        (WINE_X * 1e300, "missing or infinite"),
    ],
)
def test_rows_that_do_not_fit_are_refused(X, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        mt.read_ensemble(FOREST).predict(X)


def test_datasets_that_do_not_fit_are_refused():
    ensemble = mt.read_ensemble(FOREST)
    for columns, sentence in ((ensemble.columns[::-1], "another order"), (None, "no column 'x0'")):
        with pytest.raises(mt.DataError, match=sentence):
            ensemble.routes(
                mt.Dataset(np.zeros((178, 0)), numeric=WINE_X, columns=columns, y=WINE_Y)
            )
    with pytest.raises(mt.DataError, match="numeric columns"):
        ensemble.routes(mt.Dataset(np.zeros((178, 0)), y=WINE_Y))


def test_what_is_no_pruning_is_refused():
    ensemble = mt.read_ensemble(FOREST)
    orphan = ensemble.left >= 0
    orphan[0] = False
    for keep, sentence in (
        ([True], "one entry per node"),
        (np.ones(ensemble.n_nodes), "A leaf"),
        (orphan, "with its parent"),
    ):
        with pytest.raises(mt.DataError, match=sentence):
            ensemble.pruned(keep)
    with pytest.raises(mt.DataError, match=r"mt\.read_ensemble"):
        mt.PrunedEnsembles(FOREST)
    with pytest.raises(mt.DataError, match="no trees"):
        assemble([], ["a"])


def damaged(change):
    stored = copy.deepcopy(mt.read_ensemble(FOREST).trees_json())
    change(stored)
    return stored


@each_row(
    "change",
    [
        lambda s: s.pop("left"),
        lambda s: s["left"].__setitem__(0, 0),  # a loop
        lambda s: s["left"].__setitem__(0, 2),
        lambda s: s["right"].__setitem__(0, 10**6),
        lambda s: s["right"].pop(),
        lambda s: s["left"].append(-1),
        lambda s: s["column"].__setitem__(0, 99),
        lambda s: s["column"].__setitem__(0, -1),
        lambda s: s["column"].__setitem__(0, "x"),
        lambda s: s["threshold"].__setitem__(0, None),
        lambda s: s["threshold"].pop(),
        lambda s: s["value"].__setitem__(0, [1.0]),
        lambda s: s["value"].__setitem__(0, [float("nan")] * 3),
        lambda s: s["feature_of"].__setitem__(0, 99),
        lambda s: s["feature_of"].pop(),
        lambda s: s["classes"].pop(),
        lambda s: s.update(left=[], right=[], column=[], threshold=[], value=[]),
    ],
)
def test_damaged_trees_are_not_read(change):
    with pytest.raises(mt.DataError):
        mt.Ensemble.from_json(damaged(change))


@each_row("kept", [[0, 0], [-1], [10**6], [0.5], ["0"], "0", [1], [True]])
def test_stored_prunings_that_are_none_are_not_read(kept):
    space = mt.PrunedEnsembles(mt.read_ensemble(FOREST))
    stored = {**space.ensemble.to_json(), "kept": kept}
    with pytest.raises(mt.DataError):
        space.read(stored)
    assert space.read(space.ensemble.to_json()).same_trees(space.ensemble)


def test_a_large_forest_is_read_and_viewed_in_a_second():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 20))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=5000) > 0).astype(int)
    grown = RandomForestClassifier(20, max_depth=12, random_state=0).fit(X, y)
    begin = time.process_time()
    view = gains(mt.read_ensemble(grown), X, y)
    assert len(view.need) > 500_000
    assert time.process_time() - begin < 1.0


def test_a_series_of_labels_and_a_frame_make_a_dataset():
    frame = pd.DataFrame(WINE_X[:5], columns=[f"x{j}" for j in range(13)])
    rows = mt.Dataset(
        np.zeros((5, 0)), numeric=frame, columns=list(frame.columns), y=pd.Series(NAMES[:5])
    )
    assert mt.read_ensemble(FOREST).routes(rows).leaf.shape == (5, 2)
