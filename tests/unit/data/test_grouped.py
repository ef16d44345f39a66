"""Rows that an engine groups outside of memory: the same data as if they had been read."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError, UnknownName, VerificationError
from milp_trees.data.binarize import Binarizer
from milp_trees.results.restore import restore
from milp_trees.testing.grouped import grouped

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

ROLES = {"target": "ill", "group": "sex", "weights": "w"}


def table(seed=0, n=90):
    """Columns of every kind; texts hold quotes, and numbers need all their digits."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "dose": np.round(rng.normal(0, 1, n), 1) + 0.1 + 0.2,
            "single": rng.normal(size=n).astype(np.float32),
            'the "town"': rng.choice(["A", "it's", "C"], n),
            "smoker": rng.integers(0, 2, n),
            "flag": rng.integers(0, 2, n).astype(bool),
            "always": 7,
            "sex": rng.choice(["f", "m"], n),
            "w": rng.choice([1.0, 0.25], n),
            "ill": rng.choice(["no", "yes", "maybe"], n),
        }
    )


@pytest.fixture
def folder(tmp_path):
    """A folder of two Parquet files, one of them in a folder of its own, and the file of all rows."""
    frame = table()
    (tmp_path / "parts" / "more").mkdir(parents=True)
    frame[:31].to_parquet(tmp_path / "parts" / "a.parquet", index=False)
    frame[31:].to_parquet(tmp_path / "parts" / "more" / "b.pq", index=False)
    frame.to_parquet(tmp_path / "all.parquet", index=False)
    return tmp_path / "parts"


def rows(data):
    """The rows of a dataset with their counts, sorted."""
    arrays = (data.X, data.y, data.weights, data.groups, data.counts)
    return sorted(map(repr, zip(*(a.tolist() for a in arrays), strict=True)))


@pytest.mark.parametrize("binarizer", ["auto", "midpoints", "quantiles:2", "quantiles:7"])
def test_the_rows_are_those_that_load_reads(folder, binarizer):
    every = mt.load(folder.parent / "all.parquet", binarizer=binarizer, **ROLES)
    data = mt.load_grouped(folder, binarizer=binarizer, **ROLES)
    assert data.features == every.features
    assert (data.classes, data.threshold_note, data.group_column) == (
        every.classes,
        every.threshold_note,
        "sex",
    )
    assert rows(data) == rows(grouped(every))
    assert data.total_rows == 90
    np.testing.assert_array_equal(data.ranked.gap, every.ranked.gap)


def test_every_kind_of_source_holds_the_same_rows(folder, tmp_path):
    connection = duckdb.connect(str(tmp_path / "people.duckdb"))
    connection.execute(f"CREATE TABLE people AS FROM read_parquet('{tmp_path / 'all.parquet'}')")
    connection.close()
    known = mt.load_grouped(folder, **ROLES)
    (tmp_path / "copy").mkdir()
    (tmp_path / "all.parquet").rename(tmp_path / "copy" / "all.parquet")
    database = tmp_path / "people.duckdb"
    for source in (tmp_path / "copy" / "all.parquet", f"{tmp_path}/c*/*.parquet", database):
        assert mt.load_grouped(source, **ROLES).sha256 == known.sha256
    relation = duckdb.connect().read_parquet(str(tmp_path / "copy" / "all.parquet"))
    assert mt.load_grouped(relation, **ROLES).sha256 == known.sha256
    few = mt.load_grouped(tmp_path / "people.duckdb", query="FROM people WHERE age < 40", **ROLES)
    same = mt.load_grouped(folder, query="SELECT * FROM source WHERE age < 40", **ROLES)
    assert few.sha256 == same.sha256
    assert few.total_rows == (table()["age"] < 40).sum()


def test_thresholds_and_categories_may_be_given(folder):
    frame = table()[["age", 'the "town"', "smoker"]]
    fitted = Binarizer(kind="buckets").fit(frame, table()["ill"])
    fitted.rules_['the "town"'] = {"categories": ["it's"]}
    data = mt.load_grouped(
        folder, binarizer=fitted, target="ill", features=["age", "the *", "smoker"]
    )
    assert data.features == fitted.features
    assert data.source["binarizer"]["given"]
    every = mt.load(
        folder.parent / "all.parquet",
        binarizer=fitted,
        target="ill",
        features=["age", "the *", "smoker"],
    )
    assert data.counts @ data.X == pytest.approx(every.X.sum(axis=0))


def test_a_query_reads_and_writes_nothing_but_the_files(folder, tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    for query in (
        f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')",
        f"COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'",
        f"ATTACH '{tmp_path / 'made.duckdb'}'",
        "INSTALL httpfs",
        "SELECT * FROM source; SELECT 1",
        "SET enable_external_access = true",
    ):
        with pytest.raises(DataError, match=r"DuckDB refused|one statement SELECT"):
            mt.load_grouped(folder, query=query, **ROLES)
    assert {p.name for p in tmp_path.iterdir()} == {"parts", "all.parquet", "secret.csv"}


def test_a_stored_result_is_verified_by_grouping_again(folder, tmp_path):
    data = mt.load_grouped(folder, binarizer="quantiles:3", query="FROM source", **ROLES)
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(1, min_samples_leaf=20))
    stored = json.loads(json.dumps(mt.solve(problem, "dp").to_json()))
    about = stored["problem"]["data"]
    assert (about["rows"], about["distinct_rows"]) == (90, data.n_rows)
    assert about["grouped"] == {
        "engine": "duckdb",
        "version": duckdb.__version__,
        "query": "FROM source",
        "files": 2,
        "max_distinct": 5_000_000,
    }
    found = mt.verify(stored)
    assert found.verdict.value == "derived"
    assert any(f"by duckdb {duckdb.__version__} into" in line for line in found.problem.lines())
    stored["problem"]["data"]["grouped"]["version"] = "0.9"
    stored["problem"]["data"]["grouped"]["engine"] = "dask"  # grouped by another engine, once
    assert {"problem.data.grouped.engine", "problem.data.grouped.version"} <= set(
        restore(stored["problem"]).not_verified
    )
    stored["problem"]["data"]["grouped"]["files"] = 3
    with pytest.raises(VerificationError, match="grouped"):
        mt.verify(stored)
    stored["problem"]["data"]["grouped"]["files"] = 2
    table(seed=1).to_parquet(folder / "a.parquet", index=False)
    with pytest.raises(VerificationError, match="has changed"):
        mt.verify(stored)


