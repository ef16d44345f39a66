"""What a column may hold in a counterfactual, and the exact price of every value.

A column holds numbers (also times, in seconds since 1970) or one of finitely many choices. A set of
values that a model tells apart from the others is a `Span` of numbers, or a set of choices; the
nearest value of such a set, and its price, are found in closed form. Prices are rationals, so two
sets are compared without a tolerance.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from milp_trees.data.feature import BinaryFeature


class Found(NamedTuple):
    """A value, whether it is another one than that of the row, and the price of the change."""

    value: Any
    changed: bool
    price: Fraction


class Span(NamedTuple):
    """Numbers from `low` to `high`, none if `low > high`, and perhaps a missing value."""

    low: float
    high: float
    missing: bool


class Column(ABC):
    """A column of the table: the values that it may take, and what they cost."""

    name: str

    @property
    @abstractmethod
    def original_own(self) -> Any:
        """The value of the row in its original form; None if it is missing."""

    @property
    @abstractmethod
    def whole(self) -> Any:
        """The set of all values that are allowed."""

    @abstractmethod
    def where(self, held: Any, test: BinaryFeature, answer: bool) -> Any:
        """The values of a set on which a test has an answer; None if there are none."""

    @abstractmethod
    def nearest(self, held: Any) -> Found:
        """The cheapest value of a set that is not empty."""

    @abstractmethod
    def parts(self, tests: Sequence[BinaryFeature]) -> dict[Any, Found]:
        """The nearest value of every set that the tests tell apart, None for a missing value.

        Numbers are divided into intervals, numbered from the lowest; sets without a value are left
        out.
        """

    @abstractmethod
    def candidates(self, tests: Sequence[BinaryFeature]) -> list[Found]:
        """Values among which is a cheapest one for every combination of answers to the tests."""


@dataclass(frozen=True)
class Choices(Column):
    """A column with finitely many values: categories, yes or no, places in an order.

    Parameters
    ----------
    name : str
    values : tuple
        The values that are allowed, in original form; None for a missing value.
    prices : tuple of Fraction
        Price of each.
    own : object
        The value of the row.
    """

    name: str
    values: tuple[Any, ...]
    prices: tuple[Fraction, ...]
    own: Any = None

    @property
    def original_own(self) -> Any:
        return self.own

    @property
    def whole(self) -> frozenset[int]:
        return frozenset(range(len(self.values)))

    def where(
        self, held: frozenset[int], test: BinaryFeature, answer: bool
    ) -> frozenset[int] | None:
        yes = self._answers.get(test)
        if yes is None:
            # A column is one type to `evaluate`; alone each value is compared as it is.
            yes = frozenset(k for k, v in enumerate(self.values) if test.answer(v))
            self._answers[test] = yes
        return (held & yes if answer else held - yes) or None

    @cached_property
    def _answers(self) -> dict[BinaryFeature, frozenset[int]]:
        return {}

    def _found(self, k: int) -> Found:
        value = self.values[k]
        return Found(value, not _same(value, self.own), self.prices[k])

    def nearest(self, held: frozenset[int]) -> Found:
        return min((self._found(k) for k in sorted(held)), key=lambda f: (f.price, f.changed))

    def parts(self, tests: Sequence[BinaryFeature]) -> dict[Any, Found]:
        return {k: self._found(k) for k in range(len(self.values))}

    def candidates(self, tests: Sequence[BinaryFeature]) -> list[Found]:
        return [self._found(k) for k in range(len(self.values))]


@dataclass(frozen=True)
class Numbers(Column):
    """A column of numbers or times.

    Parameters
    ----------
    name : str
    own : float or None
        The number of the row.
    low, high : float
        Least and largest number that is allowed besides the row's own.
    step : Fraction or None
        All numbers but the row's own are multiples of it; None: every double is allowed.
    price : Fraction or None
        Price of a change by 1; None: every change has the price `other`.
    other : Fraction
        Price of a change from or to a missing value.
    missing : bool
        Whether the value may be missing, which it always may be if it is.
    dated : bool
        Whether the numbers are times in seconds since 1970.
    order : tuple of str
        The categories if the numbers are places in an order, the lowest first.
    """

    name: str
    own: float | None
    low: float
    high: float
    step: Fraction | None = None
    price: Fraction | None = None
    other: Fraction = Fraction(1)
    missing: bool = False
    dated: bool = False
    order: tuple[str, ...] = ()

    #: No number, and no missing value.
    NOTHING: ClassVar[Span] = Span(math.inf, -math.inf, False)

    @property
    def original_own(self) -> Any:
        return self.original(self.own)

    @cached_property
    def whole(self) -> Span:
        low, high = self.low, self.high
        if self.own is not None:
            low, high = min(low, self.own), max(high, self.own)
        return Span(low, high, self.missing or self.own is None)

    def where(self, held: Span, test: BinaryFeature, answer: bool) -> Span | None:
        if test.kind == "missing":
            out = held._replace(missing=False)
            if answer:
                out = self.NOTHING._replace(missing=held.missing)
        else:
            missing = held.missing and test.missing is not None
            out = held._replace(missing=missing and (test.missing == "yes") == answer)
            if answer:
                out = out._replace(high=min(out.high, test.place))
            else:
                out = out._replace(low=max(out.low, math.nextafter(test.place, math.inf)))
        return None if self._cheapest(out) is None else out

    def nearest(self, held: Span) -> Found:
        found = self._cheapest(held)
        assert found is not None, "sets without a value are not kept"
        return found

    def parts(self, tests: Sequence[BinaryFeature]) -> dict[Any, Found]:
        limits = sorted({t.place for t in tests if t.kind == "<="})
        starts = [-math.inf, *(math.nextafter(t, math.inf) for t in limits)]
        out: dict[Any, Found] = {}
        for k, (low, high) in enumerate(zip(starts, [*limits, math.inf], strict=True)):
            found = self._cheapest(Span(low, high, False))
            if found is not None:
                out[k] = found
        answers = all(t.kind == "missing" or t.missing is not None for t in tests)
        if self.whole.missing and answers:
            out[None] = self._at(None)
        return out

    def candidates(self, tests: Sequence[BinaryFeature]) -> list[Found]:
        ends = {self.low, self.high, *([0.0] if self.own is None else [self.own])}
        for test in tests:
            if test.kind == "<=":
                ends |= {test.place, math.nextafter(test.place, math.inf)}
        numbers = {x for end in ends for x in (self._up(end), self._down(end)) if x is not None}
        numbers |= set() if self.own is None else {self.own}
        inside = [x for x in sorted(numbers) if self._allowed(x)]
        out = [self._at(x) for x in inside]
        return out + ([self._at(None)] if self.whole.missing else [])

    # -- one value ---------------------------------------------------------------------------------

    def _at(self, number: float | None) -> Found:
        """A number, or a missing value, with its price."""
        if number == self.own:
            return Found(self.original(self.own), False, Fraction(0))
        if number is None or self.own is None or self.price is None:
            return Found(self.original(number), True, self.other)
        off = abs(Fraction(number) - Fraction(self.own))
        return Found(self.original(number), True, off * self.price)

    def _cheapest(self, held: Span) -> Found | None:
        """The cheapest value of a set; None if it is empty."""
        options = [self._at(None)] if held.missing else []
        own = self.own
        if own is not None and held.low <= own <= held.high:
            return self._at(own)
        low, high = max(held.low, self.low), min(held.high, self.high)
        if low <= high:
            number = self._down(high) if own is None or high < own else self._up(low)
            if own is None and number == math.inf:
                number = self._up(low) if math.isfinite(low) else 0.0
            if number is not None and low <= number <= high and math.isfinite(number):
                options.append(self._at(number))
        return min(options, key=lambda f: f.price, default=None)

    def _allowed(self, number: float) -> bool:
        return number == self.own or (self.low <= number <= self.high and math.isfinite(number))

    def _up(self, number: float) -> float | None:
        """The least allowed number that is at least as large; None if there is none."""
        if self.step is None or not math.isfinite(number):
            return number
        k = math.ceil(Fraction(number) / self.step)
        # Multiples are rounded to doubles, so that one below may be the number itself.
        return next(
            (x for x in (_multiple(k + d, self.step) for d in (-1, 0)) if x >= number), None
        )

    def _down(self, number: float) -> float | None:
        """The largest allowed number that is at most as large; None if there is none."""
        if self.step is None or not math.isfinite(number):
            return number
        k = math.floor(Fraction(number) / self.step)
        return next((x for x in (_multiple(k + d, self.step) for d in (1, 0)) if x <= number), None)

    def original(self, number: float | None) -> Any:
        """A number in the form in which the table has it: a time, a category, or a whole number."""
        if number is None:
            return None
        if self.order:
            return self.order[int(number)]
        if self.dated:
            import pandas as pd

            return pd.Timestamp(np.datetime64(round(Fraction(number) * 10**6), "us"))
        whole = self.step is not None and self.step.denominator == 1 and number == int(number)
        return int(number) if whole else number


def _multiple(k: int, step: Fraction) -> float:
    return float(k * step)


def _same(a: Any, b: Any) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and bool(a == b))
