"""`progress` of estimators, and scikit-learn's callbacks on them."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from row_tests import each_row
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import milp_trees as mt
from milp_trees.common.limits import Limit
from milp_trees.estimators import _progress as _listening
from milp_trees.methods import callback

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 2, (400, 40)).astype(float), RNG.integers(0, 2, 400)
COSTS = RNG.random((400, 2))
NUMBERS = RNG.random(400)
TIMES = np.array(
    list(zip(NUMBERS < 0.7, 1 + RNG.random(400))), dtype=[("died", bool), ("t", float)]
)
LONG = {"max_depth": 6, "binarizer": "midpoints", "time_limit": 300}

#: Every estimator that has a `fit`, with what it is fitted on; none ends in less than a second.
FITS = {
    "OptimalTreeClassifier": lambda p: mt.OptimalTreeClassifier(**LONG, progress=p).fit(X, Y),
    "OptimalTreeClassifierCV": lambda p: mt.OptimalTreeClassifierCV(
        **{**LONG, "max_leaf_nodes": 9}, progress=p
    ).fit(X, Y),
    "OptimalTreeCV": lambda p: mt.OptimalTreeCV(
        estimator=mt.OptimalTreeClassifier(**LONG, progress=p)
    ).fit(X, Y),
    "OptimalRuleListClassifier": lambda p: mt.OptimalRuleListClassifier(
        length_penalty=0.001, time_limit=300, progress=p
    ).fit(X, Y),
    "FairTreeClassifier": lambda p: mt.FairTreeClassifier(**LONG, progress=p).fit(
        X, Y, sensitive_features=X[:, 0]
    ),
    "CostSensitiveTreeClassifier": lambda p: mt.CostSensitiveTreeClassifier(**LONG, progress=p).fit(
        X, Y
    ),
    "OptimalPolicyTree": lambda p: mt.OptimalPolicyTree(**LONG, progress=p).fit(X, COSTS),
    "OptimalTreeRegressor": lambda p: mt.OptimalTreeRegressor(**LONG, progress=p).fit(X, NUMBERS),
    "OptimalTreeRegressorCV": lambda p: mt.OptimalTreeRegressorCV(
        **{**LONG, "max_leaf_nodes": 9}, progress=p
    ).fit(X, NUMBERS),
    "OptimalSurvivalTree": lambda p: mt.OptimalSurvivalTree(**LONG, progress=p).fit(X, TIMES),
    "SPOTree": lambda p: mt.SPOTree(
        method="dp-oracle", max_depth=4, time_limit=300, progress=p
    ).fit(X, COSTS),
    "SPOForest": lambda p: mt.SPOForest(n_estimators=40, progress=p).fit(X, COSTS),
    "BudgetForestClassifier": lambda p: mt.BudgetForestClassifier(n_estimators=40, progress=p).fit(
        X, Y
    ),
    "EnsemblePruner": lambda p: mt.EnsemblePruner(
        estimator=RandomForestClassifier(5, random_state=0),
        budget=3,
        exact=True,
        time_limit=300,
        progress=p,
    ).fit(X, Y),
}


def stop_when_something_is_known(point):
    return point.incumbent is not None


def test_every_estimator_is_tested():
    public = {
        name
        for name in dir(mt)
        if inspect.isclass(getattr(mt, name)) and hasattr(getattr(mt, name), "fit")
    }
    assert public - {"Binarizer"} == set(FITS)


@each_row("name", FITS)
def test_true_stops_every_estimator_with_a_model(name):
    with warnings.catch_warnings(record=True) as message:
        warnings.simplefilter("always")
        forest = name.endswith(("Forest", "ForestClassifier"))
        model = FITS[name]((lambda p: True) if forest else stop_when_something_is_known)
    about = [str(w.message) for w in message if issubclass(w.category, ConvergenceWarning)]
    assert about
    if forest:
        assert len(model.estimators_) == len(model.estimators_samples_) == 1
        assert about == ["The user stopped the forest after 1 of 40 trees."]
    elif name == "EnsemblePruner":
        assert model.selected_.status in ("feasible", "optimal")
    else:
        result = model.result_
        assert result.limit is Limit.CALLBACK
        assert not result.problem.violations(result.predictor)
        if name not in ("OptimalTreeClassifierCV", "OptimalTreeRegressorCV"):
            assert any("stopped by the user" in text for text in about), about
    assert len(model.predict(X[:7])) == 7


class Mine(Exception):
    pass


@each_row("name", FITS)
def test_what_the_function_raises_reaches_the_user(name):
    def fail(point):
        raise Mine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Mine):
            FITS[name](fail)


def test_a_pickle_and_a_clone():
    model = mt.OptimalTreeClassifier(max_depth=1, progress=lambda point: None).fit(X[:50], Y[:50])
    assert clone(model).progress is model.progress
    again = pickle.loads(pickle.dumps(model))
    assert again.progress is None
    assert (again.predict(X) == model.predict(X)).all()


def test_a_stopped_curve_says_that_nothing_is_left(monkeypatch):
    monkeypatch.setattr(callback, "BEAT", 0.0)
    pruner = mt.EnsemblePruner(
        estimator=RandomForestClassifier(2, random_state=0), progress=lambda point: True
    )
    with pytest.raises(mt.errors.NothingFound, match="pruning curve"):
        pruner.fit(X, Y)


# -- scikit-learn's callbacks ------------------------------------------------------------------------

has_callbacks = pytest.mark.skipif(
    _listening.with_callbacks is None,
    reason=f"scikit-learn {sklearn.__version__} has no callbacks (1.9 and later have)",
)


class Recorder:
    """A callback of scikit-learn that stops at a given number of calls."""

    max_propagation_depth = None

    def __init__(self, stop_at=None):
        self.stop_at, self.seen, self.open = stop_at, [], 0

    def setup(self, estimator, context):
        self.open += 1

    def teardown(self, estimator, context):
        self.open -= 1

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.seen.append((context.task_name, metadata, fitted_estimator))
        searches = sum(name == "search" for name, _, _ in self.seen)
        return self.stop_at is not None and searches >= self.stop_at


@has_callbacks
def test_a_callback_of_scikit_learn_hears_the_search_and_stops_it():
    recorder, points = Recorder(stop_at=2), []
    model = mt.OptimalTreeClassifier(**LONG, progress=points.append).set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning, match="stopped by the user"):
        model.fit(X, Y)
    assert model.result_.limit is Limit.CALLBACK
    *searches, (name, _, fitted) = recorder.seen
    assert [metadata for _, metadata, _ in searches] == [p._asdict() for p in points]
    assert len(points) == 2
    assert name == "fit"
    assert (fitted.predict(X) == model.predict(X)).all()
    assert recorder.open == 0


@has_callbacks
def test_a_callback_of_a_grid_search_reaches_the_trees():
    recorder = Recorder()
    search = GridSearchCV(mt.CostSensitiveTreeClassifier(), {"max_depth": [1, 2]}, cv=2)
    search.set_callbacks(recorder).fit(X[:60, :4], Y[:60])
    assert sum(name == "search" for name, _, _ in recorder.seen) >= 5
    assert recorder.open == 0


@has_callbacks
def test_a_callback_is_torn_down_where_fit_fails():
    recorder = Recorder()
    model = mt.OptimalTreeClassifier(method="unheard-of").set_callbacks(recorder)
    with pytest.raises(mt.errors.UnknownName):
        model.fit(X[:20], Y[:20])
    assert recorder.open == 0
    assert not hasattr(model, "_callback_fit_ctx")


@has_callbacks
def test_the_progress_bar_of_scikit_learn_runs():
    from sklearn.callback import ProgressBar

    model = mt.OptimalTreeClassifier(max_depth=2).set_callbacks(ProgressBar())
    assert model.fit(X[:60, :4], Y[:60]).result_.optimal


@pytest.mark.skipif(_listening.with_callbacks is not None, reason="this scikit-learn has callbacks")
def test_a_scikit_learn_without_callbacks_says_so():
    with pytest.raises(mt.errors.Unsupported, match=r"version 1\.9"):
        mt.OptimalTreeClassifier().set_callbacks(Recorder())


def test_without_callbacks_of_scikit_learn_progress_still_works(monkeypatch):
    """`with_progress` as a version before 1.9 would have it."""
    monkeypatch.setattr(_listening, "with_callbacks", None)

    class Old(mt.OptimalTreeClassifier):
        @_listening.with_progress
        def fit(self, X, y):
            return super().fit(X, y)

    points = []
    with pytest.warns(ConvergenceWarning):
        Old(**LONG, progress=lambda p: points.append(p) or len(points) > 1).fit(X, Y)
    assert len(points) == 2
