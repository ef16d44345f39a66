r"""`Closure`: which splits to keep, as a maximum-weight closure (project selection; Rhys 1970, Balinski 1970, Picard 1976).

Items are splits and purchases. A split needs its parent and the purchases that it is the first on its path to use; the weight of an item at the
price :math:`\mu = p / q` of a unit of cost is :math:`q \cdot gain - p \cdot cost`. A set that holds all that its items need is a pruning with what it pays
for, and the heaviest is the source side of a minimum cut.

Purchases that the same splits need are bought together or not at all, so they are one item at the sum of their prices; what a single split needs is a
cost of that split. Which purchases those are is found by refining a partition, one split at a time, in time linear in the number of needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from milp_trees.errors import DataError

if TYPE_CHECKING:
    from milp_trees.tasks.pruning_view import NodeGains

#: Sums of weights and flows stay below this; beyond it 64-bit integers would wrap.
LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class Closure:
    """Items that need each other, with gains and costs in exact integers.

    Parameters
    ----------
    gain, cost : int64 arrays of shape (V,)
        Of every item; the first `n_splits` are splits (a parent before its children), the others purchases with gain 0.
    start, head : int64 array of shape (V + 1,), int32 array of shape (A,)
        Item v needs the items `head[start[v]:start[v + 1]]`: of a split first its parent, if it has one.
    splits : int64 array of shape (n_splits,)
        Node of the view behind every split.
    item : int32 array of shape (P,)
        Item that every purchase of the view is part of: a purchase, the split that alone needs it, or -1 where it is free or no split needs it.
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
        """`unit · gain - price · cost` of every item.

        Raises
        ------
        DataError
            A sum of them might not fit into 64 bits.
        """
        self.check_range(price, unit)
        weights: np.ndarray = unit * self.gain - price * self.cost
        return weights

    def check_range(self, price: int | None = None, unit: int | None = None) -> None:
        """That no sum of weights can exceed 64 bits: at one price, or at every slope `gain / cost` that the curve may have.

        Raises
        ------
        DataError
            With the remedy.
        """
        gains, costs = exact_sum(np.abs(self.gain)), exact_sum(self.cost)
        price, unit = gains if price is None else price, costs if unit is None else unit
        if max(unit * gains + price * costs, price, unit) >= LARGEST:
            raise DataError(
                f"The integers of this cut might reach {unit * gains + price * costs:.1e}, and 64 bits hold {LARGEST:.1e}: errors sum to {gains:.3g} units and "
                f"costs to {costs:.3g}. Round weights, losses and feature costs (and lambda) to fewer digits, so that their common denominator is smaller."
            )


def exact_sum(whole: np.ndarray) -> int:
    """Sum of an int64 array as a Python integer, right also where 64 bits would wrap."""
    return (int((whole >> 31).sum()) << 31) + int((whole & (2**31 - 1)).sum())


def closure_of(view: NodeGains, merge: bool = True) -> Closure:
    """The closure problem of a view.

    Parameters
    ----------
    merge : bool, default=True
        Purchases that the same splits need become one, and what one split alone needs its own cost. The optimum is the same without.

    Raises
    ------
    DataError
        There are more than 2^31 needs, or costs whose sum exceeds 64 bits.
    """
    splits = view.splits
    if exact_sum(view.price) + exact_sum(view.keep_cost) >= LARGEST:
        raise DataError(f"Feature costs sum to more than the {LARGEST:.1e} units that 64 bits hold; round them to fewer digits.")
    position = np.full(view.n_nodes + 1, -1, dtype=np.int64)  # one more for the parents of roots
    position[splits] = np.arange(len(splits))
    parent = position[view.parent[splits]]
    start, need = _needs(view)
    if len(need) + len(splits) >= 2**31:
        raise DataError(f"{len(need):,} needs of splits are more than the 2^31 that this engine counts; use fewer rows or trees.")
    needs = np.zeros(len(splits) + 1, dtype=np.int64)
    counted = np.zeros(len(splits), dtype=np.int64)
    counted[position[view.first]] = np.diff(start)
    np.cumsum(counted, out=needs[1:])  # `first` rises, and so do its positions: `need` is in the order of splits already
    group, n_groups = _refine(needs, need, view.price) if merge else _paid(view.price, needs, need)
    return _assemble(view, parent, needs, need, group, n_groups, merge)


