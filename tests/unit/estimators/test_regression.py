"""`OptimalTreeRegressor`: the optimum, what it predicts and shows, and what it refuses."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from row_tests import each_row
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import milp_trees as mt
from milp_trees.estimators._tables import plain_rows

RNG = np.random.default_rng(4)
TABLE = pd.DataFrame(
    {
        "size": RNG.integers(1, 30, 90),
        "age": np.round(RNG.random(90), 2),
        "colour": RNG.choice(["red", "green", "blue"], 90),
    }
)
PRICE = np.round(3 * (TABLE["size"] > 12) + (TABLE["colour"] == "red") + RNG.random(90), 2)


def squared_error(y, weights=None):
    """Squared error of one leaf, as a fraction; y has a row of targets for every row."""
    total = Fraction(0)
    w = [1] * len(y) if weights is None else weights
    for column in np.asarray(y).reshape(len(y), -1).T.tolist():
        exact = [Fraction(str(v)) for v in column]
        weight = sum(map(Fraction, w), Fraction(0))
        if weight:
            mean = sum((a * v for a, v in zip(w, exact, strict=True)), Fraction(0)) / weight
            total += sum((a * (v - mean) ** 2 for a, v in zip(w, exact, strict=True)), Fraction(0))
    return total


def least(X, y, weights, depth, smallest):
    """Least squared error of a tree on columns of 0 and 1, by trying all of them."""
    best = squared_error(y, weights)
    if not depth:
        return best
    for column in X.T:
        sides = [np.flatnonzero(column == v) for v in (0, 1)]
        if min(map(len, sides)) >= smallest:
            found = sum(
                least(X[s], y[s], [weights[i] for i in s], depth - 1, smallest) for s in sides
            )
            best = min(best, found)
    return best


@each_row("seed", range(12))
def test_the_value_is_the_least_squared_error_of_all_trees(seed):
    """Enumerated in fractions, with weights, smallest leaves and one or two targets."""
    rng = np.random.default_rng(seed)
    n, smallest = int(rng.integers(4, 14)), int(rng.integers(1, 3))
    X = rng.integers(0, 2, (n, 4))
    y = np.round(rng.normal(size=(n, 2)), 1) if seed % 3 == 0 else rng.integers(0, 6, n)
    weights = rng.integers(1, 4, n).tolist() if seed % 2 else [1] * n
    model = mt.OptimalTreeRegressor(max_depth=2, min_samples_leaf=smallest)
    model.fit(X, y, sample_weight=weights if seed % 2 else None)
    expected = least(X, y, weights, 2, smallest)
    assert model.status_ == "optimal"
    assert model.value_ == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
    assert model.bound_ <= model.value_
    rest = (model.predict(X) - y).reshape(n, -1)
    assert (np.array(weights) @ (rest**2)).sum() == pytest.approx(model.value_)


@each_row("seed", range(20))
def test_no_tree_explains_less_than_scikit_learn_s(seed):
    """Within the same limits, on numbers, texts and missing cells, with all thresholds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 80))
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 12, n),
            "b": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(size=n), 1)),
            "c": rng.choice(["x", "y", "z"], n),
        }
    )
    y = X["a"] * (X["c"] == "x") + np.round(rng.normal(size=n), 2) * 10.0 ** rng.integers(-3, 4)
    limits = {
        "max_depth": int(rng.integers(1, 4)),
        "min_samples_leaf": int(rng.choice([1, 1, 3])),
        "max_leaf_nodes": None,
    }
    weights = rng.integers(1, 5, n) if seed % 3 == 0 else None
    coded = pd.get_dummies(X).astype(float)
    theirs = DecisionTreeRegressor(random_state=0, **limits).fit(coded, y, weights)
    ours = mt.OptimalTreeRegressor(**limits).fit(X, y, sample_weight=weights)
    assert ours.status_ == "optimal"
    assert ours.score(X, y, weights) >= theirs.score(coded, y, weights) - 1e-9, (seed, limits)


