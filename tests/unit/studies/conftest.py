"""A file of a finished study, which tests damage."""

import shutil
import sqlite3

import pytest

import milp_trees as mt


@pytest.fixture(scope="module")
def stored_problem():
    """The problem of the stored study."""
    return mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=4"),
        mt.Accuracy(),
        mt.Trees(2),
    )


@pytest.fixture(scope="module")
def finished(stored_problem, tmp_path_factory):
    """A file with two rows, nothing of it left in a write-ahead log."""
    path = tmp_path_factory.mktemp("finished") / "study.sqlite"
    mt.compare(stored_problem, ["cart", "dp"], store=path).store.close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    db.close()
    return path


@pytest.fixture
def study_file(finished, tmp_path):
    """A copy of the file of the finished study."""
    return shutil.copy(finished, tmp_path / "study.sqlite")
