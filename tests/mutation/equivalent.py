"""Mutants that change nothing anybody could see, each with the reason: `equivalent.csv` beside this
file.
"""

from __future__ import annotations

import csv
from pathlib import Path

TABLE = Path(__file__).with_name("equivalent.csv")


def table() -> list[dict[str, str]]:
    """Rows of id, change and reason."""
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def equivalent() -> dict[str, str]:
    """Reason by mutant id."""
    return {row["id"]: row["reason"] for row in table()}
