"""The greedy oblique tree, the command, and stored results."""

import json

import numpy as np
import pytest
from cli_cases import run

import milp_trees as mt
from milp_trees.oblique.testing import oblique_problems, random_oblique_problem
from milp_trees.results.result import Status

TABLE = "x,y,c\n0,0,a\n1,1,a\n2,2,a\n0,1,b\n1,2,b\n2,3,b\n"


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text(TABLE)
    return file


def test_a_greedy_tree_keeps_every_limit_and_beats_a_leaf():
    better = 0
    for seed in range(60):
        problem = random_oblique_problem(np.random.default_rng(seed), 12)
        if problem.task.constraints:
            continue  # it takes none
        result = mt.solve(problem, method="greedy-oblique", reference=None)
        if result.predictor is None:
            continue
        assert not problem.violations(result.predictor)
        leaves = problem.space.simplest(result.predictor.actions)
        allowed = [problem.value(t).exact for t in leaves if not problem.violations(t)]
        assert not allowed or result.value.exact <= min(allowed)
        better += bool(allowed) and result.value.exact < min(allowed)
    assert better > 20


def test_a_greedy_tree_finds_a_sloping_split():
    for name in ("diagonal", "cheap_columns"):
        problem = oblique_problems()[name]
        best = mt.solve(problem, method="enumerate-oblique", reference=None)
        greedy = mt.solve(problem, method="greedy-oblique", reference=None)
        assert greedy.value.exact == best.value.exact


@pytest.mark.parametrize("name", ["oct-h@highs", "s1o@highs"])
def test_a_greedy_start_is_accepted(name):
    problem = oblique_problems()["diagonal"]
    result = mt.solve(problem, method=name, start="greedy-oblique", reference=None)
    assert result.status is Status.OPTIMAL
    assert result.start["accepted"] is True


def test_the_command_finds_a_tree_and_stores_it(table, tmp_path):
    out = tmp_path / "tree.json"
    text = run("oblique-tree", table, "--depth", "1", "--out", out).stdout
    assert "0 errors in 6 rows" in text
    assert "x - y >= -0.5: a  (3 rows)" in text
    assert "Verdict" in run("verify", out).stdout
    rows = run("predict", out, table).stdout.splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == list("aaabbb")


def test_the_command_s_options_state_a_problem(table):
    flags = ["--depth", "2", "--gap", "1/50", "--leaves", "3", "--min-samples-leaf", "2"]
    flags += ["--column-penalty", "1/100", "--split-penalty", "1/90", "--leaf-penalty", "1/80"]
    found = json.loads(run("oblique-tree", table, *flags, "--json").stdout)
    assert found["problem"]["space"] == mt.oblique.ObliqueTrees(2, "1/50", 3, 2).spec()
    assert found["problem"]["task"]["feature_costs"] == {"x": "1/100", "y": "1/100"}


def test_the_command_compares(table):
    text = run("oblique-tree", table, "--depth", "1", "--methods", "oct-h@highs,s1o@highs").stdout
    assert text.count("optimal") >= 2


def test_wrong_options_are_sentences(table):
    assert "gap must be" in run("oblique-tree", table, "--gap", "2", code=1).stderr
    both = ["--method", "oct-h@highs", "--methods", "s1o@highs"]
    assert "both given" in run("oblique-tree", table, *both, code=1).stderr
    assert "--methods too" in run("oblique-tree", table, "--store", "x.db", code=1).stderr


def test_a_stored_tree_predicts_from_categories(tmp_path):
    """The column `color == red` is made again from the text of new rows."""
    rows = ["0,red,a", "1,red,a", "2,red,b", "0,blue,b", "1,blue,b", "2,blue,b"]
    file, out = tmp_path / "mixed.csv", tmp_path / "tree.json"
    file.write_text("\n".join(["size,color,c", *rows]) + "\n")
    run("oblique-tree", file, "--depth", "1", "--out", out)
    found = run("predict", out, file, "--proba").stdout.splitlines()
    assert [row.split(",")[1] for row in found[1:]] == list("aabbbb")
    assert [row.split(",")[2] for row in found[1:]] == ["1", "1", "0", "0", "0", "0"]
