"""scikit-learn's faces of trees for decisions: the whole estimator check, regret, decisions,
forests, and what goes wrong in one sentence.
"""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from decision_rows import paths, regret
from row_tests import each_row
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt

#: Two bootstrap samples of 15 rows and of their repetitions differ; scikit-learn's own forests say
#: the same of themselves.
BOOTSTRAP = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows drawn with weights are not repeated rows drawn"
    for kind in ("dense", "sparse")
}


@pytest.mark.slow
@each_row(
    "make, expected",
    [
        (mt.SPOTree, {}),
        (lambda: mt.SPOTree(method="dp", max_depth=1, n_bins=5), {}),
        (lambda: mt.SPOForest(n_estimators=5, bootstrap=False), {}),
        (lambda: mt.SPOForest(n_estimators=5), BOOTSTRAP),
    ],
)
def test_the_whole_check_estimator_passes(make, expected):
    outcomes = check_estimator(make(), on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert {
        o["check_name"]: str(o["exception"])
        for o in outcomes
        if o["status"] not in ("passed", "skipped", "xfail")
    } == {}
    assert {o["check_name"] for o in outcomes if o["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert {o["check_name"] for o in outcomes if o["status"] == "xfail"} == set(expected)
    assert len(outcomes) > 40


# -- trees -------------------------------------------------------------------------------------------------------


def test_leaves_predict_means_and_decide_what_is_best_for_them():
    """`predict` is the mean cost vector of the training rows in the leaf, `decide` the oracle's
    answer to it, `score` minus the regret.
    """
    data, test = paths(), paths(80, 1)
    model = mt.SPOTree(decisions=data.decisions, max_depth=2, min_samples_leaf=5).fit(
        data.X, data.C
    )
    leaf = model.apply(data.X)
    means = np.array([data.C[leaf == k].mean(axis=0) for k in range(model.get_n_leaves())])
    assert model.get_n_leaves() == 4
    assert model.predict(test.X) == pytest.approx(means[model.apply(test.X)])
    assert (
        model.decide(test.X).tolist()
        == data.decisions.solve(means).decisions[model.apply(test.X)].tolist()
    )
    assert model.score(test.X, test.C) == pytest.approx(
        -regret(data.decisions, test.C, model.decide(test.X))
    )
    assert model.result_.objective == pytest.approx(
        regret(data.decisions, data.C, model.decide(data.X)) * _optimum(data)
    )
    assert mt.verify(model.result_)


def _optimum(data):
    """Mean of z*."""
    return data.decisions.value(data.C).mean()


def test_regret_of_negative_costs_is_divided_by_absolute_values():
    """Gains as negative costs: the scale is Σ|z*|, and weights multiply both sums."""
    X, gain = np.array([[0.0], [1.0], [2.0]]), np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 4.0]])
    model = mt.SPOTree(max_depth=0).fit(X, -gain)
    assert model.decide(X).tolist() == [[0, 1]] * 3
    assert model.score(X, -gain) == pytest.approx(-2 / 9)
    assert model.score(X, -gain, sample_weight=[2, 1, 1]) == pytest.approx(-4 / 12)


@pytest.mark.parametrize("splits", ["quantiles", "midpoints"])
def test_exact_methods_lose_no_more_than_the_greedy_tree(splits):
    """dp and dp-oracle agree, prove what they return, and are never worse than greedy on the same
    thresholds.
    """
    data = paths(60)
    fitted = {
        m: mt.SPOTree(
            decisions=data.decisions,
            method=m,
            max_depth=2,
            min_samples_leaf=4,
            binarizer=splits,
            n_bins=61,
        ).fit(data.X, data.C)
        for m in ("greedy-spo", "cart-spo", "dp", "dp-oracle")
    }
    loss = {m: model.result_.objective for m, model in fitted.items()}
    assert loss["dp"] == pytest.approx(loss["dp-oracle"], rel=1e-6)
    assert loss["dp"] <= min(loss["greedy-spo"], loss["cart-spo"]) + 1e-9
    assert loss["dp"] < loss["cart-spo"]
    assert fitted["dp"].status_ == "optimal"
    assert fitted["dp"].gap_ < 1e-6
    assert fitted["greedy-spo"].status_ == "feasible"
    assert fitted["greedy-spo"].bound_ is None


