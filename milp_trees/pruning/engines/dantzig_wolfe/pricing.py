r"""Pricing: the best pruning of every tree when splits have prices.

From the leaves up, a node stays a split if that costs less than a leaf: linear in the nodes. Nan,
Wang,
Saligrama (2016) price with a shortest path instead: number the leaves of the unpruned tree 1..L in
depth-first order; a node whose leaves are l..r is an arc from l-1 to r, and the paths from 0 to L
are the prunings. An arc costs the error of its node as a leaf, less the prices of all splits in its
subtree, which are then not kept; the prices of all splits of the tree are added once. The number of
arcs is that of the nodes. `path_pruning` does this with networkx, as an independent check.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.compiling.kernels import kernel

if TYPE_CHECKING:
    from milp_trees.pruning.engines.dantzig_wolfe.coupling import Coupled


@kernel(nogil=True)
def _prune(parent, left, right, error, cost, value, keep):  # type: ignore[no-untyped-def]
    """Write the least cost of every subtree to `value`, and the kept splits to `keep`.

    Of equal costs, the smaller tree is taken.
    """
    for h in range(len(left) - 1, -1, -1):
        value[h] = error[h]
        keep[h] = False
        if left[h] >= 0:
            split = cost[h] + value[left[h]] + value[right[h]]
            if split < error[h]:
                value[h] = split
                keep[h] = True
    for h in range(len(left)):
        if parent[h] >= 0 and not keep[parent[h]]:
            keep[h] = False


@kernel(nogil=True)
def _add_duals(cost, node, duals):  # type: ignore[no-untyped-def]
    for j in range(len(node)):
        cost[node[j]] += duals[j]


@dataclass(frozen=True, eq=False)
class ForestPart:
    """Some trees that are priced together; parameters as in `Coupled`.

    Nodes are counted from the part's first.
    """

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    begin: np.ndarray
    error: np.ndarray
    split_cost: np.ndarray
    node: np.ndarray

    def price(self, duals: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
        """The best pruning of every tree."""
        cost = self.split_cost << shift
        _add_duals(cost, self.node, duals)
        return self._best(self.error << shift, cost)

    def best_with(self, forbidden: np.ndarray) -> np.ndarray:
        """The best pruning of every tree without forbidden splits; purchases cost nothing.

        `forbidden` is a bool array with an entry per node.
        """
        never = int(self.error.sum()) + 1
        return self._best(self.error, np.where(forbidden, never, self.split_cost))[1]

    def _best(self, error: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, keep = np.empty(len(error), dtype=np.int64), np.empty(len(error), dtype=np.bool_)
        _prune(self.parent, self.left, self.right, error, cost, value, keep)
        return value[self.begin[:-1]], keep


def part(problem: Coupled, first: int, last: int) -> ForestPart:
    """Trees first..last-1 of a problem."""
    lo, hi = int(problem.begin[first]), int(problem.begin[last])
    links = slice(int(problem.link_begin[first]), int(problem.link_begin[last]))
    parent, left, right = (
        np.where(a[lo:hi] >= 0, a[lo:hi] - lo, -1)
        for a in (problem.parent, problem.left, problem.right)
    )
    return ForestPart(
        parent,
        left,
        right,
        problem.begin[first : last + 1] - lo,
        problem.error[lo:hi].copy(),
        problem.split_cost[lo:hi].copy(),
        problem.node[links] - lo,
    )


def warm_up() -> None:
    """Compile the kernels."""
    one, none = np.zeros(1, dtype=np.int64), np.array([-1])
    ForestPart(none, none, none, np.array([0, 1]), one, one, one).price(one, 0)


def path_pruning(
    parent: np.ndarray, left: np.ndarray, right: np.ndarray, error: np.ndarray, cost: np.ndarray
) -> tuple[int, np.ndarray]:
    """The best pruning of one tree as a shortest path of leaves in depth-first order.

    It uses networkx and is slow; it is meant for checks.
    """
    import networkx as nx

    arcs: dict[
        tuple[int, int], tuple[int, int]
    ] = {}  # interval of leaves → node, and prices of the splits in its subtree
    todo, leaves = [(0, False)], 0
    last, within = np.zeros(len(left), dtype=np.int64), np.zeros(len(left), dtype=np.int64)
    first = np.zeros(len(left), dtype=np.int64)
    while todo:
        h, below_done = todo.pop()
        if left[h] < 0:
            first[h], leaves = leaves, leaves + 1
            last[h] = leaves
        elif not below_done:
            todo += [(h, True), (int(right[h]), False), (int(left[h]), False)]
            continue
        else:
            first[h], last[h] = first[left[h]], last[right[h]]
            within[h] = cost[h] + within[left[h]] + within[right[h]]
        arcs[int(first[h]), int(last[h])] = h, int(error[h]) - int(within[h])
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((a, b, length) for (a, b), (_, length) in arcs.items())
    path = nx.bellman_ford_path(graph, 0, leaves)
    pruned = [arcs[step] for step in pairwise(path)]
    keep = np.zeros(len(left), dtype=bool)
    for h, _ in pruned:
        while parent[h] >= 0:
            h = int(parent[h])
            keep[h] = True
    return int(within[0]) + sum(length for _, length in pruned), keep
