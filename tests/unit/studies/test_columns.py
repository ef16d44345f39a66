"""The columns of `Study.frame()`."""

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.studies.columns import COLUMNS, flat, method_columns
from milp_trees.studies.measures import pairwise_ratios
from milp_trees.studies.permuting import permuted_problem
from milp_trees.studies.rows import DamagedRow, read_row
from milp_trees.studies.study import Study


@pytest.fixture(scope="module")
def study():
    data = mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=4")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    return mt.compare(problem, ["dp:cache=off", "cart"], time_limit=30)


def test_every_column_is_documented_and_in_its_order(study):
    assert list(study.frame()) == list(COLUMNS)
    assert list(Study().frame()) == list(COLUMNS)
    assert all(sentence and not sentence.endswith(".") for sentence in COLUMNS.values())


def test_scores_follow_the_documented_columns():
    study = Study()
    study.rows = [{**row, "scores": {"accuracy": 0.5}} for row in one_row()]
    assert list(study.frame())[len(COLUMNS) :] == ["score_accuracy"]


def one_row():
    data = mt.load("planted:rows=30,tests=4,depth=1,noise=0.1,seed=4")
    return mt.compare(mt.Problem(data, mt.Accuracy(), mt.Trees(1)), ["cart"]).rows


def test_what_a_study_adds_to_a_row_is_in_the_columns(study):
    run = {
        "name": "uci/iris/depth=2",
        "number": 4,
        "group": "uci",
        "kind": "trees",
        "start": "cart",
        "permutation": 3,
        "limits": {"time": 7.0, "threads": 2, "memory_mb": 500},
        "attempt": 2,
        "crashes": ["signal 9"],
        "worker": "host/12",
        "environment": "e1",
        "load": 0.5,
        "peak_memory_mb": 90.0,
        "cpu_seconds": 1.5,
    }
    row = flat({**study.rows[0], "run": run})
    assert {name: row[name] for name in ("name", "group", "start_stated", "permutation")} == {
        "name": "uci/iris/depth=2",
        "group": "uci",
        "start_stated": "cart",
        "permutation": 3,
    }
    assert (row["time_limit"], row["threads"], row["memory_limit"]) == (7.0, 2, 500)
    assert (row["attempt"], row["crashes"], row["machine"]) == (2, 1, "host")
    assert row["variant"] == "dp:cache=off from cart"
    plain = flat(study.rows[0])
    assert (plain["name"], plain["variant"]) == (study.rows[0]["problem_key"], "dp:cache=off")


def test_a_label_is_taken_apart():
    found = method_columns("flow-oct:merge_rows=off@highs", {"presolve": "off"}, "none")
    assert found == {
        "method": "flow-oct:merge_rows=off@highs",
        "variant": "flow-oct:merge_rows=off@highs [presolve=off]",
        "formulation": "flow-oct",
        "solver": "highs",
        "engine": None,
        "options": "merge_rows=off; presolve=off",
    }
    assert method_columns("dp", {}, None)["engine"] == "dp"


@each_row(
    ("changes", "evidence"),
    [
        ({"agrees": True}, "claimed"),  # by a method that shares parts with it
        ({"agrees": True, "derived_by": "enumerate"}, "derived again"),
        ({"proof": {"file": "p", "checked": True}}, "proved by file"),
        ({"proof": {"file": "p", "checked": False}}, "claimed"),
        ({"agrees": None}, "claimed"),
        ({"agrees": False}, "contradicted"),
        ({"agrees": None, "bound": None}, "recomputed"),
        ({"agrees": None, "bound": None, "objective": None, "status": "no solution"}, None),
        ({"agrees": None, "bound": None, "objective": None, "status": "infeasible"}, "claimed"),
        ({"agrees": None, "objective": None, "status": "unsupported"}, None),
        ({"agrees": None, "status": "error"}, None),
    ],
)
def test_evidence_follows_from_agreement_and_claims(study, changes, evidence):
    row = flat({**study.rows[0], **changes})
    assert row["evidence"] == evidence
    assert row["proof"] == ("p" if evidence == "proved by file" else None)
    assert (row["claimed_by"] is not None) == (evidence == "claimed")


def test_a_damaged_description_of_the_run_is_found(study):
    import json

    with pytest.raises(DamagedRow):
        read_row(json.dumps({**study.rows[0], "run": {"worker": 5}}))


def test_permutations_of_a_problem_are_one_problem():
    """They are no independent cases, so measures average their ratios before they draw problems."""
    data = mt.load("planted:rows=30,tests=4,depth=1,noise=0.1,seed=4")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(1))
    study = Study()
    for permutation in (2, 1, 0):
        for row in mt.compare(permuted_problem(problem, permutation), ["cart", "dp"]).rows:
            study.rows.append({**row, "run": {"name": "p", "permutation": permutation}})
    assert len({row["problem_key"] for row in study.rows}) == 3
    assert set(study.frame()["problem"]) == {study.rows[-1]["problem_key"]}
    found = pairwise_ratios(study.frame(), "cart").loc["dp"]
    assert (found["instances"], found["problems"]) == (3, 1)
