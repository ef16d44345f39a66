"""Mutants that change nothing anybody could see, each with the reason (`equivalent.csv` beside this
file), and those that are still open (`open.csv`).
"""

from __future__ import annotations

import csv
from pathlib import Path

TABLE = Path(__file__).with_name("equivalent.csv")
#: Mutants that are not caught and not shown equivalent, with what is known of them.
OPEN = Path(__file__).with_name("open.csv")


def table(path: Path = TABLE) -> list[dict[str, str]]:
    """Rows of id, change and reason."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def equivalent() -> dict[str, str]:
    """Reason by mutant id."""
    return {row["id"]: row["reason"] for row in table()}
