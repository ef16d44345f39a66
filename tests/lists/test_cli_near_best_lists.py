"""`milp-trees near-best --rule-lists`: what it says, as text and as JSON."""

import json

from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app

DATA = "planted-list:rows=60,tests=5,rules=2,noise=0.1,seed=1"
SPACE = (DATA, "--rule-lists", "--max-length", "2", "--slack", "6")


def run(*args):
    stated = CliRunner().invoke(app, ["near-best", *args])
    assert stated.exit_code == 0, stated.output
    return stated.stdout


def test_the_lists_are_counted_listed_and_drawn():
    wanted = mt.near_best(
        mt.Problem(mt.load(DATA), mt.Accuracy(), mt.RuleLists(max_length=2)), slack=6
    )
    text = run(*SPACE, "--list", "2", "--sample", "1")
    assert f"{wanted.count} rule lists within 6 of" in text
    assert wanted[0].predictor.to_text() in text
    assert "antecedent" in text
    assert "(drawn)" in text
    assert "trees" not in text
    stated = json.loads(run(*SPACE, "--list", "2", "--sample", "3", "--json"))
    assert stated["count"] == wanted.count
    assert stated["complete"]
    assert [len(stated[name]) for name in ("lists", "sample")] == [2, 3]
    assert stated["lists"][0]["list"] == wanted[0].predictor.to_json()
    assert stated["antecedents"][0]["lists"] == wanted.importance()["lists"].tolist()[0]


def test_a_picture_is_drawn(tmp_path):
    run(*SPACE, "--plot", str(tmp_path / "near.svg"))
    assert "share of the rule lists that use the antecedent" in (tmp_path / "near.svg").read_text()
