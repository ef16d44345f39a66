r"""Cuts of state-flow for monotone trees: pairs of leaves that must not be together.

A tree is followed from the root. For two leaves that break the order, with P the splits on both
paths, and A, B the columns that end these paths with actions that are as bad,

.. math:: \sum_{c\in P}x_c+\sum_{c\in A}x_c+\sum_{c\in B}x_c\le|P|+1 .

Any tree with these splits has these two boxes, so the row excludes broken trees only; and every
broken tree violates a row of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

STOP, SPLIT = 0, 1


@dataclass(eq=False)
class OrderCuts:
    """Finds the pairs of leaves of an integral point that break an order.

    Parameters
    ----------
    h : States
    tests : tuple of BinaryFeature
        The tests by number.
    orders : tuple of LeafOrder
    n_columns : int
        Number of variables of the model.
    """

    h: Any
    tests: tuple[Any, ...]
    orders: tuple[Any, ...]
    n_columns: int

    def separate(
        self, x: np.ndarray, integral: bool
    ) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
        rows: list[np.ndarray] = []
        limits: list[float] = []
        leaves = self._leaves(x) if integral else []
        for order in self.orders:
            for a, b in order.broken([leaf[0] for leaf in leaves], [leaf[3] for leaf in leaves]):
                columns, most = self._cut(leaves[a], leaves[b], order.liked)
                rows.append(columns)
                limits.append(most)
        at = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
        places = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        A = sparse.csr_matrix((np.ones(len(places)), (at, places)), (len(rows), self.n_columns))
        return A, np.full(len(rows), -np.inf), np.array(limits)

    def _leaves(self, x: np.ndarray) -> list[tuple[Any, tuple[int, ...], int, int, int]]:
        """Path, splits on it, last column, action and side (-1: a stop) of every leaf."""
        h, out = self.h, []
        on = np.flatnonzero(x[: h.n_columns] > 0.5)
        chosen = dict(zip(h.state[on].tolist(), on.tolist(), strict=True))

        def walk(s: int, path: Any, splits: tuple[int, ...]) -> None:
            c = chosen[s]
            if h.kind[c] == STOP:
                out.append((path, splits, c, int(h.action_left[c]), -1))
                return
            test = self.tests[int(h.test[c])]
            for side, action, child in (
                (0, h.action_left[c], h.child_left[c]),
                (1, h.action_right[c], h.child_right[c]),
            ):
                longer = (*path, (test, bool(side)))
                if h.kind[c] == SPLIT:
                    walk(int(child), longer, (*splits, c))
                else:
                    out.append((longer, splits, c, int(action), side))

        walk(0, (), ())
        return out

    def _cut(self, one: Any, two: Any, liked: int) -> tuple[np.ndarray, float]:
        splits = {*one[1], *two[1]}
        ends = [self._alike(leaf, liked) for leaf in (one, two)]
        if one[2] == two[2]:  # both leaves of one last split
            both = np.intersect1d(*ends)
            return np.concatenate([np.array(sorted(splits), dtype=np.int64), both]), len(splits)
        columns = np.unique(np.concatenate([np.array(sorted(splits), dtype=np.int64), *ends]))
        return columns, len(splits) + 1.0

    def _alike(self, leaf: Any, liked: int) -> np.ndarray:
        """Columns of the same state with the same leaf, and an action that is as good or bad."""
        h, (_, _, c, action, side) = self.h, leaf
        here = np.arange(*h.columns_of(int(h.state[c])).indices(h.n_columns))
        same = (h.kind[here] == h.kind[c]) & (h.test[here] == h.test[c])
        own = h.action_right[here] if side == 1 else h.action_left[here]
        columns: np.ndarray = here[same & ((own == liked) == (action == liked))]
        return columns
