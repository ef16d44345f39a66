"""Compiled columns of the states of rule lists, level by level. Loads numba.

A state is the set of rows that no rule has captured yet. The kernel works on as many states as its
output arrays have room for and returns where it stopped; the caller makes more room and calls
again. The values of a group of rows, `coef`, are K costs, then S·K side coefficients, then K costs
at prices (if they are others; they begin at `terms[PRICED]`), then the number of rows. Of a column,
`info` holds (state, kind, antecedent, action of the rows that are left, action of the rule, cost,
next state), and `side` its S side numbers.
Complexity per state, for m rows, F antecedents and V values: m F bytes, plus F V per group of rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.hypergraph.columns import (
    _MULTIPLY,
    _SEED,
    _SHIFT,
    _equal,
    _members,
    _power,
    _put,
    _sums,
    _totals,
)
from milp_trees.engines.hypergraph.row_sets import _copy, _find, _hash

STOP, RULE, LAST = 0, 1, 2

#: Places in `terms`, the whole numbers that hold for the whole hypergraph.
K, S, LEAF, PRICED_LEAF, LEAST_PRICE, LEAST, ONLY_DEFAULT, MERGE, MOST, PRICED = range(10)


@kernel
def _priced(total, terms, k):
    """The cost at prices of action k for all rows of a state."""
    return total[terms[PRICED] + k]


@kernel
def _stops(s, total, reach, terms, most, info, side, n_columns):
    """Stop columns within the bound; with merging the cheapest one per vector of side numbers."""
    start, n_actions, n_side = n_columns, terms[K], terms[S]
    for k in range(n_actions):
        if reach + _priced(total, terms, k) + terms[PRICED_LEAF] > most:
            continue
        at, cost = n_columns, total[k] + terms[LEAF]
        for c in range(start, n_columns if terms[MERGE] else start):
            same = True
            for j in range(n_side):
                same = same and side[c, j] == total[n_actions * (1 + j) + k]
            if same:
                at = c
        if at < n_columns and info[at, 5] <= cost:
            continue
        _put(info[at], s, STOP, -1, k, k, cost)
        info[at, 6] = -1
        for j in range(n_side):
            side[at, j] = total[n_actions * (1 + j) + k]
        n_columns = max(n_columns, at + 1)
    return n_columns


@kernel
def _needless(cost, number, info, side, start, stops):
    """Whether a stop of the state has the same side numbers and costs no more."""
    found = False
    for c in range(start, stops):
        found = found or (info[c, 5] <= cost and _equal(side[c], number))
    return found


@kernel
def _hash_numbers(number, following):
    h = _SEED ^ np.uint64(following + 1)
    for j in range(len(number)):
        h = (h ^ np.uint64(number[j])) * _MULTIPLY
        h ^= h >> _SHIFT
    return h


@kernel
def _keep(s, kind, f, left, right, cost, following, number, merge, info, side, n_columns, table):
    """Add a column, or let it replace a more expensive one with the same effect."""
    at = n_columns
    if merge:
        mask = len(table) - 1
        slot = np.int64(_hash_numbers(number, following) & np.uint64(mask))
        while table[slot] >= 0 and not (
            info[table[slot], 6] == following and _equal(side[table[slot]], number)
        ):
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = at
        elif info[table[slot], 5] <= cost:
            return n_columns
        else:
            at = table[slot]
    _put(info[at], s, kind, f, left, right, cost)
    info[at, 6] = following
    for j in range(len(number)):
        side[at, j] = number[j]
    return max(n_columns, at + 1)


@kernel
def _last_rules(
    s, total, by_test, f, reach, split, terms, most, info, side, start, stops, n, table, number
):
    """Columns of a last rule: the actions of its rows and of all rows that it leaves."""
    n_actions, n_side = terms[K], terms[S]
    priced = terms[PRICED]
    for left in range(n_actions):
        for right in range(n_actions):
            if right == terms[ONLY_DEFAULT] or (terms[MERGE] and left == right):
                continue
            sum_at_prices = (
                by_test[priced + right, f] + total[priced + left] - by_test[priced + left, f]
            )
            if reach + split[1, f] + 2 * terms[PRICED_LEAF] + sum_at_prices > most:
                continue
            cost = by_test[right, f] + total[left] - by_test[left, f]
            cost += 2 * terms[LEAF] + split[0, f]
            for j in range(n_side):
                base = n_actions * (1 + j)
                number[j] = by_test[base + right, f] + total[base + left] - by_test[base + left, f]
            if terms[MERGE] and _needless(cost, number, info, side, start, stops):
                continue
            n = _keep(s, LAST, f, left, right, cost, -1, number, terms[MERGE], info, side, n, table)
    return n


@kernel
def _next_state(words, bits, hashes, table, n_sets, slots):
    """Number of the next state, and how many there are then; a new one is not reached yet."""
    h = _hash(words)
    slot = _find(words, h, bits, hashes, table)
    if table[slot] < 0:
        table[slot] = n_sets
        _copy(words, bits[n_sets])
        hashes[n_sets] = h
        slots[n_sets] = 2**62
        n_sets += 1
    return table[slot], n_sets


@kernel
def chain_columns(
    level,
    reach,
    begin,
    last,
    T,
    X,
    group,
    coef,
    terms,
    split,
    bits,
    hashes,
    following_reach,
    following_table,
    n_sets,
    info,
    side,
):
    """Columns of the states from `begin` on, and the states of the next level.

    `reach` is the least cost at prices of the rules before a state. A column is left out if that
    cost, its own, and the least conceivable cost of what follows are together more than the bound
    `terms[MOST]`. `split` holds the prices of the antecedents, and the same at prices.

    Returns the first state that is not done, the number of sets and the number of columns.
    """
    F, W = T.shape
    n_actions, n_side, V = terms[K], terms[S], coef.shape[1]
    most, count, priced = terms[MOST], V - 1, terms[PRICED]
    rows = np.empty(len(group), dtype=np.int64)
    total = np.zeros(V, dtype=np.int64)
    by_test = np.zeros((V, X.shape[1]), dtype=np.int64)
    number = np.empty(n_side, dtype=np.int64)
    words = np.empty(W, dtype=np.uint64)
    room = F * n_actions * (n_actions if last else 1)
    table = np.empty(_power(2 * room + 2), dtype=np.int64)
    n = 0
    for s in range(begin, len(level)):
        if n + n_actions + room > len(info):
            return s, n_sets, n
        if not last and (n_sets + F > len(bits) or 2 * (n_sets + F) > len(following_table)):
            return s, n_sets, n
        members = rows[: _members(level[s], rows)]
        _totals(members, group, coef, total)
        start = n
        n = _stops(s, total, reach[s], terms, most, info, side, n)
        stops = n
        if reach[s] + terms[LEAST_PRICE] + 2 * terms[PRICED_LEAF] > most:
            continue
        _sums(members, X, group, coef, by_test)
        table[:] = -1
        for f in range(F):
            held = by_test[count, f]
            if held < terms[LEAST] or held == total[count]:
                continue
            own, stop = 2**60, 2**60
            for k in range(n_actions):
                caught = by_test[priced + k, f]
                stop = min(stop, total[priced + k] - caught)
                if k != terms[ONLY_DEFAULT]:
                    own = min(own, caught)
            # The rows that are left cost at least one action for all, or one more rule.
            rest = stop + terms[PRICED_LEAF]
            if not last:
                rest = min(rest, terms[LEAST_PRICE] + 2 * terms[PRICED_LEAF])
            before = reach[s] + split[1, f] + terms[PRICED_LEAF]
            if before + own + rest > most:
                continue
            if last:
                n = _last_rules(
                    s,
                    total,
                    by_test,
                    f,
                    reach[s],
                    split,
                    terms,
                    most,
                    info,
                    side,
                    start,
                    stops,
                    n,
                    table,
                    number,
                )
                continue
            following = -1
            for k in range(n_actions):
                if k == terms[ONLY_DEFAULT]:
                    continue
                there = before + by_test[priced + k, f]
                if there + rest > most:
                    continue
                if following < 0:
                    for w in range(W):
                        words[w] = level[s, w] & ~T[f, w]
                    following, n_sets = _next_state(
                        words, bits, hashes, following_table, n_sets, following_reach
                    )
                following_reach[following] = min(following_reach[following], there)
                for j in range(n_side):
                    number[j] = by_test[n_actions * (1 + j) + k, f]
                cost = by_test[k, f] + split[0, f] + terms[LEAF]
                n = _keep(
                    s,
                    RULE,
                    f,
                    -1,
                    k,
                    cost,
                    following,
                    number,
                    terms[MERGE],
                    info,
                    side,
                    n,
                    table,
                )
    return len(level), n_sets, n
