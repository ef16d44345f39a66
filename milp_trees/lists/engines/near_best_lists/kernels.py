"""Compiled search for all rule lists within an allowance. Loads numba.

A state is a set of rows that no rule has captured yet, with the number of rules before it; a word
for that number is appended to the words of the set. An edge is a rule: it captures some, but not
all, of the rows of its state and leads to the state of the others. Costs are regrets, so no list
costs less than 0. A list pays for each rule its price and the regret of the rows it captures, and
the regret of the default for the rows that are left.

Lower bounds are those of `dp_lists.tables`: the best list on a few of the rows of a set. They
hold for all lists, and so for those within an allowance too.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.kit.rowsets import find, hash_of, meet, occupy
from milp_trees.lists.engines.dp_lists.bits import add_up
from milp_trees.lists.engines.dp_lists.kernels import FIRST, layer_at
from milp_trees.lists.engines.dp_lists.records import problem_at, tables_at
from milp_trees.lists.engines.dp_lists.tables import bound_after, learn, place, rejected

#: More than any value; sums of a few of them do not overflow.
NONE = 2**60
#: From so many steps on, a table of lower bounds gets no more rows.
MOST_STEPS = 5_000_000


@kernel(allocates=False)
def best_action(part, n_actions):
    """The cheapest action of sums over rows; of equal ones the first."""
    action = 0
    for k in range(1, n_actions):
        if part[k] < part[action]:
            action = k
    return action


@kernel(allocates=False)
def _rules(problem, tables, data, work, bits, cost, layer, goal):
    """Sums over a set, and over the rows of it that each possible next rule captures.

    `work.may` says which antecedents may follow. One may not if it captures too few rows or all, or
    if the tables show that no list with it is below the goal; or if one antecedent is asked for of
    those that capture the same rows, and it is not the first of them in the order of prices.
    """
    tests, reached, may, n_actions = data.tests, work.met, work.may, data.n_actions
    add_up(bits, data.sums, work.total)
    tested = 0
    for a in range(len(tests)):
        may[a] = not rejected(tables, a, cost + data.price[a], layer, goal, FIRST)
        if may[a]:
            tested += 1
            some, left = np.uint64(0), np.uint64(0)
            for w in range(len(reached)):
                reached[w] = bits[w] & tests[a, w]
                some, left = some | reached[w], left | (reached[w] ^ bits[w])
            add_up(reached, data.sums, work.parts[a])
            too_few = data.least > 1 and work.parts[a, n_actions] < data.least
            may[a] = some != 0 and left != 0 and not too_few
    if data.one:
        _keep_one(data, work, bits)
    return tested


@kernel(allocates=False)
def _keep_one(data, work, bits):
    tests, slots, reached, may = data.tests, work.slots, work.met, work.may
    last = len(slots) - 1
    for i in range(len(slots)):
        slots[i] = -1
    for a in data.order:
        if not may[a]:
            continue
        meet(bits, tests[a], reached)
        at = np.int64(hash_of(reached) & np.uint64(last))
        while slots[at] >= 0 and may[a]:
            w, other = 0, tests[slots[at]]
            while w < len(reached) and reached[w] == bits[w] & other[w]:
                w += 1
            may[a] = w < len(reached)
            at = (at + 1) & last
        if may[a]:
            slots[at] = a


@kernel(allocates=False)
def grow(problem_address, tables_address, data, work, goal, states, at, quota):
    """Open states in turn: enter the states that their rules lead to, with their least costs.

    `at` holds how many states are opened, how many there are, and the work so far, of which tables
    of bounds take at most a half. The kernel returns after a quota of work, when all are open, or
    when the table has no room for those of another state. The cost of a state after which no list
    is below the goal becomes `NONE`.
    """
    problem, tables = problem_at(problem_address), tables_at(tables_address)
    table, slots, cost = states
    parts, words, child, until = work.parts, len(work.met), work.child, at[2] + quota
    while at[0] < at[1] and at[2] < until:
        if at[1] + len(parts) > min(len(table), len(slots) // 2):
            return
        s = at[0]
        at[0] += 1
        bits, used = table[s, :words], np.int64(table[s, words])
        if used + 1 >= data.most:
            continue
        layer = layer_at(problem, used)
        least = place(tables, bits, layer)
        if cost[s] + max(least, data.floor) < goal and tables.work <= at[2] and len(tables.order):
            c = learn(problem, tables, bits, layer, MOST_STEPS)
            least = max(least, tables.values[c, layer, tables.index[c]])
        if cost[s] + max(least, data.floor) >= goal:
            cost[s] = NONE
            continue
        below, requested = problem.below[layer], tables.asked
        tested = _rules(problem, tables, data, work, bits, cost[s], below, goal)
        for a in range(len(parts)):
            if not work.may[a]:
                continue
            here = cost[s] + data.price[a] + parts[a, best_action(parts[a], data.n_actions)]
            if here + max(data.floor, bound_after(tables, a, here, below, goal)) < goal:
                _enter(data, bits, a, used, states, here, child, at)
        at[2] += (FIRST + 1) * len(parts) + tables.asked - requested + tested * 8 * words


@kernel(allocates=False)
def _enter(data, bits, a, used, states, here, child, at):
    """Enter the state after a rule, or a smaller cost of it."""
    table, slots, cost = states
    _leave(data, bits, a, used, child)
    hashed = hash_of(child)
    number = find(slots, table, child, hashed)
    if number < 0:
        occupy(slots, -1 - number, hashed, at[1])
        for w in range(len(child)):
            table[at[1], w] = child[w]
        cost[at[1]] = here
        at[1] += 1
    elif here < cost[number]:
        cost[number] = here


@kernel(allocates=False)
def _leave(data, bits, a, used, child):
    """child = the state after a rule with antecedent a."""
    for w in range(len(bits)):
        child[w] = bits[w] & ~data.tests[a, w]
    child[len(bits)] = np.uint64(used + 1)


@kernel(allocates=False)
def settle(problem_address, tables_address, data, work, goal, states, edges, at, until):
    """Make the edges of states, the last state first, and the least cost of going on at each.

    An edge is kept if some list that uses it is below the goal. `rest` gets, for each state, the
    least cost of one rule or more after it, if some list that goes on there is below the goal. `at`
    holds the state that is next and the number of edges. The kernel returns after the state
    `until`, or where there is no room for the edges of another state.
    """
    problem, tables = problem_at(problem_address), tables_at(tables_address)
    table, slots, cost = states
    begin, rest, rule, action, step, stop, after = edges
    parts, words, child, K, default = (
        work.parts,
        len(work.met),
        work.child,
        data.n_actions,
        work.other,
    )
    while at[0] >= until and at[1] + len(parts) <= len(rule):
        s = at[0]
        at[0] -= 1
        bits, used = table[s, :words], np.int64(table[s, words])
        begin[s], rest[s] = at[1], NONE
        if cost[s] == NONE or used >= data.most:
            continue
        layer = layer_at(problem, used)
        if cost[s] + max(place(tables, bits, layer), data.floor) >= goal:
            continue
        _rules(problem, tables, data, work, bits, cost[s], problem.below[layer], goal)
        for a in range(len(parts)):
            if not work.may[a]:
                continue
            k, number, goes_on = best_action(parts[a], K), np.int64(-1), NONE
            pays = data.price[a] + parts[a, k]
            for i in range(len(default)):
                default[i] = work.total[i] - parts[a, i]
            d = best_action(default, K)
            if cost[s] + pays + data.floor < goal:
                _leave(data, bits, a, used, child)
                number = find(slots, table, child, hash_of(child))
                goes_on = rest[number] if number >= 0 else NONE
            least = pays + min(default[d], goes_on)
            rest[s] = min(rest[s], least)
            if cost[s] + least < goal:
                e = at[1]
                rule[e], action[e], step[e], stop[e] = a, k + K * d, pays, default[d]
                after[e] = number if cost[s] + pays + goes_on < goal else -1
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
def walk(graph, tests, noise, goal, path, values, hashes, lists, steps):
    """Write the lists of a graph in alphabetical order, without those that `_exchanged` excludes.

    `path` has the state, the next edge and the cost so far of every level, and in `at` the level,
    which is -1 in the end, and the number of lists. The kernel returns after `steps` edges, in the
    end, or when there is no room for another list. A hash is the sum of the noise of the rules with
    their actions and of the default, which does not depend on the order of the rules.
    """
    n_actions, at = noise.shape[1], path.at
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
        if here + graph.stop[e] < goal:
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
        if after >= 0 and here + graph.rest[after] < goal:
            at[0] += 1
            path.state[level + 1], path.edge[level + 1] = after, graph.begin[after]
            path.cost[level + 1] = here
