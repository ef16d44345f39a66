"""Executors: the places where workers of a study run, one file each.

A file here defines one subclass of `Executor` with the file's name; nothing else names it.
"""

from __future__ import annotations

import importlib
import pkgutil

from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors.base import Executor, Order

__all__ = ["Executor", "Order", "executor", "names"]


def names() -> list[str]:
    """The names of all executors."""
    return [m.name for m in pkgutil.iter_modules(__path__) if m.name != "base"]


def executor(name: str, order: Order) -> Executor:
    """The executor of that name."""
    if name not in names():
        raise StudyError(f"There is no executor {name!r}; take one of {', '.join(names())}.")
    module = importlib.import_module(f"{__name__}.{name}")
    found = next(
        cls
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, Executor) and cls is not Executor
    )
    return found(order)
