"""What a command says of the value: what a person counts first, then the objective and the limits."""

import json

import pandas as pd
import pytest
from cli_cases import run

from milp_trees.results.tables import summary
from milp_trees.results.value_words import value_words


def words(*arguments):
    """The standard output in one line."""
    return " ".join(run(*arguments).stdout.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--leaf-penalty", "0.2"),
            "12 errors in 60 rows (20.0 %), 1 leaf; objective 0.4 = 0.2 + 1 x 0.2",
        ),
        (
            ("--leaf-penalty", "0.01"),
            "0 errors in 60 rows (0.0 %), 3 leaves; objective 0.03 = 0 + 3 x 0.01",
        ),
        (
            ("--split-penalty", "1/300"),
            "0 errors in 60 rows (0.0 %), 2 splits; objective 0.00666667 = 0 + 2 x 1/300",
        ),
        (
            ("--rule-lists", "--negations", "--length-penalty", "0.01"),
            "0 errors in 60 rows (0.0 %), 2 rules; objective 0.02 = 0 + 2 x 0.01",
        ),
        (
            ("--task", "weighted", "--leaf-penalty", "0.01"),
            "rate 0, 3 leaves; objective 0.03 = 0 + 3 x 0.01",
        ),
        (
            ("--task", "f1:positive=ill", "--leaf-penalty", "0.01"),
            "f1 1, 3 leaves; objective 0.03 = 0 + 3 x 0.01",
        ),
    ],
)
def test_with_a_penalty_errors_and_leaves_come_before_the_objective(table, options, said):
    text = words("solve", table, *options)
    assert said in text, text
    assert "rate by" not in text


@pytest.mark.parametrize("task", ["f1", "auc", "mcc"])
def test_a_loss_with_penalties_is_called_an_objective_whatever_the_task(table, task):
    text = words("solve", table, "--task", task, "--leaf-penalty", "0.01")
    assert "0.03 (objective) by" in text


def test_values_with_penalties_have_the_heading_objective(table):
    sizes = words("size-path", table, "--leaves", "2", "--leaf-penalty", "0.01")
    assert "leaves objective bound" in sizes
    near = words("near-best", table, "--leaf-penalty", "0.01", "--slack", "0.001")
    assert "objective trees" in near


def test_feature_costs_are_a_part_of_the_objective(table, tmp_path):
    costs = tmp_path / "costs.txt"
    costs.write_text("age 0.02\nsmoker 1/30\n")
    assert "objective 0.0533333 = 0 + 4/75 for features" in words(
        "solve", table, "--feature-costs", costs
    )


def test_the_parts_of_an_objective_add_up_exactly():
    row = {
        "objective": 0.135,
        "exact": "27/200",
        "unit": "rate",
        "problem": {"task": {"name": "accuracy", "leaf_penalty": "1/100"}, "data": {"rows": 400}},
        "predictor": {"root": _comb(4)},
    }
    message = "34 errors in 400 rows (8.5 %), 5 leaves; objective 0.135 = 0.085 + 5 x 0.01"
    assert value_words(row) == message
    assert value_words({**row, "objective": None}) == ""


def _comb(splits):
    """A tree in JSON whose splits follow each other."""
    node = {"action": 0}
    for _ in range(splits):
        node = {"test": {"column": "a"}, "false": {"action": 1}, "true": node}
    return node


def test_a_number_is_not_torn_from_its_parts_at_the_end_of_a_line():
    from milp_trees.cli.folding import folded

    line = "value     73 errors in 1 000 rows (7.3 %), 5 leaves; objective 0.123 = 0.073 + 5 x 0.01"
    assert folded(line).splitlines()[1] == " " * 10 + "5 x 0.01"


