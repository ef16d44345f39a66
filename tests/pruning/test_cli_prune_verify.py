"""What `prune` writes is verified and predicts."""

import copy
import json

import pytest
from cli_prune_cases import LENGTH, SMALL, WIDTH, as_json, run, sentence
from row_tests import each_row

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
@each_row("name", WRITTEN)
def test_what_prune_writes_is_verified(written, name):
    text = run("verify", written(name)).stdout
    assert "Verdict: derived again by " in text


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


@pytest.mark.slow
@each_row("name", ["out of bag", "held out", "prices", "regression", "budget"])
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
    assert "which the table does not have" in run("predict", written("plain"), other, code=1).stderr


def test_text_columns_of_new_rows_are_coded_as_those_of_the_first(tmp_path):
    table, result = tmp_path / "people.csv", tmp_path / "result.json"
    table.write_text("color,age,health\n" + "red,1,ill\nblue,2,well\nred,3,ill\ngreen,4,well\n" * 5)
    run("prune", table, "--trees", 3, "--model", "bagging", "--lambda", "0.0001", "--out", result)
    assert "20 of 20 rows" in run("predict", result, table).stderr
    table.with_name("new.csv").write_text("age,color\n9,red\n9,violet\n")
    assert as_json("predict", result, table.with_name("new.csv"))["predictions"] == ["ill", "well"]
