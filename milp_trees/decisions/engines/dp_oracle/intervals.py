"""Intervals of thresholds of a column, with a lower bound on all splits inside each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from milp_trees.decisions.engines.dp_oracle.instance import ROWS, WORST, OracleInstance


@dataclass(eq=False)
class Intervals:
    r"""Arrays of equal length; interval i stands for the thresholds t of a column with lo < t < hi.

    With L(t), H(t) for the loss of the low and the high side at t (of leaves, or of the best
    subtrees):

    - L rises and H falls with t, so a split in the interval loses at least L(lo) + H(hi);
    - without the rows between t and hi the low side loses at most their worst regret less,
      :math:`L(t)\ge L(hi)-\sum_{(t,hi]}r_i`, likewise :math:`H(t)\ge H(lo)-\sum_{(lo,t]}r_i`, so it
      loses at least L(hi) + H(lo) - worst, with the worst regrets of all rows between lo and hi.

    Both hold when L and H are lower bounds themselves.

    Parameters
    ----------
    node : int64 array
        The set of rows that is split.
    column, lo, hi : int64 arrays
    low_lo, low_hi, high_lo, high_hi : float arrays
        Lower bounds on L(lo), L(hi), H(lo), H(hi).
    worst : float array
        Worst regret of the rows between lo and hi; infinity switches the second bound off.
    """

    node: np.ndarray
    column: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    low_lo: np.ndarray
    low_hi: np.ndarray
    high_lo: np.ndarray
    high_hi: np.ndarray
    worst: np.ndarray

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, some: Any) -> Intervals:
        return Intervals(*(getattr(self, f.name)[some] for f in fields(self)))

    def bound(self) -> np.ndarray:
        """Lower bound on L(t) + H(t) inside, shape (m,)."""
        bound: np.ndarray = np.maximum(
            self.low_lo + self.high_hi, self.low_hi + self.high_lo - self.worst
        )
        return bound

    def halves(
        self, middle: np.ndarray, low: np.ndarray, high: np.ndarray, worst: np.ndarray
    ) -> Intervals:
        """The intervals that remain when one threshold of every interval is known."""
        rest = self.worst - np.where(np.isinf(worst), 0.0, worst)
        below = Intervals(
            self.node, self.column, self.lo, middle, self.low_lo, low, self.high_lo, high, worst
        )
        above = Intervals(
            self.node, self.column, middle, self.hi, low, self.low_hi, high, self.high_hi, rest
        )
        both = Intervals(
            *(
                np.concatenate([getattr(below, f.name), getattr(above, f.name)])
                for f in fields(self)
            )
        )
        return both[both.hi - both.lo > 1]


def begin(
    inst: OracleInstance, tables: np.ndarray, enough: np.ndarray, alone: np.ndarray
) -> tuple[Intervals, np.ndarray]:
    """For every column of every set, the interval of thresholds with two large sides.

    With it comes a lower bound for splits with a small side.


    A side that lacks some rows loses at least what the whole set does, minus their worst regret.
    """
    first, last = inst.thresholds(enough)
    node, column = np.nonzero(first <= last)
    lo, hi, at = first[node, column] - 1, last[node, column] + 1, inst.first[column]
    none = np.full(len(node), inst.leaf_cost)
    total, low = tables[:, -1, WORST], tables[:, :-1, WORST]
    small = np.full(len(tables), np.inf)
    if not inst.similarity:
        intervals = Intervals(
            node, column, lo, hi, none, none, none, none, np.full(len(node), np.inf)
        )
        missing = np.full_like(low, np.inf)
    else:
        below = np.where(lo >= 0, low[node, at + np.maximum(lo, 0)], 0.0)
        inside = hi < inst.first[column + 1] - at
        above = np.where(inside, total[node] - low[node, np.where(inside, at + hi, at)], 0.0)
        low_hi, high_lo = (
            np.maximum(none, alone[node] - above),
            np.maximum(none, alone[node] - below),
        )
        intervals = Intervals(
            node, column, lo, hi, none, low_hi, high_lo, none, total[node] - below - above
        )
        missing = np.minimum(low, total[:, None] - low)
    if inst.small_leaves:
        rows = tables[:, :-1, ROWS]
        edge = inst.leaf_cost + inst.cost + np.maximum(inst.leaf_cost, alone[:, None] - missing)
        small = np.where(~enough & (rows > 0) & (rows < tables[:, -1:, ROWS]), edge, np.inf).min(
            axis=1, initial=np.inf
        )
    return intervals, small
