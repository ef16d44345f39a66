"""Compiled search for the best tree of depth two over sorted columns. Loads numba.

It passes over all columns for many root cuts at once, and uses bounds between cuts.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.vectors import call
from milp_trees.engines.dp_sorted import passes
from milp_trees.engines.dp_sorted.memory import BUDGET, FLOOR, LEAVES, MODE
from milp_trees.engines.dp_sorted.nodes import INFINITY, allowed_cuts, leaf_value, least_of


class SweepWork(NamedTuple):
    """Scratch arrays of `depth_two`.

    `address` holds those of the passes over a column (`passes.compiled`) without and with the least
    amounts, and `args` is their table of arguments. `low` and `high` hold the values of the sides
    of the picked cuts: the best tree of depth one, the same with the least amounts, and one leaf.
    `caps` holds how much the low and the high sides of these cuts may cost, for a leaf function: of
    those that cost as much it need not be known how much more.
    """

    position: np.ndarray
    P: np.ndarray
    W: np.ndarray
    Y: np.ndarray
    A: np.ndarray
    cuts: np.ndarray
    least: np.ndarray
    C: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    store: np.ndarray
    out: np.ndarray
    prefix: np.ndarray
    low: np.ndarray
    high: np.ndarray
    caps: np.ndarray
    spans: np.ndarray
    bounds: np.ndarray
    picked: np.ndarray
    address: np.ndarray
    args: np.ndarray


@kernel(allocates=False)
def _at(array: Any) -> Any:
    """Address of an array's first entry."""
    return np.int64(array.ctypes.data)


@kernel(nogil=True, allocates=False)
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
            for a in range(columns.amounts.shape[0] if limited else 0):
                amounts, to = columns.amounts[a], work.A[j, a]
                for k in range(m):
                    to[k] = amounts[rows[k]]


@kernel(nogil=True, allocates=False)
def root_column(columns: Any, lists: Any, work: Any, level: int, c: int) -> None:
    """Positions of all rows in column c, in the order of every column, and prefix sums of column c.

    The sums are over its first runs: cost of the first action, values, amounts.
    """
    m = lists.size[level]
    rows, ends, position = lists.rows[level, c], lists.ends[level, c], work.position
    V, A = columns.values.shape[0], columns.amounts.shape[0]
    kind = position.dtype.type
    k = 0
    for g in range(lists.runs[level, c]):
        sums = work.prefix[:, g]
        for i in range(1 + V + A):
            sums[i] = work.prefix[i, g - 1] if g else 0
        while k < ends[g]:
            r = rows[k]
            position[r] = kind(g)
            sums[0] += columns.first[r]
            for v in range(V):
                sums[1 + v] += np.int64(columns.values[v, r])
            for a in range(A):
                sums[1 + V + a] += np.int64(columns.amounts[a, r])
            k += 1
    for j in range(lists.runs.shape[1]):
        if lists.runs[level, j] > 1:
            order, to = lists.rows[level, j], work.P[j]
            for i in range(m):
                to[i] = position[order[i]]


