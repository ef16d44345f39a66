"""Compiled oracles.

Every answer is computed entry by entry in a fixed order, so it does not depend on the rest of the
batch.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel
def cheapest_listed(costs: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First cheapest row of `vertices` (K, d) for each row of `costs` (m, d): index and cost."""
    m, d = costs.shape
    index = np.empty(m, np.int64)
    value = np.empty(m)
    for i in range(m):
        best, at = np.inf, 0
        for k in range(len(vertices)):
            total = 0.0
            for j in range(d):
                total += costs[i, j] * vertices[k, j]
            if total < best:
                best, at = total, k
        index[i], value[i] = at, best
    return index, value


@kernel
def acyclic(
    costs: np.ndarray, start: np.ndarray, edge: np.ndarray, head: np.ndarray, write: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Shortest paths from node 0 to the last node, nodes in topological order.

    `edge[start[v]:start[v + 1]]` are the columns of `costs` of the edges that leave v, in the order
    that breaks ties, and `head` holds the nodes where they end.
    """
    m = len(costs)
    n = len(start) - 1
    value = np.empty(m)
    decisions = np.zeros((m if write else 0, costs.shape[1]))
    distance = np.zeros(n)
    chosen = np.zeros(n, np.int64)
    for i in range(m):
        for v in range(n - 2, -1, -1):
            best, at = np.inf, -1
            for e in range(start[v], start[v + 1]):
                length = costs[i, edge[e]] + distance[head[e]]
                if length < best:
                    best, at = length, e
            distance[v], chosen[v] = best, at
        value[i] = distance[0]
        if write:
            v = 0
            while v < n - 1:
                decisions[i, edge[chosen[v]]] = 1.0
                v = head[chosen[v]]
    return decisions, value


@kernel
def cyclic(
    costs: np.ndarray, start: np.ndarray, edge: np.ndarray, head: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Shortest paths from node 0 to the last node by the method of Bellman and Ford.

    The third result is the first row with a cycle of negative cost (or of a cost that rounding
    cannot distinguish from 0), or -1. Among equally short paths one with the fewest edges is
    chosen, so a cycle of length 0 is never used.
    """
    m = len(costs)
    n = len(start) - 1
    value = np.empty(m)
    decisions = np.zeros((m, costs.shape[1]))
    distance = np.empty(n)
    hops = np.empty(n, np.int64)
    chosen = np.empty(n, np.int64)
    for i in range(m):
        for v in range(n):
            distance[v], hops[v], chosen[v] = np.inf, n, -1
        distance[n - 1], hops[n - 1] = 0.0, 0
        rounds = 0
        changed = True
        while changed:
            changed = False
            if rounds > 2 * n:
                return decisions, value, i
            rounds += 1
            for v in range(n - 1, -1, -1):
                for e in range(start[v], start[v + 1]):
                    length, steps = costs[i, edge[e]] + distance[head[e]], hops[head[e]] + 1
                    earlier = length == distance[v] and steps == hops[v] and e < chosen[v]
                    if (
                        length < distance[v]
                        or (length == distance[v] and steps < hops[v])
                        or earlier
                    ):
                        distance[v], hops[v], chosen[v] = length, steps, e
                        changed = True
        value[i] = distance[0]
        v, walked = 0, 0
        while v < n - 1:
            if walked > n:
                return decisions, value, i
            decisions[i, edge[chosen[v]]] = 1.0
            v = head[chosen[v]]
            walked += 1
    return decisions, value, -1


@kernel
def knapsack(costs: np.ndarray, weights: np.ndarray, capacity: int) -> np.ndarray:
    """0/1 knapsack with integer weights: decisions of least cost.

    An item that does not reduce the cost is left out.
    """
    m, d = costs.shape
    decisions = np.zeros((m, d))
    best = np.empty(capacity + 1)
    taken = np.zeros((d, capacity + 1), np.bool_)
    for i in range(m):
        best[:] = 0.0
        for j in range(d - 1, -1, -1):
            # best[r] is the least cost of the items j, j + 1, … with capacity r
            for r in range(capacity, -1, -1):
                taken[j, r] = False
                if weights[j] <= r and costs[i, j] + best[r - weights[j]] < best[r]:
                    best[r] = costs[i, j] + best[r - weights[j]]
                    taken[j, r] = True
        room = capacity
        for j in range(d):
            if taken[j, room]:
                decisions[i, j] = 1.0
                room -= weights[j]
    return decisions
