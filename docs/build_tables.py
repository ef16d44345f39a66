"""Writes the tables of the docs that follow from what plug-ins declare: solvers in
docs/reference/solvers.md, methods and tasks in docs/reference/methods.md, columns and measures in
docs/guide/studies.md.

Run it from the project's folder: `python docs/build_tables.py`. A test compares the pages with what
this prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from milp_trees.by_name import registry
from milp_trees.cli.options import OF_TASKS
from milp_trees.measures.summary import MEASURES
from milp_trees.registering import labels
from milp_trees.spaces.trees import space_names
from milp_trees.studies.columns import COLUMNS

FOLDER = Path(__file__).parent
#: A table stands between these comments.
PLACE = re.compile(
    r"(<!-- table of (\w+), written by docs/build_tables.py -->\n).*?(<!-- end -->)", re.S
)


def page(text: str) -> str:
    """The page with its tables made anew."""
    return PLACE.sub(lambda place: place[1] + TABLES[place[2]]() + place[3], text)


def solvers() -> str:
    """A row per solver."""
    return _table(
        ["name", "how to get it", "takes", "worth knowing"],
        [
            [f"`{name}`", cls.install, _takes(cls.capabilities), cls.notes]
            for name, cls in _classes("solvers").items()
        ],
    )


def _takes(capabilities: frozenset[str]) -> str:
    """The programs that a solver takes, in words."""
    kinds = "continuous and integer" if "continuous" in capabilities else "integer"
    lazy = ", rows that are found while it runs" if "lazy" in capabilities else ""
    return f"{kinds} programs{lazy}"


def methods() -> str:
    """A row per method and per formulation."""
    rows = []
    for group, solver in (("methods", ""), ("formulations", "@SOLVER")):
        for name, cls in _classes(group).items():
            kinds = cls.needs if isinstance(cls.needs, tuple) else (cls.needs,)
            rows.append(
                [
                    f"`{name}{solver}`",
                    cls.title,
                    space_names(cls.space),
                    ", ".join(f"`{kind.__name__}`" for kind in kinds),
                    ", ".join(sorted(cls.questions)),
                    _rank(cls.default_rank),
                    _rank(cls.judge_rank),
                    ", ".join(sorted(cls.shares)),
                ]
            )
    heads = ["name", "what it is", "searches", "view", "questions", "default", "judge", "shares"]
    return _table(heads, rows)


def _rank(rank: int | None) -> str:
    return "" if rank is None else str(rank)


def tasks() -> str:
    """A row per task."""
    return _table(
        ["name", "what is optimised", "parameters", "views", "rows weigh", "stated by"],
        [
            [
                f"`{name}`",
                cls.title,
                ", ".join(f"`{p}`" for p in labels.declared(cls) if p not in OF_TASKS),
                ", ".join(f"`{kind.__name__}`" for kind in cls.view_makers),
                "by their weights" if cls.weighs_rows else "one each",
                f"`{cls.command or 'solve'}`",
            ]
            for name, cls in _classes("tasks").items()
        ],
    )


def columns() -> str:
    """A row per column of a study."""
    return _table(["column", "what it holds"], [[f"`{n}`", _cell(t)] for n, t in COLUMNS.items()])


def measures() -> str:
    """A row per measure of an aggregate."""
    rows = [[f"`{name}`", m.title, _cell(m.text)] for name, m in MEASURES.items()]
    return _table(["measure", "heading", "what it is"], rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


TABLES: dict[str, Callable[[], str]] = {
    "solvers": solvers,
    "methods": methods,
    "tasks": tasks,
    "columns": columns,
    "measures": measures,
}


def _classes(group: str) -> dict[str, Any]:
    classes: dict[str, Any] = registry.classes(group)
    return classes


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    for path in sorted(FOLDER.rglob("*.md")):
        before = path.read_text(encoding="utf-8")
        if PLACE.search(before):
            path.write_text(page(before), encoding="utf-8")
            print(f"wrote {path}")
