"""Compiled memory of a search: a table of solved sets, and an archive of recent ones. Loads numba.

A table entry holds for (set, depth) either the optimum or a lower bound. Those under the depth
UNLIMITED hold for trees of any depth; an optimum there also says which depth it needs. Entries are
four words; the second is mixed with the content, so that an entry half written by another thread
does not match any key (Hyatt, Mann 2002, a lock-less transposition table).

The archive keeps, per depth, the last solved sets with their bounds, for similarity bounds. For any
two sets D, D': opt(D') >= opt(D) - sum over D \\ D' of the most that a row can cost, because the
best tree of D' costs at most that much more on D (Demirović et al. 2022, *MurTree*). Rows must be
shifted so that their cheapest action is free. With a minimum leaf size the tree of D' need not be
allowed on D unless D' is a subset of D. Where leaves cost another function of sums than the
cheapest action, only a subset D' of D is known to cost no more, and its bound holds for D as it is.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.arrays import ANY, HOLDING, INSIDE, UNLIMITED
from milp_trees.engines.dp.layouts import table_at
from milp_trees.engines.dp.words import atomic_add, copy, inside, missing_weight, weight_up_to

_GOLD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)
#: Slots that are looked at for a key.
_PROBES = 16
#: Sets kept in the archive per depth.
RING = 64


@kernel(allocates=False)
def _place(slots, h1, depth):
    h = (h1 + np.uint64(depth) * _MIX) * _GOLD
    return np.int64((h ^ (h >> _SHIFT)) & np.uint64(len(slots) - 1))


@kernel(allocates=False)
def _sealed(h2, meta, value):
    return h2 ^ ((meta ^ (value * _MIX)) * _GOLD)


@kernel(allocates=False)
def _depth_of(meta):
    return np.int64(meta & np.uint64(0xFFF))


@kernel(allocates=False)
def _is_exact(meta):
    return bool(meta & np.uint64(0x1000))


@kernel(allocates=False)
def _test_of(meta):
    return np.int64((meta >> np.uint64(13)) & np.uint64(0xFFFFFFFF)) - 1


@kernel(allocates=False)
def _find(table, h1, h2, depth):
    """(content, value) of a set; the content is 0 if it is not in the table.

    Both are read once: another thread may write in between.
    """
    slots = table.slots
    at = _place(slots, h1, depth)
    for _ in range(_PROBES):
        meta, value = slots[at, 2], slots[at, 3]
        if meta == 0:
            break
        if (
            slots[at, 0] == h1
            and _depth_of(meta) == depth
            and slots[at, 1] == _sealed(h2, meta, value)
        ):
            return meta, np.int64(value)
        at = (at + 1) & (len(slots) - 1)
    return np.uint64(0), np.int64(0)


@kernel(allocates=False)
def look_up(table, h1, h2, depth):
    """(known, value, exact, root test) of a set; the test is -1 for a leaf."""
    meta, value = _find(table, h1, h2, depth)
    return meta != 0, value, _is_exact(meta), _test_of(meta)


@kernel(allocates=False)
def look_up_free(table, h1, h2):
    """(value, depth that its tree needs, root test) of a set, for trees of any depth.

    For a lower bound the depth is larger than UNLIMITED. The bound is 0 if nothing is known.
    """
    meta, value = _find(table, h1, h2, np.int64(UNLIMITED))
    needs = np.int64(meta >> np.uint64(45)) if _is_exact(meta) else np.int64(UNLIMITED + 1)
    return value, needs, _test_of(meta)


@kernel(allocates=False)
def store(table, h1, h2, depth, value, exact, test):
    """Keep a value or bound in the table."""
    _store(table, h1, h2, _content(depth, exact, test, depth & UNLIMITED), value)


@kernel(allocates=False)
def store_free(table, h1, h2, value, exact, test, needs):
    """Keep a value or bound that holds for trees of any depth; the value needs a depth."""
    _store(table, h1, h2, _content(np.int64(UNLIMITED), exact, test, needs), value)


@kernel(allocates=False)
def _content(depth, exact, test, needs):
    """Depth, root test and depth of the tree in one word."""
    return (
        np.uint64(depth)
        | (np.uint64(0x1000) if exact else np.uint64(0))
        | (np.uint64(test + 1) << np.uint64(13))
        | (np.uint64(needs) << np.uint64(45))
    )


@kernel(allocates=False)
def _store(table, h1, h2, meta, value):
    """Keep a value or bound in the table.

    Where there is no free slot, the nearby set with the smallest depth is replaced.
    """
    slots, depth = table.slots, _depth_of(meta)
    at = _place(slots, h1, depth)
    victim, victim_depth = at, np.int64(1 << 60)
    for _ in range(_PROBES):
        there = slots[at, 2]
        if there == 0:
            victim = at
            atomic_add(table.used.ctypes.data, 1)
            break
        if (
            slots[at, 0] == h1
            and _depth_of(there) == depth
            and slots[at, 1] == _sealed(h2, there, slots[at, 3])
        ):
            if _is_exact(there) or (not _is_exact(meta) and np.int64(slots[at, 3]) >= value):
                return
            victim = at
            break
        if _depth_of(there) < victim_depth:
            victim, victim_depth = at, _depth_of(there)
        at = (at + 1) & (len(slots) - 1)
    slots[victim, 0] = h1
    slots[victim, 1] = _sealed(h2, meta, np.uint64(value))
    slots[victim, 3] = np.uint64(value)
    slots[victim, 2] = meta


@kernel(allocates=False)
def move(old_address, new_address):
    """Copy all entries to a larger table."""
    old, table = table_at(old_address), table_at(new_address)
    for i in range(len(old.slots)):
        meta = old.slots[i, 2]
        if meta:
            h2 = old.slots[i, 1] ^ _sealed(np.uint64(0), meta, old.slots[i, 3])
            _store(table, old.slots[i, 0], h2, meta, np.int64(old.slots[i, 3]))


@kernel(allocates=False)
def archive_level(work, depth):
    """Where the archive keeps sets with this depth left; without a depth limit that is all one."""
    return min(depth, work.kept.shape[0] - 1)


@kernel(allocates=False)
def _related(bits, kept, relation):
    """Whether an archived set says something about a set."""
    if relation == HOLDING:
        return inside(bits, kept)
    if relation == INSIDE:
        return inside(kept, bits)
    return relation == ANY


@kernel(allocates=False)
def similar(work, level, bits, heavy, relation, best):
    """The better one of a lower bound on a set and those from archived sets of the same depth."""
    for i in range(work.kept[level, 0]):
        left = work.kept_bound[level, i] - best
        if left > 0 and _related(bits, work.kept_bits[level, i], relation):
            if relation != INSIDE:
                left -= weight_up_to(work.kept_bits[level, i], bits, heavy, left)
            best += max(left, 0)
    return best


@kernel(allocates=False)
def similar_per_test(work, level, bits, heavy, relation, F, out):
    """Raise lower bounds on a set with a given root test; returns the bound for all."""
    best = np.int64(0)
    for i in range(work.kept[level, 0]):
        if not _related(bits, work.kept_bits[level, i], relation):
            continue
        far = np.int64(0)
        if relation != INSIDE:
            far = missing_weight(work.kept_bits[level, i], bits, heavy)
        best = max(best, work.kept_bound[level, i] - far)
        row = work.kept_tests[level, i]
        for f in range(F):
            out[f] = max(out[f], row[f] - far)
    return best


@kernel(allocates=False)
def archive_set(work, level, bits, bound, per_test, F):
    """Keep a solved set and its bounds instead of the oldest one."""
    at = work.kept[level, 1]
    copy(bits, work.kept_bits[level, at])
    work.kept_bound[level, at] = bound
    row = work.kept_tests[level, at]
    for f in range(F):
        row[f] = per_test[f]
    work.kept[level, 1] = (at + 1) % RING
    work.kept[level, 0] = min(RING, work.kept[level, 0] + 1)
