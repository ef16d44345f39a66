"""Results beside proofs: faults of `verify` that were found by attack."""

import copy
import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError, VerificationError
from milp_trees.problems.questions import Front
from milp_trees.results.json import relative_gap
from milp_trees.verification import check_proof, proof_reading
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_reading import Wrong
from milp_trees.verification.proved import proved_by
from milp_trees.verification.verdict import Verdict


def test_a_file_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch, solved):
    monkeypatch.setattr(proof_reading, "LARGEST", 2**20)
    bomb = tmp_path / "bomb.proof"
    bomb.write_bytes(gzip.compress(b" " * 2**21))
    assert bomb.stat().st_size < 2**12
    assert check_proof.main([str(bomb)]) == 2
    with pytest.raises(DataError, match="more than"):
        check_file(bomb)
    with pytest.raises(VerificationError, match="more than"):
        mt.verify(solved[0], proof=bomb)


# -- verify ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A stored result with its proof, and a proof of nothing but the trivial bound."""
    folder = tmp_path_factory.mktemp("proofs")
    data = mt.load("planted:rows=60,tests=6,depth=3")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))
    result = mt.solve(problem, "dp", proof=folder / "good.proof")
    head = gzip.decompress((folder / "good.proof").read_bytes()).decode().partition("\n")[0]
    (folder / "weak.proof").write_text(f"{head}\n[0, 2, []]\n", encoding="utf-8")
    return json.loads(json.dumps(result.to_json())), folder


def test_a_bound_is_no_proof_that_nothing_is_feasible(solved):
    row, folder = solved
    none = dict.fromkeys(("predictor", "objective", "exact", "bound", "bound_exact", "gap"))
    empty = {**none, "status": "infeasible", "scores": {}, "trace": []}
    with pytest.raises(VerificationError, match="nothing is feasible"):
        mt.verify({**row, **empty}, proof=folder / "good.proof")


def test_a_weak_proof_does_not_prove_a_greater_bound(solved):
    """The result states the bound 9 and the file proves 0: another method has to derive it."""
    row, folder = solved
    stated_bound = {**row, "status": "feasible"}
    found = mt.verify(stated_bound, proof=folder / "weak.proof")
    assert found.verdict is Verdict.DERIVED
    assert "proof" in found.not_verified
    assert "weak.proof proves the bound 0 only" in str(found)
    optimal = mt.verify(row, proof=folder / "weak.proof")
    assert optimal.verdict is Verdict.DERIVED
    assert "the bound 0 only, and the result is called optimal" in str(optimal)
    assert mt.verify(stated_bound, proof=folder / "good.proof").verdict is Verdict.PROVED


def test_a_result_without_a_bound_is_not_proved_by_a_bound(solved):
    """It states its value alone, so a trivial proof says nothing about it."""
    row, folder = solved
    no_bound = dict.fromkeys(("bound", "bound_exact", "gap", "proved_by"))
    found = mt.verify(
        {**row, **no_bound, "status": "feasible", "trace": []}, proof=folder / "weak.proof"
    )
    assert found.verdict is Verdict.RECOMPUTED


def test_a_root_bound_above_the_value_is_refused_beside_a_proof(solved):
    row, folder = solved
    wrong = {**row, "root_bound": 50.0, "root_gap": relative_gap(row["objective"], 50.0)}
    with pytest.raises(
        VerificationError, match=r"root bound 50\.0 excludes the result's own value"
    ):
        mt.verify(wrong, proof=folder / "good.proof")


@pytest.mark.parametrize("fact", ["bytes", "claims"])
def test_what_a_result_says_about_its_proof_file_is_compared(solved, fact):
    row, folder = solved
    assert "proof" not in mt.verify(row, proof=folder / "good.proof").not_verified
    wrong = copy.deepcopy(row)
    wrong["proof"][fact] += 1
    with pytest.raises(VerificationError, match=fact):
        mt.verify(wrong, proof=folder / "good.proof")
    wrong["proof"]["sha256"] = "0" * 64  # then these are the facts of another file
    assert "proof" in mt.verify(wrong, proof=folder / "good.proof").not_verified


def test_a_bound_proves_no_front(solved):
    """The proof of one point says nothing about the others."""
    _, folder = solved
    data = mt.load("planted:rows=60,tests=6,depth=3")
    one = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)), "dp")
    assert proved_by(one, folder / "good.proof").verdict is Verdict.PROVED
    front = replace(one, problem=mt.Problem(data, mt.tasks.F1(), mt.Trees(max_depth=2), Front()))
    assert "the result states a front" in proved_by(front, folder / "good.proof")


def test_a_proof_for_a_problem_without_costs_of_actions_is_refused(solved):
    _, folder = solved
    problem = mt.Problem(
        mt.load("planted:rows=60,tests=6,depth=3"), mt.tasks.F1(), mt.Trees(max_depth=1)
    )
    result = mt.solve(problem)
    with pytest.raises(VerificationError, match="cannot be a proof for this problem"):
        mt.verify(result, proof=folder / "good.proof")


# -- proofs of methods -----------------------------------------------------------------------------


def with_parity(space, n=12):
    X = np.array([[i >> k & 1 for k in range(3)] for i in range(n)])
    data = mt.Dataset(X, y=np.arange(n) * 5 % 7 % 2, groups=np.arange(n) % 2)
    fair = mt.Accuracy(constraints=[mt.tasks.StatisticalParity("1/5")])
    return mt.Problem(data, fair, space)


def test_claims_about_side_rows_keep_to_the_largest_number_of_leaves(tmp_path):
    """They left the leaves out, and did not follow."""
    space = mt.Trees(max_depth=2, max_leaf_nodes=3)
    result = mt.solve(with_parity(space), "lagrangian", proof=tmp_path / "p")
    assert check_file(tmp_path / "p").proved
    lines = proof_reading.unpacked(tmp_path / "p").decode().splitlines()
    wider = json.loads(lines[0]) | {"leaves": None}
    with pytest.raises(Wrong):
        check_proof.check([json.dumps(wider), *(x for x in lines[1:] if x.startswith("["))])
    assert result.value == mt.solve(with_parity(space), "enumerate").value


def test_the_seconds_of_a_run_count_compilation_once():
    """They were subtracted twice, so that the seconds were negative."""
    result = mt.solve(with_parity(mt.Trees(max_depth=3, max_leaf_nodes=6)), "lagrangian")
    assert result.seconds > 0


def test_rounded_costs_are_named_in_the_verdict(tmp_path):
    """The tree is better than the bound of the rounded costs, which was said to be impossible."""
    X = np.array([[i >> k & 1 for k in range(4)] for i in range(16)])
    data = mt.Dataset(X, y=np.arange(16) * 5 % 7 % 2, weights=np.sqrt(np.arange(2, 18)))
    problem = mt.Problem(data, mt.tasks.WeightedError(), mt.Trees(max_depth=2))
    result = mt.solve(problem, "dp", proof=tmp_path / "p")
    assert "with costs rounded to whole numbers" in str(mt.verify(result, proof=tmp_path / "p"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(tmp_path, end):
    data, proof = tmp_path / "data.csv", tmp_path / "a.proof"
    lines = ["a,b,y", "0,0,k", "0,1,l", "1,0,l", "1,1,k"]
    data.write_bytes(end.join([*lines, ""]).encode())
    problem = mt.Problem(mt.load(data), mt.Accuracy(), mt.Trees(max_depth=1))
    mt.solve(problem, "dp", proof=proof)
    assert json.loads(proof_reading.unpacked(proof).split(b"\n")[0])["data"]["kind"] == "table"
    assert check_file(proof, data).value == 2
