"""`mt.load` takes tables in memory."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt


@pytest.fixture(scope="module")
def frame():
    """Of many types, with an index that means nothing."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 20),
            "town": pd.Categorical(rng.choice(["a", "b", "c"], 20)),
            "day": pd.date_range("2020", periods=20),
            "n": pd.array(rng.integers(0, 5, 20), dtype="Int64"),
            "ok": rng.random(20) < 0.5,
            "y": rng.choice(["no", "yes"], 20),
        },
        index=range(100, 120),
    )


def same(one, other):
    return one.features == other.features and (one.X == other.X).all() and (one.y == other.y).all()


def test_a_frame_is_read_as_a_parquet_file_with_its_rows(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet")
    before = frame.copy(deep=True)
    loaded = mt.load(frame)
    assert same(loaded, mt.load(tmp_path / "t.parquet"))
    pd.testing.assert_frame_equal(frame, before)
    named = mt.load(frame, target="town", drop=["y"])
    assert set(named.classes) == {"a", "b", "c"}


def test_frames_of_other_libraries_are_read_alike(frame):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    assert same(mt.load(table), mt.load(frame))
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for given in (polars.from_pandas(frame), polars.from_pandas(frame).lazy()):
        assert same(mt.load(given), mt.load(frame))


def test_a_result_on_a_frame_is_verified_with_its_dataset(frame):
    data = mt.load(frame)
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)), "dp")
    assert mt.verify(result.to_json(), data).verdict.value == "derived"
    with pytest.raises(mt.DataError, match="arrays in memory; give the dataset"):
        mt.verify(result.to_json())


@each_row(
    ("make", "options", "said"),
    [
        (lambda f: f, {"sep": ";"}, "sep= is about text files"),
        (lambda f: f, {"label": "x.label"}, "label= is about text files"),
        (lambda f: f, {"target": "yy"}, r"target= names the column 'yy', .* Did you mean 'y'"),
        (lambda f: f, {"drop": "zz"}, "drop= names 'zz'"),
        (lambda f: f.iloc[:0], {}, "no rows"),
        (lambda f: f[["y"]], {}, "one column only"),
        (lambda f: pd.concat([f, f], axis=1), {}, "called 'age'; rename one"),
        (lambda f: f["y"], {}, "Give a file, a DataFrame or the name"),
        (lambda f: 3, {}, "Give a file, a DataFrame or the name"),
    ],
)
def test_frames_that_are_no_table_are_refused_in_one_sentence(frame, make, options, said):
    with pytest.raises(mt.DataError, match=said):
        mt.load(make(frame), **options)
