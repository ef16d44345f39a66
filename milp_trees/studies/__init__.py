"""Comparing methods: runs, stored rows, agreement, tables and plots.

The names are loaded when they are first used: a single run needs no study.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milp_trees.studies.store import StoreError
    from milp_trees.studies.study import Study

__all__ = ["StoreError", "Study"]

_HOMES = {"StoreError": "store", "Study": "study"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
