"""The task that is meant where none is named: it follows from what the data hold as a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from milp_trees.data.targets import SURVIVAL, measured_target

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


class Usual(NamedTuple):
    """A task by its name, and the sentence why it is taken; empty for the ordinary one."""

    name: str
    why: str = ""


def usual_name(timed: bool) -> str:
    """The task whose name is not given, where columns of time and event are given or not."""
    return "survival" if timed else "accuracy"


def usual_task(dataset: Dataset) -> Usual:
    """The task for data whose task is not named.

    It is `survival` for time and event, `squared-error` for measured numbers
    (`milp_trees.data.role_problems.is_measured`), and otherwise `accuracy`.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Usual
    """
    names = tuple(dataset.target_names or ())
    if names == SURVIVAL:
        return Usual(usual_name(True), "survival, for the columns of time and event")
    if len(names) > 1:
        return Usual("squared-error", "squared-error (regression), for several targets")
    found = measured_target(dataset)
    if not found:
        return Usual("accuracy")
    target = names[0] if names else dataset.source.get("columns", {}).get("target") or "target"
    message = f"squared-error (regression), because {target!r} holds {found} different numbers"
    if dataset.classes is not None:
        message += "; --task accuracy takes them as classes"
    return Usual("squared-error", message)