def test_fairness_states_the_limit_and_the_rate_of_every_group(table):
    options = ("--group", "town", "--constraint", "statistical-parity", "--depth", 2)
    text = words("solve", table, *options)
    assert "limit statistical-parity: rates may differ by 0.01, the default" in text
    assert "rates of well differ by 0, at most 0.01 is allowed" in text
    assert "a 0.8 (16 of 20), b 0.8 (16 of 20), c 0.8 (16 of 20)" in text
    stated = words("solve", table, *options, "--max-disparity", "1/3")
    assert "the default" not in stated
    assert "at most 1/3 is allowed" in stated
    compared = words("compare", table, *options, "--methods", "lagrangian,state-flow@highs")
    assert "at most 0.01 is allowed (a 0.8" in compared


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        ("equalised-odds", "among positives a 1 (16 of 16)"),
        (
            "parity-in-subtrees",
            "differ by at most 0.01 in every node; over all rows they are a 0.8 (16 of 20)",
        ),
        ("feature-budget:at_most=2", "feature-budget: at most 2"),
        ("error-rates:max_false_positive_rate=0.1", "false positive rate 0 (0 of 12), at most 0.1"),
        ("capacity:action=ill,at_most=30", "capacity: 12 rows get ill, allowed: at most 30"),
    ],
)
def test_every_constraint_that_was_taken_is_stated_with_its_limit(table, constraint, said):
    text = words("solve", table, "--group", "town", "--depth", 2, "--constraint", constraint)
    assert said in text, text


def test_the_reference_that_agrees_is_named(table):
    text = run("solve", table, "--method", "dp", "--reference", "enumerate").stdout
    assert "agrees    yes, with enumerate" in text
    found = json.loads(
        run("solve", table, "--method", "dp", "--reference", "enumerate", "--json").stdout
    )
    assert found["reference"] == "enumerate"
    assert dict(summary({**found, "agrees": False}))["agrees"] == "NO, with enumerate"


def test_verify_counts_the_fields_that_nobody_can_check(table, tmp_path):
    out = tmp_path / "r.json"
    run("solve", table, "--out", out)
    text = run("verify", out).stdout
    assert "how the run went (19 fields, listed in not_verified)" in text
    assert "root_bound, trace" not in text


@pytest.mark.parametrize("command", ["compare", "rule-list", "spo", "prune"])
def test_rows_go_into_a_csv_file_as_csv(command, table, tmp_path):
    out = tmp_path / "rows.csv"
    options = {
        "compare": (table, "--methods", "dp,cart"),
        "rule-list": (table, "--methods", "dp-lists,corels", "--max-length", 1),
        "spo": ("two-roads", "--rows", 30, "--depth", 1, "--methods", "greedy,cart"),
        "prune": ("iris", "--trees", 2, "--depth", 2, "--lambda", 0.01, "--methods", "min-cut"),
    }[command]
    for _ in range(2):  # an earlier output is replaced
        run(command, *options, "-o", out)
        frame = pd.read_csv(out)
        assert {"method", "status", "objective", "bound"} <= set(frame)
        assert len(frame) == (1 if command == "prune" else 2)


@pytest.mark.parametrize("command", [("solve",), ("size-path",), ("near-best", "--slack", "1")])
def test_json_is_not_written_into_a_file_of_another_kind(command, table, tmp_path):
    out = tmp_path / "rows.csv"
    message = run(command[0], table, *command[1:], "--out", out, code=1).stderr
    assert "would hold JSON; name a file that ends in .json" in message
    assert not out.exists()


@pytest.mark.parametrize("width", [80, 120])
def test_compare_shows_the_answer_first_and_sizes_after(width, table, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text = run("compare", table, "--methods", "dp,state-flow@highs", "-q").stdout
    lines = text.splitlines()
    heads = next(line.split() for line in lines if line.startswith("method"))
    assert heads[:4] == ["method", "status", "value", "bound"]
    assert heads[5:7] == ["dp", "seconds"]  # agrees with dp
    assert text.index("value") < text.index("binaries")
    assert all(len(line.rstrip()) <= width for line in lines)


def test_compare_is_one_table_where_the_terminal_is_wide_enough(table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    text = run("compare", table, "--methods", "dp,state-flow@highs", "-q").stdout
    head = [line for line in text.splitlines() if line.startswith("method")]
    assert len(head) == 1
    assert "nonzeros" in head[0]
