"""`OptimalSurvivalTree`: targets and predictions as in scikit-survival."""

import pickle

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import milp_trees as mt
from milp_trees.estimators.step_function import StepFunction

RNG = np.random.default_rng(8)
N = 120
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, N),
        "treated": RNG.integers(0, 2, N),
        "stage": RNG.choice(["I", "II", "III"], N),
    }
)
RATE = np.exp(0.03 * TABLE["age"] - 1.0 * TABLE["treated"] + (TABLE["stage"] == "III"))
LIVED = np.round(np.asarray(RNG.exponential(20 / RATE)) + 0.05, 2)
UNTIL = np.round(RNG.exponential(4.0, N) + 0.05, 2)
DIED, DAYS = LIVED <= UNTIL, np.minimum(LIVED, UNTIL)
TARGET = np.array(list(zip(DIED, DAYS, strict=True)), dtype=[("died", bool), ("days", float)])


def nelson_aalen(days, died, weights, at):
    """The cumulative hazard at a time, by its definition."""
    return sum(
        (weights * (days == t) * died).sum() / (weights * (days >= t)).sum()
        for t in np.unique(days[died.astype(bool)])
        if t <= at
    )


def test_a_leaf_predicts_its_events_by_what_the_baseline_expects():
    """With the Nelson-Aalen estimator of all rows, weights included."""
    for weights in (np.ones(N), RNG.integers(0, 4, N)):
        model = mt.OptimalSurvivalTree(max_depth=2)
        model.fit(TABLE, TARGET, sample_weight=None if (weights == 1).all() else weights)
        leaf, risk = model.apply(TABLE), model.predict(TABLE)
        at = [nelson_aalen(DAYS, DIED, weights, t) for t in DAYS]
        first = 1 / (weights.sum() + 1)  # before the first event nothing is expected
        expected = np.maximum(at, first)
        for k in range(model.get_n_leaves()):
            here = leaf == k
            hazard = (weights * DIED)[here].sum() / (weights * expected)[here].sum()
            assert risk[here] == pytest.approx(hazard)
        assert model.status_ == "optimal"
        assert model.value_ == model.result_.objective


def test_functions_of_time_follow_from_the_hazard():
    """Step functions, which rows of a leaf share, or values at the times of events."""
    model = mt.OptimalSurvivalTree(max_depth=2).fit(TABLE, TARGET)
    risk, times = model.predict(TABLE), model.unique_times_
    assert times[0] == 0
    assert np.array_equal(times[1:], np.unique(DAYS[DIED]))
    hazards = model.predict_cumulative_hazard_function(TABLE, return_array=True)
    survival = model.predict_survival_function(TABLE, return_array=True)
    base = np.array([nelson_aalen(DAYS, DIED, np.ones(N), t) for t in times])
    assert hazards == pytest.approx(risk[:, None] * base)
    assert survival == pytest.approx(np.exp(-hazards))
    functions = model.predict_survival_function(TABLE)
    assert functions.shape == (N,)
    assert len({id(f) for f in functions}) == model.get_n_leaves()
    assert functions[3](times) == pytest.approx(survival[3])
    assert functions[3](0) == 1.0
    assert functions[3](1e9) == survival[3, -1]
    cumulative = model.predict_cumulative_hazard_function(TABLE.iloc[:1])[0]
    assert cumulative([times[2] - 1e-6, times[2]]) == pytest.approx(hazards[0, 1:3])


def test_the_score_is_harrell_s_concordance():
    """Counted pair by pair: the row that dies first should have the higher risk."""
    model = mt.OptimalSurvivalTree(max_depth=2).fit(TABLE, TARGET)
    risk, won, pairs = model.predict(TABLE), 0.0, 0
    for i in np.flatnonzero(DIED):
        for j in range(N):
            if DAYS[i] < DAYS[j] or (DAYS[i] == DAYS[j] and not DIED[j]):
                pairs += 1
                won += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    assert model.score(TABLE, TARGET) == pytest.approx(won / pairs)
    assert model.score(TABLE, TARGET) > 0.6
    twice = model.score(TABLE, TARGET, sample_weight=np.full(N, 2))
    assert twice == pytest.approx(won / pairs)
    with pytest.raises(mt.DataError, match="No two rows are comparable"):
        model.score(TABLE[:2], TARGET[:2][["died", "days"]].astype(TARGET.dtype)[[0]].repeat(2))


def test_scikit_survival_agrees():
    """Its concordance, and its tree on the same targets, take the same arrays."""
    sksurv = pytest.importorskip("sksurv.metrics", reason="needs scikit-survival")
    model = mt.OptimalSurvivalTree(max_depth=2).fit(TABLE, TARGET)
    theirs = sksurv.concordance_index_censored(DIED, DAYS, model.predict(TABLE))[0]
    assert model.score(TABLE, TARGET) == pytest.approx(theirs)
    at = np.linspace(0.5, 3, 6)
    values = np.array([f(at) for f in model.predict_survival_function(TABLE)])
    assert 0 < sksurv.integrated_brier_score(TARGET, TARGET, values, at) < 0.25


@each_row(
    "y",
    [
        TARGET[["days", "died"]],
        pd.DataFrame({"status": DIED, "t": DAYS}),
        np.array(list(zip(DAYS, DIED, strict=True)), dtype=[("a", "f8"), ("b", "?")]),
    ],
)
def test_fields_are_known_by_their_kind(y):
    """Whatever they are called, and in any order."""
    expected = mt.OptimalSurvivalTree(max_depth=1).fit(TABLE, TARGET)
    found = mt.OptimalSurvivalTree(max_depth=1).fit(TABLE, y)
    assert found.value_ == expected.value_
    assert found.score(TABLE, y) == expected.score(TABLE, TARGET)


@each_row(
    "y, sentence",
    [
        (DAYS, "structured array.*no fields"),
        (np.column_stack([DIED, DAYS]), "structured array.*no fields"),
        (TARGET[["days"]], "two fields"),
        (pd.DataFrame({"status": DIED.astype(int), "t": DAYS}), r"status \(int64\)"),
        (pd.DataFrame({"status": DIED, "t": DIED}), r"t \(bool\)"),
        (pd.DataFrame({"status": DIED, "t": -DAYS}), "must not be negative"),
        (pd.DataFrame({"status": DIED, "t": np.where(DAYS > 1, np.nan, DAYS)}), "NaN"),
        (TARGET[:50], "rows|inconsistent"),
    ],
)
def test_other_targets_are_refused(y, sentence):
    """With the form that is wanted."""
    with pytest.raises(ValueError, match=sentence):
        mt.OptimalSurvivalTree().fit(TABLE, y)


def test_no_tree_is_likelier(request):
    """On columns of 0 and 1, all trees of depth two are tried by their likelihoods."""
    X = np.column_stack([TABLE["treated"], TABLE["age"] > 50, TABLE["stage"] == "III"]).astype(int)
    model = mt.OptimalSurvivalTree(max_depth=2).fit(X, TARGET)
    at = np.maximum([nelson_aalen(DAYS, DIED, np.ones(N), t) for t in DAYS], 1 / (N + 1))

    def loss(rows):
        died, expected = DIED[rows].sum(), at[rows].sum()
        own = -np.log(at[rows][DIED[rows]]).sum() - died
        return own + (died - died * np.log(died / expected) if died else 0.0)

    def best(rows, depth):
        found = loss(rows)
        for j in range(3) if depth else ():
            sides = [rows[X[rows, j] == v] for v in (0, 1)]
            if all(map(len, sides)):
                found = min(found, sum(best(s, depth - 1) for s in sides))
        return found

    assert model.value_ == pytest.approx(best(np.arange(N), 2), rel=1e-9)


def test_it_is_an_estimator_of_scikit_learn(tmp_path):
    """Searches score the concordance; a pickle and a file predict the same without the rows."""
    search = GridSearchCV(mt.OptimalSurvivalTree(), {"max_depth": [0, 2]}, cv=3)
    search.fit(TABLE, TARGET)
    assert search.best_params_ == {"max_depth": 2}
    model = clone(search.best_estimator_).fit(TABLE, TARGET)
    model.save(tmp_path / "model.json")
    for again in (
        pickle.loads(pickle.dumps(model)),
        mt.OptimalSurvivalTree.load(tmp_path / "model.json"),
    ):
        assert np.array_equal(again.predict(TABLE), model.predict(TABLE))
        assert again.predict_survival_function(TABLE[:1])[0](1.0) == pytest.approx(
            model.predict_survival_function(TABLE[:1])[0](1.0)
        )
        assert again.feature_importances_ == pytest.approx(model.feature_importances_)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert "<svg" in model._repr_html_()
    assert np.array_equal(model.to_sklearn().predict(TABLE), model.predict(TABLE))
    with pytest.raises(NotFittedError):
        mt.OptimalSurvivalTree().predict_survival_function(TABLE)


def test_a_step_function_keeps_its_value_until_the_next_time():
    """It is asked at times of at least 0."""
    function = StepFunction([0, 2, 5], [1, 0.5, 0.25])
    assert [function(t) for t in (0, 1.9, 2, 4.9, 5, 99)] == [1, 1, 0.5, 0.5, 0.25, 0.25]
    assert function(np.array([[0, 5]])).shape == (1, 2)
    for wrong in (-1, np.nan):
        with pytest.raises(mt.DataError, match="at least 0"):
            function(wrong)


def test_sizes_are_chosen_by_cross_validation():
    """By the likelihood, and along the path of sizes."""
    path = mt.OptimalSurvivalTree(max_depth=2).size_path(TABLE, TARGET)
    assert [p.leaves for p in path.points] == [1, 2, 3, 4]
    values = [p.value.number for p in path.points]
    assert values == sorted(values, reverse=True)
    chosen = mt.OptimalTreeCV(
        estimator=mt.OptimalSurvivalTree(max_depth=2, binarizer="quantiles"), max_leaf_nodes=4, cv=3
    ).fit(TABLE, TARGET)
    assert 1 < chosen.choice_.max_leaf_nodes <= 4
    assert chosen.score(TABLE, TARGET) > 0.6
