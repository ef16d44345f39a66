"""The command line, for its tests."""

from typer.testing import CliRunner

from milp_trees.cli.main import app

PLANTED = "planted:rows=60,tests=5,depth=2,noise=0.1,seed=4"


def run(*arguments, code=0):
    """Run a command; the exit code is checked."""
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output + found.stderr
    return found
