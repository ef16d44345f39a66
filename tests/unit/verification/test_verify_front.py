"""Stored fronts: accepted as written, refused once a model or a point in them is another."""

import copy
import json

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import VerificationError
from milp_trees.plugins import Front, Verdict
from milp_trees.tasks import Capacity
from milp_trees.verification import verify
from milp_trees.verification.statement import statement_of


def problem(task="f1", against=None, most=None):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40, 4))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(40) < 0.2)
    data = mt.Dataset(X, y=y.astype(int))
    return mt.Problem(data, mt.tasks.from_spec({"name": task}), mt.Trees(2), Front(against, most))


@pytest.fixture(scope="module")
def stored():
    requested = problem()
    return requested.dataset, json.loads(json.dumps(mt.solve(requested).to_json()))


def test_a_front_is_verified_as_it_was_written(stored):
    data, front = stored
    assert len(front["front"]["solutions"]) > 3
    found = verify(front, data)
    assert found.claim == "front"
    assert found.verdict is Verdict.RECOMPUTED  # no other method makes this front
    assert f"the whole front has {len(front['front']['solutions'])} points" in found[-1]


def test_a_front_against_a_capacity_is_found_again_by_another_method():
    found = verify(mt.solve(problem("accuracy", Capacity(1))))
    assert found.verdict is Verdict.DERIVED
    assert found.derived_by != found.method
    assert found.problem.question["against"]["name"] == "capacity"
    requested = found.problem.fingerprint
    assert requested != verify(mt.solve(problem("accuracy", Capacity(0)))).problem.fingerprint


def test_a_part_of_a_front_claims_no_more():
    found = verify(mt.solve(problem(most=2)))
    assert found.claim == ""
    assert found.verdict is Verdict.RECOMPUTED


def drop_one(front):
    del front["front"]["solutions"][2]


def another_coordinate(front):
    front["front"]["solutions"][1]["coordinates"][0] |= {"number": 0, "exact": "0/1"}


def another_value(front):
    front["front"]["solutions"][1]["objective"] = 1.0


def another_first(front):
    front["front"]["solutions"].reverse()


def superfluous(front):
    front["front"]["solutions"].append(copy.deepcopy(front["front"]["solutions"][0]))


def not_whole(front):
    front["front"]["complete"], front["proved_by"] = False, None


@each_row(
    ("change", "said"),
    [
        (drop_one, "not whole: pareto finds a model"),
        (another_coordinate, "recomputed it has"),
        (another_value, "but its predictor has"),
        (another_first, "not that of its first model"),
        (superfluous, "superfluous"),
        (not_whole, "does not fit a front"),
        (lambda front: front["front"].pop("solutions"), "damaged"),
    ],
)
def test_an_altered_front_is_refused(stored, change, said):
    data, front = stored
    front = copy.deepcopy(front)
    change(front)
    with pytest.raises(VerificationError, match=said):
        verify(front, data)


def test_a_group_column_among_the_features_is_counted_as_one(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "0,1,0\n1,0,1\n" * 4)
    data = mt.load(tmp_path / "t.csv", target="y", group="a")
    assert statement_of(mt.Problem(data, mt.Accuracy(), mt.Trees(1))).data["candidates"] == 2


def test_the_bound_of_a_front_is_compared_with_its_best_value():
    """A front that is whole proves its best value, so a bound is verified with it."""
    front = mt.solve(problem("accuracy", Capacity(1)))
    data, row = front.problem.dataset, json.loads(json.dumps(front.to_json()))
    assert row["bound"] == row["objective"]
    found = verify(row, data)
    assert not {"bound", "bound_exact", "gap"} & set(found.not_verified)
    for off in (1, 7):
        wrong = row["bound"] + off
        changed = {
            **row,
            "bound": wrong,
            "bound_exact": f"{wrong}/1",
            "gap": off / row["objective"],
        }
        with pytest.raises(VerificationError, match="bound"):
            verify(changed, data)


def test_the_bound_of_a_part_of_a_front_is_derived_again():
    part = mt.solve(problem("accuracy", Capacity(1), most=1))
    assert (part.complete, part.bound) == (False, part.objective)
    found = verify(part)
    assert (found.claim, found.verdict) == ("bound", Verdict.DERIVED)
