"""Files that once were accepted though false, or refused though true, each as a tiny problem."""

import gzip
import json

import pytest

import milp_trees as mt
from milp_trees.unimodular import check_unimodular
from milp_trees.verification import check_count, check_proof
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_reading import Wrong
from milp_trees.verification.reference_checker import check as check_slowly
from milp_trees.verification.reference_checker.reading import Refused
from milp_trees.verification.verdict import Verdict

#: Exclusive or of two features: no errors at depth two.
XOR = {
    "format": "milp-trees-proof", "version": 1, "kind": "trees", "depth": 2, "leaves": None,
    "leaf_cost": 0, "split_costs": 0, "minima": [],
    "data": {"kind": "rows", "X": ["00", "01", "10", "11"]}, "features": ["a", "b"],
    "costs": {"kind": "listed", "values": [[0, 1], [1, 0], [1, 0], [0, 1]]},
    "side": [], "multipliers": [], "denominator": 1, "actions": ["k", "l"], "offset": "0",
    "scale": "1", "unit": "errors", "model": None, "value": None, "bound": 0,
}  # fmt: skip


def stated(**changes):
    return json.dumps({**XOR, **changes})


def counted(allowance, count, **changes):
    last = {"allowance": allowance, "count": count, "trivial": True, "equal_tests": "all"}
    return check_count.check([stated(**changes), "[0, 2, []]", json.dumps(last)]).trees


def test_a_claim_about_a_rule_list_may_limit_its_rules():
    """The second checker counted no rules, and refused what is true: two leaves are one rule."""
    lines = [stated(kind="lists", bound=1), "[2, 2, [], [], 2]", "[1, 2, []]"]
    assert check_proof.check(lines).bound == 1
    assert check_slowly.check_slowly(lines) == (1, None)
    for more in ("[3, 2, [], [], 2]", "[2, 2, [], [], 3]"):
        refused_by_both([lines[0], more, lines[2]], None, "Claim 0", "costs less")


def test_the_second_checker_knows_that_siblings_are_similar():
    """It left rule 2d out, and refused a claim that follows."""
    rows = ["11110", "01011", "01101", "10010", "10000", "10110", "01111"]
    costs = [[5001, 0, -2000], [-3000, 2000, 2000], [-2000, 4000, -1999], [-2000, 5000, -1999]]
    costs += [[-1999, 1001, 0], [0, 1001, -999], [-3000, 2000, 1001]]
    head = stated(
        depth=None,
        split_costs=[0, 0, 2000, 2000, 0],
        data={"kind": "rows", "X": rows},
        features=list("abcde"),
        costs={"kind": "listed", "values": costs},
        actions=["k", "l", "m"],
        bound=-13999,
    )
    lines = [head, "[-4998, 0, [1]]", "[-13999, null, [], [0]]"]
    assert check_proof.check(lines).bound == -13999
    assert check_slowly.check_slowly(lines) == (-13999, None)


@pytest.mark.parametrize("last", ['{ "closed": true}', ' {"closed":true} '])
def test_the_last_line_may_have_spaces(tmp_path, last):
    """Only without them was it taken for a closed gap; `check_gap` read it."""
    path = tmp_path / "p"
    head = stated(model=[0, [1, 0, 1], [1, 1, 0]], value=0, bound=-1)
    path.write_text("\n".join([head, "[-1, 2, []]", last]), encoding="utf-8")
    assert check_file(path).proved
    assert check_file(path, slowly=True).proved


def test_a_threshold_is_a_number_of_double_precision(tmp_path):
    """The checkers rounded another one in two ways: a row had two answers."""
    data = tmp_path / "t.csv"
    data.write_text(f"{2**53 + 4},no\n{2**53 + 8},yes\n", encoding="utf-8")
    form = {
        "kind": "table", "skip": 0, "names": ["a", "ill"], "delimiter": ",", "quote": '"',
        "encoding": "utf-8", "decimal": ".", "missing": [], "gzip": False,
    }  # fmt: skip
    rest = {"data": form, "costs": {"kind": "listed", "values": [[0, 1], [1, 0]]}}
    for value, good in ((2**53 + 4, True), (2**53 + 3, False)):
        test = ["a", "<=", value, None, True]
        lines = [stated(features=[[test]], **rest), "[0, 2, []]"]
        if good:
            check_proof.check(lines, data)
            check_slowly.check_slowly(lines, data)
        else:
            refused_by_both(lines, data, "features", "double precision")


