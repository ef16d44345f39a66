r"""A flow that proves a pruning optimal, and its check.

Gains of splits flow to what the splits need, which are parents and purchases, and no item takes
more than its cost. At the price :math:`\mu = p / q` a split h sends out at most :math:`\max(w_h,
0)` more than it receives and keeps at most :math:`\max(-w_h, 0)`, with :math:`w_h = q\,g_h -
p\,c_h`, and a purchase receives at most :math:`p` times its price. The gain of a pruning is then at
most the gains that do not flow (weak duality of flows and cuts; Ford, Fulkerson 1956), so a pruning
with exactly this gain is optimal. The check reads only the view; it does not use merged purchases,
push-relabel, or the cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.errors import VerificationError
from milp_trees.pruning.engines.min_cut.closure import Closure
from milp_trees.pruning.engines.min_cut.push_relabel import NEVER, preflow

if TYPE_CHECKING:
    from milp_trees.pruning.view import NodeGains

#: Flows to parents (nodes, amounts) and to purchases (nodes, purchases, amounts).
Links = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class FlowCertificate:
    """A pruning and a flow of the same value.

    Parameters
    ----------
    keep : bool array of shape (M,)
        Splits that are kept.
    price, unit : int
        The pruning minimises `unit · E + price · C`.
    up, up_amount : int64 arrays of shape (·,)
        Nodes with flow to their parents, and the amount of it.
    node, purchase, amount : int64 arrays of shape (·,)
        Flow from splits to purchases that they need (or that those need).
    """

    keep: np.ndarray
    price: int
    unit: int
    up: np.ndarray
    up_amount: np.ndarray
    node: np.ndarray
    purchase: np.ndarray
    amount: np.ndarray


def certify(
    view: NodeGains, closure: Closure, price: int, unit: int, stop: np.ndarray = NEVER
) -> FlowCertificate:
    """Optimal pruning for `unit · E + price · C` (of equal ones the smallest), proved by a flow.

    The kernel ends soon once `stop[0]` is not 0, which another thread may write; its result is then
    meaningless.
    """
    weights = closure.weights(price, unit)
    side, flow = _flow(closure, weights, stop)
    keep = np.zeros(view.n_nodes, dtype=bool)
    keep[closure.splits[side[: closure.n_splits]]] = True
    V = closure.n_items
    return FlowCertificate(
        keep, price, unit, *_unfold(view, closure, np.full(V, price), np.full(V, unit), flow)
    )


def certify_curve(
    view: NodeGains,
    closure: Closure,
    rank: np.ndarray,
    slopes: Sequence[Fraction | None],
    stop: np.ndarray = NEVER,
) -> Links:
    """One flow that proves all prunings of a curve: within every piece, at the slope of the piece.

    A piece is what disappears together, splits of equal rank and what they are the first to need. At
    its slope its gains pay for its costs exactly. At the price 0 the gains of a piece that is never
    kept pay for losses of errors, as they do in a piece that costs nothing.
    """
    tails = np.repeat(np.arange(closure.n_items), np.diff(closure.start))
    piece = np.full(closure.n_items, len(slopes), dtype=np.int64)
    piece[: closure.n_splits] = rank[closure.splits]
    np.minimum.at(piece, closure.head, piece[tails])
    inside = piece[tails] == piece[closure.head]
    start = np.concatenate([[0], np.cumsum(inside)])[closure.start]
    parts = replace(closure, start=start, head=closure.head[inside])
    weights = [(x or Fraction(0)).as_integer_ratio() for x in (*slopes, None)]
    price, unit = np.array(weights, dtype=np.int64)[piece].T
    _, flow = _flow(parts, unit * parts.gain - price * parts.cost, stop)
    return _unfold(view, parts, price, unit, flow)


def _flow(closure: Closure, weights: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Source side of the minimum cut, and a maximum flow along the arcs."""
    side, excess, flow, (back_start, tail, position) = preflow(closure, weights, stop=stop)
    _give_back(closure.n_splits, weights, back_start, tail, position, flow, excess)
    return side, flow


def _unfold(
    view: NodeGains, closure: Closure, price: np.ndarray, unit: np.ndarray, flow: np.ndarray
) -> Links:
    """Flow to merged purchases as flow to purchases of the view, with what splits pay alone.

    The purchases of an item are put side by side, each as long as its price, and so are the flows
    into the item. The flow from a split to a purchase is the length where both overlap. `price` and
    `unit` are those of every item.
    """
    flows = flow > 0
    tails = np.repeat(np.arange(closure.n_items), np.diff(closure.start))[flows]
    heads, flow = closure.head[flows].astype(np.int64), flow[flows]
    H = closure.n_splits
    own, inward = np.zeros(H, dtype=np.int64), np.zeros(closure.n_items, dtype=np.int64)
    np.add.at(own, tails, flow)  # in integers, since the sums of bincount are doubles
    np.add.at(inward, heads, flow)
    gross = unit[:H] * view.gain[closure.splits] - price[:H] * view.keep_cost[closure.splits]
    net = unit[:H] * closure.gain[:H] - price[:H] * closure.cost[:H]
    kept_back = np.maximum(inward[:H] - own, 0)  # kept by a split of negative weight
    private = np.where(
        net >= 0,
        gross - net,
        np.maximum(gross, 0) + np.maximum(kept_back - np.maximum(-gross, 0), 0),
    )
    members = np.flatnonzero(closure.item >= 0)
    members = members[np.argsort(closure.item[members], kind="stable")]
    ends = np.cumsum(price[closure.item[members]] * view.price[members])
    begins = np.concatenate([[0], ends])
    room = begins[
        np.searchsorted(closure.item[members], np.arange(closure.n_items + 1))
    ]  # positions at which each item's purchases begin
    to, frm = np.concatenate([heads, np.arange(H)]), np.concatenate([tails, np.arange(H)])
    amount = np.concatenate([np.where(heads >= H, flow, 0), private])
    order = np.argsort(to, kind="stable")
    order = order[amount[order] > 0]
    to, frm, amount = to[order], frm[order], amount[order]
    total = np.cumsum(amount)
    first = np.searchsorted(to, to)  # position of the first flow into the same item
    left = room[to] + (total - amount) - (total - amount)[first]
    points = np.sort(np.concatenate([left, left + amount, ends]))
    points = points[np.diff(points, prepend=-1) > 0]
    flow_at = np.searchsorted(left, points[:-1], side="right") - 1
    inside = (
        (flow_at >= 0) & (points[:-1] < (left + amount)[flow_at])
        if len(left)
        else np.zeros(len(points[:-1]), dtype=bool)
    )
    at = points[:-1][inside]
    upwards = heads < H
    return (
        closure.splits[tails[upwards]],
        flow[upwards],
        closure.splits[frm[flow_at[inside]]],
        members[np.searchsorted(ends, at, side="right")],
        np.diff(points)[inside],
    )


