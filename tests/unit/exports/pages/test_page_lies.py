"""A page of a model states only what was recomputed or checked while it was made."""

import copy
import json

import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import VerificationError
from milp_trees.exports.pages.tree_page import STORED

LIE = "an untrue word"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with a table, and the result of a tree with errors."""
    folder = tmp_path_factory.mktemp("lies")
    rows = "".join(
        f"{a},{s},{'ill' if (a < 35) == (s == 'y') else 'well'}\n"
        for a in range(20, 60, 4)
        for s in "yn"
    )
    (folder / "t.csv").write_text(f"age,smoker,health\n{rows}")
    problem = mt.Problem(mt.load(folder / "t.csv"), mt.Accuracy(), mt.Trees(max_depth=1))
    result = mt.solve(problem, "dp", reference=None, proof=folder / "r.proof")
    return folder, json.loads(json.dumps(result.to_json())), result


def export(folder, row):
    """The page that the command makes of a row, or the sentence with which it refuses."""
    (folder / "r.json").write_text(json.dumps(row))
    (folder / "r.html").unlink(missing_ok=True)
    line = ["export", folder / "r.json", "--to", "html:seconds=0", "-o", folder / "r.html"]
    ran = CliRunner().invoke(app, [str(word) for word in line])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    if ran.exit_code:
        assert not (folder / "r.html").exists()
        return None, ran.output
    page = (folder / "r.html").read_text()
    head, _, rest = page.partition('<div id="headline">')[2].partition("</div>")
    facts = rest.partition('<table class="facts">')[2]
    return head + facts.partition(STORED)[0], facts


def test_an_objective_that_the_tree_does_not_have_is_refused(stored):
    """Objective, bound and exact of 3 gave "3 errors … it is optimal … proved by file … checked"."""
    folder, row, result = stored
    assert result.value.number > 3
    lie = {**row, "objective": 3, "bound": 3, "exact": "3/1", "bound_exact": "3/1", "gap": 0.0}
    lie["proof"] = {**row["proof"], "checked": True}
    page, message = export(folder, lie)
    assert page is None
    assert "the objective 3" in message or "exact" in message


def test_whoever_writes_the_page_in_python_is_told_too(stored):
    from dataclasses import replace

    *_, result = stored
    value = replace(result.value, number=3.0, exact=None)
    wrong = replace(result, solutions=(replace(result.solutions[0], value=value),))
    with pytest.raises(VerificationError, match="the result is wrong"):
        wrong.export("html", seconds=0)


def test_without_the_rows_everything_is_as_stored(stored, tmp_path):
    folder, row, _ = stored
    lie = copy.deepcopy(row)
    lie |= {"objective": 3, "bound": 3, "exact": "3/1", "bound_exact": "3/1", "derived_by": LIE}
    lie["proof"] = {**row["proof"], "checked": True}
    lie["problem"]["data"]["path"] = str(folder / "gone.csv")
    page, _ = export(folder, lie)
    assert "as stored and not checked: 3 errors" in page
    assert "proves" not in page
    assert "Proved" not in page
    assert "Recomputed" not in page


def test_the_proof_beside_the_result_is_checked_for_its_own_statement(stored):
    """The page names the hash of the file; the file of another problem is refused."""
    folder, row, _ = stored
    page, _ = export(folder, row)
    assert "It is optimal." in page
    assert row["proof"]["sha256"] in page
    deeper = copy.deepcopy(row)
    deeper["problem"]["space"]["max_depth"] = 2
    page, message = export(folder, deeper)
    assert page is None
    assert "does not hold for this result" in message


def _places(x, at=()):
    if isinstance(x, dict):
        for name, value in x.items():
            yield from _places(value, (*at, name))
    elif isinstance(x, list):
        yield at
        for k, value in enumerate(x[:1]):
            yield from _places(value, (*at, k))
    else:
        yield at


def _other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return [LIE] if isinstance(value, list) else LIE


def test_no_field_of_a_result_gets_a_lie_among_what_was_checked(stored):
    """Every field is changed, one at a time: the page is refused, or says it under `as stored`."""
    folder, row, _ = stored
    row = {**row, "proof": None}
    honest, _ = export(folder, row)
    assert "recomputed from the data when this page was written" in honest
    refused = 0
    for place in _places(row):
        lie = copy.deepcopy(row)
        at = lie
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = _other(at[place[-1]])
        page, message = export(folder, lie)
        if page is None:
            refused += 1
            continue
        if "as stored and not checked" in page:  # its problem cannot be restored
            assert "recomputed" not in page.lower()
            continue
        if place[:2] == ("problem", "space"):  # the tree keeps to these limits, too
            assert LIE not in page
            continue
        head = page.partition("Not checked when")[0]
        assert head == honest.partition("Not checked when")[0], (place, message)
    assert refused > 30
