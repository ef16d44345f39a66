"""The parameter `criterion`: a loss of leaves that predict numbers or probabilities, as a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.common.registering import plugins
from milp_trees.mip.registry import registry
from milp_trees.tasks.base import Task

#: Names of scikit-learn for losses that are called otherwise here.
OTHER_NAMES = {"entropy": "log-loss"}


def loss_named(criterion: Any, examples: str) -> tuple[type[Task], dict[str, Any]]:
    """The loss of a name, and its parameters.

    Parameters
    ----------
    criterion : object
        What the user gave: a name of scikit-learn's, or that of a registered task, in which `_` and
        `-` mean the same. Parameters may follow, as on the command line.
    examples : str
        Names that are known, for the errors.

    Raises
    ------
    DataError
        It is no name, or not that of a loss.
    """
    wanted = f"criterion must be the name of a loss, such as {examples}, or a Task"
    if not isinstance(criterion, str):
        raise DataError(f"{wanted}; got {criterion!r}.")
    name, colon, given = criterion.partition(":")
    task = OTHER_NAMES.get(name, name.replace("_", "-"))
    try:
        kind, parameters = registry.task_from_label(task + colon + given)
    except UnknownName:
        known = plugins.values("tasks", "predicts_numbers")
        losses = ", ".join(sorted(name for name, is_loss in known.items() if is_loss))
        raise DataError(f"{wanted}; got {criterion!r}. Registered losses: {losses}.") from None
    check_loss(kind, f"{wanted}; {criterion!r} is the task {kind.name}, which is no such loss.")
    return kind, parameters


def check_loss(task: Any, why: str) -> None:
    """Raise DataError if a task is not one whose leaves predict numbers."""
    if not task.predicts_numbers:
        raise DataError(why)


def refuse_penalties(parameter: str, penalties: Mapping[str, Any]) -> None:
    """Raise DataError if a Task was given, and penalties or constraints beside it."""
    if any(penalties.values()):
        raise DataError(
            f"{parameter} is a Task, which has penalties and constraints of its own; give them to the Task instead."
        )


def task_with(
    name: str, kind: type[Task], given: Mapping[str, Any], penalties: Mapping[str, Any]
) -> Task:
    """A task with parameters of its own, and with the penalties and constraints of an estimator.

    Raises
    ------
    DataError
        The task does not take one of them.
    """
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    parameters = {**given, **{k: v for k, v in penalties.items() if k in known or v}}
    if not parameters.keys() <= known:
        raise DataError(
            f"The task {name} takes no {(parameters.keys() - known).pop()}; it takes {', '.join(sorted(known))}."
        )
    return kind(**parameters)
