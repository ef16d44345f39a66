"""What `predict` prints beside the label: what names the row, and probabilities."""

import json

import pandas as pd
import pytest
from cli_cases import run

import milp_trees as mt


def csv_of(found):
    import io

    return pd.read_csv(io.StringIO(found.stdout), dtype=str)


@pytest.fixture
def stored(table, tmp_path):
    out = tmp_path / "r.json"
    run("solve", table, "--depth", 1, "--out", out)
    return out


def test_rows_are_numbered_from_zero_and_probabilities_are_the_shares_in_the_leaf(stored, table):
    frame = csv_of(run("predict", stored, table, "--proba"))
    assert list(frame) == ["row", "prediction", "probability ill", "probability well"]
    assert list(frame["row"]) == [str(k) for k in range(60)]
    shares = frame[["probability ill", "probability well"]].astype(float)
    assert (shares.sum(axis=1) - 1).abs().max() < 1e-5
    rows = pd.read_csv(table)
    model = mt.OptimalTreeClassifier(max_depth=1).fit(rows.drop(columns="health"), rows["health"])
    wanted = model.predict_proba(rows.drop(columns="health"))
    assert abs(shares.to_numpy() - wanted).max() < 1e-5


def test_a_column_names_the_rows_as_it_is_written(stored, table, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text('age,smoker,town,who\n30,yes,a,007\n50,no,b,"Ann, 2"\n')
    found = run("predict", stored, new, "--id", "who", "--out", tmp_path / "p.csv")
    assert found.stdout == ""
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "who,prediction"
    assert [line.rpartition(",")[0] for line in lines[1:]] == ["007", '"Ann, 2"']
    run("predict", stored, new, "--id", "who", "--out", tmp_path / "p.csv", "--proba")
    assert (tmp_path / "p.csv").read_text().startswith("who,prediction,probability ill,")
    data = json.loads(run("predict", stored, new, "--id", "who", "--proba", "--json").stdout)
    assert data["who"] == ["007", "Ann, 2"]
    assert set(data["probabilities"]) == {"ill", "well"}


def test_a_row_without_a_name_has_an_empty_one(stored, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("age,smoker,town,who\n30,yes,a,\n50,no,b,7\n")
    assert csv_of(run("predict", stored, new, "--id", "who"))["who"].isna().tolist() == [
        True,
        False,
    ]
    assert json.loads(run("predict", stored, new, "--id", "who", "--json").stdout)["who"][0] is None


def test_csv_is_not_written_under_the_name_of_json(stored, table, tmp_path):
    found = run("predict", stored, table, "--out", tmp_path / "p.json", code=1)
    assert "name a file that ends in .csv, or use --json" in found.stderr
    assert not (tmp_path / "p.json").exists()


def test_a_column_may_name_the_rows_and_be_asked_by_the_model(table, tmp_path):
    out = tmp_path / "r.json"
    run("solve", table, "--depth", 2, "--out", out)
    assert list(csv_of(run("predict", out, table, "--id", "age"))["age"])[:2] == ["20", "20"]


def test_more_names_than_categories_are_allowed_are_no_fault(stored, tmp_path):
    new = tmp_path / "new.csv"
    lines = [f"30,yes,a,person {k}" for k in range(150)]
    new.write_text("\n".join(["age,smoker,town,who", *lines]) + "\n")
    assert len(csv_of(run("predict", stored, new, "--id", "who"))) == 150


@pytest.mark.parametrize(
    ("command", "more"),
    [("rule-list", ("--max-length", 1)), ("prune", ("--lambda", "0.01", "--trees", 2))],
)
def test_rule_lists_and_ensembles_have_probabilities_too(command, more, table, tmp_path):
    out = tmp_path / "r.json"
    run(command, table, *more, "--out", out)
    frame = csv_of(run("predict", out, table, "--proba"))
    assert (frame.iloc[:, 2:].astype(float).sum(axis=1) - 1).abs().max() < 1e-5


def test_what_cannot_be_named_or_computed_is_said(stored, table, tmp_path):
    message = run("predict", stored, table, "--id", "who", code=1).stderr
    assert "has no column 'who' to name the rows; its columns are age, smoker" in message
    moved = tmp_path / "moved.csv"
    new = tmp_path / "new.csv"
    new.write_text(table.read_text())
    table.rename(moved)
    message = run("predict", stored, new, "--proba", code=1).stderr
    assert "--data" in message
    frame = csv_of(run("predict", stored, new, "--proba", "--data", moved))
    assert len(frame) == 60
    moved.write_text(moved.read_text().replace("ill", "well", 1))
    message = run("predict", stored, new, "--proba", "--data", moved, code=1).stderr
    assert "is not the table that the model was made from" in message
