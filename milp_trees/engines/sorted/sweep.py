"""Compiled search for the best tree of depth two over sorted columns. Loads numba.

It passes over all columns for many root cuts at once, and uses bounds between cuts.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from milp_trees.compiling.kernels import kernel
from milp_trees.compiling.vectors import call
from milp_trees.engines.sorted import passes
from milp_trees.engines.sorted.nodes import INFINITY, leaf_value


class Work(NamedTuple):
    """Scratch arrays of `depth_two`.

    `address` is that of the pass over a column (`passes.compiled`), and `args` is its table of
    arguments.
    """

    position: np.ndarray
    P: np.ndarray
    W: np.ndarray
    Y: np.ndarray
    A: np.ndarray
    cuts: np.ndarray
    C: np.ndarray
    sums: np.ndarray
    store: np.ndarray
    out: np.ndarray
    prefix: np.ndarray
    low: np.ndarray
    high: np.ndarray
    spans: np.ndarray
    bounds: np.ndarray
    picked: np.ndarray
    address: np.ndarray
    args: np.ndarray


@kernel
def _at(array: Any) -> Any:
    """Address of an array's first entry."""
    return np.int64(array.ctypes.data)


@kernel(nogil=True)
def gather(columns: Any, lists: Any, work: Any, level: int, limited: bool) -> None:
    """Values (and amounts) of a node's rows in the order of every column."""
    m = lists.size[level]
    for j in range(lists.runs.shape[1]):
        if lists.runs[level, j] > 1:
            rows = lists.rows[level, j]
            if len(columns.labels):
                weights, labels = work.W[j, 0], work.Y[j]
                for k in range(m):
                    weights[k] = columns.weights[rows[k]]
                    labels[k] = columns.labels[rows[k]]
            else:
                for v in range(columns.values.shape[0]):
                    values, to = columns.values[v], work.W[j, v]
                    for k in range(m):
                        to[k] = values[rows[k]]
            if limited or columns.values.shape[0] > 1:
                to = work.A[j]
                for k in range(m):
                    to[k] = columns.amounts[rows[k]]


@kernel(nogil=True)
def root_column(columns: Any, lists: Any, work: Any, level: int, c: int) -> None:
    """Positions of all rows in column c, in the order of every column, and prefix sums of column c.

    The sums are over its first runs: cost of the first action, amounts, values.
    """
    m = lists.size[level]
    rows, ends, position = lists.rows[level, c], lists.ends[level, c], work.position
    V = columns.values.shape[0]
    kind = position.dtype.type
    k = 0
    sums = np.zeros(V + 2, dtype=np.int64)
    for g in range(lists.runs[level, c]):
        while k < ends[g]:
            r = rows[k]
            position[r] = kind(g)
            sums[0] += columns.first[r]
            sums[1] += columns.amounts[r]
            for v in range(V):
                sums[2 + v] += columns.values[v, r]
            k += 1
        for v in range(V + 2):
            work.prefix[v, g] = sums[v]
    for j in range(lists.runs.shape[1]):
        if lists.runs[level, j] > 1:
            order, to = lists.rows[level, j], work.P[j]
            for i in range(m):
                to[i] = position[order[i]]


