"""Values and bounds compared: exactly where both are exact, and otherwise to a stated tolerance.

Every part that puts a bound beside a value, or a value beside another one, asks here.
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

from milp_trees.tasks.base import Value
from milp_trees.tasks.views import Scale

#: A number in natural units. A rational is exact. A float is correct up to rounding, or a number of
#: a solver.
Number: TypeAlias = Value | Fraction | int | float

#: Share by which a solver's own numbers, such as the bound of a root node, may be off. Where values
#: are exact such a number is never off by half a unit.
SOLVER_SLACK, HALF = 1e-6, Fraction(1, 2)
#: Up to here a float differs from the next one by less than a whole number.
WHOLE = 2.0**52
#: Share of a natural number by which a float of it may be off: it was rounded a few times.
ROUNDED = Fraction(1, 2**50)


def exact_value(value: Number) -> Fraction:
    """A value as a rational; a measured one is the rational that its float is."""
    if isinstance(value, Value):
        return Fraction(value.number) if value.exact is None else value.exact
    return Fraction(value)


def units(value: Number, scale: Scale) -> Fraction:
    """A value in the units of a scale, which are always minimised."""
    return scale.from_value(exact_value(value))


def slack(scale: Scale, *numbers: Number) -> Fraction:
    """The difference in units up to which numbers count as equal."""
    if scale.exact and all(_is_exact(number) for number in numbers):
        return Fraction(0)
    if not scale.exact:
        return Fraction(scale.tolerance)
    own, zero = [units(number, scale) for number in numbers], scale.from_value(0)
    return ROUNDED * max(abs(u - zero) for u in own) + solver_slack(scale, *own)


def solver_slack(scale: Scale, *own: Fraction | float) -> Fraction:
    """The difference in units up to which a solver's number equals another one."""
    share = Fraction(SOLVER_SLACK) * max([Fraction(1), *(abs(Fraction(u)) for u in own)])
    return min(share, HALF) if scale.exact else max(Fraction(scale.tolerance), share)


def crosses(bound: Number | None, value: Number | None, scale: Scale) -> bool:
    """Whether a value is better than a bound allows."""
    if bound is None or value is None:
        return False
    above = units(bound, scale) - units(value, scale)
    return above > slack(scale, bound, value)


def floats_cross(bound: float, value: float) -> bool:
    """As `crosses`, for the minimised numbers of stored rows, of which no scale is known.

    Whole numbers are compared exactly as far as floats tell them apart.
    """
    whole = float(bound).is_integer() and float(value).is_integer() and abs(value) < WHOLE
    return bound > value if whole else bound - value > SOLVER_SLACK * max(1.0, abs(value))


def meets(bound: Number, value: Number, scale: Scale) -> bool:
    """Whether no value is better than this one by the bound, up to the stated tolerance."""
    left_open = units(value, scale) - units(bound, scale)
    most = getattr(scale, "most_open", None)
    return left_open <= slack(scale, bound, value) and (most is None or left_open <= most)


def equal(a: Number, b: Number, scale: Scale) -> bool:
    """Whether two values count as equal."""
    return abs(units(a, scale) - units(b, scale)) <= slack(scale, a, b)


def _is_exact(number: Number) -> bool:
    if isinstance(number, Value):
        return number.exact is not None
    return isinstance(number, Rational)
