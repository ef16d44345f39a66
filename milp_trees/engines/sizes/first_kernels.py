"""Compiled inner loops of the dynamic programme. Import this module only where it is used: it loads
numba.

Rows come sorted by group; all rows of a group have the same value vector. For a set of rows,
`pair_sums` computes for every pair of tests (i, j) the sum of the value vectors over the rows on
which both are true. From these sums alone `evaluate` knows the four cells of every pair of splits,
hence the best tree of depth two, and `search_three` the best tree of depth three, because one
child's sums are the parent's minus the other's.

Complexity for n rows, F tests and V values: `pair_sums` n F² / 16 byte operations with groups, n F²
V / 4 additions without; `evaluate` F² V; `search_three` F times both.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from typing import Any

import numpy as np

from milp_trees.compiling.inside import intrinsic, types
from milp_trees.compiling.kernels import njit

#: Tests are padded to a multiple of this many columns: one vector register of bytes.
LANES = 32
#: Slots of eight rows whose counts fit in a byte.
BLOCK = 31


@intrinsic
def _ones(typingctx: Any, byte: Any) -> Any:
    """Number of ones in a byte."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint8(types.uint8), codegen


# Loops over tests are functions of their own whose arguments are slices: only then does the
# compiler know that no index is negative, and vectorises them.


@njit(cache=True)
def _add_ones(count, byte, row):
    for j in range(len(count)):
        count[j] += _ones(np.uint8(byte & row[j]))


@njit(cache=True)
def _add_scaled(total, factor, count):
    T = total.dtype.type
    for j in range(len(total)):
        total[j] += T(factor * T(count[j]))


@njit(cache=True)
def _or_shifted(byte, row, shift):
    for j in range(len(byte)):
        byte[j] |= np.uint8(row[j] << shift)


@njit(cache=True)
def _add_masked(total, mask, value):
    for j in range(len(total)):
        total[j] += mask[j] & value


@njit(cache=True)
def _pack(X, rows, packed):
    """Eight rows per byte: packed[slot, test]; returns the number of slots."""
    slots = (len(rows) + 7) // 8
    for s in range(slots):
        byte = packed[s]
        byte[:] = 0
        for t in range(8 * s, min(8 * s + 8, len(rows))):
            _or_shifted(byte, X[rows[t]], np.uint8(t & 7))
    return slots


@njit(cache=True)
def _sum_by_count(X, rows, first, coef, F, P, packed, count):
    """Pair sums from the counts of each group; `first[g]` is where group g starts in `rows`."""
    for g in range(len(coef)):
        here = rows[first[g] : first[g + 1]]
        if len(here) == 0:
            continue
        slots = _pack(X, here, packed)
        for begin in range(0, slots, BLOCK):
            end = min(begin + BLOCK, slots)
            for i in range(F):
                j0 = i - i % LANES
                c = count[j0:]
                c[:] = 0
                for s in range(begin, end):
                    if packed[s, i]:
                        _add_ones(c, packed[s, i], packed[s, j0:])
                for v in range(coef.shape[1]):
                    if coef[g, v]:
                        _add_scaled(P[v, i, j0:], coef[g, v], c)


@njit(cache=True)
def _sum_by_row(X, rows, values, F, P, wide):
    """Pair sums row by row, for data with (nearly) as many value vectors as rows."""
    for r in rows:
        for j in range(len(wide)):
            wide[j] = -np.int64(X[r, j])
        for i in range(F):
            if X[r, i]:
                j0 = i - i % LANES
                for v in range(values.shape[1]):
                    if values[r, v]:
                        _add_masked(P[v, i, j0:], wide[j0:], values[r, v])


@njit(cache=True)
def pair_sums(X, rows, starts, coef, values, F, P, packed, count, wide):
    """Fill P[v, i, j] for j >= i with the sums of value v over the rows where tests i and j are
    true.

    `starts` are the first rows of the groups (none: sum row by row); `coef` their value vectors;
    `values` those of the rows.
    """
    P[:] = 0
    if len(coef) == 0:
        _sum_by_row(X, rows, values, F, P, wide)
    else:
        _sum_by_count(X, rows, np.searchsorted(rows, starts), coef, F, P, packed, count)


