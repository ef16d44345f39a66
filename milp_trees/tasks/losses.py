"""`LossTask`: tasks whose leaves predict numbers, and cost a function of sums over their rows.

A subclass says what is added up over rows (`parts`), what a leaf with such sums costs (`leaf`) and
predicts (`predictor`), and what a model costs exactly (`loss`). Penalties and the view are made
here, once.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from milp_trees.models.space import full_leaves
from milp_trees.tasks.base import Value
from milp_trees.tasks.leaf_functions import LeafFunction
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.loss_sums import UNITS, ExactLoss, LossSums, Squares
from milp_trees.tasks.penalised import PenalisedTask, leaf_needs

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes


class LossParts(NamedTuple):
    """What the rows of a dataset contribute to a loss.

    Parameters
    ----------
    sums : int64 array of shape (n, U)
        What is added up; the first column is positive for rows that count, 0 for others. Sums of
        absolute values are below 2^53.
    constants : float array of shape (n,)
        At least the part of the loss that a row has in every tree, in units of the leaf function.
    total : Fraction
        At most the sum of these parts.
    unit : Fraction
        Natural units per unit of the leaf function.
    size : float
        At least the absolute value of the leaf function on every set of rows, and the sum of the
        constants.
    ulps : int
        The doubles of the leaf function are off by at most so many times 2^-53 of `size`.
    lost : float
        How much larger the loss of a tree may be with these sums than with the data they round, in
        units of the leaf function.
    predicted : float
        How much predictions that are doubles can add to the loss of a tree, in units of the leaf
        function.
    """

    sums: np.ndarray
    constants: np.ndarray
    total: Fraction
    unit: Fraction
    size: float
    ulps: int
    lost: float = 0.0
    predicted: float = 0.0


@dataclass(frozen=True)
class LossTask(PenalisedTask):
    """Base class of tasks whose leaves cost a function of sums.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs
        See `PenalisedTask`. They are shares of the loss of a single leaf (`normaliser`).
    """

    view_makers: ClassVar[dict[type, str]] = {LeafSums: "loss_sums"}
    units: ClassVar[tuple[str, str]] = ("loss", "rate")
    weighs_rows: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True
    predicts_numbers: ClassVar[bool] = True
    #: What a leaf costs, in the language of `leaf_functions`.
    leaf: ClassVar[LeafFunction]

    # -- what a subclass defines -------------------------------------------------------------------

    @abstractmethod
    def parts(self, dataset: Dataset) -> LossParts:
        """What the rows contribute; a row that stands for several has their sum."""

    @abstractmethod
    def predictor(self, dataset: Dataset) -> Callable[[tuple[int, ...]], Any]:
        """The function that gives a leaf's prediction for its sums."""

    @abstractmethod
    def loss(self, routes: Routes, dataset: Dataset) -> tuple[Fraction, bool]:
        """Loss of a model with its own predictions, without penalties, and whether it is exact."""

    def squares(self, dataset: Dataset) -> Squares | None:
        """The rows as exact numbers, if the loss is a squared error; proofs are about these."""
        return None

    # -- what follows from it ----------------------------------------------------------------------

    @property
    def sense(self) -> str:
        return "min"

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        """None: each leaf predicts a number of its own."""
        return ()

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        strange = [a for a in actions if not _is_number(a)]
        return f"it predicts {strange[0]!r}, which is no number." if strange else None

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        self.refuse_others(routes.actions, dataset)
        total, is_exact = self.loss(routes, dataset)
        if self.penalised:
            total = total / self.rate_unit(dataset) + self.penalties_of(
                routes.n_leaves, [t.columns for t in routes.splits]
            )
        return Value(float(total), total if is_exact else None, self.unit, self.sense)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        return []

    def loss_sums(self, dataset: Dataset, space: Space) -> LossSums:
        """The task on a grid of whole units, with the candidate features of a space."""
        tests, X, complements = space.tests(dataset)
        parts, counts = self.parts(dataset), dataset.row_counts
        paid = [self._paid(t.columns) for t in tests] if self.penalised else []
        columns = list(dict.fromkeys(paid))
        leaf, splits = self._penalties(columns, dataset)
        # A penalty above the loss of all rows makes the grid coarser, so that it has room.
        size = max([Fraction(parts.size), *(p / parts.unit for p in (leaf, *splits))])
        # Where no tree costs anything, a unit of the loss is the measure of the ties.
        size = size or Fraction(1)
        power = _power_below(UNITS / size)
        grid = Fraction(2) ** power
        constants = np.ceil(np.ldexp(parts.constants, power)).astype(np.int64)
        excess = int(constants.sum()) - grid * (parts.total - Fraction(parts.lost))
        margin = 1 + parts.ulps // 4
        norm = self.rate_unit(dataset) if self.penalised else Fraction(1)
        unit, steps = parts.unit / norm, grid / parts.unit
        prices = np.zeros(len(tests), dtype=np.int64)
        if self.penalised:
            price = {c: math.floor(s * steps) for c, s in zip(columns, splits, strict=True)}
            prices[:] = [price[own] for own in paid]
        tie, paid_leaf = 2 * margin + 2, math.floor(leaf * steps)
        return LossSums(
            X=X,
            features=tests,
            parts=np.column_stack([parts.sums, constants]),
            leaf=type(self).leaf,
            grid=float(grid),
            margin=margin,
            predict=self.predictor(dataset),
            excess=excess,
            tie=tie,
            most_leaves=_most_leaves(space, dataset.n_rows, paid_leaf),
            size=size * grid,
            whole=(lambda: Fraction(1)) if self.penalised else partial(self.normaliser, dataset),
            predicted=math.ceil(Fraction(parts.predicted) * grid),
            counts=np.array(counts),
            leaf_cost=paid_leaf + tie,
            split_costs=prices,
            offset=Fraction(0),
            scale=unit / grid,
            exact=False,
            rows=np.arange(dataset.n_rows, dtype=np.int64),
            complements=complements,
            exact_loss=partial(self._exact_loss, dataset, [t.columns for t in tests]),
            **leaf_needs(dataset, space),
        )

    def _exact_loss(self, dataset: Dataset, tests: list[tuple[str, ...]]) -> ExactLoss | None:
        """The loss and its penalties without rounding, for tests on some columns."""
        squares = self.squares(dataset)
        if squares is None:
            return None
        prices = [self.penalties_of(0, [columns]) for columns in tests]
        return ExactLoss(squares, self.penalised, self.leaf_penalty, prices)


def _power_below(number: Fraction) -> int:
    """The largest k with 2^k at most a positive number."""
    k = number.numerator.bit_length() - number.denominator.bit_length()
    return k if Fraction(2) ** k <= number else k - 1


def _most_leaves(space: Space, n: int, penalty: int) -> int:
    """Largest number of leaves that a best tree can have."""
    depth = getattr(space, "max_depth", None)
    most = n if depth is None else min(n, full_leaves(depth))
    limit = getattr(space, "max_leaf_nodes", None)
    most = most if limit is None else min(most, limit)
    return max(1, min(most, 2 * UNITS // penalty + 2) if penalty else most)


def _is_number(action: Any) -> bool:
    """Whether a prediction is a number, or several numbers."""
    if isinstance(action, (tuple, list)):
        return all(map(_is_number, action))
    return isinstance(action, (int, float, np.number)) and not isinstance(action, bool)
