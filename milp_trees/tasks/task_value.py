"""Another task's value as a side row: how far it may be given up for the task at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.tasks.constraint_base import Constraint
from milp_trees.tasks.views import SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Routes


@dataclass(frozen=True)
class TaskValue(Constraint):
    """The costs that another task adds up over the rows are at most a number.

    Parameters
    ----------
    task : Task
        A sum of exact costs of actions (`accuracy`, `weighted`, policies), without penalties. A
        task that is maximised adds up negative values.
    at_most : number
        Largest sum.

    Raises
    ------
    DataError
        The task is no such sum, or its costs are measured floats.
    """

    name: ClassVar[str] = "task-value"
    takes_counts: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, bool]] = {"at_most": True}

    task: Any = None
    at_most: Any = 0

    def __post_init__(self) -> None:
        if not hasattr(self.task, "costs") or getattr(self.task, "penalised", False):
            raise DataError(
                "The constraint task-value needs a task that adds up costs of actions and has no penalties, for example mt.Accuracy()."
            )
        object.__setattr__(self, "at_most", exact.fraction(self.at_most, "at_most"))

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        whole, scale = self._costs(dataset, actions)
        upper = self.at_most / scale if scale else Fraction(0)
        return [SideRow(f"value of {self.task.name}", whole, None, int(upper // 1))]

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The costs that the other task adds up."""
        whole, scale = self._costs(dataset, actions)
        return scale * int(whole[np.arange(len(routes.action)), routes.action].sum())

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """Half a unit less."""
        return amount - self._costs(dataset, self.task.actions(dataset))[1] / 2

    def _costs(self, dataset: Dataset, actions: tuple[Any, ...]) -> tuple[np.ndarray, Fraction]:
        """The costs of the other task as integers, and their unit."""
        own = self.task.actions(dataset)
        if list(map(str, own)) != list(map(str, actions)):
            raise DataError(
                f"The task {self.task.name} of the constraint task-value has the actions {', '.join(map(str, own))}, and not {', '.join(map(str, actions))}."
            )
        whole, scale, is_exact = exact.integers(self.task.costs(dataset), rows=dataset.total_rows)
        whole = whole * dataset.row_counts[:, None]
        if not is_exact:
            raise DataError(
                f"The constraint task-value needs exact costs, and those of {self.task.name} are measured floats; round them, for example to 4 digits."
            )
        return whole, scale

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "task": self.task.spec(), "at_most": str(self.at_most)}
