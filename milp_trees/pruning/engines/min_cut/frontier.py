r"""The whole curve by one parametric cut: divide and conquer with contraction.

Nested cuts are described by Gallo, Grigoriadis, Tarjan (1989).

Optimal closures are nested: they shrink as the price of cost rises. So one number per split
describes all of them: the slope :math:`\theta` up to which it is kept. Let D be a set of undecided
items with gain G and cost C. At :math:`\mu^* = G / C`, taking all of D and taking nothing are
equally good. One cut at that slope, in the integers :math:`C \cdot gain - G \cdot cost`, has one of
two results. Either no subset has a positive weight (then :math:`\theta = \mu^*` on all of D), or it
finds a set S, and then S and D \\ S are independent problems. The first problem is the smallest
pruning of largest gain. Every cut is the smallest one, so that of equally good prunings the smaller
one is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.pruning.engines.min_cut.closure import Closure
from milp_trees.pruning.engines.min_cut.push_relabel import (
    NEVER,
    Network,
    Preflow,
    max_preflow,
    reach_excess,
    reverse,
)

#: Source side and capacity of a minimum cut of a closure problem with given weights.
Cut = Callable[[Closure, np.ndarray], tuple[np.ndarray, int]]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Items that disappear together; the pieces that are kept longest come first.

    Parameters
    ----------
    rank : int32 array of shape (V,)
        Piece of every item; the number of pieces if the item is never kept.
    gain, cost : int64 arrays of shape (K,)
        Of every piece: it is kept while `lambda < gain / cost` (in units of errors per unit of
        cost), or always if its cost is 0.
    cuts, arcs : int
        Cuts solved, and arcs in all of them together.
    """

    rank: np.ndarray
    gain: np.ndarray
    cost: np.ndarray
    cuts: int
    arcs: int


class Arcs(NamedTuple):
    """Arcs of a closure problem by tail, how many are `live`, and gain and cost of every item."""

    start: np.ndarray
    head: np.ndarray
    live: np.ndarray
    gain: np.ndarray
    cost: np.ndarray


def frontier(closure: Closure, stop: np.ndarray = NEVER) -> Pieces:
    """All optimal closures, exactly.

    The kernel ends soon once `stop[0]` is not 0, which another thread may write; its result is then
    meaningless.
    """
    closure.check_range()
    members = largest_gain(closure.n_splits, closure.start, closure.head, closure.gain)
    order = np.flatnonzero(members).astype(np.int32)
    arcs = int(np.diff(closure.start)[order].sum())
    live = np.diff(closure.start).astype(np.int32)
    tree = Arcs(closure.start, closure.head.copy(), live, closure.gain, closure.cost)
    rank, gain, cost, cuts, total = _divide(closure.n_splits, tree, order, arcs, stop)
    return Pieces(rank, gain, cost, int(cuts), int(total))


def frontier_by(closure: Closure, cut: Cut, check: Callable[[], None] = lambda: None) -> Pieces:
    """All optimal closures by any minimum cut that gives the smallest source side.

    It is slower than `frontier`, since every part is made a closure problem of its own.
    """
    closure.check_range()
    members = largest_gain(closure.n_splits, closure.start, closure.head, closure.gain)
    rank = np.full(closure.n_items, -1, dtype=np.int32)
    pieces: list[tuple[int, int]] = []
    todo, cuts, arcs = [np.flatnonzero(members)], 0, 0
    while todo:
        check()
        items = todo.pop()
        if not len(items):
            continue
        part = _part(closure, items)
        G, C = int(part.gain.sum()), int(part.cost.sum())
        side = np.zeros(len(items), dtype=bool)
        if C:
            side, _ = cut(part, part.weights(G, C))
            cuts, arcs = cuts + 1, arcs + part.n_arcs
        if side.any():
            todo += [items[~side], items[side]]
        else:
            rank[items] = len(pieces)
            pieces.append((G, C))
    rank[rank < 0] = len(pieces)
    gain, cost = np.array(pieces, dtype=np.int64).reshape(-1, 2).T
    return Pieces(rank, gain.copy(), cost.copy(), cuts, arcs)


def _part(closure: Closure, items: np.ndarray) -> Closure:
    """The problem on some items; everything that they need outside is taken as given."""
    local = np.full(closure.n_items, -1, dtype=np.int32)
    local[items] = np.arange(len(items))
    tails = np.repeat(np.arange(closure.n_items), np.diff(closure.start))
    inside = (local[tails] >= 0) & (local[closure.head] >= 0)
    start = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(np.bincount(local[tails[inside]], minlength=len(items)), out=start[1:])
    splits = items[items < closure.n_splits]
    return Closure(
        closure.gain[items],
        closure.cost[items],
        start,
        local[closure.head[inside]],
        splits,
        closure.item[:0],
    )


