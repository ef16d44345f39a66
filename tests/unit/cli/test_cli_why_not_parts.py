"""`milp-trees why-not` about another model, and about the rows of a formulation."""

import json

import pytest
from typer.testing import CliRunner

from milp_trees.cli.main import app

DATA = ("planted:rows=40,tests=5,depth=2,seed=1", "--depth", 2)
#: A leaf of 15 rows that says 1 is too many, and none is too few.
CONFLICT = ("--min-samples-leaf", 15, "--constraint", "capacity:action=1,at_least=3", "--constraint", "capacity:action=1,at_most=10")  # fmt: skip


def run(*args):
    return CliRunner().invoke(app, ["why-not", *map(str, [*DATA, *args])])


def test_another_tree_has_its_cost_its_penalties_and_its_weights(tmp_path):
    path = tmp_path / "stump.json"
    solved = CliRunner().invoke(app, ["solve", DATA[0], "--depth", "1", "--out", str(path)])
    assert solved.exit_code == 0, solved.output
    stated = run("--tree", path)
    assert stated.exit_code == 0, stated.output
    assert all(word in stated.stdout for word in ("value ", "gap ", "penalty ", "weights "))
    found = json.loads(run("--tree", path, "--json").stdout)
    assert found["schema"] == "milp-trees/why-not-tree/1"
    assert found["gap"] > 0
    assert found["weights"]["total"] == found["weights"]["bound"]
    assert found["penalty"]["current"] == "0/1"


def test_rows_of_a_formulation_conflict():
    stated = run(*CONFLICT, "--formulation", "flow-oct", "--among", "side, leaf_size")
    assert stated.exit_code == 0, stated.output
    assert "None of them can be left out." in stated.stdout
    assert "capacity of 1" in stated.stdout
    found = json.loads(
        run(*CONFLICT, "--formulation", "state-flow@highs", "--among", "side", "--json").stdout
    )
    assert {row["words"] for row in found["rows"]} == {"capacity of 1"}
    assert found["irreducible"] is True


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--formulation", "flow-oct", "--tree", "x.json"), "not both"),
        (("--among", "side"), "give --formulation too"),
        (("--formulation", "nix"), "no formulation called 'nix'"),
        (("--formulation", "flow-oct@nix"), "no solver called 'nix'"),
        (("--formulation", "flow-oct"), "has a feasible point"),
        (("--formulation", "benders-oct"), "finds further rows while it is solved"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(options, sentence):
    stated = run(*options)
    assert stated.exit_code == 1
    assert sentence in " ".join(stated.output.split())
