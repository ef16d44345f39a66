"""Proof files: written beside a result, checked by the stand-alone checker, used by `verify`."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError, Unsupported, VerificationError
from milp_trees.results.tables import summary
from milp_trees.verification import check_proof, proved
from milp_trees.verification.check import verify_file
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_files import _provers, read_statement
from milp_trees.verification.proved import proved_within
from milp_trees.verification.verdict import Verdict

FOLDER = Path(check_proof.__file__).parent


def written(tmp_path, name, text, depth=2, task=None, space=None, **columns):
    """(result, proof file, data file) of a table's text."""
    data = tmp_path / name
    data.write_text(text, encoding="utf-8")
    problem = mt.Problem(
        mt.load(data, **columns), task or mt.Accuracy(), space or mt.Trees(max_depth=depth)
    )
    proof = tmp_path / "optimum.proof"
    return mt.solve(problem, "dp", proof=proof), proof, data


def digits(count=40, seed=3):
    draw = random.Random(seed)
    return "".join(" ".join(draw.choice("01") for _ in range(7)) + "\n" for _ in range(count))


PEOPLE = "age,town,smokes,ill\n" + "".join(
    f"{20 + 3 * i % 50},{('Ulm', 'Bonn', '')[i % 3]},{i % 2},{'yes' if i % 5 < 2 else 'no'}\n"
    for i in range(30)
)


@pytest.mark.parametrize(("name", "text"), [("digits.txt", digits()), ("people.csv", PEOPLE)])
def test_a_proof_names_its_table_and_the_checker_reads_it(tmp_path, name, text):
    result, proof, data = written(tmp_path, name, text)
    stated = read_statement(proof)
    assert stated["data"]["kind"] == "table"
    assert stated["costs"]["kind"] == "matrix"
    assert check_file(proof, data).value == stated["value"] == int(result.value.number)
    assert check_file(proof, data, slowly=True).proved
    other = tmp_path / "other.txt"
    other.write_text(digits(seed=4) if name == "digits.txt" else text.replace("yes", "no", 3))
    with pytest.raises(VerificationError, match="does not hold"):
        check_file(proof, other)
    with pytest.raises(DataError, match="needs its data file"):
        check_file(proof)


def test_the_checker_runs_alone(tmp_path):
    _, proof, data = written(tmp_path, "digits.txt", digits())
    for name in ("check_proof.py", "proof_reading.py"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    command = [sys.executable, "check_proof.py", str(proof), str(data)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("proved: ")
    assert "milp_trees" not in (FOLDER / "proof_reading.py").read_text()
    assert len((FOLDER / "check_proof.py").read_text().splitlines()) <= 300


def test_rows_are_in_the_proof_where_there_is_no_table(tmp_path):
    data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, y=["no", "yes", "no", "no"] * 3)
    problem = mt.Problem(data, mt.Accuracy(leaf_penalty="1/100"), mt.Trees(None))
    result = mt.solve(problem, "dp", proof=tmp_path / "p")
    assert read_statement(tmp_path / "p")["data"]["kind"] == "rows"
    assert "rows are those of the proof" in check_file(tmp_path / "p").sentence
    assert result.proof["claims"] >= 1
    first = (tmp_path / "p").read_bytes()
    mt.solve(problem, "dp", proof=tmp_path / "p")
    assert (tmp_path / "p").read_bytes() == first


def test_verify_says_proved_and_refuses_another_problem_s_proof(tmp_path):
    result, proof, _ = written(tmp_path, "digits.txt", digits())
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result.to_json()))
    found = verify_file(file)[0]
    assert found.verdict.value == "proved"
    assert found.derived_by == "optimum.proof"
    stump = mt.solve(mt.Problem(result.problem.dataset, mt.Accuracy(), mt.Trees(3)), "dp")
    assert stump.value.number < result.value.number
    file.write_text(json.dumps(stump.to_json()))
    with pytest.raises(VerificationError, match="does not hold for this result"):
        verify_file(file, proof=proof)
    proof.unlink()
    file.write_text(json.dumps(result.to_json()))
    again = verify_file(file)[0]
    assert again.verdict.value == "derived"
    assert "proof" in again.not_verified


