"""The files of the tests: each name occurs once, and one fixture finds the public data."""

from collections import Counter
from pathlib import Path

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
