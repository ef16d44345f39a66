"""`milp-trees prune`, `verify` on what it writes, and `unimodular` on formulations of prunings:
answers, exit codes, one sentence for whatever is wrong.
"""

import re
from fractions import Fraction
from pathlib import Path

import pytest
import typer.main
from cli_prune_cases import LENGTH, SMALL, WIDTH, as_json, run
from row_tests import each_row

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.pruning.cli import prunings as cli_prune
from milp_trees.pruning.from_table import Growing, pruning_problem

# -- the whole curve ----------------------------------------------------------------------------------------------


def test_a_path_lists_every_breakpoint_with_error_and_cost():
    found = as_json("prune", "breast-cancer", "--trees", 40, "--method", "min-cut", "--path")
    points, turns = found["vertices"], [Fraction(b) for b in found["breakpoints"]]
    assert (found["exact"], found["trees"], found["method"]) == (True, 40, "min-cut")
    assert turns == sorted(set(turns))
    assert len(points) == len(turns) + 1 > 30
    assert [Fraction(p["lambda_from"]) for p in points] == [0, *turns]
    cost, error = ([Fraction(p[name]) for p in points] for name in ("cost", "error"))
    assert cost == sorted(cost, reverse=True)
    assert error == sorted(error)
    # At a breakpoint its two prunings are equally good.
    for lam, a, b in zip(turns, range(len(turns)), range(1, len(points)), strict=True):
        assert error[a] + lam * cost[a] == error[b] + lam * cost[b]


def test_the_path_is_what_is_asked_by_default_and_people_get_a_table(tmp_path):
    text = run(*SMALL, "--plot", tmp_path / "curve.svg").stdout
    assert "prunings are best for some λ" in text
    assert "random-forest: 3 trees" in text
    assert (tmp_path / "curve.svg").stat().st_size > 1000
    assert as_json(*SMALL)["vertices"] == as_json(*SMALL, "--path")["vertices"]


# -- one λ --------------------------------------------------------------------------------------------------------


def test_methods_agree_on_one_lambda():
    names = "ip1@highs,ip3@highs,ip3-closure@highs,min-cut,dantzig-wolfe"
    rows = as_json(*SMALL, "--lambda", "0.01", "--methods", names)
    assert [row["method"] for row in rows] == names.split(",")
    assert {(row["status"], row["agrees"]) for row in rows} == {("optimal", True)}
    assert len({row["exact"] for row in rows}) == 1


def test_a_store_keeps_the_rows(tmp_path):
    options = (
        *SMALL,
        "--lambda",
        "1/100",
        "--methods",
        "min-cut,enumerate-prunings",
        "--store",
        tmp_path / "rows.sqlite",
    )
    first = as_json(*options)
    assert (tmp_path / "rows.sqlite").exists()
    assert [row["seconds"] for row in as_json(*options)] == [row["seconds"] for row in first]


@pytest.mark.slow
@each_row("model", ["random-forest", "extra-trees", "bagging", "tree", "budget-rf"])
@each_row("errors", ["train", "oob", "held-out"])
def test_every_model_with_every_way_of_counting_errors(model, errors):
    options = (
        "prune",
        "iris",
        "--trees",
        3,
        "--model",
        model,
        "--errors",
        errors,
        "--lambda",
        "0.01",
    )
    if (model, errors) == ("tree", "oob"):
        assert "no out-of-bag rows" in run(*options, code=1).stderr
        return
    found = as_json(*options)
    assert found["status"] == "optimal"
    assert len(found["problem"]["space"]["ensemble"]["classes"]) == 3
    assert found["problem"]["data"]["rows"] == (45 if errors == "held-out" else 150)
    assert ("error_weights" in found["problem"]["task"]) == (errors == "oob")


def test_regression_counts_squared_errors():
    found = as_json(
        *SMALL, "--target", WIDTH, "--drop", "target", "--regression", "--lambda", "0.01"
    )
    assert found["exact"] is None
    assert set(found["scores"]) == {"error", "cost", "mean_squared_error"}
    assert "(a number)" in run(*SMALL, "--target", WIDTH, "--drop", "target", "--regression").stdout


def test_a_test_share_is_scored():
    for question in (("--lambda", "0.01"), ("--budget", "1.5", "--exact")):
        scores = as_json(*SMALL, "--test-size", 0.3, *question)["scores"]
        assert scores["test_rows"] == 45
        assert 0 <= scores["test_error"] <= 1


# -- costs --------------------------------------------------------------------------------------------------------


def test_costs_of_every_kind_reach_the_problem(tmp_path):
    prices = tmp_path / "prices.txt"
    prices.write_text(f"{LENGTH} 1/3\n{WIDTH}, 0.25\n")
    found = as_json(
        *SMALL,
        "--lambda",
        "0.01",
        "--feature-costs",
        prices,
        "--feature-group",
        f"petal=1/2:{LENGTH},{WIDTH}",
        "--feature-group-once",
        "camera=7:petal",
        "--node-cost",
        "0.01",
        "--leaf-cost",
        "1/1000",
    )
    assert found["problem"]["task"]["costs"] == {
        "features": {LENGTH: "1/3", WIDTH: "1/4"},
        "groups": [
            {"name": "petal", "members": [LENGTH, WIDTH], "cost": "1/2", "once": False},
            {"name": "camera", "members": ["petal"], "cost": "7", "once": True},
        ],
        "node": "1/100",
        "leaf": "1/1000",
    }


