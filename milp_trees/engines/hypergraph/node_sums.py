"""Sums over the rows of single nodes, for constraints on nodes: per state and per column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.engines.hypergraph.graph import LAST, SPLIT, STOP, States
from milp_trees.tasks.mean_parity import MeanGaps
from milp_trees.tasks.structure import NodeRates
from milp_trees.tasks.views import CostMatrix, LeafSums


class NodeSums(NamedTuple):
    """Rows of each group in every state, events of each group in the leaves of every column.

    `allowed` says of every column whether its own leaves satisfy the constraint, and with
    constraints on branches also its last split.
    """

    size: np.ndarray
    hits: np.ndarray
    allowed: np.ndarray


def node_sums(h: States, view: CostMatrix, part: NodeRates) -> NodeSums:
    """The sums of a constraint on nodes."""
    G, K = part.n_groups, view.n_actions
    per_row = np.concatenate([part.size, part.hits.reshape(view.n_rows, K * G)], axis=1)
    per_row = per_row.astype(float)  # sums of counts are exact far beyond any number of rows
    size = np.zeros((h.n_states, G), dtype=np.int64)
    hits = np.zeros((h.n_columns, G), dtype=np.int64)
    allowed = np.ones(h.n_columns, dtype=bool)
    done = np.zeros(h.n_states, dtype=bool)
    waiting = [(0, np.arange(view.n_rows))]
    while waiting:
        s, rows = waiting.pop()
        if done[s]:
            continue
        done[s] = True
        here = np.arange(*h.columns_of(s).indices(h.n_columns))
        kind, values = h.kind[here], per_row[rows]
        total = np.rint(values.sum(axis=0)).astype(np.int64)
        size[s] = total[:G]
        stops, lasts = here[kind == STOP], here[kind == LAST]
        hits[stops] = total[G:].reshape(K, G)[h.action_left[stops]]
        allowed[stops] = part.hold(np.broadcast_to(size[s], (len(stops), G)), hits[stops])
        if len(lasts):
            true = view.X[np.ix_(rows, h.test[lasts])].astype(float)
            right = np.rint(true.T @ values).astype(np.int64)
            hits[lasts], allowed[lasts] = _last(part, total, right, h, lasts, K)
            if part.branches:
                allowed[lasts] &= part.hold(np.broadcast_to(size[s], (len(lasts), G)), hits[lasts])
        for c in here[kind == SPLIT].tolist():
            on = view.X[rows, h.test[c]] == 1
            if h.child_right[c] < 0:  # the rows that a rule of a list captures are a leaf
                own = np.rint(values[on].sum(axis=0)).astype(np.int64)
                hits[c] = own[G:].reshape(K, G)[h.action_right[c]]
                allowed[c] = part.hold(own[:G], hits[c])
            for child, side in ((h.child_left[c], ~on), (h.child_right[c], on)):
                if child >= 0 and not done[child]:
                    waiting.append((int(child), rows[side]))
    return NodeSums(size, hits, allowed)


def of_leaves(h: States, view: LeafSums, part: MeanGaps) -> np.ndarray:
    """What the own leaves of every column add to differences of groups: (C, pairs · outputs)."""
    per_row = np.concatenate([view.sums, part.shares], axis=1)
    m, width = view.sums.shape[1], part.shares.shape[1] * len(part.centre)
    out = np.zeros((h.n_columns, width))
    predict = view.predict  # type: ignore[attr-defined]

    def parts(sums: np.ndarray) -> np.ndarray:
        return part.parts(sums[:, m:], sums[:, :m], predict)

    done = np.zeros(h.n_states, dtype=bool)
    waiting = [(0, np.arange(view.n_rows))]
    while waiting and h.n_columns:
        s, rows = waiting.pop()
        if done[s]:
            continue
        done[s] = True
        here = np.arange(*h.columns_of(s).indices(h.n_columns))
        kind, values = h.kind[here], per_row[rows]
        total = values.sum(axis=0)
        if (kind == STOP).any():
            out[here[kind == STOP]] = parts(total[None])
        lasts = here[kind == LAST]
        if len(lasts):
            right = view.X[np.ix_(rows, h.test[lasts])].T.astype(np.int64) @ values
            out[lasts] = parts(total - right) + parts(right)
        for c in here[kind == SPLIT].tolist():
            on = view.X[rows, h.test[c]] == 1
            for child, side in ((h.child_left[c], ~on), (h.child_right[c], on)):
                if not done[child]:
                    waiting.append((int(child), rows[side]))
    return out


def _last(
    part: NodeRates, total: np.ndarray, right: np.ndarray, h: States, lasts: np.ndarray, K: int
) -> tuple[np.ndarray, np.ndarray]:
    """Events in both leaves of last splits together, and whether both leaves are allowed."""
    G, at = part.n_groups, np.arange(len(lasts))
    hits, allowed = np.zeros((len(lasts), G), dtype=np.int64), np.ones(len(lasts), dtype=bool)
    for side, action in ((total - right, h.action_left[lasts]), (right, h.action_right[lasts])):
        own = side[:, G:].reshape(-1, K, G)[at, action]
        allowed &= part.hold(side[:, :G], own)
        hits += own
    return hits, allowed


def below(h: States) -> dict[int, np.ndarray]:
    """For every state that is split: all states that its splits lead to, at any depth."""
    split = h.kind == SPLIT
    found: dict[int, np.ndarray] = {}
    for s in range(h.n_states - 1, -1, -1):
        here = np.arange(*h.columns_of(s).indices(h.n_columns))
        here = here[split[here]]
        if len(here):
            children = np.unique(np.concatenate([h.child_left[here], h.child_right[here]]))
            children = children[children >= 0]
            deeper = [found[c] for c in children.tolist() if c in found]
            found[s] = np.unique(np.concatenate([children, *deeper]))
    return found
