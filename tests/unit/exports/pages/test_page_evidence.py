"""The page of a model says what stands behind it: a checked proof file, or a claim."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError, VerificationError
from milp_trees.exports.pages.certificate import Checks, certificate

HEAD = '<tr><th scope="row">evidence</th><td>'


@pytest.fixture(scope="module")
def problem():
    data = mt.load("planted:rows=60,tests=5,depth=2,noise=0.1")
    return mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))


@pytest.fixture(scope="module")
def proved(problem, tmp_path_factory):
    """(result, proof file) of a run that wrote a proof."""
    path = tmp_path_factory.mktemp("page") / "tree.proof"
    return mt.solve(problem, "dp", proof=path), path


def said(page):
    """What a page says of the evidence in its model."""
    return page.partition(HEAD)[2].partition("<")[0]


def test_a_page_without_a_checked_proof_says_who_claims_the_bound(problem, proved):
    result, _ = proved
    assert said(result.export("html")) == "claimed by dp"
    assert said(mt.solve(problem, "dp").export("html")) == "claimed by dp"
    assert said(mt.solve(problem, "cart").export("html")) == "recomputed"
    compared = mt.solve(problem, "dp", reference="enumerate")
    assert said(compared.export("html")) == "derived again by enumerate"


def test_a_page_names_the_proof_file_that_was_checked(proved, tmp_path):
    result, proof = proved
    page = result.save_html(tmp_path / "page.html", proof=str(proof)).read_text()
    assert said(page) == "proved by file tree.proof"
    facts = dict(certificate(result.to_json(), Checks())[1])
    assert "not checked here" in facts["proof file"]
    assert facts["evidence"] == "claimed by dp"


def test_a_proof_that_is_not_the_result_s_own_is_refused(problem, proved, tmp_path):
    result, proof = proved
    other = tmp_path / "other.proof"
    deep = mt.solve(replace(problem, space=mt.Trees(1)), "dp", proof=other)
    assert deep.value.number > result.value.number
    with pytest.raises(DataError, match="not the proof file that was written"):
        result.export("html", proof=str(other))
    with pytest.raises(DataError, match="no proof file"):
        result.export("html", proof=str(tmp_path / "gone"))
    with pytest.raises(VerificationError, match="does not hold"):
        replace(result, proof=deep.proof).export("html", proof=str(other))
    slow = result.export("html", proof=str(proof), proof_seconds=0)
    assert said(slow) == "claimed by dp"
    assert "was not checked within the time limit of 0 s" in slow


def test_the_command_checks_the_proof_beside_the_result(tmp_path):
    call = CliRunner().invoke
    stored, proof, page = (tmp_path / name for name in ("r.json", "r.proof", "r.html"))
    requested = [
        "--reference",
        "none",
        "planted:rows=60,tests=5,depth=2,noise=0.1",
        "--depth",
        "2",
        "--method",
        "dp",
    ]
    found = call(app, ["solve", *requested, "--proof", str(proof), "--out", str(stored)])
    assert found.exit_code == 0, found.output
    export = ["export", str(stored), "--to", "html", "-o", str(page)]
    assert call(app, export).exit_code == 0
    assert said(page.read_text()) == "proved by file r.proof"
    stored.write_text(stored.read_text().replace('"checked": false', '"checked": true'))
    proof.unlink()
    assert call(app, export).exit_code == 0
    assert said(page.read_text()) == "claimed by dp"
