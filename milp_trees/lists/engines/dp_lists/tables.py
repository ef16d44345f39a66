r"""Tables of lower bounds: the problem on a few rows, solved for every subset of them. Loads numba.

A list costs on some of its rows no more than on all of them, since regrets are not negative. So for
any few rows S the best list on U & S, prices included, is a lower bound on the best list on U.
`values[l, m]` is that number for the subset m of S and the layer l, computed for all subsets by

    values[0, m] = least sum of regrets of m, over the actions,
    values[l, m] = min(values[0, m],
                       min over antecedents a that capture some of m of
                       price_a + values[0, m & a] + values[below[l], m - a]).

Layers stand for the rules that are left: with a limit on the length, layer l has l of them and
below[l] = l - 1; without one, layer 1 has any number and below[1] = 1. The bound is consistent, as
it is the exact value of a relaxation, and asking it is one look-up per table and child.

**Which rows.** Rows are added one by one. The best list for the rows of S so far is followed on all
rows of the set at hand, and the row on which it loses most joins S: it is the one that the
relaxation misses most. So the value on S grows fast (rows in the order of their regrets alone give
far less). Each new row doubles the table, and its upper half is computed from the lower one.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel(allocates=False)
def subset(tables, c, members):
    """The rows of table c that are in a set, as bits."""
    m = np.int64(0)
    for q in range(tables.size[c]):
        row = tables.row[c, q]
        m |= np.int64((members[row >> 6] >> np.uint64(row & 63)) & np.uint64(1)) << q
    return m


@kernel(allocates=False)
def place(tables, members, layer):
    """Note where a set is in every table; returns the largest bound."""
    bound = np.int64(0)
    for c in range(tables.used):
        m = subset(tables, c, members)
        tables.index[c] = m
        bound = max(bound, tables.values[c, layer, m])
    return bound


@kernel(allocates=False)
def rejected(tables, a, cost, layer, goal, most):
    """Whether one of the first tables shows that a rule with antecedent a leads to nothing.

    `cost` is that of the prefix with the price of the rule; regrets of the rows that it captures
    are those of the rows of the table.
    """
    for o in range(min(most, tables.used)):
        c = tables.order[o]
        m = tables.index[c]
        kept = m & tables.keep[c, a]
        if cost + tables.values[c, 0, m ^ kept] + tables.values[c, layer, kept] >= goal:
            _move_up(tables, o)
            return True
    return False


@kernel(allocates=False)
def bound_after(tables, a, cost, layer, goal):
    """Largest bound on the rows that antecedent a leaves, up to one that reaches the goal."""
    bound = np.int64(0)
    for o in range(tables.used):
        c = tables.order[o]
        bound = max(bound, tables.values[c, layer, tables.index[c] & tables.keep[c, a]])
        if cost + bound >= goal:
            _move_up(tables, o)
            tables.asked += o + 1
            return bound
    tables.asked += tables.used
    return bound


@kernel(allocates=False)
def _move_up(tables, o):
    """The table at place o was enough: it is asked a place earlier from now on."""
    c = tables.order[o]
    tables.hits[c] += 1
    if o:
        tables.order[o] = tables.order[o - 1]
        tables.order[o - 1] = c


# -- making a table --------------------------------------------------------------------------------


@kernel(allocates=False)
def learn(problem, tables, members, layer, most_steps):
    """Make a table for a set; returns its number.

    Where all places are taken, the table that helped least is replaced.
    """
    c = _free_place(tables)
    for i in range(len(tables.free)):
        tables.free[i] = (members[i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
    for a in range(len(tables.pattern)):
        tables.pattern[a] = 0
    for s in range(len(tables.seen)):
        tables.seen[s] = -1
    tables.size[c] = 0
    for l in range(tables.values.shape[1]):
        tables.values[c, l, 0] = 0
    for k in range(len(tables.total)):
        tables.total[k, 0] = 0
    steps = np.int64(0)
    while tables.size[c] < tables.row.shape[1] and steps < most_steps:
        row = _most_missed(problem, tables, c, layer)
        if row < 0:
            break
        steps += _add_row(problem, tables, c, row)
    tables.work += steps * tables.weight
    tables.learnt += 1
    full = (np.int64(1) << tables.size[c]) - 1
    for a in range(len(tables.pattern)):
        tables.keep[c, a] = full ^ tables.pattern[a]
    tables.index[c] = full
    return c


@kernel(allocates=False)
def _free_place(tables):
    if tables.used < len(tables.order):
        c = tables.used
        tables.order[c] = c
        tables.used += 1
        tables.hits[c] = 0
        return c
    least = np.int64(0)
    for c in range(tables.used):
        if tables.hits[c] < tables.hits[least]:
            least = c
    # Where a table is replaced that never helped, new ones hardly will: their work counts more.
    tables.weight = max(1, tables.weight // 2) if tables.hits[least] else min(64, 2 * tables.weight)
    for c in range(tables.used):
        tables.hits[c] >>= 1
    tables.hits[least] = tables.hits[tables.order[0]]
    return least


@kernel(allocates=False)
def _add_row(problem, tables, c, row):
    """Add a row to table c; returns the steps that it took."""
    h = tables.size[c]
    bit = np.int64(1) << h
    tables.row[c, h] = row
    tables.size[c] = h + 1
    kinds = 0
    for a in range(len(tables.pattern)):
        if problem.X[row, a]:
            tables.pattern[a] |= bit
        kind = tables.pattern[a]
        if not kind:
            continue
        at = tables.seen[kind]
        if at >= 0 and at < kinds and tables.kept[at] == kind:
            tables.cost[at] = min(tables.cost[at], problem.price[a])
        else:
            tables.seen[kind] = kinds
            tables.kept[kinds] = kind
            tables.cost[kinds] = problem.price[a]
            kinds += 1
    for m in range(bit):
        least = tables.total[0, m] + problem.regret[row, 0]
        for k in range(len(tables.total)):
            tables.total[k, bit + m] = tables.total[k, m] + problem.regret[row, k]
            least = min(least, tables.total[k, bit + m])
        tables.values[c, 0, bit + m] = least
    for l in range(1, tables.values.shape[1]):
        values, below = tables.values[c, l], tables.values[c, problem.below[l]]
        _fill(tables.values[c, 0], values, below, bit, tables.kept, tables.cost, kinds)
    return bit * (kinds + 1) * (tables.values.shape[1] - 1)


@kernel(allocates=False)
def _fill(none, values, below, bit, kept, cost, kinds):
    """A layer for the subsets with the new row, which come after those without it."""
    for m in range(bit, 2 * bit):
        best = none[m]
        for s in range(kinds):
            part = m & kept[s]
            if part:
                best = min(best, cost[s] + none[part] + below[m ^ part])
        values[m] = best


@kernel(allocates=False)
def _most_missed(problem, tables, c, layer):
    """The row on which the best list for the rows of table c loses most; -1 if it loses nothing."""
    m, l = (np.int64(1) << tables.size[c]) - 1, np.int64(layer)
    row, most = np.int64(-1), np.int64(0)
    for i in range(len(tables.free)):
        tables.free[i] &= np.uint8(1)  # bit 1: already captured by the list
    while True:
        a, part = _next_rule(problem, tables, c, m, l)
        k = _action(problem, tables, part, a)
        for i in range(len(tables.free)):
            if tables.free[i] == 1 and (a < 0 or problem.X[i, a]):
                tables.free[i] = 3
                if problem.regret[i, k] > most and not _is_in(tables, c, i):
                    row, most = i, problem.regret[i, k]
        if a < 0:
            return row
        m, l = m ^ part, problem.below[l]


@kernel(allocates=False)
def _is_in(tables, c, row):
    for q in range(tables.size[c]):  # noqa: SIM110 (numba compiles loops better)
        if tables.row[c, q] == row:
            return True
    return False


@kernel(allocates=False)
def _next_rule(problem, tables, c, m, l):
    """The next antecedent of the best list for a subset, and what it captures of it.

    The antecedent is -1, and all is captured, where the default rule is best.
    """
    values = tables.values[c]
    if values[l, m] < values[0, m]:
        for a in range(len(tables.pattern)):
            part = m & tables.pattern[a]
            if part and (
                problem.price[a] + values[0, part] + values[problem.below[l], m ^ part]
                == values[l, m]
            ):
                return np.int64(a), part
    return np.int64(-1), m


@kernel(allocates=False)
def _action(problem, tables, part, a):
    """The best action for a subset; of equally good ones that with the least regret on all rows."""
    best, least, least_here = 0, np.int64(-1), np.int64(0)
    for k in range(len(tables.total)):
        value = tables.total[k, part]
        if least >= 0 and value > least:
            continue
        here = np.int64(0)
        for i in range(len(tables.free)):
            if tables.free[i] == 1 and (a < 0 or problem.X[i, a]):
                here += problem.regret[i, k]
        if least < 0 or value < least or here < least_here:
            best, least, least_here = k, value, here
    return best
