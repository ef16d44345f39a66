"""Compiled search for the best trees of every number of leaves. Import only where it is used: it loads numba.

A node of the search is a set of rows with a depth of at least three; `search` keeps the nodes on the way from the root as frames of arrays
(no recursion) and returns after some work, so that the caller can look at the clock. A frame goes through its root tests twice:

1. *pairs*: both sides of a test get their exact best trees of depth two with 1, 2, 3, 4 leaves from sums for pairs of tests. Trees with at
   most three leaves have no use for more depth, so after this the node is exact for up to four leaves, and at depth three for all.
2. *deep* (more than four leaves at more than depth three): sides whose larger trees could still matter become nodes.

Of a node not the best values are asked but those below a budget per number of leaves: `V[k] < U[k]` or nothing. A side with `a` leaves matters
only if it is below `max_b (goal[a + b] - split - lower[b])`. Lower bounds of a side come from its trees with fewer leaves and no loss at all,
from the memo, and from similar sets solved before: a set that lacks rows of total worst regret w costs at most w less (with a minimum leaf
size only for subsets of the other set, whose trees remain feasible).

Values are absolute here (the regret of the first action is included), in int64.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from milp_trees.engines.dynamic.kernels import LANES, evaluate, pair_sums

#: States of a frame, and answers of `search`.
ENTER, PAIRS, DEEP, BETWEEN, AFTER, FINISH = 0, 1, 2, 3, 4, 5
DONE, PAUSED, FULL = 0, 1, 2

BIG = 2**60
#: Solved sets per depth that are compared with new ones.
ARCHIVE = 32

_M1 = np.uint64(0x9E3779B97F4A7C15)
_M2 = np.uint64(0xBF58476D1CE4E5B9)
_S1 = np.uint64(29)
_S2 = np.uint64(32)
_ONE = np.uint64(1)


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
    #: F, leaf, least, infinity, cheapest split, most leaves, whether lower bounds from similar sets are used, equal `worst` of all rows or -1.
    numbers: Any


class Frames(NamedTuple):
    """One entry per level of the search; values are indexed by the number of leaves."""

    bits: Any
    rows: Any
    #: Rows, depth, most leaves, what is next, position, test and side of the open child, depth in the memo, regret of the first action.
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
    #: Pair evaluations, nodes, memo hits, tests skipped by bounds.
    counters: Any


F_, LEAF, LEAST, INF, CHEAP, MOST, SIMILAR, WEIGHT = 0, 1, 2, 3, 4, 5, 6, 7
N, DEPTH, LEAVES, STATE, POS, TEST, SIDE, KEY, REGRET = 0, 1, 2, 3, 4, 5, 6, 7, 8


# -- sets of rows ----------------------------------------------------------------------------------------------


@njit(cache=True)
def _popcount(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _trailing(x):
    """Index of the lowest one."""
    return _popcount((x & (~x + _ONE)) - _ONE)


@njit(cache=True)
def _cut(bits, test, side, out):
    """Rows of a set on one side of a test; returns how many."""
    n = 0
    for w in range(len(bits)):
        out[w] = bits[w] & (test[w] if side else ~test[w])
        n += _popcount(out[w])
    return n


@njit(cache=True)
def _list(bits, rows):
    """Row numbers of a set; returns how many."""
    n = 0
    for w in range(len(bits)):
        word = bits[w]
        while word:
            rows[n] = 64 * w + _trailing(word)
            n += 1
            word &= word - _ONE
    return n


@njit(cache=True)
def _hash(bits, depth, seed):
    h = seed ^ (np.uint64(depth) * _M1)
    for w in range(len(bits)):
        h = (h ^ bits[w]) * _M2
        h ^= h >> _S1
        h = h * _M1
        h ^= h >> _S2
    return h


# -- trees of depth two ----------------------------------------------------------------------------------------


@njit(cache=True)
def _evaluate_two_actions(P, Q, subtract, total, F, leaf, split, infinity, column, sides):
    """`kernels.evaluate` for two actions without a minimum leaf size, of P or of P - Q, in one pass."""
    T = P.dtype.type
    width = sides.shape[1]
    zero = T(0)
    column[:] = 0
    for j in range(F):
        column[j] = T(P[j, j] - Q[j, j]) if subtract else P[j, j]
    for j in range(width):
        sides[0, j] = min(zero, T(total - column[j]))
        sides[2, j] = min(zero, column[j])
    sides[1] = infinity
    sides[3] = infinity
    for i in range(F):
        j0 = i - i % LANES
        low0, low1 = _row_two_actions(
            P[i, j0:], Q[i, j0:], subtract, total, column[i], column[j0:], split[j0:], split[i], infinity, sides[1, j0:], sides[3, j0:]
        )
        sides[1, i] = min(sides[1, i], low0)
        sides[3, i] = min(sides[3, i], low1)
    for j in range(width):
        sides[0, j] += leaf
        sides[2, j] += leaf
        sides[1, j] += 2 * leaf
        sides[3, j] += 2 * leaf


@njit(cache=True)
def _row_two_actions(p, q, subtract, total, own, column, split, cost, infinity, left, right):
    T = p.dtype.type
    zero = T(0)
    rest = T(total - own)
    low0 = low1 = infinity
    if subtract:
        for j in range(len(p)):
            b = T(p[j] - q[j])
            o = T(column[j] - b)
            c11 = min(b, zero)
            c10 = min(T(own - b), zero)
            c01 = min(o, zero)
            c00 = min(T(rest - o), zero)
            low0 = min(low0, T(T(c00 + c01) + split[j]))
            low1 = min(low1, T(T(c10 + c11) + split[j]))
            left[j] = min(left[j], T(T(c00 + c10) + cost))
            right[j] = min(right[j], T(T(c01 + c11) + cost))
    else:
        for j in range(len(p)):
            b = p[j]
            o = T(column[j] - b)
            c11 = min(b, zero)
            c10 = min(T(own - b), zero)
            c01 = min(o, zero)
            c00 = min(T(rest - o), zero)
            low0 = min(low0, T(T(c00 + c01) + split[j]))
            low1 = min(low1, T(T(c10 + c11) + split[j]))
            left[j] = min(left[j], T(T(c00 + c10) + cost))
            right[j] = min(right[j], T(T(c01 + c11) + cost))
    return low0, low1


@njit(cache=True)
def _sides(data, room, P, Q, subtract, total, sides):
    """Both sides of every root test as a leaf and with one split, from the pair sums P or P - Q (which `room.rest` then holds)."""
    F, least = data.numbers[F_], data.numbers[LEAST]
    T = P.dtype.type
    leaf, infinity = T(data.numbers[LEAF]), T(data.numbers[INF])
    if P.shape[0] == 1:
        _evaluate_two_actions(P[0], Q[0], subtract, total[0], F, leaf, data.split, infinity, room.column[0], sides)
        return
    if subtract:
        for v in range(P.shape[0]):
            for i in range(F):
                _difference(room.rest[v, i], P[v, i], Q[v, i])
        evaluate(room.rest, total, F, leaf, data.split, T(least), infinity, room.column, room.cell, sides)
    else:
        evaluate(P, total, F, leaf, data.split, T(least), infinity, room.column, room.cell, sides)


@njit(cache=True)
def _difference(out, a, b):
    T = out.dtype.type
    for j in range(len(out)):
        out[j] = T(a[j] - b[j])


@njit(cache=True)
def _leaf_value(data, total):
    least = data.numbers[LEAST]
    V = len(total) - (1 if least > 1 else 0)
    if least > 1 and total[V] < least:
        return np.int64(data.numbers[INF])
    low = np.int64(0)
    for v in range(V):
        low = min(low, np.int64(total[v]))
    return low + data.numbers[LEAF]


@njit(cache=True)
def _front_two(data, sides, single, first, out):
    """Best values of depth two with at most 1, 2, 3, 4 leaves into out[1:5], the regret `first` of the first action added."""
    two = three = four = np.int64(BIG)
    for f in range(data.numbers[F_]):
        cost = np.int64(data.split[f])
        a, b, c, d = np.int64(sides[0, f]), np.int64(sides[1, f]), np.int64(sides[2, f]), np.int64(sides[3, f])
        two = min(two, a + c + cost)
        three = min(three, min(a + d, b + c) + cost)
        four = min(four, b + d + cost)
    out[1] = single + first
    out[2] = min(out[1], two + first)
    out[3] = min(out[2], three + first)
    out[4] = min(out[3], four + first)


# -- bounds ----------------------------------------------------------------------------------------------------


@njit(cache=True)
def _floor(data, known, lower, most):
    """Lower bounds from exact values up to `known` leaves: a tree with more pays its leaves and splits even if it makes no mistake."""
    leaf, cheap = data.numbers[LEAF], data.numbers[CHEAP]
    for k in range(known + 1, most + 1):
        lower[k] = min(lower[known], (known + 1) * leaf + known * cheap)


@njit(cache=True)
def _similar(data, archive, depth, bits, lower, known, most):
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
                    loss += weight * _popcount(word)
                else:
                    while word:
                        loss += data.worst[64 * w + _trailing(word)]
                        word &= word - _ONE
            if loss >= room:
                break
        if loss < room:
            for k in range(known + 1, most + 1):
                lower[k] = max(lower[k], other[k] - loss)


@njit(cache=True)
def _archive(data, archive, depth, bits, lower, most):
    if not data.numbers[SIMILAR]:
        return
    e = archive.count[depth] % ARCHIVE
    archive.count[depth] += 1
    archive.bits[depth, e] = bits
    archive.lower[depth, e, : most + 1] = lower[: most + 1]
    archive.lower[depth, e, most + 1 :] = 0


@njit(cache=True)
def _could_improve(lower0, lower1, cost, goal, begin, most, width):
    """Whether sides with at most `width` leaves each might be below a goal with `begin` to `most` leaves."""
    for k in range(begin, most + 1):
        for a in range(max(1, k - width), min(k - 1, width) + 1):
            if lower0[a] + lower1[k - a] + cost < goal[k]:
                return True
    return False


@njit(cache=True)
def _combine(upper0, upper1, cost, f, most, width, best, test, left):
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


@njit(cache=True)
def _find(memo, h1, h2):
    """Slot of a key: where it is, or where it would go."""
    mask = np.uint64(len(memo.keys) - 1)
    slot = h1 & mask
    while memo.keys[slot, 2] and (memo.keys[slot, 0] != h1 or memo.keys[slot, 1] != h2):
        slot = (slot + _ONE) & mask
    return slot


@njit(cache=True)
def recall(memo, bits, depth):
    """Entry of a set at a depth, -1 if there is none."""
    slot = _find(memo, _hash(bits, depth, _M1), _hash(bits, depth, _M2))
    return np.int64(memo.keys[slot, 2]) - 1


@njit(cache=True)
def _remember(memo, bits, depth, most, lower, best, test, left):
    """Keep what is known of a node; False if the table must grow first."""
    h1, h2 = _hash(bits, depth, _M1), _hash(bits, depth, _M2)
    slot = _find(memo, h1, h2)
    e = np.int64(memo.keys[slot, 2]) - 1
    if e < 0:
        if memo.count[0] >= memo.count[1]:
            return True  # as much as the memory limit allows
        if memo.count[0] >= len(memo.entries):
            return False
        e = memo.count[0]
        memo.count[0] += 1
        memo.keys[slot, 0], memo.keys[slot, 1], memo.keys[slot, 2] = h1, h2, np.uint64(e + 1)
        memo.entries[e, 0] = -BIG
        memo.entries[e, 1] = BIG
    entry = memo.entries[e]
    for k in range(1, most + 1):
        entry[0, k] = max(entry[0, k], lower[k])
        if best[k] < entry[1, k]:
            entry[1, k], entry[2, k], entry[3, k] = best[k], test[k], left[k]
    return True


@njit(cache=True)
def _exact_below(lower, upper, budget, most):
    """Whether for every number of leaves the value is known or known to be no less than the budget."""
    for k in range(1, most + 1):
        if lower[k] < min(upper[k], budget[k]):
            return False
    return True


# -- the search ------------------------------------------------------------------------------------------------


@njit(cache=True)
def _total(data, rows, total):
    total[:] = 0
    for r in rows:
        for v in range(len(total)):
            total[v] += data.values[r, v]


@njit(cache=True)
def _first_by_test(data, rows, out):
    """Regret of the first action on the true side of every test; returns that of all rows."""
    all_rows = np.int64(0)
    out[:] = 0
    for r in rows:
        cost = data.first[r]
        if cost:
            all_rows += cost
            for f in range(len(out)):
                out[f] += cost * np.int64(data.X[r, f])
    return all_rows


@njit(cache=True)
def _enter(data, frames, room, P, total, by_test, l):
    """Count the pairs of a new node; bounds of both sides of every test, the best trees of depth two, and an order of the tests."""
    state, F, most = frames.state[l], data.numbers[F_], frames.state[l, LEAVES]
    rows = frames.rows[l, : _list(frames.bits[l], frames.rows[l])]
    state[N] = len(rows)
    _total(data, rows, total)
    all_rows = _first_by_test(data, rows, by_test)
    pair_sums(data.X, rows, data.starts, data.coef, data.values, F, P, room.packed, room.count, room.wide)
    _sides(data, room, P, P, False, total, room.sides)
    best, test, left = frames.best[l], frames.test[l], frames.left[l]
    best[1:] = _leaf_value(data, total) + all_rows
    test[:] = -1
    left[:] = 0
    guess = np.empty(F, dtype=np.int64)
    for f in range(F):
        for side in range(2):
            lower, upper = frames.lower[l, f, side], frames.upper[l, f, side]
            first = by_test[f] if side else all_rows - by_test[f]
            lower[1] = np.int64(room.sides[2 * side, f]) + first
            lower[2] = min(lower[1], np.int64(room.sides[2 * side + 1, f]) + first)
            _floor(data, 2, lower, most)
            upper[1] = lower[1]
            upper[2:] = lower[2]
        guess[f] = frames.upper[l, f, 0, 2] + frames.upper[l, f, 1, 2] + np.int64(data.split[f])
        _combine(frames.upper[l, f, 0], frames.upper[l, f, 1], np.int64(data.split[f]), f, most, 2, best, test, left)
    frames.order[l] = np.argsort(guess)
    state[STATE], state[POS], state[REGRET] = PAIRS, 0, all_rows


@njit(cache=True)
def _goal(frames, l, goal):
    for k in range(1, frames.state[l, LEAVES] + 1):
        goal[k] = min(frames.best[l, k], frames.budget[l, k])


@njit(cache=True)
def _pair(data, frames, archive, room, P, Q, total, part, by_test, goal, l, f):
    """Both sides of one test with up to four leaves, unless bounds say that it cannot matter; returns the work done."""
    state, F = frames.state[l], data.numbers[F_]
    most, depth, cost = state[LEAVES], state[DEPTH], np.int64(data.split[f])
    width = most - 1 if depth > 3 else min(4, most - 1)
    lower, upper = frames.lower[l, f], frames.upper[l, f]
    lower[0, 0] = 0  # not to be looked at again
    ones = _cut(frames.bits[l], data.test_bits[f], True, room.words[1])
    zeros = _cut(frames.bits[l], data.test_bits[f], False, room.words[0])
    _goal(frames, l, goal)
    if ones == 0 or zeros == 0 or not _could_improve(lower[0], lower[1], cost, goal, 2, most, width):
        room.counters[3] += 1
        return 0.0
    for side in range(2):
        _similar(data, archive, depth - 1, room.words[side], lower[side], 2, width)
    if not _could_improve(lower[0], lower[1], cost, goal, 2, most, width):
        room.counters[3] += 1
        return 0.0
    small = 1 if ones <= zeros else 0
    rows = room.rows[: _list(room.words[small], room.rows)]
    _total(data, rows, part)
    whole = state[REGRET]
    first = by_test[f] if small else whole - by_test[f]
    pair_sums(data.X, rows, data.starts, data.coef, data.values, F, Q, room.packed, room.count, room.wide)
    _sides(data, room, Q, Q, False, part, room.sides)
    _front_two(data, room.sides, _leaf_value(data, part), first, room.found[small])
    for v in range(len(total)):
        part[v] = total[v] - part[v]
    _sides(data, room, P, Q, True, part, room.sides)
    _front_two(data, room.sides, _leaf_value(data, part), whole - first, room.found[1 - small])
    known = 3 if depth > 3 else 4
    for side in range(2):
        found = room.found[side]
        for k in range(1, most + 1):
            upper[side, k] = found[min(k, 4)]
        for k in range(1, min(known, most) + 1):
            lower[side, k] = found[k]
        if known < most:
            before = lower[side, known + 1 :].copy()
            _floor(data, known, lower[side], most)
            for k in range(known + 1, most + 1):
                lower[side, k] = max(lower[side, k], min(before[k - known - 1], found[known]))
        _archive(data, archive, 2, room.words[side], found, 4)
    lower[0, 0] = 1
    _combine(upper[0], upper[1], cost, f, most, min(4, most - 1), frames.best[l], frames.test[l], frames.left[l])
    room.counters[0] += 1
    return F * F * (len(rows) * 0.125 + 20.0 * P.shape[0])


@njit(cache=True)
def _child(data, frames, memo, archive, room, goal, l, f, side):
    """Make the side of a test the next frame if its larger trees could matter; False if not."""
    state = frames.state[l]
    most, depth, cost = state[LEAVES], state[DEPTH], np.int64(data.split[f])
    lower, upper, other = frames.lower[l, f, side], frames.upper[l, f, side], frames.lower[l, f, 1 - side]
    bits = frames.bits[l + 1]
    _cut(frames.bits[l], data.test_bits[f], side == 1, bits)
    e = recall(memo, bits, depth - 1)
    if e >= 0:
        room.counters[2] += 1
        for k in range(4, most):
            lower[k] = max(lower[k], memo.entries[e, 0, k])
            upper[k] = min(upper[k - 1], min(upper[k], memo.entries[e, 1, k]))
    _similar(data, archive, depth - 1, bits, lower, 3, most - 1)
    budget = frames.budget[l + 1]
    budget[:4] = -BIG
    leaves = 0
    _goal(frames, l, goal)
    for a in range(4, most):
        budget[a] = -BIG
        for b in range(1, most - a + 1):
            budget[a] = max(budget[a], goal[a + b] - cost - other[b])
        if lower[a] < min(budget[a], upper[a]):
            leaves = a
    if leaves == 0:
        return False
    child = frames.state[l + 1]
    child[DEPTH], child[LEAVES], child[STATE] = min(depth - 1, leaves - 1) if leaves > 3 else 3, leaves, ENTER
    child[KEY] = depth - 1
    return True


@njit(cache=True)
def _take(frames, l, f, side):
    """Bounds of a side from the answer of the frame below."""
    lower, upper, leaves = frames.lower[l, f, side], frames.upper[l, f, side], frames.state[l + 1, LEAVES]
    for k in range(1, frames.state[l, LEAVES]):
        if k <= leaves:
            lower[k] = max(lower[k], frames.answer[l + 1, 0, k])
        upper[k] = min(upper[k], frames.answer[l + 1, 1, min(k, leaves)])


@njit(cache=True)
def _finish(frames, memo, archive, data, l):
    """What is known of a node that is done, for its parent, the memo and the archive; False if the memo must grow first."""
    state = frames.state[l]
    most = state[LEAVES]
    answer = frames.answer[l]
    for k in range(1, most + 1):
        answer[0, k] = max(0, min(frames.best[l, k], frames.budget[l, k]))
        answer[1, k] = frames.best[l, k]
    if l > 0:
        side, f = frames.state[l - 1, SIDE], frames.state[l - 1, TEST]
        for k in range(1, most + 1):
            answer[0, k] = max(answer[0, k], frames.lower[l - 1, f, side, k])
    if not _remember(memo, frames.bits[l], state[KEY], most, answer[0], answer[1], frames.test[l], frames.left[l]):
        return False
    _archive(data, archive, state[KEY], frames.bits[l], answer[0], most)
    return True


@njit(cache=True)
def search(data, frames, memo, archive, room, P, Q, total, part, by_test, goal, level, quota):
    """Go on with the search until it is done or some work is done.

    Returns DONE, PAUSED or FULL (the memo must grow), and the level it is at.
    """
    l = level
    F = data.numbers[F_]
    work = 0.0
    while True:
        state = frames.state[l]
        most, depth = state[LEAVES], state[DEPTH]
        if work > quota:
            return PAUSED, l
        if state[STATE] == ENTER:
            _enter(data, frames, room, P, total, by_test, l)
            room.counters[1] += 1
            work += F * F * (state[N] * 0.125 + 20.0 * P.shape[0])
        elif state[STATE] == PAIRS:
            if state[POS] < F:
                f = frames.order[l, state[POS]]
                state[POS] += 1
                work += 100.0 + _pair(data, frames, archive, room, P, Q, total, part, by_test, goal, l, f)
            elif depth == 3 or most <= 4:
                state[STATE] = FINISH
            else:
                guess = np.empty(F, dtype=np.int64)
                for f in range(F):
                    guess[f] = frames.upper[l, f, 0, 4] + frames.upper[l, f, 1, 4] + np.int64(data.split[f])
                frames.order[l] = np.argsort(guess)
                state[STATE], state[POS] = DEEP, 0
        elif state[STATE] == DEEP:
            if state[POS] == F:
                state[STATE] = FINISH
                continue
            f = frames.order[l, state[POS]]
            lower = frames.lower[l, f]
            _goal(frames, l, goal)
            if lower[0, 0] == 0 or not _could_improve(lower[0], lower[1], np.int64(data.split[f]), goal, 5, most, most - 1):
                state[POS] += 1
                continue
            ones = _cut(frames.bits[l], data.test_bits[f], True, room.words[1])
            state[TEST], state[SIDE], state[STATE] = f, 1 if 2 * ones > state[N] else 0, BETWEEN
            if _child(data, frames, memo, archive, room, goal, l, f, state[SIDE]):
                l += 1
        elif state[STATE] == BETWEEN:
            f = state[TEST]
            lower = frames.lower[l, f]
            state[SIDE], state[STATE] = 1 - state[SIDE], AFTER
            _goal(frames, l, goal)
            if _could_improve(lower[0], lower[1], np.int64(data.split[f]), goal, 5, most, most - 1):
                if _child(data, frames, memo, archive, room, goal, l, f, state[SIDE]):
                    l += 1
        elif state[STATE] == AFTER:
            f = state[TEST]
            _combine(
                frames.upper[l, f, 0], frames.upper[l, f, 1], np.int64(data.split[f]), f, most, most - 1, frames.best[l], frames.test[l],
                frames.left[l],
            )  # fmt: skip
            state[STATE] = DEEP
            state[POS] += 1
        else:
            if not _finish(frames, memo, archive, data, l):
                return FULL, l
            if l == 0:
                return DONE, l
            l -= 1
            _take(frames, l, frames.state[l, TEST], frames.state[l, SIDE])


# -- for the caller ----------------------------------------------------------------------------------------------


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


@njit(cache=True)
def two(data, room, rows, P, total, most, value, test, left):
    """Best trees of depth two of a set of rows with at most 1, …, `most` (up to 4) leaves, and their root tests."""
    F = data.numbers[F_]
    _total(data, rows, total)
    all_rows = np.int64(0)
    for r in rows:
        all_rows += data.first[r]
    value[:] = _leaf_value(data, total) + all_rows
    if most < 2:
        return
    pair_sums(data.X, rows, data.starts, data.coef, data.values, F, P, room.packed, room.count, room.wide)
    _sides(data, room, P, P, False, total, room.sides)
    upper = np.empty((2, 5), dtype=np.int64)
    for f in range(F):
        for side in range(2):
            upper[side, 1] = np.int64(room.sides[2 * side, f]) + (all_rows if side else 0)
            upper[side, 2:] = min(upper[side, 1], np.int64(room.sides[2 * side + 1, f]) + (all_rows if side else 0))
        _combine(upper[0], upper[1], np.int64(data.split[f]), f, most, 2, value, test, left)
    for k in range(most + 1, 5):
        value[k], test[k], left[k] = value[most], test[most], left[most]
