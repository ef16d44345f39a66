"""What `check` prints is the whole statement, and nothing that only the file says without a word."""

import json

import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.verification import check_proof
from milp_trees.verification.proof_reading import Wrong
from milp_trees.verification.reference_checker import check as check_slowly
from milp_trees.verification.reference_checker.reading import Refused


@pytest.fixture(scope="module")
def stated(tmp_path_factory):
    """The lines of a proof of errors on stated rows."""
    path = tmp_path_factory.mktemp("said") / "p"
    data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], y=["a", "b", "b", "a", "b"])
    mt.solve(
        mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)), "dp", reference=None, proof=path
    )
    return check_proof.unpacked(path).decode().split("\n")


def changed(lines, **changes):
    first = {**json.loads(lines[0]), **changes}
    return [json.dumps(first), *lines[1:]]


def test_the_sentence_says_limits_penalties_rows_and_tests(stated):
    message = check_proof.check(stated).sentence
    for part in ("depth at most 1", "any number of leaves", "no penalties", "5 rows, 2 tests"):
        assert part in message
    assert "as the file gives" not in message
    slow = check_slowly.report([line for line in stated if line]).sentence
    for part in ("1 levels", "any leaves", "0 per leaf", "0 per test", "5 rows", "2 tests"):
        assert part in slow


def test_an_offset_that_the_costs_contradict_is_refused(stated):
    """An offset of -12 gave "proved: 3 … errors" where 15 are true."""
    for wrong in ({"offset": "-12"}, {"scale": "2"}, {"scale": "-1"}, {"offset": "1/2"}):
        with pytest.raises(Wrong, match="offset and scale do not"):
            check_proof.check(changed(stated, **wrong))
        with pytest.raises(Refused, match="count errors"):
            check_slowly.report(changed([line for line in stated if line], **wrong))


def test_a_unit_that_the_costs_do_not_tell_is_named_as_given(stated):
    message = check_proof.check(changed(stated, unit="cats", offset="-12")).sentence
    assert "unit, offset -12 and scale 1/1 of Z are as the file gives them" in message


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"leaves": 2}, "at most 2 leaves"),
        ({"leaf_cost": 0, "split_costs": [0, 1]}, "penalties 0 per leaf and 0 to 1 per test"),
        ({"minima": [{"least": 1, "amounts": "rows"}]}, "at least 1 rows in every leaf"),
        (
            {"minima": [{"least": 1, "amounts": {"listed": [1] * 5}}]},
            "at least 1 of a stated amount",
        ),
    ],
)
def test_every_limit_of_a_statement_is_said(changes, part, stated):
    first = {**json.loads(stated[0]), **changes, "model": None, "value": None}
    claims = [line for line in stated[1:] if line.startswith("[")]
    first["bound"] = json.loads(claims[-1])[0]
    assert part in check_proof.check([json.dumps(first), *claims]).sentence


def test_counts_gaps_and_flows_say_their_statement_too(tmp_path):
    ran = CliRunner().invoke
    data = "planted:rows=30,tests=3,depth=1"
    for line, part in (
        (["near-best", data, "--depth", "1", "--slack", "1"], "depth at most 1"),
        (
            ["prune", "iris", "--trees", "2", "--depth", "2", "--lambda", "0.01"],
            "as denominator",
        ),
    ):
        proof = str(tmp_path / line[0])
        found = ran(app, [*line, "--proof", proof])
        assert found.exit_code == 0, found.output
        assert part in ran(app, ["check", proof]).output
