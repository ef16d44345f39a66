"""Which rule lists of a listing count as one, and which have a rule too many. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.kit.rowsets import meet, remove
from milp_trees.lists.engines.dp_lists.bits import add_up
from milp_trees.lists.engines.near_best_lists.kernels import best_action


@kernel(allocates=False)
def replay(rules, data, work, actions, chosen):
    """The action of every rule of a list and, after them, of the default; the number of rules.

    `chosen` (actions, words) gets the rows to which the list gives each action.
    """
    bits, reached, total = work.child[: len(work.met)], work.met, work.total
    for w in range(len(bits)):
        bits[w] = data.everything[w]
        for k in range(len(chosen)):
            chosen[k, w] = 0
    n = 0
    while n < len(rules) and rules[n] >= 0:
        meet(bits, data.tests[rules[n]], reached)
        remove(bits, reached, bits)
        add_up(reached, data.sums, total)
        actions[n] = best_action(total, data.n_actions)
        for w in range(len(bits)):
            chosen[actions[n], w] |= reached[w]
        n += 1
    add_up(bits, data.sums, total)
    actions[n] = best_action(total, data.n_actions)
    for w in range(len(bits)):
        chosen[actions[n], w] |= bits[w]
    return n


@kernel(allocates=False)
def _same(one, other, n, actions, chosen):
    """Whether two lists of n rules, replayed, have the same rules and give the same actions."""
    if actions[0, n] != actions[1, n]:
        return False
    for u in range(n):
        v = 0
        while v < n and (one[u] != other[v] or actions[0, u] != actions[1, v]):
            v += 1
        if v == n:
            return False
    for k in range(chosen.shape[1]):
        for w in range(chosen.shape[2]):
            if chosen[0, k, w] != chosen[1, k, w]:
                return False
    return True


@kernel(allocates=False)
def mark_first(data, work, lists, hashes, order, span, actions, chosen, first):
    """Set `first` for every list before which no other counts as the same list.

    `order` sorts the lists by hash and then as they are; `span` says where a hash begins in
    it, and the place from which on the kernel stops where another hash begins. Returns where it stopped. Lists of
    one hash are compared in full, so two lists are never taken for one.
    """
    begin, until = span
    while begin < min(until, len(order)):
        end = begin
        while end < len(order) and hashes[order[end]] == hashes[order[begin]]:
            end += 1
        for i in range(begin, end):
            first[order[i]] = 1
            if i > begin:
                n = replay(lists[order[i]], data, work, actions[0], chosen[0])
            for j in range(begin, i):
                if first[order[j]] and first[order[i]]:
                    m = replay(lists[order[j]], data, work, actions[1], chosen[1])
                    if m == n and _same(lists[order[i]], lists[order[j]], n, actions, chosen):
                        first[order[i]] = 0
        begin = end
    return begin


@kernel(allocates=False)
def mark_needed(data, work, lists, begin, until, actions, chosen, placed, needed):
    """Clear `needed` for every list without one of whose rules the others can do the same.

    They can if they, with the same default, give every row the same action in some order. A rule
    can be the next one if all rows that it captures get their action from it, and stays such a rule
    when other rules are placed before it; so any rule that can be the next one is placed.
    """
    for i in range(begin, min(until, len(lists))):
        n = replay(lists[i], data, work, actions, chosen)
        for left_out in range(n):
            if needed[i] and _can_do(lists[i], n, left_out, data, work, actions, chosen, placed):
                needed[i] = 0


@kernel(allocates=False)
def _can_do(rules, n, left_out, data, work, actions, chosen, placed):
    bits, reached = work.child[: len(work.met)], work.met
    for w in range(len(bits)):
        bits[w] = data.everything[w]
    for u in range(n):
        placed[u] = u == left_out
    number, before = 1, 0
    while number > before:
        before = number
        for u in range(n):
            if not placed[u]:
                meet(bits, data.tests[rules[u]], reached)
                if _inside(reached, chosen[actions[u]]):
                    remove(bits, reached, bits)
                    placed[u] = 1
                    number += 1
    return number == n and _inside(bits, chosen[actions[n]])


@kernel(allocates=False)
def _inside(bits, other):
    w = 0
    while w < len(bits) and not bits[w] & ~other[w]:
        w += 1
    return w == len(bits)
