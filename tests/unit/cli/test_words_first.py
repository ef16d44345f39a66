"""Wrong words are refused before the data are read, which can take long."""

import pytest
from typer.testing import CliRunner

from milp_trees.cli.main import app

WRONG = [
    (("--task", "accuracyy"), "There is no task called 'accuracyy'"),
    (("--task", "f1:beta=2"), "f1 has no option 'beta'"),
    (("--constraint", "parity"), "There is no constraint 'parity'"),
]
OF_METHODS = [
    (("--method", "dpp"), "There is no method called 'dpp'"),
    (("--method", "dp:foo=1"), "dp has no option 'foo'"),
    (("--method", "flow-oct@nosuch"), "There is no solver called 'nosuch'"),
    (("--start", "carrt"), "There is no method called 'carrt'"),
    (("--reference", "dpp"), "There is no method called 'dpp'"),
    (("--method", "dp", "--option", "x=1"), "dp takes no solver options"),
    (("--then", "fewest"), "There is no task called 'fewest'"),
]
CASES = [
    *((("solve",), *case) for case in (*WRONG, *OF_METHODS)),
    *((("compare",), *case) for case in (*WRONG, *OF_METHODS[3:5])),
    (("compare",), ("--methods", "dp,dpp"), "There is no method called 'dpp'"),
    (("compare",), ("--formulations", "flow"), "There is no formulation called 'flow'"),
    (("compare",), ("--solvers", "nosuch"), "There is no solver called 'nosuch'"),
    (("compare",), ("--methods", "dp", "--seeds", "x"), "--seeds takes whole numbers"),
    *((("rule-list",), *case) for case in OF_METHODS[:6]),
    (("rule-list",), ("--methods", "dpp"), "There is no method called 'dpp'"),
    (("size-path",), *OF_METHODS[0]),
    (("front",), *OF_METHODS[0]),
    (("front",), *OF_METHODS[4]),
    (("gap", "model.json"), *OF_METHODS[0]),
]


@pytest.mark.parametrize(("command", "options", "sentence"), CASES)
def test_a_wrong_word_is_refused_before_the_data_are_read(command, options, sentence):
    found = CliRunner().invoke(app, [*command, "there-is-no-such-file.csv", *options])
    assert found.exit_code == 1
    assert sentence in found.stderr
    assert "there-is-no-such-file" not in found.stderr
    assert found.stdout == ""
