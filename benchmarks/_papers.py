"""Numbers of papers, as printed: `papers/values.csv`, the one place where they stand."""

from __future__ import annotations

import csv
from pathlib import Path

FILE = Path(__file__).parent / "papers" / "values.csv"
#: What stands in a table in the place of a number that is not in the file.
ABSENT = "not transcribed"


def printed(paper: str, table: str) -> dict[tuple[str, str], str]:
    """The numbers of one table, as texts: (row, column) → number."""
    with FILE.open(encoding="utf-8", newline="") as file:
        found = {
            (line["row"], line["column"]): line["value"]
            for line in csv.DictReader(file)
            if (line["paper"], line["table"]) == (paper, table)
        }
    if not found:
        raise KeyError(f"{FILE} has nothing of table {table!r} of {paper!r}.")
    return found
