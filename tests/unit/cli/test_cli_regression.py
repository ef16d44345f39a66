"""Commands with a table whose target is a number."""

import json

import numpy as np
import pandas as pd
import pytest
from cli_cases import run
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.app import app
from milp_trees.data.load import load_split


def fails(*args):
    """The message of a command that must refuse, as one line."""
    found = CliRunner().invoke(app, list(map(str, args)))
    assert found.exit_code == 1, found.output
    return " ".join(found.output.split())


@pytest.fixture
def cars(tmp_path):
    """Prices that depend on age and make, with a second target."""
    rng = np.random.default_rng(0)
    age, make = rng.integers(0, 12, 80), rng.choice(["A", "B"], 80)
    price = np.round(30 - 2 * (age > 5) * 4 - 3.25 * (make == "B") + rng.normal(0, 1, 80), 3)
    frame = pd.DataFrame({"age": age, "make": make, "price": price, "tax": age * 3})
    path = tmp_path / "cars.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def stored(cars, tmp_path):
    out = tmp_path / "r.json"
    run("solve", cars, "--target", "price", "--drop", "tax", "--depth", 2, "--out", out)
    return out


def test_a_measured_target_is_taken_as_regression_and_that_is_said(cars):
    found = " ".join(
        run("solve", cars, "--target", "price", "--drop", "tax", "--depth", 2).stdout.split()
    )
    assert "target price (measured numbers)" in found
    assert "task squared-error (regression), because 'price' holds" in found
    assert "squared error" in found
    assert "r2 0.9" in found
    assert "rmse" in found
    quiet = run("solve", cars, "--target", "price", "--drop", "tax", "--depth", 2, "--quiet").stdout
    assert "because" not in quiet


def test_whole_numbers_say_how_to_get_classes_instead(tmp_path):
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{k % 2},{k // 2}" for k in range(60))
    path.write_text(f"a,y\n{rows}\n")
    found = " ".join(run("solve", path, "--depth", 1).stdout.split())
    assert "'y' holds 30 different numbers; --task accuracy takes them as classes" in found
    assert json.loads(run("solve", path, "--depth", 1, "--json").stdout)["unit"] == "squared error"
    classes = json.loads(run("solve", path, "--task", "accuracy", "--depth", 1, "--json").stdout)
    assert (classes["unit"], classes["objective"]) == ("errors", 58)


def test_an_option_that_regression_lacks_says_why_it_is_regression(cars):
    message = fails("solve", cars, "--target", "price", "--drop", "tax", "--capacity", "A=3")
    assert "capacity is about actions, and its leaves have none" in message
    assert "No --task was given, and it is squared-error (regression), because" in message


def test_a_target_that_is_no_number_is_refused(cars):
    message = fails("solve", cars, "--target", "make", "--task", "squared-error", "--depth", 1)
    assert "predicts numbers, and the target holds 'A'" in message
    message = fails("solve", cars, "--target", "price", "--task", "accuracy", "--depth", 1)
    assert "needs classes, and the target 'price' holds measured numbers" in message
    assert "take a task of regression" in message


def test_several_targets_are_predicted_together(cars, tmp_path):
    out = tmp_path / "m.json"
    found = run("solve", cars, "--targets", "price,tax", "--depth", 1, "--out", out)
    assert "price 2" in found.stdout
    assert ", tax " in found.stdout
    predicted = run("predict", out, cars)
    lines = predicted.stdout.splitlines()
    assert lines[0] == "row,prediction price,prediction tax"
    tree = mt.Tree.from_json(json.loads(out.read_text())["predictor"])
    assert [tuple(map(float, line.split(",")[1:])) for line in lines[1:]] == [
        tuple(row) for row in tree.predict(pd.read_csv(cars)).tolist()
    ]
    data = json.loads(run("predict", out, cars, "--json").stdout)
    assert data["outputs"] == ["price", "tax"]
    assert len(data["predictions"][0]) == 2


def test_predictions_are_numbers_with_their_error(stored, cars):
    found = run("predict", stored, cars)
    frame, tree = pd.read_csv(cars), mt.Tree.from_json(json.loads(stored.read_text())["predictor"])
    numbers = [float(line.split(",")[1]) for line in found.stdout.splitlines()[1:]]
    assert numbers == tree.predict(frame).tolist()
    error = np.sqrt(((frame["price"] - numbers) ** 2).mean())
    assert f"against the column 'price' is {error:.6g}, and R² is 0.9" in found.stderr
    assert "predicts numbers, which have no classes" in fails("predict", stored, cars, "--proba")


def test_a_stored_result_is_verified_exported_and_compared(stored, cars, tmp_path):
    found = CliRunner().invoke(app, ["verify", str(stored)])
    assert found.exit_code in (0, 6), found.output
    assert "The scores r2, rmse were recomputed" in found.stdout
    assert "double predict(" in run("export", stored, "--to", "c").stdout
    page = tmp_path / "p.html"
    run("export", stored, "--to", "html", "--out", page)
    assert " &#177; " in page.read_text()
    given = ["--target", "price", "--drop", "tax", "--depth", 2]
    gap = run("gap", stored, cars, *given)
    assert "the model is optimal" in gap.stdout
    other = json.loads(run("gap", stored, cars, *given[:-1], 3, "--json").stdout)
    assert other["gap"] > 0
    assert not other["optimal"]
    rows = json.loads(run("compare", cars, *given, "--methods", "dp", "--json").stdout)
    assert rows["scores"]["r2"] > 0.9


def test_a_model_with_thresholds_of_other_rows_violates_the_problem(stored, cars):
    found = run(
        "gap",
        stored,
        cars,
        "--target",
        "price",
        "--drop",
        "tax",
        "--depth",
        2,
        "--binarize",
        "quantiles:2",
    )
    assert "violates  The predictor tests" in found.stdout
    assert "which is no test of the data" in found.stdout


def test_scores_are_those_of_training_and_test_rows(cars):
    given = ["--target", "price", "--drop", "tax", "--depth", 2, "--test-size", 0.25, "--json"]
    scores = json.loads(run("solve", cars, *given).stdout)["scores"]
    assert {"train_r2", "train_rmse", "test_r2", "test_rmse"} <= set(scores)
    train, test = load_split(cars, target="price", drop="tax", test_size=0.25)
    tree = mt.solve(mt.Problem(train, mt.tasks.SquaredError(), mt.Trees(max_depth=2))).tree
    error = np.sqrt(((test.targets[:, 0] - tree.predict(test)) ** 2).mean())
    assert np.isclose(scores["test_rmse"], error)


def test_new_numbers_among_test_rows_are_no_unknown_classes():
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "y": [1, 2, 3, 4]})
    train = mt.load(frame, drop=[])
    test = mt.load(frame.assign(y=[1, 2, 3, 9]))
    problem = mt.Problem(train, mt.tasks.SquaredError(), mt.Trees(max_depth=1))
    result = mt.solve(problem, test_data=test)
    assert result.scores["test_rmse"] > result.scores["train_rmse"]


