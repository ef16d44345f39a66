"""Parts of a hypergraph of states, and the least cost of a tree with each column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from milp_trees.engines.hypergraph.graph import SPLIT, States

#: The value of a state without columns; four of them can be added.
NONE = 2**60


def alive(h: States, keep: np.ndarray) -> States:
    """The hypergraph of those of some columns that are part of a tree."""
    part = kept(h, keep)
    if not part.n_columns:
        return part
    return kept(part, least_through(part, np.zeros(part.n_columns, dtype=np.int64)) < NONE)


def least_below(h: States, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least cost of a subtree with each column, and of one in each state.

    The last of these stands for a child that there is not: a rule of a list has only one.
    """
    value = np.full(h.n_states + 1, NONE, dtype=np.int64)
    value[-1] = 0
    whole = cost.astype(np.int64)
    # A split enters states of later levels only, and states are numbered level by level.
    for begin, end in reversed(levels(h)):
        here = slice(*np.searchsorted(h.state, [begin, end]).tolist())
        whole[here] += value[h.child_left[here]] + value[h.child_right[here]]
        np.minimum.at(value, h.state[here], whole[here])
    return whole, value


def least_through(h: States, cost: np.ndarray) -> np.ndarray:
    """The least cost of a tree with each column, for any costs of the columns."""
    whole, value = least_below(h, cost)
    split = h.kind == SPLIT
    outside = np.full(h.n_states + 1, NONE, dtype=np.int64)
    outside[0] = 0
    for begin, end in levels(h):
        here = slice(*np.searchsorted(h.state, [begin, end]).tolist())
        at = np.flatnonzero(split[here]) + here.start
        around = outside[h.state[at]] + whole[at]
        for child in (h.child_left[at], h.child_right[at]):
            np.minimum.at(outside, child, around - value[child])
    return outside[h.state] + whole


def kept(h: States, keep: np.ndarray) -> States:
    """The hypergraph of some of the columns, without the states that the root no longer reaches."""
    reached = np.zeros(h.n_states + 1, dtype=bool)  # the last is the child that there is not
    reached[0] = True
    split = h.kind == SPLIT
    for begin, end in levels(h):
        here = slice(*np.searchsorted(h.state, [begin, end]).tolist())
        at = np.flatnonzero(split[here] & keep[here] & reached[h.state[here]]) + here.start
        reached[h.child_left[at]] = True
        reached[h.child_right[at]] = True
    reached = reached[:-1]
    keep = keep & reached[h.state]
    if keep.all() and reached.all():
        return h
    number = np.cumsum(reached) - 1
    chosen = np.flatnonzero(keep)
    children = {name: getattr(h, name)[chosen] for name in ("child_left", "child_right")}
    below = {name: np.where(child >= 0, number[child], -1) for name, child in children.items()}
    same = ("kind", "test", "action_left", "action_right", "cost", "side")
    return replace(
        h,
        depth_left=h.depth_left[reached],
        state=number[h.state[chosen]],
        **below,
        **{name: getattr(h, name)[chosen] for name in same},
    )


def levels(h: States) -> list[tuple[int, int]]:
    """First state, and the one after the last, of every level."""
    ends = np.flatnonzero(np.diff(h.depth_left)) + 1
    return list(zip([0, *ends.tolist()], [*ends.tolist(), h.n_states], strict=True))