@pytest.mark.parametrize("method", ["spot@highs", "flow-oct@highs"])
def test_the_milp_starts_from_the_greedy_tree(method):
    """exact = proven MILP <= greedy, on the same thresholds."""
    data = mt.decisions.two_roads(40)
    model = mt.SPOTree(method=method, max_depth=1, n_bins=6).fit(data.X, data.C)
    exact = mt.SPOTree(method="dp", max_depth=1, n_bins=6).fit(data.X, data.C)
    greedy = mt.SPOTree(max_depth=1, n_bins=6).fit(data.X, data.C)
    assert model.result_.start["method"] == "greedy-spo"
    assert model.status_ == "optimal"
    assert model.result_.objective == pytest.approx(exact.result_.objective, rel=1e-5)
    assert model.result_.objective <= greedy.result_.objective + 1e-9


def test_weights_are_repetitions():
    """A row of weight 2 is two rows, one of weight 0 is none; the smallest leaf may be a weight."""
    data = paths(60)
    w = np.random.default_rng(0).integers(0, 4, 60)
    again = np.repeat(np.arange(60), w)
    one = mt.SPOTree(decisions=data.decisions, min_weight_leaf=10).fit(
        data.X, data.C, sample_weight=w
    )
    two = mt.SPOTree(decisions=data.decisions, min_samples_leaf=10).fit(
        data.X[again], data.C[again]
    )
    assert one.tree_.to_json() == two.tree_.to_json()
    assert one.predict(data.X) == pytest.approx(two.predict(data.X))
    assert np.bincount(two.apply(data.X[again])).min() >= 10


def test_categories_are_split_off_alone_and_names_survive():
    """Text columns are categories, numbers are if they are named; a leaf decides by its costs' own
    names.
    """
    frame = pd.DataFrame(
        {"colour": list("rgbrgb") * 5, "code": [1, 2, 3, 1, 2, 3] * 5, "size": np.arange(30.0)}
    )
    costs = pd.DataFrame({"bus": (frame.code == 2) * 1.0, "train": (frame.code != 2) * 1.0})
    model = mt.SPOTree(max_depth=1, categorical_features=["code"]).fit(
        frame.drop(columns="colour"), costs
    )
    assert [t.name for t in model.tree_.splits] == ["code == 2"]
    assert set(model.tree_.actions) == {"bus", "train"}
    assert model.score(frame.drop(columns="colour"), costs) == 0
    text = mt.SPOTree(max_depth=1).fit(frame[["colour"]], costs)
    assert [t.name for t in text.tree_.splits] == ["colour == g"]
    assert text.decide(pd.DataFrame({"colour": ["g", "violet"]})).tolist() == [[0, 1], [1, 0]]
    assert "colour == g" in text.to_text()
    assert text.to_svg().startswith("<svg")
    forest = mt.SPOForest(
        n_estimators=5, max_features=None, categorical_features=["code"], random_state=0
    ).fit(frame, costs)
    assert forest.score(frame, costs) == 0


