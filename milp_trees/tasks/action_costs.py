"""Tasks whose value is a sum over rows of the cost of the chosen action.

There may be penalties and linear side constraints. A subclass defines the cost of action k on row i
(`costs`), in natural units and in its natural sense. Penalties, constraints, exact integers, the
scorer and the `CostMatrix` view are defined here, once.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.data.names import entries_by_name
from milp_trees.models.space import one_hot_treatments
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.constraint_base import Constraint, as_constraints
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
class ActionCosts(Task):
    """Base class of all tasks on a finite set of actions.

    Parameters
    ----------
    leaf_penalty, split_penalty : number, default=0
        Added per leaf and per branch node, on the scale of a rate (costs divided by `normaliser`).
        In a rule list every rule is a branch node, and the default rule costs nothing; leaves are
        the rules with the default rule.
    feature_costs : mapping of column name to number, optional
        Cost of one branch node that tests the column, on the same scale as the penalties. A rule
        pays for every column of its antecedent.
    constraints : sequence of Constraint
        Side constraints on the actions, or on the tree itself.
    """

    view_makers: ClassVar[dict[type, str]] = {CostMatrix: "cost_matrix"}
    #: Unit without penalties, and with penalties.
    units: ClassVar[tuple[str, str]] = ("cost", "rate")

    leaf_penalty: Any = 0
    split_penalty: Any = 0
    feature_costs: Mapping[str, Any] | None = None
    constraints: tuple[Constraint, ...] = ()

    #: Whether `cost_table` says what `costs` says: not in a subclass that changes the costs alone.
    _tabled: ClassVar[bool] = False

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "costs" in vars(cls) or "cost_table" in vars(cls):
            cls._tabled = "cost_table" in vars(cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", as_constraints(self.constraints))
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

    def to_natural(self, total: Fraction, dataset: Dataset) -> Fraction:
        """Natural value of a total cost without penalties; affine and monotone.

        The default is the total itself.
        """
        return total

    # -- what follows from it ----------------------------------------------------------------------

    @property
    def penalised(self) -> bool:
        """Whether the value is a rate plus penalties."""
        return bool(self.leaf_penalty or self.split_penalty or self.feature_costs)

    @property
    def unit(self) -> str:
        return self.units[int(self.penalised)]

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
        of = self.feature_costs or {}
        per_split = sum((of.get(c, Fraction(0)) for s in splits for c in s), Fraction(0))
        return (
            total / self.rate_unit(dataset)
            + self.leaf_penalty * n_leaves
            + self.split_penalty * len(splits)
            + per_split
        )

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
            **_masses(dataset, space),
        )

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
        unknown = set(of) - {t.column for t in dataset.features} if of else ()
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
            out[f.name] = _spec(value)
        return out


def _masses(dataset: Dataset, space: Space) -> dict[str, Any]:
    """The view's weights and treatments of rows, where the space asks for a minimum in a leaf."""
    out: dict[str, Any] = {}
    if least := getattr(space, "min_weight_leaf", 0):
        whole, scale, _ = exact.integers(dataset.row_weights, rows=dataset.total_rows)
        whole = whole * dataset.row_counts
        out |= {"row_weight": whole, "min_weight_leaf": math.ceil(least / scale)}
    if fewest := getattr(space, "min_samples_treatment", 0):
        out |= {"treated": one_hot_treatments(dataset), "min_treated": int(fewest)}
    return out


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


def _spec(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): _spec(v) for k, v in value.items()}
    if isinstance(value, Constraint):
        return value.spec()
    if isinstance(value, (tuple, list)):
        return [_spec(v) for v in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
