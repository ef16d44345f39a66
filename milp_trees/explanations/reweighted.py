"""The task of a cost matrix whose rows count more or less than before; its space is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes


@dataclass(frozen=True, eq=False)
class Reweighted(Task):
    """Costs of a view with a whole factor per row, and its penalties with one factor for all.

    Side constraints and smallest leaf sizes are those of the original rows. The value is the
    objective in units of the view, times the factor of the penalties.

    Parameters
    ----------
    original : Task
        The task that the view is of.
    costs : CostMatrix
        Its view, one row per row of the dataset.
    factors : array of whole numbers of shape (n,)
        Factors of the rows, at least 0, as integers of Python.
    unit_factor : int
        Factor of the penalties; a row with this factor counts as much as before.
    """

    name: ClassVar[str] = "reweighted"
    title: ClassVar[str] = "Costs with changed weights of rows"
    takes_counts: ClassVar[bool] = True
    view_makers: ClassVar[dict[type, str]] = {CostMatrix: "cost_matrix"}

    original: Any
    costs: CostMatrix
    factors: np.ndarray
    unit_factor: int = 1

    @property
    def unit(self) -> str:
        return "cost"

    @property
    def sense(self) -> str:
        return "min"

    @property
    def about_features(self) -> bool:
        return bool(self.original.about_features)

    @property
    def constraints(self) -> Any:
        """The side constraints of the original task."""
        return getattr(self.original, "constraints", ())

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return tuple(self.original.actions(dataset))

    def cost_matrix(self, dataset: Dataset, space: Space) -> CostMatrix:
        """The view with other costs."""
        view = self.costs
        largest = np.abs(view.costs).max(axis=1, initial=0)
        total = sum(f * c for f, c in zip(self.factors.tolist(), largest.tolist(), strict=True))
        prices = int(view.split_costs.max(initial=0)) + view.leaf_cost
        if max(total, self.unit_factor * max(1, prices) * view.n_rows, *self.factors) > exact.WHOLE:
            raise DataError(
                "The changed weights have no common denominator of reasonable size; round the weights or costs of the data."
            )
        return replace(
            view,
            costs=view.costs * self.factors.astype(np.int64)[:, None],
            leaf_cost=view.leaf_cost * self.unit_factor,
            split_costs=view.split_costs * self.unit_factor,
            offset=Fraction(0),
            scale=Fraction(1),
            exact=True,
            rounding=0,
        )

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        view = self.costs
        rows = view.costs[np.arange(view.n_rows), routes.action].tolist()
        total = sum(f * c for f, c in zip(self.factors.tolist(), rows, strict=True))
        total += self.unit_factor * prices_of(view, routes)
        return Value(float(total), Fraction(total), self.unit, self.sense)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        return list(self.original.violations(routes, dataset))

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "original": self.original.spec()}


def prices_of(view: CostMatrix, routes: Routes) -> int:
    """What the leaves and questions of a model cost in units of a view."""
    splits = sum(int(view.split_costs[view.index[t]]) for t in routes.splits)
    return view.leaf_cost * routes.n_leaves + splits
