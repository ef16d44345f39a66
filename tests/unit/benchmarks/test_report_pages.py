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
