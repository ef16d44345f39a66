"""Logarithms of rationals between rational ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import compress

#: Bits after the point of what is computed.
BITS = 128


def _twice_artanh(p: int, q: int) -> tuple[int, int]:
    """Ends of 2 artanh(p/q) in units of 2^-BITS, for 0 <= 3p <= q.

    The series is 2 (s + s³/3 + s⁵/5 + …) with s = p/q; all terms are positive and are rounded down.
    In units, s and s² are off by less than 1 and 2, a power by less than 2 (its predecessor's error
    by s² <= 1/9, 2/3 from that of s², and 1), so a term by less than 3. What is left out when a
    power is below 2 units, thus below 4, is less than 1.
    """
    power = (p << BITS) // q
    square = power * power >> BITS
    total, k = power, 1
    while power > 1:
        power, k = power * square >> BITS, k + 2
        total += power // k
    return 2 * total, 2 * (total + 3 * k + 1)


_TWO = _twice_artanh(1, 3)


def log_units(p: int, q: int) -> tuple[int, int]:
    """Two integers, in units of 2^-BITS, that enclose the natural logarithm of p/q.

    They are some hundred units apart for each power of two in p/q.

    Parameters
    ----------
    p, q : int
        Positive numbers.

    Returns
    -------
    tuple of int
        The lower and the upper end.
    """
    e = p.bit_length() - q.bit_length()
    if e > 0:
        q <<= e
    else:
        p <<= -e
    # Now 1/2 < p/q < 2; the series is short where p/q is between the square roots of 1/2 and 2.
    if p * p > 2 * q * q:
        q, e = 2 * q, e + 1
    elif 2 * p * p < q * q:
        p, e = 2 * p, e - 1
    # log x = e log 2 + 2 artanh((p - q) / (p + q))
    low, high = _twice_artanh(abs(p - q), p + q)
    if p < q:
        low, high = -high, -low
    twos = (e * _TWO[0], e * _TWO[1])
    return low + min(twos), high + max(twos)


#: Bits of products, and how many factors are multiplied between two roundings.
_LONG, _FACTORS = 256, 16


def log_of_product(numbers: Sequence[int], powers: Sequence[int]) -> tuple[int, int]:
    """Two integers, in units of 2^-BITS, that enclose the sum of n log(x).

    One logarithm is taken, of the product of all powers x^n, which is rounded down to some hundred
    bits now and then.

    Parameters
    ----------
    numbers, powers : sequences of int
        The x and the n, all positive.

    Returns
    -------
    tuple of int
        The lower and the upper end.
    """
    # The product is more than whole * 2^power, and less than that times exp(off * 2^(1 - _LONG)):
    # each rounding leaves at least 2^(_LONG - 1).
    whole, power, off = 1, 0, 0
    for bit in reversed(range(max(powers).bit_length())):
        given = list(compress(numbers, [n >> bit & 1 for n in powers]))
        whole, power, off = whole * whole, 2 * power, 2 * off
        for k in range(0, len(given), _FACTORS):
            whole *= math.prod(given[k : k + _FACTORS])
            more = max(0, whole.bit_length() - _LONG)
            whole, power, off = whole >> more, power + more, off + (more > 0)
    bits = whole.bit_length()
    low, high = log_units(whole, 1 << bits)
    twos = [(power + bits) * end for end in _TWO]
    return low + twos[0], high + twos[1] + (off >> (_LONG - 1 - BITS)) + (off > 0)


@lru_cache(maxsize=2**12)
def log_ends(x: Fraction) -> tuple[Fraction, Fraction]:
    """Two rationals that enclose the natural logarithm of a positive number.

    They are less than 2^-110 apart for numbers between 2^-100 and 2^100.
    """
    low, high = log_units(x.numerator, x.denominator)
    return Fraction(low, 1 << BITS), Fraction(high, 1 << BITS)


def log_between(x: Fraction) -> Fraction:
    """The middle of `log_ends`."""
    low, high = log_ends(x)
    return (low + high) / 2
