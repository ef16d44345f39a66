"""Compiled search for all rule lists within an allowance. Loads numba.

A state is a set of rows that no rule has captured yet, with the number of rules before it; a word
for that number is appended to the words of the set. An edge is a rule: it captures some, but not
all, of the rows of its state and leads to the state of the others. Costs are regrets, so no list
costs less than 0. A list pays for each rule its price and the regret of the rows it captures, and
the regret of the default for the rows that are left.

Sums over rows have 2 K + 1 columns: the regret of each of the K actions, the least regret of
another action than each of them, and the number of rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.compiling.kernels import kernel
from milp_trees.engines.list_search.bits import add_up, find, hash_of, meet, occupy, remove

#: More than any value; sums of a few of them do not overflow.
NONE = 2**60


@kernel(allocates=False)
def best_action(part):
    """The cheapest action of sums over rows; of equal ones the first."""
    action = 0
    for k in range(1, len(part) // 2):
        if part[k] < part[action]:
            action = k
    return action


@kernel(allocates=False)
def rules(bits, data, work, total, parts):
    """Sums over a set, and over the rows that each antecedent captures of it.

    An antecedent that may not be the next rule gets the number of rows 0. It captures too few rows,
    or all; or only one antecedent is asked for of those that capture the same rows, and it is not
    the first of them in the order of prices.
    """
    rows, met = len(total) - 1, work.met
    add_up(bits, data.sums, total)
    for a in range(len(data.tests)):
        meet(bits, data.tests[a], met)
        add_up(met, data.sums, parts[a])
        if parts[a, rows] < data.least or parts[a, rows] == total[rows]:
            parts[a, rows] = 0
    if data.one:
        _keep_one(bits, data, work, parts)


@kernel(allocates=False)
def _keep_one(bits, data, work, parts):
    tests, slots, met = data.tests, work.slots, work.met
    rows, last = parts.shape[1] - 1, len(slots) - 1
    for i in range(len(slots)):
        slots[i] = -1
    for a in data.order:
        if not parts[a, rows]:
            continue
        meet(bits, tests[a], met)
        at = np.int64(hash_of(met) & np.uint64(last))
        while slots[at] >= 0 and parts[a, rows]:
            w, other = 0, tests[slots[at]]
            while w < len(met) and met[w] == bits[w] & other[w]:
                w += 1
            if w == len(met):
                parts[a, rows] = 0
            at = (at + 1) & last
        if parts[a, rows]:
            slots[at] = a


@kernel(allocates=False)
def _by_size(parts, column, order):
    """Sort antecedents by a column of their sums (Shell's method)."""
    n, gap = len(order), 1
    for a in range(n):
        order[a] = a
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, n):
            a, j = order[i], i
            while j >= gap and parts[order[j - gap], column] > parts[a, column]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = a
        gap //= 3


@kernel(allocates=False)
def _taken(data, work, parts, most, taken):
    """The largest amounts by which at most `most` rules lower the cost of a set with each default.

    `taken[0, d]` is for rules of which none has the action d of the default, `taken[1, d]` for
    rules of which one has. A rule with another action than d takes away the regret of d on the rows
    that it captures, at most that on all rows of its antecedent, for its price. Where no rule has
    the action d, all these rows pay the least regret of another action, so the rules together pay
    at least what the rows of one of them pay.
    """
    n_actions, price, gains, order = taken.shape[1], data.price, work.gains, work.sorted
    for d in range(n_actions):
        _by_size(parts, n_actions + d, order)
        used, top, largest = 0, 0, 0  # `top` is the sum of the `most` - 1 largest gains so far
        for a in order:
            gain = parts[a, d] - price[a] if parts[a, 2 * n_actions] else 0
            if gain <= 0:
                continue
            largest = max(largest, gain + top - parts[a, n_actions + d])
            if most == 1 or (used == most - 1 and gain <= gains[most - 2]):
                continue
            top += gain - (gains[most - 2] if used == most - 1 else 0)
            used = min(used + 1, most - 1)
            at = used - 1
            while at and gains[at - 1] < gain:
                gains[at] = gains[at - 1]
                at -= 1
            gains[at] = gain
        taken[0, d], taken[1, d] = largest, top - data.floor