def test_methods_without_proofs_are_refused_before_they_run(tmp_path):
    data = mt.load("planted:rows=40,tests=4,depth=2")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    with pytest.raises(Unsupported, match=r"cart writes no proofs.*dp"):
        mt.solve(problem, "cart", proof=tmp_path / "p")
    assert not (tmp_path / "p").exists()


@each_row(
    ("space", "named"),
    [
        (mt.Trees(2), "dp, dp-sorted, lagrangian, state-flow@SOLVER."),
        (mt.Trees(4), "dp, lagrangian, state-flow@SOLVER."),
        (mt.Trees(3, max_leaf_nodes=4), "dp, dp-sorted, lagrangian."),
        (mt.Trees(None, max_leaf_nodes=4), "dp, dp-sorted."),
        (mt.Trees(4, max_leaf_nodes=5), "dp, lagrangian."),
        (mt.RuleLists(mt.Antecedents(max_literals=1), max_length=2), "corels, dp-lists."),
    ],
)
def test_only_methods_that_prove_such_answers_are_named(tmp_path, space, named):
    """near-best proves counts, and dp-sorted only small trees: what is named must prove."""
    data = mt.load("planted:rows=40,tests=4,depth=2")
    problem = mt.Problem(data, mt.Accuracy(), space)
    plain = "enumerate-lists" if space.name == "rule-lists" else "cart"
    with pytest.raises(Unsupported) as refused:
        mt.solve(problem, plain, proof=tmp_path / "p")
    assert str(refused.value).endswith(f"take one of {named}")
    for method in named.rstrip(".").split(", "):
        result = mt.solve(problem, method.replace("SOLVER", "highs"), proof=tmp_path / "p")
        assert result.proof is not None, (method, result.message)
    near = replace(problem, question=mt.plugins.NearBest(slack=1))
    if space.name == "trees":
        assert _provers(near) == ["near-best"]
    else:
        with pytest.raises(Unsupported, match="no method proves such answers"):
            mt.solve(near, proof=tmp_path / "p")


def test_numbers_agree_with_their_nouns(tmp_path):
    """A proof of one claim has one, and the lines of a flow are flows."""
    result, proof, _ = written(tmp_path, "digits.txt", digits(), depth=1)
    assert result.proof["claims"] == 1
    message = str(mt.verify(result, proof=proof))
    assert "the 1 claim of optimum.proof follows from the data" in message
    row = result.to_json()
    assert "optimum.proof: 1 claim," in plain_text(row)
    many = {**row, "proof": {**row["proof"], "claims": 1200}}
    assert "optimum.proof: 1 200 claims," in plain_text(many)
    many["problem"] = {**row["problem"], "space": {"name": "pruned-ensembles"}}
    assert "optimum.proof: 1 200 flows," in plain_text(many)


def plain_text(row):
    """What the summary of a row says."""
    return "\n".join(text for _, text in summary(row))


def endless(*_):
    """A check that ends only from outside."""
    while True:
        time.sleep(0.001)


def test_a_check_ends_with_its_time(tmp_path, monkeypatch):
    """A proof that takes too long is not used, and the claim is derived again."""
    result, proof, _ = written(tmp_path, "digits.txt", digits(), depth=3)
    assert proved_within(result, proof, 60).verdict.value == "proved"
    monkeypatch.setattr(proved, "proved_by", endless)
    late = f"{proof.name} was not checked within the time limit of 0.2 s."
    assert proved_within(result, proof, 0.2) == late
    found = mt.verify(result, proof=proof, time_limit=0.2)
    assert late in str(found)
    assert found.verdict.value in ("derived", "claimed")
    assert "proof" in found.not_verified


