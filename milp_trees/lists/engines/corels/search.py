"""The compiled search: take a prefix from the queue, evaluate its extensions. Loads numba.

A bound here is the regret of the captured rows plus the prices of the rules; without the
equivalent-points bound it is less by the excess of the rows that are not captured.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.engines.kit.rowsets import mixed
from milp_trees.lists.engines.corels import records as r
from milp_trees.lists.engines.corels.meeting import meet
from milp_trees.lists.engines.corels.sets import (
    add_up,
    add_up_each,
    pop,
    push,
    rest_of,
)

_ONE = np.uint64(1)
#: More than every bound.
_ANY = np.int64(2**62)


@kernel(allocates=False)
def least(sums, n):
    """Smallest of the first n sums."""
    out = sums[0]
    for k in range(1, n):
        out = min(out, sums[k])
    return out


@kernel(allocates=False)
def worst_of(instance, sums):
    """Sum of the largest regrets; two actions need no sum of their own."""
    at = instance.amounts[r.WORST]
    return sums[at] if at >= 0 else sums[0] + sums[1]


@kernel(allocates=False)
def most_rules(instance, settings, best):
    """Largest number of rules of a list that is better than the incumbent."""
    most = settings.max_length
    if settings.length_bound:
        floor = settings.floor
        k = 0
        while k < most and floor + instance.cheapest[k + 1] < best:
            k += 1
        most = k
    return most


@kernel(allocates=False)
def improve(instance, settings, trie, node, last, objective, work, counters):
    """Make the list of a prefix and one more rule the incumbent."""
    counters[r.BEST], counters[r.BEST_LENGTH] = objective, trie.length[node] + 1
    counters[r.IMPROVED] += 1
    i = trie.length[node]
    work.best[i] = last
    while i > 0:
        i -= 1
        work.best[i] = trie.antecedent[node]
        node = trie.parent[node]
    counters[r.MOST] = most_rules(instance, settings, objective)


@kernel(allocates=False)
def end_of(instance, settings, length, counters):
    """The bound from which on prefixes of a length are not extended."""
    if length >= counters[r.MOST]:
        return -_ANY
    if settings.look_ahead:
        return counters[r.BEST] - instance.cheapest[1]
    return counters[r.BEST] if settings.hierarchical else _ANY


@kernel(allocates=False)
def hopeless(instance, settings, bound, length, counters):
    """Whether no extension of a prefix is better than the incumbent."""
    return bound >= end_of(instance, settings, length, counters)


@kernel(allocates=False)
def reference(settings, instance, candidates, each, total, plain, ends, kinds, counters):
    """Write into `kinds` whether each candidate is useful.

    It is 0 if the support of the candidate is too small here and in every longer prefix, 1 if no
    list that begins with the extension is wanted, and 2 otherwise.

    `ends` has the objective of the incumbent, and the bound from which on no extension is extended.
    All is read once, before the loop: the search spends its time here and in the sums.
    """
    amounts, prices = instance.amounts, instance.prices
    n, worst_at = settings.n_actions, amounts[r.WORST]
    rows_at, excess_at = amounts[r.ROWS], amounts[r.EXCESS]
    support, correct, fewest = settings.support, settings.correct_support, settings.min_rows
    hierarchical, best, end = settings.hierarchical, ends[0], ends[1]
    no_support, no_correct, bounded, looked = 0, 0, 0, 0
    for c in range(len(candidates)):
        regret, default = each[c, 0], total[0] - each[c, 0]
        for k in range(1, n):
            regret = min(regret, each[c, k])
            default = min(default, total[k] - each[c, k])
        worst = each[c, worst_at] if worst_at >= 0 else each[c, 0] + each[c, 1]
        price = prices[candidates[c]]
        kinds[c] = 0
        if not worst:
            continue  # it captures nothing, or nothing that matters
        if support and worst < price:
            no_support += 1
        elif correct and worst - regret < price:
            no_correct += 1
        elif fewest == 1 or each[c, rows_at] >= fewest:
            cost = plain + regret + price
            bound = cost if excess_at < 0 else cost + each[c, excess_at] - total[excess_at]
            kinds[c] = 2
            if hierarchical and bound >= best:
                kinds[c] = 1
                bounded += 1
            elif bound >= end and cost + default >= best:
                kinds[c] = 1
                looked += 1
    counters[r.NO_SUPPORT] += no_support
    counters[r.NO_CORRECT] += no_correct
    counters[r.BOUNDED] += bounded
    counters[r.LOOKED] += looked


@kernel(allocates=False)
def fill(instance, settings, sums, total, price, plain, child):
    """Bounds and objective of an extension."""
    n, rows, excess = settings.n_actions, instance.amounts[r.ROWS], instance.amounts[r.EXCESS]
    default = total[0] - sums[0]
    for k in range(1, n):
        default = min(default, total[k] - sums[k])
    plain += least(sums, n) + price
    child[r.PLAIN] = child[r.LOWER] = plain
    if excess >= 0:
        child[r.LOWER] -= total[excess] - sums[excess]
    child[r.OBJECTIVE_OF] = plain + default
    child[r.ROWS_OF] = settings.n_rows - total[rows] + sums[rows] if rows >= 0 else 0


@kernel(allocates=False)
def priority(settings, trie, node, child, counters):
    """The key of a new prefix in the queue."""
    policy = settings.policy
    if policy == r.BOUND:
        return child[r.LOWER]
    if policy == r.OBJECTIVE:
        return child[r.OBJECTIVE_OF]
    if policy == r.BREADTH:
        return np.int64(trie.length[node])
    if policy == r.DEPTH:
        return -np.int64(trie.length[node])
    if policy == r.CURIOSITY:
        return np.int64(settings.curiosity * child[r.PLAIN] / max(child[r.ROWS_OF], 1))
    word = np.uint64(settings.seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(counters[r.PUSHED])
    return np.int64(mixed(word) >> _ONE)


@kernel(allocates=False)
def is_longer_than_needed(instance, settings, trie, node, plain, work):
    """Whether a prefix without one of its rules is better, however both are extended.

    The last rule is not tried; its minimum correct support says so already.
    """
    length, rest, sums = trie.length[node], work.other, work.sums
    for k in range(length - 1, -1, -1):
        work.path[k] = trie.antecedent[node]
        node = trie.parent[node]
    for left_out in range(length - 1):
        cost = np.int64(0)
        for q in range(len(rest)):
            rest[q] = instance.full[q]
        for k in range(length):
            if k == left_out:
                continue
            column = instance.columns[work.path[k]]
            for q in range(len(rest)):
                work.found[q] = rest[q] & column[q]
                rest[q] &= ~column[q]
            add_up(instance.tables, work.found, settings.packed, sums)
            cost += least(sums, settings.n_actions) + instance.prices[work.path[k]]
        for q in range(len(rest)):
            work.found[q] = rest[q] & ~work.rest[q]
        add_up(instance.tables, work.found, settings.packed, sums)
        if plain > cost + worst_of(instance, sums):
            return True
    return False


@kernel(allocates=False)
def insert(instance, settings, trie, queue, places, node, child, work, counters):
    """Make an extension a node of the trie, and put it into the map and the queue."""
    new = counters[r.NODES]
    trie.parent[new], trie.antecedent[new] = node, child[r.ANTECEDENT]
    trie.length[new], trie.bound[new] = trie.length[node] + 1, child[r.LOWER]
    trie.dead[new], trie.mask[new] = 0, -1
    column = instance.columns[child[r.ANTECEDENT]]
    for q in range(len(work.rest)):
        work.found[q] = work.rest[q] & ~column[q]
    if settings.map != r.NO_MAP and not meet(
        instance, settings, trie, places, new, work.found, work.other, counters
    ):
        counters[r.EQUIVALENT] += 1
        return
    counters[r.NODES] = new + 1
    push(queue, trie.bound, counters[r.QUEUED], priority(settings, trie, new, child, counters), new)
    counters[r.QUEUED] += 1
    counters[r.PUSHED] += 1
    counters[r.LONGEST] = max(counters[r.LONGEST], trie.length[new])


@kernel(allocates=False)
def candidates_of(trie, node, candidates):
    """List the antecedents that may extend a prefix; returns how many there are."""
    above, n = trie.mask[trie.parent[node]] if node else 0, 0
    for word in range(trie.masks.shape[1]):
        left = trie.masks[above, word]
        while left:
            low = left & (~left + _ONE)
            left ^= low
            candidates[n] = 64 * word + np.int64(ones(low - _ONE))
            n += 1
    return n


@kernel(allocates=False)
def evaluate(instance, settings, trie, node, work, counters):
    """Evaluate all extensions of a prefix, whose rows are in `work.rest`.

    Those that may be extended are in `work.children`; the result is how many there are.
    """
    total, packed, prices = work.total, settings.packed, instance.prices
    add_up(instance.tables, work.rest, packed, total)
    plain, length = trie.bound[node], trie.length[node] + 1
    if not settings.equivalent_points:
        plain += total[instance.amounts[r.EXCESS]]
    if settings.similar_support and is_longer_than_needed(
        instance, settings, trie, node, plain, work
    ):
        counters[r.SIMILAR] += 1
        return 0
    n = candidates_of(trie, node, work.candidates)
    candidates, each, kinds = work.candidates[:n], work.each, work.kinds
    add_up_each(instance.columns, instance.tables, work.rest, candidates, packed, each)
    ends = work.ends
    ends[0], ends[1] = counters[r.BEST], end_of(instance, settings, length, counters)
    reference(settings, instance, candidates, each, total, plain, ends, kinds, counters)
    counters[r.EVALUATED] += n
    n_children = 0
    for c in range(n):
        if kinds[c] < 2:
            continue
        child, j = work.children[n_children], candidates[c]
        fill(instance, settings, each[c], total, prices[j], plain, child)
        child[r.ANTECEDENT] = j
        if child[r.OBJECTIVE_OF] < counters[r.BEST]:
            improve(instance, settings, trie, node, j, child[r.OBJECTIVE_OF], work, counters)
        if hopeless(instance, settings, child[r.LOWER], length, counters):
            counters[r.LOOKED] += 1
        else:
            n_children += 1
    return n_children


@kernel(allocates=False)
def keep_mask(settings, trie, node, n, work, counters):
    """Remember which antecedents have enough support here; none has in longer prefixes if not."""
    row = counters[r.MASKS]
    trie.mask[node], counters[r.MASKS] = row, row + 1
    for word in range(trie.masks.shape[1]):
        trie.masks[row, word] = 0
    for c in range(n):
        if work.kinds[c] or not settings.rejection:
            j = work.candidates[c]
            trie.masks[row, j >> 6] |= _ONE << np.uint64(j & 63)


@kernel(allocates=False)
def expand(instance, settings, trie, queue, places, node, work, counters):
    """Evaluate all extensions of a prefix, and insert those that may be extended themselves."""
    n_children = evaluate(instance, settings, trie, node, work, counters)
    length, before = trie.length[node] + 1, counters[r.NODES]
    for x in range(n_children):
        child = work.children[x]
        if hopeless(instance, settings, child[r.LOWER], length, counters):
            counters[r.LOOKED] += 1
        else:
            insert(instance, settings, trie, queue, places, node, child, work, counters)
    if counters[r.NODES] > before:
        n = candidates_of(trie, node, work.candidates)
        keep_mask(settings, trie, node, n, work, counters)


@kernel
def run(instance, settings, trie, queue, places, work, counters, until):
    """Expand prefixes until the queue is empty, or something is to be done outside.

    This is the case when `until` prefixes are expanded, when the incumbent is better, and when an
    array is full.
    """
    n_antecedents = len(instance.prices)
    while counters[r.QUEUED]:
        if counters[r.NODES] + n_antecedents > len(trie.parent):
            return r.MORE_NODES
        if 4 * (counters[r.MAPPED] + n_antecedents) > 3 * len(places):
            return r.MORE_MAP
        if counters[r.MASKS] == len(trie.masks):
            return r.MORE_MASKS
        if counters[r.EXPANDED] >= until:
            return r.PAUSED
        best = counters[r.BEST]
        node = pop(queue, trie.bound, counters[r.QUEUED])
        counters[r.QUEUED] -= 1
        if hopeless(instance, settings, trie.bound[node], trie.length[node], counters):
            counters[r.DROPPED] += 1
            if settings.policy == r.BOUND and trie.length[node] < counters[r.MOST]:
                counters[r.DROPPED] += counters[r.QUEUED]
                counters[r.QUEUED] = 0  # no other prefix has a smaller bound
            continue
        if not rest_of(instance, trie, node, work.rest):
            counters[r.DROPPED] += 1
            continue
        expand(instance, settings, trie, queue, places, node, work, counters)
        counters[r.EXPANDED] += 1
        if counters[r.BEST] < best:
            return r.BETTER
    return r.FINISHED
