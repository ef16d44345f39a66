"""What a leaf costs as a function of the sums over its rows, said once and read in several ways.

A leaf function is a plain function of a tuple of numbers that uses `+`, `-`, `*`, `/` and the
functions of this module. Engines write compiled code from it by calling it with values that record
what is done to them; numpy arrays give the same doubles, Fractions the exact value.

It is only asked about leaves with a positive first sum (the weight of the rows); others cost
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from milp_trees.common.errors import DataError

#: A function of the sums of a leaf, such as `lambda s: -s[1] * s[1] / s[0]`.
LeafFunction: TypeAlias = Callable[[tuple[Any, ...]], Any]


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
    for _ in range(400):
        a, b = (
            np.sum([draw(rng) for _ in range(rng.integers(1, 6))], axis=0).reshape(n_sums)
            for _ in range(2)
        )
        whole, first, second = (float(values_of(leaf, s[None])[0]) for s in (a + b, a, b))
        size = abs(whole) + abs(first) + abs(second)
        if whole < first + second - 1e-9 * size:
            raise DataError(
                f"The leaf function costs {whole:g} at {(a + b).tolist()} and only {first:g} + {second:g} at {a.tolist()} and {b.tolist()}: a split must never cost more than its leaf."
            )
