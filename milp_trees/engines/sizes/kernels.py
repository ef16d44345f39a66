"""Compiled search for the best trees of every number of leaves. Import only where it is used: it
loads numba.

A node of the search is a set of rows with a depth of at least three; `search` keeps the nodes on
the way from the root as frames of arrays (no recursion) and returns after some work, so that the
caller can look at the clock. A frame goes through its root tests twice:

1. *pairs*: both sides of a test get their exact best trees of depth two with 1, 2, 3, 4 leaves from
   sums for pairs of tests. Trees with at most three leaves have no use for more depth, so after
   this the node is exact for up to four leaves, and at depth three for all.
2. *deep* (more than four leaves at more than depth three): sides whose larger trees could still
   matter become nodes.

Of a node not the best values are asked but those below a budget per number of leaves: `V[k] < U[k]`
or nothing. A side with `a` leaves matters only if it is below `max_b (goal[a + b] - split -
lower[b])`. Lower bounds of a side come from its trees with fewer leaves and no loss at all, from
the memo, and from similar sets solved before: a set that lacks rows of total worst regret w costs
at most w less (with a minimum leaf size only for subsets of the other set, whose trees remain
feasible).

Values are absolute here (the regret of the first action is included), in int64.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.compiling.kernels import njit
from milp_trees.engines.sizes.first_kernels import pair_sums
from milp_trees.engines.sizes.pairs import add_up, both_sides, front_two, leaf_value
from milp_trees.engines.sizes.state import (
    BIG,
    DEPTH,
    F_,
    KEY,
    LEAVES,
    POS,
    REGRET,
    SIDE,
    STATE,
    TEST,
    N,
    combine,
    could_improve,
    cut,
    file_bounds,
    fill,
    floor,
    inner,
    members,
    raise_by_similar,
    recall,
    remember,
    sort,
)

#: States of a frame, and answers of `search`.
ENTER, PAIRS, DEEP, BETWEEN, AFTER, FINISH = 0, 1, 2, 3, 4, 5
DONE, PAUSED, FULL = 0, 1, 2


@inner
def _first_by_test(data, rows, out):
    """Regret of the first action on the true side of every test; returns that of all rows."""
    all_rows = np.int64(0)
    fill(out, 0)
    for r in rows:
        cost = data.first[r]
        if cost:
            all_rows += cost
            for f in range(len(out)):
                out[f] += cost * np.int64(data.X[r, f])
    return all_rows


@inner
def _enter(data, frames, room, P, total, by_test, l):
    """Count the pairs of a new node; bounds of both sides of every test, the best trees of depth
    two, and an order of the tests.
    """
    state, F, most = frames.state[l], data.numbers[F_], frames.state[l, LEAVES]
    rows = frames.rows[l, : members(frames.bits[l], frames.rows[l])]
    state[N] = len(rows)
    add_up(data, rows, total)
    all_rows = _first_by_test(data, rows, by_test)
    pair_sums(
        data.X, rows, data.starts, data.coef, data.values, F, P, room.packed, room.count, room.wide
    )
    both_sides(data, room, P, P, np.int64(0), total, room.sides)
    best, test, left = frames.best[l], frames.test[l], frames.left[l]
    fill(best, leaf_value(data, total) + all_rows)
    fill(test, -1)
    fill(left, 0)
    guess = room.guess
    for f in range(F):
        for side in range(2):
            lower, upper = frames.lower[l, f, side], frames.upper[l, f, side]
            first = by_test[f] if side else all_rows - by_test[f]
            fill(lower, 0)
            lower[1] = np.int64(room.sides[2 * side, f]) + first
            lower[2] = min(lower[1], np.int64(room.sides[2 * side + 1, f]) + first)
            floor(data, np.int64(2), lower, most)
            fill(upper, lower[2])
            upper[1] = lower[1]
        guess[f] = frames.upper[l, f, 0, 2] + frames.upper[l, f, 1, 2] + np.int64(data.split[f])
        combine(
            frames.upper[l, f, 0],
            frames.upper[l, f, 1],
            np.int64(data.split[f]),
            f,
            most,
            np.int64(2),
            best,
            test,
            left,
        )
    sort(room.guess, frames.order[l])
    state[STATE], state[POS], state[REGRET] = PAIRS, 0, all_rows


@inner
def _goal(frames, l, goal):
    for k in range(1, frames.state[l, LEAVES] + 1):
        goal[k] = min(frames.best[l, k], frames.budget[l, k])


@inner
def _pair(data, frames, archive, room, P, Q, total, part, by_test, goal, l, f):
    """Both sides of one test with up to four leaves, unless bounds say that it cannot matter;
    returns the work done.
    """
    state, F = frames.state[l], data.numbers[F_]
    most, depth, cost = state[LEAVES], state[DEPTH], np.int64(data.split[f])
    width = most - 1 if depth > 3 else min(4, most - 1)
    lower, upper = frames.lower[l, f], frames.upper[l, f]
    lower[0, 0] = 0  # not to be looked at again
    ones = cut(frames.bits[l], data.test_bits[f], np.int64(1), room.words[1])
    zeros = cut(frames.bits[l], data.test_bits[f], np.int64(0), room.words[0])
    _goal(frames, l, goal)
    if (
        ones == 0
        or zeros == 0
        or not could_improve(lower[0], lower[1], cost, goal, np.int64(2), most, width)
    ):
        room.counters[3] += 1
        return 0.0
    for side in range(2):
        raise_by_similar(
            data, archive, depth - 1, room.words[side], lower[side], np.int64(2), width
        )
    if not could_improve(lower[0], lower[1], cost, goal, np.int64(2), most, width):
        room.counters[3] += 1
        return 0.0
    small = 1 if ones <= zeros else 0
    rows = room.rows[: members(room.words[small], room.rows)]
    add_up(data, rows, part)
    whole = state[REGRET]
    first = by_test[f] if small else whole - by_test[f]
    pair_sums(
        data.X, rows, data.starts, data.coef, data.values, F, Q, room.packed, room.count, room.wide
    )
    both_sides(data, room, Q, Q, np.int64(0), part, room.sides)
    front_two(data, room.sides, leaf_value(data, part), first, room.found[small])
    for v in range(len(total)):
        part[v] = total[v] - part[v]
    both_sides(data, room, P, Q, np.int64(1), part, room.sides)
    front_two(data, room.sides, leaf_value(data, part), whole - first, room.found[1 - small])
    known = np.int64(3 if depth > 3 else 4)
    for side in range(2):
        found = room.found[side]
        for k in range(1, most + 1):
            upper[side, k] = found[min(k, 4)]
        for k in range(1, min(known, most) + 1):
            lower[side, k] = found[k]
        if known < most:
            floor(data, known, lower[side], most)
        file_bounds(data, archive, np.int64(2), room.words[side], found, np.int64(4))
    lower[0, 0] = 1
    combine(
        upper[0],
        upper[1],
        cost,
        f,
        most,
        min(4, most - 1),
        frames.best[l],
        frames.test[l],
        frames.left[l],
    )
    room.counters[0] += 1
    return F * F * (len(rows) * 0.125 + 20.0 * P.shape[0])


@inner
def _child(data, frames, memo, archive, room, goal, l, f, side):
    """Make the side of a test the next frame if its larger trees could matter; False if not."""
    state = frames.state[l]
    most, depth, cost = state[LEAVES], state[DEPTH], np.int64(data.split[f])
    lower, upper, other = (
        frames.lower[l, f, side],
        frames.upper[l, f, side],
        frames.lower[l, f, 1 - side],
    )
    bits = frames.bits[l + 1]
    cut(frames.bits[l], data.test_bits[f], side, bits)
    e = recall(memo, bits, depth - 1)
    if e >= 0:
        room.counters[2] += 1
        for k in range(4, most):
            lower[k] = max(lower[k], memo.entries[e, 0, k])
            upper[k] = min(upper[k - 1], min(upper[k], memo.entries[e, 1, k]))
    raise_by_similar(data, archive, depth - 1, bits, lower, np.int64(3), most - 1)
    budget = frames.budget[l + 1]
    fill(budget, -BIG)
    leaves = 0
    _goal(frames, l, goal)
    for a in range(4, most):
        for b in range(1, most - a + 1):
            budget[a] = max(budget[a], goal[a + b] - cost - other[b])
        if lower[a] < min(budget[a], upper[a]):
            leaves = a
    if leaves == 0:
        return False
    child = frames.state[l + 1]
    child[DEPTH], child[LEAVES], child[STATE] = (
        min(depth - 1, leaves - 1) if leaves > 3 else 3,
        leaves,
        ENTER,
    )
    child[KEY] = depth - 1
    return True


@inner
def _take(frames, l, f, side):
    """Bounds of a side from the answer of the frame below."""
    lower, upper, leaves = (
        frames.lower[l, f, side],
        frames.upper[l, f, side],
        frames.state[l + 1, LEAVES],
    )
    for k in range(1, frames.state[l, LEAVES]):
        if k <= leaves:
            lower[k] = max(lower[k], frames.answer[l + 1, 0, k])
        upper[k] = min(upper[k], frames.answer[l + 1, 1, min(k, leaves)])


@inner
def _finish(frames, memo, archive, data, l):
    """What is known of a node that is done, for its parent, the memo and the archive; False if the
    memo must grow first.
    """
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
    if not remember(
        memo, frames.bits[l], state[KEY], most, answer[0], answer[1], frames.test[l], frames.left[l]
    ):
        return False
    file_bounds(data, archive, state[KEY], frames.bits[l], answer[0], most)
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
                work += 100.0 + _pair(
                    data, frames, archive, room, P, Q, total, part, by_test, goal, l, f
                )
            elif depth == 3 or most <= 4:
                state[STATE] = FINISH
            else:
                for f in range(F):
                    room.guess[f] = (
                        frames.upper[l, f, 0, 4]
                        + frames.upper[l, f, 1, 4]
                        + np.int64(data.split[f])
                    )
                sort(room.guess, frames.order[l])
                state[STATE], state[POS] = DEEP, 0
        elif state[STATE] == DEEP:
            if state[POS] == F:
                state[STATE] = FINISH
                continue
            f = frames.order[l, state[POS]]
            lower = frames.lower[l, f]
            _goal(frames, l, goal)
            if lower[0, 0] == 0 or not could_improve(
                lower[0], lower[1], np.int64(data.split[f]), goal, np.int64(5), most, most - 1
            ):
                state[POS] += 1
                continue
            ones = cut(frames.bits[l], data.test_bits[f], np.int64(1), room.words[1])
            state[TEST], state[SIDE], state[STATE] = f, 1 if 2 * ones > state[N] else 0, BETWEEN
            if _child(data, frames, memo, archive, room, goal, l, f, state[SIDE]):
                l += 1
        elif state[STATE] == BETWEEN:
            f = state[TEST]
            lower = frames.lower[l, f]
            state[SIDE], state[STATE] = 1 - state[SIDE], AFTER
            _goal(frames, l, goal)
            if could_improve(
                lower[0], lower[1], np.int64(data.split[f]), goal, np.int64(5), most, most - 1
            ) and _child(data, frames, memo, archive, room, goal, l, f, state[SIDE]):
                l += 1
        elif state[STATE] == AFTER:
            f = state[TEST]
            combine(
                frames.upper[l, f, 0],
                frames.upper[l, f, 1],
                np.int64(data.split[f]),
                f,
                most,
                most - 1,
                frames.best[l],
                frames.test[l],
                frames.left[l],
            )
            state[STATE] = DEEP
            state[POS] += 1
        else:
            if not _finish(frames, memo, archive, data, l):
                return FULL, l
            if l == 0:
                return DONE, l
            l -= 1
            _take(frames, l, frames.state[l, TEST], frames.state[l, SIDE])
