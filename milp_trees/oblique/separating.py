"""Tests that separate two sets of rows, with few digits and a wide gap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.models.nodes import Branch, Node
from milp_trees.oblique.columns import NumericColumns
from milp_trees.oblique.linear_test import LinearTest

#: A test may have a gap of this share of the widest one if it has fewer digits.
SHARE = Fraction(9, 10)
#: Most digits after the point of rounded weights.
DIGITS = 15


def separating_test(
    columns: NumericColumns,
    below: np.ndarray,
    above: np.ndarray,
    least: Fraction,
    allowed: Sequence[int] | None = None,
) -> LinearTest | None:
    """A test that holds on the rows below and on none of those above.

    Its gap is at least `least`. It asks for a single column if one is enough. Otherwise its weights are close to those of the
    widest gap.

    Parameters
    ----------
    columns : NumericColumns
    below, above : int arrays
        Numbers of rows; none is empty.
    least : Fraction
        The smallest gap.
    allowed : sequence of int, optional
        Columns that it may use; by default all.

    Returns
    -------
    LinearTest or None
        None if no gap was found that is wide enough.
    """
    usable = list(range(len(columns.names)) if allowed is None else allowed)
    single = [
        (gap, test)
        for j in usable
        for test in _of_one_column(columns, j, below, above)
        if (gap := columns.gap(test, below, above)) >= least
    ]
    if single:
        return max(single, key=lambda one: one[0])[1]
    weights = widest(columns, below, above, usable)
    return None if weights is None else with_few_digits(columns, weights, below, above, least)


def _of_one_column(
    columns: NumericColumns, j: int, below: np.ndarray, above: np.ndarray
) -> Iterable[LinearTest]:
    x, name = columns.values[:, j], columns.names[j]
    if x[below].max() < x[above].min():
        bound = between(Fraction(x[below].max()), Fraction(x[above].min()))
        yield LinearTest((name,), (Fraction(1),), bound)
    if x[above].max() < x[below].min():
        bound = between(Fraction(-x[below].min()), Fraction(-x[above].max()))
        yield LinearTest((name,), (Fraction(-1),), bound)


def widest(
    columns: NumericColumns, below: np.ndarray, above: np.ndarray, usable: Sequence[int]
) -> dict[int, float] | None:
    """Weights of scaled columns with the widest gap, up to rounding; None if no gap is above 0."""
    from scipy.optimize import linprog

    p = len(usable)
    if not p:
        return None
    x = columns.scaled[:, list(usable)]
    # Columns: positive and negative parts of the weights, the bound, the gap.
    low = np.hstack([x[below], -x[below], -np.ones((len(below), 1)), np.ones((len(below), 1))])
    high = np.hstack([-x[above], x[above], np.ones((len(above), 1)), np.zeros((len(above), 1))])
    size = np.r_[np.ones(2 * p), 0, 0][None, :]
    limits = np.r_[np.zeros(len(below) + len(above)), 1]
    goal = np.r_[np.zeros(2 * p + 1), -1]
    bounds = [(0, None)] * (2 * p) + [(None, None)] * 2
    found = linprog(goal, np.vstack([low, high, size]), limits, bounds=bounds, method="highs")
    if found.status != 0 or found.x[-1] <= 0:
        return None
    weights = found.x[:p] - found.x[p : 2 * p]
    return {j: float(w) for j, w in zip(usable, weights, strict=True) if abs(w) > 1e-9}


def with_few_digits(
    columns: NumericColumns,
    weights: dict[int, float],
    below: np.ndarray,
    above: np.ndarray,
    least: Fraction,
) -> LinearTest | None:
    """The test with these weights of scaled columns, rounded as far as its gap allows."""
    exact = {j: Fraction(w) / columns.width[j] for j, w in weights.items()}
    largest = max(map(abs, exact.values()))
    names = tuple(columns.names[j] for j in exact)
    whole = LinearTest(names, tuple(w / largest for w in exact.values()), Fraction(0))
    wanted = max(least, SHARE * columns.gap(whole, below, above))
    for digits in range(1, DIGITS + 1):
        rounded = {
            j: Fraction(round(w / largest * 10**digits), 10**digits) for j, w in exact.items()
        }
        kept = {j: w for j, w in rounded.items() if w}
        test = LinearTest(tuple(columns.names[j] for j in kept), tuple(kept.values()), Fraction(0))
        if columns.gap(test, below, above) >= wanted:
            return with_bound(columns, test, below, above)
    if columns.gap(whole, below, above) >= least:
        return with_bound(columns, whole, below, above)
    return None


def with_bound(
    columns: NumericColumns, test: LinearTest, below: np.ndarray, above: np.ndarray
) -> LinearTest:
    """The test with a bound of few digits in the middle between the rows that it separates."""
    low, high = (
        max(test.sums(columns.of(test, below))),
        min(test.sums(columns.of(test, above))),
    )
    return LinearTest(test.columns, test.weights, between(low, high))


def between(low: Fraction, high: Fraction) -> Fraction:
    """A number of few digits near the middle between two numbers."""
    middle, apart = (low + high) / 2, (high - low) / 4
    for digits in range(-3, 19):
        step = Fraction(10) ** -digits
        rounded = round(middle / step) * step
        if abs(rounded - middle) <= apart:
            return rounded
    return middle


def branch(test: LinearTest, above: Node, below: Node) -> Branch:
    """The branch node of a test, whose first weight is made positive by asking the opposite.

    No row may lie on the bound.
    """
    if test.weights[0] > 0:
        asked: Any = test
        return Branch(asked, above, below)
    asked = LinearTest(test.columns, tuple(-w for w in test.weights), -test.bound)
    return Branch(asked, below, above)
