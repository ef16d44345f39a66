"""Stored sets of near-best models: values are recomputed, counts proved or derived again."""

import copy
import json
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees import Limits
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError, VerificationError
from milp_trees.mip.registry import registry
from milp_trees.results.near_best import near_best_json
from milp_trees.verification import near_best_count, near_best_shares
from milp_trees.verification.near_best import verify_near_best
from milp_trees.verification.proof_files import prove

ENOUGH = Limits(time=60)
TREES = registry.method("near-best")


def problem_of(seed):
    """A small problem with penalties, limits on leaves and depth, and what counts as different."""
    rng = np.random.default_rng(seed)
    n, F = int(rng.integers(4, 30)), int(rng.integers(1, 6))
    X, y = rng.integers(0, 2, (n, F)).astype(np.uint8), rng.integers(0, 3, n)
    y[:2] = 0, 1
    penalty = [0, Fraction(1, n), Fraction(1, 2 * n)][seed % 3]
    space = mt.Trees(
        max_depth=int(rng.integers(1, 4)),
        min_samples_leaf=int(rng.choice([1, 2])),
        max_leaf_nodes=int(rng.integers(2, 6)) if seed % 4 == 0 else None,
    )
    share = {"relative": Fraction(1, 4)} if seed % 5 == 0 else {"slack": int(rng.integers(0, 3))}
    question = mt.plugins.NearBest(
        **share, trivial=bool(seed % 2), equal_tests=("all", "one")[seed % 7 % 2]
    )
    return mt.Problem(mt.Dataset(X, y=y), mt.Accuracy(leaf_penalty=penalty), space, question)


