"""`milp-trees library build` and `check`: from a SPEC file to a folder, and exit codes."""

import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.exports.library.spec import entries_of
from milp_trees.studies.planning.reading import read_plan

SPEC = """
title = "two"
[library]
version = "7"
solver_seconds = 5
licences = {"mine.csv" = "CC0"}
[[problems]]
name = "a"
data = [{generator = "planted", rows = 12, tests = 3, seed = 1}]
space = [{max_depth = 1}]
[[problems]]
name = "b"
data = [{name = "mine", file = "mine.csv", target = "y"}, {name = "theirs", file = "theirs.csv", target = "y"}]
space = [{max_depth = 1}]
[[methods]]
labels = ["dp", "state-flow@highs", "state-flow@scip"]
[[methods]]
formulations = ["state-flow:merge_rows=off"]
"""


def run(*words):
    return CliRunner().invoke(app, ["library", *map(str, words)])


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "two.toml").write_text(SPEC)
    for name in ("mine.csv", "theirs.csv"):
        rows = "0,a\n1,b\n" * (1 + (name == "mine.csv"))
        (tmp_path / name).write_text(f"x,y\n{rows}")
    return tmp_path / "two.toml"


def test_formulations_of_a_plan_count_once_whatever_their_solvers(spec):
    """Engines give no instance; options make another formulation."""
    entries = entries_of(read_plan(spec), licences={"mine.csv": "CC0"})
    assert [entry.problem.name.partition("/")[0] for entry in entries] == ["a", "b", "b"]
    assert {entry.formulations for entry in entries} == {
        ("state-flow", "state-flow:merge_rows=off")
    }
    assert [entry.licence for entry in entries] == ["", "CC0", ""]


def test_a_library_is_built_and_checked_from_the_command_line(spec, tmp_path):
    """A damaged file gives exit code 4 with the first contradiction."""
    out = tmp_path / "library"
    built = run("build", spec, "--out", out)
    assert built.exit_code == 0, built.output
    assert "[3/3]" in built.output
    assert "6 instances (6 easy, 0 hard, 0 open)" in built.output
    published = [line.split(",") for line in (out / "registry.csv").read_text().splitlines()]
    assert {row[0].split("--")[0]: "yes" in row for row in published[1:]} == {
        "a-planted-rows12-tests3-seed1-depth1": True,
        "b-mine-depth1": True,
        "b-theirs-depth1": False,
    }
    assert run("check", out, "--solvers", "highs").exit_code == 0
    (out / "b-mine-depth1--state-flow.sol").write_text("=obj= 5\n")
    found = run("check", out, "--only", "b-mine*", "--solvers", "none")
    assert found.exit_code == 4
    assert "Error: b-mine-depth1--state-flow.sol does not have the checksum" in found.output


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("version =", "versoin =", "the table [library] has no key 'versoin'"),
        ('"7"', "7", "the version of the library is a text"),
        ("= 5", "= 0", "solver_seconds is a positive number of seconds"),
        ("= 5", '= "5"', "solver_seconds is a positive number of seconds"),
        ('{"mine.csv" = "CC0"}', '"CC0"', "licences is a table"),
    ],
)
def test_a_wrong_table_is_one_sentence_and_nothing_is_written(old, new, sentence, spec, tmp_path):
    spec.write_text(SPEC.replace(old, new, 1))
    out = tmp_path / "library"
    with pytest.raises(mt.DataError, match=sentence.replace("[", r"\[")):
        mt.build_library(spec, out)
    assert not out.exists()


def test_no_formulation_and_no_library_are_one_sentence(spec, tmp_path):
    found = run("build", spec, "--out", tmp_path / "library", "--only", "nothing")
    assert (found.exit_code, "gives no instance" in found.output) == (1, True)
    found = run("check", tmp_path)
    assert (found.exit_code, "holds no registry.json" in found.output) == (1, True)
    found = run("check", tmp_path / "library", "--solvers", "pulp")
    assert found.exit_code == 1
