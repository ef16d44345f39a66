"""Kernels that make closure problems: purchases that the same splits need, and needs as arcs.

The former are found by refining a partition. All kernels are linear in the number of needs.
"""

from __future__ import annotations

import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel
def with_above(  # type: ignore[no-untyped-def]
    left,
    right,
    roots,
    row,
    start,
    need,
    above_start,
    above,
    n_purchases,
    out_start,
    out,
    count_only,
):
    """Every split's needs and what they need in turn, without what splits above it have already.

    It is called twice: to count (`out_start` becomes the counts) and to write. It walks over the
    trees; `owner` holds the split that brought in a purchase.
    """
    owner = np.full(n_purchases, -1, np.int64)
    stack = np.empty(len(row) + 1, np.int64)
    pending = np.empty(n_purchases + 1, np.int64)
    trail = np.empty(n_purchases, np.int64)  # purchases in the order in which the path added them
    height = 0
    counts = np.zeros(len(out_start), np.int64)
    for root in roots:
        top = 0
        stack[0] = root
        while top >= 0:
            h = stack[top]
            top -= 1
            if h < 0:  # going back up: remove what this split added
                h = -h - 1
                while height and owner[trail[height - 1]] == h:
                    height -= 1
                    owner[trail[height]] = -1
                continue
            if left[h] < 0:
                continue
            j = row[h]
            if j >= 0:
                waiting = 0
                for k in range(start[j], start[j + 1]):
                    if owner[need[k]] < 0:
                        owner[need[k]] = h
                        pending[waiting] = need[k]
                        waiting += 1
                    else:  # an ancestor has the purchase, and everything above it
                        continue
                    while waiting:
                        waiting -= 1
                        p = pending[waiting]
                        trail[height] = p
                        height += 1
                        if not count_only:
                            out[out_start[j] + counts[j]] = p
                        counts[j] += 1
                        for a in range(above_start[p], above_start[p + 1]):
                            if owner[above[a]] < 0:
                                owner[above[a]] = h
                                pending[waiting] = above[a]
                                waiting += 1
            stack[top + 1] = -h - 1
            stack[top + 2] = left[h]
            stack[top + 3] = right[h]
            top += 3
    return counts, out


@kernel
def refine(needs, need, price):  # type: ignore[no-untyped-def]
    """Group of every purchase, so that two have one group exactly if the same splits need them.

    The group is -1 if the price is 0 or no split needs the purchase.
    """
    P = len(price)
    group = np.zeros(P, np.int32)
    size = np.zeros(P + 2, np.int64)
    for p in range(P):
        if price[p] == 0:
            group[p] = -1
        else:
            size[0] += 1
    reached = np.zeros(P + 2, np.int64)
    stamp = np.full(P + 2, -1, np.int64)
    moved = np.zeros(P + 2, np.int32)
    seen = np.full(P, -1, np.int32)
    n_groups = 1
    for h in range(len(needs) - 1):
        for k in range(needs[h], needs[h + 1]):
            p = need[k]
            c = group[p]
            if c < 0 or seen[p] == h:
                continue
            seen[p] = h
            if stamp[c] != h:
                stamp[c] = h
                reached[c] = 0
                moved[c] = -1
            reached[c] += 1
        for k in range(needs[h], needs[h + 1]):
            p = need[k]
            c = group[p]
            if c < 0 or seen[p] == -2 - h:
                continue
            seen[p] = -2 - h
            if moved[c] < 0:
                if (
                    c > 0 and reached[c] == size[c]
                ):  # the group stays whole; group 0 holds what no split has needed yet
                    continue
                moved[c] = n_groups
                size[n_groups] = reached[c]
                size[c] -= reached[c]
                n_groups += 1
            group[p] = moved[c]
    for p in range(P):
        group[p] = group[p] - 1 if group[p] > 0 else -1
    return group, n_groups - 1


@kernel
def paid_alone(price, needs, need):  # type: ignore[no-untyped-def]
    """A separate group for every purchase with a price that some split needs."""
    used = np.zeros(len(price), np.bool_)
    for k in range(len(need)):
        used[need[k]] = True
    group = np.full(len(price), -1, np.int32)
    n_groups = 0
    for p in range(len(price)):
        if used[p] and price[p] > 0:
            group[p] = n_groups
            n_groups += 1
    return group, n_groups


@kernel
def count_uses(needs, need, group, n_groups):  # type: ignore[no-untyped-def]
    """Number of splits that need each group, the last of them, and the number of all such pairs."""
    uses = np.zeros(n_groups, np.int64)
    user = np.full(n_groups, -1, np.int64)
    pairs = 0
    for h in range(len(needs) - 1):
        for k in range(needs[h], needs[h + 1]):
            c = group[need[k]]
            if c >= 0 and user[c] != h:
                user[c] = h
                uses[c] += 1
                pairs += 1
    return uses, user, pairs


@kernel
def arcs_of(H, V, parent, needs, need, group, item_of, most):  # type: ignore[no-untyped-def]
    """Needs as arcs: every split's parent, and the shared purchases it needs, each once."""
    start = np.zeros(V + 1, np.int64)
    head = np.empty(most, np.int32)
    last = np.full(V, -1, np.int64)
    n = 0
    for h in range(H):
        start[h] = n
        if parent[h] >= 0:
            head[n] = parent[h]
            n += 1
        for k in range(needs[h], needs[h + 1]):
            c = group[need[k]]
            if c < 0:
                continue
            v = item_of[c]
            if v >= H and last[v] != h:
                last[v] = h
                head[n] = v
                n += 1
    for v in range(H, V + 1):
        start[v] = n
    return start, head[:n].copy()
