r"""`Surd`: numbers :math:`r + s\sqrt{q}` with rational r, q and a sign s, compared exactly.

Some metrics of a confusion matrix are square roots of rationals (Matthews' coefficient, the
geometric mean of two rates); with a penalty per leaf a rational is added. Two such numbers are
compared by squaring twice, in integers, so rounding decides neither a tie nor a near-tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering

#: Floating-point values with a larger difference are compared without squaring; their rounding
#: errors are a thousand times smaller.
CLEAR = 1e-9


@total_ordering
@dataclass(frozen=True, eq=False)
class Surd:
    r"""The number `rational` + sign(`square`) · √\|`square`\|.

    Parameters
    ----------
    rational : Fraction
    square : Fraction
        The signed square of the irrational part.

    Examples
    --------
    >>> Surd(Fraction(1), Fraction(1, 2)) < Surd(Fraction(2), Fraction(-1, 12))
    True
    """

    rational: Fraction
    square: Fraction = Fraction(0)

    def __float__(self) -> float:
        if not self.square:
            return float(self.rational)
        return float(self.rational) + math.copysign(math.sqrt(abs(self.square)), self.square)

    def __add__(self, other: Fraction) -> Surd:
        return Surd(self.rational + other, self.square)

    def __neg__(self) -> Surd:
        return Surd(-self.rational, -self.square)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surd) and sign_of_difference(self, other) == 0

    def __lt__(self, other: Surd) -> bool:
        return sign_of_difference(self, other) < 0

    def __gt__(self, other: Surd) -> bool:
        return sign_of_difference(self, other) > 0

    @property
    def exact(self) -> Fraction | None:
        """The number as a rational, or None if it is irrational."""
        over, under = math.isqrt(abs(self.square).numerator), math.isqrt(self.square.denominator)
        if Fraction(over * over, under * under) != abs(self.square):
            return None
        return self.rational + (
            Fraction(over, under) if self.square > 0 else -Fraction(over, under)
        )


def sign_of_difference(a: Surd, b: Surd) -> int:
    """The sign of a − b."""
    apart = float(a) - float(b)
    if abs(apart) > CLEAR * max(1.0, abs(float(a.rational)), abs(float(b.rational))):
        return 1 if apart > 0 else -1
    rational, roots = a.rational - b.rational, _sign(a.square - b.square)
    if not rational or not roots or _sign(rational) == roots:
        return _sign(rational) or roots
    # The two parts have opposite signs, so the larger one decides. The sign follows from
    # (√x − √y)² − r² = (x + y − r²) − 2 √(xy), with the signs of the roots.
    u = abs(a.square) + abs(b.square) - rational**2
    product = a.square * b.square
    return roots * _sign(_signed_square(u) - 4 * product)


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def _signed_square(x: Fraction) -> Fraction:
    return x * abs(x)
