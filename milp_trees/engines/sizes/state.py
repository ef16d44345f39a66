"""What the compiled search for fronts works on: its arrays, sets of rows as bits, lower bounds, and
the memo. It loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from typing import Any, NamedTuple

import numpy as np

from milp_trees.compiling.kernels import njit

BIG = 2**60
#: Solved sets per depth that are compared with new ones.
ARCHIVE = 32
#: Positions in `Data.numbers` and in `Frames.state`.
F_, LEAF, LEAST, INF, CHEAP, MOST, SIMILAR, WEIGHT = 0, 1, 2, 3, 4, 5, 6, 7
N, DEPTH, LEAVES, STATE, POS, TEST, SIDE, KEY, REGRET = 0, 1, 2, 3, 4, 5, 6, 7, 8

_M1 = np.uint64(0x9E3779B97F4A7C15)
_M2 = np.uint64(0xBF58476D1CE4E5B9)
_S1 = np.uint64(29)
_S2 = np.uint64(32)
_ONE = np.uint64(1)

#: Decorator of what only kernels call: Python needs no way into it, which saves half of the
#: compilation.
inner = njit(cache=True)


class Data(NamedTuple):
    """The instance: arrays of `Instance`, the tests as bits, and what is derived from the costs."""

    X: Any
    starts: Any
    coef: Any
    values: Any
    first: Any
    worst: Any
    test_bits: Any
    split: Any
    #: F, leaf, least, infinity, cheapest split, most leaves, whether lower bounds from similar sets
    #: are used, equal `worst` of all rows or -1.
    numbers: Any


class Frames(NamedTuple):
    """One entry per level of the search; values are indexed by the number of leaves."""

    bits: Any
    rows: Any
    #: Rows, depth, most leaves, what is next, position, test and side of the open child, depth in
    #: the memo, regret of the first action.
    state: Any
    budget: Any
    best: Any
    test: Any
    left: Any
    order: Any
    #: Lower and upper bounds of both sides of every test: [level, test, side, leaves].
    lower: Any
    upper: Any
    #: Answer of the last child: [level, lower/upper, leaves].
    answer: Any


class Memo(NamedTuple):
    """Solved nodes by two hashes of the rows and the depth: [entry, lower/upper/test/left, leaves]."""

    keys: Any
    entries: Any
    #: Number of entries, most entries.
    count: Any


class Archive(NamedTuple):
    """Lower bounds of sets solved lately, a ring per depth."""

    bits: Any
    lower: Any
    count: Any


class Room(NamedTuple):
    """Scratch of the kernels."""

    rest: Any
    column: Any
    cell: Any
    sides: Any
    packed: Any
    count: Any
    wide: Any
    rows: Any
    words: Any
    found: Any
    guess: Any
    #: Pair evaluations, nodes, memo hits, tests skipped by bounds.
    counters: Any


# -- sets of rows ----------------------------------------------------------------------------------------------


@inner
def fill(out, value):
    for j in range(len(out)):
        out[j] = value


@inner
def copy(out, values):
    for j in range(len(values)):
        out[j] = values[j]


@inner
def popcount(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def trailing(x):
    """Index of the lowest one."""
    return popcount((x & (~x + _ONE)) - _ONE)


@inner
def cut(bits, test, side, out):
    """Rows of a set on one side of a test; returns how many."""
    n = 0
    for w in range(len(bits)):
        out[w] = bits[w] & (test[w] if side else ~test[w])
        n += popcount(out[w])
    return n


@inner
def members(bits, rows):
    """Row numbers of a set; returns how many."""
    n = 0
    for w in range(len(bits)):
        word = bits[w]
        while word:
            rows[n] = 64 * w + trailing(word)
            n += 1
            word &= word - _ONE
    return n


@inner
def hash(bits, depth, seed):
    h = seed ^ (np.uint64(depth) * _M1)
    for w in range(len(bits)):
        h = (h ^ bits[w]) * _M2
        h ^= h >> _S1
        h = h * _M1
        h ^= h >> _S2
    return h


@inner
def sort(values, order):
    """Indices by value, equal ones as they stand (shell sort: there are few)."""
    for j in range(len(order)):
        order[j] = j
    gap = len(order) // 2
    while gap:
        for j in range(gap, len(order)):
            moved, i = order[j], j
            while i >= gap and (values[order[i - gap]], order[i - gap]) > (values[moved], moved):
                order[i] = order[i - gap]
                i -= gap
            order[i] = moved
        gap //= 2


# -- bounds ----------------------------------------------------------------------------------------------------


@inner
def floor(data, known, lower, most):
    """Lower bounds from exact values up to `known` leaves: a tree with more pays its leaves and
    splits even if it makes no mistake.
    """
    leaf, cheap = data.numbers[LEAF], data.numbers[CHEAP]
    for k in range(known + 1, most + 1):
        lower[k] = min(lower[known], max(lower[k], (known + 1) * leaf + known * cheap))


@inner
def raise_by_similar(data, archive, depth, bits, lower, known, most):
    """Raise lower bounds of a set by those of similar sets solved at this depth."""
    if not data.numbers[SIMILAR]:
        return
    total = archive.count[depth]
    subset = data.numbers[LEAST] > 1
    weight = data.numbers[WEIGHT]
    for e in range(min(total, ARCHIVE)):
        other = archive.lower[depth, e]
        room = np.int64(0)
        for k in range(known + 1, most + 1):
            room = max(room, other[k] - lower[k])
        if room <= 0:
            continue
        loss = np.int64(0)
        for w in range(len(bits)):
            if subset and bits[w] & ~archive.bits[depth, e, w]:
                loss = room
            word = archive.bits[depth, e, w] & ~bits[w]
            if word:
                if weight >= 0:
                    loss += weight * popcount(word)
                else:
                    while word:
                        loss += data.worst[64 * w + trailing(word)]
                        word &= word - _ONE
            if loss >= room:
                break
        if loss < room:
            for k in range(known + 1, most + 1):
                lower[k] = max(lower[k], other[k] - loss)


@inner
def file_bounds(data, archive, depth, bits, lower, most):
    if not data.numbers[SIMILAR]:
        return
    e = archive.count[depth] % ARCHIVE
    archive.count[depth] += 1
    copy(archive.bits[depth, e], bits)
    for k in range(archive.lower.shape[2]):
        archive.lower[depth, e, k] = lower[k] if k <= most else 0


@inner
def could_improve(lower0, lower1, cost, goal, begin, most, width):
    """Whether sides with at most `width` leaves each might be below a goal with `begin` to `most`
    leaves.
    """
    for k in range(begin, most + 1):
        for a in range(max(1, k - width), min(k - 1, width) + 1):
            if lower0[a] + lower1[k - a] + cost < goal[k]:
                return True
    return False


@inner
def combine(upper0, upper1, cost, f, most, width, best, test, left):
    """Offer a root test with the best trees known of both sides."""
    for a in range(1, min(width, most - 1) + 1):
        for b in range(1, min(width, most - a) + 1):
            value = upper0[a] + upper1[b] + cost
            if value < best[a + b]:
                best[a + b], test[a + b], left[a + b] = value, f, a
    for k in range(2, most + 1):
        if best[k] >= best[k - 1]:
            best[k], test[k], left[k] = best[k - 1], test[k - 1], left[k - 1]


# -- memo ------------------------------------------------------------------------------------------------------


@inner
def find(memo, h1, h2):
    """Slot of a key: where it is, or where it would go."""
    mask = np.uint64(len(memo.keys) - 1)
    slot = h1 & mask
    while memo.keys[slot, 2] and (memo.keys[slot, 0] != h1 or memo.keys[slot, 1] != h2):
        slot = (slot + _ONE) & mask
    return slot


@njit(cache=True)
def recall(memo, bits, depth):
    """Entry of a set at a depth, -1 if there is none."""
    slot = find(memo, hash(bits, depth, _M1), hash(bits, depth, _M2))
    return np.int64(memo.keys[slot, 2]) - 1


@inner
def remember(memo, bits, depth, most, lower, best, test, left):
    """Keep what is known of a node; False if the table must grow first."""
    h1, h2 = hash(bits, depth, _M1), hash(bits, depth, _M2)
    slot = find(memo, h1, h2)
    e = np.int64(memo.keys[slot, 2]) - 1
    if e < 0:
        if memo.count[0] >= memo.count[1]:
            return True  # as much as the memory limit allows
        if memo.count[0] >= len(memo.entries):
            return False
        e = memo.count[0]
        memo.count[0] += 1
        memo.keys[slot, 0], memo.keys[slot, 1], memo.keys[slot, 2] = h1, h2, np.uint64(e + 1)
        for k in range(memo.entries.shape[2]):
            memo.entries[e, 0, k], memo.entries[e, 1, k] = -BIG, BIG
    entry = memo.entries[e]
    for k in range(1, most + 1):
        entry[0, k] = max(entry[0, k], lower[k])
        if best[k] < entry[1, k]:
            entry[1, k], entry[2, k], entry[3, k] = best[k], test[k], left[k]
    return True


@njit(cache=True)
def rehash(old, new):
    """Move the slots of a memo to a larger table."""
    mask = np.uint64(len(new) - 1)
    for s in range(len(old)):
        if old[s, 2]:
            slot = old[s, 0] & mask
            while new[slot, 2]:
                slot = (slot + _ONE) & mask
            new[slot] = old[s]
