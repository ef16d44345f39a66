"""Tables with numeric columns kept: what becomes a column, what belongs to one feature, and what is
refused.
"""

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.numeric import load_numeric_split

TABLE = """age,color,smoker,weight,illness
20,red,true,1,ill
35.5,blue,false,2,well
50,red,true,1,ill
65,green,false,3,well
"""


@pytest.fixture
def table(tmp_path):
    """A function that writes a table and gives its path."""

    def write(text=TABLE):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return path

    return write


def test_numbers_stay_and_text_becomes_a_column_per_value(table):
    data = mt.load_numeric(table(), weights="weight")
    assert data.columns == ("age", "color == blue", "color == green", "color == red", "smoker")
    assert data.numeric[1].tolist() == [35.5, 1, 0, 0, 0]
    assert data.source["feature_of"] == {f"color == {c}": "color" for c in ("blue", "green", "red")}
    assert data.weights.tolist() == [1, 2, 1, 3]
    assert data.classes == ("ill", "well")
    assert data.n_features == 0


def test_built_in_data_and_column_options():
    data = mt.load_numeric("breast-cancer", features=["mean *"], drop=["mean area"])
    assert data.numeric.shape == (569, 9)
    assert "mean area" not in data.columns


def test_a_split_keeps_columns_classes_and_rows_apart(table):
    train, test = load_numeric_split(table(), test_size=0.5, seed=1)
    assert train.columns == test.columns
    assert train.classes == test.classes == ("ill", "well")
    assert sorted([*train.numeric[:, 0], *test.numeric[:, 0]]) == [20, 35.5, 50, 65]
    assert (train.source["split"]["part"], test.source["split"]["part"]) == ("train", "test")


def test_regression_takes_any_number_as_target(table):
    rows = "\n".join(f"{i * i},{i / 7:.9f}" for i in range(80))
    data = mt.load_numeric(table(f"x,y\n{rows}\n"), regression=True)
    assert len(data.classes) == 80


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("x,y\n1,a\n,b\n", {}, "'x' has a missing value in row 1"),
        ("x,y\n1,a\ninf,b\n", {}, "'x' is infinite in row 1"),
        ("x,y\nred,a\n,b\n", {}, "'x' has a missing value in row 1"),
        (
            "x,y\n" + "\n".join(f"name {i % 120},{i % 2}" for i in range(130)) + "\n",
            {},
            "120 different texts",
        ),
        ("x,y\n" + "\n".join(f"1,{i / 7}" for i in range(80)) + "\n", {}, "a class is expected"),
        ("x,y\n1,a\n2,b\n", {"regression": True}, "holds text; a number is expected"),
        ("x,y\n1,a\n2,b\n", {"drop": ["x"]}, "No column is left"),
        ("x,y\n1,a\n2,b\n", {"test_size": 1.5}, "between 0 and 1"),
        ("x,y\n1,a\n2,b\n", {"target": "z"}, "which the data do not have"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table, text, options, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        mt.load_numeric(table(text), **options)


# -- the fields of a Dataset --------------------------------------------------------------------------------------


def test_numeric_columns_follow_subsets_and_count_in_the_fingerprint():
    X = np.arange(6.0).reshape(3, 2)
    data = mt.Dataset(np.zeros((3, 0)), numeric=X, columns=["a", "b"], y=[0, 1, 0])
    assert data.subset([2, 0]).numeric.tolist() == [[4, 5], [0, 1]]
    assert data.subset([2, 0]).columns == ("a", "b")
    assert "2 numeric columns" in repr(data)
    assert mt.Dataset(np.zeros((3, 0)), numeric=X).columns == ("0", "1")
    others = [
        data.with_(numeric=X + 1),
        data.with_(columns=["a", "c"]),
        data.with_(numeric=None, columns=None),
    ]
    assert len({d.sha256 for d in (data, *others)}) == 4
    with pytest.raises(ValueError, match="read-only"):
        data.numeric[0, 0] = 7


@each_row(
    ("numeric", "columns", "sentence"),
    [
        ([[1.0], [np.nan]], None, "missing or infinite entry at"),
        ([[1.0], [np.inf]], None, "missing or infinite entry at"),
        ([["a"], ["b"]], None, "must be numbers"),
        ([[1.0]], None, "must have shape"),
        ([1.0, 2.0], None, "must have shape"),
        ([[1.0, 2.0]] * 2, ["a"], "1 columns are named but numeric has 2"),
        ([[1.0, 2.0]] * 2, ["a", "a"], "Two columns are called 'a'"),
        (None, ["a"], "which is not given"),
    ],
)
def test_numeric_columns_that_do_not_fit_are_refused(numeric, columns, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        mt.Dataset(np.zeros((2, 0)), numeric=numeric, columns=columns)
