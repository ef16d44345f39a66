"""Remove from a hypergraph of states what cannot be part of a tree within a bound.

No subproblem is searched: values and allowances are those within the hypergraph itself, which are
never smaller than those in the full one. So further multipliers and better incumbents shrink a
hypergraph in the time of a few passes over its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from milp_trees.engines.hypergraph.graph import States
from milp_trees.engines.hypergraph.parts import kept, least_through
from milp_trees.tasks.views import LeafSums


class Priced(Protocol):
    """Multipliers of side rows, as rationals over one denominator."""

    @property
    def denominator(self) -> int:
        """The common denominator."""

    @property
    def numerators(self) -> tuple[int, ...]:
        """One for every side row."""

    def view_at(self, view: LeafSums) -> Any:
        """The view without side rows whose costs are `denominator · regret + Σ numerators · coefs`.

        Its penalties are `denominator` times those of the given view.
        """

    def bound(self, z: int, view: LeafSums) -> Fraction:
        """The Lagrangian value, in the view's units, of the objective `z` of `view_at`."""


def most_at(prices: Priced, view: LeafSums, upper: int) -> int:
    """The largest objective of `view_at` whose Lagrangian value is at most `upper`."""
    return int(prices.denominator * (upper - prices.bound(0, view)) // 1)


def shrink(h: States, view: LeafSums, multipliers: Sequence[Priced], upper: int) -> States:
    """The columns that are part of a tree within a bound, for each of some multipliers."""
    last, at = len(multipliers), 0
    while last and h.n_columns:
        priced = multipliers[at % len(multipliers)]
        cost = priced.denominator * h.cost
        if len(view.side):
            cost = cost + h.side @ np.array(priced.numerators, dtype=np.int64)
        through = least_through(h, cost)
        keep = through <= most_at(priced, view, upper)
        last = last - 1 if keep.all() else len(multipliers)
        h = kept(h, keep)
        at += 1
    return h
