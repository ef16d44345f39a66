"""Writes the table of docs/solvers.md from what the solvers declare.

Run it from the project's folder: `python docs/build_solvers.py`. A test compares the page with what
this prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from milp_trees.by_name import registry

PAGE = Path(__file__).parent / "solvers.md"
BEGIN, END = "<!-- written by docs/build_solvers.py -->\n", "<!-- end -->"


def page(text: str) -> str:
    """The page with its table made anew."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


def table() -> str:
    """A row per solver."""
    classes: dict[str, Any] = registry.classes("solvers")
    rows = ["| name | how to get it | takes | worth knowing |", "|---|---|---|---|"]
    for name, cls in classes.items():
        rows.append(f"| `{name}` | {cls.install} | {takes(cls.capabilities)} | {cls.notes} |")
    return "\n".join(rows) + "\n"


def takes(capabilities: frozenset[str]) -> str:
    """The programs that a solver takes, in words."""
    kinds = "continuous and integer" if "continuous" in capabilities else "integer"
    lazy = ", rows that are found while it runs" if "lazy" in capabilities else ""
    return f"{kinds} programs{lazy}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE}")
