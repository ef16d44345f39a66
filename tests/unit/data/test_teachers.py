"""Models of propensities and outcomes that are named where a table is read, and policy files."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.data.load import load_split
from milp_trees.data.nuisance import with_nuisances

POLICY = """V1.1,V1.2,y0,y1,t,prob_t,y,linear0,linear1,lasso0,lasso1
0,1,1,2,0,0.5,1,0.9,2.1,1,1
1,1,3,0,1,0.5,0,2.9,0.1,1,2
1,0,3,0,1,0.25,0,2.9,0.1,1,2
"""
TRIAL = ["--treatment", "given", "--outcome", "weeks"]
BOTH = ["--propensity-model", "logistic", "--outcome-model", "ridge"]


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def trial(tmp_path):
    """A drug that helps the old, given to them more often; ages, text and a gap."""
    rng = np.random.default_rng(3)
    age = rng.integers(2, 8, 160) * 10
    given = rng.random(160) < np.where(age > 50, 0.7, 0.4)
    frame = pd.DataFrame(
        {
            "age": age.astype(float),
            "town": rng.choice(["a", "b", "c"], 160),
            "given": np.where(given, "drug", "none"),
            "weeks": 10 + np.where(given, np.where(age > 50, 5, -5), 0) + rng.normal(0, 1, 160),
        }
    )
    frame.loc[7, "age"] = np.nan
    frame.to_csv(tmp_path / "trial.csv", index=False)
    return tmp_path / "trial.csv"


def test_a_doubly_robust_policy_needs_no_estimates_in_the_table(trial, tmp_path):
    """From the command line alone, and derived again from the file alone."""
    out = tmp_path / "r.json"
    requested = ["--task", "policy-dr", *TRIAL, *BOTH, "--depth", 1]
    done = run("solve", trial, *requested, "--out", out)
    assert done.exit_code == 0, done.output
    assert "propensity_model logistic" in " ".join(done.output.split())
    stored = json.loads(out.read_text())
    assert stored["status"] == "optimal"
    assert stored["problem"]["data"]["columns"]["outcome_model"] == "ridge"
    assert {"drug", "none"} <= set(done.output.split())
    again = run("verify", out)
    assert again.exit_code == 0, again.output
    assert "derived again" in again.output


def test_the_models_are_those_of_python(trial):
    """`load` with names gives what `with_nuisances` gives on the tests that the models see."""
    columns = {"treatment": "given", "outcome": "weeks"}
    named = mt.load(trial, **columns, propensity_model="share", outcome_model="mean")
    plain = mt.load(trial, **columns)
    seen = mt.load(trial, **columns, binarizer="quantiles:8").X
    wanted = with_nuisances(plain, seen, propensity_model="share", outcome_model="mean")
    assert np.array_equal(named.propensities, wanted.propensities)
    assert np.array_equal(named.values, wanted.values)
    assert named.actions == wanted.actions == ("drug", "none")
    finer = mt.load(trial, **columns, binarizer="quantiles:3", outcome_model="ridge")
    coarse = mt.load(trial, **columns, binarizer="quantiles:6", outcome_model="ridge")
    assert np.array_equal(finer.values, coarse.values)  # the tree's thresholds play no part
    assert np.array_equal(finer.values, finer.complete.values if finer.complete else finer.values)


def test_a_known_propensity_stays_and_test_rows_have_models_of_their_own(trial):
    table = pd.read_csv(trial).dropna().assign(p=0.5)
    table.to_csv(trial, index=False)
    options = {"treatment": "given", "outcome": "weeks", "propensity": "p"}
    train, test = load_split(trial, **options, outcome_model="mean", test_size=0.4)
    assert set(train.propensities) == set(test.propensities) == {0.5}
    for part in (train, test):
        mine = part.outcomes[part.treatments == "drug"]
        assert part.values[:, 0].min() >= mine.min()
        assert abs(part.values[:, 0].mean() - mine.mean()) < 0.5
    assert not set(train.values[:, 0]) & set(test.values[:, 0])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*TRIAL, "--outcome-model", "magic"], "Known: ridge, forest, mean"),
        ([*TRIAL, "--propensity-model", "magic"], "Known: logistic, forest, share"),
        ([*TRIAL, "--propensity", "age", *BOTH], "give one of them"),
        ([*TRIAL, "--values", "age,weeks", *BOTH], "give one of them"),
        (["--treatment", "given", *BOTH], "name both"),
        ([*TRIAL], "estimated with --outcome-model"),
        (["--policy-model", "lasso"], "give --policy-file too"),
        (["--policy-file", "--drop", "age"], "--drop is for other tables"),
        (["--policy-file", "--binarize", "midpoints"], "--binarize is for other tables"),
        (["--policy-file", "--test-size", 0.5], "--test-size is for other tables"),
        (["--policy-file", "--sep", ","], "--sep is for other tables"),
        (["--policy-file"], "no file of policy data"),
    ],
)
def test_contradictions_are_one_sentence(trial, words, sentence):
    done = run("solve", trial, "--task", "policy-dr", *words)
    assert done.exit_code not in (0, None)
    assert sentence in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_tables_without_policies_take_no_models(trial):
    with pytest.raises(mt.DataError, match="a table for an ensemble has none"):
        mt.load_numeric(trial, target="given", outcome_model="ridge")
    with pytest.raises(mt.DataError, match="estimate before grouping"):
        mt.load_grouped(trial, treatment="given", outcome="weeks", outcome_model="ridge")


@pytest.mark.parametrize("gone", ["", ",linear0,linear1,lasso0,lasso1"])
def test_solve_reads_a_policy_file_as_python_does(tmp_path, gone):
    """With and without predicted outcomes; the stored answer is verified from the file."""
    lines = [line.split(",") for line in POLICY.split()]
    keep = 7 if gone else 11
    path = tmp_path / "policy.csv"
    path.write_text("".join(",".join(line[:keep]) + "\n" for line in lines))
    task, kind = (
        ("policy-ipw", mt.tasks.InversePropensity())
        if gone
        else ("policy-dr", mt.tasks.DoublyRobust())
    )
    out = tmp_path / "r.json"
    done = run("solve", path, "--policy-file", "--task", task, "--depth", 1, "--out", out)
    assert done.exit_code == 0, done.output
    wanted = mt.solve(mt.Problem(mt.load_policy(path)[0], kind, mt.Trees(1)))
    assert json.loads(out.read_text())["objective"] == wanted.objective
    again = run("verify", out)
    assert again.exit_code == 0, again.output
    if not gone:
        done = run(
            "solve",
            path,
            "--policy-file",
            "--policy-model",
            "lasso",
            "--task",
            "policy-dm",
            "--depth",
            1,
            "--json",
        )
        assert json.loads(done.stdout)["objective"] == pytest.approx(5 / 3)
