"""Mutants that change nothing anybody could see, each with the reason: `equivalent.csv` beside this file."""

from __future__ import annotations

import csv
from pathlib import Path

TABLE = Path(__file__).with_name("equivalent.csv")


def equivalent() -> dict[str, str]:
    """Reason by mutant id."""
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="") as file:
        return {row["id"]: row["reason"] for row in csv.DictReader(file)}
