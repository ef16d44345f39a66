"""The command `prune` and its data, for its tests."""

import json

from typer.testing import CliRunner

from milp_trees.cli.main import app
from milp_trees.common.errors import MilpTreesError
from milp_trees.verification import verify

SMALL = ("prune", "iris", "--trees", 3, "--depth", 3)


LENGTH, WIDTH = "petal length (cm)", "petal width (cm)"


def run(*arguments, code=0):
    """Run a command; the exit code is checked, and an error is one line."""
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output + found.stderr
    if code == 1:
        assert found.stderr.strip().splitlines()[-1].startswith("Error: ")
    return found


def as_json(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def sentence(data):
    """Why a stored result is refused, or None."""
    try:
        verify(data)
    except MilpTreesError as why:
        return str(why)
    return None
