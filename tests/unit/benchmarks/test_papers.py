"""Numbers of papers stand as printed: every column headed "paper" is that of one file."""

import ast
import csv
import re
from pathlib import Path

from row_tests import each_row

ROOT = Path(__file__).parents[3]
FILE = ROOT / "benchmarks" / "papers" / "values.csv"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [p for p in PAGES if "generated" not in p.parts]
TEXTS = [
    *PAGES,
    *sorted((ROOT / "benchmarks").glob("*.py")),
    *sorted((ROOT / "notebooks" / "cells").glob("*.py")),
]
#: What stands in a cell of a paper's column in the place of a number.
ABSENT = {"", "–", "not transcribed", "another measure"}

PATHS = "text on shortest paths, n = 200"
#: (page, heading) → for the row's cells the paper's table, row and column.
PLACES = {
    **{
        ("docs/benchmarks/cost_sensitive.md", f"{level}, paper"): (
            lambda row, level=level: ("streed", "2 and 3", row["set"], level)
        )
        for level in ("low", "middle", "high")
    },
    ("docs/benchmarks/cost_sensitive.md", "the paper"): (
        lambda row: ("streed", "2 and 3", row["set"], row["level"])
    ),
    ("docs/benchmarks/cost_sensitive.md", "paper"): (
        lambda row: ("streed", "4", "mean of all sets", row["mean of"])
    ),
    **{
        (f"docs/{page}/policies.md", "paper"): (
            lambda row: ("streed", "6", f"depth {row['depth']}", "right")
        )
        for page in ("benchmarks", "guide")
    },
    **{
        (f"docs/{page}/pruning.md", f"{heading}, paper"): (
            lambda row, how=how: ("pruning", "1", row["row of the paper"], how)
        )
        for page, heading, how in (
            ("benchmarks", "joint", "joint"),
            ("benchmarks", "individual", "individual"),
            ("guide", "joint", "joint"),
            ("guide", "tree by tree", "individual"),
        )
    },
    ("docs/guide/spo_studies.md", "first split, paper"): (
        lambda row: (
            "spo-trees",
            "text on two roads",
            row["tree"] if row["depth"].startswith("1") else f"{row['tree']}, depth {row['depth']}",
            "split",
        )
    ),
    ("docs/guide/spo_studies.md", "the paper"): (
        lambda row: ("spo-trees", PATHS, named(row), "improvement")
    ),
    ("docs/guide/spo_studies.md", "the paper, real log"): (
        lambda row: (
            "spo-trees",
            "text on news",
            f"CART of depth {row['depth of CART'].replace('no limit', 'none')}",
            "gain",
        )
    ),
}


def named(row):
    """The row of shortest paths that a line of the study is about."""
    method = {"SPO tree, greedy": "SPO tree", "SPO forest over CART forest": "SPO forest"}
    depth = (row["depth"] or "forest").replace("no limit", "none")
    return f"{method.get(row['method'], row['method'])} of depth {depth}"


def places(page, heading, rows):
    """The cells of a paper's column, each with its place in the file."""
    if (page, heading) not in PLACES:  # names of papers, no numbers
        return
    method = ""
    for cell, row in rows:
        method = row.get("method") or method  # an empty cell repeats the one above
        yield cell, PLACES[page, heading](row | {"method": method})


def transcribed():
    with FILE.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {tuple(line[k] for k in ("paper", "table", "row", "column")): line for line in lines}


def tables(page):
    """Every table of a page: its headings and its rows of cells."""
    lines = page.read_text("utf-8").splitlines()
    for at, line in enumerate(lines):
        if re.match(r"\|(\s*:?-+:?\s*\|)+$", line):
            rows = []
            for body in lines[at + 1 :]:
                if not body.startswith("|"):
                    break
                rows.append(cells(body))
            yield cells(lines[at - 1]), rows


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def columns_of_papers():
    """(page, heading, rows) of every column whose heading says that it is a paper's."""
    for page in PAGES:
        for headings, rows in tables(page):
            for j, heading in enumerate(headings):
                name = heading.strip("*").lower()
                if re.search(r"\bpaper\b", name) and "row of the paper" not in name:
                    found = [dict(zip(headings, row, strict=False)) for row in rows]
                    yield (
                        page.relative_to(ROOT).as_posix(),
                        heading,
                        [(cell[j], line) for cell, line in zip(rows, found, strict=True)],
                    )


def test_every_value_is_stated_once_with_its_table_row_and_column():
    lines = FILE.read_text("utf-8").splitlines()
    assert len(transcribed()) == len(lines) - 1
    for line in transcribed().values():
        assert all(line.values())
        assert re.fullmatch(r"\d+(\.\d+)?", line["value"])


def test_every_column_of_a_paper_is_compared():
    """Tables of papers and their faults (docs/project) hold names, no numbers."""
    found = {(page, heading) for page, heading, _ in columns_of_papers()}
    named = {(f"docs/project/{page}.md", "paper") for page in ("papers", "peers")}
    assert found - named == set(PLACES)


@each_row(("page", "heading"), PLACES)
def test_numbers_of_papers_stand_as_printed(page, heading):
    values, compared = transcribed(), 0
    for name, title, rows in columns_of_papers():
        if (name, title) != (page, heading):
            continue
        for cell, place in places(page, heading, rows):
            if cell not in ABSENT:
                assert place in values, (place, cell)
                assert cell.removesuffix("%").strip() == values[place]["value"], place
                compared += 1
    assert compared


def test_what_is_transcribed_is_shown():
    """Every number of the file stands on a page, and no cell is empty where the file has it."""
    shown = set()
    for page, heading, rows in columns_of_papers():
        for cell, place in places(page, heading, rows):
            assert cell not in ABSENT or place not in transcribed(), place
            shown.add(place)
    assert set(transcribed()) <= shown


def test_sentences_about_papers_hold_none_of_their_numbers():
    """They stand in tables; a long one stands nowhere else at all."""
    numbers = {line["value"] for line in transcribed().values()}
    for page in TEXTS:
        for line in page.read_text("utf-8").splitlines():
            if page.suffix == ".md" and line.startswith("|"):
                continue
            found = numbers & set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", line))
            about = re.search(r"\bpapers?\b|\bthe published\b", line)
            assert not {n for n in found if about or len(n) > 4}, (page.name, line)


def test_scripts_keep_no_numbers_of_papers():
    """They read the file: nothing that is named after a paper is a number in the code."""
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            named = any(re.search("PAPER|PUBLISHED|PRINTED", ast.unparse(t)) for t in targets)
            values = [n for n in ast.walk(node) if isinstance(n, ast.Constant)] if named else []
            assert not [v.value for v in values if isinstance(v.value, (int, float))], path.name
