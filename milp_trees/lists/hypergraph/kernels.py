"""Compiled columns of the states of rule lists, level by level. Loads numba.

A state is the set of rows that no rule has captured yet. Records and columns are those of trees
(`milp_trees.engines.hypergraph.columns`): a split is a rule, with the action of the rule in `RIGHT`
and the state of the rows that are left in `FALSE`; a last split is a rule with the default rule.
Complexity per state, for m rows, F antecedents and V values: m F bytes, plus F V per group of rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.hypergraph.columns import (
    FAR,
    add_up,
    add_up_by_test,
    last_splits,
    place,
    put,
    stops,
)
from milp_trees.engines.hypergraph.graph import SPLIT
from milp_trees.engines.hypergraph.row_sets import fill, insert, members
from milp_trees.engines.kit.rowsets import copy


@kernel(allocates=False)
def chain_columns(level, allowance, begin, last, data, table, work, out):  # noqa: C901
    """Columns of the states from `begin` on, and the states of the next level.

    A column is left out if its cost at prices and the least conceivable cost of what follows are
    together more than the allowance of its state. Returns the first state that is not done, and the
    number of columns.
    """
    K, S, P, only, merge = data.n_actions, data.n_side, data.priced, data.only_default, data.merge
    T, X, group, coef, split = data.truth, data.X, data.group, data.coef, data.split
    rows, total, by_test, tests = work.rows[0], work.total[0], work.by_test[0], work.tests
    info, side, number, words, slots = out.info, out.side, work.number, work.child, work.slots
    count, leaf, below = len(total) - 1, data.priced_leaf, table.allowance
    one_more = np.int64(FAR)
    for f in range(split.shape[1]):
        one_more = min(one_more, split[1, f])
    one_more += 2 * leaf
    n = np.int64(0)
    for s in range(begin, len(level)):
        if n + work.most > len(info):
            return s, n
        if not last and table.used[0] + len(T) > len(below):
            return s, n
        m = members(level[s], rows)
        add_up(rows, m, group, coef, total)
        start = n
        n = stops(s, total, allowance[s], data, out, n)
        if one_more > allowance[s]:
            continue
        add_up_by_test(rows, m, X, group, coef, work.counts, by_test)
        n_tests = 0
        if merge and not last:
            fill(slots, -1)
        for f in range(len(T)):
            held = by_test[count, f]
            if held < data.least[0] or held == total[count]:
                continue
            own, stop = 2**60, 2**60
            for k in range(K):
                caught = by_test[P + k, f]
                stop = min(stop, total[P + k] - caught)
                if k != only:
                    own = min(own, caught)
            # The rows that are left cost at least one action for all, or one more rule.
            rest = stop + leaf
            if not last:
                rest = min(rest, one_more)
            after = allowance[s] - split[1, f] - leaf
            if own + rest > after:
                continue
            if last:
                tests[n_tests] = f
                n_tests += 1
                continue
            following = np.int64(-1)
            for k in range(K):
                spare = after - by_test[P + k, f]
                if k == only or rest > spare:
                    continue
                if following < 0:
                    for w in range(len(words)):
                        words[w] = level[s, w] & ~T[f, w]
                    following = insert(words, table)
                below[following] = max(below[following], spare)
                for j in range(S):
                    number[j] = by_test[K * (1 + j) + k, f]
                cost = by_test[k, f] + split[0, f] + data.leaf
                at = n
                if merge:
                    at = place(cost, following, info, side, n, slots, number)
                if at >= 0:
                    put(info[at], s, SPLIT, f, -1, k, cost, following, -1)
                    copy(number, side[at])
                    n = max(n, at + 1)
        if last:
            stopped = start, n
            n = last_splits(s, n_tests, total, by_test, allowance[s], data, work, out, stopped)
    return len(level), n
