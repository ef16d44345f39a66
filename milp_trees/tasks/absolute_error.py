"""`AbsoluteError`: leaves that predict medians.

A leaf's absolute error is no function of a few sums, but a weighted median of numbers can always be
one of them. So the targets that the table holds are the actions from which a leaf chooses, and the
task is a cost matrix: |y - a| for row and action. It is exact, and all that solves cost matrices
solves it; its cost grows with the number of different targets.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.tasks.action_costs import ActionCosts
from milp_trees.tasks.base import Value
from milp_trees.tasks.targets import LARGEST, numeric_targets, whole_numbers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Routes

#: Most rows times different targets: more do not fit into memory.
MOST_COSTS = 40_000_000


class _Targets(NamedTuple):
    """Different targets as whole numbers of a unit, and which of them each row has."""

    different: np.ndarray
    row: np.ndarray
    unit: Fraction
    names: tuple[Any, ...]


_known: WeakKeyDictionary[Dataset, _Targets] = WeakKeyDictionary()


def _targets(dataset: Dataset, name: str) -> _Targets:
    found = _known.get(dataset)
    if found is None:
        found = _known[dataset] = _read(dataset, name)
    return found


def _read(dataset: Dataset, name: str) -> _Targets:
    """The different targets, ascending."""
    numbers = numeric_targets(dataset, name)
    if numbers.whole.shape[1] != 1:
        raise DataError(
            f"The task {name} predicts one number, and the data have {numbers.whole.shape[1]} targets; name one of them."
        )
    different, row = np.unique(numbers.whole[:, 0], return_inverse=True)
    if len(different) * dataset.n_rows > MOST_COSTS:
        raise DataError(
            f"The target has {len(different):,} different values on {dataset.n_rows:,} rows, and the task {name} has a cost for every pair of them (at most {MOST_COSTS:,}); round the target, or take squared-error."
        )
    farthest = int(different[-1]) - int(different[0])
    weights = sum(map(Fraction, dataset.row_weights.tolist()), Fraction(0))
    if farthest * numbers.unit * weights * int(dataset.row_counts.max(initial=1)) > LARGEST:
        raise DataError(
            f"The target has values that are {float(farthest * numbers.unit):.3g} apart, and the sum of errors is too large for doubles; divide the target or the weights by a large number."
        )
    shown = [numbers.unit * int(t) for t in different.tolist()]
    names = tuple(int(t) if t.denominator == 1 else float(t) for t in shown)
    return _Targets(different, row.ravel(), numbers.unit, names)


@register
@dataclass(frozen=True)
class AbsoluteError(ActionCosts):
    """Sum over rows of the weighted distance between target and prediction.

    The target is numeric: `Dataset.targets` with one column, or `Dataset.y` whose classes are
    numbers. With a penalty the value is the share of the absolute error of a single leaf that is
    left, plus penalties.
    """

    name: ClassVar[str] = "absolute-error"
    title: ClassVar[str] = "Absolute error of predicted medians"
    units: ClassVar[tuple[str, str]] = ("absolute error", "loss")
    weighs_rows: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True
    predicts_numbers: ClassVar[bool] = True

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return _targets(dataset, self.name).names

    def costs(self, dataset: Dataset) -> np.ndarray:
        table, kind = self.cost_table(dataset)
        costs: np.ndarray = table[kind]
        return costs

    def cost_table(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
        found = _targets(dataset, self.name)
        weights, which = np.unique(dataset.row_weights, return_inverse=True)
        whole = whole_numbers(weights)
        apart = np.abs(np.subtract.outer(found.different, found.different))
        unit = found.unit * whole.unit
        table = np.multiply.outer(whole.whole.astype(object), apart.astype(object)) * unit
        K = len(found.different)
        return table.reshape(len(weights) * K, K), which.ravel() * K + found.row

    def normaliser(self, dataset: Dataset) -> Fraction:
        """The absolute error of a single leaf that predicts a median; 1 if that is 0."""
        found, weights = _targets(dataset, self.name), whole_numbers(dataset.row_weights)
        w = weights.whole.astype(object) * dataset.row_counts.astype(object)
        order = np.argsort(found.row, kind="stable")
        below = list(itertools.accumulate(w[order].tolist()))
        middle = bisect.bisect_left(below, Fraction(below[-1], 2))
        target = found.different.astype(object)[found.row]
        total = (w * np.abs(target - target[order[middle]])).sum()
        return Fraction(int(total)) * found.unit * weights.unit or Fraction(1)

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        strange = [a for a in actions if isinstance(a, bool) or not isinstance(a, (int, float))]
        return f"it predicts {strange[0]!r}, which is no number." if strange else None

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        """Also of predictions that are no targets of these rows, such as those of other rows."""
        self.refuse_others(routes.actions, dataset)
        if list(routes.actions) == list(self.actions(dataset)):
            return super().value(routes, dataset)
        numbers = numeric_targets(dataset, self.name)
        said = whole_numbers(np.array(routes.actions, dtype=float))
        weights = whole_numbers(dataset.row_weights)
        heavy = weights.whole.astype(object) * dataset.row_counts.astype(object)
        target = numbers.whole[:, 0].astype(object) * numbers.unit
        predicted = said.whole.astype(object)[routes.action] * said.unit
        total = Fraction((np.abs(target - predicted) * heavy).sum()) * weights.unit
        number = self._penalised_value(
            total, routes.n_leaves, [t.columns for t in routes.splits], dataset
        )
        return Value(float(number), number, self.unit, self.sense)