def test_long_prices_are_rounded_where_a_denominator_is_stated(tmp_path):
    prices = tmp_path / "prices.txt"
    prices.write_text(f"{LENGTH} 0.333333333333\n")
    assert "more digits" in run(*SMALL, "--lambda", 1, "--feature-costs", prices, code=1).stderr
    found = as_json(*SMALL, "--lambda", 1, "--feature-costs", prices, "--denominator", 100)
    assert found["problem"]["task"]["costs"]["features"] == {LENGTH: "33/100"}


def test_a_text_column_is_one_feature(tmp_path):
    table = tmp_path / "people.csv"
    rows = [
        f"{20 + i},{['red', 'green', 'blue'][i % 3]},{'ill' if i % 3 == 0 and i > 10 else 'well'}"
        for i in range(60)
    ]
    table.write_text("age,color,health\n" + "\n".join(rows) + "\n")
    found = as_json(
        "prune", table, "--trees", 2, "--lambda", "0.01", "--feature-group", "all=1:color,age"
    )
    assert found["problem"]["space"]["ensemble"]["features"] == ["age", "color"]


# -- budgets ------------------------------------------------------------------------------------------------------


def test_a_budget_gives_the_hull_point_below_it_and_claims_no_more():
    points = as_json(*SMALL)["vertices"]
    costs = [Fraction(p["cost"]) for p in points]
    middle = (costs[0] + costs[1]) / 2
    at, between = (
        as_json(*SMALL, "--budget", f"{b.numerator}/{b.denominator}")["budget"]
        for b in (costs[1], middle)
    )
    assert (at["proven"], Fraction(at["cost"]), Fraction(at["bound"])) == (
        True,
        costs[1],
        Fraction(points[1]["error"]),
    )
    assert between["proven"] is False
    assert Fraction(between["cost"]) == costs[1]
    assert Fraction(between["bound"]) < Fraction(between["error"])
    assert "not proven" in between["note"]
    rich = as_json(*SMALL, "--budget", 1000)["budget"]
    assert (rich["proven"], rich["cost"]) == (True, points[0]["cost"])


@each_row("budget", ["0", "1/2", "1", "2", "100"])
def test_an_exact_budget_is_the_best_of_all_prunings(budget):
    small = ("prune", "iris", "--trees", 2, "--depth", 2, "--budget", budget, "--exact")
    found, other = as_json(*small), as_json(*small, "--method", "enumerate-prunings")
    assert (found["status"], found["method"]) == ("optimal", "ip3-closure@highs")
    assert found["exact"] == other["exact"]
    assert found["scores"]["cost"] <= float(Fraction(budget))
    assert found["start"]["accepted"] is True


def test_nothing_within_a_budget_has_its_own_exit_code():
    for more in ((), ("--exact",)):
        assert (
            "No pruning keeps the budget"
            in run(*SMALL, "--leaf-cost", 1, "--budget", "2.9", *more, code=3).stderr
        )
        run(*SMALL, "--leaf-cost", 1, "--budget", 3, *more)


def test_the_hull_start_keeps_the_budget_of_a_breakpoint():
    problem = pruning_problem("iris", Growing(trees=3, max_depth=3)).problem
    for point in mt.prune_curve(problem).vertices:
        start = cli_prune.hull_start(problem, str(point.cost))
        assert problem.task.parts(start.routes(problem.dataset), problem.dataset) == (
            point.error,
            point.cost,
        )


# -- what is wrong ------------------------------------------------------------------------------------------------

FILES = {
    "negative": b"petal length (cm) -2\n",
    "missing": b"petal length (cm) nan\n",
    "strange": b"nothing 2\n",
    "binary": b"\xff\xfe\x00",
    "twice": b"petal length (cm) 1\npetal length (cm) 2\n",
    "words": b"petal length (cm) much\n",
}


