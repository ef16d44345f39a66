"""What a leaf costs as a function of the sums over its rows, said once and read in several ways.

A leaf function is a plain function of a tuple of numbers that uses `+`, `-`, `*`, `/` and the
functions of this module (`log`, `times_log`). Engines write compiled code from it by calling it with
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
#: 1/3, 1/5, …, 1/21: 2 artanh(s) = 2s + 2s·(s²/3 + s⁴/5 + …).
_ODD = tuple(1.0 / k for k in range(3, 23, 2))


def log(x: Any) -> Any:
    r"""Natural logarithm of positive numbers, with the same bits wherever a leaf function is read.

    With :math:`x = 2^e m`, :math:`\sqrt{1/2} \le m < \sqrt 2` and :math:`s = (m-1)/(m+1)` it is
    :math:`e\log 2 + 2\,\mathrm{artanh}\,s`. It is off by at most :math:`8\,|\log x|` times 2^-53.
    """
    # The error, in units of u = 2^-53 times what stands before it, to first order. m - 1 is exact,
    # m + 1 and the quotient are rounded: s is off by 2. z = s² <= 0.0295 is off by 5, the tail p of
    # the series, p <= z/3 (1 + z) < 0.0102, by less than 8 + 2 for the operations of its last step;
    # the terms left out are below z^11/23 < 2^-60. So r = 2s·p is off by 14 (0.15 of 2s), and
    # 2s + r <= 0.347 by 2 + 0.15 + 1 < 3.2 of itself. For e = 0 that is the result. Otherwise
    # |log x| >= 0.346 >= |2s + r|; e·high is exact, e·low is less than 2^-21 e and adds nothing that
    # counts; the sum of the small parts adds 1, the last sum 1 of the result: less than 6.
    mantissa, exponent = _split(x)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    tail = z * _ODD[-1]
    for term in reversed(_ODD[:-1]):
        tail = z * (tail + term)
    twice = s + s
    return exponent * _TWO_HIGH + (twice + (twice * tail + exponent * _TWO_LOW))


def times_log(a: Any, x: Any) -> Any:
    """`a * log(x)`, and 0 where a is 0."""
    found = a * log(x)
    if hasattr(found, "where_positive"):
        return found.where_positive(a)
    return np.where(np.asarray(a) > 0, found, 0.0)


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
