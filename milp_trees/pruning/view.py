r"""`NodeGains`: the view of tasks on pruned ensembles.

All trees are stored in one array of nodes, in which a parent comes before its children. With
:math:`y_h = 1` if node :math:`h` stays a split,

.. math:: \text{error} = \sum_h e_h z_h = e_0 - \sum_h g_h y_h,
   \qquad z_h = y_{parent(h)} - y_h, \quad g_h = e_h - e_{left(h)} - e_{right(h)},

and the cost is a sum over the *purchases* :math:`u` (feature :math:`k` for row :math:`i`, a group
for a row, or a group once for all rows) that some kept split needs, plus prices of the kept splits
themselves. References: Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles with
feature cost"; Picard (1976) for closures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class NodeGains:
    r"""Errors of nodes and prices of what splits need, in exact integers.

    The value of a pruning is ``error_unit · E + lam · cost_unit · C`` (and a constant) with the
    integers E (errors of its leaves) and C (prices of its purchases, and `keep_cost` of its
    splits).

    Parameters
    ----------
    parent, left, right : int64 arrays of shape (M,)
        Nodes of all unpruned trees, one tree after the other; -1 if there is no such node. A parent
        comes before its children.
    member : int64 array of shape (M,)
        Tree of every node, 0..T-1.
    unit : int64 array of shape (M,)
        What is bought to evaluate the node's test (index into `units`: a feature, or a group of
        features with one price); -1 at leaves and if the test is free.
    error : int64 array of shape (M,)
        Errors of the node if it is a leaf, at least 0.
    keep_cost : int64 array of shape (M,)
        Paid for the node if it stays a split (evaluations, one more leaf), at least 0; 0 at leaves.
    leaf : int32 array of shape (n, T)
        Leaf (index of node) of the unpruned trees, for every row for which features are bought.
    first : int64 array of shape (F,)
        Nodes that are the first on their path to test their unit, in increasing order.
    start, need : int64 array of shape (F + 1,), int32 array of shape (E,)
        Purchases that node `first[j]` needs: `need[start[j]:start[j + 1]]`, one per row that
        reaches it.
    price : int64 array of shape (P,)
        Prices of purchases, at least 0.
    purchase_unit, purchase_row : int64 arrays of shape (P,)
        What is bought (index into `units`) and for which row (-1: for all).
    above : int64 array of shape (A, 2)
        Purchase `above[a, 0]` needs purchase `above[a, 1]` (a group that its feature belongs to).
    units : tuple of str
        Names of the units.
    error_unit, cost_unit, lam : Fraction
        Factors of E and C.
    exact : bool
        False if measured losses or prices had to be rounded to integers.
    budget : int or None
        Largest C that is allowed.
    cost_offset : Fraction
        Natural cost that no pruning avoids (the last leaf of every tree): the value is
        ``error_unit · E + lam · (cost_unit · C + cost_offset)``.
    """

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    member: np.ndarray
    unit: np.ndarray
    error: np.ndarray
    keep_cost: np.ndarray
    leaf: np.ndarray
    first: np.ndarray
    start: np.ndarray
    need: np.ndarray
    price: np.ndarray
    purchase_unit: np.ndarray
    purchase_row: np.ndarray
    above: np.ndarray
    units: tuple[str, ...]
    error_unit: Fraction
    cost_unit: Fraction
    lam: Fraction
    exact: bool = True
    budget: int | None = None
    cost_offset: Fraction = Fraction(0)

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        return len(self.parent)

    @property
    def n_trees(self) -> int:
        return int(self.leaf.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows for which features are bought."""
        return int(self.leaf.shape[0])

    @property
    def n_purchases(self) -> int:
        return len(self.price)

    @cached_property
    def roots(self) -> np.ndarray:
        return np.flatnonzero(self.parent < 0)

    @cached_property
    def is_split(self) -> np.ndarray:
        """Whether a node is a split of its unpruned tree, shape (M,)."""
        return self.left >= 0

    @cached_property
    def splits(self) -> np.ndarray:
        """Nodes that are splits, in increasing order, shape (H,)."""
        return np.flatnonzero(self.is_split)

    @cached_property
    def gain(self) -> np.ndarray:
        """Errors that are saved if a node stays a split; 0 at leaves.

        It may be negative if errors are counted on rows that the trees were not fitted on.
        """
        gain = np.zeros(self.n_nodes, dtype=np.int64)
        h = self.splits
        gain[h] = self.error[h] - self.error[self.left[h]] - self.error[self.right[h]]
        return gain

    @cached_property
    def root_error(self) -> int:
        """Errors without any split."""
        return int(self.error[self.roots].sum())

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def step(self) -> tuple[int, int, Fraction]:
        """(a, b, unit): the value is `unit · (a E + b C)` with the smallest integers a, b."""
        mine, other = self.error_unit, self.lam * self.cost_unit
        if not other:
            return 1, 0, mine
        ratio = other / mine
        return ratio.denominator, ratio.numerator, mine / ratio.denominator

    @property
    def offset(self) -> Fraction:
        """Natural value of Z = 0."""
        return self.lam * self.cost_offset

    @property
    def scale(self) -> Fraction:
        """Natural value per unit of Z."""
        return self.step[2]

    def to_value(self, Z: float | int) -> Fraction:
        """Natural value of an integer objective Z = a E + b C."""
        return self.offset + self.scale * (Z if isinstance(Z, (int, np.integer)) else Fraction(Z))

    def from_value(self, value: Fraction | float) -> Fraction:
        """Integer objective of a natural value."""
        return (Fraction(value) - self.offset) / self.scale

    @cached_property
    def spread(self) -> int:
        """Largest possible difference of two objectives."""
        a, b, _ = self.step
        paid = int(self.price.sum()) + int(self.keep_cost.sum())
        return (
            a * (int(np.maximum(self.gain, 0).sum()) + int(np.maximum(-self.gain, 0).sum()))
            + b * paid
        )

    @cached_property
    def tolerance(self) -> int:
        """Two objectives with at most this difference are equal; 0 if the numbers are exact."""
        from milp_trees.common.exact import INEXACT_TOLERANCE

        return 0 if self.exact else max(1, round(INEXACT_TOLERANCE * self.spread))

    @cached_property
    def absolute_gap(self) -> float:
        """An incumbent is optimal if its gap, in units, is below this."""
        return 0.999 if self.exact else float(self.tolerance)

    @cached_property
    def unavoidable(self) -> float:
        """Lower bound of every pruning: the sum of each tree's smallest error, without prices."""
        best = self.error.copy()
        for h in self.splits[::-1].tolist():
            best[h] = min(best[h], best[self.left[h]] + best[self.right[h]])
        return float(self.step[0] * int(best[self.roots].sum()))

    # -- prunings ----------------------------------------------------------------------------------

    def totals(self, keep: np.ndarray) -> tuple[int, int]:
        """(E, C) of a pruning.

        Parameters
        ----------
        keep : bool array of shape (M,)
            Whether a node stays a split; a kept node's parent must be kept.
        """
        keep = self.checked(keep)
        E = self.root_error - int(self.gain[keep].sum())
        bought = self.bought(keep)
        return E, int(self.price[bought].sum()) + int(self.keep_cost[keep].sum())

    def bought(self, keep: np.ndarray) -> np.ndarray:
        """Purchases that a pruning makes, bool array of shape (P,)."""
        bought = np.zeros(self.n_purchases, dtype=bool)
        bought[self.need[np.repeat(keep[self.first], np.diff(self.start))]] = True
        while len(self.above):
            more = self.above[bought[self.above[:, 0]], 1]
            if bought[more].all():
                break
            bought[more] = True
        return bought

    def checked(self, keep: np.ndarray) -> np.ndarray:
        """`keep` as a bool array.

        Raises
        ------
        ValueError
            It is no pruning: a leaf is kept as a split, or a split without its parent.
        """
        keep = np.asarray(keep, dtype=bool)
        if keep.shape != (self.n_nodes,) or (keep & ~self.is_split).any():
            raise ValueError(f"keep must be a bool per node ({self.n_nodes}), true at splits only.")
        below = np.flatnonzero(keep & (self.parent >= 0))
        if not keep[self.parent[below]].all():
            raise ValueError("A split is kept without its parent.")
        return keep

    def Z(self, keep: np.ndarray) -> int:
        """Integer objective of a pruning."""
        a, b, _ = self.step
        E, C = self.totals(keep)
        return a * E + b * C

    def objective(self, predictor: Ensemble) -> int:
        """Integer objective of a pruned ensemble."""
        return self.Z(predictor.kept)

    def canonical(self, predictor: Ensemble) -> Ensemble:
        """The predictor itself, because this view changes no node."""
        return predictor

    def unshared(self) -> NodeGains:
        """The view in which every tree buys its features separately.

        Its optimum prunes each tree on its own.

        Raises
        ------
        Unsupported
            There are groups with a price, and it is not defined which of the separate trees would
            pay it.
        """
        from milp_trees.common.errors import Unsupported

        if len(self.above):
            raise Unsupported(
                "Trees cannot be pruned one by one where groups have prices on top of their members'; give prices per feature only."
            )
        own = self.need
        return replace(
            self,
            need=np.arange(len(own), dtype=np.int32),
            price=self.price[own],
            purchase_unit=self.purchase_unit[own],
            purchase_row=self.purchase_row[own],
            budget=None,
        )

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Store for what methods derive from this view and may need again; not part of it."""
        return {}

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem, for tables beside the sizes of a model."""
        return {
            "data_rows": self.n_rows,
            "trees": self.n_trees,
            "splits": len(self.splits),
            "purchases": self.n_purchases,
            "first_uses": len(self.need),
        }
