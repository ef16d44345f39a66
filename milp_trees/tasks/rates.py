r"""`RateTask`: losses of a rate per leaf, with a logarithm.

A row has an amount :math:`d_i \ge 0` of what is counted (events, or weight) and an exposure
:math:`h_i > 0`; a leaf L predicts the rate :math:`\theta` and costs

.. math:: \sum_{i\in L} d_i \log\frac{d_i}{\theta h_i} - d_i + \theta h_i \ge 0,

which is least at :math:`\theta = D/H`, with the sums :math:`D, H` of the leaf:
:math:`\sum_i d_i\log(d_i/h_i) - D\log(D/H)`. Half the deviance of a Poisson model is such a loss,
that of a gamma model too (with the mean as 1/θ), and the likelihood of proportional hazards.

Engines add up amounts and exposures as integers, both scaled by powers of two so that their sums
are alike and have 51 bits. Where an exposure needs more of them it is rounded down, which makes no
leaf cost more: :math:`-D\log(D/H)` grows with H.
"""

from __future__ import annotations

import itertools
import math
import operator
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.logarithms import BITS, log_between, log_of_product, log_units
from milp_trees.tasks.leaf_functions import LeafFunction, times_log_quotient
from milp_trees.tasks.losses import LossParts, LossTask
from milp_trees.tasks.targets import LARGEST

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Routes

#: Bits of the sums that engines add up.
_BITS = 51
#: `_rate_loss` in doubles is off by less than so many times 2^-53 of itself: see
#: `times_log_quotient`.
_ULPS = 11
#: Rows are counted by pairs of codes in an array if it has at most so many entries per row.
_CELLS = 8
#: A prediction of 0 counts as this where something happens that it excludes, as in scikit-learn's
#: log loss: other data than those of the tree are then finitely bad.
LEAST = Fraction(1, 2**52)


def _rate_loss(sums: tuple[Any, ...]) -> Any:
    """The loss of a leaf but for the constants of its rows; the sums are exposure and amount."""
    exposure, amount = sums
    return -times_log_quotient(amount, exposure)


class Rates(NamedTuple):
    """Amounts and exposures, exactly, of the kinds of rows that differ in them.

    Parameters
    ----------
    amounts, exposures : list of int
        Of a row of every kind; an exposure is 0 only where a row counts nothing.
    amount, exposure : Fraction
        Their units.
    kind : int64 array of shape (n,)
        Kind of every row.
    """

    amounts: list[int]
    exposures: list[int]
    amount: Fraction
    exposure: Fraction
    kind: np.ndarray

    @property
    def many(self) -> np.ndarray:
        """Number of rows of every kind."""
        return np.bincount(self.kind, minlength=len(self.amounts))

    def total(self) -> tuple[int, int]:
        """Amount and exposure of all rows, in their units."""
        many = self.many.tolist()
        d, h = (sum(map(operator.mul, many, of)) for of in (self.amounts, self.exposures))
        return d, h

    def summed(self, leaf: np.ndarray, n_leaves: int) -> list[tuple[int, int]]:
        """Amount and exposure of every leaf, in their units, given the leaf of every row."""
        K = len(self.amounts)
        if n_leaves * K > _CELLS * len(leaf):
            pairs, many = np.unique(leaf * K + self.kind, return_counts=True)
            of, kind = np.divmod(pairs, K)
        else:
            counted = np.bincount(leaf * K + self.kind, minlength=n_leaves * K)
            of, kind = np.nonzero(counted.reshape(n_leaves, K))
            many = counted.reshape(n_leaves, K)[of, kind]
        own, n, found = kind.tolist(), many.tolist(), []
        ends = np.searchsorted(of, np.arange(n_leaves + 1)).tolist()
        for begin, end in itertools.pairwise(ends):
            d, h = (
                sum(map(operator.mul, n[begin:end], map(part.__getitem__, own[begin:end])))
                for part in (self.amounts, self.exposures)
            )
            found.append((d, h))
        return found