@kernel(nogil=True)
def evaluate(
    columns: Any, lists: Any, work: Any, level: int, c: int, n: int, limited: bool
) -> None:
    """Best trees of depth one on both sides of the cuts `picked[:n]` of column c.

    Their values are `low[0]` and `high[0]` without, `low[1]` and `high[1]` with the least amount
    per leaf.
    """
    last = lists.runs[level, c] - 1
    V = columns.values.shape[0]
    lanes = work.cuts.shape[0]
    kind = work.cuts.dtype.type
    least = np.int64(columns.least if limited else 0)
    top = kind(np.int64(1) << (8 * work.cuts.itemsize - 2))
    for i in range(lanes):
        g = work.picked[min(i, n - 1)]
        work.cuts[i] = kind(g)
        work.C[i] = kind(work.prefix[1, g])
        work.C[lanes + i] = kind(work.prefix[1, last] - work.prefix[1, g])
        low, high = 0, 0
        for v in range(V):
            here, rest = work.prefix[2 + v, g], work.prefix[2 + v, last] - work.prefix[2 + v, g]
            low, high = min(low, here), min(high, rest)
            if V > 1:
                work.sums[(V + v) * lanes + i] = kind(here)
                work.sums[(2 * V + v) * lanes + i] = kind(rest)
        first = work.prefix[0, g]
        work.low[0, i] = columns.leaf + first + columns.unit * low
        work.high[0, i] = columns.leaf + work.prefix[0, last] - first + columns.unit * high
        # The search only asks for cuts whose sides are large enough to be leaves.
        work.low[1, i], work.high[1, i] = work.low[0, i], work.high[0, i]
    args = work.args
    args[passes.LEAST], args[passes.SIDES], args[passes.CUTS] = least, _at(work.C), _at(work.cuts)
    args[passes.N_VALUES], args[passes.WIDTH] = V, work.W.shape[2]
    args[passes.SUMS], args[passes.STORE] = _at(work.sums), _at(work.store)
    args[passes.OUT] = _at(work.out)
    fresh = True
    for q in range(len(columns.by_cost)):
        j = columns.by_cost[q]
        if lists.runs[level, j] > 1:
            if fresh:
                work.out[: 2 * lanes] = kind(0)
                work.out[2 * lanes :] = top
                fresh = False
            args[passes.POSITIONS], args[passes.VALUES] = _at(work.P[j]), _at(work.W[j])
            args[passes.LABELS], args[passes.AMOUNTS] = _at(work.Y[j]), _at(work.A[j])
            args[passes.ENDS], args[passes.RUNS] = _at(lists.ends[level, j]), lists.runs[level, j]
            call(work.address[0], _at(args))
        # Columns of one price are kept together until the next higher price.
        if not fresh and (
            q + 1 == len(columns.by_cost)
            or columns.costs[columns.by_cost[q + 1]] != columns.costs[j]
        ):
            fresh = True
            more = 2 * columns.leaf + columns.costs[j]
            for i in range(n):
                first = work.prefix[0, work.picked[i]]
                base = (first + more, work.prefix[0, last] - first + more)
                for s in range(2 if limited else 1):
                    low, high = work.out[2 * s * lanes + i], work.out[(2 * s + 1) * lanes + i]
                    if low < top:
                        work.low[s, i] = min(work.low[s, i], base[0] + columns.unit * np.int64(low))
                    if high < top:
                        work.high[s, i] = min(
                            work.high[s, i], base[1] + columns.unit * np.int64(high)
                        )


@kernel(nogil=True)
def allowed_cuts(columns: Any, lists: Any, level: int, c: int, limited: bool):
    """First and last cut of a column whose both sides have the least amount."""
    last = lists.runs[level, c] - 2
    if not limited:
        return 0, last
    rows, ends = lists.rows[level, c], lists.ends[level, c]
    first, count, k = 0, 0, 0
    while first <= last:
        while k < ends[first]:
            count += columns.amounts[rows[k]]
            k += 1
        if count >= columns.least:
            break
        first += 1
    count, k = 0, lists.size[level]
    while last >= first:
        while k > ends[last]:
            k -= 1
            count += columns.amounts[rows[k]]
        if count >= columns.least:
            break
        last -= 1
    return first, last


