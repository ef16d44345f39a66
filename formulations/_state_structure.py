r"""Rows of state-flow for constraints on the tree itself.

The columns at 1 are the nodes of a tree, and its states are disjoint or nested sets of rows. So

* a group of tests g is *used*, :math:`u_g=1`, iff a column of one of its tests is at 1; linear rows
  on :math:`u` bound the features of the whole tree;
* a limit on the leaves removes columns, and so does a limit on the rows of a last split;
* a limit on the rows of a state s that is split further holds if s is used: with :math:`n_a(s)` rows
  of group a and :math:`e_{a}(c)` events in the leaves of column c,

  .. math:: \Bigl|\sum_{c\text{ below }s}\bigl(n_b(s)e_a(c)-n_a(s)e_b(c)\bigr)x_c\Bigr|
     \le\Delta_s+\bigl(n_a(s)n_b(s)-\Delta_s\bigr)\Bigl(1-\sum_{c\text{ splits }s}x_c\Bigr),

  where the left-hand side never exceeds :math:`n_a(s)n_b(s)`, because columns at 1 that lie below s
  in the hypergraph have disjoint rows of s. (A rule of a list has rows of its own, so it counts
  also where it splits s.)

* differences of mean predictions are sums over leaves, and so one number per column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from milp_trees.tasks.captured_share import DefaultOnly
from milp_trees.tasks.leaf_order import LeafOrder
from milp_trees.tasks.mean_parity import MeanGaps
from milp_trees.tasks.structure import FeatureUse, NodeRates
from milp_trees.tasks.views import CostMatrix, LeafSums

STOP, SPLIT = 0, 1

#: Kinds of constraints on the tree that state-flow takes.
KINDS = frozenset(
    {FeatureUse.kind, NodeRates.kind, LeafOrder.kind, DefaultOnly.kind, MeanGaps.kind}
)
#: The range of the targets in rows about predictions: a billionth of it is far above the absolute
#: tolerances of solvers.
RANGE = 1e5


def unsupported_lists(name: str, view: CostMatrix) -> str | None:
    """Why the states of rule lists cannot express a view, or None."""
    if view.leaf_cost < 0 or (view.split_costs < 0).any():
        return f"{name} takes penalties and prices of at least 0 for rule lists; some are negative."
    if any(isinstance(part, LeafOrder) for part in view.structure):
        return "A monotone list has no definition here: what a rule captures after others is no box of the columns. Ask for a monotone tree (--depth)."
    if len({part.action for part in view.structure if isinstance(part, DefaultOnly)}) > 1:
        return f"{name} takes one black box; the constraints captured-share name several."
    return None


class Rows(NamedTuple):
    """Rows over the columns x, followed by the groups u."""

    name: str
    doc: str
    matrix: sparse.csr_matrix
    lower: np.ndarray
    upper: np.ndarray


def restricted(h: Any, view: Any) -> Any:
    """The hypergraph without the columns whose own leaves or last split break a limit on nodes."""
    from milp_trees.engines.hypergraph.node_sums import node_sums
    from milp_trees.engines.hypergraph.parts import alive

    limits = [part for part in view.structure if isinstance(part, NodeRates)]
    for part in limits if h.n_columns else ():
        h = alive(h, node_sums(h, view, part).allowed)
    return h


def groups(view: LeafSums) -> list[tuple[int, ...]]:
    """All groups of tests that the constraints on features count, one after the other."""
    uses = [part for part in view.structure if isinstance(part, FeatureUse)]
    return [group for part in uses for group in part.groups]


def structure_rows(h: Any, view: Any) -> list[Rows]:
    """All rows that a view's constraints on the tree add."""
    out = []
    if groups(view):
        out += list(_uses(h, view))
    out += [
        _gaps(h, view, part, j)
        for j, part in enumerate(p for p in view.structure if isinstance(p, MeanGaps))
    ]
    node = [
        row
        for part in view.structure
        if isinstance(part, NodeRates)
        for row in _rates(h, view, part)
    ]
    if node:
        matrix = sparse.vstack([row[0] for row in node], format="csr")
        limits = np.concatenate([row[1] for row in node])
        out.append(
            Rows(
                "node_rates",
                "limits on the rates of groups among the rows of a state, if it is split",
                matrix,
                np.full(len(limits), -np.inf),
                limits,
            )
        )
    return out