@kernel(nogil=True)
def _give_back(n_splits, weights, back_start, tail, position, flow, excess):  # type: ignore[no-untyped-def]
    """Send flow that could not reach the sink back to its source: the preflow becomes a flow.

    Needs form no cycle, so one pass is enough.
    """
    n = len(weights)
    for i in range(n):
        v = (
            n_splits + i if i < n - n_splits else i - (n - n_splits)
        )  # purchases, then splits from the roots down
        left = excess[v]
        if left <= 0:
            continue
        if weights[v] > 0:
            left -= min(left, weights[v])
        for k in range(back_start[v], back_start[v + 1]):
            if left == 0:
                break
            amount = min(left, flow[position[k]])
            flow[position[k]] -= amount
            excess[tail[k]] = max(excess[tail[k]], 0) + amount
            left -= amount


# -- the check ---------------------------------------------------------------------------------------------------


def check_certificate(view: NodeGains, certificate: FlowCertificate) -> int:
    """Check by its flow that a pruning is optimal."""
    c, M, P = certificate, view.n_nodes, view.n_purchases
    up, node, purchase = (np.asarray(a, dtype=np.int64) for a in (c.up, c.node, c.purchase))
    if c.price < 0 or c.unit <= 0:
        raise VerificationError("The certificate's price is negative, or its unit not positive.")
    for ids, most in ((up, M), (node, M), (purchase, P)):
        if len(ids) and (ids.min() < 0 or ids.max() >= most):
            raise VerificationError("The certificate names a node or purchase that does not exist.")
    amounts = np.concatenate([c.up_amount, c.amount])
    # The error of the sum of doubles is far below a half, so the sum fits into 64 bits.
    if len(amounts) and (amounts.min() < 0 or float(amounts.sum(dtype=float)) >= 2**61):
        raise VerificationError(
            "The certificate's flow is negative somewhere, or larger than 64 bits."
        )
    if (view.parent[up] < 0).any() or not _needed(view, node, purchase).all():
        raise VerificationError("The certificate's flow runs where no split needs anything.")
    sent = np.zeros(M, dtype=np.int64)
    np.add.at(sent, up, c.up_amount)
    np.subtract.at(sent, view.parent[up], c.up_amount)
    np.add.at(sent, node, c.amount)
    received = np.zeros(P, dtype=np.int64)
    np.add.at(received, purchase, c.amount)
    weight = _times(c.unit, view.gain) - _times(c.price, view.keep_cost)
    if ((sent < np.minimum(weight, 0)) | (sent > np.maximum(weight, 0))).any():
        raise VerificationError(
            "A split sends on more than it gains and receives, or keeps more than it costs."
        )
    if (received > _times(c.price, view.price)).any():
        raise VerificationError("A purchase receives more than its price.")
    E, C = view.totals(c.keep)
    value, flowing = c.unit * E + c.price * C, int(sent[sent > 0].sum())
    least = c.unit * view.root_error - sum(weight[weight > 0].tolist()) + flowing
    if value != least:
        raise VerificationError(
            f"The pruning has the value {value}, and the flow proves only that none is below {least}."
        )
    return value


def _times(factor: int, numbers: np.ndarray) -> np.ndarray:
    """The product without overflow.

    It uses Python's integers if 64 bits might be too few, also for a difference of two such
    products.
    """
    largest = (
        max(1, int(np.abs(numbers).max(initial=0))) * factor
    )  # a factor alone may be too large
    return numbers * factor if largest < 2**61 else numbers.astype(object) * factor


def _needed(view: NodeGains, node: np.ndarray, purchase: np.ndarray) -> np.ndarray:
    """Whether each node needs each purchase, directly or through another purchase."""
    P = max(1, view.n_purchases)
    pairs = np.sort(np.repeat(view.first, np.diff(view.start)) * P + view.need)
    new = pairs
    while len(view.above) and len(new):
        order = view.above[np.argsort(view.above[:, 0], kind="stable")]
        begin, end = (np.searchsorted(order[:, 0], new % P, side=s) for s in ("left", "right"))
        count = end - begin
        offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        beyond = np.unique(
            np.repeat(new // P * P, count) + order[np.repeat(begin, count) + offset, 1]
        )
        new = np.setdiff1d(beyond, pairs)
        pairs = np.union1d(pairs, new)
    requested = node * P + purchase
    at = np.searchsorted(pairs, requested)
    found: np.ndarray = (
        (at < len(pairs)) & (pairs[np.minimum(at, len(pairs) - 1)] == requested)
        if len(pairs)
        else np.zeros(len(requested), dtype=bool)
    )
    return found