@kernel(nogil=True)
def pick(work: Any, n_open: int, lanes: int) -> Any:
    """Choose at most `lanes` cuts in the open spans, evenly, in rising order.

    Returns their number; `spans[2]` gets the number of cuts per span.
    """
    a, b, quota = work.spans[0], work.spans[1], work.spans[2]
    total = 0
    for s in range(n_open):
        total += b[s] - a[s] - 1
    n = 0
    for s in range(n_open):
        inside = b[s] - a[s] - 1
        q = inside if total <= lanes else min(inside, max(1, lanes * inside // total), lanes - n)
        quota[s] = q
        for i in range(q):
            work.picked[n] = a[s] + (inside + 1) * (i + 1) // (q + 1)
            n += 1
    return n


@kernel(nogil=True)
def depth_two(
    columns: Any,
    lists: Any,
    work: Any,
    level: int,
    budget: int,
    limited: bool,
    known: Any,
    hint: int,
    stop: Any,
    found: Any,
) -> Any:
    """The best tree of depth two if it costs less than `budget`, else a bound that is no less.

    Between two evaluated cuts a < b of a column every tree costs at least low(a) + high(b): the low
    side has more rows than at a, the high side more than at b, and a tree on more rows never costs
    less. With a least amount per leaf that is wrong (rows may be what makes a leaf possible), so
    bounds come from trees without it. `known[c]` holds a lower bound of every column and gets a
    better one; `found` gets column and cut.
    """
    p = lists.runs.shape[1]
    ub = budget
    found[0], found[1] = -1, -1
    leaf = leaf_value(columns, lists, level)
    bound = leaf
    ub = min(ub, leaf)
    gather(columns, lists, work, level, limited)
    lanes = work.cuts.shape[0]
    a, b, quota, la, hb = (
        work.spans[0],
        work.spans[1],
        work.spans[2],
        work.bounds[0],
        work.bounds[1],
    )
    s1 = 1 if limited else 0
    for q in range(p):
        # The column that was best on the last such node first.
        c = np.int64(hint if q == 0 else (0 if q == hint else q))
        if lists.runs[level, c] < 2:
            known[c] = INFINITY
            continue
        least = 2 * columns.leaf + columns.costs[c]
        known[c] = max(known[c], least)
        if known[c] >= ub:
            bound = min(bound, known[c])
            continue
        first, last = allowed_cuts(columns, lists, level, c, limited)
        best = INFINITY
        n_open = 0
        if first <= last:
            root_column(columns, lists, work, level, c)
            a[0], b[0], la[0], hb[0], n_open = first - 1, last + 1, columns.leaf, columns.leaf, 1
        while n_open:
            if stop[0]:
                return ub
            n = pick(work, np.int64(n_open), np.int64(lanes))
            evaluate(columns, lists, work, level, c, n, limited)
            for i in range(n):
                value = work.low[s1, i] + work.high[s1, i] + columns.costs[c]
                best = min(best, value)
                if value < ub:
                    ub, found[0], found[1] = value, c, work.picked[i]
            # Spans are divided at the cuts; those that cannot hold a better tree are dropped.
            kept, i = 0, 0
            pieces = work.spans[3:], work.bounds[2:]
            for s in range(n_open):
                left, low = a[s], la[s]
                for t in range(quota[s] + 1):
                    right, high = (
                        (work.picked[i], work.high[0, i]) if t < quota[s] else (b[s], hb[s])
                    )
                    high = max(high, hb[s])
                    if right - left > 1:
                        value = low + high + columns.costs[c]
                        if value < ub:
                            pieces[0][0, kept], pieces[0][1, kept] = left, right
                            pieces[1][0, kept], pieces[1][1, kept] = low, high
                            kept += 1
                        else:
                            best = min(best, value)
                    if t < quota[s]:
                        left, low = right, max(low, work.low[0, i])
                        i += 1
            n_open = kept
            for s in range(kept):
                a[s], b[s], la[s], hb[s] = (
                    pieces[0][0, s],
                    pieces[0][1, s],
                    pieces[1][0, s],
                    pieces[1][1, s],
                )
        known[c] = max(known[c], best)
        bound = min(bound, known[c])
    return ub if ub < budget else max(bound, budget)
