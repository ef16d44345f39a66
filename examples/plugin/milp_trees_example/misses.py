"""`misses:price=5`: a missed row of the positive class costs as much as five false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from milp_trees import DataError
from milp_trees.plugins import ActionCosts, fraction, register


@register
@dataclass(frozen=True)
class Misses(ActionCosts):
    """False alarms, and misses at their price; rows of the last class are to be found.

    Parameters
    ----------
    price : number, default=1
        What a missed row costs, in false alarms; read as written: 0.1 is 1/10.
    """

    name: ClassVar[str] = "misses"
    title: ClassVar[str] = "False alarms, and misses at a price"
    of_classes: ClassVar[bool] = True

    example_options: ClassVar[tuple[dict[str, Any], ...]] = ({"price": 5},)

    price: Any = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "price", fraction(self.price, "price"))
        if self.price < 0:
            raise DataError(f"price must not be negative; got {self.price}.")

    def actions(self, dataset: Any) -> tuple[Any, ...]:
        dataset.require("y", f"The task {self.name}")
        if len(dataset.classes) != 2:
            raise DataError(
                f"The task {self.name} needs two classes; there are {len(dataset.classes)}."
            )
        return tuple(dataset.classes)

    def normaliser(self, dataset: Any) -> Fraction:
        return Fraction(dataset.n_rows)

    def costs(self, dataset: Any) -> np.ndarray:
        self.actions(dataset)
        positive = np.asarray(dataset.y) == 1
        out = np.zeros((dataset.n_rows, 2), dtype=object)
        out[positive, 0] = self.price
        out[~positive, 1] = fraction(1)
        return out

    @staticmethod
    def definition(spec: Any, rows: Any, seen: Any) -> float:
        """What the task means, a second time, for its checks: a loop without the code above."""
        price = float(spec.get("price", 1))
        wrong = [row["y"] for row, k in zip(rows, seen.said, strict=True) if row["y"] != k]
        return sum(price if positive else 1 for positive in wrong)
