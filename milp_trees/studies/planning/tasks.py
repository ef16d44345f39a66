"""Tasks as a SPEC states them: a label, or a table of its name and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.registering import labels
from milp_trees.mip.registry import registry


def made_task(stated: Mapping[str, Any], folder: Path) -> Any:
    """The task of a recipe."""
    given = dict(stated)
    label = given.pop("name")
    kind, read = registry.task_from_label(label)
    if kind.command is not None:
        raise DataError(
            f"The task {kind.name} belongs to another kind of problems; tasks for data with columns are listed by `milp-trees tasks` with the command solve."
        )
    labels.check_names(given, kind)
    if twice := sorted(read.keys() & given.keys()):
        raise DataError(
            f"The parameter {twice[0]} is given twice, in {label!r} and beside it; give it once."
        )
    return kind(**read, **{name: _value(kind, name, given[name], folder) for name in given})


def _value(kind: Any, name: str, given: Any, folder: Path) -> Any:
    """A parameter as the class of a task takes it."""
    if name == "constraints":
        return tuple(_constraint(rule) for rule in ([given] if isinstance(given, str) else given))
    if name == "feature_costs":
        return prices(given, folder)
    if name == "file":
        given = str(folder / str(given))
    if isinstance(given, str) and name in kind.readers:
        return kind.readers[name](given)
    return exact(given)


def exact(given: Any) -> Any:
    """Numbers as texts, since tasks read them exactly; tables and lists of them likewise."""
    if isinstance(given, float):
        return repr(given)
    if isinstance(given, Mapping):
        return {name: exact(value) for name, value in given.items()}
    return [exact(value) for value in given] if isinstance(given, list) else given


def _constraint(rule: str | Mapping[str, Any]) -> Any:
    from milp_trees.tasks.constraints import constraint, constraint_of_label

    if isinstance(rule, str):
        return constraint_of_label(rule)
    if not isinstance(rule, Mapping) or not isinstance(rule.get("name"), str):
        raise DataError(
            f"A constraint is a label such as 'capacity:action=1,at_most=3', or a table with its name and parameters; got {rule!r}."
        )
    return constraint(**{name: exact(value) for name, value in rule.items()})


def prices(given: Any, folder: Path) -> Any:
    """Prices of columns: a table, or the path of a file of lines `COLUMN COST`."""
    if not isinstance(given, str):
        return exact(given)
    from milp_trees.tasks.written import read_feature_costs

    return read_feature_costs(folder / given)
