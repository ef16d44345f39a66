"""Files of studies: damaged, foreign, locked, full."""

import json
import random
import sqlite3
import subprocess
import sys
import warnings

import pytest
from store_cases import change

import milp_trees as mt
from milp_trees.common.errors import DamagedRowWarning, MilpTreesError
from milp_trees.studies import StoreError, Study
from milp_trees.studies.store import LAYOUT, Store


@pytest.fixture
def problem(stored_problem):
    return stored_problem


@pytest.fixture
def path(study_file):
    return study_file


# -- files ---------------------------------------------------------------------------------------------------


def test_a_new_file_says_its_layout(path):
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone()[0] == LAYOUT


def test_a_file_from_before_layouts_were_counted_is_read(problem, path):
    change(path, "PRAGMA user_version = 0")
    assert len(Study.open(path).rows) == 2
    mt.compare(problem, ["dp"], store=path)
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone()[0] == LAYOUT


def refused(problem, path, sentence):
    """Reading and writing say the same sentence, and the file is left as it is."""
    before = path.read_bytes() if path.is_file() else None
    for use in (
        lambda: mt.compare(problem, ["cart"], store=path),
        lambda: Store(path, read_only=True),
    ):
        with pytest.raises(StoreError, match=sentence) as caught:
            use()
        assert "safe" not in str(caught.value)
    assert before is None or path.read_bytes() == before


def test_a_file_of_a_newer_version_is_refused(problem, path):
    change(path, f"PRAGMA user_version = {LAYOUT + 1}")
    refused(
        problem,
        path,
        rf"written by a newer milp-trees \(layout {LAYOUT + 1}; this version reads up to {LAYOUT}\); update milp-trees",
    )


@pytest.mark.parametrize(
    "table", ["CREATE TABLE addresses (name TEXT)", "CREATE TABLE runs (id INTEGER, key TEXT)"]
)
def test_a_database_of_something_else_is_not_written_to(problem, tmp_path, table):
    """A table of rows was added to it."""
    path = tmp_path / "other.sqlite"
    change(path, table)
    refused(problem, path, "is a database, but not of a study of milp-trees; name another file")


def test_a_file_that_is_no_database_is_refused(problem, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Notes, long enough to be read as a database. " * 30)
    refused(problem, path, "not a database")


def test_a_folder_is_refused(problem, tmp_path):
    refused(problem, tmp_path, "is a folder; name a file in it")
    with pytest.raises(StoreError, match="is a folder"):
        Store("")


def test_an_absent_folder_is_named_as_such(problem, tmp_path):
    with pytest.raises(StoreError, match="check that its folder exists"):
        mt.compare(problem, ["cart"], store=tmp_path / "absent" / "s.sqlite")
    with pytest.raises(StoreError, match="There is no study file"):
        Study.open(tmp_path / "absent.sqlite")


def test_an_empty_file_becomes_a_study_but_is_none_yet(problem, tmp_path):
    path = tmp_path / "s.sqlite"
    path.touch()
    with pytest.raises(StoreError, match="is empty: it holds no study"):
        Study.open(path)
    assert len(mt.compare(problem, ["cart"], store=path)) == 1


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_of_a_file_that_was_cut_nothing_is_promised(problem, path, share):
    """SQLite says malformed; that rows are safe would be a lie."""
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    for use in (lambda: Study.open(path), lambda: mt.compare(problem, ["dp", "cart"], store=path)):
        with pytest.raises(
            StoreError, match=r"rows in it may be lost|something else, or damaged"
        ) as caught:
            use()
        assert "safe" not in str(caught.value)


def test_pages_full_of_nothing_are_damage(problem, path):
    whole = bytearray(path.read_bytes())
    whole[4096:] = b"\xa5" * (len(whole) - 4096)
    path.write_bytes(whole)
    with pytest.raises(StoreError, match=r"rows in it may be lost.*\.recover"):
        Study.open(path)


def test_a_name_of_a_table_that_is_no_text_is_damage(path):
    """SQLite gives it to Python, which cannot decode it."""
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE runs", b"CREATE TABLE run\xae"))
    with pytest.raises(StoreError, match="rows in it may be lost"):
        Study.open(path)


@pytest.mark.parametrize("seed", range(40))
def test_no_damage_is_a_traceback(path, seed):
    """Bytes changed anywhere in the file, or in the text of a row: what can be read is shown, the
    rest is said.
    """
    rng = random.Random(seed)
    whole = bytearray(path.read_bytes())
    begin = whole.find(b'{"schema"', rng.randrange(len(whole) // 2)) if seed % 2 else 0
    for _ in range(rng.choice([1, 1, 5, 20])):
        whole[begin + rng.randrange(2000 if seed % 2 else len(whole))] = rng.choice(
            b'x9["-n{:,' + bytes([0, rng.randrange(256)])
        )
    path.write_bytes(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedRowWarning)
        assert "safe" not in shown_or_said(path)


def shown_or_said(path):
    """All that a study shows, or the sentence why not."""
    try:
        study = Study.open(path)
        assert len(study.frame()) == len(study.results) == len(study)
        return study.table()
    except MilpTreesError as error:
        return str(error)


def test_a_read_only_file_is_read_and_not_written(problem, path, monkeypatch):
    """Opening it to read writes nothing; a comparison says that it cannot."""
    study = Study.open(path)
    assert len(study.rows) == 2
    with pytest.raises(
        StoreError,
        match=r"readonly.*make it writable, or name another file: finished rows in it are safe",
    ):
        study.store.append(
            {"method": "m", "status": "optimal"}, key="k", role="run", problem="p", seed=0
        )
    before = path.read_bytes()
    Study.open(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.slow
def test_the_command_line_says_what_it_left_out(path):
    """On standard error, one line; the rows on standard output are complete."""
    change(path, "UPDATE runs SET result = '{' WHERE role = 'run' AND method = 'cart'")
    command = [
        "compare",
        "planted:rows=60,tests=5,depth=2,noise=0.1,seed=4",
        "--methods",
        "cart",
        "--reference",
        "none",
        "--start",
        "none",
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "milp_trees", *command, "--store", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == "cart"
    assert [line for line in done.stderr.splitlines() if line.startswith("Warning: Row ")] != []
    assert "Traceback" not in done.stderr