# Sums of 32-bit numbers are 64-bit in numba: `T(…)` takes them back, and a register holds twice as
# many.


@njit(cache=True)
def _lower_cells(c00, c01, c10, c11, total, own, other, both):
    """Lower the values of the four cells of the tests i (`own`) and j (`other`) to those of one
    more action.
    """
    T = both.dtype.type
    rest = T(total - own)
    for j in range(len(c00)):
        b = both[j]
        o = T(other[j] - b)
        c11[j] = min(c11[j], b)
        c10[j] = min(c10[j], T(own - b))
        c01[j] = min(c01[j], o)
        c00[j] = min(c00[j], T(rest - o))


@njit(cache=True)
def _forbid_small(c00, c01, c10, c11, total, own, other, both, least, infinity):
    """Cells with fewer than `least` rows cannot be leaves."""
    for j in range(len(c00)):
        b = both[j]
        o = other[j] - b
        c11[j] = infinity if b < least else c11[j]
        c10[j] = infinity if own - b < least else c10[j]
        c01[j] = infinity if o < least else c01[j]
        c00[j] = infinity if total - own - o < least else c00[j]


@njit(cache=True)
def _lowest_pair(a, b, extra):
    T = a.dtype.type
    low = T(a[0] + b[0] + extra[0])
    for j in range(1, len(a)):
        low = min(low, T(T(a[j] + b[j]) + extra[j]))
    return low


@njit(cache=True)
def _lower_to_pair(best, a, b, extra):
    T = best.dtype.type
    e = T(extra)
    for j in range(len(best)):
        best[j] = min(best[j], T(T(a[j] + b[j]) + e))


@njit(cache=True)
def evaluate(P, total, F, leaf, split, least, infinity, column, cell, sides):
    """Values of the two sides of every root test: sides[0 / 2] left / right as a leaf, sides[1 / 3]
    with one split.

    With several actions a leaf takes the smallest of 0 and its action sums; the constant that the
    first action costs is added by the caller. The last value vector holds row counts if `least` >
    1.
    """
    V = P.shape[0] - (1 if least > 1 else 0)
    for v in range(P.shape[0]):
        for j in range(F):
            column[v, j] = P[v, j, j]
        column[v, F:] = 0
    _leaf_sides(P.shape[0], V, total, column, leaf, least, infinity, sides)
    sides[1] = infinity
    sides[3] = infinity
    for i in range(F):
        j0 = i - i % LANES
        c00, c01, c10, c11 = cell[0, j0:], cell[1, j0:], cell[2, j0:], cell[3, j0:]
        cell[:] = 0
        for v in range(V):
            _lower_cells(c00, c01, c10, c11, total[v], column[v, i], column[v, j0:], P[v, i, j0:])
        if least > 1:
            _forbid_small(
                c00,
                c01,
                c10,
                c11,
                total[V],
                column[V, i],
                column[V, j0:],
                P[V, i, j0:],
                least,
                infinity,
            )
        extra = split[j0:]
        sides[1, i] = min(sides[1, i], _lowest_pair(c00, c01, extra) + 2 * leaf)
        sides[3, i] = min(sides[3, i], _lowest_pair(c10, c11, extra) + 2 * leaf)
        # The same cells with the roles of i and j exchanged: j at the root, i below.
        _lower_to_pair(sides[1, j0:], c00, c10, split[i] + 2 * leaf)
        _lower_to_pair(sides[3, j0:], c01, c11, split[i] + 2 * leaf)


@njit(cache=True)
def _leaf_sides(n_values, V, total, column, leaf, least, infinity, sides):
    for j in range(sides.shape[1]):
        left = right = total[0] - total[0]
        for v in range(V):
            right = min(right, column[v, j])
            left = min(left, total[v] - column[v, j])
        if n_values > V and column[V, j] < least:
            right = infinity - leaf
        if n_values > V and total[V] - column[V, j] < least:
            left = infinity - leaf
        sides[0, j] = left + leaf
        sides[2, j] = right + leaf


@njit(cache=True)
def root_leaf(total, leaf, least, infinity):
    """Value of one leaf on all rows."""
    V = len(total) - (1 if least > 1 else 0)
    if least > 1 and total[V] < least:
        return infinity
    best = total[0] - total[0]
    for v in range(V):
        best = min(best, total[v])
    return best + leaf


