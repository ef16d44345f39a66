"""A proof in rational numbers that linear rows have no common point (Farkas 1902)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from milp_trees.mip.linear.matrix import MatrixModel


def farkas(model: MatrixModel, multipliers: Sequence[Fraction]) -> bool:
    """Whether multipliers of the rows prove that the linear relaxation has no point.

    The sum of all rows times their multipliers is at least some number; it is proven that within
    the bounds of the variables it is smaller. All numbers are the rationals that their doubles are.

    Parameters
    ----------
    model : MatrixModel
    multipliers : sequence of Fraction
        One per row; a positive one uses the lower side of its row, a negative one the upper side.

    Returns
    -------
    bool
    """
    least = Fraction(0)
    sums: dict[int, Fraction] = {}
    for i, y in enumerate(multipliers):
        if not y:
            continue
        side = float(model.row_lower[i] if y > 0 else model.row_upper[i])
        if not math.isfinite(side):
            return False
        least += y * Fraction(side)
        start, end = model.A.indptr[i], model.A.indptr[i + 1]
        entries = zip(model.A.indices[start:end], model.A.data[start:end], strict=True)
        for j, a in entries:
            sums[int(j)] = sums.get(int(j), Fraction(0)) + y * Fraction(float(a))
    most = Fraction(0)
    for j, a in sums.items():
        if not a:
            continue
        bound = float(model.upper[j] if a > 0 else model.lower[j])
        if not math.isfinite(bound):
            return False
        most += a * Fraction(bound)
    return most < least
