"""The cheapest prunings of a grown tree, as sets of nodes that become leaves."""

from __future__ import annotations

from collections.abc import Iterator

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
        return _stops(tree, share, int(np.argmax(table[0] <= table[0].min() + tree.slack)) + 1)
    cost = tree.loss + leaf_cost
    stop = np.ones(tree.n_nodes, dtype=bool)
    for t in np.flatnonzero(tree.left >= 0)[::-1]:
        below = cost[tree.left[t]] + cost[tree.right[t]] + price[tree.column[t]]
        stop[t] = cost[t] <= below + tree.slack
        cost[t] = min(cost[t], below)
    return stop


def cheapest_by_size(
    tree: GrownTree, leaf_cost: float, price: np.ndarray, most: int
) -> Iterator[np.ndarray]:
    """The cheapest prunings with 1, 2, …, `most` leaves; see `cheapest`."""
    table, share = _by_size(tree, leaf_cost, price, most)
    for n_leaves in range(1, len(table[0]) + 1):
        yield _stops(tree, share, n_leaves)


def _by_size(
    tree: GrownTree, leaf_cost: float, price: np.ndarray, most: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For every node and number of leaves less one: the least cost, and the leaves on the left."""
    cost = tree.loss + leaf_cost
    far = np.inf if cost.dtype.kind == "f" else np.iinfo(cost.dtype).max
    table = list(cost[:, None])
    share = [np.zeros(1, dtype=np.int64)] * tree.n_nodes
    for t in np.flatnonzero(tree.left >= 0)[::-1]:
        left, right = table[tree.left[t]], table[tree.right[t]]
        size = min(len(left) + len(right), most)
        best, how = np.full(size, far, dtype=cost.dtype), np.zeros(size, dtype=np.int64)
        best[0] = cost[t]
        for i in range(min(len(left), size - 1)):
            part = left[i] + right[: size - i - 1] + price[tree.column[t]]
            here = slice(i + 1, i + 1 + len(part))
            better = part < best[here]
            best[here], how[here] = (
                np.where(better, part, best[here]),
                np.where(better, i + 1, how[here]),
            )
        table[t], share[t] = best, how
    return table, share


def _stops(tree: GrownTree, share: list[np.ndarray], n_leaves: int) -> np.ndarray:
    """The pruning with so many leaves."""
    stop = np.ones(tree.n_nodes, dtype=bool)
    stack = [(0, n_leaves)]
    while stack:
        t, n = stack.pop()
        if n > 1:
            stop[t] = False
            first = int(share[t][n - 1])
            stack += [(int(tree.left[t]), first), (int(tree.right[t]), n - first)]
    return stop
