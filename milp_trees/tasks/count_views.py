"""Views of tasks on two classes whose value is no sum over rows.

`LeafCounts` is for areas under ROC curves, `PairCounts` for metrics of FP and FN. Both contain the
rows as the `CostMatrix` of misclassified rows, with its candidate features, presolve and minimum
leaf sizes. They add the value of the counts, and how values are compared (`Scale`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.tasks.base import Value
from milp_trees.tasks.surd import Surd
from milp_trees.tasks.views import CostMatrix

#: Largest value that scores may have, so that sums of them fit into 64 bits.
LARGEST = 2**61

#: Positives and negatives in a leaf, or in any part of the rows.
Counts = tuple[int, int]


def error_counts(
    said: np.ndarray, is_positive: np.ndarray, leaves: int | None = None
) -> tuple[Value, ...]:
    """False positives and false negatives of a labelling, as coordinates of a front.

    Parameters
    ----------
    said, is_positive : bool arrays of shape (n,)
        Whether each row is predicted positive, and whether it is positive.
    leaves : int, optional
        Number of leaves, which is a coordinate too if leaves cost something.

    Returns
    -------
    tuple of Value
    """
    found = {
        "false positives": int((said & ~is_positive).sum()),
        "false negatives": int((~said & is_positive).sum()),
    }
    if leaves is not None:
        found["leaves"] = leaves
    return tuple(Value(float(n), Fraction(n), name, "min") for name, n in found.items())


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Rows of two classes.

    Parameters
    ----------
    errors : CostMatrix
        `costs[i, k]` is 1 if action k is wrong on row i; actions are the two classes.
    positive : int
        Action (0 or 1) that is the positive class.
    leaf_penalty : Fraction
        Added per leaf to the loss; 0 if the metric itself is maximised.
    """

    errors: CostMatrix
    positive: int
    leaf_penalty: Fraction

    @cached_property
    def is_positive(self) -> np.ndarray:
        """Whether a row is of the positive class, shape (n,)."""
        return np.asarray(self.errors.costs[:, 1 - self.positive] > 0)

    @cached_property
    def totals(self) -> Counts:
        """Number of positive and of negative rows."""
        ones = int(self.is_positive.sum())
        return ones, len(self.is_positive) - ones

    @property
    def actions(self) -> tuple[Any, ...]:
        return self.errors.actions


@dataclass(frozen=True, eq=False)
class LeafCounts(TwoClasses):
    r"""The value of a tree is an area under the convex hull of its ROC curve.

    With leaves sorted by their share of positives, the hull is the polygon through the cumulated
    (negatives, positives). In *units* the area up to the false positive rate θ = a/b is

    .. math:: S = 2 b^2 m \int_0^{\theta N^-} \text{hull}
       \;-\; \text{leaf\_units} \cdot \#\text{leaves},

    which is an integer except for the last segment, which may be cut; the multiplier m makes the
    penalty an integer too.

    Parameters
    ----------
    theta : Fraction
        Largest false positive rate, in (0, 1].
    """

    theta: Fraction

    def __post_init__(self) -> None:
        cut = (
            self.totals[1] if self.theta < 1 else 1
        )  # the area of a cut segment is divided by its number of negatives
        if self._whole * self.multiplier * cut > LARGEST:
            raise DataError(
                "The penalty or the largest false positive rate has too many digits for exact arithmetic; round it, say to three."
            )
        if self.leaf_units * len(self.is_positive) > LARGEST:
            raise DataError(
                f"leaf_penalty is at most 1 here; got {float(self.leaf_penalty):g}. A larger one always makes a single leaf best."
            )

    @cached_property
    def _whole(self) -> int:
        """2 b² N⁺ N⁻, the natural area 1 without the multiplier."""
        return 2 * self.theta.denominator**2 * self.totals[0] * self.totals[1]

    @cached_property
    def multiplier(self) -> int:
        return (self.leaf_penalty * self._whole).denominator

    @cached_property
    def leaf_units(self) -> int:
        """Penalty per leaf in units."""
        return int(self.leaf_penalty * self._whole * self.multiplier)

    def units(self, leaves: Iterable[Counts]) -> Fraction:
        """S of a multiset of leaves, each given by its positives and negatives."""
        given = list(leaves)
        return 2 * self.theta.denominator**2 * self.multiplier * hull_area(
            given, self.theta * self.totals[1]
        ) - self.leaf_units * len(given)

    def to_value(self, units: Fraction | int) -> Fraction:
        """The natural value of S: an area to be maximised, or the loss with a penalty.

        The loss is 1 − area + λ · leaves.
        """
        area = Fraction(units) / (self._whole * self.multiplier)
        return 1 - area if self.leaf_penalty else area

    # -- Scale -------------------------------------------------------------------------------------

    exact = True
    tolerance = 0
    absolute_gap = 0.0

    def from_value(self, value: Fraction | float) -> Fraction:
        """−S, which is always minimised."""
        area = 1 - Fraction(value) if self.leaf_penalty else Fraction(value)
        return -area * self._whole * self.multiplier


def hull_area(leaves: Iterable[Counts], width: Fraction) -> Fraction:
    """Area under the polygon of (positives, negatives) steps, for negatives from 0 to `width`.

    The steps are in order of decreasing slope.
    """
    area, x, y = Fraction(0), Fraction(0), Fraction(0)
    for up, right in sorted(
        leaves, key=lambda c: Fraction(-c[0], sum(c)) if sum(c) else Fraction(0)
    ):
        if x + right > width:
            part = (width - x) / right
            return area + part * right * (y + part * up / 2)
        area, x, y = area + right * (y + Fraction(up, 2)), x + right, y + up
    return area


@dataclass(frozen=True, eq=False)
class PairCounts(TwoClasses):
    """The value of a tree depends on its false positives, false negatives and number of leaves.

    It does not improve if false positives or false negatives increase.

    Parameters
    ----------
    worth : callable (fp, fn) → Surd
        The metric, without penalty, larger is better.
    exact : bool
        Whether the metric is always rational.
    """

    worth: Callable[[int, int], Surd]
    exact: bool = True

    def units(self, fp: int, fn: int, leaves: int) -> Surd:
        """The objective, which is maximised: the metric minus the penalties, exactly.

        Parameters
        ----------
        fp, fn : int
            Number of false positives and of false negatives.
        leaves : int
            Number of leaves.

        Returns
        -------
        Surd
        """
        worth = self.worth(fp, fn)
        return worth + -self.leaf_penalty * leaves if self.leaf_penalty else worth

    def to_value(self, units: Surd) -> Surd:
        """The natural value: the metric, or with a penalty the loss 1 − metric + λ · leaves."""
        return -units + Fraction(1) if self.leaf_penalty else units

    # -- Scale: irrational values are compared to nine digits once they have left the engine -------

    _STEPS = 10**12

    @property
    def tolerance(self) -> int:
        return 0 if self.exact else 1000

    @property
    def absolute_gap(self) -> float:
        return float(self.tolerance)

    def from_value(self, value: Fraction | float) -> Fraction:
        return Fraction(value) * self._STEPS * (1 if self.leaf_penalty else -1)
