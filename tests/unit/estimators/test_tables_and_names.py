"""Every public method of every estimator that takes a table: tables of other libraries, names of actions
and costs in another order, rows in another order, labels that are missing.

The methods and their arguments are found by introspection, so a new one is tested without an edit here;
a new estimator needs a line in `ESTIMATORS`.
"""

import inspect
from functools import cache

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt
from milp_trees.estimators._tables import LABELS, OF_ROWS, TakesTables

N = 24
_rng = np.random.default_rng(3)
X = pd.DataFrame(_rng.integers(0, 4, (N, 3)), columns=["age", "dose", "sex"]).assign(
    sex=np.arange(N) % 2
)
CLASSES = pd.Series(np.where(X.age + X.sex > 2, "ill", "well"), name="state")
VALUES = pd.DataFrame({"stay": 3.0 - X.age, "move": X.age + X.dose / 2, "wait": np.full(N, 1.25)})
AMOUNTS = pd.Series(X.age * 1.5 + X.sex, name="amount")
LIVES = pd.DataFrame({"died": X.sex == 1, "days": 1.0 + X.age})
PRICES = pd.DataFrame(_rng.integers(1, 9, (N, 3)), columns=["age", "dose", "sex"])

#: Arguments that state something of every row; those of `y` depend on the estimator.
ROWS = {
    "X": X,
    "sample_weight": pd.Series(1.0 + np.arange(N) % 3, name="weight"),
    "treatments": pd.Series(np.array(["move", "stay", "wait"])[np.arange(N) % 3]),
    "outcomes": pd.Series(1.0 + X.age % 2),
    "propensities": pd.Series(np.full(N, 1 / 3)),
    "groups": pd.Series(np.where(X.sex == 1, "f", "m"), name="gender"),
    "sensitive_features": pd.DataFrame({"sex": X.sex, "old": (X.age > 1).astype(int)}),
    "control_features": pd.Series(np.where(X.dose > 1, "high", "low")),
    "row_costs": PRICES,
}
FOREST = RandomForestClassifier(3, max_depth=2, random_state=0)
#: A small estimator of every class, and what its `y` is.
ESTIMATORS = {
    "OptimalTreeClassifier": (lambda: mt.OptimalTreeClassifier(max_depth=1), CLASSES),
    "OptimalTreeClassifierCV": (
        lambda: mt.OptimalTreeClassifierCV(max_depth=1, max_leaf_nodes=2, cv=2),
        CLASSES,
    ),
    "OptimalRuleListClassifier": (lambda: mt.OptimalRuleListClassifier(max_length=1), CLASSES),
    "CostSensitiveTreeClassifier": (lambda: mt.CostSensitiveTreeClassifier(max_depth=1), CLASSES),
    "FairTreeClassifier": (
        lambda: mt.FairTreeClassifier(max_depth=1, max_disparity="0.5"),
        CLASSES,
    ),
    "OptimalPolicyTree": (lambda: mt.OptimalPolicyTree(max_depth=1), VALUES),
    "OptimalTreeCV": (
        lambda: mt.OptimalTreeCV(
            estimator=mt.OptimalTreeClassifier(max_depth=1), max_leaf_nodes=2, cv=2
        ),
        CLASSES,
    ),
    "OptimalTreeRegressor": (lambda: mt.OptimalTreeRegressor(max_depth=1), AMOUNTS),
    "OptimalTreeRegressorCV": (
        lambda: mt.OptimalTreeRegressorCV(max_depth=1, max_leaf_nodes=2, cv=2),
        AMOUNTS,
    ),
    "OptimalSurvivalTree": (lambda: mt.OptimalSurvivalTree(max_depth=1), LIVES),
    "SPOTree": (lambda: mt.SPOTree(max_depth=1), VALUES),
    "SPOForest": (lambda: mt.SPOForest(n_estimators=2, max_depth=1, random_state=0), VALUES),
    "EnsemblePruner": (lambda: mt.EnsemblePruner(estimator=FOREST, random_state=0), CLASSES),
    "BudgetForestClassifier": (
        lambda: mt.BudgetForestClassifier(n_estimators=2, random_state=0),
        CLASSES,
    ),
}
#: Arguments whose columns have an order, which `fit` learns from its `y`.
NAMED = ("y", "y_val", "row_costs", "row_costs_val")
#: Arguments without which a `fit` is another question; the others of `ROWS` are given to all that have them.
LEFT_OUT = {"OptimalPolicyTree": ("groups",), "OptimalTreeCV": ("sample_weight",)}


def estimators_of_the_package():
    found = {name: getattr(mt, name) for name in dir(mt) if name[0].isupper()}
    return {
        name: kind
        for name, kind in found.items()
        if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and name != "Binarizer"
    }


def methods_with_tables(kind):
    """The public methods of a class that take a table, `fit` first."""
    for name, method in sorted(inspect.getmembers(kind, callable), key=lambda m: m[0] != "fit"):
        drawn = name.startswith(("_", "plot_"))
        if not drawn and "X" in inspect.signature(method).parameters:
            yield name


