"""Tiny problems on which other packages print no optimum: docs/project/peers.md tells more.

Our optimum is that of the enumerator, and two checkers accept its proof and no higher bound. Where
`benchmarks/peers/environments.py` has made a peer's environment, the peer runs, too.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from peer_questions import INSTANCES, answers, problem_of, python_of, within, worth
from write_proofs import PROOFS, proof_of

import milp_trees as mt
from milp_trees.verification.check_proof import check
from milp_trees.verification.proof_reading import Wrong, unpacked
from milp_trees.verification.reference_checker.check import check_slowly
from milp_trees.verification.reference_checker.reading import Refused

NAMES = sorted(INSTANCES)


def lines_of(name):
    return unpacked(PROOFS / f"{name}.proof").decode().splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_is_that_of_all_models(name):
    one = INSTANCES[name]
    best = mt.solve(problem_of(one["question"]), "enumerate").value.exact
    assert best == Fraction(one["optimum"]) < Fraction(one["printed"])


@pytest.mark.parametrize("name", NAMES)
def test_both_checkers_accept_the_proof_of_the_optimum(name, tmp_path):
    one, lines = INSTANCES[name], lines_of(name)
    stated = json.loads(lines[0])
    verdict = check(lines)
    assert verdict.proved
    assert check_slowly(lines) == (stated["bound"], stated["value"])
    value = Fraction(stated["offset"]) + Fraction(stated["scale"]) * stated["value"]
    assert value == Fraction(one["optimum"])
    # It is the proof of this problem: our method states the same one today.
    again = unpacked(proof_of(one["question"], tmp_path / "again")).decode().splitlines()
    reported = {"model": None, "features": None}
    assert {**stated, **reported} == {**json.loads(again[0]), **reported}


@pytest.mark.parametrize("name", NAMES)
def test_both_checkers_refuse_a_proof_of_what_the_peer_prints(name):
    one, lines = INSTANCES[name], lines_of(name)
    stated, claims = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    printed = (Fraction(one["printed"]) - Fraction(stated["offset"])) / Fraction(stated["scale"])
    assert printed.denominator == 1
    assert printed > stated["bound"]
    claims[-1][0] = (
        int(printed) * stated["denominator"]
        + claims[-1][0]
        - (stated["bound"] * stated["denominator"])
    )
    stated.update(bound=int(printed), model=None, value=None)
    wrong = [json.dumps(stated), *map(json.dumps, claims)]
    with pytest.raises(Wrong, match="does not follow"):
        check(wrong)
    with pytest.raises(Refused):
        check_slowly(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_peer_prints_what_is_written_here(name):
    one = INSTANCES[name]
    peer, question, cure = one["peer"], one["question"], one["cure"]
    if not python_of(peer).exists():
        pytest.skip(f"`python benchmarks/peers/environments.py {peer}` installs it.")
    requested = [question, {**question, **(cure or {})}]
    found, cured = answers(peer, requested)
    assert within(question, found["predicted"])
    assert worth(question, found) == Fraction(one["printed"])
    if "stated" in one:
        assert found["stated"] == pytest.approx(float(Fraction(one["stated"])))
    if cure is not None:
        assert within(question, cured["predicted"])
        assert worth(question, cured) == Fraction(one["optimum"])


def test_the_classifier_of_gosdt_predicts_nothing_with_scikit_learn_since_1_8():
    """Its search is right, and so is the tree that it keeps."""
    if not python_of("gosdt").exists():
        pytest.skip("`python benchmarks/peers/environments.py gosdt` installs it.")
    question = {"rows": ["00", "01", "10", "11"], "labels": "0011", "depth": 2, "penalty": "1/10"}
    (failed,), (found,) = (answers(how, [question]) for how in ("gosdt", "gosdt, its tree"))
    assert "force_all_finite" in failed["error"]
    best = mt.solve(problem_of(question), "enumerate").value.exact
    assert worth(question, found) == best == Fraction(1, 5)
    assert found["stated"] == pytest.approx(float(best))