def stored(result, listed=4):
    """What the command writes, after a way through a file."""
    drawn = result.trees.sample(2, 0)
    return json.loads(json.dumps(near_best_json(result, result.trees[:listed], drawn)))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(stored set, its data, proof file)."""
    folder = tmp_path_factory.mktemp("near")
    data = mt.load("planted:rows=40,tests=5,depth=2,noise=0.2")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2), mt.plugins.NearBest(slack=3))
    result = prove(TREES, problem, TREES.run(problem, ENOUGH), folder / "near.proof", ENOUGH)
    assert result.trees.count > 20
    assert len(result.trees.values()) > 2
    best = next(iter(result.trees.values().values()))
    return stored(result, best + 1), data, folder / "near.proof"


def test_honest_sets_stand_and_wrong_counts_do_not(tmp_path):
    """Each is derived again, and proved by its file; no count off by one passes either way."""
    for seed in range(40):
        problem = problem_of(seed)
        result = TREES.run(problem, ENOUGH)
        if result.trees is None:  # no leaf is large enough
            continue
        proof = tmp_path / f"{seed}.proof"
        result = prove(TREES, problem, result, proof, ENOUGH)
        data = stored(result, seed % 4)
        found = verify_near_best(data, problem.dataset)
        assert found.words == "derived again by check_count", seed
        assert verify_near_best(data, problem.dataset, proof=proof).verdict.value == "proved", seed
        wrong = copy.deepcopy(data)
        wrong["count"] += 1
        wrong["values"][-1]["count"] += 1
        for file in (None, proof):
            with pytest.raises(VerificationError, match=r"count|proof"):
                verify_near_best(wrong, problem.dataset, proof=file)


def test_counts_moved_between_values_are_refused(made):
    """The count stays the same, so that only a count per value tells it."""
    data, dataset, proof = made
    wrong = copy.deepcopy(data)
    wrong["values"][-1]["count"] += 1
    wrong["values"][-2]["count"] -= 1
    for file, by in ((None, "check_count"), (proof, "near.proof")):
        with pytest.raises(VerificationError, match=f"{by} counts .* with other values"):
            verify_near_best(wrong, dataset, proof=file)


def changed(data, *places):
    """A copy with an entry changed."""
    out = copy.deepcopy(data)
    *path, last, value = places
    at = out
    for key in path:
        at = at[key]
    at[last] = value(at[last]) if callable(value) else value
    return out


@each_row(
    ("places", "words"),
    [
        (("trees", 0, "value", lambda v: v + 1), "value"),
        (("trees", 0, "exact", "1"), "states the value 1"),
        (("trees", lambda t: [t[0], t[0], *t[1:]]), "are the same|best first"),
        (("trees", lambda t: t[::-1]), "best first|are the same"),
        (("trees", lambda t: t[1:]), "best first"),
        (("sample", 0, "exact", "0"), "states the value 0"),
        (("count", lambda n: n + 1), "do not add up"),
        (("slack", "4/1"), "slack"),
        (("covered", "2/1"), "covers 2"),
        (("complete", False), "not complete"),
        (("optimum", lambda v: v - 1), "optimum"),
        (("optimum_exact", "1/2"), "optimum"),
        (("unit", "cost"), "unit"),
        (("values", lambda v: v[::-1]), "values are not those of a set"),
        (("values", 0, "value", lambda v: v + 1), "value"),
        (("values", 0, "count", -1), "do not add up"),
        (("question", "trivial", False), "count"),
        (("question", "slack", "1/1"), "slack"),
        (("question", "trivial", 1), "trivial is true or false"),
        (("question", {}), "question of a set"),
        (("kind", "other"), "kind"),
        (("seconds", -1), "seconds"),
        (("problem", "space", "max_depth", 1), "."),
        (("problem", "data", "arrays_sha256", "0" * 64), "."),
    ],
)
def test_what_is_altered_is_refused(made, places, words):
    data, dataset, _ = made
    with pytest.raises(VerificationError, match=words):
        verify_near_best(changed(data, *places), dataset)


def test_an_optimum_that_is_too_low_is_refused(made):
    """All values are within the slack of it, and it is none of them."""
    data, dataset, proof = made
    low = Fraction(data["optimum_exact"]) - 1
    for file in (None, proof):
        wrong = {**data, "optimum": float(low), "optimum_exact": f"{low}/1"}
        wrong["question"] = {**data["question"], "slack": "4/1"}
        wrong |= {"slack": "4/1", "covered": "4/1"}
        with pytest.raises(VerificationError, match=r"optimum|count|does not hold"):
            verify_near_best(wrong, dataset, proof=file)


def endless(*_):
    """A count that ends only from outside."""
    while True:
        time.sleep(0.001)


def test_the_proof_of_another_set_and_a_late_one_are_not_used(made, tmp_path, monkeypatch):
    data, dataset, proof = made
    problem = mt.Problem(dataset, mt.Accuracy(), mt.Trees(2), mt.plugins.NearBest(slack=1))
    other = tmp_path / "other.proof"
    prove(TREES, problem, TREES.run(problem, ENOUGH), other, ENOUGH)
    with pytest.raises(VerificationError, match="does not hold for this set"):
        verify_near_best(data, dataset, proof=other)
    with pytest.raises(DataError, match="no proof file"):
        verify_near_best(data, dataset, proof=tmp_path / "gone")
    wrong = changed(data, "proof", "bytes", lambda n: n + 1)
    with pytest.raises(VerificationError, match="bytes"):
        verify_near_best(wrong, dataset, proof=proof)
    monkeypatch.setattr(near_best_count, "_check", endless)
    late = verify_near_best(data, dataset, proof=proof, time_limit=0.5)
    assert late.words == "derived again by check_count"
    assert "near.proof was not checked within the time limit" in str(late)
    assert "proof" in late.not_verified
    monkeypatch.setattr(near_best_count, "_count", endless)
    assert verify_near_best(data, dataset, time_limit=0.1).words == "claimed by near-best"


def test_lists_are_recomputed_and_their_number_is_claimed():
    method = registry.method("near-best-lists")
    data = mt.load("planted:rows=30,tests=4,depth=2,noise=0.1")
    space = mt.RuleLists(mt.Antecedents(max_literals=1), max_length=2)
    problem = mt.Problem(data, mt.Accuracy(), space, mt.plugins.NearBest(slack=2))
    found = stored(method.run(problem, ENOUGH))
    message = verify_near_best(found, data)
    assert message.words == "claimed by near-best-lists"
    assert message.claim == "count"
    with pytest.raises(VerificationError, match="states the value"):
        verify_near_best(changed(found, "lists", 0, "exact", "0"), data)


def test_a_set_that_was_stopped_is_verified_for_what_it_covers(made):
    data, dataset, _ = made
    kept = [one for one in data["values"] if one["value"] <= data["optimum"] + 1]
    found = {**data, "values": kept, "count": sum(one["count"] for one in kept), "trees": []}
    found |= {"covered": "1/1", "complete": False, "limit": "time", "sample": []}
    fewer = mt.Problem(dataset, mt.Accuracy(), mt.Trees(2), mt.plugins.NearBest(slack=1))
    found["tests"] = stored(TREES.run(fewer, ENOUGH))["tests"]
    assert verify_near_best(found, dataset).words == "derived again by check_count"


def test_the_command_verifies_what_near_best_wrote(tmp_path):
    call, file, proof = CliRunner().invoke, tmp_path / "r.json", tmp_path / "r.proof"
    words = ["near-best", "planted:rows=30,tests=4,depth=2", "--depth", "2", "--slack", "1"]
    assert call(app, [*words, "--out", str(file), "--proof", str(proof)]).exit_code == 0
    first = call(app, ["verify", str(file), "--expect", "space.max_depth=2"])
    assert first.exit_code == 0, first.output
    assert "Verdict: proved by file r.proof." in first.stdout
    proof.unlink()
    again = call(app, ["verify", str(file), "--json"])
    assert again.exit_code == 0
    assert json.loads(again.stdout)["words"] == "derived again by check_count"
    assert call(app, ["verify", str(file), "--expect", "space.max_depth=3"]).exit_code == 4


def test_a_problem_that_is_counted_otherwise_is_only_claimed(made):
    """The checker counts trees without side rows, so a set of trees with some is not derived."""
    data, dataset, _ = made
    table = replace(dataset, groups=np.arange(len(dataset.y)) % 2)
    task = mt.Accuracy(constraints=(mt.tasks.StatisticalParity("1"),))
    spec = mt.Problem(table, task, mt.Trees(2)).spec()
    message = verify_near_best({**data, "problem": spec, "proof": None}, table)
    assert message.words == "claimed by near-best"
    assert "trees with constraints" in str(message)


def test_the_verdict_is_of_the_use_of_tests_too(made, monkeypatch):
    """Shares are counted again; where they were not, no file proves what the set states."""
    data, dataset, proof = made
    found = verify_near_best(data, dataset, proof=proof)
    assert found.verdict.value == "proved"
    assert "tests" not in found.not_verified
    assert any("counts alike how many trees use each test" in message for message in found)
    for key, wrong in (("trees", 1), ("share", 0.5), ("best_without", 0.0)):
        changed = copy.deepcopy(data)
        changed["tests"][0][key] = wrong
        with pytest.raises(VerificationError, match="tests"):
            verify_near_best(changed, dataset, proof=proof)
    monkeypatch.setattr(near_best_shares, "run_again", lambda *_: "it was not run")
    weak = verify_near_best(data, dataset, proof=proof)
    assert weak.verdict.value == "claimed"
    assert "tests" in weak.not_verified
    assert "was not counted again (it was not run)" in weak[-1]
