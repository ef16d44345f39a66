"""One rule reads every table, and what it cannot read gets one sentence."""

import gzip
import hashlib
import os

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.load import load_split
from milp_trees.data.read import read_table
from milp_trees.results.reload import reload


def write(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_all_numbers_in_the_first_line_mean_no_header_and_target_first(tmp_path):
    table = read_table(write(tmp_path, "1 0 1\n0 1 1\n", "t.csv"))
    assert (table.target, table.features, table.header) == ("target", ["0", "1"], False)
    assert table.frame["target"].tolist() == [1, 0]


def test_a_word_in_the_first_line_means_header_and_target_last(tmp_path):
    table = read_table(
        write(tmp_path, '\ufeff"age","income, yearly","bought"\n30,1.5,yes\n40,2,no\n')
    )
    assert (table.target, table.features, table.header) == (
        "bought",
        ["age", "income, yearly"],
        True,
    )


def test_quoted_numbers_are_numbers(tmp_path):
    assert not read_table(write(tmp_path, '"1","0"\n"0","1"\n')).header


def test_commas_without_header_keep_the_target_first(tmp_path):
    assert read_table(write(tmp_path, "-1,0.5\n1,0.25\n")).frame["target"].tolist() == [-1, 1]


def test_a_gzipped_file_is_found_under_its_plain_name(tmp_path):
    raw = gzip.compress(b"1 0\n0 1\n")
    write(tmp_path, raw, "t.txt.gz")
    table = read_table(tmp_path / "t.txt")
    assert table.frame.shape == (2, 2)
    assert table.source == {
        "path": str(tmp_path / "t.txt"),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }


def test_parquet_is_read_with_target_last(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1, 0], "y": ["u", "v"]}).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").target == "y"


@each_row(
    ("text", "sentence"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no data rows"),
        (b"a\n1\n", "one column only"),
        (b"0,0,yes\n1,2,3\n", "twice"),
        (b"1 0 1\n1 0 1 1\n", "not a table"),
        (b"a,b\n1,2,3\n", "not a table"),
        (b"a,b\n1,2,3\n1,2,4\n", "not a table"),
        (b"\xff\xfe\x00a,b\n", "not UTF-16 text; name its encoding"),
        ("имя,возраст,да\n".encode("cp1251"), "not UTF-8 text; name its encoding"),
        (b"\x1f\x8bnonsense", "damaged gzip"),
        (gzip.compress(b"a,b\n1,2\n" * 50, mtime=0)[:12] + b"\xff" * 30, "damaged gzip"),
        (b"a,b,y\n1,2,no\n\n1,2\n", "line 4 is short, it has 2 fields and the first line 3"),
        (b"a,b,y\n1,2\n1,2,no\n", "line 2 is short"),
        (b"a b y\n1 2 no\n1 2\n", "line 3 is short"),
        (b"a,b,y\r1,2,no\r1,2,no,3\r", "line 3 is long, it has 4 fields"),
        (b'"a,b,y\n1,2,no\n1,2,yes\n', "a quote in its first line is never closed"),
        (b'a,b,y\n1,"2,no\n1,2,yes\n', "not a table"),
        (b"a,b\n1,2\0\n", "zero bytes"),
    ],
)
def test_what_is_not_a_table_gets_a_sentence(tmp_path, text, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        read_table(write(tmp_path, text))


@each_row(
    ("name", "sentence"),
    [
        (".", "is a folder"),
        ("..", "is a folder"),
        ("/", "is a folder"),
        ("", "is a folder"),
        ("./", "is a folder"),
        ("a" * 5000 + ".csv", "too long"),
        ("a\0b.csv", "no file|null"),
        ("nowhere/people.csv", "There is no file"),
    ],
)
def test_what_is_no_file_gets_a_sentence(name, sentence):
    """By every reader, whatever the name."""
    for read in (read_table, mt.load, mt.load_numeric):
        with pytest.raises((mt.DataError, mt.errors.UnknownName), match=sentence):
            read(name)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there are no devices here")
def test_a_device_is_called_one():
    """It is there, so no other name is proposed."""
    with pytest.raises(mt.DataError, match=r"^/dev/null is no regular file; .*again\.$"):
        mt.load("/dev/null")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_they_do_on_any_machine(tmp_path, end):
    """LF, CR LF and lone CR make the same table."""
    table = read_table(write(tmp_path, end.join(["a,b,y", "1,2,no", "3,4,yes", ""])))
    assert table.frame.to_numpy().tolist() == [[1, 2, "no"], [3, 4, "yes"]]


def test_a_quoted_name_may_hold_ends_of_lines_and_separators(tmp_path):
    """Valid CSV: such an end of line is read as a space, and rows below count on from there."""
    table = read_table(write(tmp_path, 'a,"income,\nyearly","the\nlabel"\n1,2,no\n"3",4,yes\n'))
    assert (table.target, table.features) == ("the label", ["a", "income, yearly"])
    assert table.frame["income, yearly"].tolist() == [2, 4]
    assert read_table(write(tmp_path, '"two\nwords" y\n1 no\n2 yes\n')).features == ["two words"]
    with pytest.raises(mt.DataError, match="line 4 is short"):
        read_table(write(tmp_path, 'a,"income,\nyearly",y\n1,2,no\n3,4\n'))


def test_a_missing_last_value_is_not_a_short_row(tmp_path):
    """The row has all its fields, one of which is empty."""
    with pytest.raises(mt.DataError, match="y has a missing value at row 1"):
        mt.load(write(tmp_path, "a,y\n1,no\n2,\n0,yes\n"))


def test_labels_with_leading_zeros_are_texts_for_the_whole_column(tmp_path):
    """`01` and `1` are two labels of a target, a group, a factor or a treatment; as features they
    are numbers, and without zeros labels are too.
    """
    path = write(tmp_path, "a,g,y\n1,01,01\n0,1,1\n01,01,1\n0,2,2\n")
    data = mt.load(path, group="g")
    assert reload(data.source)[0].sha256 == data.sha256
    assert data.classes == ("01", "1", "2")
    assert data.groups.tolist() == ["01", "1", "01", "2"]
    assert [t.name for t in data.features if t.column == "a"] == ["a"]
    assert mt.load(write(tmp_path, "a,y\n1,1\n01,2\n")).classes == (1, 2)
    assert mt.load(write(tmp_path, "01,1\n1,01\n1,0\n")).classes == ("01", "1")
    assert mt.load_numeric(write(tmp_path, "a,y\n1,01\n0,1\n"), regression=True).classes == (1,)


def test_an_absent_file_names_its_nearest_neighbour(tmp_path):
    write(tmp_path, "1 0\n", "anneal.txt")
    with pytest.raises(mt.DataError, match=r"Did you mean .*anneal\.txt"):
        read_table(tmp_path / "aneal.txt")


def test_missing_cells_of_a_file_become_questions(tmp_path):
    data = mt.load(write(tmp_path, "a,b,y\n1,2,no\n1,?,yes\n"))
    assert "b is missing" in [feature.name for feature in data.features]


def test_a_wrong_column_is_answered_with_a_close_match(tmp_path):
    path = write(tmp_path, "age,sex,income,y\n1,0,3,1\n2,1,4,0\n")
    with pytest.raises(mt.DataError, match="Did you mean 'income'"):
        mt.load(path, group="incme")


def test_an_unknown_name_lists_what_is_built_in():
    with pytest.raises(mt.errors.UnknownName, match="Did you mean 'iris'"):
        mt.load("iriss")


def test_a_measured_target_has_no_classes(tmp_path):
    rows = "\n".join(f"{i % 7},{i / 7:.3f}" for i in range(100))
    data = mt.load(write(tmp_path, "a,y\n" + rows + "\n"))
    assert data.y is None
    assert data.target_names == ("y",)
    with pytest.raises(mt.DataError, match="needs classes, and the target 'y' holds measured"):
        mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)))


