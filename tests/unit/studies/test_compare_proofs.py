"""A comparison with proof files says of every row what stands behind it."""

import json
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.results.evidence import BELIEFS, words
from milp_trees.studies.measures.agreement import BELIEFS as COUNTED
from milp_trees.studies.study import Study
from milp_trees.studies.verifiers import credit_derivers
from milp_trees.verification import proved
from milp_trees.verification.check import verify_file
from milp_trees.verification.proof_folder import ProofFolder

METHODS = ["dp", "enumerate", "dp-sorted", "cart"]


@pytest.fixture(scope="module")
def problem():
    data = mt.load("planted:rows=60,tests=5,depth=2,noise=0.1")
    return mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))


@pytest.fixture(scope="module")
def study(problem, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    return mt.compare(problem, METHODS, store=folder / "s.db", proofs=folder / "proofs"), folder


def test_every_row_says_what_stands_behind_it(study):
    rows, folder = study
    message = {row["method"]: words(row) for row in rows}
    files = {row["method"]: f"{row['key']}.proof" for row in rows}
    assert message == {
        "dp": f"proved by file {files['dp']}",
        "enumerate": "derived again by dp",
        "dp-sorted": f"proved by file {files['dp-sorted']}",
        "cart": "recomputed",
    }
    assert {p.name for p in (folder / "proofs").iterdir()} == {files["dp"], files["dp-sorted"]}
    frame = rows.frame().set_index("method")
    assert frame["evidence"].tolist() == [
        "proved by file",
        "derived again",
        "proved by file",
        "recomputed",
    ]
    assert frame.loc["dp", "proof"] == files["dp"]
    assert frame.loc["enumerate", "derived_by"] == "dp"
    assert "proved by" in rows.table(300)
    assert f"proved by file {files['dp']}" in rows._repr_html_()
    again = Study.open(folder / "s.db")
    assert sorted(map(words, again)) == sorted(message.values())


def test_a_row_s_proof_file_holds_for_the_row(study, tmp_path):
    rows, folder = study
    row = next(row for row in rows if row["method"] == "dp")
    (tmp_path / "r.json").write_text(json.dumps(rows.results[0].to_json()))
    proof = folder / "proofs" / row["proof"]["file"]
    assert verify_file(tmp_path / "r.json", proof=proof)[0].words == words(row)


def test_tables_without_proof_files_stay_as_they_are(problem):
    plain = mt.compare(problem, METHODS)
    assert "evidence" not in plain.table(300)
    assert plain.frame()["proof"].isna().all()


def test_a_resumed_comparison_writes_only_what_is_missing(problem, study):
    rows, folder = study
    files = sorted((folder / "proofs").iterdir())
    files[0].unlink()
    before = {files[1]: files[1].stat().st_mtime_ns}
    size = count(folder)
    again = mt.compare(problem, METHODS, store=folder / "s.db", proofs=folder / "proofs")
    assert list(map(words, again)) == list(map(words, rows))
    assert files[0].is_file()
    assert {files[1]: files[1].stat().st_mtime_ns} == before
    assert count(folder) == size + 1


def count(folder):
    """How many runs the file of the comparison holds."""
    store = Study.open(folder / "s.db").store
    return store._db.execute("SELECT COUNT(*) FROM runs WHERE role = 'run'").fetchone()[0]


def endless(*_):
    """A check that ends only from outside."""
    while True:
        time.sleep(0.001)


def test_what_is_wrong_or_late_is_not_called_proved(problem, tmp_path, monkeypatch):
    result, method = mt.solve(problem, "dp"), mt.registry.method("dp")
    keep = ProofFolder(tmp_path / "proofs")
    with monkeypatch.context() as slow:
        slow.setattr(proved, "proved_by", endless)
        late = keep(method, result, "late", Limits(time=0.2))
        assert words(late.to_json()) == "claimed by dp"
        remark = "late.proof was not checked within the time limit of 0.2 s."
        assert keep(method, late, "late", Limits(time=0.2)).message == late.message == remark
    noted = keep(method, replace(late, message=f"A note. {late.message}"), "late", Limits())
    assert words(noted.to_json()) == "proved by file late.proof"
    assert noted.message == "A note."
    worse = mt.solve(replace(problem, space=mt.Trees(1)), "dp")
    wrong = replace(result, solutions=worse.solutions)  # calls a stump optimal
    found = keep(method, wrong, "wrong", Limits())
    assert words(found.to_json()) == "claimed by dp"
    assert found.message
    assert keep(method, replace(result, message=found.message), "wrong", Limits()).message == ""
    with pytest.raises(DataError, match="cannot be a folder for proofs"):
        ProofFolder(tmp_path / "no" / "such")


def test_only_an_independent_method_with_the_same_answer_derives(study):
    rows = [{**row, "derived_by": None, "agrees": None, "proof": None} for row in study[0]]
    dp, enumerate_, by_sorted, _ = rows
    other = {**dp, "method": "dp:cache=off"}
    credit_derivers([dp, other])
    assert (dp["derived_by"], other["derived_by"]) == (None, None)
    credit_derivers([dp, {**enumerate_, "exact": "0/1"}])
    assert dp["derived_by"] is None
    credit_derivers([dp, {**enumerate_, "problem_key": "another"}])
    assert dp["derived_by"] is None
    credit_derivers([dp, {**enumerate_, "status": "feasible"}])
    assert dp["derived_by"] is None
    credit_derivers([dp, by_sorted, enumerate_])
    assert (dp["derived_by"], by_sorted["derived_by"]) == ("dp-sorted", "dp")


def test_the_command_has_the_option_and_one_list_of_words(tmp_path):
    out = tmp_path / "rows.json"
    requested = [
        "planted:rows=60,tests=5,depth=2,noise=0.1",
        "--depth",
        "2",
        "--methods",
        "dp,cart",
    ]
    more = ["--proofs", str(tmp_path / "P"), "--out", str(out), "--reference", "none"]
    run = CliRunner().invoke(app, ["compare", *requested, *more])
    assert run.exit_code == 0, run.output
    first, second = json.loads(out.read_text())
    assert first["evidence"] == f"proved by file {first['proof']['file']}"
    assert second["evidence"] == "recomputed"
    assert [p.name for p in (tmp_path / "P").iterdir()] == [first["proof"]["file"]]
    beside = tmp_path / "P" / "rows.json"
    out.rename(beside)
    assert [found.words for found in verify_file(beside)] == [first["evidence"], "recomputed"]
    assert tuple(BELIEFS) == COUNTED