def test_a_fair_tree_has_a_proven_bound(tmp_path):
    lines = ["y,g,a,b", *(f"{(i % 3 == 0) + 0},{i % 2},{i % 5 % 2},{i % 7 % 2}" for i in range(60))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    data = mt.load(tmp_path / "t.csv", target="y", group="g")
    task = mt.Accuracy(constraints=(mt.tasks.StatisticalParity("0.05"),))
    problem = mt.Problem(data, task, mt.Trees(2))
    result = mt.solve(problem, "lagrangian", proof=tmp_path / "p")
    found = check_file(tmp_path / "p", tmp_path / "t.csv")
    assert found.bound <= found.value == int(result.value.number)


def test_the_command_has_exit_codes(tmp_path):
    _, proof, data = written(tmp_path, "digits.txt", digits())
    call = CliRunner().invoke
    right = call(app, ["check", str(proof), str(data)])
    assert (right.exit_code, right.output.startswith("proved: ")) == (0, True)
    lines = gzip.decompress(proof.read_bytes()).decode().splitlines()
    stated = json.loads(lines[0])
    stated["value"] += 1
    proof.write_text("\n".join([json.dumps(stated), *lines[1:]]))
    assert call(app, ["check", str(proof), str(data)]).exit_code in (1, 4)
    proof.write_text("nothing")
    assert call(app, ["check", str(proof), str(data)]).exit_code == 1


def paid(costs):
    """Two rows with these costs of two actions."""
    data = mt.Dataset([[0], [1]], [mt.BinaryFeature("x")], values=costs, actions=("no", "yes"))
    return mt.Problem(data, mt.tasks.ActionCostMatrix(), mt.Trees(1))


@each_row("method", ["dp", "dp-sorted", "state-flow@highs"])
@each_row("size", [2**40, 2**49])
def test_a_proof_is_written_where_the_checker_takes_it(tmp_path, method, size):
    file = tmp_path / "p"
    result = mt.solve(paid([[size + 1, 0], [0, size]]), method, proof=file)
    if result.proof is not None:  # a solver need not tell such numbers apart
        assert check_file(file).value == 0
        assert mt.verify(result, proof=file).verdict is Verdict.PROVED
    else:
        assert method == "state-flow@highs"


@each_row("method", ["dp", "dp-sorted", "state-flow@highs"])
@each_row("size", [2**50, 2**51, 2**55])
def test_a_proof_that_the_checker_would_refuse_is_refused_before_the_run(tmp_path, method, size):
    problem = paid([[size + 1, 0], [0, size]])
    with pytest.raises(Unsupported, match=r"up to 2\^51 units"):
        mt.solve(problem, method, proof=tmp_path / "p")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("off", [-1, 1, 9])
def test_an_exact_bound_that_is_a_unit_off_is_not_proved_by_file(tmp_path, off):
    """Costs are around 10^7, where a unit is less than a millionth of the value."""
    file, problem = tmp_path / "p", paid([[10**7, 10**7 + 3], [10**7 + 5, 10**7]])
    row = mt.solve(problem, "dp", proof=file).to_json()
    assert mt.verify(row, problem.dataset, proof=file).verdict is Verdict.PROVED
    wrong = int(row["bound"]) + off
    row |= {"bound": wrong, "bound_exact": f"{wrong}/1", "gap": abs(off) / row["objective"]}
    row |= {"trace": []}
    with pytest.raises(VerificationError, match="bound"):
        mt.verify(row, problem.dataset, proof=file)
    row |= {"status": "feasible"}
    if off < 0:
        assert mt.verify(row, problem.dataset, proof=file).verdict is Verdict.PROVED
        return
    for given in (file, None):
        with pytest.raises(VerificationError, match="bound"):
            mt.verify(row, problem.dataset, proof=given)
