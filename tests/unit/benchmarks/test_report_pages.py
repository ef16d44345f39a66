"""The pages of docs/benchmarks are what `python benchmarks/report.py` writes."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "benchmarks"


@pytest.fixture(scope="module")
def report():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("report")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_the_pages_are_up_to_date(report):
    made = report.pages()
    assert set(made) == {path.name for path in FOLDER.glob("*.md")}
    for name, text in made.items():
        assert text == (FOLDER / name).read_text("utf-8"), "run: python benchmarks/report.py"


def test_every_page_has_an_answer_a_picture_with_a_text_and_its_commands(report):
    for page in report.PAGES:
        alt, picture = re.search(r"!\[([^\]]+)\]\((.+)\)", page.text).groups()
        assert len(alt) > 30
        assert (FOLDER / picture).read_text("utf-8").startswith("<?xml")
        assert "```bash" in page.text
        assert page.answer.endswith(".")
    assert len(list((FOLDER / "pictures").iterdir())) == len(report.PAGES)


def test_commands_name_only_peers_that_have_rows_on_the_page(report):
    """A peer in the command of a section has a row or a column in its tables."""
    page = next(page for page in report.PAGES if page.name == "speed")
    sections = page.text.split("\n## ")[1:]
    for section in sections:
        requested = re.search(r"engines\.py --peers (\S+)", section)[1].strip('"')
        for peer in filter(None, requested.split(",")):
            assert re.search(rf"^\|.*{re.escape(peer)}", section, re.M), (peer, section[:40])
