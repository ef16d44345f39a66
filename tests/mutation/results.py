"""Samples of mutants, and the table of results."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .mutants import Mutant

COLUMNS = (
    "id",
    "file",
    "line",
    "operator",
    "condition",
    "change",
    "verdict",
    "check",
    "formulation",
    "problem",
    "seconds",
    "active",
    "message",
)


def sample(found: Iterable[Mutant], most: int, seed: int) -> list[Mutant]:
    """Some mutants of one file, spread over its functions, operators and conditions; formulas for
    sizes make up little of it.
    """
    order = list(found)
    random.Random(f"{seed} {order[0].file if order else ''}").shuffle(order)
    taken: list[Mutant] = []
    count: Counter[tuple[str, str]] = Counter()

    def crowd(m: Mutant) -> float:
        often = 0.25 if m.condition == "always" else 1.0
        dull = 4.0 if "sizes" in m.function or "counts" in m.function else 1.0
        return (
            count["function", m.function] * dull
            + count["operator", m.operator]
            + 2 * often * count["kind", m.kind]
            + dull
        )

    while order and len(taken) < most:
        best = min(order, key=crowd)
        order.remove(best)
        taken.append(best)
        for what, value in (
            ("function", best.function),
            ("operator", best.operator),
            ("kind", best.kind),
        ):
            count[what, value] += 1
    return taken


def read(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a table of results by id."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def append(path: Path, row: dict[str, Any]) -> None:
    """One more row; the header where the table is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def tidy(path: Path) -> None:
    """The last row of every mutant, by id."""
    rows = read(path)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))
