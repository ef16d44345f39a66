"""A study with proof files: written after its runs, checked, and kept where it is continued."""

import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.results.evidence import words
from milp_trees.studies.study import Study
from milp_trees.verification import proof_folder
from milp_trees.verification.check import verify
from milp_trees.verification.study_proofs import prove_study

SPEC = """title = "small"
[defaults]
time_limit = 10
permutations = [0, 1]
[[problems]]
name = "planted"
data = "planted:rows=40,tests=4,depth=2,noise=0.1"
space = [{max_depth = [1, 2]}]
[[methods]]
labels = ["dp", "enumerate", "cart"]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SPEC)
    return path


def test_rows_of_methods_that_prove_are_proved_by_file(spec, tmp_path):
    store, folder = tmp_path / "s.db", tmp_path / "proofs"
    plan = mt.study(spec, dry_run=True)
    study = mt.study(plan, store=store, executor="serial")
    before = {row["key"]: row for row in map(dict, study.rows)}
    assert prove_study(study, plan, folder) == 4
    expected = {"dp": "proved by file", "enumerate": "derived again by dp", "cart": "recomputed"}
    assert len(study) == 12
    for rows in (study, Study.open(store)):
        for row in rows:
            name = f" {row['key']}.proof" if row["method"] == "dp" else ""
            assert words(row) == expected[row["method"]] + name
    changed = {"proof", "message", "finished"}
    for row in Study.open(store):
        old = before[row["key"]]
        assert {k for k in old if row[k] != old[k]} <= (changed if row["method"] == "dp" else set())
    row = next(row for row in study if row["method"] == "dp")
    proof = folder / row["proof"]["file"]
    assert verify(study._result(row), proof=proof).words == words(row)
    held = len(study.store)
    again = mt.study(plan, store=store, executor="serial")
    assert prove_study(again, plan, folder) == 4
    assert len(again.store) == held  # nothing was made again


def test_what_the_user_ends_is_continued(spec, tmp_path, monkeypatch):
    plan, made = mt.study(spec, dry_run=True), []
    study = mt.study(plan, executor="serial")
    honest = proof_folder.prove

    def prove(method, problem, result, path, limits):
        made.append(path)
        if len(made) == 3:
            return proof_folder.with_remark(result, f"No proof: {proof_folder.INTERRUPTED}")
        return honest(method, problem, result, path, limits)

    monkeypatch.setattr(proof_folder, "prove", prove)
    with pytest.raises(KeyboardInterrupt):
        prove_study(study, plan, tmp_path / "proofs")
    assert sum(words(row).startswith("proved") for row in study) == 2
    assert prove_study(study, plan, tmp_path / "proofs") == 4
    assert len(made) == 5


def test_the_command_has_the_option(spec, tmp_path):
    folder = tmp_path / "proofs"
    given = [str(spec), "--executor", "serial", "--proofs", str(folder)]
    run = CliRunner().invoke(app, ["study", *given])
    assert run.exit_code == 0, run.output
    assert "4 rows proved by file" in run.stdout
    assert len(list(folder.iterdir())) == 4
    wrong = CliRunner().invoke(app, ["study", *given[:-1], str(spec)])
    assert "cannot be a folder for proofs" in wrong.stderr
    assert "rows" not in wrong.stdout  # nothing was run