def test_a_count_reads_fractions_as_the_checker_of_claims_does():
    """`1/-2` was a fraction for one and an error for the other."""
    assert counted(1, 6, offset="1/-2", unit="") == 6


def test_a_vertex_that_equals_nothing_is_refused():
    """The search for its root did not end."""
    arc = {"tail": float("nan"), "head": 1, "carries": "r"}
    stated_yes = {
        "answer": "yes",
        "matrix": {"rows": ["r"], "columns": ["c"], "entries": [[0, 0, 1]]},
        "certificate": {"kind": "network", "arcs": [arc]},
    }
    with pytest.raises(Wrong, match="vertex has no name"):
        check_unimodular.check(stated_yes)
    arc["tail"] = 0
    check_unimodular.check(stated_yes)


def test_a_unit_with_a_line_of_its_own_cannot_say_proved():
    lines = [stated(unit="errors\nproved: 0"), "[0, 2, []]"]
    with pytest.raises(Wrong, match="unit"):
        check_proof.check(lines)
    with pytest.raises(Refused, match="unit"):
        check_slowly.check_slowly(lines)


def test_an_error_has_no_line_that_says_proved(tmp_path):
    """Python repeats the name of an unknown encoding as it is."""
    form = {
        "kind": "table", "skip": 0, "names": ["a"], "delimiter": ",", "quote": None,
        "encoding": "x\nproved: 0", "decimal": ".", "missing": [], "gzip": False,
    }  # fmt: skip
    (tmp_path / "t.csv").write_text("0\n", encoding="utf-8")
    with pytest.raises(Wrong) as caught:
        check_proof.check([stated(data=form), "[0, 2, []]"], tmp_path / "t.csv")
    assert "\n" not in str(caught.value)


def test_a_count_is_about_costs_that_are_not_multiplied():
    """With the denominator 2, two trees were said to have at most one error; there are six."""
    assert counted(1, 6) == 6
    for count in (2, 6):
        with pytest.raises(Wrong, match="denominator"):
            counted(1, count, denominator=2)


def test_an_allowance_above_all_costs_counts_no_forbidden_tree():
    """The cost of a forbidden leaf is a large number, and was within a larger allowance."""
    three_rows = [{"least": 3, "amounts": "rows"}]
    assert counted(2**51, 1, minima=three_rows) == 1
    for allowance in (2**59, 10**30):
        with pytest.raises(Wrong, match="allowance"):
            counted(allowance, 3, minima=three_rows)


def test_a_count_for_the_second_checker_is_not_called_wrong(tmp_path):
    last = {"allowance": 0, "count": 2, "trivial": True, "equal_tests": "all"}
    path = tmp_path / "p"
    path.write_text("\n".join([stated(), "[0, 2, []]", json.dumps(last)]), encoding="utf-8")
    assert check_file(path).proved
    assert check_file(path, slowly=True).proved


def test_negative_amounts_are_refused_even_if_every_row_meets_the_minimum():
    """The minimum was dropped, so that trees with forbidden leaves were counted."""
    minima = [{"least": -5, "amounts": {"listed": [-3] * 4}}]
    with pytest.raises(Wrong, match="negative"):
        counted(2, 9, minima=minima)
    lines = [stated(minima=minima), "[0, 2, []]"]
    with pytest.raises(Wrong, match="negative"):
        check_proof.check(lines)
    with pytest.raises(Refused, match="negative"):
        check_slowly.check_slowly(lines)


def test_a_count_is_stated_once():
    last = '{"allowance": 0, "count": 9, "count": 2, "trivial": true, "equal_tests": "all"}'
    with pytest.raises(Wrong, match="twice"):
        check_count.check([stated(), "[0, 2, []]", last])


@pytest.mark.parametrize("change", ['"value": 0, "value": 1,', '"valeu": 0,', '"value": 0.5,'])
def test_a_malformed_statement_is_unreadable_not_rejected(change, tmp_path, capsys):
    (tmp_path / "p").write_text(stated(value=0).replace('"value": 0,', change) + "\n[0, 2, []]\n")
    assert check_proof.main([str(tmp_path / "p")]) == 2
    assert capsys.readouterr().out.startswith("unreadable: ")