def kinds_of(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A row of every kind, and the kind of every row, of rows that differ in some columns."""
    code, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        if len(column) and (column == column[0]).all():
            continue
        if column.dtype == np.int64 and column.min() >= 0 and column.max() < len(column):
            inverse = column
        else:
            inverse = np.unique(column, return_inverse=True)[1].reshape(-1)
        n = int(inverse.max()) + 1
        if size * n >= 2**62:
            code = np.unique(code, return_inverse=True)[1].reshape(-1)
            size = int(code.max()) + 1
        code, size = code * n + inverse, size * n
    if size > _CELLS * len(code):
        first, kind = np.unique(code, return_index=True, return_inverse=True)[1:]
        return first, kind.reshape(-1).astype(np.int64)
    seen = np.zeros(size, dtype=bool)
    seen[code] = True
    kind = (np.cumsum(seen) - 1)[code]
    first = np.empty(int(seen.sum()), dtype=np.int64)
    first[kind[::-1]] = np.arange(len(code))[::-1]
    return first, kind


class _Own(NamedTuple):
    """The part of the loss that rows have with any rates, `sum of d log(d/h)`, between two ends."""

    low: Fraction
    high: Fraction

    @property
    def middle(self) -> Fraction:
        return (self.low + self.high) / 2


class _Scale(NamedTuple):
    """Powers of two by which amounts and exposures are multiplied for engines, and what 1 means.

    `rate` is the rate of a quotient of 1.
    """

    amount: int
    exposure: int
    rate: Fraction


@dataclass(frozen=True)
class RateTask(LossTask):
    """Base class of tasks whose leaves predict a rate, or its inverse.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs
        See `PenalisedTask`. They are shares of the loss of a single leaf (`normaliser`).
    """

    leaf: ClassVar[LeafFunction] = staticmethod(_rate_loss)
    #: Natural units per unit of the loss above: 1, or 2 for a deviance.
    factor: ClassVar[int] = 1
    #: Whether a leaf predicts 1/θ.
    inverse: ClassVar[bool] = False

    @abstractmethod
    def rates(self, dataset: Dataset) -> Rates:
        """What is counted and how long rows were exposed; counts and weights are multiplied in."""

    @property
    def about_rates(self) -> Any:
        """What the rates depend on besides the dataset and the task's name."""
        return None

    def known_rates(self, dataset: Dataset) -> Rates:
        """What `rates` returns, computed once."""
        return self._kept(dataset, "rates", lambda: self.rates(dataset))  # type: ignore[no-any-return]

    def _own(self, dataset: Dataset) -> _Own:
        own = self._kept(dataset, "own", lambda: _own_losses(self.known_rates(dataset)))
        if max(abs(own.low), abs(own.high)) * self.factor > LARGEST:
            raise DataError(
                f"The losses of the task {self.name} are too large for doubles on these rows; divide targets or weights by a large number."
            )
        return own  # type: ignore[no-any-return]

    def _scale(self, dataset: Dataset) -> _Scale:
        return self._kept(dataset, "scale", lambda: _scale(self.known_rates(dataset)))  # type: ignore[no-any-return]

    def _kept(self, dataset: Dataset, what: str, make: Callable[[], Any]) -> Any:
        """What was computed of a dataset, once."""
        found = _known.setdefault(dataset, {})
        key = (self.name, self.about_rates, what)
        if key not in found:
            found[key] = make()
        return found[key]

    def normaliser(self, dataset: Dataset) -> Fraction:
        """The loss of a single leaf at its best rate, as a double; 1 if it is 0."""

        def of_one_leaf() -> Fraction:
            rates = self.known_rates(dataset)
            d, h = rates.total()
            own = {Fraction(d, h) for d, h in zip(rates.amounts, rates.exposures, strict=True) if h}
            if len(own) <= 1:
                return Fraction(1)
            D, H = d * rates.amount, h * rates.exposure
            return Fraction(
                float((self._own(dataset).middle - D * log_between(D / H)) * self.factor)
            )

        return self._kept(dataset, "normaliser", of_one_leaf)  # type: ignore[no-any-return]

    def parts(self, dataset: Dataset) -> LossParts:
        rates, own = self.known_rates(dataset), self._own(dataset)
        scale, many = self._scale(dataset), rates.many
        amounts, exposures, lost = _whole(rates, scale)
        high = log_units(scale.rate.numerator, scale.rate.denominator)[1]
        d, h = amounts.astype(float), np.maximum(exposures, 1).astype(float)
        # Of what engines add up, so that no rows cost less than nothing. The doubles are off by less
        # than `_ULPS` times 2^-53 of themselves, and are rounded up.
        each = times_log_quotient(d, h)
        each += np.abs(each) * 2.0**-49 + 2.0**-40
        total = own.low / rates.amount - rates.total()[0] * Fraction(high, 1 << BITS)
        # D log(H/D) is at most H/e, and at least the sum of d log(h/d) where that is negative.
        most = max(
            0.37 * float(many @ exposures),
            1.001 * float(many @ (d * np.log(np.maximum(d / h, 1.0)))),
            float(many @ np.abs(each)),
        )
        return LossParts(
            np.column_stack([exposures, amounts])[rates.kind],
            each[rates.kind],
            total * Fraction(2) ** scale.amount,
            rates.amount / Fraction(2) ** scale.amount * self.factor,
            float(many @ d) + most,
            _ULPS,
            lost,
        )

    def predictor(self, dataset: Dataset) -> Callable[[tuple[int, ...]], Any]:
        one = self._scale(dataset).rate

        def predicted(sums: tuple[int, ...]) -> float:
            exposure, amount = sums
            if not exposure:
                return 0.0
            # Quotients of integers are the nearest doubles.
            if self.inverse:
                return (exposure * one.denominator) / (amount * one.numerator)
            return (amount * one.numerator) / (exposure * one.denominator)

        return predicted

    def loss(self, routes: Routes, dataset: Dataset) -> tuple[Fraction, bool]:
        rates, logs = self.known_rates(dataset), 0
        sums = rates.summed(routes.leaf, routes.n_leaves)
        given = [self._rate_of(routes.actions[action]) for action in routes.leaf_actions]
        common = math.lcm(*(rate.denominator for rate in given))
        exposed = Fraction(
            sum(
                r.numerator * (common // r.denominator) * h
                for r, (_, h) in zip(given, sums, strict=True)
            ),
            common,
        )
        for (d, _), rate in zip(sums, given, strict=True):
            if d:
                least = rate or LEAST
                logs += d * sum(log_units(least.numerator, least.denominator))
        amount = sum(d for d, _ in sums) + Fraction(logs, 2 << BITS)
        total = self._own(dataset).middle + exposed * rates.exposure - amount * rates.amount
        return total * self.factor, False

    def _rate_of(self, predicted: Any) -> Fraction:
        """The rate that a leaf's prediction means."""
        if isinstance(predicted, (tuple, list)) or not math.isfinite(predicted) or predicted < 0:
            raise DataError(
                f"The model does not fit the task {self.name}: a leaf predicts {predicted!r}, and predictions are numbers of at least 0."
            )
        given = Fraction(predicted)
        return 1 / (given or LEAST) if self.inverse else given


_known: WeakKeyDictionary[Dataset, dict[Any, Any]] = WeakKeyDictionary()


def _own_losses(rates: Rates) -> _Own:
    """The constants of the rows, with few logarithms for all kinds of the same amount."""
    low, high, ratio = 0, 0, rates.amount / rates.exposure
    by_amount: dict[int, list[int]] = {}
    for k, d in enumerate(rates.amounts):
        if d:
            by_amount.setdefault(d, []).append(k)
    every = rates.many.tolist()
    for d, kinds in by_amount.items():
        many, some = ([of[k] for k in kinds] for of in (every, rates.exposures))
        rows, h = sum(many), some[0] if len(some) == 1 else 1
        ends = log_units(d * ratio.numerator, h * ratio.denominator)
        below, above = (0, 0) if len(some) == 1 else log_of_product(some, many)
        low, high = low + d * (rows * ends[0] - above), high + d * (rows * ends[1] - below)
    unit = rates.amount / (1 << BITS)
    return _Own(low * unit, high * unit)


def _scale(rates: Rates) -> _Scale:
    """Scales with which all amounts, and all exposures, add up to nearly 2^51."""
    amount, exposure = (_BITS - max(total, 1).bit_length() for total in rates.total())
    rate = rates.amount / rates.exposure * Fraction(2) ** (exposure - amount)
    return _Scale(amount, exposure, rate)


def _whole(rates: Rates, scale: _Scale) -> tuple[np.ndarray, np.ndarray, float]:
    """What engines add up for every kind of row, and how much rounding can add to a tree.

    At the rates θ of a tree, changes Δd and Δh of the sums of its leaves cost no more than
    θ·Δh - Δd·(log θ + 1). No rate is larger than that of some row, nor smaller than the least amount
    by all exposure; exposures are only enlarged where they would be 0. Amounts are rounded down by
    less than 1.
    """
    amounts = np.array(_shifted(rates.amounts, scale.amount), dtype=np.int64)
    exposures = np.array(_shifted(rates.exposures, scale.exposure), dtype=np.int64)
    if scale.exposure < 0:
        counts = np.array(list(map(bool, rates.exposures)))
        exposures = np.maximum(exposures, counts)
    moved = int(rates.many @ (amounts > 0)) if scale.amount < 0 else 0
    grown = int(rates.many[exposures == 1].sum()) if scale.exposure < 0 else 0
    if not any(rates.amounts) or not (moved or grown):
        return amounts, exposures, 0.0
    some = [(d, h) for d, h in zip(rates.amounts, rates.exposures, strict=True) if d]
    # Quotients of integers are off by 2^-53 of themselves, and 1.001 below is more.
    most = float(
        Fraction(max(d / h for d, h in some)) * Fraction(2) ** (scale.amount - scale.exposure)
    )
    least = float(min(d for d, _ in some) * Fraction(2) ** (scale.amount - _BITS))
    steep = 1 + max(abs(math.log(most)), abs(math.log(least)))
    return amounts, exposures, 1.001 * (moved * steep + grown * most)


def _shifted(whole: list[int], power: int) -> list[int]:
    """Whole numbers times a power of two, rounded down."""
    return [x << power for x in whole] if power >= 0 else [x >> -power for x in whole]
