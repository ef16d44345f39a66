r"""View `Ratio`: an objective that is one linear count divided by another.

It also makes the linear problem of a Dinkelbach step. A tree that gives row :math:`i` action
:math:`a(i)` has the ratio :math:`\rho = N/D` with :math:`N=\sum_i n_{i,a(i)}`,
:math:`D=\sum_i d_{i,a(i)}`, all integers of at least 0, and :math:`0/0=0`. For any
:math:`q=a/b\ge0`, a tree has :math:`\rho>q` exactly if :math:`bN-aD\ge1`, and whether there is such
a tree is a problem of a `CostMatrix` with costs :math:`a\,d_{ik}-b\,n_{ik}` (Dinkelbach 1967, *On
nonlinear fractional programming*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.views import CostMatrix, SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

#: Costs of a step and their sums must stay below this.
LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class Ratio:
    r"""A ratio of linear counts, to be maximised, possibly minus a penalty per leaf.

    The task's natural value is :math:`\rho` itself, or with a penalty
    :math:`1-\rho+\lambda\cdot\#\text{leaves}`, minimised. Inside, both are the *loss*
    :math:`\lambda\cdot\#\text{leaves}-\rho`, always minimised.

    Parameters
    ----------
    task : Task
        The task whose value is this ratio.
    frame : CostMatrix
        Rows, features and side rows; its costs are the numerators :math:`n_{ik}`.
    denominator : int64 array of shape (n, K)
        The denominators :math:`d_{ik}`.
    leaf_penalty : Fraction, default=0
        :math:`\lambda`.
    floor : int, default=1
        Lower bound of every positive denominator of a feasible tree.
    """

    task: Task
    frame: CostMatrix
    denominator: np.ndarray
    leaf_penalty: Fraction = Fraction(0)
    floor: int = 1
    _reduced: dict[tuple[bool, bool], Ratio] = field(default_factory=dict, repr=False)

    exact: ClassVar[bool] = True
    tolerance: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.numerator.min(initial=0) < 0 or self.denominator.min(initial=0) < 0:
            raise DataError(
                f"The task {self.task.name} needs numerators and denominators of at least 0; some are negative."
            )
        if self.may_divide_by_zero and self.leaf_penalty:
            raise DataError(
                f"The task {self.task.name} may divide by zero: some rows add to the numerator and nothing to the denominator. Whether a tree does is "
                "only found out without a leaf_penalty; leave it out."
            )
        if self.largest[1] * sum(self.largest) > LARGEST:
            raise DataError(
                f"The total weight of the task {self.task.name} is too large for exact ratios; round the row weights (and beta, or the coefficients) to fewer digits."
            )

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def numerator(self) -> np.ndarray:
        return self.frame.costs

    @property
    def side(self) -> tuple[SideRow, ...]:
        return self.frame.side

    @cached_property
    def largest(self) -> tuple[int, int]:
        """Upper bounds of the numerator and of the denominator of every tree."""
        return int(self.numerator.max(axis=1, initial=0).sum()), int(
            self.denominator.max(axis=1, initial=0).sum()
        )

    @cached_property
    def least(self) -> int:
        """Lower bound of the denominator of every tree."""
        return int(self.denominator.min(axis=1).sum()) if self.denominator.size else 0

    @cached_property
    def may_divide_by_zero(self) -> bool:
        """Whether actions chosen row by row could have a positive numerator and denominator 0.

        A tree cannot choose actions so freely, so no tree need have this.
        """
        nothing = self.denominator == 0
        return bool(
            not self.least and (self.numerator[nothing] > 0).any() and nothing.any(axis=1).all()
        )

    # -- values ------------------------------------------------------------------------------------

    def of(self, tree: Any) -> Fraction:
        """The ratio of a tree or rule list on the view's features.

        Raises
        ------
        DataError
            The tree has a positive numerator and denominator 0; then there is no largest ratio.
        """
        action = self.frame.canonical(tree).routes(self.frame).action
        rows = np.arange(len(action))
        n, d = int(self.numerator[rows, action].sum()), int(self.denominator[rows, action].sum())
        if n and not d:
            raise DataError(
                f"The task {self.task.name} divides by zero: a tree has the numerator {n} and the denominator 0, so no ratio is the largest."
            )
        return quotient(n, d)

    def to_value(self, loss: Fraction) -> Fraction:
        """Natural value of a loss."""
        return 1 + loss if self.leaf_penalty else -loss

    @cached_property
    def unit(self) -> int:
        """Two different ratios differ by at least the reciprocal of this number."""
        return max(1, self.largest[1]) ** 2

    @property
    def absolute_gap(self) -> float:
        """Two ratios are equal if they differ by less than this many units.

        With penalties only equality closes a gap.
        """
        return 0.0 if self.leaf_penalty else 0.999

    def from_value(self, value: Fraction | float) -> Fraction:
        """A natural value as a loss, in units of the smallest difference of two ratios."""
        loss = Fraction(value) - 1 if self.leaf_penalty else -Fraction(value)
        return loss * self.unit

    # -- bounds ------------------------------------------------------------------------------------

    @cached_property
    def ceiling(self) -> Fraction:
        """Upper bound of the ratio: every row gets an action of its own.

        On merged rows this is the equivalent-points bound.
        """
        if self.may_divide_by_zero:  # then only positive, hence integer, denominators count
            return Fraction(self.largest[0], self.floor)
        q, rows = Fraction(0), np.arange(self.frame.n_rows)
        while len(rows):
            action = self._costs(q).argmin(axis=1)
            better = quotient(
                int(self.numerator[rows, action].sum()), int(self.denominator[rows, action].sum())
            )
            if better <= q:
                break
            q = better
        return q

    def least_denominator(self, q: Fraction) -> int:
        r"""Lower bound of the denominator of every tree with a ratio above q.

        By Lagrangian duality, for every :math:`\mu\ge0`: :math:`D\ge
        D-\mu(N-qD)\ge\sum_i\min_k\,[d_{ik}-\mu(n_{ik}-q\,d_{ik})]`. The method tries some of the
        values of :math:`\mu` at which a row changes its action.

        Parameters
        ----------
        q : Fraction
            At least 0.

        Returns
        -------
        int
        """
        best = Fraction(max(self.floor, self.least, 1))
        for mu in self._multipliers(q):
            s, t = (
                mu.numerator * q.denominator,
                mu.denominator * q.denominator,
            )  # all terms times t: d·t - s·n + mu.numerator·q.numerator·d
            factor = t + mu.numerator * q.numerator
            if abs(factor) * self.largest[1] + s * self.largest[0] < LARGEST:
                total = int((factor * self.denominator - s * self.numerator).min(axis=1).sum())
                best = max(best, Fraction(total, t))
        return -(-best.numerator // best.denominator)

    def _multipliers(self, q: Fraction) -> set[Fraction]:
        changes = {(dd, dn - q * dd) for dn, dd in self._swaps if dn != q * dd}
        return {mu for dd, gain in changes if (mu := dd / gain) > 0}

    @cached_property
    def _swaps(self) -> set[tuple[int, int]]:
        """Differences of numerator and denominator between two actions, on some rows."""
        patterns = np.unique(
            np.concatenate([self.numerator, self.denominator], axis=1)[:50], axis=0
        ).tolist()
        pairs = [(k, j) for k in range(self.frame.n_actions) for j in range(k)]
        K = self.frame.n_actions
        return {
            (row[k] - row[j], row[K + k] - row[K + j]) for row in patterns[:8] for k, j in pairs
        }

    # -- the linear problem ------------------------------------------------------------------------

    def at(self, q: Fraction, leaf_cost: Fraction = Fraction(0)) -> RatioStep:
        """The task of finding the tree with the least q·D - N + leaf_cost · leaves."""
        return RatioStep(self, q, leaf_cost)

    def matrix(self, q: Fraction, leaf_cost: Fraction = Fraction(0)) -> CostMatrix:
        """That task as integers, for the rows and features of this view."""
        b = q.denominator
        by = leaf_cost.denominator // math.gcd(leaf_cost.denominator, b) if leaf_cost else 1
        if by * (abs(q.numerator) * self.largest[1] + b * self.largest[0]) > LARGEST:
            raise DataError(
                f"The leaf penalty of the task {self.task.name} has too many digits for exact ratios; round it."
            )
        return replace(
            self.frame,
            costs=self._costs(q) * by,
            leaf_cost=int(leaf_cost * b * by),
            scale=Fraction(1, b * by),
        )

    def _costs(self, q: Fraction) -> np.ndarray:
        costs: np.ndarray = q.numerator * self.denominator - q.denominator * self.numerator
        return costs

    # -- presolve ----------------------------------------------------------------------------------

    def reduce(self, merge_rows: bool = True, drop_tests: bool = True) -> Ratio:
        """The same ratio on fewer rows and features, as `CostMatrix.reduce`.

        Each combination of the arguments is computed once.
        """
        key = (merge_rows, drop_tests)
        if key not in self._reduced:
            rows = SideRow("denominator", self.denominator, None, None)
            small = replace(self.frame, side=(*self.side, rows)).reduce(merge_rows, drop_tests)
            self._reduced[key] = replace(
                self,
                frame=replace(small, side=small.side[:-1]),
                denominator=small.side[-1].coefs,
                floor=max(self.floor, self.least),
                _reduced={},
            )
        return self._reduced[key]


@dataclass(frozen=True, eq=False)
class RatioStep(Task):
    """The linear task of one Dinkelbach step: minimise q·D - N.

    The side constraints are those of the task that has the ratio.

    Parameters
    ----------
    ratio : Ratio
        The ratio.
    q : Fraction
        The value that the ratio is compared with.
    leaf_cost : Fraction, default=0
        Added per leaf.
    """

    name: ClassVar[str] = "ratio-step"
    takes_counts: ClassVar[bool] = True
    view_makers: ClassVar[dict[type, str]] = {CostMatrix: "cost_matrix"}

    ratio: Ratio
    q: Fraction
    leaf_cost: Fraction = Fraction(0)

    @property
    def unit(self) -> str:
        return "q·D - N"

    @property
    def sense(self) -> str:
        return "min"

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        rows = np.arange(len(routes.action))
        n, d = (
            int(counts[rows, routes.action].sum())
            for counts in (self.ratio.numerator, self.ratio.denominator)
        )
        number = self.q * d - n + self.leaf_cost * routes.n_leaves
        return Value(float(number), number, self.unit, self.sense)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        return self.ratio.task.violations(routes, dataset)

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return self.ratio.frame.actions

    def cost_matrix(self, dataset: Dataset, space: Space) -> CostMatrix:
        return self.ratio.matrix(self.q, self.leaf_cost)

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "of": self.ratio.task.spec(), "q": str(self.q)}


def quotient(n: int | Fraction, d: int | Fraction) -> Fraction:
    """n/d, and 0 for 0/0."""
    return Fraction(n) / Fraction(d) if d else Fraction(0)
