r"""Prices of links as a flow that proves their bound.

At given prices of the links (h, p) every tree is a closure problem by itself, and its dual is a flow
within the tree: the gain of a split goes to the links that it pays, and what is left may help its
parent. So the prices of a decomposition and the flows of all trees are one flow of the whole
network, which :mod:`milp_trees.pruning.verification.check_flow` checks without knowing where it comes from.

Let :math:`w_h` be the weight of a split (errors that it saves, less its own cost), :math:`d_h` the sum
of the prices of its links, and

.. math:: V_h = \max\Big(0,\; w_h - d_h + \sum_{\text{children } c} V_c\Big).

The Lagrangian bound is the error of the roots less the sum of :math:`V_h` over the roots. From the
roots down, a split asks its children for what it cannot pay, each for at most :math:`V_c`. The
gains of a tree that are not used then add up to :math:`V_h` of its root, so that the flow proves
exactly this bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.methods.claims import Claims
from milp_trees.pruning.engines.min_cut.closure import Closure, closure_of

if TYPE_CHECKING:
    from milp_trees.pruning.view import NodeGains

#: Amounts of a flow are multiples of 1/q; these q are tried, the coarsest one first.
DENOMINATORS = (1, 2, 4, 12, 60, 2**10, 2**20, 2**30)

#: (purchase of the view, price of the link) for every link of a split
Links = dict[int, list[tuple[int, int]]]


def flow_at(view: NodeGains, links: np.ndarray, value: int, check: Callable[[], object]) -> Claims:
    """A flow that proves about the Lagrangian bound at some prices of links.

    Prices are rounded, to the coarsest multiples for which the bound proves the value; to the finest
    ones if none does.
    """
    closure = closure_of(view)
    for q in DENOMINATORS:
        check()
        items, least = _flow(view, _prices(view, closure, links, q), q)
        bound = -(-least // q)
        if bound >= value:
            break
    return Claims(items, denominator=q, notes={"bound": bound})


def _prices(view: NodeGains, closure: Closure, links: np.ndarray, q: int) -> Links:
    """Prices of the links to purchases of the view, in units of 1/q; no purchase gets too much.

    A merged purchase is divided into its members, one after the other. What a single split needs
    may cost that split as much as its price.
    """
    b, H = view.step[1], closure.n_splits
    if not b:  # purchases cost nothing, so there are no links
        return {}
    members: dict[int, list[int]] = {}
    for u in np.flatnonzero((closure.item >= 0) & (view.price > 0)).tolist():
        members.setdefault(int(closure.item[u]), []).append(u)
    found: Links = {}
    for item, own in members.items():
        if item < H:
            h = int(closure.splits[item])
            found.setdefault(h, []).extend((u, q * b * int(view.price[u])) for u in own)
    shared = closure.head >= H
    node = np.repeat(closure.splits, np.diff(closure.start)[:H])[shared]
    left = {u: q * b * int(view.price[u]) for own in members.values() for u in own}
    pairs = zip(node.tolist(), closure.head[shared].tolist(), links.tolist(), strict=True)
    for h, item, price in pairs:
        amount = max(0, round(price * q))
        for u in members.get(item, ()):
            part = min(amount, left[u])
            if part:
                found.setdefault(h, []).append((u, part))
                left[u] -= part
                amount -= part
    return found


def _flow(view: NodeGains, prices: Links, q: int) -> tuple[list[tuple[int, ...]], int]:
    """The flow at whole prices of links, and the bound that it proves, both in units of 1/q."""
    a, b, _ = view.step
    weight = (q * (a * view.gain.astype(object) - b * view.keep_cost.astype(object))).tolist()
    parent, M = view.parent.tolist(), view.n_nodes
    due = [sum(price for _, price in prices.get(h, ())) for h in range(M)]
    value, below = [0] * M, [0] * M  # V_h, and the sum of those of the children
    for h in range(M - 1, -1, -1):
        value[h] = max(0, weight[h] - due[h] + below[h])
        if parent[h] >= 0:
            below[parent[h]] += value[h]
    requested, spare = (
        [0] * M,
        [0] * M,
    )  # by the parent of h; of the children of h, still to be sent
    items: list[tuple[int, ...]] = []
    for h in range(M):
        up = parent[h]
        if up >= 0:
            requested[h] = min(value[h], spare[up])
            spare[up] -= requested[h]
            if requested[h]:
                items.append((h, requested[h]))
        own, cost = max(weight[h], 0), max(-weight[h], 0)
        paid = max(0, min(due[h], own + below[h] - cost - requested[h]))
        spare[h] = min(below[h], max(0, cost + paid + requested[h] - own))
        for purchase, price in prices.get(h, ()):
            part = min(price, paid)
            paid -= part
            if part:
                items.append((h, purchase, part))
    unused = sum(value[h] for h in range(M) if parent[h] < 0)
    return items, q * a * view.root_error - unused