@njit(cache=True)
def front_two(sides, F, split, single, infinity, front, test, given):
    """Best trees of depth two with at most 1, 2, 3, 4 leaves; `given` is the number of leaves on
    the left.
    """
    front[:4] = infinity
    front[0] = single
    test[:4] = -1
    for f in range(F):
        _offer(front, test, given, 1, sides[0, f] + sides[2, f] + split[f], f, 1)
        _offer(front, test, given, 2, sides[0, f] + sides[3, f] + split[f], f, 1)
        _offer(front, test, given, 2, sides[1, f] + sides[2, f] + split[f], f, 2)
        _offer(front, test, given, 3, sides[1, f] + sides[3, f] + split[f], f, 2)
    _accumulate(front[:4], test, given)


@njit(cache=True)
def _offer(front, test, given, slot, value, f, left):
    if value < front[slot]:
        front[slot] = value
        test[slot] = f
        given[slot] = left


@njit(cache=True)
def _accumulate(front, test, given):
    """More leaves allowed are never worse."""
    for k in range(1, len(front)):
        if front[k] >= front[k - 1]:
            front[k] = front[k - 1]
            test[k] = test[k - 1]
            given[k] = given[k - 1]


@njit(cache=True)
def search_three(
    X,
    rows,
    starts,
    coef,
    values,
    F,
    P,
    total,
    order,
    leaf,
    split,
    least,
    infinity,
    limited,
    enough,
    front,
    test,
    given,
    room,
    packed,
    count,
    wide,
):
    """Try the root tests `order` of a tree of depth three and improve `front` (at most 1..8
    leaves), `test`, `given`.

    P and total are the sums of all rows. Only the smaller child is counted. Unless `limited` (the
    number of leaves matters), only the last entry of `front` is kept, and the search ends when it
    is at most `enough`. Values are relative to the first action.
    """
    Q, R, column, cell, sides = room
    child = np.empty(len(rows), dtype=rows.dtype)
    small_total = np.empty_like(total)
    large_total = np.empty_like(total)
    small_front = np.empty_like(front)
    large_front = np.empty_like(front)
    by = np.empty(8, dtype=np.int64)
    left = np.empty(8, dtype=np.int64)
    for f in order:
        ones = 0
        for r in rows:
            ones += X[r, f]
        if ones == 0 or ones == len(rows):
            continue
        true_is_small = 2 * ones <= len(rows)
        m = 0
        for r in rows:
            child[m] = r
            m += 1 if (X[r, f] == 1) == true_is_small else 0
        small = child[:m]
        for v in range(len(total)):
            small_total[v] = P[v, f, f] if true_is_small else total[v] - P[v, f, f]
            large_total[v] = total[v] - small_total[v]
        pair_sums(X, small, starts, coef, values, F, Q, packed, count, wide)
        evaluate(Q, small_total, F, leaf, split, least, infinity, column, cell, sides)
        front_two(
            sides,
            F,
            split,
            root_leaf(small_total, leaf, least, infinity),
            infinity,
            small_front,
            by,
            left,
        )
        for v in range(len(total)):
            for i in range(F):
                _difference(R[v, i], P[v, i], Q[v, i])
        evaluate(R, large_total, F, leaf, split, least, infinity, column, cell, sides)
        front_two(
            sides,
            F,
            split,
            root_leaf(large_total, leaf, least, infinity),
            infinity,
            large_front,
            by,
            left,
        )
        if true_is_small:
            _join(large_front, small_front, split[f], f, limited, front, test, given)
        else:
            _join(small_front, large_front, split[f], f, limited, front, test, given)
        if not limited and front[7] <= enough:
            return


@njit(cache=True)
def _difference(out, a, b):
    T = out.dtype.type
    for j in range(len(out)):
        out[j] = T(a[j] - b[j])


@njit(cache=True)
def _join(left, right, cost, f, limited, front, test, given):
    if limited:
        for a in range(4):
            for b in range(4):
                _offer(front, test, given, a + b + 1, left[a] + right[b] + cost, f, a + 1)
    else:
        _offer(front, test, given, 7, left[3] + right[3] + cost, f, 4)
