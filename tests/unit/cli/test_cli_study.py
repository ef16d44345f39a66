"""`milp-trees study`: what is listed, what is refused, and that nothing was started then."""

import json

import pytest
from typer.testing import CliRunner

from milp_trees.cli.main import app

SPEC = """\
title = "two problems"
[defaults]
time_limit = 5
[[problems]]
name = "p"
data = "planted:rows=20,tests=4"
space = {max_depth = [0, 1]}
[[methods]]
labels = ["dp", "enumerate"]
seeds = [0, 1]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


def told(*line):
    return CliRunner().invoke(app, ["study", *map(str, line)])


def test_a_dry_run_lists_the_runs_and_bounds_their_time(spec, tmp_path):
    out = told(spec, "--dry-run", "--store", tmp_path / "s.db", "--jobs", "2")
    assert out.exit_code == 0
    assert "two problems: 2 problems, 2 methods, 8 runs" in out.output
    assert "at most 20 s by the time limits" in out.output
    assert out.output.count("p/planted:rows=20,tests=4/depth=") == 8
    assert not (tmp_path / "s.db").exists()


def test_a_dry_run_in_json_is_the_plan(spec):
    out = told(spec, "--dry-run", "--json")
    plan = json.loads(out.stdout)
    assert plan["totals"]["runs"] == len(plan["runs"]) == 8
    assert plan["totals"]["at_most"] == 40
    assert len({run["key"] for run in plan["runs"]}) == 8
    assert plan["spec_text"] == SPEC


def test_a_bad_spec_is_one_sentence_and_nothing_is_started(spec, tmp_path):
    spec.write_text(SPEC.replace('"dp"', '"dpp"'))
    out = told(spec, "--store", tmp_path / "s.db")
    assert out.exit_code == 1
    (line,) = out.stderr.strip().splitlines()
    assert line.startswith(f"Error: {spec}, line 9: There is no method called 'dpp'.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spec.toml"]


def test_a_study_runs_in_this_process_and_is_continued(spec, tmp_path):
    store = tmp_path / "s.db"
    first = told(spec, "--executor", "serial", "--store", store)
    again = told(spec, "--executor", "serial", "--store", store)
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "rows      8: 8 optimal" in first.output
    import milp_trees as mt

    study = mt.study(spec, store=store, executor="serial")
    assert [row["key"] for row in study.rows] == [
        run.key for run in mt.study(spec, dry_run=True).runs
    ]
    assert {row["run"]["attempt"] for row in study.rows} == {1}
