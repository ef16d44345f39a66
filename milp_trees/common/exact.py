"""Exact integers for costs: rationals if the data are rational, a stated grid otherwise.

A cost that a person wrote (`0.25`, `1/3` given as a Fraction, a count) has a short decimal or
fractional form; all costs are then multiplied by their common denominator and become integers.
A float of 2^53 or more is the whole number that it holds.
Measured floats (outcomes, propensities) have no short form. Their differences from the row's
cheapest cost are then rounded to a grid with `STEPS` steps in the largest difference (`on_grid`;
the size of the costs themselves does not matter), and what is computed from them is marked inexact.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError

#: Largest total objective in integer units for decimals and fractions: with more digits, floats are
#: taken as measured, and solvers with tolerances could call nothing optimal.
LIMIT = 10**11
#: Largest total of whole numbers, which are exact as far as 64 bits carry: sums of a few such totals
#: do not overflow. Engines whose own numbers are larger than the costs refuse before that, in a
#: sentence.
WHOLE = 2**59
#: Number of steps over the whole range, for measured floats that are no costs (weights).
GRID = 2**31
#: Least number of steps in the largest cost above the cheapest, for measured costs.
STEPS = 2**24
#: From here on floats are whole numbers, and their shortest texts may be others.
ALL_WHOLE = 2.0**53
#: If a penalty is more than this factor larger than the largest cost, the grid follows the penalty.
PENALTY_STEPS = 2**10
#: Number of first entries that are examined to recognise measured floats.
FEW = 64
#: Largest number of digits (or exponent) of a number that is given as text.
MOST_DIGITS = 1000
#: Two values of an inexact objective are equal if they differ by less than this share of its whole
#: range.
INEXACT_TOLERANCE = 1e-6


def read_number(kind: Any, text: str) -> Any:
    """The int or float that a text means; underscores, which Python allows, are refused."""
    if "_" in text:
        raise ValueError(f"{text!r} has an underscore")
    return kind(text)


def fraction(number: Any, name: str = "number") -> Fraction:
    """The rational that a written number means: 0.005 is 1/200, and not the nearest double."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, str):
        try:
            if (
                len(number) > MOST_DIGITS
                or "_" in number
                or abs(int(number.lower().partition("e")[2] or 0)) > MOST_DIGITS
            ):
                raise ValueError("too long")  # 1e9999999 would take a minute
            found = Fraction(number)
            float(found)  # raises an error if no double can show the value
            return found
        except (ValueError, ArithmeticError):
            if len(number) > 40:
                number = f"{number[:40]}…"
            raise DataError(
                f"{name} must be a number such as 0.01 or 1/200; got {number!r}."
            ) from None
    try:
        value = float(number)
    except OverflowError:
        raise DataError(
            f"{name} must be a number of ordinary size; got one of more than 300 digits."
        ) from None
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a number such as 0.01; got {number!r}.") from None
    if isinstance(number, (int, np.integer)):
        return Fraction(int(number))
    if not math.isfinite(value):
        raise DataError(f"{name} must be finite; got {value}.")
    return Fraction(value) if abs(value) >= ALL_WHOLE else Fraction(Decimal(repr(value)))


