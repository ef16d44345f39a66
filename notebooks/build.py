"""Writes and executes the notebooks: `python notebooks/build.py [NAME …]` (needs the extra `notebooks`).

The text and code of every cell are in `cells/`, one file per notebook; the stored notebooks are these, executed. A test executes the stored ones again.
"""

import runpy
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
#: Name of every notebook → file of its cells.
CELLS = {path.stem: path for path in sorted((HERE / "cells").glob("*.py"))}


def notebook(name: str) -> nbformat.NotebookNode:
    """A notebook, not yet executed."""
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    cells = [make[kind](text.strip(), id=f"cell-{i:02}") for i, (kind, text) in enumerate(runpy.run_path(str(CELLS[name]))["CELLS"])]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def execute(nb: nbformat.NotebookNode, seconds: int = 120) -> nbformat.NotebookNode:
    """Run every cell in a fresh kernel; the first error is raised."""
    NotebookClient(nb, timeout=seconds, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}).execute()
    for cell in nb.cells:
        cell.metadata.pop("execution", None)  # times of day are no result
    nb.metadata["language_info"] = {"name": "python"}
    return nb


if __name__ == "__main__":
    for name in sys.argv[1:] or CELLS:
        path = HERE / f"{name}.ipynb"
        nbformat.write(execute(notebook(name)), path)
        print(f"wrote {path}")
