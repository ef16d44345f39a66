"""Exact multipliers of side rows: the problem without side rows that they make, and its bound.

With a multiplier :math:`\\lambda_j` per side row :math:`\\ell_j\\le s_j(T)\\le u_j`, every feasible
tree satisfies

.. math:: Z(T)\\ \\ge\\ Z(T)+\\sum_j\\lambda_j\\bigl(s_j(T)-b_j\\bigr),\\qquad
   b_j=u_j\\text{ if }\\lambda_j>0,\\quad b_j=\\ell_j\\text{ if }\\lambda_j<0,

and the right-hand side is the objective of a tree without side rows, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.tasks.views import CostMatrix, LeafSums, SideRow

#: Sums of Lagrangian costs stay below this: `dp` multiplies them by a few small factors, and its
#: own limit is 2^60.
MOST = 2**55


@dataclass(frozen=True)
class Multipliers:
    """One rational per side row: `numerators[j] / denominator`.

    A positive multiplier acts on the upper bound of its row, a negative one on the lower bound.

    Parameters
    ----------
    denominator : int
        At least 1.
    numerators : tuple of int
        One for every side row.
    """

    denominator: int
    numerators: tuple[int, ...]

    @classmethod
    def none(cls, n_rows: int) -> Multipliers:
        """Zero for every row: the problem without its side rows."""
        return cls(1, (0,) * n_rows)

    @classmethod
    def of(cls, rationals: tuple[Fraction, ...]) -> Multipliers:
        """These rationals over their common denominator."""
        denominator = 1
        for r in rationals:
            denominator = denominator * r.denominator // np.gcd(denominator, r.denominator)
        denominator = int(denominator)
        return cls(denominator, tuple(int(r * denominator) for r in rationals))

    def act_on(self, side: tuple[SideRow, ...]) -> bool:
        """Whether every multiplier that is not 0 has a bound to act on."""
        return all(
            n == 0 or (row.upper if n > 0 else row.lower) is not None
            for n, row in zip(self.numerators, side, strict=True)
        )

    def fits(self, view: CostMatrix) -> bool:
        """Whether all sums of the Lagrangian costs are exact in 64 bits."""
        if "sizes" not in view.memo:  # they are asked for at every multiplier
            view.memo["sizes"] = _size(view.regret), [_size(row.coefs) for row in view.side]
        of_costs, of_rows = view.memo["sizes"]
        size = self.denominator * of_costs
        size += sum(abs(n) * s for n, s in zip(self.numerators, of_rows, strict=True))
        penalties = view.leaf_cost + int(view.split_costs.max(initial=0))
        return size + self.denominator * penalties * 2 * (view.n_rows + 1) < MOST

    def view_at(self, view: LeafSums) -> Any:
        """The view without side rows whose costs are `denominator · c + Σ numerators · coefs`.

        Its objective is `denominator` times the Lagrangian function, up to a constant; its natural
        value includes that constant, so the value of its optimum is a bound of the given problem.
        """
        if not isinstance(view, CostMatrix):  # it has no side rows
            return view
        if not self.act_on(view.side):
            raise ValueError("A multiplier acts on a side of a row that has no bound there.")
        if not self.fits(view):
            raise Unsupported(
                "The Lagrangian costs, sums of the costs and of the side rows' coefficients, are too"
                " large for exact sums in 64 bits; divide the costs by a common factor, or round them."
            )
        D = self.denominator
        costs = D * view.regret
        for n, row in zip(self.numerators, view.side, strict=True):
            if n:
                costs = costs + n * row.coefs
        constant = D * int(view.base.sum()) - self._free(view.side)
        return replace(
            view,
            costs=costs,
            leaf_cost=D * view.leaf_cost,
            split_costs=D * view.split_costs.astype(np.int64),
            side=(),
            offset=view.offset + view.scale * Fraction(constant, D),
            scale=view.scale / D,
        )

    def bound(self, z: int, view: LeafSums) -> Fraction:
        """The lower bound on the view's objective that the optimum `z` of `view_at` proves."""
        constant = self.denominator * view.fixed_cost - self._free(view.side)
        return Fraction(z + constant, self.denominator)

    def _free(self, side: tuple[SideRow, ...]) -> int:
        """`Σ numerators · b`: what the rows' bounds take back."""
        out = 0
        for n, row in zip(self.numerators, side, strict=True):
            if n:
                out += n * int(row.upper if n > 0 else row.lower)  # type: ignore[arg-type]
        return out


class MasterSolution(NamedTuple):
    """The largest minimum of planes, the multipliers that have it, and the excess of each plane.

    `outside` says whether a multiplier is at the border of its box, so that a larger one may be
    better. All numbers are floats: whatever the multipliers are, they give a bound.
    """

    top: float
    multipliers: list[float]
    excess: np.ndarray
    outside: bool


def best_for_planes(
    planes: np.ndarray, side: tuple[SideRow, ...], box: float
) -> MasterSolution | None:
    """The multipliers of the largest minimum of `cost + Σ multiplier · (total - bound)`.

    A plane is (cost, totals…). None if the linear programme was not solved, or no row has a bound.
    """
    from scipy.optimize import linprog

    acts = [
        (j, sign, at)
        for j, row in enumerate(side)
        for sign, at in ((1, row.upper), (-1, row.lower))
        if at is not None
    ]
    if not acts:
        return None
    costs = planes[:, 0].astype(float)
    excess = np.column_stack([sign * (planes[:, 1 + j] - at) for j, sign, at in acts]).astype(float)
    size = np.maximum(1.0, np.abs(excess).max(axis=0))
    worth = max(1.0, float(np.ptp(costs)))
    # In units in which multipliers are about 1: top - Σ multiplier · excess <= cost.
    solution = linprog(
        [-1.0, *[0.0] * len(acts)],
        A_ub=np.column_stack([np.ones(len(planes)), -excess / size]),
        b_ub=(costs - costs.min()) / worth,
        bounds=[(None, None), *[(0.0, box)] * len(acts)],
        method="highs",
    )
    if solution.x is None or not np.isfinite(solution.x).all():
        return None
    best, values = solution.x[1:], [0.0] * len(side)
    for (j, sign, _), value, s in zip(acts, best, size, strict=True):
        values[j] += sign * value * worth / s
    top = float(solution.x[0]) * worth + float(costs.min())
    return MasterSolution(top, values, excess, bool((best >= box * (1 - 1e-9)).any()))


def _size(array: np.ndarray) -> int:
    """The largest possible absolute sum of one entry per row, as an integer of Python."""
    if not array.size:
        return 0
    return int(np.abs(array).max(axis=1).sum(dtype=object))
