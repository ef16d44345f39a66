"""The files of the tests: each name occurs once, and one fixture finds the public data."""

import contextlib
from collections import Counter
from pathlib import Path

import pytest
from row_tests import each_row

TESTS = Path(__file__).parents[1]


def test_a_file_name_occurs_once():
    """pytest imports files outside of packages by their base names."""
    names = Counter(p.name for p in TESTS.rglob("*.py") if p.name != "conftest.py")
    assert not [name for name, times in names.items() if times > 1]


def test_only_one_fixture_reads_where_the_public_data_are():
    """Any other gate would be a second place to keep right."""
    variable = "MILP_TREES_" + "DATA"
    readers = [p for p in TESTS.rglob("*.py") if variable in p.read_text(encoding="utf-8")]
    assert readers == [TESTS / "conftest.py"]


class Subtests(list):
    """As pytest's fixture: failures are collected."""

    @contextlib.contextmanager
    def test(self, label):
        try:
            yield
        except AssertionError:
            self.append(label)


def test_every_row_of_a_table_runs_and_those_that_fail_are_named(tmp_path):
    seen = []

    @each_row("a, b", lambda: [(1, 1), (2, 3), (3, 4)])
    @each_row("c", ["x", "y"])
    def one(a, b, c, tmp_path, monkeypatch):
        assert not list(tmp_path.iterdir()), "the folder is the row's own"
        (tmp_path / "file").touch()
        assert isinstance(TESTS, Path), "what the last row patched is as before"
        monkeypatch.setitem(globals(), "TESTS", "elsewhere")
        seen.append((a, b, c))
        assert a == b

    failed = Subtests()
    one(subtests=failed, tmp_path=tmp_path, monkeypatch=None)
    assert isinstance(TESTS, Path)
    assert len(seen) == 6
    assert failed == ["a=2, b=3, c='x'", "a=2, b=3, c='y'", "a=3, b=4, c='x'", "a=3, b=4, c='y'"]


def test_a_table_that_would_test_nothing_is_refused():
    with pytest.raises(AssertionError, match="without rows"):
        each_row("a", [])(lambda a: None)(subtests=Subtests())
    with pytest.raises(AssertionError, match="with marks"):
        each_row("a", [pytest.param(1)])(lambda a: None)(subtests=Subtests())
