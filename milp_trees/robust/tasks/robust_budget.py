"""`RobustBudget`: wrong rows if all shifts together may cost up to a budget.

This is the uncertainty set of Justin, Aghaei, Gómez, Vayanos (2023), "Learning optimal
classification trees robust to distribution shifts", arXiv:2310.17772, for whole numbers, with one
cost per column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.common.exact import common_unit, fraction
from milp_trees.common.registering import register
from milp_trees.robust.errors import LARGEST, WorstCaseErrors, by_column, checked_numbers, numbers
from milp_trees.robust.positions import Cells

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@register
@dataclass(frozen=True)
class RobustBudget(WorstCaseErrors):
    """Wrong rows in the worst case, if the shifts of all rows together cost up to a budget.

    Numeric columns hold whole numbers and are shifted by whole numbers; each unit of a shift costs
    what the column costs. To another category, or from 0 to 1, is one unit. Rows are not weighted.

    Parameters
    ----------
    budget : number, default=0
        What all shifts together may cost.
    costs : number, or mapping of column name to number, default=1
        Cost of a unit, above 0, for all columns or for each that may be shifted. As text: `2`, or
        `age=1;income=1/2`.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.Dataset([[0, 0], [0, 0], [1, 1]], y=["a", "a", "b"])
    >>> task = mt.robust.RobustBudget(budget=3, costs={"0": 2, "1": 1})
    >>> mt.solve(mt.Problem(data, task, mt.Trees(2))).value.number
    1.0
    """

    name: ClassVar[str] = "robust-budget"
    title: ClassVar[str] = "Wrong rows if the shifts of all rows together cost up to a budget"
    whole: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {
        **WorstCaseErrors.readers,
        "costs": numbers,
    }

    budget: Any = 0
    costs: Any = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        budget = fraction(self.budget, "budget")
        if budget < 0:
            raise DataError(f"budget must not be negative; got {self.budget}.")
        object.__setattr__(self, "budget", budget)
        costs = checked_numbers(self.costs, "costs")
        if not all(costs.values() if isinstance(costs, Mapping) else [costs]):
            raise DataError(
                "costs must be above 0, since shifts that cost nothing have no limit; leave out columns that may not be shifted."
            )
        object.__setattr__(self, "costs", costs)

    def shifts(self, dataset: Dataset) -> Mapping[str, Any]:
        each = by_column(self.costs, "costs", dataset)
        return {c: cost for c, cost in each.items() if cost <= self.budget}

    def priced(self, cells: Mapping[str, Cells]) -> tuple[int, dict[str, np.ndarray]]:
        each = {c: self.costs[c] if isinstance(self.costs, Mapping) else self.costs for c in cells}
        unit = common_unit(list(each.values()))
        budget = self.budget // unit if each else Fraction(0)
        if budget > LARGEST:
            raise NoView(
                "The budget is too large for exact prices in the unit of all costs; round the costs."
            )
        out: dict[str, np.ndarray] = {}
        for name, found in cells.items():
            steps = np.where(found.down >= 0, found.down, found.up)
            per = int(each[name] / unit)
            # What is beyond the budget has no exact price, which might not fit into 64 bits.
            far = (steps < 0) | (steps > int(budget) // per)
            out[name] = np.where(far, -1, np.where(far, 0, steps) * per)
        return int(budget), out
