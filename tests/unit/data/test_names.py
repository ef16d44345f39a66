"""What has names is laid over an order by them, wherever a table meets features, actions, costs or classes."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.action_columns import actions_of
from milp_trees.data.checks import checked_labels
from milp_trees.data.load import load_split
from milp_trees.data.names import as_pandas, check_same_rows, columns_over, entries_over
from milp_trees.models.nodes import Branch, Leaf

FRAME = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["b", "a", "c"])


def test_columns_are_matched_by_name():
    assert columns_over(FRAME, ["a", "b", "c"], "y", "actions").columns.tolist() == ["a", "b", "c"]
    plain = FRAME.to_numpy()
    assert columns_over(plain, ["a", "b", "c"], "y", "actions") is plain
    counted = pd.DataFrame(plain)
    assert columns_over(counted, ["a", "b", "c"], "y", "actions") is counted
    assert columns_over(counted, [2, 0, 1], "y", "actions").columns.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "b", "z"], "it lacks 'c' and it has 'z'"),
        (["a", "b", "b"], "has the name 'b' twice"),
        (["0", "1", "2"], "it lacks"),
    ],
)
def test_columns_whose_names_do_not_fit_are_refused(names, words):
    given = FRAME.set_axis(names, axis=1)
    with pytest.raises(mt.DataError, match=words):
        columns_over(given, ["a", "b", "c"], "y", "actions")


def test_entries_are_matched_by_name():
    order = ["a", "b"]
    for given in ({"b": 2, "a": 1}, pd.Series({"b": 2, "a": 1}), [1, 2], np.array([1, 2])):
        assert list(entries_over(given, order, "prices", "features")) == [1, 2]
    assert entries_over({"b": 2}, order, "prices", "features", 0) == [0, 2]
    assert entries_over(pd.Series([5, 6], index=[1, 0]), [0, 1], "prices", "features") == [6, 5]
    for given, words in (
        ({"b": 2}, "it lacks 'a'"),
        ({"a": 1, "b": 2, "z": 3}, "it has 'z'"),
        ({1: 1, "1": 2}, "has the name '1' twice"),
        (pd.Series([1, 2], index=["a", "a"]), "has the name 'a' twice"),
        (pd.Series([1, 2]), "it lacks 'a', 'b' and it has '0', '1'"),
        ([1], "1 entries for 2 features"),
    ):
        with pytest.raises(mt.DataError, match=words):
            entries_over(given, order, "prices", "features")


def test_rows_of_the_same_labels_in_another_order_are_refused():
    y = pd.Series([0, 1], index=[1, 0])
    with pytest.raises(mt.DataError, match=r"give y.loc\[X.index\]"):
        check_same_rows({"X": FRAME, "y": y})
    with pytest.raises(mt.DataError, match="in another order"):
        mt.Binarizer().dataset(FRAME, y)
    check_same_rows({"X": FRAME, "y": y.to_numpy()})
    check_same_rows({"X": FRAME, "y": y.set_axis([7, 3])})  # other labels: rows by their places


def test_frames_of_other_libraries_become_those_of_pandas():
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame({"n": [1, 2], "t": ["x", None], "f": [0.5, None]})
    for given in (polars.from_pandas(frame), polars.from_pandas(frame).lazy()):
        found = as_pandas(given)
        assert found.columns.tolist() == ["n", "t", "f"]
        assert found.isna().to_numpy().sum() == 2
    assert as_pandas(polars.Series(["a", None])).isna().tolist() == [False, True]
    data = mt.Dataset(polars.DataFrame({"u": [0, 1]}), y=polars.Series(["a", "b"]))
    assert data.features[0].name == "u"
    assert data.classes == ("a", "b")
    rows = mt.Binarizer().fit(polars.from_pandas(frame[["n"]]))
    assert rows.transform(polars.from_pandas(frame[["n"]])).tolist() == [[1], [0]]
    assert mt.look(polars.from_pandas(frame)).rows == 2


# -- labels ----------------------------------------------------------------------------------------


@each_row(
    "labels",
    [
        ["a", np.nan],
        ["a", None],
        ["a", pd.NA],
        np.array(["a", np.nan]),
        np.ma.array(["a", "b"], mask=[False, True]),
        np.ma.array([1, 2], mask=[False, True]),
        pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1, None], dtype="Int64"),
        [True, None],
        [pd.Timestamp("2020-01-01"), pd.NaT],
    ],
)
def test_a_missing_label_is_refused_in_every_form(labels):
    with pytest.raises(mt.DataError, match=r"y has .*row 1"):
        checked_labels(labels, "y", 2)
    for role in ("y", "groups", "factor", "treatments"):
        with pytest.raises(mt.DataError, match=f"{role} has .*row 1"):
            mt.Dataset([[0], [1]], **{role: labels})


def test_labels_that_would_become_one_are_refused():
    with pytest.raises(mt.DataError, match="'1' both as text and as another type"):
        checked_labels([1, "1"], "groups", 2)
    assert checked_labels([1, "a"], "groups", 2).tolist() == ["1", "a"]
    with pytest.raises(mt.DataError, match="holds lists in single rows"):
        checked_labels(pd.Series([[1], [2]]), "groups", 2)


@each_row("codes", [[0, np.nan], [0, 0.5], [0, 2], [0, -1]])
def test_codes_of_classes_are_whole_numbers(codes):
    with pytest.raises(mt.DataError, match=r"one code 0\.\.K-1 per row"):
        mt.Dataset([[0], [1]], y=codes, classes=["a", "b"])


# -- datasets ----------------------------------------------------------------------------------------


def test_frames_of_a_dataset_keep_their_names():
    X = pd.DataFrame([[0, 1], [1, 0]], columns=["u", "v"])
    values = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["q", "p"])
    data = mt.Dataset(X, values=values, numeric=FRAME)
    assert [t.name for t in data.features] == ["u", "v"]
    assert data.actions == ("q", "p")
    assert data.columns == ("b", "a", "c")
    given = mt.Dataset(X, data.features[::-1], values=values, actions=("p", "q"))
    assert given.X.tolist() == [[1, 0], [0, 1]]
    assert given.values.tolist() == [[2, 1], [4, 3]]
    turned = mt.Dataset(X, numeric=FRAME, columns=["a", "b", "c"])
    assert turned.numeric[0].tolist() == [2, 1, 3]
    with pytest.raises(mt.DataError, match="do not fit the actions"):
        mt.Dataset(X, values=values, actions=("p", "z"))
    with pytest.raises(mt.DataError, match="in another order"):
        mt.Dataset(X, y=pd.Series([0, 1], index=[1, 0]))


def test_splits_use_no_column_that_makes_the_group():
    X = pd.DataFrame([[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]], columns=["s", "r", "a"])
    data = mt.Dataset(X, y=[0, 1, 1, 0], groups=list("abcd"), group_column=["s", "r"])
    assert mt.Trees(2).candidates(data).tolist() == [2]
    assert mt.Trees(2, split_on_group=True).candidates(data).tolist() == [0, 1, 2]
    assert mt.RuleLists(max_length=1).candidates(data).tolist() == [2]
    splits = mt.Tree(Branch(data.features[0], Leaf(0), Leaf(1)), (0, 1))
    assert mt.Trees(2).violations(splits, data)[0].startswith("The tree splits on the group column")


# -- tables ----------------------------------------------------------------------------------------


@each_row(
    ("columns", "treatments", "actions"),
    [
        (["b", "a"], ["a", "b"], ("b", "a")),
        (["cost_b", "cost_a"], ["a", "b"], ("b", "a")),
        (["y1", "y0"], [0, 1], (1, 0)),
        (["y11", "y10"], [10, 11], (11, 10)),
        (["p", "q"], ["a", "b"], ("a", "b")),
    ],
)
def test_columns_of_values_belong_to_the_treatments_in_their_names(columns, treatments, actions):
    assert actions_of(columns, treatments, True) == actions


def test_columns_of_values_that_half_fit_the_treatments_are_refused():
    with pytest.raises(mt.DataError, match="'a', which is a treatment, beside columns"):
        actions_of(["a", "q"], ["a", "b"], True)
    assert actions_of(["1", "2"], [0, 1], False) == (0, 1)  # without a header they are positions


def test_positions_in_a_cost_file_count_the_columns_that_are_left_out(tmp_path):
    table, costs = tmp_path / "t.csv", tmp_path / "costs.txt"
    table.write_text("a,b,c,y\n0,0,1,n\n0,1,0,n\n1,0,1,p\n1,1,0,p\n")
    costs.write_text("0 5\n5 0\nNAME PRICE DISCOUNTED GROUP FIRST LAST\nb 2 2 x 1 1\nc 3 3 x 2 2\n")
    task = mt.tasks.CostSensitive(file=costs)
    for options in ({}, {"drop": ["a"]}, {"features": ["c", "b"]}):
        assert task.owners(mt.load(table, **options)) == {"b": 0, "c": 1}


def test_rows_left_out_may_have_gaps_and_numbers_that_training_rows_lack(tmp_path):
    table = pd.DataFrame({"a": range(20), "b": [0, 1] * 10, "y": [0, 0, 1, 1] * 5}, dtype=object)
    table.loc[3, "a"], table.loc[4, "b"] = None, 2
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    for seed in range(4):
        train, test = load_split(path, test_size=0.5, seed=seed)
        assert train.features == test.features


def test_a_column_of_lists_is_a_problem_with_a_remedy(tmp_path):
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"a": range(9), "tags": [[1, 2]] * 9, "y": [0, 1, 1] * 3})
    path = tmp_path / "t.parquet"
    table.to_parquet(path)
    assert "holds lists in single rows" in str(mt.look(path).problems[0])
    with pytest.raises(mt.DataError, match="'tags' holds lists in single rows; turn"):
        mt.load(path)
    assert mt.load(path, drop=["tags"]).n_rows == 9
    with pytest.raises(mt.DataError, match="'tags' holds lists in single rows; turn"):
        mt.OptimalTreeClassifier().fit(table[["a", "tags"]], table["y"])


def test_test_data_with_classes_in_another_order_are_scored_by_name():
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    data = mt.Dataset(rows, y=["a", "b", "c", "c"])
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    fewer = mt.Dataset(rows[1:], y=["b", "c", "c"])
    turned = mt.Dataset(rows, y=[2, 1, 0, 0], classes=["c", "b", "a"])
    for test in (fewer, turned):
        assert mt.solve(problem, test_data=test).scores["test_accuracy"] == 1
    tree = mt.solve(problem).tree
    with pytest.raises(mt.DataError, match="does not fit the data"):
        mt.Accuracy().value(tree.routes(turned), turned)
    with pytest.raises(mt.DataError, match="The test data has the class 'z'"):
        mt.solve(problem, test_data=mt.Dataset(rows, y=["a", "b", "c", "z"]))
