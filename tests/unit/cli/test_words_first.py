"""Wrong words are refused before the data are read, which can take long."""

import json

import pytest
from row_tests import each_row
from typer.testing import CliRunner

from milp_trees.cli.main import app

WRONG = [
    (("--task", "accuracyy"), "There is no task called 'accuracyy'"),
    (("--task", "f1:beta=2"), "f1 has no option 'beta'"),
    (("--constraint", "parity"), "'parity'. Did you mean 'statistical-parity'?"),
    (("--constraint", "Fairness"), "'Fairness'. Did you mean 'statistical-parity'?"),
    (("--constraint", "equalized-odds"), "Did you mean 'equalised-odds'?"),
]
OF_METHODS = [
    (("--method", "dpp"), "There is no method called 'dpp'"),
    (("--method", "dp:foo=1"), "dp has no option 'foo'"),
    (("--method", "flow-oct@nosuch"), "There is no solver called 'nosuch'"),
    (("--method", "flow-oct@gurobi"), "FORMULATION@pulp --option solver=GUROBI;"),
    (("--method", "flow-oct@CPLEX"), "FORMULATION@pulp --option solver=CPLEX_PY;"),
    (("--method", "flow-oct@xpress"), "SolverFactory('xpress') takes what"),
    (("--method", "dp@highs"), "dp is a search of its own and needs no solver; write dp."),
    (("--start", "carrt"), "There is no method called 'carrt'"),
    (("--reference", "dpp"), "There is no method called 'dpp'"),
    (("--method", "dp", "--option", "x=1"), "dp takes no solver options"),
    (("--then", "fewest"), "There is no task called 'fewest'"),
]
CASES = [
    *((("solve",), *case) for case in (*WRONG, *OF_METHODS)),
    *((("compare",), *case) for case in WRONG),
    (("compare",), ("--methods", "dp,dpp"), "There is no method called 'dpp'"),
    (("compare",), ("--formulations", "flow"), "There is no formulation called 'flow'"),
    (("compare",), ("--solvers", "nosuch"), "There is no solver called 'nosuch'"),
    (("compare",), ("--methods", "dp", "--seeds", "x"), "--seeds takes whole numbers"),
    *((("rule-list",), *case) for case in OF_METHODS[:6]),
    (("compare",), ("--solver", "gurobi"), "FORMULATION@pulp --option solver=GUROBI;"),
    (("rule-list",), ("--methods", "dpp"), "There is no method called 'dpp'"),
    (("size-path",), *OF_METHODS[0]),
    (("front",), *OF_METHODS[0]),
    (("front",), ("--reference", "dpp"), "There is no method called 'dpp'"),
    (("gap", "model.json"), *OF_METHODS[0]),
]


@each_row(("command", "options", "sentence"), CASES)
def test_a_wrong_word_is_refused_before_the_data_are_read(command, options, sentence):
    found = CliRunner().invoke(app, [*command, "there-is-no-such-file.csv", *options])
    assert found.exit_code == 1
    assert sentence in found.stderr
    assert "there-is-no-such-file" not in found.stderr
    assert found.stdout == ""


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "Flow-OCT@HiGHS"),
        ("--method", "DP"),
        ("--task", "Accuracy"),
        ("--group", "town", "--constraint", "Statistical_Parity:max_disparity=1"),
    ],
)
def test_capitals_do_not_matter_in_names_and_results_have_the_usual_ones(table, options):
    given = ("solve", str(table), "--depth", "1", "--json")
    found = json.loads(CliRunner().invoke(app, [*given, *options]).stdout)
    usual = json.loads(CliRunner().invoke(app, [*given, *map(_usual, options)]).stdout)
    assert found["method"] == usual["method"]
    assert found["problem"] == usual["problem"]


def _usual(word):
    return word.lower().replace("_", "-").replace("max-disparity", "max_disparity")


@pytest.mark.parametrize(
    ("name", "said"),
    [("t.xlsx", "pandas.read_excel('"), ("t.JSON", "pandas.read_json('"), ("t.dta", "read_stata")],
)
def test_tables_of_other_programs_are_refused_with_the_line_that_converts_them(
    name, said, tmp_path
):
    path = tmp_path / name
    path.write_text('[{"a": 1, "y": 0}]')
    for command in ("solve", "look", "prune"):
        found = CliRunner().invoke(app, [command, str(path)])
        assert found.exit_code == 1
        assert said in found.stderr
        assert ".to_csv('t.csv', index=False)" in found.stderr


INCOMPLETE = [
    (("rule-list",), "nothing limits the length of a list"),
    (("solve", "--rule-lists"), "nothing limits the length of a list"),
    (("compare", "--rule-lists", "--methods", "dp-lists"), "nothing limits the length of a list"),
    (("near-best", "--rule-lists", "--slack", "1"), "nothing limits the length of a list"),
    (("front",), "--against statistical-parity --group COLUMN"),
    (("front", "--against", "equal-opportunity"), "name the group column with --group"),
    (("solve", "--constraint", "capacity"), "needs the action whose rows are counted"),
    (("solve", "--constraint", "capacity:action=ill"), "limits nothing; give it at_most"),
]


@each_row(("command", "sentence"), INCOMPLETE)
def test_an_incomplete_question_is_answered_before_the_data_are_read(command, sentence):
    found = CliRunner().invoke(app, [command[0], "there-is-no-such-file.csv", *command[1:]])
    assert found.exit_code == 1
    assert sentence in found.stderr
    assert "there-is-no-such-file" not in found.stderr
    assert found.stdout == ""