def test_the_command_line_groups_a_folder(folder, tmp_path):
    def run(*given):
        return CliRunner().invoke(app, ["solve", *map(str, given), "--target", "ill"])

    out = tmp_path / "result.json"
    options = ["--drop", "w", "--depth", "1", "--method", "dp", "--reference", "none"]
    found = run(folder, *options, "--out", out)
    assert found.exit_code == 0, found.output
    assert "90 rows, grouped into" in found.output
    errors = json.loads(out.read_text())["objective"]
    every = tmp_path / "all.parquet"
    assert run(every, *options, "--grouped", "--out", out).exit_code == 0
    assert json.loads(out.read_text())["objective"] == errors
    refused = run(folder, "--test-size", "0.2")
    assert refused.exit_code == 1
    assert "leave rows out with --query" in refused.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": "il"}, "Did you mean 'ill'"),
        ({"binarizer": "buckets"}, "needs the rows in memory"),
        ({"binarizer": "halves"}, "no binarizer 'halves'"),
        ({"max_distinct": 3}, "more than 3 distinct rows"),
        ({"query": "SELECT * FROM source WHERE age > 99"}, "has no rows"),
        ({"query": "SELECT age, ill FROM nothing"}, "DuckDB refused"),
        ({"query": "SELECT ill FROM source"}, "one column only"),
        ({"query": "SELECT NULL::INT AS a, * FROM source"}, "'a' has 90 missing values"),
        ({"query": "SELECT 'inf'::DOUBLE AS a, * FROM source"}, "'a' has 90 infinite values"),
        ({"query": "SELECT DATE '2020-01-01' AS a, * FROM source"}, "of the type DATE"),
        ({"query": "SELECT 1::BIGINT << 60 AS a, * FROM source"}, "beyond 2^53"),
        ({"query": "SELECT age::VARCHAR || single AS a, * FROM source", "binarizer": Binarizer(max_categories=5)}, "more than 5 different texts"),
        ({"binarizer": Binarizer(category_sets=5)}, "Sets of categories are made of tables in memory"),
        ({"category_sets": 5}, "The option category_sets is for tables in memory"),
        ({"weights": 'the "town"'}, "must hold numbers"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(folder, options, sentence):
    with pytest.raises((DataError, UnknownName)) as caught:
        mt.load_grouped(folder, **{**ROLES, **options})
    assert sentence in str(caught.value)


def test_every_file_is_read_once_and_without_rounding(tmp_path):
    """Names may look like patterns, and a column may be whole in the first file alone."""
    for k, name in enumerate(("x1", "x[1]", "x*")):
        pd.DataFrame({"a": [k, k + k / 2], "y": [0, 1]}).to_parquet(tmp_path / f"{name}.parquet")
    data = mt.load_grouped(tmp_path, target="y", features="a")
    assert data.total_rows == 6
    # The values are 0, 0, 1, 1.5, 2 and 3.
    assert [t.value for t in data.features] == [0.5, 1.25, 1.75, 2.5]
    alone = mt.load_grouped(tmp_path / "x[1].parquet", target="y")
    assert [t.value for t in alone.features] == [1.25]


def test_columns_that_the_engine_does_not_tell_apart_are_refused(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "y": [0, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.rename(columns={"b": "A"}).to_parquet(tmp_path / "u.parquet")
    for name, query in (("t", "SELECT a, b AS A, y FROM source"), ("u", None)):
        with pytest.raises(DataError, match="ignores capital letters"):
            mt.load_grouped(tmp_path / f"{name}.parquet", query=query, target="y")


def test_names_of_nothing_are_refused(tmp_path):
    for source in (tmp_path / "no.parquet", tmp_path / "*.parquet", tmp_path, 5):
        with pytest.raises(DataError):
            mt.load_grouped(source)
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(DataError, match="neither a Parquet file"):
        mt.load_grouped(tmp_path / "a.csv")
    with pytest.raises(DataError, match="load_grouped"):
        mt.load(tmp_path)
    duckdb.connect(str(tmp_path / "empty.db")).close()
    with pytest.raises(DataError, match="holds 0 tables"):
        mt.load_grouped(tmp_path / "empty.db")


def test_a_policy_with_few_outcomes_is_learned_from_grouped_rows(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 2, 200),
            "b": rng.integers(0, 2, 200),
            "given": rng.choice(["drug", "none"], 200),
            "healed": rng.integers(0, 2, 200),
            "chance": rng.choice([0.5, 0.25], 200),
        }
    )
    frame.to_parquet(tmp_path / "trial.parquet", index=False)
    roles = {"treatment": "given", "outcome": "healed", "propensity": "chance"}
    data = mt.load_grouped(tmp_path / "trial.parquet", **roles)
    assert data.n_rows < 200
    values = [
        mt.solve(mt.Problem(d, mt.tasks.InversePropensity(), mt.Trees(1)), "dp").value.exact
        for d in (data, mt.load(tmp_path / "trial.parquet", **roles))
    ]
    assert values[0] == values[1]
    assert isinstance(values[0], Fraction)
