"""Eleven things that a researcher on optimal models does, as the site says."""

import json
from fractions import Fraction

import pytest

PAGE = "docs/start/research.md"


def test_solve_a_problem_and_read_its_proof(done):
    found = done(1)
    result = found.names["result"]
    assert result.optimal
    assert result.bound == result.value.number == 6
    assert "optimal dp" in found.printed
    assert "petal" in found.printed


def test_let_published_formulations_compete(done):
    printed = done(2).printed
    assert "flow-oct" in printed
    assert "state-flow" in printed
    assert "reference" in printed


def test_know_the_sizes_before_anything_is_built(done):
    printed = done(3).printed
    assert all(word in printed for word in ("binaries", "flow-oct", "bin-oct", "benders-oct"))


def test_hand_a_model_to_another_solver(done, tmp_path):
    done(4)
    described = json.loads((tmp_path / "iris.json").read_text())
    assert (tmp_path / "iris.mps").stat().st_size > 1000
    assert described["solution"]["status"] == "optimal"
    assert "components" in described
    assert (tmp_path / "iris.sol").exists()


def test_convert_the_penalties_of_a_paper(done):
    found = done(5)
    assert found.names["alpha"] == Fraction(2, 150)
    assert found.printed.split() == ["1/75", "1/75", "2/3"]


def test_count_all_trees_near_the_optimum(done):
    trees = done(6).names["trees"]
    assert trees.count == sum(trees.values().values()) > 1
    assert max(trees.values()) <= min(trees.values()) + 2


def test_draw_every_compromise(done):
    printed = done(7).printed
    assert "statistical" in printed
    assert "errors" in printed


def test_have_a_stored_result_derived_again(done):
    assert "derived" in done(8).printed


def test_find_an_optimal_rule_list_and_the_gap_of_another(done):
    names = done(9).names
    assert names["best"].optimal
    assert names["best"].value.number <= names["greedy"].value.number
    assert names["gap"].optimal == (names["best"].value.exact == names["greedy"].value.exact)


def test_ask_whether_a_matrix_is_totally_unimodular(done):
    assert "totally unimodular" in done(10).printed.lower()


def test_change_a_model_in_pyomo(done):
    result = done(11).names["result"]
    assert result.tree.root.test.column != "petal length (cm)"
    assert result.value.number >= 50
    assert result.changed.optimal


def test_a_section_that_is_not_there_is_noticed(done):
    with pytest.raises(KeyError):
        done(12)
