"""The notebook is stored executed, holds what its script says, and runs again with the same
results.
"""

import importlib.util
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("nbclient") is None, reason="the extra `notebooks` is not installed"
)

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def script():
    spec = importlib.util.spec_from_file_location("build_notebooks", FOLDER / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(nb):
    """What the code cells print, without the times.

    What stands on standard error, such as that kernels are compiled, depends on the machine.
    """
    return [
        "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
        for cell in nb.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebook_is_stored_executed(path):
    """Every code cell has run, none ended in an error, and no output names a folder of the machine
    it ran on.
    """
    nbformat = pytest.importorskip("nbformat")
    nb = nbformat.read(path, as_version=4)
    nbformat.validate(nb)
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not [
        o
        for cell in code
        for o in cell.outputs
        if o.output_type == "error" or o.get("name") == "stderr"
    ]
    assert not re.search(r"/(home|root|tmp|work|Users)/", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [p.stem for p in NOTEBOOKS])
def test_the_notebook_holds_what_its_cells_say(name):
    """Cells are edited in `notebooks/cells`; `make notebook` stores them executed."""
    nbformat = pytest.importorskip("nbformat")
    stored = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert [c.source for c in stored.cells] == [c.source for c in script().notebook(name).cells], (
        f"run: python notebooks/build.py {name}"
    )


def test_every_file_of_cells_is_a_notebook():
    """No cells without a notebook, no notebook without cells."""
    assert sorted(script().CELLS) == [p.stem for p in NOTEBOOKS]


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebook_runs_again_with_the_same_results(path):
    """Executed in a fresh kernel, every cell succeeds and prints what is stored."""
    nbformat = pytest.importorskip("nbformat")
    stored = nbformat.read(path, as_version=4)
    before = printed(stored)
    assert printed(script().execute(stored)) == before
