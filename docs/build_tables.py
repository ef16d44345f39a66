"""Writes the tables of the docs that follow from what plug-ins declare: solvers in
docs/reference/solvers.md, methods, tasks and formulations in the pages of their names beside it,
columns and measures in docs/guide/studies.md.

Names lead to the files of the classes; the site has pages for them (docs/_site).

Run it from the project's folder: `python docs/build_tables.py`. A test compares the pages with what
this prints.
"""

from __future__ import annotations

import os.path
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from milp_trees.cli.options import OF_TASKS
from milp_trees.common.registering import labels
from milp_trees.lists.space import RuleLists
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees, space_classes, space_names
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains
from milp_trees.studies.columns import COLUMNS
from milp_trees.studies.measures.summary import MEASURES
from milp_trees.tasks.captured_share import DefaultOnly
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.leaf_order import LeafOrder
from milp_trees.tasks.views import CostMatrix

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
            [_named(cls), cls.install, _takes(cls.capabilities), cls.notes]
            for cls in _classes("solvers").values()
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
        for cls in _classes(group).values():
            kinds = _views(cls)
            rows.append(
                [
                    _named(cls, solver),
                    cls.title,
                    space_names(cls.space),
                    ", ".join(f"`{kind.__name__}`" for kind in kinds),
                    ", ".join(sorted(cls.questions)),
                    _rank(cls.default_rank),
                    _rank(cls.reference_rank),
                    ", ".join(sorted(cls.shared_components)),
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
                _named(cls),
                cls.title,
                ", ".join(f"`{p}`" for p in labels.declared(cls) if p not in OF_TASKS),
                ", ".join(f"`{kind.__name__}`" for kind in cls.view_makers),
                "by their weights" if cls.weighs_rows else "one each",
                f"`{cls.command or 'solve'}`",
            ]
            for cls in _classes("tasks").values()
        ],
    )


def tree_formulations() -> str:
    """A row per formulation of trees whose coefficients are those of the task."""
    return _trees([f for f in _formulations(Trees, CostMatrix) if not f.dp_derived])


def derived_formulations() -> str:
    """A row per formulation that a dynamic programme has prepared."""
    return _trees([f for f in _formulations(Trees, CostMatrix) if f.dp_derived])


def list_formulations() -> str:
    """A row per formulation of rule lists."""
    return _trees(_formulations(RuleLists, CostMatrix), "list")


def decision_formulations() -> str:
    """A row per formulation of trees whose leaves decide."""
    return _table(
        ["name", "model", "decisions"],
        [
            [_named(f), f.title, "any set with a linear or mixed-integer program"]
            for f in _formulations(Trees, LeafOracle)
        ],
    )


def pruning_formulations() -> str:
    """A row per formulation of prunings."""
    return _table(
        ["name", "model", "relaxation"],
        [
            [
                _named(f),
                f.title,
                "integral without a budget" if f.integral_relaxation else "weak",
            ]
            for f in _formulations(PrunedEnsembles, NodeGains)
        ],
    )


def _trees(formulations: list[Any], model: str = "tree") -> str:
    """What formulations of trees or rule lists take; each leaves out what is about the other."""
    others = {"tree": DefaultOnly.kind, "list": LeafOrder.kind}[model]
    heads = ["name", "model", "costs", "side constraints", f"constraints on the {model}"]
    return _table(
        [*heads, "minimum leaf size"],
        [
            [
                _named(f),
                f.title,
                "any" if f.takes_any_costs else "equal for all wrong actions of a row",
                _yes(f.takes_side_rows),
                ", ".join(sorted(f.takes_structure - {others})) or "no",
                _yes(f.takes_min_leaf),
            ]
            for f in formulations
        ],
    )


def _formulations(space: type, view: type) -> list[Any]:
    """The formulations that search a space and model a view, in alphabetical order."""
    return [
        cls
        for cls in _classes("formulations").values()
        if view in _views(cls) and any(issubclass(space, of) for of in space_classes(cls.space))
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def exports() -> str:
    """A row per format for models."""
    return _table(
        ["name", "what it is", "options", "file"],
        [
            [
                _named(cls),
                cls.about,
                ", ".join(f"`{option}`" for option in labels.declared(cls)),
                f"`{cls.suffix}`",
            ]
            for cls in _classes("exports").values()
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


def _named(cls: Any, ending: str = "") -> str:
    """The name of a plug-in with a link to its file from a page two folders down."""
    file = Path(sys.modules[cls.__module__].__file__ or "").resolve()
    text = f"`{cls.name}{ending}`"
    if not file.is_relative_to(FOLDER.parent):
        return text
    return f"[{text}]({os.path.relpath(file, FOLDER / 'reference')})"


TABLES: dict[str, Callable[[], str]] = {
    "solvers": solvers,
    "methods": methods,
    "tasks": tasks,
    "exports": exports,
    "tree_formulations": tree_formulations,
    "derived_formulations": derived_formulations,
    "list_formulations": list_formulations,
    "decision_formulations": decision_formulations,
    "pruning_formulations": pruning_formulations,
    "columns": columns,
    "measures": measures,
}


def _classes(group: str) -> dict[str, Any]:
    classes: dict[str, Any] = registry.classes(group)
    return classes


def _views(cls: Any) -> tuple[type, ...]:
    """The views that a plug-in takes."""
    return cls.needs if isinstance(cls.needs, tuple) else (cls.needs,)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    for path in sorted(FOLDER.rglob("*.md")):
        before = path.read_text(encoding="utf-8")
        if PLACE.search(before):
            path.write_text(page(before), encoding="utf-8")
            print(f"wrote {path}")
