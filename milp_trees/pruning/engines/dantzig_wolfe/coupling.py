r"""The pruning problem for a decomposition: trees that are coupled only by what they buy.

See Nan, Wang, Saligrama (2016).

With :math:`y_h = 1` where node h stays a split and :math:`W_p = 1` where purchase p is made, all
costs in whole units of the view's objective,

.. math:: \min \sum_t c_t(y) + \sum_p b_p W_p \quad\text{s.t.}\quad y_h \le W_p \;\; \forall (h, p),\qquad W_p \le W_g \;\; \forall (p, g),

where :math:`c_t` are the errors of a tree's leaves and the own costs of its splits. A *link* (h, p)
means that h is the first on its path to need p; a feature that is bought for a row has one link per
tree, the paper's :math:`w_{t,k,i}`.

**Bound.** For all duals :math:`\pi \ge 0` of the links and :math:`\mu \ge 0` of the pairs (p, g),
the number

.. math:: \sum_t \min_y \Big[c_t(y) + \sum_{(h,p)} \pi_{hp} y_h\Big] + \sum_p \min\Big(0,\; b_p - \sum_h \pi_{hp} + \sum_{(p,g)} \mu_{pg} - \sum_{(q,p)} \mu_{qp}\Big)

is at most the optimum. Duals are first rounded to multiples of :math:`2^{-s}`, and then all sums
are integers. So the bound is valid, however inexact the arithmetic was that made the duals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.pruning.engines.min_cut.closure import closure_of, exact_sum

if TYPE_CHECKING:
    from milp_trees.pruning.view import NodeGains

#: Bits that sums of scaled costs and duals may use; int64 has 63.
BITS = 61
NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Coupled:
    """Trees and their coupling, in whole units.

    Parameters
    ----------
    parent, left, right : int64 arrays of shape (M,)
        Nodes of all trees, one tree after the other, parents before children; -1 if there is none.
    begin : int64 array of shape (T + 1,)
        Nodes of tree t are `begin[t]:begin[t + 1]`.
    error, split_cost : int64 arrays of shape (M,)
        Cost of a node as a leaf, and its own cost as a split; at least 0.
    node, purchase : int64 arrays of shape (E,)
        Links: the node needs the purchase. They are in rising order of nodes.
    price : int64 array of shape (P,)
    above : int64 array of shape (A, 2)
        Purchase `above[a, 0]` needs purchase `above[a, 1]`.
    """

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    begin: np.ndarray
    error: np.ndarray
    split_cost: np.ndarray
    node: np.ndarray
    purchase: np.ndarray
    price: np.ndarray
    above: np.ndarray

    @property
    def n_trees(self) -> int:
        return len(self.begin) - 1

    @property
    def n_links(self) -> int:
        return len(self.node)

    @property
    def n_purchases(self) -> int:
        return len(self.price)

    @cached_property
    def link_begin(self) -> np.ndarray:
        """Links of tree t are `link_begin[t]:link_begin[t + 1]`, int64 array of shape (T + 1,)."""
        return np.searchsorted(self.node, self.begin)

    @cached_property
    def total(self) -> int:
        """An upper bound on the cost of every pruning."""
        return int(self.error.sum()) + int(self.split_cost.sum()) + int(self.price.sum())

    def fair_duals(self) -> tuple[np.ndarray, np.ndarray]:
        """Duals (of links, of pairs) that divide every price evenly among the nodes that need it.

        The price of a group is first divided among its features.
        """
        cost, pairs = self.price.astype(float), np.zeros(len(self.above))
        links = np.bincount(self.purchase, minlength=self.n_purchases)
        sharers = np.maximum(links + np.bincount(self.above[:, 1], minlength=self.n_purchases), 1)
        for d in range(self._depth.max(initial=0)):
            here = np.flatnonzero(self._depth[self.above[:, 1]] == d)
            pairs[here] = (cost / sharers)[self.above[here, 1]]
            np.add.at(cost, self.above[here, 0], pairs[here])
        return (cost / sharers)[self.purchase], pairs

    @cached_property
    def _depth(self) -> np.ndarray:
        """Length of the longest chain of purchases above each."""
        depth = np.zeros(self.n_purchases, dtype=np.int64)
        while len(self.above) and (depth[self.above[:, 0]] <= depth[self.above[:, 1]]).any():
            np.maximum.at(depth, self.above[:, 0], depth[self.above[:, 1]] + 1)
        return depth

    # -- duals -----------------------------------------------------------------------------------------------

    def whole_duals(self, links: np.ndarray, pairs: np.ndarray) -> WholeDuals:
        """Duals rounded down to multiples of 2^-shift.

        The shift is the largest for which no sum of costs and duals can overflow. Duals that are
        too large for this are scaled down first, since the bound is valid at any duals.
        """
        links, pairs = np.maximum(links, 0.0), np.maximum(pairs, 0.0)
        most, room = float(links.sum() + pairs.sum()), 2**BITS - self.total
        if most > room / 2:
            links, pairs = links * (room / 4 / most), pairs * (room / 4 / most)
            most = room / 4
        shift = BITS - (self.total + math.ceil(most) + 1).bit_length()
        return WholeDuals(_floor(links, shift), _floor(pairs, shift), shift)

    def rest(self, duals: WholeDuals) -> np.ndarray:
        """What the duals leave of the prices, int64 array of shape (P,) in units of 2^-shift."""
        rest = self.price << duals.shift
        np.subtract.at(rest, self.purchase, duals.links)
        np.add.at(rest, self.above[:, 0], duals.pairs)
        np.subtract.at(rest, self.above[:, 1], duals.pairs)
        return rest

    def bound(self, values: np.ndarray, rest: np.ndarray, shift: int) -> Fraction:
        """A lower bound on the cost of every pruning.

        It is the least cost of each tree at the duals, minus the excess of the duals over the
        prices.
        """
        return Fraction(int(values.sum()) + int(np.minimum(rest, 0).sum()), 1 << shift)


class WholeDuals(NamedTuple):
    """Duals of links and pairs as non-negative int64 arrays in units of 2^-shift."""

    links: np.ndarray
    pairs: np.ndarray
    shift: int


def _floor(duals: np.ndarray, shift: int) -> np.ndarray:
    return np.floor(np.ldexp(duals, shift)).astype(np.int64)


def coupled(view: NodeGains, merge: bool = True) -> Coupled:
    """A view in whole units; what costs nothing has no links."""
    a, b, _ = view.step
    most = a * exact_sum(view.error) + b * (exact_sum(view.price) + exact_sum(view.keep_cost))
    if most.bit_length() >= BITS - 1:
        raise Unsupported(
            f"Errors and prices add up to {most:.3g} whole units, where {2 ** (BITS - 2):.3g} can be decomposed; round prices, weights or lam to fewer digits."
        )
    begin = np.append(view.roots, view.n_nodes)
    if merge and b:
        c = closure_of(view)
        split_cost, H = np.zeros(view.n_nodes, dtype=np.int64), c.n_splits
        split_cost[c.splits] = c.cost[:H]
        link = c.head >= H
        node = np.repeat(c.splits, np.diff(c.start)[:H])[link]
        return Coupled(
            parent=view.parent,
            left=view.left,
            right=view.right,
            begin=begin,
            error=a * view.error,
            split_cost=b * split_cost,
            node=node,
            purchase=c.head[link].astype(np.int64) - H,
            price=b * c.cost[H:],
            above=NO_PAIRS,
        )
    price = b * view.price
    above = view.above.reshape(-1, 2).astype(np.int64)
    costs = price > 0  # its own price, or that of what is above it
    while not costs[above[costs[above[:, 1]], 0]].all():
        costs[above[costs[above[:, 1]], 0]] = True
    node, linked = np.repeat(view.first, np.diff(view.start)), costs[view.need]
    return Coupled(
        parent=view.parent,
        left=view.left,
        right=view.right,
        begin=begin,
        error=a * view.error,
        split_cost=b * view.keep_cost,
        node=node[linked],
        purchase=view.need[linked].astype(np.int64),
        price=price,
        above=above[costs[above[:, 1]]],
    )


def warm_up() -> None:
    """Compile the kernels that join purchases."""
    from milp_trees.pruning.engines.min_cut.closure import tiny_gains

    for above in (NO_PAIRS, np.array([[0, 1]])):
        coupled(tiny_gains(above))