@pytest.mark.parametrize("method", ["greedy-spo", "cart-spo", "dp"])
def test_validation_rows_prune_the_tree(method):
    """Given rows or a share of the rows choose; leaves keep the decisions of the training rows, and
    the result is about the pruned tree.
    """
    data, held = paths(100, 0, 8), paths(100, 5, 8)
    depth = 2 if method == "dp" else None
    options = {"method": method, "max_depth": depth, "n_bins": 10, "min_samples_leaf": 2}
    full = mt.SPOTree(decisions=data.decisions, **options).fit(data.X, data.C)
    model = mt.SPOTree(decisions=data.decisions, **options).fit(
        data.X, data.C, X_val=held.X, y_val=held.C
    )
    path = model.pruning_path_
    assert full.pruning_path_ is None
    assert model.get_n_leaves() == path.leaves[path.chosen] <= path.leaves[0]
    assert path.leaves[0] <= full.get_n_leaves() or method == "greedy-spo"
    if method != "cart-spo":
        lost = (held.C * model.decide(held.X)).sum(axis=1) - data.decisions.value(held.C)
        assert path.validation[path.chosen] == pytest.approx(lost.mean())
        assert model.score(held.X, held.C) >= full.score(held.X, held.C) - 1e-9
    else:
        assert path.validation[path.chosen] == pytest.approx(
            ((held.C - model.predict(held.X)) ** 2).sum(axis=1).mean()
        )
    assert model.result_.problem.dataset.n_rows == 100
    share = mt.SPOTree(decisions=data.decisions, **options, validation_fraction=0.3, random_state=1)
    assert share.fit(data.X, data.C).result_.problem.dataset.n_rows == 70
    assert clone(share).fit(data.X, data.C).tree_.to_json() == share.tree_.to_json()
    small = mt.SPOTree(decisions=data.decisions, **options, slack="one-se").fit(
        data.X, data.C, X_val=held.X, y_val=held.C
    )
    assert small.get_n_leaves() <= model.get_n_leaves()
    if method == "dp":
        return
    allowed = path.validation.min() + 0.1
    loose = mt.SPOTree(decisions=data.decisions, **options, slack=0.1).fit(
        data.X, data.C, X_val=held.X, y_val=held.C
    )
    assert loose.pruning_path_.chosen == np.flatnonzero(path.validation <= allowed)[-1]


@pytest.mark.parametrize("method", ["greedy-spo", "cart-spo"])
def test_no_more_leaves_than_allowed(method):
    data = paths()
    for most in (1, 3, 5):
        assert (
            mt.SPOTree(decisions=data.decisions, method=method, max_depth=None, max_leaf_nodes=most)
            .fit(data.X, data.C)
            .get_n_leaves()
            <= most
        )


def test_estimators_are_cloned_pickled_and_searched():
    data = paths(60)
    model = mt.SPOTree(decisions=data.decisions, max_depth=2).fit(data.X, data.C)
    forest = mt.SPOForest(n_estimators=5, decisions=data.decisions, random_state=0).fit(
        data.X, data.C
    )
    for fitted in (model, forest):
        assert (
            pickle.loads(pickle.dumps(fitted)).decide(data.X).tolist()
            == fitted.decide(data.X).tolist()
        )
    search = GridSearchCV(mt.SPOTree(decisions=data.decisions), {"max_depth": [0, 2]}, cv=2).fit(
        data.X, data.C
    )
    assert search.best_params_["max_depth"] in (0, 2)
    assert mt.SPOTree(max_depth=1).fit(data.X, data.C[:, 0]).predict(data.X).shape == (60,)


# -- errors ------------------------------------------------------------------------------------------------------


def failing(after):
    """An oracle for two alternatives that fails after some calls."""
    calls = []

    def function(c):
        calls.append(1)
        if len(calls) > after:
            raise RuntimeError("the licence ran out")
        return np.eye(2)[int(np.argmin(c))]

    return mt.decisions.Oracle(function, 2)


@pytest.mark.parametrize(
    "make",
    [lambda S: mt.SPOTree(decisions=S), lambda S: mt.SPOForest(n_estimators=3, decisions=S)],
    ids=["tree", "forest"],
)
def test_an_oracle_that_fails_midway_leaves_the_estimator_unfitted(make):
    """Also one that was fitted before; the sentence says what the oracle said."""
    X, C = np.arange(20.0)[:, None], np.random.default_rng(0).normal(size=(20, 2))
    model = make(failing(10**9)).fit(X, C)
    model.predict(X)
    model.set_params(decisions=failing(30))
    with pytest.raises(mt.errors.SolverFailure, match="the licence ran out"):
        model.fit(X, C)
    with pytest.raises(NotFittedError):
        model.decide(X)


