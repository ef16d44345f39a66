"""What `solve` prints fits into 80 columns."""

from row_tests import each_row
from typer.testing import CliRunner

from milp_trees.cli.folding import folded
from milp_trees.cli.main import app


@each_row("data", ["iris", "breast-cancer"])
@each_row("more", [(), ("--verbose", "--test-size", "0.3")])
def test_no_line_of_solve_is_wider_than_a_terminal(data, more):
    found = CliRunner().invoke(app, ["solve", data, "--depth", "1", *more])
    assert found.exit_code == 0, found.output
    assert [line for line in found.stdout.splitlines() if len(line) > 80] == []
    assert " over all " in " ".join(found.stdout.split())
    found = CliRunner().invoke(app, ["solve", data, "--binarize", "quantiles:3", "--depth", "1"])
    assert [line for line in found.stdout.splitlines() if len(line) > 80] == []


def test_a_folded_line_continues_below_its_text():
    line = "data      " + "word " * 20 + "a-long-path/" * 10
    first, *rest, last = folded(line).splitlines()
    assert first.startswith("data      word word")
    assert all(part.startswith(" " * 10 + "word") for part in rest)
    assert last == " " * 10 + "a-long-path/" * 10
    assert " ".join(folded(line).split()) == " ".join(line.split())
