"""`PenalisedTask`: tasks whose value is a loss over the rows, with prices of leaves and splits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.data.names import entries_by_name
from milp_trees.models.space import one_hot_treatments
from milp_trees.tasks.base import Task
from milp_trees.tasks.constraint_base import Constraint

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space


@dataclass(frozen=True)
class PenalisedTask(Task):
    """Base class of tasks that add up a loss over the rows.

    Parameters
    ----------
    leaf_penalty, split_penalty : number, default=0
        Added per leaf and per branch node, on the scale of a rate (costs divided by `normaliser`).
        In a rule list every rule is a branch node, and the default rule costs nothing; leaves are
        the rules with the default rule.
    feature_costs : mapping of column name to number, optional
        Cost of one branch node that tests the column, on the same scale as the penalties. A rule
        pays for every column of its antecedent.
    """

    #: Unit without penalties, and with penalties.
    units: ClassVar[tuple[str, str]] = ("cost", "rate")

    leaf_penalty: Any = 0
    split_penalty: Any = 0
    feature_costs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("leaf_penalty", "split_penalty"):
            number = exact.fraction(getattr(self, name), name)
            if number < 0:
                raise DataError(f"{name} must not be negative; got {getattr(self, name)}.")
            object.__setattr__(self, name, number)
        if self.feature_costs is not None:
            given = entries_by_name(self.feature_costs, "feature_costs")
            if not isinstance(given, Mapping):
                raise DataError(
                    f"feature_costs must be a mapping such as {{'age': 2}}; got {self.feature_costs!r}."
                )
            costs = {str(c): exact.fraction(v, f"the cost of {c!r}") for c, v in given.items()}
            if any(v < 0 for v in costs.values()):
                raise DataError("Feature costs must not be negative.")
            object.__setattr__(self, "feature_costs", costs)

    def normaliser(self, dataset: Dataset) -> Fraction:
        """The divisor that makes a rate of a sum of costs: the weight of all original rows."""
        whole, scale, _ = exact.integers(dataset.row_weights, rows=dataset.total_rows)
        return scale * int((whole * dataset.row_counts).sum())

    def rate_unit(self, dataset: Dataset) -> Fraction:
        """The normaliser, to which penalties refer; raises DataError if it is zero."""
        n = self.normaliser(dataset)
        if not n:
            raise DataError(
                f"The task {self.name} with a penalty divides by the total weight, which is zero; give at least one row a positive weight."
            )
        return n

    @property
    def penalised(self) -> bool:
        """Whether the value is a rate plus penalties."""
        return bool(self.leaf_penalty or self.split_penalty or self.feature_costs)

    @property
    def unit(self) -> str:
        return self.units[int(self.penalised)]

    def penalties_of(self, n_leaves: int, splits: list[tuple[str, ...]]) -> Fraction:
        """What the leaves and the questions of a predictor cost, whose columns are given."""
        of = self.feature_costs or {}
        per_split = sum((of.get(c, Fraction(0)) for s in splits for c in s), Fraction(0))
        return self.leaf_penalty * n_leaves + self.split_penalty * len(splits) + per_split

    def _paid(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some columns that have a price of their own."""
        of = self.feature_costs
        return tuple(c for c in columns if c in of) if of else ()

    def _penalties(
        self, columns: list[tuple[str, ...]], dataset: Dataset
    ) -> tuple[Fraction, list[Fraction]]:
        """Penalty per leaf, and per split on each set of columns, in units of summed cost."""
        if not self.penalised:
            return Fraction(0), [Fraction(0)] * len(columns)
        n, of = self.rate_unit(dataset), self.feature_costs or {}
        known = {t.column for t in dataset.features} | set(dataset.columns or ())
        unknown = set(of) - known if of else ()
        if unknown:
            raise DataError(
                f"feature_costs names {sorted(unknown)[0]!r}, which is not a column of the data."
            )
        price = {
            s: (self.split_penalty + sum((of.get(c, Fraction(0)) for c in s), Fraction(0))) * n
            for s in set(columns)
        }
        return self.leaf_penalty * n, [price[s] for s in columns]

    def spec(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name}
        for f in fields(self):
            value = getattr(self, f.name)
            if value == f.default or value is None:
                continue
            out[f.name] = plain_spec(value)
        return out


def leaf_needs(dataset: Dataset, space: Space) -> dict[str, Any]:
    """The view's weights and treatments of rows, where the space asks for a minimum in a leaf."""
    out: dict[str, Any] = {}
    if least := getattr(space, "min_weight_leaf", 0):
        whole, scale, _ = exact.integers(dataset.row_weights, rows=dataset.total_rows)
        whole = whole * dataset.row_counts
        out |= {"row_weight": whole, "min_weight_leaf": math.ceil(least / scale)}
    if fewest := getattr(space, "min_samples_treatment", 0):
        out |= {"treated": one_hot_treatments(dataset), "min_treated": int(fewest)}
    return out


def plain_spec(value: Any) -> Any:
    """A parameter of a task as plain values of JSON."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): plain_spec(v) for k, v in value.items()}
    if isinstance(value, Constraint):
        return value.spec()
    if isinstance(value, (tuple, list)):
        return [plain_spec(v) for v in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
