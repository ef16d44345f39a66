"""Tests keep the names, categories and thresholds of the columns they came from."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt

FRAME = pd.DataFrame(
    {
        "age": [20.0, 30, 30, 40],
        "smoker": ["no", "yes", "no", "no"],
        "town": ["a", "b", "c", "a"],
        "flag": [0, 1, 1, 0],
    }
)


def test_every_kind_of_column_gets_its_tests():
    binarizer = mt.Binarizer().fit(FRAME)
    assert [t.name for t in binarizer.features] == [
        "age <= 25",
        "age <= 35",
        "smoker == yes",
        "town == a",
        "town == b",
        "town == c",
        "flag",
    ]
    assert binarizer.transform(FRAME).tolist()[1] == [0, 1, 1, 0, 1, 0, 1]


def test_outcomes_equal_the_tests_evaluated_on_the_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "c": rng.choice(list("abc"), 50)})
    for kind in ("auto", "midpoints", "quantiles", "tree-guess"):
        binarizer = mt.Binarizer(kind=kind).fit(frame, frame["x"] > 0)
        X = binarizer.transform(frame)
        for j, test in enumerate(binarizer.features):
            assert (X[:, j] == test.evaluate(frame[test.column].to_numpy())).all(), (kind, test)


def test_midpoints_separate_every_two_distinct_values():
    values = np.array([1.0, np.nextafter(1.0, 2), 2.0, 2.0, 1e300])
    X = mt.Binarizer(kind="midpoints").fit_transform(pd.DataFrame({"x": values}))
    assert X.sum(axis=0).tolist() == [1, 2, 4]


#: Columns that doubles hold badly, or in another type than usual.
ODD = {
    "ids beyond 2^53": np.array([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 5], dtype=np.int64),
    "nanoseconds": 1_700_000_000_000_000_000 + np.array([0, 1, 300, 10**9]),
    "uint64": np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64),
    "integers of any size": np.array([0, 1, 2**70, 2**70 + 1], dtype=object),
    "decimals": pd.Series([__import__("decimal").Decimal(t) for t in ("0.1", "0.25", "3", "3")]),
    "float32": np.array([0.1, 0.2, 0.2, 7e-46], dtype=np.float32),
    "float16": np.array([0.1, 0.2, 65504, 0.2], dtype=np.float16),
    "int8": np.array([-128, 127, 0, 1], dtype=np.int8),
    "bool": np.array([True, False, True, True]),
    "bools as objects": pd.Series([True, False, True, True], dtype=object),
    "huge": np.array([-1.7e308, 1.7e308, 1.6e308, 0.0]),
    "subnormal": np.array([5e-324, 0.0, 1e-323, -5e-324]),
    "both zeros": np.array([-0.0, 0.0, -1.0, 1.0]),
    "neighbours": np.array([1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 1e300]),
    "nullable integers": pd.Series([1, 2, 2**53 + 1, 2**53], dtype="Int64"),
    "nullable bools": pd.Series([True, False, True, False], dtype="boolean"),
}


@each_row("kind", ["auto", "midpoints", "quantiles", "buckets", "tree-guess"])
@each_row("name", ODD)
def test_odd_columns_are_cut_between_all_values_that_doubles_tell_apart(name, kind):
    """No column of numbers is refused; midpoints separate what differs as doubles, and only what
    does not is said to be lost.
    """
    column = pd.Series(ODD[name])
    if kind == "tree-guess" and name in ("huge", "neighbours"):
        with pytest.raises(mt.DataError, match="beyond single precision"):
            mt.Binarizer(kind=kind).fit(pd.DataFrame({"x": column}), [0, 1, 1, 0])
        return
    with np.errstate(over="raise", invalid="raise"):
        binarizer = mt.Binarizer(kind=kind, n_estimators=5).fit(
            pd.DataFrame({"x": column}), [0, 1, 1, 0]
        )
        data = binarizer.dataset(pd.DataFrame({"x": column}), [0, 1, 1, 0])
    numbers = column.to_numpy(dtype=float)
    assert (binarizer.transform(pd.DataFrame({"x": column})) == data.X).all()
    if kind in ("auto", "midpoints"):
        assert len(np.unique(data.X, axis=0)) == len(np.unique(numbers))
        merged = len(set(column.tolist())) > len(np.unique(numbers))
        assert ("count as equal" in binarizer.threshold_note_) == merged
        assert "quantiles" not in binarizer.threshold_note_
    for test, outcome in zip(data.features, data.X.T, strict=True):
        assert (test.evaluate(column.to_numpy()) == outcome).all()


def test_whole_numbers_that_are_one_as_doubles_are_said_to_be_so_in_the_result():
    """The sentence travels with the data, and names what happened."""
    data = mt.Binarizer(kind="midpoints").dataset({"id": 2**53 + np.arange(4)}, [0, 1, 0, 1])
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(2)), "dp")
    assert "beyond 2^53 are compared as doubles" in result.threshold_note
    assert (
        "beyond 2^53"
        in mt.Binarizer(kind="quantiles", n_bins=2)
        .fit({"id": 2**53 + np.arange(9)})
        .threshold_note_
    )


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 2], dtype="timedelta64[s]"),
        [1j, 2 + 1j],
    ],
)
def test_what_is_no_number_and_no_category_is_refused(column):
    """A date as a category, or a complex number without its imaginary part, would be nonsense
    without a word.
    """
    frame = pd.DataFrame({"when": column})
    for use in (
        mt.Binarizer().fit,
        lambda f: mt.OptimalTreeClassifier().fit(f.assign(t="a"), [0, 1]),
        lambda f: mt.SPOTree().fit(f.assign(t="a"), [[0, 1], [1, 0]]),
    ):
        with pytest.raises(mt.DataError, match="turn them into numbers first"):
            use(frame)
    with pytest.raises(mt.DataError, match="turn them into numbers first"):
        mt.Binarizer().fit(frame.astype(object))


def test_new_rows_are_refused_where_a_test_cannot_be_answered():
    """A value 2 in a 0/1 column, and an infinite or missing number, in whatever asks the tests."""
    train = pd.DataFrame({"flag": [0, 1, 1, 0], "x": [1.0, 2, 3, 4]})
    binarizer = mt.Binarizer().fit(train)
    tree = mt.Tree(
        mt.plugins.Branch(
            binarizer.features[0],
            mt.plugins.Leaf(0),
            mt.plugins.Branch(binarizer.features[1], mt.plugins.Leaf(0), mt.plugins.Leaf(1)),
        ),
        ("a", "b"),
    )
    for wrong, sentence in (
        ({"flag": [0, 2, 1, 0]}, "'flag' holds 2 in row 1"),
        ({"x": [1, 2, 3, np.inf]}, "'x' is infinite in row 3"),
    ):
        for ask in (binarizer.transform, binarizer.dataset, tree.predict):
            with pytest.raises(mt.DataError, match=sentence):
                ask(train.assign(**wrong))


def test_quantiles_are_few():
    frame = pd.DataFrame({"x": np.arange(1000.0)})
    assert [t.value for t in mt.Binarizer(kind="quantiles", n_bins=4).fit(frame).features] == [
        249.5,
        499.5,
        749.5,
    ]


def test_guessed_thresholds_find_the_one_that_matters():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(size=200), "noise": rng.uniform(size=200)})
    binarizer = mt.Binarizer(kind="tree-guess").fit(frame, frame["x"] <= 0.4)
    assert len(binarizer.features) == 1
    assert binarizer.features[0].column == "x"
    assert abs(binarizer.features[0].value - 0.4) < 0.02


def test_a_binarizer_survives_json():
    import json

    binarizer = mt.Binarizer(kind="quantiles", n_bins=3).fit(FRAME)
    again = mt.Binarizer.from_json(json.loads(json.dumps(binarizer.to_json())))
    assert again.features == binarizer.features
    assert (again.transform(FRAME) == binarizer.transform(FRAME)).all()


def test_a_binarizer_is_a_scikit_learn_transformer():
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    binarizer = clone(mt.Binarizer(kind="quantiles", n_bins=3))
    assert make_pipeline(binarizer).fit(FRAME).transform(FRAME).shape == (4, 6)
    binarizer.fit(FRAME)
    assert binarizer.get_feature_names_out().tolist()[:2] == ["age <= 35", "smoker == yes"]


def test_arrays_get_columns_named_by_position():
    data = mt.Binarizer().dataset(np.array([[0.5, 1], [1.5, 0]]), y=["u", "v"])
    assert [t.name for t in data.features] == ["0 <= 1", "1"]
    assert data.classes == ("u", "v")


@each_row(
    ("make", "sentence"),
    [
        (
            lambda: mt.Binarizer(kind="tree-guess").fit(pd.DataFrame({"a": [1, None]}), [0, 1]),
            "'a' has a missing value in row 1",
        ),
        (lambda: mt.Binarizer().fit(pd.DataFrame({"a": [1, np.inf, 2]})), "infinite"),
        (lambda: mt.Binarizer(max_categories=2).fit(FRAME), "'town' holds 3 different texts"),
        (lambda: mt.Binarizer(kind="tree-guess").fit(FRAME), "give y"),
        (lambda: mt.Binarizer(kind="medians").fit(FRAME), "no binarizer 'medians'"),
        (lambda: mt.Binarizer().fit(FRAME).transform(FRAME.drop(columns="age")), "no column 'age'"),
        (lambda: mt.Binarizer().fit(FRAME).transform(FRAME.assign(age="old")), "must hold numbers"),
        (lambda: mt.Binarizer().features, "not fitted"),
        (lambda: mt.Binarizer.from_name("quantiles:x"), "no binarizer 'quantiles:x'"),
    ],
)
def test_what_cannot_be_binarized_gets_a_sentence(make, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        make()
