r"""`Closure`: which splits to keep, as a maximum-weight closure problem.

It is also called project selection (Rhys 1970, Balinski 1970, Picard 1976).

Items are splits and purchases. A split needs its parent and the purchases that it is the first on
its path to use; the weight of an item at the price :math:`\mu = p / q` of a unit of cost is
:math:`q \cdot gain - p \cdot cost`. A set that contains everything its items need is a pruning with
all that it pays for, and the heaviest such set is the source side of a minimum cut.

Purchases that the same splits need are bought together or not at all, so they are one item whose
price is the sum. What a single split needs becomes a cost of that split. These purchases are found
by refining a partition, one split at a time, in time linear in the number of needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.pruning.engines.min_cut.merging import (
    arcs_of,
    count_uses,
    paid_alone,
    refine,
    with_above,
)

if TYPE_CHECKING:
    from milp_trees.pruning.view import NodeGains

#: Sums of weights and flows stay below this; beyond it 64-bit integers would wrap.
LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class Closure:
    """Items that need each other, with gains and costs in exact integers.

    Parameters
    ----------
    gain, cost : int64 arrays of shape (V,)
        Of every item; the first `n_splits` are splits (a parent before its children), the others
        purchases with gain 0.
    start, head : int64 array of shape (V + 1,), int32 array of shape (A,)
        Item v needs the items `head[start[v]:start[v + 1]]`; for a split the first of them is its
        parent, if it has one.
    splits : int64 array of shape (n_splits,)
        Node of the view behind every split.
    item : int32 array of shape (P,)
        The item that contains each purchase of the view: a purchase, the only split that needs it,
        or -1 if it is free or no split needs it.
    """

    gain: np.ndarray
    cost: np.ndarray
    start: np.ndarray
    head: np.ndarray
    splits: np.ndarray
    item: np.ndarray

    @property
    def n_items(self) -> int:
        return len(self.gain)

    @property
    def n_splits(self) -> int:
        return len(self.splits)

    @property
    def n_arcs(self) -> int:
        return len(self.head)

    def weights(self, price: int, unit: int) -> np.ndarray:
        """`unit · gain - price · cost` of every item."""
        self.check_range(price, unit)
        weights: np.ndarray = unit * self.gain - price * self.cost
        return weights

    def check_range(self, price: int | None = None, unit: int | None = None) -> None:
        """Check that no sum of weights can exceed 64 bits.

        It is checked at one price, or at every slope `gain / cost` that the curve may have.
        """
        gains, costs = exact_sum(np.abs(self.gain)), exact_sum(self.cost)
        price, unit = gains if price is None else price, costs if unit is None else unit
        if max(unit * gains + price * costs, price, unit) >= LARGEST:
            raise DataError(
                f"The integers of this cut might reach {Decimal(unit * gains + price * costs):.1e}, and 64 bits hold {LARGEST:.1e}: errors sum to {Decimal(gains):.3g} units and "
                f"costs to {Decimal(costs):.3g}. Round weights, losses and feature costs (and lambda) to fewer digits, so that their common denominator is smaller."
            )


def exact_sum(whole: np.ndarray) -> int:
    """Sum of an int64 array as a Python integer, without overflow."""
    return (int((whole >> 31).sum()) << 31) + int((whole & (2**31 - 1)).sum())


def closure_of(view: NodeGains, merge: bool = True) -> Closure:
    """The closure problem of a view."""
    splits = view.splits
    if exact_sum(view.price) + exact_sum(view.keep_cost) >= LARGEST:
        raise DataError(
            f"Feature costs sum to more than the {LARGEST:.1e} units that 64 bits hold; round them to fewer digits."
        )
    position = np.full(view.n_nodes + 1, -1, dtype=np.int64)  # the last one: parents of roots
    position[splits] = np.arange(len(splits))
    parent = position[view.parent[splits]]
    start, need = _needs(view)
    if len(need) + len(splits) >= 2**31:
        raise DataError(
            f"{len(need):,} needs of splits are more than the 2^31 that this engine counts; use fewer rows or trees."
        )
    needs = np.zeros(len(splits) + 1, dtype=np.int64)
    counted = np.zeros(len(splits), dtype=np.int64)
    counted[position[view.first]] = np.diff(start)
    np.cumsum(
        counted, out=needs[1:]
    )  # `first` rises, and so do its positions: `need` is already in the order of splits
    group, n_groups = (
        refine(needs, need, view.price) if merge else paid_alone(view.price, needs, need)
    )
    return _assemble(view, parent, needs, need, group, n_groups, merge)


def _assemble(
    view: NodeGains,
    parent: np.ndarray,
    needs: np.ndarray,
    need: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    merge: bool,
) -> Closure:
    H = len(parent)
    uses, user, n_arcs = count_uses(needs, need, group, n_groups)
    paid = group >= 0
    price = np.zeros(n_groups, dtype=np.int64)
    np.add.at(price, group[paid], view.price[paid])
    shared = uses > 1 if merge else uses > 0
    item_of = np.where(shared, H - 1 + np.cumsum(shared), np.where(uses == 1, user, -1)).astype(
        np.int32
    )
    cost = np.concatenate([view.keep_cost[view.splits], price[shared]]).astype(np.int64)
    if merge:
        own = uses == 1
        np.add.at(cost, user[own], price[own])
    gain = np.zeros(len(cost), dtype=np.int64)
    gain[:H] = view.gain[view.splits]
    start, head = arcs_of(H, len(cost), parent, needs, need, group, item_of, n_arcs + H)
    item = np.full(view.n_purchases, -1, dtype=np.int32)
    item[paid] = item_of[group[paid]]
    return Closure(gain, cost, start, head, view.splits, item)


def _needs(view: NodeGains) -> tuple[np.ndarray, np.ndarray]:
    """Needs of the splits in `view.first`, with those above a purchase."""
    if not len(view.above):
        return np.asarray(view.start, dtype=np.int64), np.asarray(view.need, dtype=np.int32)
    order = np.argsort(view.above[:, 0], kind="stable")
    above_start = np.searchsorted(view.above[order, 0], np.arange(view.n_purchases + 1))
    above = view.above[order, 1].astype(np.int32)
    row = np.full(view.n_nodes, -1, dtype=np.int64)
    row[view.first] = np.arange(len(view.first))
    arrays = (view.left, view.right, view.roots, row, view.start, view.need, above_start, above)
    counts, _ = with_above(
        *arrays,
        view.n_purchases,
        np.zeros(len(view.first) + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        True,
    )
    start = np.zeros(len(view.first) + 1, dtype=np.int64)
    np.cumsum(counts[:-1], out=start[1:])
    _, need = with_above(
        *arrays, view.n_purchases, start, np.zeros(start[-1], dtype=np.int32), False
    )
    return start, need


def tiny_gains(above: np.ndarray) -> NodeGains:
    """One tree of one split that needs one of two purchases, for calls that compile.

    `above` are the pairs of purchases of which the first is part of the second.
    """
    from milp_trees.pruning.view import NodeGains

    parent, left, right, unit = np.array([[-1, 0, 0], [1, -1, -1], [2, -1, -1], [0, -1, -1]])
    return NodeGains(
        parent=parent,
        left=left,
        right=right,
        member=np.zeros(3, dtype=np.int64),
        unit=unit,
        error=np.array([1, 0, 0]),
        keep_cost=np.zeros(3, dtype=np.int64),
        leaf=np.ones((1, 1), dtype=np.int32),
        first=np.array([0]),
        start=np.array([0, 1]),
        need=np.zeros(1, dtype=np.int32),
        price=np.ones(2, dtype=np.int64),
        purchase_unit=np.array([0, 1]),
        purchase_row=np.array([0, 0]),
        above=above,
        units=("a", "b"),
        error_unit=Fraction(1),
        cost_unit=Fraction(1),
        lam=Fraction(1),
    )
