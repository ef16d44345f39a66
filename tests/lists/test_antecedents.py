"""Antecedents: what is mined equals the plain definition, and what is given stays as it is."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.data.antecedent import Antecedent, Literal
from milp_trees.lists import mining
from milp_trees.lists.antecedents import Antecedents


def mined_slowly(data, size, negations, least, most):
    """All sets of literals by definition: the first with its rows, shorter sets first."""
    literals = [
        Literal(t, v) for v in ((True, False) if negations else (True,)) for t in data.features
    ]
    held = [
        np.array([bool(row[data.index[x.feature]]) == x.value for row in data.X]) for x in literals
    ]
    found = {}
    for k in range(1, size + 1):
        for chosen in combinations(range(len(literals)), k):
            rows = tuple(all(held[j][i] for j in chosen) for i in range(data.n_rows))
            found.setdefault(rows, Antecedent(tuple(literals[j] for j in chosen)))
    return [
        (a, rows)
        for rows, a in found.items()
        if 0 < sum(rows) < data.n_rows and least <= Fraction(sum(rows), data.n_rows) <= most
    ]


def random_dataset(rng):
    n, F = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    X = rng.integers(0, 2, (n, F))
    if F > 2:
        X[:, 1] = X[:, 0] if rng.random() < 0.5 else 1 - X[:, 0]
    return mt.Dataset(X)


@each_row("seed", range(5))
def test_mining_equals_the_definition(seed):
    """Antecedents, their order and their rows, with supports that are hit exactly."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        data = random_dataset(rng)
        size, negations = int(rng.integers(1, 5)), bool(rng.integers(2))
        low, high = sorted(
            Fraction(int(k), data.n_rows) for k in rng.integers(0, data.n_rows + 1, 2)
        )
        expected = mined_slowly(data, size, negations, low, high)
        stated = Antecedents(size, negations, low, high)
        if not expected:
            with pytest.raises(DataError, match="No antecedent is left"):
                stated.of(data)
            continue
        table = stated.of(data)
        assert list(table.antecedents) == [a for a, _ in expected]
        assert [tuple(column) for column in table.X.T.astype(bool)] == [
            rows for _, rows in expected
        ]
        for a, column in zip(table.antecedents, table.X.T, strict=True):
            assert (a.evaluate(data) == column).all()


def test_rows_beyond_a_word_of_bits_are_counted():
    """130 rows take more than two words; their last rows count too."""
    data = mt.Dataset(np.random.default_rng(0).integers(0, 2, (130, 4)))
    expected = mined_slowly(data, 3, True, Fraction(1, 10), Fraction(4, 10))
    table = Antecedents(3, True, "1/10", "2/5").of(data)
    assert list(table.antecedents) == [a for a, _ in expected]


def gini(held, y):
    """Gini impurity of the rows on which an antecedent holds and of the others, by definition."""
    sides = [[k for k, h in zip(y, held, strict=True) if h == side] for side in (0, 1)]
    return sum(len(of) - Fraction(sum(of.count(k) ** 2 for k in set(of)), len(of)) for of in sides)


def test_most_keeps_those_that_tell_the_classes_apart_best():
    rng = np.random.default_rng(3)
    for _ in range(30):
        X = rng.integers(0, 2, (int(rng.integers(5, 80)), 6))
        data = mt.Dataset(X, y=rng.integers(0, 3, len(X)))
        every = Antecedents(2, True).of(data)
        ranked = sorted(
            range(len(every.antecedents)), key=lambda j: gini(every.X[:, j], data.y.tolist())
        )
        kept = Antecedents(2, True, most=7).of(data)
        assert kept.antecedents == tuple(every.antecedents[j] for j in sorted(ranked[:7]))


def test_most_needs_a_target():
    data = mt.Dataset(np.random.default_rng(0).integers(0, 2, (20, 5)))
    with pytest.raises(DataError, match="The limit most needs `y`"):
        Antecedents(2, most=3).of(data)


def test_a_threshold_and_its_opposite_read_as_numbers_do():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "f"]})
    data = mt.Binarizer(kind="midpoints").dataset(frame, [0, 1, 0, 1])
    names = {a.name for a in Antecedents(2, True).of(data).antecedents}
    assert {"age > 25", "age > 25 and age <= 45", "age <= 45 and sex != m"} <= names
    assert "age <= 25 and age <= 35" not in names


def test_columns_that_are_not_allowed_are_not_asked():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "m", "f"]})
    data = mt.Binarizer().dataset(frame, [0, 1, 0, 1])
    table = Antecedents(2, True).of(data, ("sex",))
    assert {c for a in table.antecedents for c in a.columns} == {"age"}


def test_literals_in_another_order_are_the_same_antecedent():
    a, b = (
        Literal(mt.BinaryFeature("x", "<=", 2.5), False),
        Literal(mt.BinaryFeature("c", "==", "r")),
    )
    one = Antecedent((a, b))
    assert one == Antecedent((b, a, b))
    assert hash(one) == hash(Antecedent((b, a)))
    assert one.name == "c == r and x > 2.5"
    assert one.columns == ("c", "x")
    assert one.negation == "not (c == r and x > 2.5)"
    assert Antecedent((a,)).negation == "x <= 2.5"
    assert Antecedent.from_json(one.to_json()) == one


def test_given_antecedents_stay_as_they_are():
    data = mt.Dataset([[0, 1], [1, 1]], [mt.BinaryFeature("a"), mt.BinaryFeature("b")], y=[0, 1])
    stated = Antecedents.given([data.features[1], Antecedent((Literal(data.features[0], False),))])
    table = stated.of(data)
    assert [a.name for a in table.antecedents] == ["b", "not a"]
    assert table.X.tolist() == [[1, 1], [1, 0]]
    assert Antecedents.from_spec(stated.spec()) == stated
    stated = Antecedents(3, True, "1/7", 0.9, 5)
    assert Antecedents.from_spec(stated.spec()) == stated


@each_row(
    ("given", "said"),
    [
        ({"max_literals": 0}, "max_literals must be a whole number"),
        ({"most": 0.5}, "most must be a whole number"),
        ({"min_support": 2}, "min_support must be a share"),
        ({"min_support": 0.5, "max_support": "1/3"}, "exchange them"),
        ({"negations": "yes"}, "negations must be True or False"),
    ],
)
def test_a_wrong_statement_is_refused(given, said):
    with pytest.raises(DataError, match=said):
        Antecedents(**given)


def test_an_antecedent_needs_a_literal():
    with pytest.raises(DataError, match="default rule"):
        Antecedent(())


def test_a_given_antecedent_on_an_unknown_feature_is_refused():
    data = mt.Dataset([[0], [1]])
    with pytest.raises(DataError, match="is no feature of the data"):
        Antecedents.given([mt.BinaryFeature("other")]).of(data)


def test_too_many_antecedents_are_refused(monkeypatch):
    rng = np.random.default_rng(1)
    data = mt.Dataset(rng.integers(0, 2, (64, 12)), y=rng.integers(0, 2, 64))
    monkeypatch.setattr("milp_trees.lists.antecedents.MOST_ENTRIES", 640)
    with pytest.raises(
        DataError, match=r"There are 78 antecedents on 64 rows, of which at most 10 are taken"
    ):
        Antecedents(2).of(data)
    assert len(Antecedents(2, most=10).of(data).antecedents) == 10
    monkeypatch.setattr(mining, "MOST_BYTES", 640)
    with pytest.raises(DataError, match="raise min_support or lower max_literals"):
        Antecedents(2).of(data)