def _gaps(h: Any, view: Any, part: MeanGaps, number: int) -> Rows:
    """Differences of mean predictions, in units in which the targets have a fixed range."""
    from milp_trees.engines.hypergraph.node_sums import of_leaves

    unit = RANGE / float(part.spread) if part.spread else 0.0
    gaps = of_leaves(h, view, part).T * unit
    matrix = sparse.csr_matrix(gaps)
    matrix.resize(gaps.shape[0], h.n_columns + len(groups(view)))
    limit = np.full(len(gaps), float(part.limit) * unit)
    return Rows(
        f"mean_gaps_{number}" if number else "mean_gaps",
        "mean predictions of two groups differ by at most the limit",
        matrix,
        -limit,
        limit,
    )


def _uses(h: Any, view: CostMatrix) -> Iterator[Rows]:
    every = groups(view)
    C, G = h.n_columns, len(every)
    splits = np.flatnonzero(h.kind != STOP)
    at_state, at_group, at_column = [], [], []
    for g, group in enumerate(every):
        columns = splits[np.isin(h.test[splits], group)]
        at_column.append(columns)
        at_state.append(h.state[columns])
        at_group.append(np.full(len(columns), g))
    column, state, group_of = (np.concatenate(part) for part in (at_column, at_state, at_group))
    pairs, row = np.unique(np.column_stack([state, group_of]), axis=0, return_inverse=True)
    ones = np.ones(len(column))
    per_state = sparse.csr_matrix((ones, (row.ravel(), column)), shape=(len(pairs), C + G))
    minus_u = sparse.csr_matrix(
        (-np.ones(len(pairs)), (np.arange(len(pairs)), C + pairs[:, 1])), shape=(len(pairs), C + G)
    )
    if len(pairs):
        yield Rows(
            "uses",
            "columns of a state that test a group of features <= u of that group",
            per_state + minus_u,
            np.full(len(pairs), -np.inf),
            np.zeros(len(pairs)),
        )
    total = sparse.csr_matrix((-ones, (group_of, column)), shape=(G, C + G))
    own_u = sparse.csr_matrix((np.ones(G), (np.arange(G), C + np.arange(G))), shape=(G, C + G))
    yield Rows(
        "used",
        "u of a group of features <= columns that test it",
        total + own_u,
        np.full(G, -np.inf),
        np.zeros(G),
    )
    parts = [part for part in view.structure if isinstance(part, FeatureUse)]
    starts = np.cumsum([0, *(len(part.groups) for part in parts)])
    rows = np.concatenate([np.full(len(part.coefs), r) for r, part in enumerate(parts)])
    places = np.concatenate(
        [C + s + np.arange(len(p.coefs)) for s, p in zip(starts, parts, strict=False)]
    )
    coefs = np.concatenate([np.array(part.coefs, dtype=float) for part in parts])
    yield Rows(
        "feature_use",
        "constraints on the features that the whole tree tests",
        sparse.csr_matrix((coefs, (rows, places)), shape=(len(parts), C + G)),
        np.array([-np.inf if p.lower is None else p.lower for p in parts]),
        np.array([np.inf if p.upper is None else p.upper for p in parts]),
    )


def _rates(
    h: Any, view: CostMatrix, part: NodeRates
) -> Iterator[tuple[sparse.csr_matrix, np.ndarray]]:
    """Two rows per pair of groups for every state that is split further."""
    from milp_trees.engines.hypergraph.node_sums import below, node_sums

    if not part.branches:
        return
    sums, width = node_sums(h, view, part), h.n_columns + len(groups(view))
    for s, under in below(h).items():
        own = np.arange(*h.columns_of(s).indices(h.n_columns))
        own = own[h.kind[own] == SPLIT]
        first, last = np.searchsorted(h.state, under), np.searchsorted(h.state, under + 1)
        columns = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
        for a, b in part.pairs():
            n_a, n_b = int(sums.size[s, a]), int(sums.size[s, b])
            if not n_a or not n_b:
                continue
            coefs = n_b * sums.hits[columns, a] - n_a * sums.hits[columns, b]
            slack = int(part.slack(np.array(n_a * n_b)))
            for sign in (1, -1):
                here = n_b * sums.hits[own, a] - n_a * sums.hits[own, b]
                data = np.concatenate([sign * coefs, sign * here + n_a * n_b - slack])
                places = np.concatenate([columns, own])
                row = sparse.csr_matrix(
                    (data.astype(float), (np.zeros(len(places), dtype=int), places)),
                    shape=(1, width),
                )
                row.eliminate_zeros()
                yield row, np.array([float(n_a * n_b)])