def _assemble(view: NodeGains, parent: np.ndarray, needs: np.ndarray, need: np.ndarray, group: np.ndarray, n_groups: int, merge: bool) -> Closure:
    H = len(parent)
    uses, user, n_arcs = _uses(needs, need, group, n_groups)
    paid = group >= 0
    price = np.zeros(n_groups, dtype=np.int64)
    np.add.at(price, group[paid], view.price[paid])
    shared = uses > 1 if merge else uses > 0
    item_of = np.where(shared, H - 1 + np.cumsum(shared), np.where(uses == 1, user, -1)).astype(np.int32)
    cost = np.concatenate([view.keep_cost[view.splits], price[shared]]).astype(np.int64)
    if merge:
        own = uses == 1
        np.add.at(cost, user[own], price[own])
    gain = np.zeros(len(cost), dtype=np.int64)
    gain[:H] = view.gain[view.splits]
    start, head = _arcs(H, len(cost), parent, needs, need, group, item_of, n_arcs + H)
    item = np.full(view.n_purchases, -1, dtype=np.int32)
    item[paid] = item_of[group[paid]]
    return Closure(gain, cost, start, head, view.splits, item)


def _needs(view: NodeGains) -> tuple[np.ndarray, np.ndarray]:
    """Needs of the splits in `view.first`, those above a purchase included."""
    if not len(view.above):
        return np.asarray(view.start, dtype=np.int64), np.asarray(view.need, dtype=np.int32)
    order = np.argsort(view.above[:, 0], kind="stable")
    above_start = np.searchsorted(view.above[order, 0], np.arange(view.n_purchases + 1))
    above = view.above[order, 1].astype(np.int32)
    row = np.full(view.n_nodes, -1, dtype=np.int64)
    row[view.first] = np.arange(len(view.first))
    arrays = (view.left, view.right, view.roots, row, view.start, view.need, above_start, above)
    counts, _ = _with_above(*arrays, view.n_purchases, np.zeros(len(view.first) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), True)
    start = np.zeros(len(view.first) + 1, dtype=np.int64)
    np.cumsum(counts[:-1], out=start[1:])
    _, need = _with_above(*arrays, view.n_purchases, start, np.zeros(start[-1], dtype=np.int32), False)
    return start, need


# fmt: off
@njit(cache=True)
def _with_above(left, right, roots, row, start, need, above_start, above, n_purchases, out_start, out, count_only):  # type: ignore[no-untyped-def]
    """Every split's needs and what they need in turn, less what splits on its path have already.

    Called twice: to count (`out_start` becomes the counts) and to write. A walk over the trees, in which `owner` holds the split that brought a purchase in.
    """
    owner = np.full(n_purchases, -1, np.int64)
    stack = np.empty(len(row) + 1, np.int64)
    pending = np.empty(n_purchases + 1, np.int64)
    trail = np.empty(n_purchases, np.int64)  # purchases in the order in which the path brought them in
    height = 0
    counts = np.zeros(len(out_start), np.int64)
    for root in roots:
        top = 0
        stack[0] = root
        while top >= 0:
            h = stack[top]
            top -= 1
            if h < 0:  # the way back: forget what this split brought in
                h = -h - 1
                while height and owner[trail[height - 1]] == h:
                    height -= 1
                    owner[trail[height]] = -1
                continue
            if left[h] < 0:
                continue
            j = row[h]
            if j >= 0:
                waiting = 0
                for k in range(start[j], start[j + 1]):
                    if owner[need[k]] < 0:
                        owner[need[k]] = h
                        pending[waiting] = need[k]
                        waiting += 1
                    else:  # an ancestor has the purchase, and all above it
                        continue
                    while waiting:
                        waiting -= 1
                        p = pending[waiting]
                        trail[height] = p
                        height += 1
                        if not count_only:
                            out[out_start[j] + counts[j]] = p
                        counts[j] += 1
                        for a in range(above_start[p], above_start[p + 1]):
                            if owner[above[a]] < 0:
                                owner[above[a]] = h
                                pending[waiting] = above[a]
                                waiting += 1
            stack[top + 1] = -h - 1
            stack[top + 2] = left[h]
            stack[top + 3] = right[h]
            top += 3
    return counts, out


