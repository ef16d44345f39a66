"""Compiled steps of a proof: the open tests of a set, and the most similar claim. Loads numba.

All numbers are search values, that is, above the cheapest actions of the rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import INFINITY, UNLIMITED
from milp_trees.engines.dp.layouts import data_at, table_at, work_at
from milp_trees.engines.dp.memory import look_up, store
from milp_trees.engines.dp.nodes import (
    best_two,
    hash_children,
    large_enough,
    leaf_value,
    pair,
    sums,
)
from milp_trees.engines.dp.words import children, count, inside, missing_weight, subtract

#: What `open_tests` says of a set whose claim needs no look at its tests.
SETTLED = np.int64(-1)


@kernel(allocates=False)
def _claimed(claims, h1, h2, depth, deepest):
    """The largest bound that is claimed about a set, at this depth or a larger one."""
    best = np.int64(0)
    for d in range(depth, deepest + 1):
        known, value, _, _ = look_up(claims, h1, h2, d)
        if known:
            best = max(best, value)
    if deepest < UNLIMITED:
        return best
    known, value, _, _ = look_up(claims, h1, h2, UNLIMITED)
    return max(best, value) if known else best


@kernel(allocates=False)
def _never_pays(data, side, empty, low, split):
    """Whether a side costs no less by itself than its rows cost at most in any other leaf."""
    # What a row costs at most is known where leaves choose among actions.
    if data.leaf_function:
        return False
    return low + split >= missing_weight(side, empty, data.heavy)


@kernel(nogil=True, allocates=False)
def open_tests(
    data_address, work_address, two_address, claims_address, bound, depth, deepest, out, room
):
    """Tests of a set whose sides are not known to cost `bound` together.

    `out` (F, 3) gets the test and lower bounds of its sides; the keys of all children stay in the
    work's `hashes`. Returns their number, or SETTLED. `room` (4, W) begins with the set; the rest is
    scratch.
    """
    data, work = data_at(data_address), work_at(work_address)
    two, claims = table_at(two_address), table_at(claims_address)
    bits, left, right, empty = room[0], room[1], room[2], room[3]
    size, four = count(bits), 4 * data.leaf + 3 * data.least_split
    penalised = data.leaf + data.least_split > 0
    whole = work.total[0]
    if penalised:
        value, _ = best_two(data, work, bits)
        if min(value, four) >= bound:
            return SETTLED
    hash_children(data, work, bits, work.hashes)
    sums(data, bits, whole)
    if leaf_value(data, whole) < bound:
        return SETTLED - 1
    below = depth if depth == UNLIMITED else depth - 1
    found = np.int64(0)
    for f in range(data.n_tests):
        n = children(bits, data.tests[f], left, right)
        if n == 0 or n == size:
            continue
        if data.n_masses:
            sums(data, right, work.total[1])
            subtract(whole, work.total[1], work.total[2])
            if not large_enough(data, work.total[1]) or not large_enough(data, work.total[2]):
                continue
        h, cost = work.hashes[f], data.split[f]
        a = max(data.leaf, _claimed(claims, h[0], h[1], below, deepest))
        b = max(data.leaf, _claimed(claims, h[2], h[3], below, deepest))
        if a + b + cost >= bound:
            continue
        if _never_pays(data, left, empty, a, cost) or _never_pays(data, right, empty, b, cost):
            continue
        if penalised:
            if not pair(data, work, two, bits, f, np.int64(INFINITY)):
                continue
            a = max(a, min(work.value[0, 0], four))
            b = max(b, min(work.value[1, 0], four))
            if a + b + cost >= bound:
                continue
        out[found, 0], out[found, 1], out[found, 2] = f, a, b
        found += 1
    return found


@kernel(nogil=True, allocates=False)
def known_bounds(claims_address, hashes, depth, deepest, out):
    """Claimed bounds of both children with these keys, in `out` (2,)."""
    claims = table_at(claims_address)
    out[0] = _claimed(claims, hashes[0], hashes[1], depth, deepest)
    out[1] = _claimed(claims, hashes[2], hashes[3], depth, deepest)


@kernel(nogil=True, allocates=False)
def remember(claims_address, h1, h2, depth, bound):
    """Keep a claim; returns how many the table holds."""
    claims = table_at(claims_address)
    store(claims, h1, h2, depth, bound, False, np.int64(-1))
    return claims.used[0]


@kernel(nogil=True, allocates=False)
def most_similar(data_address, kept_bits, kept_bound, filled, bits, bound):
    """The kept claim that gives a set the highest bound, and that bound.

    The place is -1, and the bound below `bound`, if no claim gives as much. Where a leaf costs a
    function of sums, only claims about a part of the set bound it.
    """
    data = data_at(data_address)
    best, place = bound - 1, np.int64(-1)
    if data.leaf_function and data.n_masses:
        return place, best
    for i in range(filled):
        if kept_bound[i] <= best:
            continue
        if data.leaf_function:
            if inside(kept_bits[i], bits):
                best, place = kept_bound[i], i
        elif not data.n_masses or inside(bits, kept_bits[i]):
            low = kept_bound[i] - missing_weight(kept_bits[i], bits, data.heavy)
            if low > best:
                best, place = low, i
    return place, best
