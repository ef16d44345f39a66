"""Compiled: the best trees of depth two of a set of rows, by number of leaves, from sums for pairs
of tests. It loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.compiling.kernels import njit
from milp_trees.engines.sizes.first_kernels import LANES, evaluate, pair_sums
from milp_trees.engines.sizes.state import BIG, F_, INF, LEAF, LEAST, combine, fill, inner


@inner
def add_up(data, rows, total):
    for v in range(len(total)):
        total[v] = 0
    for r in rows:
        for v in range(len(total)):
            total[v] += data.values[r, v]


@inner
def evaluate_two_actions(P, Q, subtract, total, F, leaf, split, infinity, column, sides):
    """`kernels.evaluate` for two actions without a minimum leaf size, of P or of P - Q, in one
    pass.
    """
    T = P.dtype.type
    width = sides.shape[1]
    zero = T(0)
    fill(column, zero)
    for j in range(F):
        column[j] = T(P[j, j] - Q[j, j]) if subtract else P[j, j]
    for j in range(width):
        sides[0, j] = min(zero, T(total - column[j]))
        sides[2, j] = min(zero, column[j])
    fill(sides[1], infinity)
    fill(sides[3], infinity)
    for i in range(F):
        j0 = i - i % LANES
        low0, low1 = row_two_actions(
            P[i, j0:],
            Q[i, j0:],
            subtract,
            total,
            column[i],
            column[j0:],
            split[j0:],
            split[i],
            infinity,
            sides[1, j0:],
            sides[3, j0:],
        )
        sides[1, i] = min(sides[1, i], low0)
        sides[3, i] = min(sides[3, i], low1)
    for j in range(width):
        sides[0, j] += leaf
        sides[2, j] += leaf
        sides[1, j] += 2 * leaf
        sides[3, j] += 2 * leaf


@inner
def row_two_actions(p, q, subtract, total, own, column, split, cost, infinity, left, right):
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


@inner
def both_sides(data, room, P, Q, subtract, total, sides):
    """Both sides of every root test as a leaf and with one split, from the pair sums P or P - Q
    (which `room.rest` then holds).
    """
    F, least = data.numbers[F_], data.numbers[LEAST]
    T = P.dtype.type
    leaf, infinity = T(data.numbers[LEAF]), T(data.numbers[INF])
    if P.shape[0] == 1:
        evaluate_two_actions(
            P[0], Q[0], subtract, total[0], F, leaf, data.split, infinity, room.column[0], sides
        )
        return
    if subtract:
        for v in range(P.shape[0]):
            for i in range(F):
                difference(room.rest[v, i], P[v, i], Q[v, i])
        evaluate(
            room.rest, total, F, leaf, data.split, T(least), infinity, room.column, room.cell, sides
        )
    else:
        evaluate(P, total, F, leaf, data.split, T(least), infinity, room.column, room.cell, sides)


@inner
def difference(out, a, b):
    T = out.dtype.type
    for j in range(len(out)):
        out[j] = T(a[j] - b[j])


@inner
def leaf_value(data, total):
    least = data.numbers[LEAST]
    V = len(total) - (1 if least > 1 else 0)
    if least > 1 and total[V] < least:
        return np.int64(data.numbers[INF])
    low = np.int64(0)
    for v in range(V):
        low = min(low, np.int64(total[v]))
    return low + data.numbers[LEAF]


@inner
def front_two(data, sides, single, first, out):
    """Best values of depth two with at most 1, 2, 3, 4 leaves into out[1:5], the regret `first` of
    the first action added.
    """
    two = three = four = np.int64(BIG)
    for f in range(data.numbers[F_]):
        cost = np.int64(data.split[f])
        a, b, c, d = (
            np.int64(sides[0, f]),
            np.int64(sides[1, f]),
            np.int64(sides[2, f]),
            np.int64(sides[3, f]),
        )
        two = min(two, a + c + cost)
        three = min(three, min(a + d, b + c) + cost)
        four = min(four, b + d + cost)
    out[1] = single + first
    out[2] = min(out[1], two + first)
    out[3] = min(out[2], three + first)
    out[4] = min(out[3], four + first)


@njit(cache=True)
def two(data, room, rows, P, total, most, value, test, left):
    """Best trees of depth two of a set of rows with at most 1, …, `most` (up to 4) leaves, and
    their root tests.
    """
    F = data.numbers[F_]
    add_up(data, rows, total)
    all_rows = np.int64(0)
    for r in rows:
        all_rows += data.first[r]
    fill(value, leaf_value(data, total) + all_rows)
    if most < 2:
        return
    pair_sums(
        data.X, rows, data.starts, data.coef, data.values, F, P, room.packed, room.count, room.wide
    )
    both_sides(data, room, P, P, np.int64(0), total, room.sides)
    upper = np.empty((2, 5), dtype=np.int64)
    for f in range(F):
        for side in range(2):
            upper[side, 1] = np.int64(room.sides[2 * side, f]) + (all_rows if side else 0)
            upper[side, 2] = min(
                upper[side, 1], np.int64(room.sides[2 * side + 1, f]) + (all_rows if side else 0)
            )
        combine(upper[0], upper[1], np.int64(data.split[f]), f, most, 2, value, test, left)
    for k in range(most + 1, 5):
        value[k], test[k], left[k] = value[most], test[most], left[most]
