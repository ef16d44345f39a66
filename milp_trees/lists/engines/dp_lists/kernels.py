"""Compiled best-first search for the best rule list. Loads numba.

A prefix is the set of rows that its rules leave, with the smallest cost at which a prefix was found
to leave them: the best completion depends on the set alone (with a limit on the length also on the
number of rules). The prefix with the smallest lower bound is expanded: every antecedent becomes its
next rule. A child is the list that ends there, and a prefix if its bound is below the best list.
The smallest bound of a waiting prefix is a bound on all lists, which rises while the search goes on
(A*: Hart, Nilsson, Raphael 1968). A prefix that is reached again at less cost is opened again.

Costs are regrets and prices; what every list pays is left out.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.kit.rowsets import find, hash_of, occupy
from milp_trees.lists.engines.dp_lists.bits import add_up
from milp_trees.lists.engines.dp_lists.records import prefixes_at, problem_at, tables_at
from milp_trees.lists.engines.dp_lists.tables import bound_after, learn, place, rejected

#: Answers of `search`.
DONE, PAUSED, FULL = range(3)
#: Tables that are asked before the rows are summed up.
FIRST = 4
#: Work of keeping a prefix, in look-ups.
_KEPT = 200


@kernel(allocates=False)
def push(prefixes, x, key):
    """Let a prefix wait."""
    keys, numbers, i = prefixes.key, prefixes.number, prefixes.waiting
    while i > 0:
        above = (i - 1) >> 1
        if keys[above] <= key:
            break
        keys[i], numbers[i] = keys[above], numbers[above]
        i = above
    keys[i], numbers[i] = key, x
    prefixes.waiting += 1


@kernel(allocates=False)
def _pop(prefixes):
    """The waiting prefix with the smallest bound; it waits no longer."""
    keys, numbers = prefixes.key, prefixes.number
    prefixes.waiting -= 1
    n, x, i = prefixes.waiting, numbers[0], 0
    key, last = keys[n], numbers[n]
    while 2 * i + 1 < n:
        below = 2 * i + 1
        if below + 1 < n and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[i], numbers[i] = keys[below], numbers[below]
        i = below
    keys[i], numbers[i] = key, last
    return x


@kernel(allocates=False)
def least_of(sums, K):
    """The smallest of the first K sums."""
    least = sums[0]
    for k in range(1, K):
        least = min(least, sums[k])
    return least


@kernel(allocates=False)
def layer_at(problem, length):
    """The layer of tables for prefixes of a length."""
    top = len(problem.below) - 1
    return top if problem.limit < 0 else min(problem.limit - length, top)


@kernel(allocates=False)
def _improve(prefixes, value, x, a):
    """Keep the list of prefix x, then a rule with antecedent a, and the default rule."""
    n, y = np.int64(0), x
    while prefixes.parent[y] >= 0:
        n, y = n + 1, prefixes.parent[y]
    prefixes.best, prefixes.best_length = value, n + 1
    prefixes.best_rules[n] = a
    while n > 0:
        n -= 1
        prefixes.best_rules[n] = prefixes.rule[x]
        x = prefixes.parent[x]


@kernel(allocates=False)
def _insert(problem, prefixes, x, a, cost, bound):
    """Let the prefix `child` wait, unless it is known at no more cost; returns its number or -1."""
    hashed = hash_of(prefixes.child)
    number = find(prefixes.slots, prefixes.members, prefixes.child, hashed)
    if number < 0:
        at, number = -1 - number, prefixes.used
        occupy(prefixes.slots, at, hashed, number)
        for w in range(len(prefixes.child)):
            prefixes.members[number, w] = prefixes.child[w]
        prefixes.used += 1
    elif prefixes.cost[number] <= cost:
        return np.int64(-1)
    prefixes.cost[number], prefixes.parent[number], prefixes.rule[number] = cost, x, a
    prefixes.length[number] = prefixes.length[x] + 1
    prefixes.longest = max(prefixes.longest, prefixes.length[number])
    prefixes.closed[number] = 0
    push(prefixes, number, bound)
    return np.int64(number)


@kernel(allocates=False)
def _child(problem, prefixes, x, a):
    """Split the rows of prefix x by antecedent a: what it captures, and the child.

    Returns whether it captures some rows, and whether it leaves some.
    """
    some, left = np.uint64(0), np.uint64(0)
    for w in range(len(prefixes.captured)):
        here = prefixes.members[x, w] & problem.sets[a, w]
        prefixes.captured[w] = here
        prefixes.child[w] = prefixes.members[x, w] ^ here
        some |= here
        left |= prefixes.child[w]
    if len(prefixes.child) > len(prefixes.captured):
        prefixes.child[len(prefixes.captured)] = np.uint64(prefixes.length[x] + 1)
    return some != 0, left != 0


@kernel(allocates=False)
def _expand(problem, tables, prefixes, x, bound):
    """Make all children of a prefix; `next` becomes the most promising one."""
    K, cost = problem.regret.shape[1], prefixes.cost[x]
    last = problem.limit == prefixes.length[x] + 1
    layer = problem.below[layer_at(problem, prefixes.length[x])]
    for w in range(len(prefixes.captured)):
        prefixes.captured[w] = prefixes.members[x, w]
    add_up(prefixes.captured, problem.sums, prefixes.rest)
    prefixes.next, promise = -1, np.int64(0)
    prefixes.expanded += 1
    for a in range(len(problem.price)):
        priced = cost + problem.price[a]
        if rejected(tables, a, priced, layer, prefixes.best, FIRST):
            continue
        some, left = _child(problem, prefixes, x, a)
        if not some:
            continue
        prefixes.tested += 1
        add_up(prefixes.captured, problem.sums, prefixes.part)
        if problem.least_rows > 1 and prefixes.part[K] < problem.least_rows:
            continue
        priced += least_of(prefixes.part, K)
        for k in range(K):
            prefixes.part[k] = prefixes.rest[k] - prefixes.part[k]
        value = priced + least_of(prefixes.part, K)
        if value < prefixes.best:
            _improve(prefixes, value, x, a)
        if last or not left or priced + problem.cheapest >= prefixes.best:
            continue
        after = priced + max(problem.cheapest, bound_after(tables, a, priced, layer, prefixes.best))
        if after >= prefixes.best:
            continue
        number = _insert(problem, prefixes, x, a, priced, max(after, bound))
        if number >= 0 and (prefixes.next < 0 or value < promise):
            prefixes.next, promise = number, value


@kernel(allocates=False)
def _should_learn(tables, prefixes, share):
    """Whether a new table is due: they take a share of the work."""
    return len(tables.order) and tables.work <= share * prefixes.work // 100


@kernel(allocates=False)
def _visit(problem, tables, prefixes, x, bound, share, most_steps):
    """Expand a prefix, or let it wait with a larger bound.

    `bound` is what it waited with; -1: it is expanded before its turn.
    """
    members, cost = prefixes.members[x], prefixes.cost[x]
    layer = layer_at(problem, prefixes.length[x])
    above = cost + place(tables, members, layer)
    if (bound < 0 or above <= bound) and _should_learn(tables, prefixes, share):
        c = learn(problem, tables, members, layer, most_steps)
        above = max(above, cost + tables.values[c, layer, tables.index[c]])
    if above > bound >= 0 and above < prefixes.best:
        push(prefixes, x, above)
    if above >= prefixes.best or above > bound >= 0:
        return
    prefixes.closed[x] = 1
    requested, tested, waiting = tables.asked, prefixes.tested, prefixes.waiting
    _expand(problem, tables, prefixes, x, max(above, bound))
    prefixes.work += (
        (FIRST + 1) * len(problem.price)
        + tables.asked
        - requested
        + (prefixes.tested - tested) * 8 * len(prefixes.captured)
        + (prefixes.waiting - waiting) * _KEPT
    )


@kernel(allocates=False)
def search(problem_address, tables_address, prefixes_address, share, most_steps, dive, most, quota):
    """Search until nothing better is left, until the work is done, or until no room is left."""
    problem, tables = problem_at(problem_address), tables_at(tables_address)
    prefixes = prefixes_at(prefixes_address)
    until, M = prefixes.work + tables.work + quota, len(problem.price)
    while prefixes.work + tables.work < until and prefixes.expanded < most:
        if prefixes.waiting == 0 or prefixes.key[0] >= prefixes.best:
            return DONE
        if prefixes.used + M > len(prefixes.cost) or prefixes.waiting + M + 1 > len(prefixes.key):
            return FULL
        x, bound = prefixes.next, np.int64(-1)
        if x < 0:
            bound = prefixes.key[0]
            prefixes.bound = max(prefixes.bound, bound)
            x = _pop(prefixes)
        prefixes.work += 10
        prefixes.next = -1
        if prefixes.closed[x]:
            continue
        _visit(problem, tables, prefixes, x, bound, share, most_steps)
        if bound >= 0 and prefixes.expanded % dive:
            prefixes.next = -1
    return PAUSED


@kernel(allocates=False)
def push_first(prefixes_address, key):
    """Let the empty prefix wait."""
    push(prefixes_at(prefixes_address), 0, key)