@each_row("seed", range(10))
def test_nor_less_of_the_deviance(seed):
    """The criterion poisson is scikit-learn's; its mean deviance is the value by the rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    X, y = rng.integers(0, 9, (n, 2)), rng.poisson(rng.gamma(1, 2, n))
    y[0] += 1
    weights = rng.integers(1, 5, n) if seed % 2 else np.ones(n)
    limits = {"max_depth": int(rng.integers(1, 4)), "min_samples_leaf": int(rng.choice([1, 3]))}
    theirs = DecisionTreeRegressor(criterion="poisson", random_state=0, **limits)
    ours = mt.OptimalTreeRegressor(criterion="poisson", **limits)
    losses = [
        mean_poisson_deviance(
            y, np.maximum(model.fit(X, y, weights).predict(X), 1e-300), sample_weight=weights
        )
        for model in (theirs, ours)
    ]
    assert losses[1] <= losses[0] + 1e-9
    assert ours.value_ == pytest.approx(losses[1] * weights.sum(), abs=1e-9)
    assert ours.status_ == "optimal"


def test_nor_where_thresholds_are_left_out(monkeypatch):
    """Of chosen quantiles the greedy tree over all thresholds is the incumbent; a sentence says so."""
    rng = np.random.default_rng(0)
    X = np.round(rng.random((120, 2)), 3)
    y = 5.0 * (X[:, 0] > 0.93) + X[:, 1]
    theirs = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="over all thresholds"):
        ours = mt.OptimalTreeRegressor(max_depth=1, binarizer="quantiles:3").fit(X, y)
    assert ours.score(X, y) >= theirs.score(X, y) - 1e-9
    assert ours.result_.found_by
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = mt.OptimalTreeRegressor(max_depth=1, binarizer="quantiles:3", start=None).fit(X, y)
    assert alone.score(X, y) < ours.score(X, y)
    monkeypatch.setattr("milp_trees.methods.work.ENOUGH", 1e-9)
    monkeypatch.setattr("milp_trees.solving.attempt.ENOUGH", 1e-9)
    few = mt.OptimalTreeRegressor(max_depth=1).fit(X, y)
    counts = few.result_.problem.dataset.source["thresholds"]
    assert counts["used"] <= counts["of"]
    assert few.score(X, y) >= theirs.score(X, y) - 1e-9


def test_thresholds_for_models_include_those_of_greedy_trees():
    """So that the best tree over them is no worse; the targets decide which they are."""
    rng = np.random.default_rng(1)
    X = np.round(rng.random((400, 3)), 4)
    y = np.column_stack([4.0 * (X[:, 0] > 0.987), X[:, 1] > 0.5])
    data = mt.Binarizer().fit(X).dataset(X, targets=y, fitted_on=X)
    problem = mt.choose_thresholds(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(2)))
    counts = problem.dataset.source["thresholds"]
    assert counts["used"] < counts["of"] / 3
    assert "scikit-learn's tree" in counts["from"]
    theirs = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    loss = ((theirs.predict(X) - y) ** 2).sum()
    assert mt.solve(problem).value.number <= loss + 1e-9


def test_a_leaf_predicts_the_weighted_mean_of_its_rows():
    """In the shape of the targets; several targets are one tree."""
    weights = RNG.integers(0, 4, 90)
    targets = pd.DataFrame({"price": PRICE, "offer": PRICE * 2 - TABLE["age"]})
    for y in (PRICE, targets):
        model = mt.OptimalTreeRegressor(max_depth=2).fit(TABLE, y, sample_weight=weights)
        predicted, leaf = model.predict(TABLE), model.apply(TABLE)
        assert predicted.shape == np.shape(y)
        assert model.n_outputs_ == (1 if y is PRICE else 2)
        for k in range(model.get_n_leaves()):
            here = (leaf == k) & (weights > 0)
            mean = np.average(np.asarray(y)[here], axis=0, weights=weights[here])
            assert predicted[leaf == k] == pytest.approx(
                np.broadcast_to(mean, predicted[leaf == k].shape)
            )
    assert model.decision_path(TABLE).shape == (90, 2 * model.get_n_leaves() - 1)
    assert model.get_depth() == 2
    column = mt.OptimalTreeRegressor().fit(TABLE, PRICE.to_numpy()[:, None])
    assert column.predict(TABLE).shape == (90,)


def test_targets_are_scored_by_their_names():
    """In any order of the columns; those under other names are refused."""
    targets = pd.DataFrame({"price": PRICE, "age": TABLE["age"]})
    model = mt.OptimalTreeRegressor(max_depth=2).fit(TABLE, targets)
    assert model.result_.problem.dataset.target_names == ("price", "age")
    turned = model.score(TABLE, targets[["age", "price"]])
    assert turned == model.score(TABLE, targets) == model.score(TABLE, targets.to_numpy())
    with pytest.raises(mt.DataError, match="wage"):
        model.score(TABLE, targets.rename(columns={"age": "wage"}))


def test_a_weight_is_a_number_of_rows():
    """Also for the thresholds at quantiles."""
    weights = RNG.integers(0, 4, 90)
    rows = np.repeat(np.arange(90), weights)
    kinds = {"max_depth": 2, "binarizer": "quantiles", "n_bins": 4, "start": None}
    weighted = mt.OptimalTreeRegressor(**kinds).fit(TABLE, PRICE, sample_weight=weights)
    repeated = mt.OptimalTreeRegressor(**kinds).fit(TABLE.iloc[rows], PRICE.iloc[rows])
    assert weighted.value_ == pytest.approx(repeated.value_)
    assert weighted.tree_ == repeated.tree_


def test_an_offset_and_a_scale_of_the_target_change_nothing_else():
    """The squared error scales, the tree stays, however far the numbers are from 0."""
    plain = mt.OptimalTreeRegressor(max_depth=3).fit(TABLE, PRICE)
    for offset, scale in ((1e9, 1.0), (0.0, 1e-6), (-1e6, 1e4)):
        moved = mt.OptimalTreeRegressor(max_depth=3).fit(TABLE, PRICE * scale + offset)
        assert moved.status_ == "optimal"
        assert moved.value_ / scale**2 == pytest.approx(plain.value_, rel=1e-6)
    constant = mt.OptimalTreeRegressor().fit(TABLE, np.full(90, 0.1))
    assert constant.value_ < 1e-30  # the double 0.1 is not one tenth
    assert constant.get_n_leaves() == 1
    assert set(constant.predict(TABLE)) == {0.1}


def test_tables_with_texts_and_missing_cells_are_taken_as_they_are():
    """From pandas and from polars; a cell that is missing has an answer where some were."""
    gone = TABLE.assign(age=TABLE["age"].where(TABLE.index % 4 != 0))
    model = mt.OptimalTreeRegressor(max_depth=3).fit(gone, PRICE)
    from_polars = mt.OptimalTreeRegressor(max_depth=3)
    from_polars.fit(pl.from_pandas(gone), pl.Series(PRICE.to_numpy()))
    assert from_polars.value_ == model.value_
    assert np.array_equal(from_polars.predict(pl.from_pandas(gone)), model.predict(gone))
    complete = mt.OptimalTreeRegressor(max_depth=1).fit(TABLE, PRICE)
    with pytest.raises(mt.DataError, match="missing value"):
        complete.predict(TABLE.assign(size=np.nan))


def test_a_penalty_is_a_share_of_the_loss_of_a_single_leaf():
    """Every further leaf raises the training R² by more than the penalty."""
    free = mt.OptimalTreeRegressor(max_depth=3).fit(TABLE, PRICE)
    model = mt.OptimalTreeRegressor(max_depth=3, ccp_alpha=0.02).fit(TABLE, PRICE)
    leaves = model.get_n_leaves()
    assert 1 < leaves < free.get_n_leaves()
    assert model.value_ == pytest.approx(1 - model.score(TABLE, PRICE) + 0.02 * leaves)
    one_less = mt.OptimalTreeRegressor(max_depth=3, max_leaf_nodes=leaves - 1).fit(TABLE, PRICE)
    assert model.score(TABLE, PRICE) - one_less.score(TABLE, PRICE) >= 0.02
    assert mt.OptimalTreeRegressor(ccp_alpha=1).fit(TABLE, PRICE).get_n_leaves() == 1
    assert (
        mt.OptimalTreeRegressor(max_depth=3, max_leaf_nodes=3).fit(TABLE, PRICE).get_n_leaves() == 3
    )


def test_the_criterion_is_a_loss_by_scikit_learn_s_name_or_a_task():
    """A Task has its own penalties; what is no loss of numbers is refused."""
    named = mt.OptimalTreeRegressor(max_depth=2, ccp_alpha=0.01).fit(TABLE, PRICE)
    for criterion in ("squared-error", "squared_error"):
        same = mt.OptimalTreeRegressor(max_depth=2, ccp_alpha=0.01, criterion=criterion)
        assert same.fit(TABLE, PRICE).value_ == named.value_
    task = mt.tasks.SquaredError(leaf_penalty="0.01", feature_costs={"size": 1})
    model = mt.OptimalTreeRegressor(max_depth=2, criterion=task).fit(TABLE, PRICE)
    assert "size" not in {t.column for t in model.tree_.splits}
    for criterion, sentence in (
        ("friedman_mse", "Registered losses: .*squared-error"),
        ("accuracy", "task accuracy, which is no such loss"),
        (None, "must be the name of a loss"),
        (mt.Accuracy(), "predict numbers"),
    ):
        with pytest.raises(mt.DataError, match=sentence):
            mt.OptimalTreeRegressor(criterion=criterion).fit(TABLE, PRICE)
    with pytest.raises(mt.DataError, match="give them to the Task"):
        mt.OptimalTreeRegressor(criterion=task, ccp_alpha=0.1).fit(TABLE, PRICE)


@each_row(
    "y, sentence",
    [
        (np.where(np.arange(90) == 7, np.nan, PRICE), "NaN"),
        (PRICE[:80], "inconsistent numbers of samples|rows"),
        (np.array(["a"] * 90), "could not convert|numbers|dtype"),
        (np.full(90, np.inf), "infinity"),
    ],
)
def test_targets_that_are_no_numbers_are_refused(y, sentence):
    """As everywhere in scikit-learn."""
    with pytest.raises(ValueError, match=sentence):
        mt.OptimalTreeRegressor().fit(TABLE, y)


def test_the_checks_of_plain_numbers_are_skipped_for_nothing_else():
    """Arrays of finite numbers need no further check; all others get scikit-learn's."""
    X, y = np.zeros((3, 2)), np.arange(3.0)
    assert plain_rows(X, y, quantities=True) is not None
    assert plain_rows(X, np.ones((3, 2)), quantities=True) is not None
    for strange in (
        np.array([1, np.nan, 2]),
        y.astype(object),
        y.astype(np.longdouble),
        y[:2],
        np.zeros((3, 0)),
        y.astype(str),
        np.zeros((3, 1, 1)),
    ):
        assert plain_rows(X, strange, quantities=True) is None


