"""Tasks whose value is a sum over rows of the cost of the chosen action.

There may be penalties and linear side constraints. A subclass defines the cost of action k on row i
(`costs`), in natural units and in its natural sense. Penalties, constraints, exact integers, the
scorer and the `CostMatrix` view are defined here, once.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.tasks.base import Value
from milp_trees.tasks.constraint_base import Constraint, as_constraints
from milp_trees.tasks.penalised import PenalisedTask, leaf_needs
from milp_trees.tasks.views import CostMatrix, SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes
    from milp_trees.tasks.structure import Structure


class _Written(NamedTuple):
    """Costs of kinds of rows, added up as `least + unit * sum`, and the kind of every row."""

    costs: np.ndarray
    row: np.ndarray
    least: Fraction
    unit: Fraction
    exact: bool


#: For each dataset the last task that valued models on it, and the costs in the form of `_written`.
#: Who values thousands of models asks for the same costs every time.
_valued: WeakKeyDictionary[Dataset, tuple[ActionCosts, _Written, tuple[Any, ...]]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True)
class ActionCosts(PenalisedTask):
    """Base class of all tasks on a finite set of actions.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs
        See `PenalisedTask`.
    constraints : sequence of Constraint
        Side constraints on the actions, or on the tree itself.
    """

    view_makers: ClassVar[dict[type, str]] = {CostMatrix: "cost_matrix"}
    constraints: tuple[Constraint, ...] = ()

    #: Whether `cost_table` says what `costs` says: not in a subclass that changes the costs alone.
    _tabled: ClassVar[bool] = False

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "costs" in vars(cls) or "cost_table" in vars(cls):
            cls._tabled = "cost_table" in vars(cls)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "constraints", as_constraints(self.constraints))

    # -- what a subclass defines -------------------------------------------------------------------

    @abstractmethod
    def costs(self, dataset: Dataset) -> np.ndarray:
        """Cost of every action on every row in natural units, shape (n, K), to be minimised.

        The array may hold Fractions as objects. A metric that is maximised returns its negative. A
        row that stands for several original rows has the cost of one of them.
        """

    def cost_table(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
        """Costs of all kinds of rows, shape (kinds, K), and the kind of every row.

        A subclass with few kinds of rows defines it beside `costs`, which is then
        `table[kind]`: exact arithmetic on the table is quick.
        """
        return self.costs(dataset), np.arange(dataset.n_rows)

    def to_natural(self, total: Fraction, dataset: Dataset) -> Fraction:
        """Natural value of a total cost without penalties; affine and monotone.

        The default is the total itself.
        """
        return total

    # -- what follows from it ----------------------------------------------------------------------

    @property
    def sense(self) -> str:
        return "min"

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        if (known := _valued.get(dataset)) is None or known[0] is not self:
            self.refuse_others(routes.actions, dataset)
            known = _valued[dataset] = self, self._written(dataset), routes.actions
        elif routes.actions != known[2]:
            self.refuse_others(routes.actions, dataset)
        own = known[1]
        above = own.costs[own.row, routes.action]
        above = (above if dataset.counts is None else above * dataset.counts).sum()
        total = own.least + own.unit * (int(above) if own.exact else Fraction(float(above)))
        number = self._penalised_value(
            total, routes.n_leaves, [t.columns for t in routes.splits], dataset
        )
        return Value(float(number), number if own.exact else None, self.unit, self.sense)

    def _written(self, dataset: Dataset) -> _Written:
        """The costs in the form in which they are added up."""
        costs, kind = self._kinds(dataset)
        row = np.arange(len(costs)) if kind is None else kind
        whole, scale, is_exact = exact.integers(costs, kind, dataset.total_rows)
        if is_exact:
            return _Written(whole, row, Fraction(0), scale, True)
        # The measured floats themselves are added up, and not their rounded form.
        measured = np.asarray(costs, dtype=float)
        lowest = measured.min(axis=1)
        least = _exact_sum(lowest[row], dataset)
        return _Written(measured - lowest[:, None], row, least, Fraction(1), False)

    def _kinds(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray | None]:
        """Costs of the kinds of rows and the kind of every row; None: each row is of its own."""
        return self.cost_table(dataset) if self._tabled else (self.costs(dataset), None)

    def costs_alone(self, dataset: Dataset) -> np.ndarray:
        costs, kind = self._kinds(dataset)
        rows = dataset.row_counts
        if kind is not None:
            rows = np.bincount(kind, dataset.counts, len(costs))
        return np.asarray(rows @ np.asarray(costs, dtype=float))

    def _penalised_value(
        self, total: Fraction, n_leaves: int, splits: list[tuple[str, ...]], dataset: Dataset
    ) -> Fraction:
        """The value of a predictor with this cost, whose questions are on these columns."""
        if not self.penalised:
            return self.to_natural(total, dataset)
        return total / self.rate_unit(dataset) + self.penalties_of(n_leaves, splits)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        actions = self.actions(dataset)
        return [message for c in self.constraints for message in c.broken(routes, dataset, actions)]

    def side_rows(self, dataset: Dataset) -> tuple[SideRow, ...]:
        """Every side constraint as exact integer rows."""
        actions = self.actions(dataset)
        return tuple(row.reduced() for c in self.constraints for row in c.rows(dataset, actions))

    def structure(
        self, dataset: Dataset, features: tuple[BinaryFeature, ...]
    ) -> tuple[Structure, ...]:
        """Every constraint on the tree itself, as parts of the view."""
        actions = self.actions(dataset)
        return tuple(
            part for c in self.constraints for part in c.structure(dataset, actions, features)
        )

    def cost_matrix(self, dataset: Dataset, space: Space) -> CostMatrix:
        """The task as exact integers, with the candidate features of a space."""
        tests, X, complements = space.tests(dataset)
        paid = [self._paid(t.columns) for t in tests] if self.penalised else []
        columns = list(dict.fromkeys(paid))
        (costs, kind), (leaf, splits) = self._kinds(dataset), self._penalties(columns, dataset)
        counts = dataset.row_counts
        whole, scale, is_exact = exact.integers(costs, kind, dataset.total_rows)
        if kind is not None:
            whole = whole.take(kind, axis=0)
        least = Fraction(0)  # smallest cost of all rows; zero if the integers contain it already
        rounded = 0.0  # by how many units rounding can change an objective
        if not is_exact:
            measured = np.asarray(costs if kind is None else costs[kind], dtype=float)
            lowest = measured.min(axis=1)
            least = _exact_sum(lowest, dataset)
            whole, scale, rounded = exact.on_grid(
                measured - lowest[:, None], counts, float(max([leaf, *splits]))
            )
        if dataset.counts is not None:
            whole = whole * counts[:, None]
        if self.penalised:
            if is_exact:  # the integer unit must divide the unit of costs and every penalty
                unit = exact.common_unit([scale if whole.any() else Fraction(0), leaf, *splits])
                whole, leaf, splits = exact.rescale(whole, scale, leaf, splits, unit)
            else:  # penalties are rounded to the grid of the costs
                unit, leaf, splits = scale, leaf / scale, [s / scale for s in splits]
                rounded += dataset.n_rows * (_off(leaf) + max(map(_off, splits), default=0.0))
            if max([leaf, *splits]) > exact.LIMIT * exact.PENALTY_STEPS:
                raise DataError(
                    "A penalty is too large to be counted beside the costs in exact integers; make it smaller, or set max_leaf_nodes instead."
                )
            offset, scale = least / self.rate_unit(dataset), unit / self.rate_unit(dataset)
        else:
            offset = self.to_natural(least, dataset)
            scale = self.to_natural(least + scale, dataset) - offset
        prices = np.zeros(len(tests), dtype=np.int64)
        if self.penalised:
            price = {c: round(s) for c, s in zip(columns, splits, strict=True)}
            prices[:] = [price[own] for own in paid]
        return CostMatrix(
            X=X,
            features=tests,
            costs=whole,
            actions=self.actions(dataset),
            counts=np.array(counts),
            leaf_cost=round(leaf),
            split_costs=prices,
            side=self.side_rows(dataset),
            offset=offset,
            scale=scale,
            exact=is_exact,
            rows=np.arange(dataset.n_rows, dtype=np.int64),
            structure=self.structure(dataset, tests),
            complements=complements,
            rounding=0 if is_exact else _rounding(rounded, whole, offset / scale),
            **leaf_needs(dataset, space),
        )


def _off(number: Fraction) -> float:
    """How far a number is from the next whole one."""
    return abs(float(number - round(number)))


def _rounding(steps: float, whole: np.ndarray, zero: Fraction) -> int:
    """How many units an objective can differ from the value that is shown as a double.

    Parameters
    ----------
    steps : float
        What rounding to the grid can change.
    whole : int64 array of shape (n, K)
        The costs in units.
    zero : Fraction
        The value of objective 0 in units.
    """
    largest = abs(zero) + int(whole.max(axis=1, initial=0).sum())
    return min(math.ceil(Fraction(steps) + largest / 2**52), exact.WHOLE)


def _exact_sum(numbers: np.ndarray, dataset: Dataset) -> Fraction:
    """The sum of one double per original row, to twice the digits of a double."""
    if dataset.counts is None:
        near = math.fsum(numbers)
        return Fraction(near) + Fraction(math.fsum([*numbers.tolist(), -near]))
    terms = zip(map(Fraction, numbers.tolist()), dataset.counts.tolist(), strict=True)
    return sum((x * n for x, n in terms), Fraction(0))
