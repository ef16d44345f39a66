"""`RobustBoxes`: wrong rows if each row may be anywhere in a box around it.

This is the attack model of Vos and Verwer (2022), "Robust optimal classification trees against
adversarial examples", arXiv:2109.03857: a row is wrong if some point of its box is in a leaf of
another class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.registering import register
from milp_trees.robust.errors import WorstCaseErrors, by_column, checked_numbers, numbers
from milp_trees.robust.positions import Cells

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@register
@dataclass(frozen=True)
class RobustBoxes(WorstCaseErrors):
    """Wrong rows in the worst case, if every column of every row may be off by up to a radius.

    A row counts as wrong if it may be shifted to a leaf of another class. A number x with the
    radius r may be anywhere in [x - r, x + r]; a category, or a column of 0 and 1, may be any other
    one if the radius is at least 1. Rows are not weighted.

    Parameters
    ----------
    radius : number, or mapping of column name to number, default=0
        One radius for all columns, or one for each that may be shifted. As text: `0.5`, or
        `age=2;income=1/2`.

    Examples
    --------
    >>> import milp_trees as mt
    >>> tests = [mt.BinaryFeature("x", "<=", t) for t in (1.5, 4)]
    >>> data = mt.Dataset([[1, 1], [0, 1], [0, 0]], tests, y=["a", "a", "b"],
    ...                   numeric=[[1], [2], [6]], columns=["x"])
    >>> task = mt.robust.RobustBoxes(radius=1)
    >>> print(mt.solve(mt.Problem(data, task, mt.Trees(1))).predictor)
    ├─ x > 4: b  (1 row)
    └─ x <= 4: a  (2 rows)
    """

    name: ClassVar[str] = "robust-boxes"
    title: ClassVar[str] = "Wrong rows if every column of a row may be off by up to a radius"
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {
        **WorstCaseErrors.readers,
        "radius": numbers,
    }

    radius: Any = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", checked_numbers(self.radius, "radius"))

    def shifts(self, dataset: Dataset) -> Mapping[str, Any]:
        return {c: r for c, r in by_column(self.radius, "radius", dataset).items() if r}

    def priced(self, cells: Mapping[str, Cells]) -> tuple[int, dict[str, np.ndarray]]:
        out: dict[str, np.ndarray] = {}
        for name, found in cells.items():
            radius = self.radius[name] if isinstance(self.radius, Mapping) else self.radius
            # The largest number of units within the radius, and the largest one below it.
            within, below = radius // found.unit, -(-radius // found.unit) - 1
            most = below if found.open_above else within
            near = (found.down >= 0) & (found.down <= int(within))
            near |= (found.up >= 0) & (found.up <= int(most))
            near[np.arange(len(near)), found.at] = True
            out[name] = np.where(near, 0, -1)
        return 0, out
