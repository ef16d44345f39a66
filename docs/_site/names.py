"""The public names, read from the stub files that list them."""

from __future__ import annotations

import ast
import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import milp_trees

#: Modules whose public names are documented: those with a stub file, and those with `__all__`.
STUBS = (
    "milp_trees",
    "milp_trees.tasks",
    "milp_trees.decisions",
    "milp_trees.lists",
    "milp_trees.pruning",
)
LISTED = ("milp_trees.plugins", "milp_trees.testing", "milp_trees.lists.testing")


@dataclass(frozen=True)
class Public:
    """A public name: where users import it from, and where it is defined."""

    module: str
    name: str
    home: str

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def value(self) -> Any:
        return getattr(importlib.import_module(self.module), self.name)


def public() -> list[Public]:
    """All public names but modules; a name that two modules offer is told once."""
    found: dict[str, Public] = {}
    for module in STUBS:
        for name, home in _stub(module):
            one = Public(module, name, home)
            if not isinstance(one.value, ModuleType):
                found.setdefault(f"{home}.{name}", one)
    for module in LISTED:
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            home = getattr(value, "__module__", module)
            found.setdefault(f"{home}.{name}", Public(module, name, home))
    errors = importlib.import_module("milp_trees.common.errors")
    for name, value in vars(errors).items():
        if isinstance(value, type) and value.__module__ == errors.__name__:
            found.setdefault(
                f"{errors.__name__}.{name}", Public(errors.__name__, name, errors.__name__)
            )
    return list(found.values())


def _stub(module: str) -> list[tuple[str, str]]:
    """The names that a stub file imports, with the modules that define them."""
    path = Path(milp_trees.__file__).parents[1] / Path(*module.split(".")) / "__init__.pyi"
    return [
        (alias.asname or alias.name, f"{module}.{node.module}")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    ]