def arguments(name, method):
    """The rows that a method takes, by the name of the parameter."""
    rows = dict(ROWS, y=ESTIMATORS[name][1])
    rows |= {"X_val": X, "y_val": rows["y"], "sample_weight_val": rows["sample_weight"]}
    rows["row_costs_val"] = PRICES
    taken = [p for p in inspect.signature(method).parameters if p in rows]
    left_out = {*LEFT_OUT.get(name, ()), *(("y",) if method.__name__ == "to_sklearn" else ())}
    return {p: rows[p] for p in taken if p not in left_out}


def plain(answer):
    """What a method answers as something that `np.testing` compares; an estimator by what it predicts."""
    if isinstance(answer, BaseEstimator):
        return answer.predict(X) if hasattr(answer, "predict") else None
    if isinstance(answer, pd.DataFrame):
        return answer.to_csv()
    if isinstance(answer, tuple):
        return [plain(part) for part in answer]
    if hasattr(answer, "toarray"):
        return answer.toarray()
    return answer if isinstance(answer, (np.ndarray, float, int, dict)) else str(answer)


def answers(name, change=lambda method, parameter, rows: rows):
    """What every method answers, with its rows changed."""
    model = ESTIMATORS[name][0]()
    out = {}
    for called in methods_with_tables(type(model)):
        method = getattr(model, called)
        given = arguments(name, method)
        out[called] = plain(method(**{p: change(called, p, rows) for p, rows in given.items()}))
    return out


def test_every_estimator_is_here():
    assert set(ESTIMATORS) == set(estimators_of_the_package())
    for kind in estimators_of_the_package().values():
        assert issubclass(kind, TakesTables)


@each_row("name", ESTIMATORS)
def test_polars_and_columns_of_costs_in_another_order_answer_the_same(name):
    polars = pytest.importorskip("polars")

    def changed(method, parameter, rows):
        if parameter in NAMED and rows.ndim == 2 and (method, parameter) != ("fit", "y"):
            rows = rows.iloc[:, np.roll(range(rows.shape[1]), 1)]
        return polars.from_pandas(rows)

    found, wanted = answers(name, changed), answers(name)
    for method, answer in wanted.items():
        np.testing.assert_equal(found[method], answer, err_msg=method)


@cache
def fitted(name):
    """A fitted estimator; a `fit` that is refused leaves it as it is."""
    model = ESTIMATORS[name][0]()
    return model.fit(**arguments(name, model.fit))


def refused(method, given):
    """The sentence with which a method refuses its arguments; empty if it takes them."""
    try:
        method(**given)
    except mt.DataError as error:
        return str(error)
    return ""


@each_row("name", ESTIMATORS)
def test_rows_in_another_order_are_refused(name):
    model = fitted(name)
    for called in methods_with_tables(type(model)):
        method = getattr(model, called)
        given = arguments(name, method)
        for parameter in set(given) - {"X", "X_val"}:
            message = refused(method, {**given, parameter: given[parameter].iloc[::-1]})
            assert "in another order" in message, (called, parameter)


def with_gap(rows):
    """Labels with one that is missing, in the forms in which numpy and pandas have it."""
    texts = np.asarray(rows).astype(str).astype(object)
    texts[(3, *[1] * (texts.ndim - 1))] = np.nan
    forms = [texts, texts.tolist(), texts.astype(str)]
    return forms if texts.ndim > 1 else [*forms, pd.Series(texts, dtype="string")]


@each_row("name", ESTIMATORS)
def test_a_missing_label_is_refused(name):
    model = fitted(name)
    targets = ("y", "y_val") if ESTIMATORS[name][1] is CLASSES else ()
    for called in methods_with_tables(type(model)):
        method = getattr(model, called)
        given = arguments(name, method)
        for parameter in set(given) & {*LABELS, *targets}:
            for labels in with_gap(given[parameter]):
                message = refused(method, {**given, parameter: labels})
                assert parameter in message, (called, parameter)
                assert "missing value" in message, (called, parameter)


@pytest.mark.parametrize("name", [n for n, (_, y) in ESTIMATORS.items() if y is VALUES])
def test_values_of_other_names_are_refused(name):
    model = fitted(name)
    for called in set(methods_with_tables(type(model))) - {"fit"}:
        given = arguments(name, getattr(model, called))
        if "y" in given:
            for wrong in (
                VALUES.rename(columns={"stay": "go"}),
                VALUES[["stay", "move", "move"]],
            ):
                assert refused(getattr(model, called), {**given, "y": wrong}), called


def test_the_rows_of_every_method_are_known():
    """An argument of a public method that states something of every row is one of `OF_ROWS`."""
    known = {*OF_ROWS, *(name for names in OF_ROWS.values() for name in names)}
    others = {
        "self",
        "against",
        "level",
        "pipeline",
        "return_array",
        "max_leaf_nodes",
        "unpruned",
        "given",
        "options",
    }
    for kind in estimators_of_the_package().values():
        for called in methods_with_tables(kind):
            names = set(inspect.signature(getattr(kind, called)).parameters)
            assert names <= known | others, (kind, called)


def test_a_frame_after_a_fit_on_an_array_with_text_is_taken_by_place():
    rows = np.array([["x", 1.0], ["y", 2.0], ["x", 3.0], ["y", 4.0]], dtype=object)
    model = mt.OptimalTreeClassifier(max_depth=1).fit(rows, [0, 1, 0, 1])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert model.predict(pd.DataFrame(rows, columns=["a", "n"])).tolist() == [0, 1, 0, 1]