@pytest.mark.parametrize(
    "name, depth, value",
    [("airfoil-binary.csv", 5, 43026.7126538), ("seoul-bike-binary.csv.gz", 3, 1868102153.08)],
)
def test_public_data_have_their_optimum(name, depth, value, data_folder):
    path = data_folder / "regression" / name
    found = run("solve", path, "--task", "squared-error", "--depth", depth, "--json")
    result = json.loads(found.stdout)
    assert result["status"] == "optimal"
    assert np.isclose(result["objective"], value, rtol=1e-9)


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_solve_draws_the_tree(cars, tmp_path, ending):
    picture = tmp_path / f"tree.{ending}"
    run("solve", cars, "--target", "price", "--drop", "tax", "--depth", 1, "--plot", picture)
    assert picture.stat().st_size > 1000
    message = fails("solve", cars, "--depth", 1, "--plot", tmp_path / "tree.txt")
    assert "A picture's name ends in .png, .svg, .pdf" in message


def test_weights_are_taken_where_no_task_is_named(cars):
    given = ["--target", "price", "--drop", "tax", "--depth", 1, "--json"]
    plain = json.loads(run("solve", cars, *given).stdout)
    weighted = json.loads(run("solve", cars, *given[:2], *given[4:], "--weights", "tax").stdout)
    assert weighted["unit"] == plain["unit"] == "squared error"
    assert weighted["objective"] > plain["objective"]
    message = fails("solve", cars, "--target", "make", "--weights", "tax", "--depth", 1)
    assert "does not use --weights" in message


def test_amounts_are_read_as_numbers_where_they_are_named_so(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("a,price\n0,$1.50\n0,$2.50\n1,$7.25\n1,$8.25\n")
    message = fails("solve", path, "--task", "squared-error", "--depth", 1)
    assert "the target holds '$1.50'" in message
    assert "Named with --targets, a column of amounts is read as numbers" in message
    found = json.loads(run("solve", path, "--targets", "price", "--depth", 1, "--json").stdout)
    assert found["objective"] == 1.0


def test_survival_is_taken_for_time_and_event(tmp_path):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 120)
    time = np.round(rng.exponential(10 / (1 + 4 * a)), 2) + 0.01
    path, out = tmp_path / "s.csv", tmp_path / "r.json"
    frame = pd.DataFrame({"a": a, "b": rng.integers(0, 3, 120), "died": rng.random(120) < 0.7})
    frame.assign(days=time).to_csv(path, index=False)
    given = ["--event", "died", "--time", "days", "--depth", 1]
    found = run("solve", path, *given, "--out", out, "--plot", tmp_path / "s.svg").stdout
    words = " ".join(found.split())
    assert "task survival, for the columns of time and event" in words
    assert "θ = " in words
    assert " events)" in words
    assert "Kaplan" in (tmp_path / "s.svg").read_text("utf-8")
    hazards = [float(line.split(",")[1]) for line in run("predict", out, path).stdout.split()[1:]]
    assert np.mean(np.array(hazards)[a == 1]) > 2 * np.mean(np.array(hazards)[a == 0])
    for form in ("c", "sql", "python", "pmml", "json", "dot"):
        assert run("export", out, "--to", form).stdout
    assert "the model is optimal" in run("gap", out, path, *given).stdout