@njit(cache=True)
def _refine(needs, need, price):  # type: ignore[no-untyped-def]
    """Group of every purchase so that two are in one exactly if the same splits need them; -1 where the price is 0 or no split needs it."""
    P = len(price)
    group = np.zeros(P, np.int32)
    size = np.zeros(P + 2, np.int64)
    for p in range(P):
        if price[p] == 0:
            group[p] = -1
        else:
            size[0] += 1
    met = np.zeros(P + 2, np.int64)
    stamp = np.full(P + 2, -1, np.int64)
    moved = np.zeros(P + 2, np.int32)
    seen = np.full(P, -1, np.int32)
    n_groups = 1
    for h in range(len(needs) - 1):
        for k in range(needs[h], needs[h + 1]):
            p = need[k]
            c = group[p]
            if c < 0 or seen[p] == h:
                continue
            seen[p] = h
            if stamp[c] != h:
                stamp[c] = h
                met[c] = 0
                moved[c] = -1
            met[c] += 1
        for k in range(needs[h], needs[h + 1]):
            p = need[k]
            c = group[p]
            if c < 0 or seen[p] == -2 - h:
                continue
            seen[p] = -2 - h
            if moved[c] < 0:
                if c > 0 and met[c] == size[c]:  # it stays whole; group 0 holds what no split has needed yet
                    continue
                moved[c] = n_groups
                size[n_groups] = met[c]
                size[c] -= met[c]
                n_groups += 1
            group[p] = moved[c]
    for p in range(P):
        group[p] = group[p] - 1 if group[p] > 0 else -1
    return group, n_groups - 1


@njit(cache=True)
def _paid(price, needs, need):  # type: ignore[no-untyped-def]
    """A group of its own for every purchase with a price that some split needs."""
    used = np.zeros(len(price), np.bool_)
    for k in range(len(need)):
        used[need[k]] = True
    group = np.full(len(price), -1, np.int32)
    n_groups = 0
    for p in range(len(price)):
        if used[p] and price[p] > 0:
            group[p] = n_groups
            n_groups += 1
    return group, n_groups


@njit(cache=True)
def _uses(needs, need, group, n_groups):  # type: ignore[no-untyped-def]
    """Number of splits that need each group, the last of them, and the number of all such pairs."""
    uses = np.zeros(n_groups, np.int64)
    user = np.full(n_groups, -1, np.int64)
    pairs = 0
    for h in range(len(needs) - 1):
        for k in range(needs[h], needs[h + 1]):
            c = group[need[k]]
            if c >= 0 and user[c] != h:
                user[c] = h
                uses[c] += 1
                pairs += 1
    return uses, user, pairs


@njit(cache=True)
def _arcs(H, V, parent, needs, need, group, item_of, most):  # type: ignore[no-untyped-def]
    """Needs as arcs: every split's parent, and the shared purchases it needs, each once."""
    start = np.zeros(V + 1, np.int64)
    head = np.empty(most, np.int32)
    last = np.full(V, -1, np.int64)
    n = 0
    for h in range(H):
        start[h] = n
        if parent[h] >= 0:
            head[n] = parent[h]
            n += 1
        for k in range(needs[h], needs[h + 1]):
            c = group[need[k]]
            if c < 0:
                continue
            v = item_of[c]
            if v >= H and last[v] != h:
                last[v] = h
                head[n] = v
                n += 1
    for v in range(H, V + 1):
        start[v] = n
    return start, head[:n].copy()
# fmt: on
