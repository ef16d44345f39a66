"""What each command imports, since imports are most of the time of a small command."""

import json
import subprocess
import sys

import pytest
from cli_cases import run
from row_tests import each_row

from milp_trees.cli import commands
from milp_trees.cli.main import app

#: Modules that take a tenth of a second or more, or that bring such modules along.
HEAVY = [
    "milp_trees.cli.solve",
    "numpy",
    "pandas",
    "numba",
    "llvmlite",
    "sklearn",
    "scipy.sparse",
    "scipy.stats",
    "scipy.optimize",
    "scipy.linalg",
    "pyomo",
    "highspy",
    "pulp",
    "networkx",
    "matplotlib",
    "duckdb",
    "dask",
    "rich",
    "psutil",
    "charset_normalizer",
    "multiprocessing.pool",
    "http.client",
    "milp_trees.formulations",
    "milp_trees.estimators",
    "milp_trees.testing",
]
#: What commands may import of these, each one also what those before it may.
ALLOWED = {
    "--version": "",
    "--help": "numpy milp_trees.cli.solve",
    "tasks": "rich",
    "predict {result} iris": "pandas",
    "verify {result}": "numba llvmlite",
    "solve iris --depth 2": "",
}
CHILD = """
import contextlib, io, json, sys
from milp_trees.__main__ import main
seen, found = set(), {}
for line in LINES:
    sys.argv = ["milp-trees", *line.split()]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main()
    except SystemExit as ended:
        assert not ended.code, (line, ended.code)
    new = {name for name in HEAVY if name in sys.modules} - seen
    seen |= new
    found[line] = sorted(new)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The heavy modules that each command adds, one after the other in one process."""
    result = tmp_path_factory.mktemp("imports") / "r.json"
    run("solve", "iris", "--depth", 2, "--out", result)
    lines = {line.format(result=result): line for line in ALLOWED}
    code = f"HEAVY, LINES = {HEAVY!r}, {list(lines)!r}{CHILD}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {lines[line]: new for line, new in json.loads(done.stdout).items()}


@each_row("line", ALLOWED)
def test_a_command_imports_what_it_uses(imported, line):
    """A table is read, solved, verified and printed without scikit-learn, SciPy and Pyomo."""
    assert set(imported[line]) <= set(ALLOWED[line].split())


def test_every_command_is_found_in_its_file_and_only_that_file_is_imported():
    """The names that are read from the files are those of the commands."""
    from typer.main import get_command

    assert set(commands.homes()) == set(get_command(app).commands)
    code = "import sys; from milp_trees.cli import commands; commands.load(['solve']); print('milp_trees.cli.solve' in sys.modules, 'milp_trees.pruning.cli.prune' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