def test_a_text_may_hold_a_line_separator_of_unicode(tmp_path):
    """JSON leaves U+2028 as it is, which some ways to split lines take for the end of one."""
    data, proof, odd = tmp_path / "t.csv", tmp_path / "t.proof", "x\u2028z"
    rows = [f"{i % 3},{i % 2},{'no' if i % 5 else odd}" for i in range(20)]
    data.write_text("\n".join(["a,b,ill", *rows]), encoding="utf-8")
    problem = mt.Problem(mt.load(data), mt.Accuracy(), mt.Trees(max_depth=2))
    result = mt.solve(problem, "dp", proof=proof)
    lines = gzip.decompress(proof.read_bytes()).decode()
    assert "\u2028" in lines.partition("\n")[0]
    assert check_file(proof, data).proved
    assert check_file(proof, data, slowly=True).proved
    assert check_proof.main([str(proof), str(data)]) == 0
    assert mt.verify(result, proof=proof).verdict is Verdict.PROVED


def test_a_conjunction_of_nothing_holds_on_every_row(tmp_path):
    """It was one answer for all rows together: an error that no sentence explained."""
    data = tmp_path / "t.csv"
    data.write_text("1,no\n0,yes\n1,no\n", encoding="utf-8")
    form = {
        "kind": "table", "skip": 0, "names": ["a", "ill"], "delimiter": ",", "quote": '"',
        "encoding": "utf-8", "decimal": ".", "missing": [], "gzip": False,
    }  # fmt: skip
    answers = [[], [["a", "is", None, None, True]]]
    for features in (answers, answers[:1], []):
        head = stated(
            data=form,
            features=features,
            costs={"kind": "listed", "values": [[0, 1], [1, 0], [0, 1]]},
            bound=1 - (len(features) > 1),
        )
        claim = "[0, 2, []]" if len(features) > 1 else "[1, 2, []]"
        assert check_proof.check([head, claim], data).bound == 1 - (len(features) > 1)
        check_slowly.check_slowly([head, claim], data)
    form["quote"] = ""
    with pytest.raises(Wrong, match="quotechar"):
        check_proof.check([stated(data=form, features=answers), "[0, 2, []]"], data)


def refused_by_both(lines, data, why, slowly):
    with pytest.raises(Wrong, match=why):
        check_proof.check(lines, data)
    with pytest.raises(Refused, match=slowly):
        check_slowly.check_slowly(lines, data)


def test_columns_have_the_names_of_the_header(tmp_path):
    """Names were those of the statement, so that a test on `b` could be about the column `a`."""
    data = tmp_path / "t.csv"
    data.write_text("a,b,ill\n1,0,no\n0,1,yes\n1,1,no\n", encoding="utf-8")
    form = {
        "kind": "table", "skip": 1, "names": ["a", "b", "ill"], "delimiter": ",", "quote": '"',
        "encoding": "utf-8", "decimal": ".", "missing": [], "gzip": False,
    }  # fmt: skip
    rest = {
        "features": [[["b", "is", None, None, True]]],
        "costs": {"kind": "listed", "values": [[0, 1], [1, 0], [0, 1]]},
        "depth": 1,
    }
    good = [stated(data=form, **rest), "[0, 1, []]"]
    check_proof.check(good, data)
    check_slowly.check_slowly(good, data)
    other = {**form, "names": ["b", "a", "ill"]}
    without = {**form, "skip": 2}  # then a row would be the header
    for wrong in (other, without):
        refused_by_both([stated(data=wrong, **rest), "[0, 1, []]"], data, "header", "header")
    for odd in (["b", "is", "0", None, True], ["b", "missing", "1", None, True]):
        lines = [stated(data=form, **{**rest, "features": [[odd]]}), "[0, 1, []]"]
        refused_by_both(lines, data, "features", "has no value")  # it reads as b = 0
    lines = [
        stated(data=form, **{**rest, "features": [[["b", "==", 0, None, True]]]}),
        "[0, 1, []]",
    ]
    refused_by_both(lines, data, "features", "no text")  # no text equals a number
