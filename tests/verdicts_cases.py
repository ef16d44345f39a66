"""The command `verify`, for the tests of verdicts."""

from typer.testing import CliRunner

from milp_trees.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])
