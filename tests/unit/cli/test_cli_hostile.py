"""Inputs that would take hours or end in a traceback are refused in a sentence."""

import json

import pytest
from cli_cases import run
from row_tests import each_row

from milp_trees.data import lines

DEEP = "[" * 100_000 + "]" * 100_000


@each_row("more", [(), ("--slowly",)])
@each_row(
    "text",
    [
        DEEP,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"format": "milp-trees-proof", "x": ' + DEEP + "}\n[0,1,[]]\n",
        '{"format": "milp-trees-proof", "kind": "trees", "data": {"kind": "rows"}}\n' + DEEP,
        '{"answer": "yes", "certificate": ' + DEEP + "}",
    ],
)
def test_a_deeply_nested_proof_is_refused(text, more, tmp_path):
    (tmp_path / "p").write_text(text)
    assert "Error:" in run("check", tmp_path / "p", *more, code=1).stderr


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999", "1_0"])
def test_a_number_that_would_take_hours_is_refused(number, tmp_path):
    """In the entries, and in the determinant."""
    matrix = {"rows": ["r"], "columns": ["c"], "entries": [[0, 0, number]]}
    part = {"rows": [0], "columns": [0], "entries": [[1]], "determinant": number}
    own = {**matrix, "entries": [[0, 0, 1]]}
    for stated in (
        {"answer": "yes", "matrix": matrix, "certificate": None, "proof": "few"},
        {"answer": "no", "matrix": own, "certificate": None, "submatrix": part},
    ):
        (tmp_path / "u.json").write_text(json.dumps(stated))
        assert run("check", tmp_path / "u.json", code=4).stderr
    assert "must be a number" in run("solve", "iris", "--leaf-penalty", number, code=1).stderr


@pytest.mark.parametrize(
    "text", ["a = " + DEEP, f"[[{'.'.join(['a'] * 100_000)}]]\n", "x = " + "{a=" * 50_000]
)
def test_a_deeply_nested_spec_is_refused(text, tmp_path):
    (tmp_path / "s.toml").write_text(text)
    message = run("study", tmp_path / "s.toml", "--dry-run", code=1).stderr
    assert "nested too deeply" in message or "is no SPEC" in message


def test_numbers_with_underscores_are_refused():
    """Python reads 1_000 as 1000."""
    assert "must be a number" in run("solve", "iris", "--leaf-penalty", "1_000", code=1).stderr
    for line in (("--depth", "1_0"), ("--depth=1_0",), ("--time-limit", "1_0.5")):
        assert "without underscores" in run("solve", "iris", *line, code=2).stderr
    assert "must be a number" in run("solve", "planted:rows=1_0", code=1).stderr
    method = ("--depth", "1", "--method", "dp:lookahead=1_0")
    assert "1_0" in run("solve", "iris", *method, code=1).stderr
    message = run("solve", "iris", "--target", "6_0", code=1).stderr  # 60 is the default of a limit
    assert "names the column '6_0'" in message


def test_a_setting_that_is_given_twice_is_refused():
    assert "given twice" in run("solve", "planted:rows=10,rows=20", code=1).stderr
    given = ("--option", "a=1", "--option", "a=2")
    assert "--option gives a twice" in run("solve", "iris", *given, code=1).stderr


def test_tables_and_generators_of_a_size_that_nothing_could_end_are_refused(tmp_path):
    """The stated limits are those of columns, of the first line, and of generated answers."""
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(f"c{k}" for k in range(lines.MOST_COLUMNS + 1)) + "\n")
    assert "at most 100000 are read" in run("look", wide, code=1).stderr
    wide.write_text("a" * (lines.MOST_HEADER * 2) + ",b\n")
    assert "Error:" in run("look", wide, code=1).stderr
    for given in ("tests=10000000", "rows=100000000,tests=100", "rows=1,tests=100001,depth=1"):
        assert "at most 100000 tests" in run("solve", f"planted:{given}", code=1).stderr
