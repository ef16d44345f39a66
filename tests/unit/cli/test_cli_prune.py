"""`milp-trees prune`, `verify` on what it writes, and `unimodular` on formulations of prunings:
answers, exit codes, one sentence for whatever is wrong.
"""

import copy
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli import prunings as cli_prune
from milp_trees.cli.main import app
from milp_trees.errors import MilpTreesError
from milp_trees.study.pruning import Growing, pruning_problem
from milp_trees.verification import verify

SMALL = ("prune", "iris", "--trees", 3, "--max-depth", 3)
LENGTH, WIDTH = "petal length (cm)", "petal width (cm)"


def run(*arguments, code=0):
    """Run a command; the exit code is checked, and an error is one line."""
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output + found.stderr
    if code == 1:
        assert found.stderr.strip().splitlines()[-1].startswith("Error: ")
    return found


def as_json(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


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
@pytest.mark.parametrize("model", ["random-forest", "extra-trees", "bagging", "tree", "budget-rf"])
@pytest.mark.parametrize("errors", ["train", "oob", "held-out"])
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


@pytest.mark.parametrize("budget", ["0", "1/2", "1", "2", "100"])
def test_an_exact_budget_is_the_best_of_all_prunings(budget):
    small = ("prune", "iris", "--trees", 2, "--max-depth", 2, "--budget", budget, "--exact")
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


# -- verify -------------------------------------------------------------------------------------------------------

WRITTEN = {
    "plain": ("--lambda", "0.01"),
    "out of bag": ("--lambda", "0.01", "--errors", "oob"),
    "held out": ("--lambda", "1/300", "--errors", "held-out"),
    "prices": (
        "--lambda",
        "0.01",
        "--feature-group",
        f"petal=1/2:{LENGTH},{WIDTH}",
        "--feature-group-once",
        "camera=7:petal",
        "--node-cost",
        "0.01",
        "--leaf-cost",
        "0.001",
    ),
    "test share": ("--lambda", "0.01", "--test-size", 0.3),
    "regression": ("--lambda", "0.01", "--target", WIDTH, "--drop", "target", "--regression"),
    "budget": ("--budget", "1.5", "--exact"),
    "budget-rf": ("--lambda", "0.01", "--model", "budget-rf"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Results of `prune` as files, by name; each is made once."""
    folder, made = tmp_path_factory.mktemp("written"), {}

    def write(name):
        if name not in made:
            made[name] = folder / f"{name}.json"
            run(*SMALL, *WRITTEN[name], "--out", made[name])
        return made[name]

    return write


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_what_prune_writes_is_verified(written, name):
    text = run("verify", written(name)).stdout
    assert text.strip().endswith("Verdict: derived.")


def trees(data):
    return data["problem"]["space"]["ensemble"]


def split(data):
    return next(h for h, left in enumerate(trees(data)["left"]) if left >= 0)


#: What is done to a stored result, by name.
TAMPERING = {
    "a split fewer": lambda d: d["predictor"]["kept"].pop(),
    "no split": lambda d: d["predictor"].update(kept=[]),
    "a split twice": lambda d: d["predictor"]["kept"].append(d["predictor"]["kept"][0]),
    "a node that is not there": lambda d: d["predictor"]["kept"].append(10**6),
    "half a node": lambda d: d["predictor"]["kept"].__setitem__(0, 0.5),
    "number of trees": lambda d: d["predictor"].update(trees=77),
    "objective": lambda d: d.update(objective=d["objective"] + 1e-6),
    "exact": lambda d: d.update(exact="1/3"),
    "bound": lambda d: d.update(bound=d["bound"] + 1e-3),
    "error": lambda d: d["scores"].update(error=d["scores"]["error"] + 1e-6),
    "cost": lambda d: d["scores"].update(cost=d["scores"]["cost"] + 1e-6),
    "a loop": lambda d: trees(d)["left"].__setitem__(split(d), split(d)),
    "a child": lambda d: trees(d)["right"].__setitem__(split(d), trees(d)["right"][split(d)] + 1),
    "a column": lambda d: trees(d)["column"].__setitem__(
        split(d), (trees(d)["column"][split(d)] + 1) % 3
    ),
    "a threshold": lambda d: trees(d)["threshold"].__setitem__(split(d), 1.0),
    "a value": lambda d: trees(d)["value"][split(d)].__setitem__(
        0, trees(d)["value"][split(d)][0] + 0.5
    ),
    "a feature": lambda d: trees(d)["feature_of"].__setitem__(1, 0),
    "columns": lambda d: trees(d)["columns"].reverse(),
    "features": lambda d: trees(d)["features"].reverse(),
    "precision": lambda d: trees(d).update(single=not trees(d)["single"]),
    "a list cut": lambda d: trees(d)["threshold"].pop(),
    "lam": lambda d: d["problem"]["task"].update(lam="1/7"),
    "prices": lambda d: d["problem"]["task"]["costs"].update(features="3"),
    "price of a leaf": lambda d: d["problem"]["task"]["costs"].update(leaf="3"),
    "a budget": lambda d: d["problem"]["task"].update(max_cost="0"),
    "who pays": lambda d: d["problem"]["task"].update(
        cost_weights=[0, *[1] * (d["problem"]["data"]["rows"] - 1)]
    ),
}


def sentence(data):
    """Why a stored result is refused, or None."""
    try:
        verify(data)
    except MilpTreesError as why:
        return str(why)
    return None


@pytest.mark.parametrize("name", ["out of bag", "held out", "prices", "regression", "budget"])
def test_tampering_is_noticed(written, name):
    stored = json.loads(written(name).read_text())
    for what, change in TAMPERING.items():
        data = copy.deepcopy(stored)
        change(data)
        assert data == stored or sentence(data), what


def test_weights_out_of_bag_prices_of_groups_and_other_splits_are_noticed(written):
    for name, change in (
        ("out of bag", lambda d: d["problem"]["task"]["error_weights"].__setitem__(0, [5.0] * 3)),
        ("prices", lambda d: d["problem"]["task"]["costs"]["groups"][0].update(cost="3")),
        ("prices", lambda d: d["problem"]["task"]["costs"]["groups"][1].update(once=False)),
        ("held out", lambda d: d["problem"]["data"]["split"].update(part="train")),
        ("held out", lambda d: d["problem"]["data"]["split"].update(seed=5)),
        ("test share", lambda d: d["scores"].update(test_error=0.5)),
    ):
        data = json.loads(written(name).read_text())
        assert sentence(data) is None
        change(data)
        assert sentence(data), name


# -- predict ------------------------------------------------------------------------------------------------------


def test_a_stored_pruning_predicts_tables(written, tmp_path):
    found = run("predict", written("plain"), "iris")
    assert len(found.stdout.splitlines()) == 151
    share = 1 - json.loads(written("plain").read_text())["scores"]["vote_error"]
    assert f"{round(150 * share)} of 150 rows" in found.stderr
    assert "mean squared error" in run("predict", written("regression"), "iris").stderr
    other = tmp_path / "other.csv"
    other.write_text("x,y\n1,2\n")
    assert "has no column" in run("predict", written("plain"), other, code=1).stderr


def test_text_columns_of_new_rows_are_coded_as_those_of_the_first(tmp_path):
    table, result = tmp_path / "people.csv", tmp_path / "result.json"
    table.write_text("color,age,health\n" + "red,1,ill\nblue,2,well\nred,3,ill\ngreen,4,well\n" * 5)
    run("prune", table, "--trees", 3, "--model", "bagging", "--lambda", "0.0001", "--out", result)
    assert "20 of 20 rows" in run("predict", result, table).stderr
    table.with_name("new.csv").write_text("age,color\n9,red\n9,violet\n")
    assert as_json("predict", result, table.with_name("new.csv"))["predictions"] == ["ill", "well"]


# -- what is wrong ------------------------------------------------------------------------------------------------

FILES = {
    "negative": b"petal length (cm) -2\n",
    "missing": b"petal length (cm) nan\n",
    "strange": b"nothing 2\n",
    "binary": b"\xff\xfe\x00",
    "twice": b"petal length (cm) 1\npetal length (cm) 2\n",
    "words": b"petal length (cm) much\n",
}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--max-depth", 0), "at least one level"),
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
        (("--time-limit", 0), "time_limit must be positive"),
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
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(app).commands
    shared = {"--out", "--json", "--help"}
    for command in ("prune", "unimodular"):
        for option in {
            o for p in commands[command].params for o in p.opts if o.startswith("--")
        } - shared:
            assert re.search(rf"`{option}[` ]", page), option


# -- unimodularity ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formulation", "answer"),
    [("ip0", "yes"), ("ip1", "no"), ("ip3", "yes"), ("ip3-closure", "yes")],
    ids=lambda value: str(value),
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
            "--max-depth",
            3,
        )["answer"]
        == answer
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("ip3",), "needs a problem"),
        (("ip3", "--example", "oak"), "no example called"),
        (
            ("ip3", "--example", "figure-1", "--trees", 2),
            "--trees belongs to a formulation with --data",
        ),
        (("model.mps", "--max-depth", 2), "--max-depth belongs to a formulation with --data"),
        (("ip3", "--data", "iris", "--depth", 2), "--depth is for formulations of trees"),
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
    from milp_trees.study.pruning import Growing, pruning_problem

    problem = pruning_problem("breast-cancer", Growing(trees=5), max_cost=4).problem
    result = mt.solve(problem, "ip3-closure@highs")
    assert result.optimal
    found = mt.verify(result)
    assert found.verdict is mt.plugins.Verdict.DERIVED
    assert found.derived_by.split("@")[0] != "ip3-closure"
    assert found.derived_by.split("@")[1] != "highs"