def test_importances_are_shares_of_the_drop_in_the_loss():
    """Computed again from the squared errors of the nodes, penalties aside."""
    model = mt.OptimalTreeRegressor(max_depth=2, ccp_alpha=0.001).fit(TABLE, PRICE)
    y, leaf = PRICE.to_numpy(), model.apply(TABLE)
    drops = dict.fromkeys(TABLE.columns, 0.0)
    for test, (a, b, c) in zip(model.tree_.splits, model.tree_.sides, strict=True):
        parts = [(leaf >= a) & (leaf < b), (leaf >= b) & (leaf < c)]
        whole = squared_error(y[parts[0] | parts[1]])
        drops[test.column] += float(whole - sum(squared_error(y[p]) for p in parts))
    expected = np.array(list(drops.values())) / sum(drops.values())
    assert model.feature_importances_ == pytest.approx(expected, abs=1e-9)
    assert model.binary_importances_[model.tree_.splits[0].name] > 0.5


def test_pickles_and_files_hold_the_tree_and_its_certificate_and_no_rows(tmp_path):
    """The targets are rows, too; with keep_data they are kept."""
    both = np.column_stack([PRICE, -PRICE])
    for y in (PRICE.to_numpy(), both):
        model = mt.OptimalTreeRegressor(max_depth=2).fit(TABLE, y)
        again = pickle.loads(pickle.dumps(model))
        model.save(tmp_path / "model.json")
        loaded = mt.OptimalTreeRegressor.load(tmp_path / "model.json")
        for copy in (again, loaded):
            assert copy.tree_ == model.tree_
            assert np.array_equal(copy.predict(TABLE), model.predict(TABLE))
            assert (copy.value_, copy.bound_, copy.status_) == (
                model.value_,
                model.bound_,
                "optimal",
            )
            assert copy.feature_importances_ == pytest.approx(model.feature_importances_)
            with pytest.raises(mt.DataError, match="left out"):
                _ = copy.result_.problem.dataset.targets
    kept = pickle.loads(pickle.dumps(clone(model).set_params(keep_data=True).fit(TABLE, both)))
    assert np.array_equal(kept.result_.problem.dataset.targets, both)
    assert str(PRICE[0]) not in (tmp_path / "model.json").read_text()