def test_columns_become_the_fields_of_a_dataset(tmp_path):
    path = write(tmp_path, "g,f,w,a,b,y\n0,u,1,0,1,no\n1,v,2.5,1,0,yes\n1,u,1,1,1,no\n")
    data = mt.load(path, group="g", factor="f", weights="w", drop=["b"])
    assert data.groups.tolist() == [0, 1, 1]
    assert data.group_column == "g"
    assert data.factor.tolist() == ["u", "v", "u"]
    assert data.weights.tolist() == [1, 2.5, 1]
    assert data.classes == ("no", "yes")
    assert [t.name for t in data.features] == ["g", "f == v", "a"]


def test_policy_columns_leave_no_target(tmp_path):
    path = write(tmp_path, "x1,x2,t,y,p,v0,v1\n0,1,0,1.5,0.5,1,2\n1,1,1,2.5,0.5,1,3\n")
    data = mt.load(
        path, features=["x*"], treatment="t", outcome="y", propensity="p", values=["v0", "v1"]
    )
    assert data.y is None
    assert data.actions == (0, 1)
    assert data.values.tolist() == [[1, 2], [1, 3]]
    assert [t.name for t in data.features] == ["x1", "x2"]


def test_a_loaded_dataset_can_be_read_again_from_its_source():
    train, test = load_split("iris", binarizer="quantiles:4", test_size=0.3, seed=3)
    again, other = reload(train.source)
    assert (again.sha256, other.sha256) == (train.sha256, test.sha256)


def test_thresholds_come_from_training_rows_only():
    train, test = load_split("iris", binarizer="midpoints", test_size=0.5, seed=1)
    assert train.features == test.features
    assert all(0 < column.sum() < train.n_rows for column in train.X.T)


def test_generated_data_are_loaded_by_name():
    data = mt.load("planted:rows=50,depth=3,seed=2")
    assert data.n_rows == 50
    assert reload(data.source)[0].sha256 == data.sha256
    with pytest.raises(mt.DataError, match="no option 'row'"):
        mt.load("planted:row=50")


def test_policy_designs_have_what_policy_tasks_need():
    from milp_trees.data.generate import athey_imbens

    data, both = athey_imbens(columns=10, rows=200, p=0.9, seed=1)
    assert both.shape == (200, 2)
    assert data.n_features == 90
    given = both[np.arange(200), data.treatments]
    assert np.allclose(given, data.outcomes)
    for task in (mt.tasks.InversePropensity(), mt.tasks.DirectMethod(), mt.tasks.DoublyRobust()):
        assert task.view(mt.plugins.CostMatrix, data, mt.Trees(2)).n_actions == 2


def test_public_sets_are_read_as_their_readme_says(data_folder):
    for name, shape in {
        "classification/anneal.txt": (812, 93),
        "classification/letter.txt": (20000, 224),
        "fairness/ricci-binarized.csv": (118, 5),
        "odtlearn/monk1_enc.csv": (124, 15),
        "gosdt/car.csv": (1728, 15),
    }.items():
        data = mt.load(data_folder / name)
        assert (data.n_rows, data.n_features) == shape, name
        assert all(t.kind == "is" for t in data.features), name