def integers(
    array: np.ndarray, kind: np.ndarray | None = None, rows: int = 0
) -> tuple[np.ndarray, Fraction, bool]:
    """Write an array of costs as `scale * whole` with 64-bit integers `whole`.

    Parameters
    ----------
    array : float or int array
        Costs in natural units; an object array may hold Fractions.
    kind : int array, optional
        The costs are those of `array[kind]`, whose rows need not be written out; costs of kinds
        that do not occur have no influence, and become zeros.
    rows : int, default=0
        Number of rows that are added up, if some entries stand for several rows.

    Returns
    -------
    whole : int64 array of the same shape
        The integers.
    scale : Fraction
        Natural units per integer unit.
    exact : bool
        False if the costs had to be rounded to a grid.
    """
    n = max(1, rows, len(np.atleast_1d(array)) if kind is None else len(kind))
    if kind is not None:
        occurs = np.bincount(kind, minlength=len(array)) > 0
        array = array if occurs.all() else np.where(occurs[:, None], array, 0)
    flat = np.asarray(array).ravel()
    if flat.dtype == np.int64:
        largest = max(int(flat.max(initial=0)), -int(flat.min(initial=0)))
        common = int(np.gcd.reduce(flat)) or 1
        if largest // common * n > WHOLE:
            raise _too_large(largest, n)
        return (flat // common).reshape(np.shape(array)), Fraction(common), True
    if flat.dtype == object or _rationals(flat[:FEW]) is not None:
        values, where = (
            np.unique(flat, return_inverse=True) if flat.dtype != object else _unique_objects(flat)
        )
        short = _rationals(values)
        if short is not None:
            denominator = math.lcm(*(f.denominator for f in short)) if short else 1
            numerators = [f.numerator * (denominator // f.denominator) for f in short]
            common = math.gcd(*numerators) or 1
            largest = max((abs(v) for v in numerators), default=0) // common
            if largest * n <= (WHOLE if denominator == 1 else LIMIT):
                whole = np.array([v // common for v in numerators], dtype=np.int64)[where]
                return whole.reshape(np.shape(array)), Fraction(common, denominator), True
            if all(isinstance(v, (int, np.integer)) for v in values):
                raise _too_large(largest, n)
    numbers = flat.astype(float)
    spread = float(np.abs(numbers).max(initial=0.0)) * n
    # With a power of two as grid the scaled doubles stay exact.
    step = Fraction(2) ** math.ceil(math.log2(spread / GRID)) if spread > 0 else Fraction(1)
    return np.rint(numbers / float(step)).astype(np.int64).reshape(np.shape(array)), step, False


def _too_large(largest: int, n: int) -> DataError:
    return DataError(
        f"Whole numbers of up to {largest:.6g} on {n} rows sum to more than 2^59, which 64 bits do"
        " not carry exactly; divide them by a common factor, or give them as floats, which are rounded."
    )


def on_grid(
    regret: np.ndarray, counts: np.ndarray, penalty: float
) -> tuple[np.ndarray, Fraction, float]:
    """Measured costs above each row's cheapest as integer numbers of steps.

    There are at least `STEPS` of them in the largest cost, and so many that rounding all rows
    changes a sum by less than half of the `INEXACT_TOLERANCE` of the whole range.

    Parameters
    ----------
    regret : float array of shape (n, K)
        The costs.
    counts : int array of shape (n,)
        Number of original rows that a row stands for.
    penalty : float
        The largest penalty on the same scale; it too should be a reasonable number of steps.

    Returns
    -------
    whole : int64 array of shape (n, K)
        The numbers of steps.
    step : Fraction
        A power of two, so that the scaled doubles stay exact.
    error : float
        How much rounding can change a sum over all rows, in steps.
    """
    largest = max(float(regret.max(initial=0.0)), penalty / PENALTY_STEPS)
    power = math.ceil(math.log2(largest / STEPS)) if largest > 0 else 0
    mean = float(regret.max(axis=1, initial=0.0) @ counts) / max(1, int(counts.sum()))
    if mean > 0:
        finest = max(INEXACT_TOLERANCE * mean, penalty / LIMIT)
        power = min(power, math.floor(math.log2(finest)))
    scaled = np.ldexp(regret, -power)
    whole = np.rint(scaled)
    error = float(np.abs(whole - scaled).max(axis=1, initial=0.0) @ counts)
    return whole.astype(np.int64), Fraction(2) ** power, error


def _unique_objects(flat: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Distinct values and their positions; an object that occurs often is hashed only once."""
    objects = flat.tolist()
    once = {id(o): o for o in objects}
    seen: dict[Any, int] = {}
    place = {key: seen.setdefault(o, len(seen)) for key, o in once.items()}
    where = np.fromiter(map(place.__getitem__, map(id, objects)), np.int64, len(objects))
    return list(seen), where


def _rationals(values: Any) -> list[Fraction] | None:
    """The short rational form of every value; None if a value has more than nine digits."""
    out = []
    for v in values:
        f = v if isinstance(v, Fraction) else fraction(v, "cost")
        if f.denominator > 10**9 and not isinstance(v, Fraction):
            return None
        out.append(f)
    return out


def common_unit(numbers: list[Fraction]) -> Fraction:
    """The largest rational of which every number is an integer multiple (zeros ignored)."""
    unit = Fraction(0)
    for x in set(numbers):
        if x:
            unit = (
                abs(x)
                if not unit
                else Fraction(
                    math.gcd(unit.numerator * x.denominator, abs(x.numerator) * unit.denominator),
                    unit.denominator * x.denominator,
                )
            )
    return unit or Fraction(1)


def rescale(
    whole: np.ndarray, scale: Fraction, leaf: Fraction, splits: list[Fraction], unit: Fraction
) -> tuple[np.ndarray, Fraction, list[Fraction]]:
    """Costs and penalties as integer multiples of `unit`."""
    if not whole.any():  # zeros need no factor
        return whole, leaf / unit, [s / unit for s in splits]
    factor = scale / unit
    if float(np.abs(whole).sum(dtype=float)) * float(factor) > WHOLE:
        raise DataError(
            "Costs and penalties have no common unit of reasonable size; round the penalties (for example to three decimals)."
        )
    return whole * int(factor), leaf / unit, [s / unit for s in splits]
