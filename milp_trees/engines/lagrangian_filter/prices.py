"""Prices of side rows: what the reduction needs of Lagrangian multipliers."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from milp_trees.tasks.views import CostMatrix


class Priced(Protocol):
    """Multipliers of side rows, as rationals over one denominator."""

    @property
    def denominator(self) -> int:
        """The common denominator."""

    @property
    def numerators(self) -> tuple[int, ...]:
        """One for every side row."""

    def view_at(self, view: CostMatrix) -> CostMatrix:
        """The view without side rows whose costs are `denominator · regret + Σ numerators · coefs`.

        Its penalties are `denominator` times those of the given view.
        """

    def bound(self, z: int, view: CostMatrix) -> Fraction:
        """The Lagrangian value, in the view's units, of the objective `z` of `view_at`."""


def most_at(prices: Priced, view: CostMatrix, upper: int) -> int:
    """The largest objective of `view_at` whose Lagrangian value is at most `upper`."""
    return int(prices.denominator * (upper - prices.bound(0, view)) // 1)
