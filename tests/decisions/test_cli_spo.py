"""`milp-trees spo`: answers, JSON, and one sentence for whatever is wrong."""

import json

import pytest
from row_tests import each_row
from typer.testing import CliRunner

from milp_trees.cli.main import app

SMALL = ("--rows", 40, "--test-rows", 30, "--thresholds", 8)


def run(*arguments, code=0):
    """Run the command; the exit code is checked."""
    found = CliRunner().invoke(app, ["spo", *map(str, arguments)])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output + found.stderr
    return found


def as_json(*arguments, code=0):
    rows = json.loads(run(*arguments, "--json", code=code).stdout)
    return {row["method"]: row for row in ([rows] if isinstance(rows, dict) else rows)}


def test_greedy_program_exact_search_and_regression_trees_stand_side_by_side():
    line = (
        "shortest-path",
        "--rows",
        80,
        "--degree",
        10,
        "--noise",
        0.25,
        "--depth",
        2,
        "--seed",
        1,
        "--time-limit",
        6,
    )
    rows = as_json(*line, "--methods", "greedy,spot@highs,dp,cart")
    assert list(rows) == ["greedy-spo", "spot@highs", "dp", "cart-spo"]
    assert rows["dp"]["status"] == "optimal"
    assert rows["dp"]["agrees"] is True
    least = rows["dp"]["objective"]
    assert (
        least
        <= rows["spot@highs"]["objective"]
        <= rows["greedy-spo"]["objective"]
        < rows["cart-spo"]["objective"]
    )
    assert rows["spot@highs"]["start"]["accepted"] is True
    assert rows["spot@highs"]["bound"] <= least
    for row in rows.values():
        assert row["unit"] == "SPO loss"
        assert 0 < row["scores"]["normalised_regret"] < 0.1
        assert 0 < row["scores"]["test_normalised_regret"] < 0.1
        assert row["scores"]["test_rows"] == 1000
        assert "seed=1" in row["problem"]["data"]["path"]


def test_the_table_names_data_decisions_and_draws_the_best_tree():
    text = run("shortest-path", *SMALL, "--depth", 1, "--methods", "greedy,dp").stdout
    assert "degree=2" in text
    assert "decisions of 24 entries, 20 vertices" in text
    assert "test normalised regret" in text
    assert "├─ x" in text


def test_two_roads_are_told_apart_by_one_split_near_the_crossing():
    rows = as_json(
        "two-roads",
        "--rows",
        2000,
        "--test-rows",
        500,
        "--depth",
        1,
        "--thresholds",
        200,
        "--methods",
        "dp,cart",
    )
    assert rows["dp"]["predictor"]["root"]["test"]["value"] == pytest.approx(0.28458, abs=0.005)
    assert (
        rows["dp"]["scores"]["test_normalised_regret"]
        < 0.001
        < rows["cart-spo"]["scores"]["test_normalised_regret"]
    )


def test_news_takes_weights_and_a_constraint_set():
    rows = as_json("news", *SMALL, "--constraints", 11, "--depth", 1, "--methods", "greedy,dp")
    assert rows["dp"]["objective"] <= rows["greedy-spo"]["objective"]
    assert rows["dp"]["problem"]["task"]["decisions"]["kind"] == "linear"


def test_a_set_too_large_to_list_is_searched_with_its_oracle():
    rows = as_json(
        *SMALL,
        "--grid",
        "10x10",
        "--depth",
        1,
        "--methods",
        "dp-oracle,greedy",
        "--min-samples-leaf",
        5,
    )
    assert rows["dp-oracle"]["status"] == "optimal"
    assert rows["dp-oracle"]["objective"] <= rows["greedy-spo"]["objective"]
    text = run(*SMALL, "--grid", "10x10", "--depth", 0, "--methods", "greedy").stdout
    assert "48 620 vertices" in text


def test_rows_can_be_stored_and_come_back(tmp_path):
    line = (
        "shortest-path",
        *SMALL,
        "--depth",
        1,
        "--methods",
        "greedy,dp",
        "--store",
        tmp_path / "s.sqlite",
    )
    assert as_json(*line) == as_json(*line)


@each_row(
    "arguments, code, sentence",
    [
        (["roads"], 1, "one of shortest-path, two-roads, news; got 'roads'"),
        (["--rows", 0], 1, "rows must be at least 1"),
        (["--thresholds", -1], 1, "thresholds at least 0"),
        (["--grid", "4"], 1, "written ROWSxCOLUMNS, for example 4x4; got '4'"),
        (["--grid", "1x1"], 1, "needs at least two nodes"),
        (["--noise", 2], 1, "0 <= noise <= 1"),
        (["--depth", -1], 1, "--depth needs a whole number; got '-1'"),
        (
            ["two-roads", "--degree", 3],
            1,
            "--degree is for shortest-path; the data two-roads do not use it",
        ),
        (["--degree", 0.5, "--inner", -3], 1, "negative base"),
        (["--split-penalty", "much"], 1, "split_penalty must be a number"),
        (["--methods", "grdy"], 1, "no method called 'grdy'"),
        (["news", "--constraints", 27], 1, "empty"),
        (["--min-samples-leaf", 500], 3, "No tree"),
        (["--rows", "many"], 2, "--rows"),
        (["--out", "/nowhere/rows.json"], 1, "/nowhere"),
    ],
)
def test_whatever_is_wrong_gets_one_sentence_and_an_exit_code(arguments, code, sentence):
    found = run(
        *arguments, *(() if "--rows" in arguments else ("--rows", 40)), "--test-rows", 10, code=code
    )
    assert sentence in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr
