"""A grown tree as parallel arrays over its nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from milp_trees.models.nodes import Branch, Leaf, Node


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A binary tree as parallel arrays; a parent comes before its children.

    Attributes
    ----------
    column, cut : int64 arrays of shape (nodes,)
        Test of a node (-1 at leaves): true, and the row goes right, where the code of the column is
        at most the cut.
    left, right, parent : int64 arrays of shape (nodes,)
        -1 where there is none.
    loss : array of shape (nodes,)
        Criterion of a node as a leaf.
    slack : float
        Rounding error of a loss: two that are closer are equal.
    rows : list of int arrays
        Rows that reach each node; empty if they are not kept.
    """

    column: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    right: np.ndarray
    parent: np.ndarray
    loss: np.ndarray
    slack: float
    rows: list[np.ndarray] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, nodes: list[tuple[int, int, int]], loss: np.ndarray, slack: float) -> GrownTree:
        """The tree of a list of nodes (column, cut, parent) in depth-first order, left first."""
        column, cut, parent = np.array(nodes, dtype=np.int64).T.copy()
        number = np.arange(len(nodes))
        left, right = np.where(column < 0, -1, number + 1), np.full(len(nodes), -1)
        right[parent[1:]] = number[1:]  # of two children the later one stays
        return cls(column, cut, left, right, parent, loss, slack)

    @property
    def n_nodes(self) -> int:
        return len(self.column)

    @property
    def leaves(self) -> np.ndarray:
        """Indices of the leaves."""
        return np.flatnonzero(self.left < 0)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of rows' values in every node, shape (nodes, …)."""
        return np.array([values[rows].sum(axis=0) for rows in self.rows])

    def apply(self, codes: np.ndarray) -> np.ndarray:
        """Leaf (index of its node) of every row; codes of shape (C, n)."""
        return leaf_of(codes, self.column, self.cut, self.left, self.right)

    def cut_back(self, stop: np.ndarray) -> GrownTree:
        """The tree in which the first nodes with `stop` on every path are leaves.

        `stop` is a bool array of shape (nodes,); other paths keep their leaves.
        """
        kept: list[int] = []
        number = np.full(self.n_nodes, -1, dtype=np.int64)
        for t in range(self.n_nodes):
            p = self.parent[t]
            if p < 0 or (number[p] >= 0 and not stop[p]):
                number[t] = len(kept)
                kept.append(t)
        at = np.array(kept)
        leaf = stop[at] | (self.left[at] < 0)

        def moved(links: np.ndarray) -> np.ndarray:
            return np.where(leaf, -1, number[links[at]])

        parent = np.where(self.parent[at] < 0, -1, number[self.parent[at]])
        return GrownTree(
            np.where(leaf, -1, self.column[at]),
            np.where(leaf, -1, self.cut[at]),
            moved(self.left),
            moved(self.right),
            parent,
            self.loss[at],
            self.slack,
            [self.rows[t] for t in kept] if self.rows else [],
        )

    def to_nodes(
        self,
        test: Callable[[int, int], Any],
        actions: Sequence[int],
        stop: np.ndarray | None = None,
    ) -> Node:
        """The root of a `Tree`, with the test of every cut and the action of every node as a leaf.

        Nodes with `stop` are leaves.
        """

        left, right, column, cut = (
            a.tolist() for a in (self.left, self.right, self.column, self.cut)
        )
        ends = self.left < 0 if stop is None else stop | (self.left < 0)
        leaf = ends.tolist()

        def node(t: int) -> Node:
            if leaf[t]:
                return Leaf(actions[t])
            return Branch(test(column[t], cut[t]), node(left[t]), node(right[t]))

        return node(0)


def leaf_of(
    codes: np.ndarray, column: np.ndarray, cut: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Leaf of every row of coded columns, shape (C, n), in a tree as in `GrownTree`."""
    from milp_trees.methods.growing.kernels import leaves

    out: np.ndarray = leaves(np.ascontiguousarray(codes).T, column, cut, right, left)
    return out


def depth_of(left: np.ndarray, right: np.ndarray) -> int:
    """Levels of splits of a tree whose parents come before their children; leaves have -1."""
    level = np.zeros(len(left), dtype=np.int64)
    for t in np.flatnonzero(left >= 0):
        level[left[t]] = level[right[t]] = level[t] + 1
    return int(level.max())
