"""Missing values: optimal trees agree with an enumeration that knows nothing of our columns."""

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf


def table(seed):
    """A random tiny table with missing cells, as lists of values in which None is missing."""
    r = np.random.default_rng(seed)
    n = int(r.integers(2, 9))
    kinds = {
        "age": [20.0, 30.0, 45.5],
        "colour": ["blue", "green", "red"],
        "ill": [0, 1],
        "same": [7.0],
    }
    share = r.choice([0.0, 0.3, 0.6, 1.0], size=len(kinds), p=[0.2, 0.4, 0.3, 0.1])
    rows = {
        name: [None if r.random() < s else values[r.integers(len(values))] for _ in range(n)]
        for (name, values), s in zip(kinds.items(), share, strict=True)
    }
    return rows, [0, 1, *r.integers(0, 2, n - 2).tolist()]


def divisions(rows):
    """All sets of rows that one question about one column can separate."""
    n = len(next(iter(rows.values())))
    out = set()
    for values in rows.values():
        known = sorted({v for v in values if v is not None})
        if isinstance(known[0] if known else 0, str):
            yes = [{i for i in range(n) if values[i] == v} for v in known]
        else:
            yes = [{i for i in range(n) if values[i] is not None and values[i] <= v} for v in known]
        gone = {i for i in range(n) if values[i] is None}
        for side in [*yes, set()]:
            out |= {frozenset(side), frozenset(side | gone)}
    return out


def fewest_errors(rows, labels, depth):
    """Fewest errors of all trees of a depth, by enumeration."""
    sides = divisions(rows)

    def best(here, depth):
        ones = sum(labels[i] for i in here)
        found = min(ones, len(here) - ones)
        if depth and found:
            for side in sides:
                found = min(found, best(here & side, depth - 1) + best(here - side, depth - 1))
        return found

    return best(frozenset(range(len(labels))), depth)


def binarized(rows, labels):
    return mt.Binarizer(kind="midpoints").dataset(pd.DataFrame(rows), labels)


@pytest.mark.parametrize("method", ["dp", "dp-sorted"])
def test_engines_agree_with_all_trees(method):
    """Depths 1 and 2, and the stored tree predicts the table itself with that many errors."""
    for seed in range(60):
        rows, labels = table(seed)
        depth = 1 + seed % 2
        problem = mt.Problem(binarized(rows, labels), mt.Accuracy(), mt.Trees(depth))
        found = mt.solve(problem, method)
        wrong = fewest_errors(rows, labels, depth)
        assert round(found.objective) == wrong, (seed, found.predictor)
        stored = json.loads(json.dumps(found.predictor.to_json()))
        answers = mt.Tree.from_json(stored).predict(pd.DataFrame(rows))
        assert (np.asarray(answers) != labels).sum() == wrong, (seed, found.predictor)


def test_no_two_features_of_a_column_divide_the_rows_alike():
    """Neither equal nor complementary, except in columns of three categories or of one value."""
    for seed in range(100):
        rows, labels = table(seed)
        data = binarized(rows, labels)
        for a, b in combinations(range(data.n_features), 2):
            x, y = data.features[a], data.features[b]
            if x.column == y.column != "colour":
                assert 0 < (data.outcome(a) ^ data.outcome(b)).sum() < data.n_rows, (seed, x, y)


def test_a_fitted_binarizer_keeps_its_answers():
    """JSON gives the same features; a column that was complete must stay complete."""
    rows = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]})
    fitted = mt.Binarizer().fit(rows)
    again = mt.Binarizer.from_json(json.loads(json.dumps(fitted.to_json())))
    assert again.features == fitted.features
    assert (again.transform(rows) == fitted.dataset(rows).X).all()
    with pytest.raises(mt.DataError, match="'b' has a missing value in row 1, and it had none"):
        again.transform(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}))


def fewest(rows, labels, weights, depth, least, penalty, asked):
    """Least share of wrong weight plus penalty per leaf; leaves hold at least `least` rows."""
    whole = sum(weights)

    def best(here, depth):
        found = None
        if len(here) >= least:
            of = [sum(weights[i] for i in here if labels[i] == k) for k in set(labels)]
            found = Fraction(sum(of) - max(of), whole) + penalty
        for side in asked if depth else ():
            if 0 < len(here & side) < len(here):
                parts = best(here & side, depth - 1), best(here - side, depth - 1)
                if None not in parts and (found is None or sum(parts) < found):
                    found = sum(parts)
        return found

    return best(frozenset(range(len(labels))), depth)


@pytest.mark.parametrize("method", ["dp", "dp-sorted"])
def test_weights_limits_and_three_classes(method):
    """With a penalty per leaf, and smallest leaves that no tree may have."""
    for seed in range(100, 140):
        rows, labels = table(seed)
        r = np.random.default_rng(seed)
        n, least, depth = len(labels), int(r.integers(1, 4)), 1 + seed % 2
        labels = [2 if r.random() < 0.2 and i > 1 else k for i, k in enumerate(labels)]
        weights = [1, *r.integers(0, 5, n - 1).tolist()]
        data = mt.Binarizer(kind="midpoints").dataset(pd.DataFrame(rows), labels, weights=weights)
        task = mt.tasks.WeightedError(leaf_penalty="1/20")
        problem = mt.Problem(data, task, mt.Trees(depth, min_samples_leaf=least))
        found = mt.solve(problem, method)
        want = fewest(rows, labels, weights, depth, least, Fraction(1, 20), divisions(rows))
        assert (found.predictor is None) == (want is None), seed
        if want is not None:
            assert found.objective == pytest.approx(float(want), abs=1e-9), (seed, found.predictor)


@each_row("gone", [[None], [pd.NaT], [np.nan], pd.Series([None]), pd.Series([pd.NaT]), [pd.NA]])
def test_a_row_whose_date_is_missing_has_an_answer(gone):
    days = pd.DataFrame({"day": pd.to_datetime(["2021-01-01", None, "2021-03-01", "2021-04-01"])})
    data = mt.Binarizer().dataset(days, [0, 1, 0, 1])
    for feature in data.features:
        tree = mt.Tree(Branch(feature, Leaf(0), Leaf(1)), ("n", "y"))
        expected = ["y" if feature.missing == "yes" or feature.kind == "missing" else "n"]
        assert tree.predict({"day": gone}).tolist() == expected
        assert tree.predict(days.iloc[[1]]).tolist() == expected


def test_texts_in_a_list_stay_beside_missing_values():
    """NumPy would make the text nan of a missing value."""
    missing = mt.BinaryFeature("t", "missing")
    assert missing.evaluate(["a", np.nan, None]).tolist() == [False, True, True]
    requested = mt.BinaryFeature("t", "==", "a", "yes")
    assert requested.evaluate(["a", np.nan, "nan"]).tolist() == [True, True, False]