@each_row(
    ("arguments", "sentence"),
    [
        (("--depth", 0), "at least one level"),
        (("--trees", 0), "at least one tree"),
        (("--seed", -1), "seed must be"),
        (("--model", "oak"), "model is one of"),
        (("--errors", "some"), "errors are counted on"),
        (("--test-size", 2), "between 0 and 1"),
        (("--errors", "held-out", "--held-out", 0), "between 0 and 1"),
        (("--held-out", 0.2), "give that too"),
        (("--errors", "held-out", "--test-size", 0.2), "leave out --test-size"),
        (("--regression",), "holds text"),
        (("--lambda", "x"), "--lambda must be a number"),
        (("--lambda", ""), "--lambda must be a number"),
        (("--lambda", -1), "--lambda must not be negative"),
        (("--lambda", "1e-300"), "64 bits"),
        (("--budget", "x"), "--budget must be a number"),
        (("--budget", -1), "--budget must not be negative"),
        (("--lambda", 1, "--budget", 1), "ask different questions"),
        (("--path", "--budget", 1), "ask different questions"),
        (("--exact",), "belongs to --budget"),
        (("--methods", "min-cut"), "give --lambda too"),
        (("--lambda", 1, "--methods", "min-cut", "--method", "min-cut"), "not both"),
        (("--lambda", 1, "--method", "oak"), "no method called 'oak'"),
        (("--lambda", 1, "--method", "dp"), "dp searches trees"),
        (("--lambda", 1, "--method", "ip3@oak"), "no solver called 'oak'"),
        (("--method", "ip3@highs"), "answers for one λ"),
        (("--budget", 1, "--exact", "--method", "min-cut"), "takes no budget"),
        (("--lambda", 1, "--plot", "curve.svg"), "--plot draws the path"),
        (("--plot", "curve.txt"), "name ends in"),
        (("--store", "rows.sqlite"), "give --methods too"),
        (("--feature-costs", "no such file"), "cannot be used"),
        (("--feature-costs", "negative"), "must not be negative"),
        (("--feature-costs", "missing"), "must be a number"),
        (("--feature-costs", "strange"), "which is no feature"),
        (("--feature-costs", "binary"), "no text file"),
        (("--feature-costs", "twice"), "two costs for"),
        (("--feature-costs", "words"), "must hold lines"),
        (("--denominator", 0), "denominator must be"),
        (("--node-cost", "x"), "cost of a node must be a number"),
        (("--leaf-cost", -1), "cost of a leaf is -1"),
        (("--node-cost", "1e30"), "64 bits"),
        (("--feature-group", "blood"), "--feature-group is written"),
        (("--feature-group-once", "blood=2"), "--feature-group-once is written"),
        (("--feature-group", "blood=x:sepal width (cm)"), "cost of the group blood"),
        (("--feature-group", "blood=2:iron"), "no feature or group"),
        (("--feature-group", "a=1:b", "--feature-group", "b=1:a"), "contains itself"),
        (("--time-limit", 0), "time_limit must be a positive number"),
        (("--out", "no such folder/x.json"), "there is no folder"),
        (("--drop", "*"), "No column is left"),
    ],
)
def test_wrong_arguments_give_one_sentence_and_exit_code_1(
    arguments, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    assert sentence in run("prune", "iris", "--trees", 2, *arguments, code=1).stderr


def test_fractions_are_no_classes(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("x,y\n1,0.5\n2,1.5\n3,0.5\n")
    assert "give --regression" in run("prune", table, code=1).stderr


def test_every_option_is_in_the_command_page():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "cli.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(app).commands
    shared = {"--out", "--json", "--help"}
    for command in ("prune", "unimodular"):
        for option in {
            o for p in commands[command].params for o in p.opts if o.startswith("--")
        } - shared:
            assert re.search(rf"`{option}[` ]", page), option


# -- unimodularity ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row(
    ("formulation", "answer"),
    [("ip0", "yes"), ("ip1", "no"), ("ip3", "yes"), ("ip3-closure", "yes")],
)
def test_formulations_of_prunings_are_checked_on_a_table(formulation, answer):
    trees_wanted = 1 if formulation == "ip0" else 2
    assert (
        as_json(
            "unimodular",
            formulation,
            "--data",
            "breast-cancer",
            "--trees",
            trees_wanted,
            "--depth",
            3,
        )["answer"]
        == answer
    )


@each_row(
    ("arguments", "sentence"),
    [
        (("ip3",), "needs a problem"),
        (("ip3", "--example", "oak"), "no example called"),
        (
            ("ip3", "--example", "figure-1", "--trees", 2),
            "--trees belongs to a formulation with --data",
        ),
        (("model.mps", "--depth", 2), "--depth belongs to a formulation with --data"),
        (
            ("ip3", "--data", "iris", "--binarize", "auto"),
            "--binarize is for formulations of trees",
        ),
        (("flow-oct", "--data", "iris", "--trees", 2), "--trees is for formulations of prunings"),
        (("ip3", "--data", "iris", "--trees", 0), "at least one tree"),
    ],
)
def test_wrong_arguments_of_unimodular(arguments, sentence):
    assert sentence in run("unimodular", *arguments, code=1).stderr


def test_a_proof_within_a_budget_is_derived_again_by_another_solver():
    """There are too many prunings to enumerate and no cut knows of budgets: the same program goes
    to a solver that did not make the result.
    """
    from milp_trees.pruning.from_table import Growing, pruning_problem

    problem = pruning_problem("iris", Growing(trees=4), max_cost=2).problem
    assert mt.registry.method("enumerate-prunings").unsupported(problem)
    result = mt.solve(problem, "ip3-closure@highs")
    assert result.optimal
    found = mt.verify(result)
    assert found.verdict is mt.plugins.Verdict.DERIVED
    assert found.derived_by.split("@")[0] != "ip3-closure"
    assert found.derived_by.split("@")[1] != "highs"
