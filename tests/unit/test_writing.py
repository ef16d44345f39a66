"""Files are written whole or not at all: a full disk leaves what was there, and no drafts."""

import errno
import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common import writing
from milp_trees.common.errors import DataError
from milp_trees.exports.library.registry import replace_text
from milp_trees.lists.write_rules import write_rules
from milp_trees.studies.paper.style import save_figure

DATA = mt.Dataset([[0, 0], [1, 0], [1, 1], [0, 1]], y=["no", "yes", "no", "yes"])


@pytest.fixture(scope="module")
def made():
    problem = mt.Problem(DATA, mt.Accuracy(), mt.Trees(max_depth=1))
    result = mt.solve(problem, "dp", reference=None)
    fitted = mt.OptimalTreeClassifier(max_depth=1).fit(np.array(DATA.X), [0, 1, 0, 1])
    return problem, result, fitted, mt.compare([problem], ["cart"], reference=None)


#: Everything that writes a file at the user's word, by its kind.
WRITERS = {
    "page of a study": lambda made, path: mt.write_report(made[3], path),
    "page of a model": lambda made, path: made[1].save_html(path, seconds=0),
    "export": lambda made, path: made[1].export("sql", path),
    "estimator": lambda made, path: made[2].save(path),
    "proof": lambda made, path: _proof(made, path),
    "model file": lambda made, path: mt.export_model(made[0], "oct", f"{path}.mps", False),
    "rules": lambda made, path: write_rules(DATA, f"{path}.out"),
    "library": lambda made, path: replace_text(path, "registry"),
    "figure": lambda made, path: save_figure(
        made[3], "profile", f"{path}.png", options={}, style={}
    ),
}


def _proof(made, path):
    """A proof that cannot be written is said in the message: the answer is not lost."""
    found = mt.solve(made[0], "dp", reference=None, proof=path)
    if found.proof is None:
        raise DataError(found.message)


def _files(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@each_row("kind", WRITERS)
def test_a_full_disk_truncates_nothing(kind, made, tmp_path, monkeypatch):
    """The disk is full after half of the new content; before, the file was empty or cut off."""
    pytest.importorskip("matplotlib").use("agg")
    WRITERS[kind](made, tmp_path / "x")
    before = _files(tmp_path)
    assert all(before.values())

    class Full:
        """A file on a disk that has room for half of what is written."""

        def __init__(self, *given):
            self.file = open(*given)  # noqa: SIM115 (closed below)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing, "open", Full, raising=False)
    if kind == "figure":
        from matplotlib.figure import Figure

        def savefig(self, path, **given):
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Figure, "savefig", savefig)
    with pytest.raises((DataError, OSError), match="No space left"):
        WRITERS[kind](made, tmp_path / "x")
    assert _files(tmp_path) == before


def test_an_interrupt_leaves_the_old_file(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with (
        suppress(KeyboardInterrupt),
        writing.replacing(tmp_path / "x.json") as draft,
    ):
        draft.write_text(json.dumps([1]))
        raise KeyboardInterrupt
    assert _files(tmp_path) == {"x.json": b"{}"}


def test_a_long_name_is_written(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    writing.write_whole(path, "é")
    assert path.read_bytes() == "é".encode()


def test_nothing_writes_a_file_in_another_way():
    """All files for the user go through `writing`; what is listed is for programs, or is appended."""
    known = {
        "cli/help.py",  # the text of --help
        "common/compiling/store.py",  # the cache of compiled code
        "mip/linear/mps.py",  # input of a solver's program, in a temporary folder
        "mip/linear/reading.py",  # an unpacked model, in a temporary folder
        "mip/linear/silent_highs.py",  # the null device
        "mip/worker.py",  # the log of a process, as it comes
        "studies/running/executors/processes.py",  # logs of workers, as they come
        "studies/running/folder.py",  # the folder of a running study, with its own locks
        "unimodular/certificate.py",  # into memory
    }
    root = Path(writing.__file__).parents[1]
    words = ("write_text(", "write_bytes(", 'open("w', ', "w"', ', "wb"', "savefig(")
    found = {
        str(p.relative_to(root))
        for p in root.rglob("*.py")
        if "testing" not in p.parts and any(word in p.read_text("utf-8") for word in words)
    }
    own = {
        "common/writing.py",
        "cli/outputs.py",
        "studies/paper/style.py",
        "mip/linear/files.py",
        "exports/model_files/export.py",
    }
    assert found - own <= known
