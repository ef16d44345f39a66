"""One rule reads every table, and what it cannot read gets one sentence."""

import gzip
import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.data.load import load_split, reload
from milp_trees.data.read import read_table

DATA = os.environ.get("MILP_TREES_DATA")


def write(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_all_numbers_in_the_first_line_mean_no_header_and_target_first(tmp_path):
    table = read_table(write(tmp_path, "1 0 1\n0 1 1\n", "t.csv"))
    assert (table.target, table.features, table.header) == ("target", ["0", "1"], False)
    assert table.frame["target"].tolist() == [1, 0]


def test_a_word_in_the_first_line_means_header_and_target_last(tmp_path):
    table = read_table(write(tmp_path, '\ufeff"age","income, yearly","bought"\n30,1.5,yes\n40,2,no\n'))
    assert (table.target, table.features, table.header) == ("bought", ["age", "income, yearly"], True)


def test_quoted_numbers_are_numbers(tmp_path):
    assert not read_table(write(tmp_path, '"1","0"\n"0","1"\n')).header


def test_commas_without_header_keep_the_target_first(tmp_path):
    assert read_table(write(tmp_path, "-1,0.5\n1,0.25\n")).frame["target"].tolist() == [-1, 1]


def test_a_gzipped_file_is_found_under_its_plain_name(tmp_path):
    raw = gzip.compress(b"1 0\n0 1\n")
    write(tmp_path, raw, "t.txt.gz")
    table = read_table(tmp_path / "t.txt")
    assert table.frame.shape == (2, 2)
    assert table.source == {"path": str(tmp_path / "t.txt"), "sha256": hashlib.sha256(raw).hexdigest()}


def test_parquet_is_read_with_target_last(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1, 0], "y": ["u", "v"]}).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").target == "y"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no data rows"),
        (b"a\n1\n", "one column only"),
        (b"a,a,y\n1,2,3\n", "twice"),
        (b"1 0 1\n1 0 1 1\n", "not a table"),
        (b"a,b\n1,2,3\n", "not a table"),
        (b"\xff\xfe\x00a,b\n", "not UTF-8"),
        (b"\x1f\x8bnonsense", "damaged gzip"),
    ],
)
def test_what_is_not_a_table_gets_a_sentence(tmp_path, text, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        read_table(write(tmp_path, text))


def test_an_absent_file_names_its_nearest_neighbour(tmp_path):
    write(tmp_path, "1 0\n", "anneal.txt")
    with pytest.raises(mt.DataError, match=r"Did you mean .*anneal\.txt"):
        read_table(tmp_path / "aneal.txt")


def test_missing_values_are_refused_with_the_remedy(tmp_path):
    with pytest.raises(mt.DataError, match=r"'b' has a missing value in row 1.*drop those rows"):
        mt.load(write(tmp_path, "a,b,y\n1,2,no\n1,?,yes\n"))


def test_a_wrong_column_is_answered_with_a_close_match(tmp_path):
    path = write(tmp_path, "age,sex,income,y\n1,0,3,1\n2,1,4,0\n")
    with pytest.raises(mt.DataError, match="Did you mean 'income'"):
        mt.load(path, group="incme")


def test_an_unknown_name_lists_what_is_built_in():
    with pytest.raises(mt.UnknownName, match="Did you mean 'iris'"):
        mt.load("iriss")


def test_a_measured_target_is_refused(tmp_path):
    rows = "\n".join(f"{i % 7},{i / 7:.3f}" for i in range(100))
    with pytest.raises(mt.DataError, match="a class is expected"):
        mt.load(write(tmp_path, "a,y\n" + rows + "\n"))


def test_columns_become_the_fields_of_a_dataset(tmp_path):
    path = write(tmp_path, "g,f,w,a,b,y\n0,u,1,0,1,no\n1,v,2.5,1,0,yes\n1,u,1,1,1,no\n")
    data = mt.load(path, group="g", factor="f", weights="w", drop=["b"])
    assert data.groups.tolist() == [0, 1, 1]
    assert data.group_column == "g"
    assert data.factor.tolist() == ["u", "v", "u"]
    assert data.weights.tolist() == [1, 2.5, 1]
    assert data.classes == ("no", "yes")
    assert [t.name for t in data.tests] == ["g", "f == v", "a"]


def test_policy_columns_leave_no_target(tmp_path):
    path = write(tmp_path, "x1,x2,t,y,p,v0,v1\n0,1,0,1.5,0.5,1,2\n1,1,1,2.5,0.5,1,3\n")
    data = mt.load(path, features=["x*"], treatment="t", outcome="y", propensity="p", values=["v0", "v1"])
    assert data.y is None
    assert data.actions == (0, 1)
    assert data.values.tolist() == [[1, 2], [1, 3]]
    assert [t.name for t in data.tests] == ["x1", "x2"]


def test_a_loaded_dataset_can_be_read_again_from_its_source():
    train, test = load_split("iris", binarizer="quantiles:4", test_size=0.3, seed=3)
    again, other = reload(train.source)
    assert (again.sha256, other.sha256) == (train.sha256, test.sha256)


def test_thresholds_come_from_training_rows_only():
    train, test = load_split("iris", binarizer="midpoints", test_size=0.5, seed=1)
    assert train.tests == test.tests
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
    assert data.n_tests == 90
    given = both[np.arange(200), data.treatments]
    assert np.allclose(given, data.outcomes)
    for task in (mt.InversePropensity(), mt.DirectMethod(), mt.DoublyRobust()):
        assert task.view(mt.CostMatrix, data, mt.Trees(2)).n_actions == 2


@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="MILP_TREES_DATA is not set")
def test_public_sets_are_read_as_their_readme_says():
    for name, shape in {
        "classification/anneal.txt": (812, 93),
        "classification/letter.txt": (20000, 224),
        "fairness/ricci-binarized.csv": (118, 5),
        "odtlearn/monk1_enc.csv": (124, 15),
        "gosdt/car.csv": (1728, 15),
    }.items():
        data = mt.load(Path(str(DATA)) / name)
        assert (data.n_rows, data.n_tests) == shape, name
        assert all(t.kind == "is" for t in data.tests), name
