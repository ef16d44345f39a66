"""One job for every engine: arrays and settings in a file that any Python can read, and the
`Problem` that scores whatever comes back.

A tree travels as nested lists: `[test, tree if false, tree if true]`, or the index of the action,
or the number that a leaf predicts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.tasks.constraints import constraint
from milp_trees.tasks.leaf_sums import LeafSums

__all__ = ["Job", "nested", "problem", "replace", "tree"]

#: Name of a task here → the task of the package that it is.
TASKS = {
    "accuracy": "accuracy",
    "weights": "weighted",
    "cost-matrix": "cost-matrix",
    "instance-cost": "action-costs",
    "f1": "f1",
    "balanced": "balanced-accuracy",
    "policy-dm": "policy-dm",
    "policy-ipw": "policy-ipw",
    "policy-dr": "policy-dr",
    "squared-error": "squared-error",
    "survival": "survival",
}
#: Tasks whose leaves predict numbers of their own.
NUMBERS = ("squared-error", "survival")


@dataclass(frozen=True, eq=False)
class Job:
    """What is solved: `X` and `y` (or `values`: the cost of every action on every row; for a policy
    the outcome, the propensity and the predicted outcomes, with the treatment as `y`; for survival
    the time and the event), the task, and the limits.

    Parameters
    ----------
    penalty : str
        λ per leaf as an exact decimal or fraction; `"0"` is none.
    weights : array, optional
        Row weights of the task `weights`.
    matrix : nested list, optional
        Misclassification costs of the task `cost-matrix`.
    tests : tuple of (column, kind, value), optional
        What the columns of `X` mean; only engines that use it need it.
    rule : str, optional
        A fairness constraint by name, with its `max_disparity`, for the `groups` of the rows (and
        levels of the legitimate `factor`). Splits do not use the column `group_column`.
    method : str, optional
        The method of this package; by default the worker's own.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    task: str = "accuracy"
    depth: int | None = 3
    leaves: int | None = None
    min_leaf: int = 1
    penalty: str = "0"
    threads: int = 1
    time_limit: float = 60.0
    values: np.ndarray | None = None
    weights: np.ndarray | None = None
    matrix: list[list[float]] | None = None
    tests: tuple[tuple[str, str, Any], ...] | None = None
    rule: str | None = None
    max_disparity: str = "0.01"
    group_column: str | None = None
    groups: np.ndarray | None = None
    factor: np.ndarray | None = None
    method: str | None = None

    def write(self, path: str) -> None:
        """The arrays as a file for another interpreter."""
        given = {k: v for k, v in self.arrays().items() if v is not None}
        np.savez(path, **given)

    def arrays(self) -> dict[str, np.ndarray | None]:
        return {
            "X": self.X,
            "y": self.y,
            "values": self.values,
            "weights": self.weights,
            "groups": self.groups,
            "factor": self.factor,
        }

    def settings(self) -> dict[str, Any]:
        """Everything but the arrays, as JSON."""
        return {k: v for k, v in asdict(self).items() if k not in self.arrays()}


def problem(settings: dict[str, Any], arrays: dict[str, np.ndarray | None]) -> mt.Problem:
    """The problem that a job states."""
    y, values = arrays["y"], arrays.get("values")
    classes = len(settings["matrix"] or ()) or int(y.max()) + 1  # a class may have no row
    known: dict[str, Any] = {"y": y, "classes": tuple(range(classes))}
    if settings["task"] == "squared-error":
        known = {"y": y}
    elif settings["task"] == "survival":
        known = {"targets": values, "target_names": ("time", "event")}
    elif settings["task"].startswith("policy-"):
        known = {
            "treatments": y,
            "outcomes": values[:, 0],
            "propensities": values[:, 1],
            "values": values[:, 2:],
        }
    elif values is not None:
        known = {"values": values}
    data = mt.Dataset(
        arrays["X"],
        [mt.BinaryFeature(*t) for t in settings["tests"] or ()],
        weights=arrays.get("weights"),
        groups=arrays.get("groups"),
        factor=arrays.get("factor"),
        group_column=settings.get("group_column"),
        **known,
    )
    more: dict[str, Any] = (
        {} if settings["penalty"] == "0" else {"leaf_penalty": Fraction(settings["penalty"])}
    )
    if settings["matrix"] is not None:
        more["matrix"] = settings["matrix"]
    if settings.get("rule"):
        more["constraints"] = (
            constraint(settings["rule"], max_disparity=settings["max_disparity"]),
        )
    task = registry.task(TASKS[settings["task"]])(**more)
    return mt.Problem(
        data, task, mt.Trees(settings["depth"], settings["leaves"], settings["min_leaf"])
    )


def tree(nested: Any, stated: mt.Problem) -> mt.Tree:
    """The tree that an engine returned, over the problem's tests.

    Leaves that say nothing get the best prediction for their rows.
    """
    tests = stated.dataset.features
    numbers = stated.task.name in NUMBERS
    said: dict[Any, int] = {}

    def node(part: Any) -> Any:
        if isinstance(part, list):
            return mt.plugins.Branch(tests[part[0]], node(part[1]), node(part[2]))
        return mt.plugins.Leaf(said.setdefault(part, len(said)) if numbers else part)

    root = node(nested)
    if None in said:
        return stated.view(LeafSums).decided(mt.Tree(root, tuple(said)))
    return mt.Tree(root, tuple(said) if numbers else stated.task.actions(stated.dataset))


def nested(found: mt.Tree, data: mt.Dataset, task: str = "accuracy") -> Any:
    """The way back."""

    def part(node: Any) -> Any:
        if isinstance(node, mt.plugins.Leaf):
            return found.actions[node.action] if task in NUMBERS else int(node.action)
        return [data.index[node.test], part(node.left), part(node.right)]

    return part(found.root)
