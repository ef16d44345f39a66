"""`milp-trees gap`."""

import json

import pytest
from typer.testing import CliRunner

from milp_trees.cli.main import app

DATA = "planted:rows=40,tests=5,depth=1,seed=1"


def run(*args):
    return CliRunner().invoke(app, ["gap", *map(str, args)])


@pytest.fixture
def typed(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("if 1: 1\nelse if 2: 0\nelse: 1\n")
    return path


def test_the_gap_of_a_typed_list(typed):
    stated = run(typed, DATA, "--rule-lists", "--max-length", 2)
    assert stated.exit_code == 0, stated.output
    assert "value " in stated.stdout
    assert "gap " in stated.stdout
    assert "the optimum; proven by" in stated.stdout
    found = json.loads(run(typed, DATA, "--rule-lists", "--max-length", 2, "--json").stdout)
    assert found["gap"] == found["value"] - found["optimum"]
    assert found["optimum"] == 0


def test_a_name_that_is_not_known_is_told_with_names_like_it(typed):
    typed.write_text("if 1x: 1\nelse: 0\n")
    stated = run(typed, DATA, "--rule-lists", "--max-length", 2)
    assert stated.exit_code == 1
    assert "unknown feature '1x'. Did you mean" in stated.output
