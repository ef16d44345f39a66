"""Datasets: what is refused and with which remedy, and that names and labels of any type survive."""

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError

X = [[0, 1], [1, 1], [1, 0]]


@each_row(
    "arguments, words",
    [
        ({"X": [[0, 1], [float("nan"), 1]]}, "missing value at row 1, column 0; impute"),
        ({"X": [[0, 2]]}, "row 0, column 1 is 2.*Binarizer"),
        ({"X": [["a", "b"]]}, "holds text.*Binarizer"),
        ({"X": [0, 1]}, "two dimensions.*reshape"),
        ({"X": np.zeros((0, 2))}, "no rows"),
        ({"X": X, "features": [mt.BinaryFeature("a")]}, "1 features are named but X has 2 columns"),
        (
            {"X": X, "features": [mt.BinaryFeature("a"), mt.BinaryFeature("a")]},
            "Two features are called 'a'",
        ),
        ({"X": X, "y": [0, 1]}, r"one entry per row, shape \(3,\); it has shape \(2,\)"),
        ({"X": X, "y": [0, None, 1]}, "y has a missing value at row 1"),
        ({"X": X, "y": [0.0, float("nan"), 1.0]}, "y has a missing value at row 1"),
        ({"X": X, "y": [0, 5, 1], "classes": ("a", "b")}, "one code 0..K-1 per row"),
        ({"X": X, "weights": [1, -2, 1]}, "not be negative; row 1 has -2"),
        ({"X": X, "weights": [1, float("inf"), 1]}, "missing or infinite entry at"),
        ({"X": X, "weights": ["a", "b", "c"]}, "weights must be numbers"),
        ({"X": X, "weights": [1, 1]}, r"shape \(3,\); it has \(2,\)"),
        ({"X": X, "groups": ["a", "b"]}, "groups must have one entry per row"),
        ({"X": X, "propensities": [0.5, 0.0, 1.0]}, r"in \(0, 1\]"),
        ({"X": X, "propensities": [0.5, 4.0, 1.0]}, "not their inverses"),
        ({"X": X, "values": [1, 2, 3]}, r"must have shape \(3, 1\)"),
        ({"X": X, "values": [[1, 2], [3, float("nan")], [5, 6]]}, "missing or infinite entry at"),
    ],
)
def test_unusable_data_are_refused_with_the_remedy(arguments, words):
    """One sentence that says what was given and what to do."""
    with pytest.raises(DataError, match=words):
        mt.Dataset(**arguments)


@each_row(
    "labels",
    [
        ["no", "yes", "no"],
        [3, -1, 3],
        [0.5, 2.0, 0.5],
        [True, False, True],
        np.array(["b", "a", "b"], dtype=object),
        np.array([2, 1, 2], dtype=np.int8),
    ],
)
def test_labels_of_any_type_survive_to_the_prediction(labels):
    """A tree predicts the labels that were given, not their codes."""
    data = mt.Dataset(X, y=labels)
    first, second = data.classes
    tree = mt.Tree(
        mt.plugins.Branch(mt.BinaryFeature("0"), mt.plugins.Leaf(0), mt.plugins.Leaf(1)),
        data.classes,
    )
    assert first < second
    assert tree.predict(data).tolist() == [first, second, second]
    assert [data.classes[c] for c in data.y] == list(labels)


def test_labels_of_mixed_type_are_compared_as_text():
    """Nothing is lost, and the order does not depend on the rows."""
    assert mt.Dataset(X, y=[1, "a", 1]).classes == ("1", "a")


def test_the_arrays_are_copies_that_cannot_be_written():
    """Neither the caller's array nor the dataset's changes behind anybody's back."""
    mine = np.array(X)
    data = mt.Dataset(mine, y=[0, 1, 1])
    mine[0, 0] = 1
    assert data.X[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1


def test_tests_know_their_names_and_their_opposites():
    """Threshold, category, bare 0/1 column."""
    age, colour, smoker = (
        mt.BinaryFeature("age", "<=", 37.5),
        mt.BinaryFeature("colour", "==", "red"),
        mt.BinaryFeature("smoker"),
    )
    assert [t.name for t in (age, colour, smoker)] == ["age <= 37.5", "colour == red", "smoker"]
    assert [t.negation for t in (age, colour, smoker)] == [
        "age > 37.5",
        "colour != red",
        "not smoker",
    ]
    assert age.evaluate([37.5, 38]).tolist() == [True, False]
    assert colour.evaluate(["red", "blue"]).tolist() == [True, False]
    assert mt.BinaryFeature("x", "<=", 0.1 + 0.2).name == "x <= 0.30000000000000004"


def test_a_subset_keeps_everything_per_row():
    """Rows by index or mask; classes and tests are kept even if a class loses all rows."""
    data = mt.Dataset(
        X,
        y=["a", "b", "a"],
        weights=[1, 2, 3],
        groups=["u", "v", "w"],
        values=[[1, 2], [3, 4], [5, 6]],
    )
    part = data.subset([2, 0])
    assert part.classes == ("a", "b")
    assert part.y.tolist() == [0, 0]
    assert part.weights.tolist() == [3, 1]
    assert part.values.tolist() == [[5, 6], [1, 2]]
    assert data.subset(np.array([True, False, False])).groups.tolist() == ["u"]


def test_the_fingerprint_depends_on_contents_only():
    """Equal contents, equal fingerprint; a changed entry, name or label changes it."""
    base = mt.Dataset(X, y=["a", "b", "a"])
    assert base.sha256 == mt.Dataset(np.array(X, dtype=bool), y=np.array(["a", "b", "a"])).sha256
    others = [
        mt.Dataset(X, y=["a", "b", "b"]),
        mt.Dataset(X, y=["a", "c", "a"]),
        mt.Dataset(X, [mt.BinaryFeature("p"), mt.BinaryFeature("q")], y=["a", "b", "a"]),
    ]
    assert len({base.sha256, *(d.sha256 for d in others)}) == 4


def test_what_is_missing_is_asked_for_by_name():
    """`require` says who needs what."""
    with pytest.raises(DataError, match=r"policy needs `outcomes`.*Dataset\(…, outcomes=…\)"):
        mt.Dataset(X).require("outcomes", "The policy")
