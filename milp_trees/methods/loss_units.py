r"""`LossUnits`: what claims of a proof say where the search rounds what leaves cost.

A search over `LossSums` adds up units that are rounded, with a tie per leaf. Claims are about the
exact loss, in units that are :math:`2^\text{shift}` times as large, so that the checker's own sums
stay exact. A bound b of the search for trees with at most L leaves on a set of rows becomes

.. math:: \lfloor 2^{-\text{shift}}(b - a L - r) \rfloor + 4,

where a is more than what rounding makes of a leaf, here and in the checker, and r is the same for
the rows of the set. (What rows cost in every tree is left out of b, and added again.) The numbers of leaves and the r of both sides of a test add up to no more than
those of the set, and the 4 pays for rounding down twice, for the price of the test and for L, which
is rounded. So claims about both sides that are enough in units of the search are enough in the file.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.methods.claims import Claims
from milp_trees.tasks.loss_sums import LossSums

#: The checker takes sums of absolute values below 2^51, those of weights and targets included.
ROOM = 2.0**50.7


class LossUnits:
    """Units of the claims about a view of squared error.

    Parameters
    ----------
    view, reduced : LossSums
        Before and after presolve.

    Raises
    ------
    Unsupported
        No checker knows this loss.
    """

    def __init__(self, view: LossSums, reduced: LossSums) -> None:
        if view.exact_loss() is None:
            raise Unsupported("proof files are about costs of actions and squared error alone.")
        self.view, self.shift = reduced, _shift(view, reduced)
        coarse, K = 2**self.shift, view.n_values - 1
        #: What each row costs at least in every tree: rows of the table that are equal in all tests.
        self.base = np.maximum(reduced.leaf_values(reduced.parts), 0)
        self.base[reduced.counts == 1] = 0
        #: Search units per leaf and per row by which claims are lower than bounds of the search.
        self.per_leaf = view.tie + math.ceil(_lost(view)) + coarse * (4 * view.n_values + 10)
        rounded = view.grid < coarse or _lost(view) > 0  # squares are no whole numbers of units
        self.per_row = 2 * reduced.counts + coarse * (rounded + (K + 1) * (self.base > 0))
        #: Whether no tree that matters has more leaves than its price per leaf allows.
        self.priced = view.leaf_cost > 2 * self.per_leaf

    @property
    def above(self) -> LossSums:
        """The view after presolve, without what its rows cost in every tree."""
        parts = self.view.parts.copy()
        parts[:, -1] -= self.base
        return replace(self.view, parts=parts)

    def stated(self, bound: int, depth: int | None, rows: np.ndarray) -> int:
        """What a claim says of some rows of the view, given a bound of a search in `above`."""
        lower = self.per_leaf * self._leaves(bound, depth, int(rows.sum()))
        lower += int(self.per_row[rows].sum())
        below = int(self.base[rows].sum())
        return max(0, (bound + below - math.ceil(lower)) // 2**self.shift + 4)

    def aim(self, Z: int, depth: int | None) -> int:
        """A bound below an optimum, in units of `above`, which bounds of sets surely reach."""
        leaves = self._leaves(Z, depth, self.view.n_rows)
        slack = 2 * math.ceil(self.view.excess + (self.view.tie + 4) * leaves)
        return Z - int(self.base.sum()) - slack

    def single(self, Z: int, depth: int | None, leaves: int | None = None) -> Claims:
        """The claim that no tree costs less than an optimum, for what needs no other claims."""
        aim, rows = self.aim(Z, depth), np.ones(self.view.n_rows, dtype=bool)
        limits: tuple[Any, ...] = () if leaves is None else ([], leaves)
        claim = (self.stated(aim, depth, rows), depth, [], *limits)
        return Claims([claim], notes={"shift": self.shift})

    def _leaves(self, bound: int, depth: int | None, n: int) -> float:
        """No less than the leaves of trees on n rows that cost less than a bound."""
        most: float = n if depth is None else min(n, 2**depth)
        return min(most, bound / self.view.leaf_cost) if self.priced else most


def _shift(view: LossSums, reduced: LossSums) -> int:
    """The smallest shift with which the checker's sums stay below its limit."""
    ends = [f(_means(view), axis=0) for f in (np.min, np.max)]
    inside = view.parts[:, -1].sum(dtype=float)
    # What rows cost at most with predictions between the ends, above what their means leave.
    beyond = np.maximum(*((_means(reduced) - c) ** 2 for c in ends)).sum(axis=1)
    beyond = float(beyond @ reduced.parts[:, 0]) * view.grid
    prices = view.leaf_cost + int(view.split_costs.max(initial=0))
    return max(0, math.ceil(math.log2((2 * inside + 1.01 * beyond + 4 * prices + 1) / ROOM)))


def _means(view: LossSums) -> np.ndarray:
    """The mean targets of rows."""
    means: np.ndarray = view.parts[:, 1:-1] / np.maximum(view.parts[:, :1], 1)
    return means


def _lost(view: LossSums) -> float:
    """Units by which a loss of the search's sums may be above that of the data."""
    return float(view.excess) if view.excess > 2 * view.total_rows + 64 else 0.0
