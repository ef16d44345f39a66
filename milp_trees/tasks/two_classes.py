"""What tasks on two classes that are no sums over rows have in common.

These are the positive class, the penalty per leaf, and the description as JSON.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.tasks.base import Task
from milp_trees.tasks.classification import Accuracy

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes
    from milp_trees.tasks.views import CostMatrix


@dataclass(frozen=True)
class TwoClassTask(Task):
    """Base class of `RankTask` and `MonotoneMetric`.

    Parameters
    ----------
    leaf_penalty : number, default=0
        With a penalty λ the value is the loss 1 − metric + λ · leaves, minimised; otherwise it is
        the metric, maximised.
    positive : class label, optional
        The positive class; by default the last.
    """

    of_classes: ClassVar[bool] = True

    leaf_penalty: Any = 0
    positive: Any = None

    def __post_init__(self) -> None:
        penalty = exact.fraction(self.leaf_penalty, "leaf_penalty")
        if penalty < 0:
            raise DataError(f"leaf_penalty must not be negative; got {self.leaf_penalty}.")
        object.__setattr__(self, "leaf_penalty", penalty)

    @property
    @abstractmethod
    def metric(self) -> str:
        """Name of the metric."""

    @property
    def unit(self) -> str:
        return "loss" if self.leaf_penalty else self.metric

    @property
    def sense(self) -> str:
        return "min" if self.leaf_penalty else "max"

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        dataset.require("y", f"The task {self.name}")
        classes = tuple(dataset.classes or ())
        if len(classes) != 2:
            raise DataError(
                f"The task {self.name} is for two classes; the target has {len(classes)}: {', '.join(map(str, classes[:6]))}."
            )
        return classes

    def positive_action(self, dataset: Dataset) -> int:
        """Index of the positive class; both classes must have rows."""
        classes = self.actions(dataset)
        rows = dataset.require("y", f"The task {self.name}")
        for k in (0, 1):
            if not (rows == k).any():
                raise DataError(
                    f"The task {self.name} compares two classes, but no row is of class {classes[k]}."
                )
        if self.positive is None:
            return 1
        found = [k for k, c in enumerate(classes) if str(c) == str(self.positive)]
        if not found:
            raise DataError(
                f"The positive class {self.positive!r} is none of the classes {', '.join(map(str, classes))}."
            )
        return found[0]

    def errors(self, dataset: Dataset, space: Space) -> CostMatrix:
        """Misclassified rows as a cost matrix."""
        return Accuracy().cost_matrix(dataset, space)

    def penalised(self, worth: Fraction, leaves: int) -> Fraction:
        """The value of a tree, from its metric and its number of leaves."""
        return 1 - worth + self.leaf_penalty * leaves if self.leaf_penalty else worth

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        return []

    def spec(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name}
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and value != f.default:
                out[f.name] = (
                    str(value)
                    if isinstance(value, Fraction)
                    else value.item()
                    if hasattr(value, "item")
                    else value
                )
        return out
