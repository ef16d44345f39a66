"""The cheapest prunings of a grown tree, as sets of nodes that become leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from milp_trees.methods.growing.tree import GrownTree


def cheapest(
    tree: GrownTree, leaf_cost: float, price: np.ndarray, most: int | None = None
) -> np.ndarray:
    """The pruning with the least loss plus penalties, of equal ones the one with fewer leaves.

    Parameters
    ----------
    tree : GrownTree
    leaf_cost : number
    price : array of shape (C,)
        What a split on each column costs.
    most : int, optional
        The largest number of leaves.

    Returns
    -------
    bool array of shape (nodes,)
        Whether a node of the tree is a leaf if a path gets there.
    """
    if most is not None and most < len(tree.leaves):
        table, share = _by_size(tree, leaf_cost, price, most)
        enough = min(table) + tree.slack
        n_leaves = 1 + next(i for i, cost in enumerate(table) if cost <= enough)
        return _stops(tree, share, n_leaves)
    cost = (tree.loss + leaf_cost).tolist()
    stop = np.ones(tree.n_nodes, dtype=bool)
    for t, left, right, split in _inner(tree, price):
        below = cost[left] + cost[right] + split
        stop[t] = cost[t] <= below + tree.slack
        cost[t] = min(cost[t], below)
    return stop


def cheapest_by_size(
    tree: GrownTree, leaf_cost: float, price: np.ndarray, most: int
) -> Iterator[np.ndarray]:
    """The cheapest prunings with 1, 2, …, `most` leaves; see `cheapest`."""
    table, share = _by_size(tree, leaf_cost, price, most)
    for n_leaves in range(1, len(table) + 1):
        yield _stops(tree, share, n_leaves)


def _inner(tree: GrownTree, price: np.ndarray) -> Iterator[tuple[int, int, int, Any]]:
    """Every inner node, from below, with its children and the price of its split."""
    inner = np.flatnonzero(tree.left >= 0)[::-1]
    paid = price[tree.column[inner]]
    return zip(
        *(a.tolist() for a in (inner, tree.left[inner], tree.right[inner], paid)), strict=True
    )


def _by_size(
    tree: GrownTree, leaf_cost: float, price: np.ndarray, most: int
) -> tuple[list[Any], list[list[int]]]:
    """The least cost of the tree with 1, 2, … leaves, and per node how many are on its left."""
    table = [[cost] for cost in (tree.loss + leaf_cost).tolist()]
    share = [[0]] * tree.n_nodes
    for t, below, beside, split in _inner(tree, price):
        left, right = table[below], table[beside]
        size = min(len(left) + len(right), most)
        best, how = table[t] + [math.inf] * (size - 1), [0] * size
        for i, a in enumerate(left[: size - 1]):
            for k, b in enumerate(right[: size - i - 1], i + 1):
                cost = a + b + split
                if cost < best[k]:
                    best[k], how[k] = cost, i + 1
        table[t], share[t] = best, how
    return table[0], share


def _stops(tree: GrownTree, share: list[list[int]], n_leaves: int) -> np.ndarray:
    """The pruning with so many leaves."""
    stop = np.ones(tree.n_nodes, dtype=bool)
    stack = [(0, n_leaves)]
    while stack:
        t, n = stack.pop()
        if n > 1:
            stop[t] = False
            first = share[t][n - 1]
            stack += [(int(tree.left[t]), first), (int(tree.right[t]), n - first)]
    return stop