def test_it_is_a_regressor_of_scikit_learn():
    """Pipelines and searches score R²; it draws itself; without a fit it predicts nothing."""
    model = mt.OptimalTreeRegressor()
    assert is_regressor(model)
    with pytest.raises(NotFittedError):
        model.predict(TABLE)
    grid = {"optimaltreeregressor__max_depth": [0, 2]}
    search = GridSearchCV(make_pipeline(model), grid, cv=3).fit(TABLE, PRICE)
    assert search.best_params_ == {"optimaltreeregressor__max_depth": 2}
    fitted = search.best_estimator_[0]
    assert "<svg" in fitted._repr_html_()
    assert "size" in fitted.to_text()


def test_it_becomes_a_regression_tree_of_scikit_learn():
    """Which predicts the same, alone or in a pipeline, and has the means of inner nodes."""
    numbers = TABLE[["size", "age"]]
    model = mt.OptimalTreeRegressor(max_depth=2).fit(numbers, PRICE)
    for theirs in (model.to_sklearn(), model.to_sklearn(numbers, PRICE)):
        assert isinstance(theirs, DecisionTreeRegressor)
        assert np.array_equal(theirs.predict(numbers), model.predict(numbers))
        assert theirs.tree_.value[0, 0, 0] == pytest.approx(PRICE.mean())
        assert theirs.tree_.impurity[0] == pytest.approx(PRICE.var(ddof=0))
    both = mt.OptimalTreeRegressor(max_depth=2).fit(TABLE, np.column_stack([PRICE, -PRICE]))
    pipeline = both.to_sklearn()
    assert np.array_equal(pipeline.predict(TABLE), both.predict(TABLE))
    with pytest.raises(mt.DataError, match="1 numbers per row"):
        both.to_sklearn(TABLE, PRICE)