@kernel(nogil=True)
def largest_gain(n_splits, start, head, gain):  # type: ignore[no-untyped-def]
    """The smallest closure of largest gain when nothing has a price.

    It holds the splits below which more is gained than lost, and everything that they need.
    """
    best = gain.copy()
    parent = np.full(n_splits, -1, np.int64)
    for h in range(n_splits - 1, -1, -1):
        if start[h] < start[h + 1] and head[start[h]] < n_splits:
            parent[h] = head[start[h]]
            if best[h] > 0:
                best[parent[h]] += best[h]
    members = np.zeros(len(gain), np.bool_)
    for h in range(n_splits):
        if best[h] > 0 and (parent[h] < 0 or members[parent[h]]):
            members[h] = True
            for k in range(start[h], start[h + 1]):
                members[head[k]] = True
    return members


@kernel(nogil=True)
def _divide(n_splits, items, order, most_arcs, stop):  # type: ignore[no-untyped-def]  # noqa: C901
    """Pieces of the curve.

    `order` holds the items of every part side by side; arcs that leave a part are moved behind the
    `live` arcs of their tail.
    """
    start, head, live, gain, cost = items
    V, n = len(gain), len(order)
    rank = np.full(V, -1, np.int32)
    piece_gain, piece_cost = np.empty(n, np.int64), np.empty(n, np.int64)
    n_pieces, cuts, total_arcs = 0, 0, 0
    local, part = np.empty(V, np.int32), np.full(V, -1, np.int32)
    begins, ends = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    rest = np.empty(n, np.int32)
    # Workspace of one cut, large enough for the first cut.
    a_start, a_head = np.empty(n + 1, np.int64), np.empty(most_arcs, np.int32)
    tail, position = np.empty(most_arcs, np.int32), np.empty(most_arcs, np.int32)
    net = Network(a_start, a_head, np.empty(n + 1, np.int64), tail, position)
    flow, excess = np.empty(most_arcs, np.int64), np.empty(n, np.int64)
    label, current = np.empty(n + 2, np.int32), np.empty(n + 2, np.int32)
    queue, count = np.empty(n + 2, np.int32), np.empty(n + 2, np.int32)
    found = Preflow(flow, excess, label, current, queue, count, np.empty(n + 2, np.int32))
    top = 0
    begins[0], ends[0] = 0, n
    if n == 0:
        top = -1
    number = 0
    while top >= 0 and stop[0] == 0:
        a, b = begins[top], ends[top]
        top -= 1
        m = b - a
        G, C, splits = np.int64(0), np.int64(0), 0
        for i in range(a, b):
            v = order[i]
            G += gain[v]
            C += cost[v]
            if v < n_splits:
                splits += 1
        size = 0
        if C > 0 and splits > 1:
            cuts += 1
            for i in range(m):
                local[order[a + i]] = i
                part[order[a + i]] = number
            arcs = 0
            for i in range(m):
                v = order[a + i]
                excess[i] = C * gain[v] - G * cost[v]
                a_start[i] = arcs
                begin, kept = start[v], 0
                for k in range(live[v]):
                    u = head[begin + k]
                    if part[u] == number:
                        head[begin + k] = head[begin + kept]
                        head[begin + kept] = u
                        kept += 1
                        a_head[arcs] = local[u]
                        flow[arcs] = 0
                        arcs += 1
                live[v] = kept
            a_start[m] = arcs
            total_arcs += arcs
            number += 1
            reverse(m, net)
            max_preflow(m, net, found, stop)
            size = reach_excess(m, net, found)
        if size == 0:
            for i in range(a, b):
                rank[order[i]] = n_pieces
            piece_gain[n_pieces], piece_cost[n_pieces] = G, C
            n_pieces += 1
            continue
        inside, outside = 0, 0
        for i in range(m):
            v = order[a + i]
            if label[i] == -1:
                order[a + inside] = v
                inside += 1
            else:
                rest[outside] = v
                outside += 1
        for i in range(outside):
            order[a + inside + i] = rest[i]
        begins[top + 1], ends[top + 1] = a + inside, b
        begins[top + 2], ends[top + 2] = a, a + inside
        top += 2
    for v in range(V):
        if rank[v] < 0:
            rank[v] = n_pieces
    return rank, piece_gain[:n_pieces].copy(), piece_cost[:n_pieces].copy(), cuts, total_arcs


def warm_up() -> None:
    """Compile the kernels for a whole curve, and for a single cut with its certificate."""
    from milp_trees.pruning.engines.min_cut.certificate import certify
    from milp_trees.pruning.engines.min_cut.closure import closure_of, tiny_gains

    view = tiny_gains(np.array([[0, 1]]))
    for merge in (True, False):
        closure = closure_of(view, merge)
        frontier(closure)
        certify(view, closure, 1, 1)