@kernel(nogil=True, allocates=False)
def evaluate(
    columns: Any, lists: Any, work: Any, level: int, c: int, n: int, limited: bool
) -> None:
    """Best trees of depth one on both sides of the cuts `picked[:n]` of column c.

    Their values are written to `low` and `high` of the work space.
    """
    last = lists.runs[level, c] - 1
    V, A = columns.values.shape[0], columns.amounts.shape[0] if limited else 0
    lanes = work.cuts.shape[0]
    kind = work.cuts.dtype.type
    top = kind(np.int64(1) << (8 * work.cuts.itemsize - 2))
    for i in range(lanes):
        g = work.picked[min(i, n - 1)]
        work.cuts[i] = kind(g)
        for a in range(A):
            amount = work.prefix[1 + V + a, g]
            work.C[a * lanes + i] = kind(amount)
            work.C[(A + a) * lanes + i] = kind(work.prefix[1 + V + a, last] - amount)
        here, rest = lists.sums[0], lists.sums[1]
        for v in range(V):
            here[v] = work.prefix[1 + v, g]
            rest[v] = work.prefix[1 + v, last] - here[v]
            if V > 1:
                work.sums[(V + v) * lanes + i] = kind(here[v])
                work.sums[(2 * V + v) * lanes + i] = kind(rest[v])
        first = work.prefix[0, g]
        # The search only asks for cuts whose sides are large enough to be leaves.
        work.low[:, i] = columns.leaf + first + least_of(columns, here)
        work.high[:, i] = columns.leaf + work.prefix[0, last] - first + least_of(columns, rest)
    args, address = work.args, work.address[1 if limited else 0]
    args[passes.LEAST], args[passes.SIDES], args[passes.CUTS] = (
        _at(work.least),
        _at(work.C),
        _at(work.cuts),
    )
    args[passes.N_VALUES], args[passes.WIDTH], args[passes.N_AMOUNTS] = V, work.W.shape[2], A
    args[passes.SUMS], args[passes.STORE] = _at(work.sums), _at(work.store)
    args[passes.OUT], args[passes.COUNTS] = _at(work.out), _at(work.counts)
    args[passes.GRID], args[passes.MARGIN] = columns.parameters[0], columns.parameters[1]
    fresh, leader, least = True, np.int64(0), 0.0
    for q in range(len(columns.by_cost)):
        j = columns.by_cost[q]
        if lists.runs[level, j] > 1:
            if fresh:
                work.out[: 2 * lanes] = kind(0)
                work.out[2 * lanes :] = top
                fresh = False
                if columns.leaf_function:
                    start_from_caps(columns, work, last, 2 * columns.leaf + columns.costs[j])
                    leader, least = np.int64(q), total_of(work.out, 2 * lanes)
            args[passes.POSITIONS], args[passes.VALUES] = _at(work.P[j]), _at(work.W[j])
            args[passes.LABELS], args[passes.AMOUNTS] = _at(work.Y[j]), _at(work.A[j])
            args[passes.ENDS], args[passes.RUNS] = _at(lists.ends[level, j]), lists.runs[level, j]
            call(address, _at(args))
            if columns.leaf_function:
                found = total_of(work.out, 2 * lanes)
                if found < least:
                    leader, least = np.int64(q), found
        # Columns of one price are kept together until the next higher price.
        if not fresh and (
            q + 1 == len(columns.by_cost)
            or columns.costs[columns.by_cost[q + 1]] != columns.costs[j]
        ):
            fresh = True
            if columns.leaf_function:
                lead(columns, leader)
            more = 2 * columns.leaf + columns.costs[j]
            take_out(columns, work, n, last, np.int64(more), limited)


@kernel(nogil=True, allocates=False)
def take_out(columns: Any, work: Any, n: int, last: int, more: int, limited: bool) -> None:
    """Make what passes have found the values of the sides of the picked cuts, if that is better.

    `more` is what two leaves cost besides the values of their rows.
    """
    lanes = work.cuts.shape[0]
    top = work.cuts.dtype.type(np.int64(1) << (8 * work.cuts.itemsize - 2))
    for i in range(n):
        first = work.prefix[0, work.picked[i]]
        base = (first + more, work.prefix[0, last] - first + more)
        for s in range(2 if limited else 1):
            low, high = work.out[2 * s * lanes + i], work.out[(2 * s + 1) * lanes + i]
            if low < top:
                work.low[s, i] = min(work.low[s, i], base[0] + columns.unit * np.int64(low))
            if high < top:
                work.high[s, i] = min(work.high[s, i], base[1] + columns.unit * np.int64(high))


@kernel(allocates=False)
def total_of(numbers: Any, n: int) -> Any:
    """Sum of the first numbers, as a double."""
    total = 0.0
    for i in range(n):
        total += numbers[i]
    return total


@kernel(allocates=False)
def lead(columns: Any, q: int) -> None:
    """Put a column before all others of its price: it had the best cuts of the last pass.

    Of the others then fewer cuts need be evaluated.
    """
    order, c = columns.by_cost, columns.by_cost[q]
    while q > 0 and columns.costs[order[q - 1]] == columns.costs[c]:
        order[q] = order[q - 1]
        q -= 1
    order[q] = c


@kernel(nogil=True, allocates=False)
def start_from_caps(columns: Any, work: Any, last: int, more: int) -> None:
    """What two leaves of each side may cost at most, which is what is known of them at first.

    `more` is what they cost besides the values of their rows.
    """
    lanes = work.cuts.shape[0]
    kind = work.cuts.dtype.type
    for i in range(lanes):
        first = work.prefix[0, np.int64(work.cuts[i])]
        rest = work.prefix[0, last] - first
        for s in range(2):
            low, high = min(work.caps[0, i], work.low[s, i]), min(work.caps[1, i], work.high[s, i])
            work.out[2 * s * lanes + i] = kind(low - first - more)
            work.out[(2 * s + 1) * lanes + i] = kind(high - rest - more)