def test_binarizers_that_learn_thresholds_learn_them_from_numbers():
    """Buckets leave out thresholds between equal targets; several targets are compared as rows."""
    X = np.arange(12).reshape(-1, 1)
    y = np.repeat([0.5, 2.5, 7.25], 4)
    model = mt.OptimalTreeRegressor(binarizer="buckets", start=None).fit(X, y)
    assert [t.value for t in model.binarizer_.features] == [3.5, 7.5]
    assert model.value_ == 0
    with pytest.raises(mt.DataError, match="learn thresholds from one target"):
        mt.OptimalTreeRegressor(binarizer="tree-guess").fit(X, np.column_stack([y, y]))


def test_leaves_of_least_absolute_error_predict_medians():
    X = np.arange(9)[:, None]
    y = np.array([0.0, 1, 5, 10, 11, 19, 30, 31, 50])
    model = mt.OptimalTreeRegressor(max_depth=1, criterion="absolute_error").fit(X, y)
    assert model.value_ == np.abs(model.predict(X) - y).sum() == 52
    dataset = model.result_.problem.dataset
    assert "error" not in model.tree_.to_text(dataset)
    weights = np.arange(1, 10) / 10
    shared = mt.OptimalTreeRegressor(max_depth=0, criterion="absolute_error", ccp_alpha=0.25)
    assert shared.fit(X, y, sample_weight=weights).value_ == 1.25
    theirs = DecisionTreeRegressor(max_depth=1, criterion="absolute_error").fit(X, y)
    gap = mt.gap_of(theirs, model.result_.problem)
    assert gap.value.number == np.abs(theirs.predict(X) - y).sum()
    assert gap.bound == 52
