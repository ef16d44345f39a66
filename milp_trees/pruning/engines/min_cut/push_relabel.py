"""Minimum cut of a closure problem by first-in first-out push-relabel.

The method is that of Goldberg, Tarjan (1988), with the global relabelling of Cherkassky, Goldberg
(1997).

Only the first phase is run: it ends with a maximum preflow, and what can be reached from the
remaining excess is the smallest source side. Arcs between items have unlimited capacity, so the
flow on an arc is also what the reversed arc can take back. Every item has one number, `excess`:
above 0 it is what must still be pushed on, below 0 what the sink can still take from the item. Arcs
are stored by tail, and for every item there are the positions of the arcs that end there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.pruning.engines.min_cut.closure import Closure

#: The stop byte of a run that is not stopped.
NEVER = np.zeros(1, dtype=np.uint8)


class Network(NamedTuple):
    """Arcs by tail (item v has those from `start[v]` on) and, for every head, their positions."""

    start: np.ndarray
    head: np.ndarray
    back_start: np.ndarray
    tail: np.ndarray
    position: np.ndarray


class Preflow(NamedTuple):
    """Flow of every arc and excess of every item, with the work space of a search."""

    flow: np.ndarray
    excess: np.ndarray
    label: np.ndarray
    current: np.ndarray
    queue: np.ndarray
    per_label: np.ndarray
    waiting: np.ndarray


def preflow_of(flow: np.ndarray, excess: np.ndarray, items: int) -> Preflow:
    """A flow with work space for so many items."""
    label, current, queue, count, waiting = (np.empty(items + 2, dtype=np.int32) for _ in range(5))
    return Preflow(flow, excess, label, current, queue, count, waiting)


def min_cut(closure: Closure, weights: np.ndarray, largest: bool = False) -> tuple[np.ndarray, int]:
    """The heaviest closed set of items, exactly."""
    side, excess, _, _ = preflow(closure, weights, largest)
    return side, int(np.maximum(weights, 0).sum()) - int(np.maximum(excess, 0).sum())


def preflow(
    closure: Closure, weights: np.ndarray, largest: bool = False, stop: np.ndarray = NEVER
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """A maximum preflow, and its source side.

    The kernel ends soon once `stop[0]` is not 0, which another thread may write; its result is then
    meaningless.
    """
    n, net = closure.n_items, network_of(closure)
    excess = weights.astype(np.int64)
    found = preflow_of(np.zeros(closure.n_arcs, dtype=np.int64), excess, n)
    max_preflow(n, net, found, stop)
    if largest:
        relabel_all(n, net, found)
        side = found.label[:n] > n
    else:
        reach_excess(n, net, found)
        side = found.label[:n] == -1
    return side, excess, found.flow, net[2:]


def network_of(closure: Closure) -> Network:
    """The arcs of a closure problem, by tail and by head."""
    n, arcs = closure.n_items, closure.n_arcs
    tail, position = np.empty(arcs, dtype=np.int32), np.empty(arcs, dtype=np.int32)
    net = Network(closure.start, closure.head, np.empty(n + 1, dtype=np.int64), tail, position)
    reverse(n, net)
    return net


@kernel(nogil=True)
def reverse(n, net):  # type: ignore[no-untyped-def]
    """Write the arcs by head into the last three arrays of a network."""
    start, head, back_start, tail, position = net
    for v in range(n + 1):
        back_start[v] = 0
    for k in range(start[n]):
        back_start[head[k]] += 1
    total = 0
    for v in range(n + 1):  # the ends, which the loop below changes into beginnings
        total += back_start[v]
        back_start[v] = total
    for v in range(n - 1, -1, -1):
        for k in range(start[v + 1] - 1, start[v] - 1, -1):
            u = head[k]
            back_start[u] -= 1
            tail[back_start[u]] = v
            position[back_start[u]] = k


@kernel(nogil=True)
def relabel_all(n, net, found):  # type: ignore[no-untyped-def]
    """Compute exact distances to the sink by breadth-first search; return the largest.

    The distance is n + 1 if there is no path.
    """
    start, head, back_start, tail, position = net
    flow, excess, label, current, queue, count, _ = found
    for d in range(n + 2):
        count[d] = 0
    far = n + 1
    last = 0
    for v in range(n):
        current[v] = 0
        if excess[v] < 0:
            label[v] = 1
            queue[last] = v
            last += 1
        else:
            label[v] = far
    i = 0
    while i < last:
        v = queue[i]
        i += 1
        d = label[v] + 1
        count[d - 1] += 1
        for k in range(back_start[v], back_start[v + 1]):
            u = tail[k]
            if label[u] == far:
                label[u] = d
                queue[last] = u
                last += 1
        for k in range(start[v], start[v + 1]):
            if flow[k] > 0:
                u = head[k]
                if label[u] == far:
                    label[u] = d
                    queue[last] = u
                    last += 1
    return label[queue[last - 1]] if last else 0


@kernel(nogil=True)
def max_preflow(n, net, found, stop):  # type: ignore[no-untyped-def]  # noqa: C901
    """Push all excess that can reach the sink.

    `flow` and `excess` become a maximum preflow; `label` is n + 1 if the sink cannot be reached.
    """
    start, head, back_start, tail, position = net
    flow, excess, label, current, queue, count, waiting = found
    highest = relabel_all(n, net, found)
    far = n + 1
    first, length = 0, 0
    for v in range(n):
        waiting[v] = 0
        if excess[v] > 0 and label[v] < far:
            waiting[v] = 1
            queue[length] = v
            length += 1
    work = 0
    enough = start[n] + 6 * n
    while length and stop[0] == 0:
        u = queue[first]
        first = first + 1 if first + 1 < n else 0
        length -= 1
        waiting[u] = 0
        d = label[u]
        if d == far:
            continue
        begin, back = start[u], back_start[u]
        out = start[u + 1] - begin
        total = out + back_start[u + 1] - back
        left = excess[u]
        k = current[u]
        while k < total:
            if k < out:
                v = head[begin + k]
                if label[v] == d - 1:
                    flow[begin + k] += left
                    was = excess[v]
                    excess[v] = was + left
                    if was + left > 0 and waiting[v] == 0:
                        waiting[v] = 1
                        at = first + length
                        queue[at if at < n else at - n] = v
                        length += 1
                    left = 0
                    break
            else:
                at = position[back + k - out]
                f = flow[at]
                if f > 0:
                    v = tail[back + k - out]
                    if label[v] == d - 1:
                        amount = f if f < left else left
                        flow[at] = f - amount
                        was = excess[v]
                        excess[v] = was + amount
                        if was + amount > 0 and waiting[v] == 0:
                            waiting[v] = 1
                            at = first + length
                            queue[at if at < n else at - n] = v
                            length += 1
                        left -= amount
                        if left == 0:
                            break
            k += 1
        excess[u] = left
        current[u] = k
        if left == 0:
            continue
        # No admissible arc is left: the new label is one more than the smallest neighbour's.
        near, where = far, 0
        for k in range(out):
            v = head[begin + k]
            if label[v] < near:
                near = label[v]
                where = k
        for k in range(total - out):
            if flow[position[back + k]] > 0:
                v = tail[back + k]
                if label[v] < near:
                    near = label[v]
                    where = out + k
        work += total + 12
        count[d] -= 1
        if count[d] == 0 and highest > d:  # a gap: nothing above it reaches the sink any more
            for v in range(n):
                if d < label[v] < far:
                    count[label[v]] -= 1
                    label[v] = far
            highest = d
            work += n
            near = far
        if near + 1 >= far:
            label[u] = far
        else:
            label[u] = near + 1
            count[near + 1] += 1
            if near + 1 > highest:
                highest = near + 1
            current[u] = where
            waiting[u] = 1
            at = first + length
            queue[at if at < n else at - n] = u
            length += 1
        if work > enough and length:
            work = 0
            highest = relabel_all(n, net, found)
            first, length = 0, 0
            for v in range(n):
                waiting[v] = 0
                if excess[v] > 0 and label[v] < far:
                    waiting[v] = 1
                    queue[length] = v
                    length += 1


@kernel(nogil=True)
def reach_excess(n, net, found):  # type: ignore[no-untyped-def]
    """Write -1 into the labels of what can be reached from remaining excess.

    That is the smallest source side; its size is returned.
    """
    start, head, back_start, tail, position = net
    flow, excess, label, _, queue, _, _ = found
    last = 0
    for v in range(n):
        if excess[v] > 0:
            label[v] = -1
            queue[last] = v
            last += 1
    i = 0
    while i < last:
        v = queue[i]
        i += 1
        for k in range(start[v], start[v + 1]):
            u = head[k]
            if label[u] != -1:
                label[u] = -1
                queue[last] = u
                last += 1
        for k in range(back_start[v], back_start[v + 1]):
            if flow[position[k]] > 0:
                u = tail[k]
                if label[u] != -1:
                    label[u] = -1
                    queue[last] = u
                    last += 1
    return last