@kernel(nogil=True, allocates=False)
def pick(work: Any, n_open: int, lanes: int, most: int) -> Any:
    """Choose at most `lanes` cuts in the open spans, evenly, in rising order.

    Returns their number; `spans[2]` gets the number of cuts per span, and `caps` what their sides
    may cost where both may cost less than `most`.
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
            work.caps[0, n], work.caps[1, n] = most - work.bounds[1, s], most - work.bounds[0, s]
            n += 1
    return n


@kernel(allocates=False)
def together(low: Any, high: Any, low_leaf: Any, high_leaf: Any, three: bool) -> Any:
    """What both sides of a cut cost, if at most three leaves are allowed only one of them split."""
    return min(low + high_leaf, low_leaf + high) if three else low + high


@kernel(allocates=False)
def note_three(work: Any, s: int, i: int, found: Any) -> None:
    """The sides of a tree of three leaves, of which the cheaper way to split only one is taken."""
    if work.low[s, i] + work.high[2, i] <= work.low[2, i] + work.high[s, i]:
        found[4], found[5] = work.high[2, i], 2
    else:
        found[3], found[5] = work.low[2, i], 1


@kernel(nogil=True, allocates=False)
def divide_spans(columns: Any, work: Any, c: int, n_open: int, ub: int, best: int, three: bool):
    """Divide the open spans of a column at their picked cuts; drop those of no better tree.

    Returns how many there are then, and the least of `best` and of the bounds of those dropped.
    """
    quota, kept, i = work.spans[2], 0, 0
    for s in range(n_open):
        left, end = work.spans[0, s], work.spans[1, s]
        low, low_leaf = work.bounds[0, s], work.bounds[2, s]
        for t in range(quota[s] + 1):
            right, high, high_leaf = end, work.bounds[1, s], work.bounds[3, s]
            if t < quota[s]:
                right = work.picked[i]
                high = max(high, work.high[0, i])
                high_leaf = max(high_leaf, work.high[2, i])
            if right - left > 1:
                value = together(low, high, low_leaf, high_leaf, three) + columns.costs[c]
                if value < ub:
                    work.spans[3, kept], work.spans[4, kept] = left, right
                    work.bounds[4, kept], work.bounds[5, kept] = low, high
                    work.bounds[6, kept], work.bounds[7, kept] = low_leaf, high_leaf
                    kept += 1
                else:
                    best = min(best, value)
            if t < quota[s]:
                left, low = right, max(low, work.low[0, i])
                low_leaf = max(low_leaf, work.low[2, i])
                i += 1
    for s in range(kept):
        work.spans[0, s], work.spans[1, s] = work.spans[3, s], work.spans[4, s]
        for k in range(4):
            work.bounds[k, s] = work.bounds[4 + k, s]
    return kept, best


@kernel(nogil=True, allocates=False)
def depth_two(columns: Any, lists: Any, work: Any, state: Any, level: int) -> Any:
    """The best tree of depth two if it costs less than the budget, else a bound that is no less.

    It has at most three leaves if the level says so. Between two evaluated cuts a < b of a column every tree
    costs at least low(a) + high(b): the low side has more rows than at a, the high side more than
    at b, and a tree on more rows never costs less. With least amounts per leaf that is wrong (rows
    may be what makes a leaf possible), so bounds come from trees without them. No tree costs less
    than the floor. `state.known[c]` gets a lower bound of every column. `state.found` gets
    column and cut, after the hint the values of both sides, and the number of leaves of the low one
    (0: no limit).
    """
    s, known, found = state.level[level], state.known, state.found
    budget, floor, limited, three = s[BUDGET], s[FLOOR], s[MODE] == 1, s[LEAVES] == 3
    hint, p, ub = max(np.int64(0), found[2]), lists.runs.shape[1], budget
    known[:] = 0
    found[0], found[1] = -1, -1
    leaf = leaf_value(columns, lists, level)
    bound = leaf
    ub = min(ub, leaf)
    if ub <= floor:
        return ub if ub < budget else floor
    gather(columns, lists, work, level, limited)
    lanes = work.cuts.shape[0]
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
            work.spans[0, 0], work.spans[1, 0], n_open = first - 1, last + 1, 1
            work.bounds[:4, 0] = columns.leaf
        while n_open:
            if state.stop[0]:
                return ub
            # With three leaves one side is a leaf, which costs more than its bound says. What two
            # leaves cost may be below a bound of theirs by what rounding takes from them.
            most = INFINITY if three else ub - columns.costs[c] + 2 * columns.slack
            n = pick(work, np.int64(n_open), np.int64(lanes), np.int64(most))
            evaluate(columns, lists, work, level, c, n, limited)
            for i in range(n):
                value = columns.costs[c] + together(
                    work.low[s1, i], work.high[s1, i], work.low[2, i], work.high[2, i], three
                )
                best = min(best, value)
                if value < ub:
                    ub, found[0], found[1] = value, c, work.picked[i]
                    found[3], found[4], found[5] = work.low[s1, i], work.high[s1, i], 0
                    if three:
                        note_three(work, s1, i, found)
            if ub <= floor:
                return ub if ub < budget else floor
            n_open, best = divide_spans(columns, work, c, n_open, ub, best, three)
        known[c] = max(known[c], best)
        bound = min(bound, known[c])
    return ub if ub < budget else max(bound, budget)