@each_row(
    "options, X, y, sentence",
    [
        ({}, [[0], [1]], [[1, np.nan], [1, 2]], "Input y contains NaN"),
        (
            {"decisions": mt.decisions.simplex_decisions(3)},
            [[0], [1]],
            [[1, 2], [1, 2]],
            "length 2, but a decision has 3 entries",
        ),
        ({"decisions": 7}, [[0], [1]], [[1, 2], [1, 2]], "decisions must be a DecisionSet"),
        ({"binarizer": "thirds"}, [[0], [1]], [[1, 2], [1, 2]], "binarizer must be"),
        ({"n_bins": 1}, [[0], [1]], [[1, 2], [1, 2]], "n_bins must be a whole number"),
        (
            {"categorical_features": ["b"]},
            [[0], [1]],
            [[1, 2], [1, 2]],
            "categorical_features names the column 'b'",
        ),
    ],
)
@each_row("make", [mt.SPOTree, mt.SPOForest])
def test_errors_are_one_sentence_that_says_what_was_given(make, options, X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(**options).fit(X, y)


def test_more_errors():
    X, C = np.arange(4.0)[:, None], np.eye(2)[[0, 1, 0, 1]]
    for options, sentence in [
        ({"validation_fraction": 1.0}, "validation_fraction is a share"),
        ({"validation_fraction": 0.9}, "leaves none of 4 rows"),
    ]:
        with pytest.raises(mt.DataError, match=sentence):
            mt.SPOTree(**options).fit(X, C)
    with pytest.raises(mt.errors.Infeasible, match="too few for one leaf"):
        mt.SPOTree(min_samples_leaf=5).fit(X, C)
    with pytest.raises(mt.DataError, match="Give X_val and y_val together"):
        mt.SPOTree().fit(X, C, X_val=X)
    with pytest.raises(mt.DataError, match="cost vector of length 2 for each of 3 rows"):
        mt.SPOTree().fit(X, C, X_val=X[:3], y_val=C)
    with pytest.raises(mt.errors.UnknownName, match="gredy"):
        mt.SPOTree(method="gredy").fit(X, C)
    for options, sentence in [
        ({"method": "dp"}, "Other methods find a single tree"),
        ({"max_features": 0.0}, "max_features is"),
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"oob_score": True, "bootstrap": False}, "needs bootstrap=True"),
    ]:
        with pytest.raises(mt.DataError, match=sentence):
            mt.SPOForest(**options).fit(X, C)


@pytest.mark.slow
def test_the_package_imports_none_of_this():
    """`import milp_trees` stays light: the estimators load scikit-learn and numba when they are
    asked for.
    """
    script = "import sys, milp_trees; assert not {'sklearn', 'numba'} & set(sys.modules); milp_trees.SPOForest; assert 'numba' not in sys.modules"
    assert (
        subprocess.run([sys.executable, "-c", script], env=dict(os.environ), check=False).returncode
        == 0
    )


@pytest.mark.parametrize("model", [mt.SPOTree(max_depth=1), mt.SPOForest(n_estimators=2)])
def test_ordered_categories_are_asked_by_their_order(model):
    """One question has no loss, which none about a single category has."""
    sizes = ["xs", "s", "m", "l", "xl", "xxl"]
    rows = [sizes[k * 5 % 6] for k in range(36)]
    small = np.array([sizes.index(s) < 3 for s in rows])
    frame = pd.DataFrame({"size": pd.Categorical(rows, categories=sizes, ordered=True)})
    costs = np.column_stack([np.where(small, 1.0, 3.0), np.where(small, 3.0, 1.0)])
    model.fit(frame, costs)
    assert model.score(frame, costs) == 0
    assert model.predict(frame.astype(object)).tolist() == costs.tolist()
    if isinstance(model, mt.SPOTree):
        assert model.tree_.splits[0].name == "size <= m"
    with pytest.raises(mt.DataError, match="not in the order of its categories"):
        model.predict(pd.DataFrame({"size": ["huge"]}))
