"""What is asked of a counterfactual: a row, what may change, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.exact import fraction
from milp_trees.counterfactuals.columns import Choices, Column, Numbers
from milp_trees.data.checks import as_array, missing_in, some
from milp_trees.data.feature import BinaryFeature
from milp_trees.data.names import as_pandas
from milp_trees.data.scales import measured, spelled

if TYPE_CHECKING:
    import pandas as pd

NORMS = ("l1", "l0", "weighted")
#: Directions in which a column may change.
DIRECTIONS = ("up", "down")
DAY = 86400


@dataclass(frozen=True)
class Wishes:
    """What a user allows and prices.

    Parameters
    ----------
    norm : {"l1", "l0", "weighted"}
    weights : mapping of str to Fraction
        Price of a change by 1 (or of another category), per column; of the norm "weighted".
    immutable : frozenset of str
        Columns that keep their value.
    monotone : mapping of str to {"up", "down"}
        Columns that change in one direction only.
    bounds : mapping of str to (low, high)
        Least and largest number, in original form; None where there is none.
    steps : mapping of str to Fraction or None
        Columns whose numbers are multiples of a step; None: any number.
    missing : bool
        Whether a value may become missing.
    """

    norm: str
    weights: Mapping[str, Fraction]
    immutable: frozenset[str]
    monotone: Mapping[str, str]
    bounds: Mapping[str, tuple[Any, Any]]
    steps: Mapping[str, Fraction | None]
    missing: bool

    @classmethod
    def of(
        cls,
        norm: str,
        weights: Mapping[str, Any] | None,
        immutable: Sequence[str] | str,
        monotone: Mapping[str, str],
        bounds: Mapping[str, Any],
        steps: Mapping[str, Any],
        missing: bool,
    ) -> Wishes:
        """The wishes of a call, checked one by one."""
        if norm not in NORMS:
            raise DataError(f"norm is one of {', '.join(NORMS)}; got {norm!r}.")
        if (norm == "weighted") != bool(weights):
            raise DataError(
                "The norm 'weighted' needs weights={column: price of a change by 1}, and the other norms take none."
            )
        for what, given in (
            ("weights", weights or {}),
            ("monotone", monotone),
            ("bounds", bounds),
            ("steps", steps),
        ):
            if not isinstance(given, Mapping):
                raise DataError(
                    f"{what} must map names of columns to what is wished of each, as {{'age': …}}; got {given!r}."
                )
        prices = {str(c): fraction(w, f"the weight of {c}") for c, w in (weights or {}).items()}
        for name, price in prices.items():
            if price < 0:
                raise DataError(f"The weight of {name!r} is {float(price):g}; give 0 or more.")
        for name, direction in monotone.items():
            if direction not in DIRECTIONS:
                raise DataError(
                    f"The column {name!r} is to change {direction!r}; write 'up' or 'down'."
                )
        fixed = [immutable] if isinstance(immutable, str) else immutable
        grids = {
            str(c): None if s is None else fraction(s, f"the step of {c}") for c, s in steps.items()
        }
        for name, step in grids.items():
            if step is not None and step < 0:
                raise DataError(f"The step of {name!r} is negative; give a positive number.")
        for name, pair in bounds.items():
            if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
                raise DataError(
                    f"The bounds of {name!r} are a pair (least, largest), None for no limit; got {pair!r}."
                )
        return cls(
            norm,
            prices,
            frozenset(map(str, fixed)),
            {str(c): d for c, d in monotone.items()},
            {str(c): tuple(pair) for c, pair in bounds.items()},
            {c: step or None for c, step in grids.items()},
            missing,
        )

    def check(self, names: Sequence[str]) -> None:
        """Raise DataError if a wish is about a column that neither the row nor the model has."""
        for what, given in (
            ("immutable", self.immutable),
            ("monotone", self.monotone),
            ("weights", self.weights),
            ("bounds", self.bounds),
            ("steps", self.steps),
        ):
            for name in given:
                if name not in names:
                    raise DataError(
                        f"{what} names the column {name!r}, and no column is called so; the columns are {some(map(repr, names))}."
                    )

    def price(self, name: str, span: Fraction) -> Fraction | None:
        """Price of a change by 1, given the range of the data; None if all cost the same."""
        if self.norm == "l0":
            return None
        if self.norm == "l1":
            return 1 / span
        return self.other(name)

    def other(self, name: str) -> Fraction:
        """Price of another category, or of filling in a missing value."""
        if self.norm != "weighted":
            return Fraction(1)
        if name not in self.weights:
            raise DataError(
                f"weights has no price for the column {name!r}, which the model asks for; add one, or name the column in immutable."
            )
        return self.weights[name]


def one_row(row: Any) -> pd.DataFrame:
    """A row in any form as a DataFrame of one row, whose columns keep their types."""
    import pandas as pd

    if isinstance(row, (str, Path)):
        raise DataError(
            f"The row is a mapping, a Series, a table of one row or an array; got the text {str(row)!r}, so read the file first, as with pandas.read_csv."
        )
    row = as_pandas(row)
    if hasattr(row, "columns"):
        frame = row.reset_index(drop=True)
    elif hasattr(row, "to_frame") or isinstance(row, Mapping):
        values = {str(c): v for c, v in dict(row).items()}
        frame = pd.DataFrame({c: as_array(_listed(v)) for c, v in values.items()})
    else:
        array = np.asarray(row)
        frame = pd.DataFrame(array.reshape(1, -1) if array.ndim == 1 else array)
    if len(frame) != 1:
        raise DataError(f"A counterfactual is that of one row; {len(frame)} rows are given.")
    return frame


def _listed(value: Any) -> Any:
    return (
        value if isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "iloc") else [value]
    )


def column_of(
    name: str, tests: Sequence[BinaryFeature], own: Any, data: Any, wishes: Wishes
) -> Column:
    """The values that a column may take, with their prices.

    Parameters
    ----------
    name : str
    tests : sequence of BinaryFeature
        What a model asks of the column.
    own : array of shape (1,)
        The value of the row.
    data : array of shape (n,) or None
        The column in the data.
    wishes : Wishes

    Returns
    -------
    Column
    """
    kinds = {t.kind for t in tests} - {"missing"}
    orders = {t.order for t in tests if t.kind == "<="}
    if len(kinds) > 1 or len(orders) > 1:
        raise Unsupported(
            f"The column {name!r} is asked in two ways ({' and '.join(sorted(kinds))}), so there is no one distance of its values; rename one of both."
        )
    own = as_array(own)
    if data is not None:
        data = as_array(data)
        data = data[~missing_in(data)]
    if kinds == {"<="}:
        return _numbers(name, tests, own, data, wishes)
    return _choices(name, tests, own, data, wishes)


def _numbers(
    name: str, tests: Sequence[BinaryFeature], own: Any, data: Any, wishes: Wishes
) -> Numbers:
    asked = [t for t in tests if t.kind == "<="]
    places, order, dated = [t.value for t in asked], asked[0].order, asked[0].dated

    def numbers(values: Any) -> np.ndarray:
        try:
            return measured(values, places, order)
        except (ValueError, TypeError) as error:
            what = "times" if dated else "numbers"
            raise DataError(
                f"The column {name!r} holds {what}, and {values[0]!s} is given; give the value, the data and the bounds of this column as {what}."
            ) from error

    there = not missing_in(own)[0]
    number = float(numbers(own)[0]) if there else None
    known = None if data is None or not len(data) else numbers(data)
    unit = Fraction(DAY if dated else 1)
    low, high = -math.inf, math.inf
    if order:
        low, high = 0.0, float(len(order) - 1)
    elif known is not None:
        low, high = float(known.min()), float(known.max())
    if name in wishes.bounds:
        ends = wishes.bounds[name]
        low = low if ends[0] is None else float(numbers(as_array([ends[0]]))[0])
        high = high if ends[1] is None else float(numbers(as_array([ends[1]]))[0])
        if not low <= high:
            raise DataError(
                f"The bounds of the column {name!r} leave no value: {ends[0]} to {ends[1]}; give the least first."
            )
    steady = name in wishes.immutable or (name in wishes.monotone and not there)
    if steady:
        low, high = (math.inf, -math.inf) if number is None else (number, number)
    elif number is not None and wishes.monotone.get(name) == "up":
        low = max(low, number)
    elif number is not None and wishes.monotone.get(name) == "down":
        high = min(high, number)
    span = Fraction(0) if known is None else Fraction(known.max()) - Fraction(known.min())
    if order and known is not None:
        span = Fraction(len(order) - 1)
    price = None if steady else wishes.price(name, span or unit)
    return Numbers(
        name,
        number,
        low,
        high,
        step=_step(name, own, number, known, unit, bool(order), wishes),
        price=price if price is None or wishes.norm != "weighted" else price / unit,
        other=Fraction(1) if steady else wishes.other(name),
        missing=not steady and wishes.missing and name not in wishes.monotone,
        dated=dated,
        order=order,
    )


def _step(
    name: str,
    own: np.ndarray,
    number: float | None,
    known: np.ndarray | None,
    unit: Fraction,
    ordered: bool,
    wishes: Wishes,
) -> Fraction | None:
    """The step of a column: the stated one, or 1 (a day) if its values are whole numbers (days)."""
    if ordered:
        return Fraction(1)
    if name in wishes.steps:
        given = wishes.steps[name]
        return None if given is None else given * unit
    values = np.array([] if number is None else [number]) if known is None else known
    if unit == DAY:
        return unit if not (values % DAY).any() else Fraction(1)
    if known is None and own.dtype.kind not in "iu":
        return None
    return Fraction(1) if len(values) and not (values % 1).any() else None


def _choices(
    name: str, tests: Sequence[BinaryFeature], own: Any, data: Any, wishes: Wishes
) -> Choices:
    for what, given in (("bounds", wishes.bounds), ("steps", wishes.steps)):
        if name in given:
            raise DataError(
                f"{what} are those of columns of numbers, and the column {name!r} holds categories, or yes and no; name it in immutable to keep its value."
            )
    there = not missing_in(own)[0]
    value = own.tolist()[0] if there else None
    kept = [value]
    rank = _rank(name, tests, value, wishes)
    if name not in wishes.immutable and not (name in wishes.monotone and not there):
        kept += [v for v in _values(tests, value, data) if rank is None or rank(v)]
        answers = all(t.kind == "missing" or t.missing is not None for t in tests)
        if there and wishes.missing and answers and name not in wishes.monotone:
            kept.append(None)
    price = Fraction(0) if len(kept) == 1 else wishes.other(name)
    return Choices(name, tuple(kept), (Fraction(0), *[price] * (len(kept) - 1)), value)


def _values(tests: Sequence[BinaryFeature], own: Any, data: Any) -> list[Any]:
    """The values other than that of the row: 0 and 1, or the known categories."""
    if any(t.kind == "is" for t in tests):
        kind = type(own) if isinstance(own, (bool, int, float)) else int
        return [kind(v) for v in (0, 1) if own is None or v != own]
    seen = {} if own is None else {spelled(as_array([own]))[0]: own}
    first = set(seen)
    for v in [] if data is None else dict.fromkeys(data.tolist()):
        seen.setdefault(spelled(as_array([v]))[0], v)
    out = [v for text, v in seen.items() if text not in first]
    for t in tests:
        if t.kind == "==" and not any(t.answer(v) for v in seen.values()):
            out.append(seen.setdefault(str(t.value), str(t.value)))
    return out


def _rank(name: str, tests: Sequence[BinaryFeature], own: Any, wishes: Wishes) -> Any:
    """Whether a value lies in the direction in which a yes/no column may change."""
    direction = wishes.monotone.get(name)
    if direction is None:
        return None
    if not any(t.kind == "is" for t in tests):
        raise DataError(
            f"The column {name!r} holds categories without an order, so it changes neither up nor down; take it out of monotone."
        )
    return lambda v: own is None or (v > own if direction == "up" else v < own)
