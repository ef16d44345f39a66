"""`milp-trees counterfactual`."""

import json

import pytest
from typer.testing import CliRunner

from milp_trees.cli.main import app


def run(*args):
    return CliRunner().invoke(app, [*map(str, args)])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A stored tree that splits on the age at 40.5, and two rows."""
    folder = tmp_path_factory.mktemp("people")
    table, rows, stored = (folder / name for name in ("people.csv", "rows.csv", "tree.json"))
    ages = [*range(20, 60, 3)]
    lines = [f"{a},{'red' if a % 2 else 'blue'},{'old' if a > 40 else 'young'}" for a in ages]
    table.write_text("age,colour,group\n" + "\n".join(lines) + "\n")
    rows.write_text("age,colour\n30,red\n50,blue\n")
    solved = run("solve", table, "--target", "group", "--depth", 1, "--out", stored)
    assert solved.exit_code == 0, solved.output
    return table, rows, stored


def test_the_nearest_row_with_its_proof(files):
    table, rows, stored = files
    found = run("counterfactual", stored, rows, "--row", 0)
    assert found.exit_code == 0, found.output
    assert "change     age: 30 ->" in found.stdout
    assert "none is nearer, exact" in found.stdout
    told = json.loads(
        run("counterfactual", stored, rows, "--row", 1, "--norm", "l0", "--json").stdout
    )
    assert (told["distance"], told["exact"], told["prediction"]) == (1, True, "young")
    assert told["row"]["colour"] == "blue"


def test_what_is_not_possible_is_said(files):
    table, rows, stored = files
    several = run("counterfactual", stored, rows)
    assert (several.exit_code, "say with --row" in several.output) == (1, True)
    none = run("counterfactual", stored, rows, "--row", 0, "--immutable", "age")
    assert none.exit_code == 3
    assert "no row that is allowed" in none.stdout
    up = run("counterfactual", stored, rows, "--row", 1, "--monotone", "age=up")
    assert up.exit_code == 3
    wrong = run("counterfactual", stored, rows, "--row", 0, "--target", "middle-aged")
    assert (wrong.exit_code, "its labels are" in wrong.output) == (1, True)
    beyond = run("counterfactual", stored, rows, "--row", 7)
    assert (beyond.exit_code, "no row 7" in beyond.output) == (1, True)
