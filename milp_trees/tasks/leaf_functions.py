"""What a leaf costs as a function of the sums over its rows, said once and read in several ways.

A leaf function is a plain function of a tuple of numbers that uses `+`, `-`, `*`, `/` and the
functions of this module (`log`, `times_log`, `times_log_quotient`). Engines write compiled code from it by calling it with
values that record what is done to them; numpy arrays give the same doubles. Where it has no
logarithm, Fractions give the exact value.

It is only asked about leaves with a positive first sum (such as the weight of the rows); others
cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from milp_trees.common.errors import DataError

#: A function of the sums of a leaf, such as `lambda s: -s[1] * s[1] / s[0]`.
LeafFunction: TypeAlias = Callable[[tuple[Any, ...]], Any]

#: Bits of the double nearest to the square root of 1/2, where the mantissas of `log` begin.
ROOT_OF_HALF = 0x3FE6A09E667F3BCD
#: log 2 in two parts; the first has 21 trailing zeros, so its products with exponents are exact.
_TWO_HIGH, _TWO_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
#: Bits of 1/2 in units of an exponent's, and of 2047 of them, which keeps differences positive.
_HALF, _ALL = 1 << 51, 2047 << 52
#: 2 artanh(s) = 2s + 2s·(z/3 + z²/5 + …) with z = s². This polynomial, times z, is off by less than
#: 2^-55 of the sum in brackets for z up to 1/25: it equals the sum at seven Chebyshev nodes.
TAIL = tuple(
    map(
        float.fromhex,
        (
            "0x1.555555555576ep-2",
            "0x1.99999998f2956p-3",
            "0x1.249249b0f98adp-3",
            "0x1.c71c0211da23fp-4",
            "0x1.7474c91772d9ep-4",
            "0x1.3854b4302c840p-4",
            "0x1.3ab09759a6085p-4",
        ),
    )
)


def log(x: Any) -> Any:
    r"""Natural logarithm of positive numbers, with the same bits wherever a leaf function is read.

    With :math:`x = 2^e m`, :math:`\sqrt{1/2} \le m < \sqrt 2` and :math:`s = (m-1)/(m+1)` it is
    :math:`e\log 2 + 2\,\mathrm{artanh}\,s`. It is off by at most :math:`8\,|\log x|` times 2^-53.
    """
    # The error, in units of u = 2^-53 times what stands before it, to first order. m - 1 is exact,
    # m + 1 and the quotient are rounded: s is off by 2. See `_series` for the rest; |log x| >= 0.346
    # >= |2s + r| for e other than 0.
    mantissa, exponent = _split(x)
    return _series((mantissa - 1.0) / (mantissa + 1.0), exponent)


def _series(s: Any, exponent: Any) -> Any:
    """`exponent * log(2) + 2 artanh(s)` for s up to 1/5."""
    # In units of u, with s off by 2: z = s² <= 0.04 is off by 5. The first coefficient of the
    # polynomial q <= 0.343 is rounded by 1/2, the other terms are 0.03 of it and off by less than 10;
    # with the sum q is off by less than 2, and r = 2s·(z q) by 2 + 1 + 5 + 1 + 2 = 11, besides the
    # 2^-55 of 2s in `TAIL`. As z q < 0.0138, r is off by 0.41 of 2s, and 2s + r by 2 + 0.41 + 1 < 3.5
    # of itself. For e = 0 that is the result. Otherwise the logarithm is at least 0.7 |2s + r|; e·high
    # is exact, e·low is less than 2^-21 e and adds nothing that counts; the sum of the small parts
    # adds 1, the last sum 1 of the result: less than 4.5 / 0.7 + 1 < 8.
    z = s * s
    square = z * z
    even = ((TAIL[6] * square + TAIL[4]) * square + TAIL[2]) * square + TAIL[0]
    odd = (TAIL[5] * square + TAIL[3]) * square + TAIL[1]
    twice = s + s
    small = twice * (z * (odd * z + even)) + exponent * _TWO_LOW
    return exponent * _TWO_HIGH + (twice + small)


def times_log(a: Any, x: Any) -> Any:
    """`a * log(x)`, and 0 where a is 0."""
    found = a * log(x)
    if hasattr(found, "where_positive"):
        return found.where_positive(a)
    return np.where(np.asarray(a) > 0, found, 0.0)


def times_log_quotient(a: Any, x: Any) -> Any:
    r"""`a * log(a / x)` for a of at least 0 and positive x, with one division; 0 where a is 0.

    With k such that :math:`a' = 2^{-k}a` is between 2/3 and 3/2 of x it is
    :math:`a\,(k\log 2 + 2\,\mathrm{artanh}\frac{a'-x}{a'+x})`. It is off by at most 9 times 2^-53 of
    itself.
    """
    # a' - x is exact and a' + x rounded, so s is off by 2 (see `_series`). Where k is not 0, a is
    # below 3/4 or at least 4/3 of x, so |log| >= 0.287 >= 0.7 * 0.406, and |2s + r| <= 0.406.
    scaled, exponent = _near(a, x)
    return a * _series((scaled - x) / (scaled + x), exponent)


def _near(a: Any, x: Any) -> tuple[Any, Any]:
    """Doubles a times a power of two, near x, and the power by which they were divided.

    The bits of a double, as an integer, are a piecewise linear logarithm to base two. Of a = 0 come
    numbers near x as well.
    """
    if hasattr(a, "near"):
        return a.near(x, _HALF, _ALL)  # type: ignore[no-any-return]
    if isinstance(a, Fraction):
        raise TypeError("A logarithm of a Fraction is none; common.logarithms encloses it.")
    bits, other = (np.asarray(v, dtype=float).view(np.int64) for v in (a, x))
    power = (bits - other + _HALF) >> 52
    return (bits - (power << 52)).view(float), power.astype(float)


def _split(x: Any) -> tuple[Any, Any]:
    """Mantissa and exponent of positive doubles, by their bits."""
    if hasattr(x, "split"):
        return x.split(ROOT_OF_HALF)  # type: ignore[no-any-return]
    if isinstance(x, Fraction):
        raise TypeError("A logarithm of a Fraction is none; common.logarithms encloses it.")
    bits = np.asarray(x, dtype=float).view(np.int64)
    exponent = (bits - ROOT_OF_HALF) >> 52
    return (bits - (exponent << 52)).view(float), exponent.astype(float)


def values_of(leaf: LeafFunction, sums: np.ndarray) -> np.ndarray:
    """The function on rows of sums, doubles of shape (L,) from (L, U): those of compiled code."""
    columns = tuple(np.ascontiguousarray(column, dtype=float) for column in sums.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = leaf(columns)
    weighs: np.ndarray = columns[0] > 0
    return np.where(weighs, found, 0.0)


def refuse_cheaper_whole(
    leaf: LeafFunction, n_sums: int, draw: Callable[[np.random.Generator], np.ndarray]
) -> None:
    """Refuse a function under which a split can cost more than the leaf that it splits.

    Parameters
    ----------
    leaf : callable
        The function.
    n_sums : int
        Number of sums.
    draw : callable
        Sums of one random row, from a generator.

    Raises
    ------
    DataError
        There are sums a and b with f(a + b) < f(a) + f(b); the sentence shows them.
    """
    rng = np.random.default_rng(0)
    a, b = (
        np.array([np.sum([draw(rng) for _ in range(1 + i % 5)], axis=0) for i in order])
        .astype(float)
        .reshape(-1, n_sums)
        for order in (range(400), rng.permutation(400))
    )
    whole, first, second = (values_of(leaf, sums) for sums in (a + b, a, b))
    size = np.abs(whole) + np.abs(first) + np.abs(second)
    wrong = np.flatnonzero(~(whole >= first + second - 1e-9 * size))
    if len(wrong):
        i = wrong[0]
        raise DataError(
            f"The leaf function costs {whole[i]:g} at {(a + b)[i].tolist()} and {first[i]:g} + {second[i]:g} at {a[i].tolist()} and {b[i].tolist()}: a split must never cost more than its leaf."
        )
