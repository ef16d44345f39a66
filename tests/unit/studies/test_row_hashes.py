"""Rows of a study that were changed by hand are found, whatever was changed."""

import json
import sqlite3

import pytest
from store_cases import tamper

import milp_trees as mt
from milp_trees.common.errors import DamagedRowWarning
from milp_trees.studies.row_hashes import HASHED
from milp_trees.studies.store import Store


@pytest.fixture(scope="module")
def problem():
    data = mt.Dataset([[0, 0], [1, 0], [1, 1], [0, 1], [1, 1]], y=["a", "b", "a", "b", "b"])
    return mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1))


@pytest.fixture
def store(problem, tmp_path):
    path = tmp_path / "study.db"
    methods = ["dp", "cart"]
    study = mt.compare(problem, methods, store=path, reference=None, proofs=tmp_path / "proofs")
    assert study.frame()["evidence"].tolist()[0] == "proved by file"
    study.store.close()
    return path


def test_a_row_as_it_was_written_is_shown_with_its_proof(store):
    """Whoever shows `proved by file` says when it was checked, and the hash of the file."""
    row = mt.Study.open(store).frame().iloc[0]
    assert row["evidence"] == "proved by file"
    assert row["proof_checked"].startswith("20")
    assert len(row["proof_sha256"]) == 64


@pytest.mark.parametrize("column", HASHED)
def test_a_change_of_any_column_is_found(column, store):
    other = "x" if column not in ("seed", "objective", "bound", "gap", "seconds", "agrees") else 77
    tamper(store, f'UPDATE runs SET "{column}" = ? WHERE method = ?', other, "dp")
    with pytest.warns(DamagedRowWarning, match="changed after it was written"):
        study = mt.Study.open(store)
    assert "dp" not in [row["method"] for row in study.rows]


def _lies(row):
    """The row with one lie each."""
    yield {**row, "objective": 0, "exact": "0/1", "bound": 0, "bound_exact": "0/1"}
    yield {**row, "proof": {**row["proof"], "file": "other.proof"}}
    yield {**row, "proof": {**row["proof"], "checked": not row["proof"]["checked"]}}
    yield {**row, "derived_by": "anyone", "agrees": True}
    yield {**row, "status": "optimal", "proved_by": "anyone"}


def test_a_lie_in_a_row_is_in_no_table_and_no_page(store, tmp_path):
    """Table, page and comparison repeated what was written into the file."""
    with sqlite3.connect(store) as db:
        text = db.execute(
            "SELECT result FROM runs WHERE method = 'dp' AND role = 'run' ORDER BY id DESC"
        ).fetchone()[0]
    db.close()
    for lie in _lies(json.loads(text)):
        tamper(store, "UPDATE runs SET result = ? WHERE method = 'dp'", json.dumps(lie))
        with pytest.warns(DamagedRowWarning, match="changed after it was written"):
            assert mt.Study.open(store).frame()["method"].tolist() == ["cart"]


def test_a_row_that_was_deleted_is_named(store):
    tamper(store, "DELETE FROM runs WHERE method = 'cart'")
    with pytest.warns(DamagedRowWarning, match="deleted after it was written"):
        mt.Study.open(store)


def test_the_same_comparison_runs_a_changed_row_again(store, problem):
    tamper(store, "UPDATE runs SET result = replace(result, 'optimal', 'feasible')")
    with pytest.warns(DamagedRowWarning):
        study = mt.compare(problem, ["dp"], store=store, reference=None)
    assert [row["status"] for row in study.rows if row["method"] == "dp"] == ["optimal"]


def test_a_row_without_a_hash_is_shown_and_its_proof_is_not_believed(store):
    """A file of an earlier version keeps no hashes; a missing hash is a change."""
    tamper(store, "DELETE FROM hashes WHERE id = (SELECT max(id) FROM hashes)")
    with pytest.warns(DamagedRowWarning):
        mt.Study.open(store)
    tamper(store, "DROP TABLE hashes")
    row = mt.Study.open(store).frame().iloc[0]
    assert row["evidence"] == "claimed"
    assert row["proof_checked"] is None
    Store(store).close()  # opened to be continued, an older row stays what it was
    assert mt.Study.open(store).frame().iloc[0]["evidence"] == "claimed"