@kernel(allocates=False)
def _bound(data, total, taken, captured):
    """A lower bound on the cost of a set that gets one more rule or more.

    `taken` may be that of a larger set, without the rows that have the sums `captured`.
    """
    least, n_actions = NONE, taken.shape[1]
    for d in range(n_actions):
        most = max(taken[0, d] + captured[n_actions + d], taken[1, d])
        least = min(least, total[d] - captured[d] - most)
    return max(least, data.floor)


@kernel(allocates=False)
def grow(data, work, allowance, table, slots, cost, at, until):
    """Open states in turn: enter the states that their rules lead to, with their least costs.

    `at` holds how many states are opened and how many there are. The kernel returns when `until`
    states are opened, all are, or the table has no room for those of another state. The cost of a
    state after which no list is within the allowance becomes `NONE`.
    """
    tests, total, parts, taken, child = data.tests, work.total, work.parts, work.taken, work.child
    rows, words = len(total) - 1, tests.shape[1]
    while at[0] < min(until, at[1]):
        if at[1] + len(tests) > min(len(table), len(slots) // 2):
            return
        s = at[0]
        at[0] += 1
        bits, used = table[s, :words], np.int64(table[s, words])
        if used + 1 >= data.most:
            continue
        left = data.most - used
        if data.floor:
            left = min(left, (allowance - cost[s]) // data.floor)
        if left > 0:
            rules(bits, data, work, total, parts)
            _taken(data, work, parts, left, taken)
        if left <= 0 or cost[s] + _bound(data, total, taken, work.nothing) > allowance:
            cost[s] = NONE
        if left <= 1 or cost[s] == NONE:
            continue
        _taken(data, work, parts, left - 1, taken)
        for a in range(len(tests)):
            if not parts[a, rows] or total[rows] - parts[a, rows] <= data.least:
                continue
            here = cost[s] + data.price[a] + parts[a, best_action(parts[a])]
            if here + _bound(data, total, taken, parts[a]) > allowance:
                continue
            remove(bits, tests[a], child[:words])
            child[words] = np.uint64(used + 1)
            hashed = hash_of(child)
            number = find(slots, table, child, hashed)
            if number < 0:
                number = at[1]
                occupy(slots, find(slots, table, child, hashed) * -1 - 1, hashed, number)
                for w in range(words + 1):
                    table[number, w] = child[w]
                cost[number] = here
                at[1] += 1
            cost[number] = min(cost[number], here)


@kernel(allocates=False)
def settle(data, work, allowance, table, slots, cost, rest, edges, begin, at, until):
    """Make the edges of states, the last state first, and the least cost of going on at each.

    An edge is kept if some list that uses it is within the allowance. `rest` gets, for each state,
    the least cost of one rule or more after it, if some list that goes on there is within the
    allowance. `at` holds the state that is next and the number of edges. The kernel returns after
    the state `until`, or where there is no room for the edges of another state.
    """
    rule, action, step, stop, after = edges
    tests, total, parts, child, default = data.tests, work.total, work.parts, work.child, work.other
    rows, words, n_actions = len(total) - 1, tests.shape[1], work.taken.shape[1]
    while at[0] >= until and at[1] + len(tests) <= len(rule):
        s = at[0]
        at[0] -= 1
        begin[s], rest[s] = at[1], NONE
        if cost[s] == NONE or data.most == 0:
            continue
        bits = table[s, :words]
        rules(bits, data, work, total, parts)
        child[words] = table[s, words] + np.uint64(1)
        for a in range(len(tests)):
            if not parts[a, rows]:
                continue
            k, number = best_action(parts[a]), np.int64(-1)
            pays, goes_on = data.price[a] + parts[a, k], NONE
            for i in range(rows + 1):
                default[i] = total[i] - parts[a, i]
            ends = default[best_action(default)]
            if cost[s] + pays + data.floor <= allowance:
                remove(bits, tests[a], child[:words])
                number = find(slots, table, child, hash_of(child))
                goes_on = rest[number] if number >= 0 else NONE
            rest[s] = min(rest[s], pays + min(ends, goes_on))
            if cost[s] + pays + min(ends, goes_on) > allowance:
                continue
            e = at[1]
            rule[e], action[e] = a, k + n_actions * best_action(default)
            step[e], stop[e] = pays, ends
            after[e] = number if cost[s] + pays + goes_on <= allowance else -1
            at[1] += 1


@kernel(allocates=False)
def _edge(graph, s, a):
    """The edge of a state with an antecedent, or -1; the edges are sorted by antecedent."""
    low, high = graph.begin[s], graph.end[s]
    while low < high:
        middle = (low + high) // 2
        if graph.rule[middle] < a:
            low = middle + 1
        else:
            high = middle
    return low if low < graph.end[s] and graph.rule[low] == a else -1


@kernel(allocates=False)
def _exchanged(graph, tests, n_actions, s, first, second):
    """Whether two rules in a row may change places, and the later one has the smaller number.

    They may if, in the other order too, both give their actions and every row gets its action. Then
    the other order is a list that counts as the same one and is before it in alphabetical order.
    """
    a, b = graph.rule[first], graph.rule[second]
    if b > a:
        return False
    one, other = graph.action[first] % n_actions, graph.action[second] % n_actions
    e = _edge(graph, s, b)
    if e < 0 or graph.action[e] % n_actions != other or graph.after[e] < 0:
        return False
    f = _edge(graph, graph.after[e], a)
    if f < 0 or graph.action[f] % n_actions != one:
        return False
    if one == other:
        return True
    w = 0
    while w < tests.shape[1] and not graph.table[s, w] & tests[a, w] & tests[b, w]:
        w += 1
    return w == tests.shape[1]


@kernel(allocates=False)
def walk(graph, tests, noise, allowance, path, at, values, hashes, lists, steps):
    """Write the lists of a graph in alphabetical order, without those that `_exchanged` excludes.

    `path` has the state, the next edge and the cost so far of every level, and `at` the level,
    which is -1 in the end, and the number of lists. The kernel returns after `steps` edges, in the
    end, or when there is no room for another list. A hash is the sum of the noise of the rules with
    their actions and of the default, which does not depend on the order of the rules.
    """
    n_actions = noise.shape[1]
    while at[0] >= 0 and at[1] < len(values) and steps:
        steps -= 1
        level = at[0]
        s, e = path.state[level], path.edge[level]
        if e == graph.end[s]:
            at[0] -= 1
            continue
        path.edge[level] += 1
        if level and _exchanged(
            graph, tests, n_actions, path.state[level - 1], path.edge[level - 1] - 1, e
        ):
            continue
        here, i = path.cost[level] + graph.step[e], at[1]
        if here + graph.stop[e] <= allowance:
            at[1] += 1
            values[i] = here + graph.stop[e]
            hashes[i] = noise[len(tests), graph.action[e] // n_actions]
            for v in range(lists.shape[1]):
                lists[i, v] = -1
            for v in range(level + 1):
                f = path.edge[v] - 1
                lists[i, v] = graph.rule[f]
                hashes[i] += noise[graph.rule[f], graph.action[f] % n_actions]
        after = graph.after[e]
        if after >= 0 and here + graph.rest[after] <= allowance:
            at[0] += 1
            path.state[level + 1], path.edge[level + 1] = after, graph.begin[after]
            path.cost[level + 1] = here
