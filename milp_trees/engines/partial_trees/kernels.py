"""Compiled inner loops of `partial-trees`. Loads numba.

A set of rows is a bit string: words of positive rows, then words of negative rows. A *curve* is a
concave chain of steps (p, q), p positives up and q negatives to the right, by falling slope p / q;
a leaf is one step. All arithmetic is in 64-bit integers, except for the fraction of a cut step. It
is below 1, and its denominator is at most the number of negatives, so doubles order such fractions
exactly.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones


@kernel
def count(a, b, first, last):
    """Number of rows in both sets, over some words."""
    total = np.int64(0)
    for w in range(first, last):
        total += np.int64(ones(a[w] & b[w]))
    return total


@kernel
def side_counts(rows, tests, ups):
    """Positives and negatives of a set for which each test is true.

    The first `ups` words hold positives.
    """
    out = np.empty((len(tests), 2), dtype=np.int64)
    for f in range(len(tests)):
        out[f, 0] = count(rows, tests[f], 0, ups)
        out[f, 1] = count(rows, tests[f], ups, len(rows))
    return out


@kernel(nogil=True)
def pair_counts(rows, tests, ups, stop):
    """Positives and negatives of a set for which both tests of a pair are true.

    As all kernels that take long, it ends soon once the first byte of `stop` is not 0; its value is
    not used then.
    """
    F = len(tests)
    out = np.empty((F, F, 2), dtype=np.int64)
    both = np.empty_like(rows)
    for f in range(F):
        if stop[0]:
            return out
        for w in range(len(rows)):
            both[w] = rows[w] & tests[f, w]
        for g in range(f, F):
            for c, first, last in ((0, 0, ups), (1, ups, len(rows))):
                out[f, g, c] = out[g, f, c] = count(both, tests[g], first, last)
    return out


@kernel
def hull(xs, ys, n, p, q):
    """Steps of the concave hull of (0, 0), (q, p) and points above the line between them.

    The points are the n first (x, y) = (negatives, positives).
    """
    keys = np.empty(n, dtype=np.int64)
    for i in range(n):
        keys[i] = xs[i] * np.int64(p + 1) + ys[i]
    order = np.argsort(keys, kind="mergesort")
    hx, hy = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2, dtype=np.int64)
    m = 1
    for k in range(n + 1):
        x, y = (xs[order[k]], ys[order[k]]) if k < n else (q, p)
        while m > 1 and (hx[m - 1] - hx[m - 2]) * (y - hy[m - 2]) >= (hy[m - 1] - hy[m - 2]) * (
            x - hx[m - 2]
        ):
            m -= 1
        hx[m], hy[m] = x, y
        m += 1
    out = np.empty((m - 1, 2), dtype=np.int64)
    steps = 0
    for k in range(1, m):
        up, right = hy[k] - hy[k - 1], hx[k] - hx[k - 1]
        if up or right:
            out[steps, 0], out[steps, 1] = up, right
            steps += 1
    return out[:steps]


@kernel
def corner(pf, qf, p, q, least):
    """The point above the diagonal that a split of (p, q) with the side (pf, qf) reaches.

    A point is (negatives, positives); (-1, -1) if there is none.
    """
    if pf + qf < least or p + q - pf - qf < least:
        return np.int64(-1), np.int64(-1)
    over = pf * q - p * qf
    if over == 0:
        return np.int64(-1), np.int64(-1)
    return (qf, pf) if over > 0 else (q - qf, p - pf)


@kernel
def one_split(sides, p, q, least):
    """The curve around all splits of a set into two leaves.

    `sides` has the counts of one side of every test.
    """
    xs, ys = np.empty(len(sides), dtype=np.int64), np.empty(len(sides), dtype=np.int64)
    n = 0
    for f in range(len(sides)):
        x, y = corner(sides[f, 0], sides[f, 1], p, q, least)
        if x >= 0:
            xs[n], ys[n] = x, y
            n += 1
    return hull(xs, ys, n, p, q)


@kernel(nogil=True)
def undominated(sides, p, q, least, stop):
    """Tests whose two leaves are not worse in every tree than the two leaves of another test.

    A test is left out if its corner lies in the triangle of another test's corner.
    """
    F = len(sides)
    xs, ys = np.empty(F, dtype=np.int64), np.empty(F, dtype=np.int64)
    for f in range(F):
        xs[f], ys[f] = corner(sides[f, 0], sides[f, 1], p, q, least)
    out = np.empty(F, dtype=np.int64)
    n = 0
    for f in range(F):
        if stop[0]:
            break
        x, y = xs[f], ys[f]
        keep = x >= 0
        for g in range(F):
            X, Y = xs[g], ys[g]
            if (
                keep
                and g != f
                and X >= 0
                and y * X <= Y * x
                and (p - y) * (q - X) >= (p - Y) * (q - x)
            ):
                keep = (x == X and y == Y) and f < g
        if keep:
            out[n] = f
            n += 1
    return out[:n]


@kernel
def merge(a, b):
    """Merge two curves: the steps of both by falling slope."""
    out = np.empty((len(a) + len(b), 2), dtype=np.int64)
    i = j = 0
    for k in range(len(out)):
        if j == len(b) or (i < len(a) and a[i, 0] * b[j, 1] >= b[j, 0] * a[i, 1]):
            out[k, 0], out[k, 1] = a[i, 0], a[i, 1]
            i += 1
        else:
            out[k, 0], out[k, 1] = b[j, 0], b[j, 1]
            j += 1
    return out


@kernel
def _add_points(curve, xs, ys, n):
    """Add the points between the steps of a curve."""
    x = y = np.int64(0)
    for k in range(len(curve) - 1):
        y += curve[k, 0]
        x += curve[k, 1]
        xs[n], ys[n] = x, y
        n += 1
    return n


@kernel
def hull_of_curves(steps, starts, p, q):
    """The curve around curves of the same set; curve i is steps[starts[i]:starts[i + 1]]."""
    xs, ys = np.empty(len(steps), dtype=np.int64), np.empty(len(steps), dtype=np.int64)
    n = 0
    for i in range(len(starts) - 1):
        n = _add_points(steps[starts[i] : starts[i + 1]], xs, ys, n)
    return hull(xs, ys, n, p, q)


@kernel(nogil=True)
def two_levels(pairs, p, q, least, stop):
    """The curve around all trees of depth two on a set.

    It is made from the counts of all pairs of tests; it is the hull of the sums of both sides'
    curves.
    """
    F = len(pairs)
    xs, ys = np.empty(2 * F * (F + 1), dtype=np.int64), np.empty(2 * F * (F + 1), dtype=np.int64)
    n = 0
    rest = np.empty((F, 2), dtype=np.int64)
    for f in range(F):
        if stop[0]:
            return rest
        pf, qf = pairs[f, f, 0], pairs[f, f, 1]
        if pf + qf < least or p + q - pf - qf < least:
            continue
        for g in range(F):
            rest[g, 0], rest[g, 1] = (
                pairs[g, g, 0] - pairs[f, g, 0],
                pairs[g, g, 1] - pairs[f, g, 1],
            )
        both = merge(one_split(pairs[f], pf, qf, least), one_split(rest, p - pf, q - qf, least))
        n = _add_points(both, xs, ys, n)
    return hull(xs, ys, n, p, q)


@kernel
def group_counts(rows, group, ups, n_groups):
    """Positives and negatives of a set per group of equal rows; `group` has an entry per bit."""
    out = np.zeros((n_groups, 2), dtype=np.int64)
    for w in range(len(rows)):
        word = rows[w]
        side = 0 if w < ups else 1
        while word:
            low = word & (~word + np.uint64(1))
            out[group[64 * w + np.int64(ones(low - np.uint64(1)))], side] += 1
            word ^= low
    return out


@kernel
def by_slope(steps):
    """Steps sorted by falling slope, without empty ones."""
    keys = np.empty(len(steps), dtype=np.float64)
    n = 0
    for i in range(len(steps)):
        total = steps[i, 0] + steps[i, 1]
        n += total > 0
        keys[i] = -steps[i, 0] / total if total else np.inf
    return steps[np.argsort(keys, kind="mergesort")[:n]]


@kernel
def areas(others, steps, starts, scale):
    """Area in units, as whole part and fraction, of curves that are each merged with `others`.

    `scale` holds b, a N⁻ and m: the width θ N⁻ in steps of 1/b, and the multiplier (see
    `LeafCounts`).
    """
    b, width, m = scale[0], scale[1], scale[2]
    whole, fraction = (
        np.empty(len(starts) - 1, dtype=np.int64),
        np.zeros(len(starts) - 1, dtype=np.float64),
    )
    for k in range(len(starts) - 1):
        i, j, last = 0, starts[k], starts[k + 1]
        area = x = y = np.int64(0)
        while i < len(others) or j < last:
            if j == last or (
                i < len(others) and others[i, 0] * steps[j, 1] >= steps[j, 0] * others[i, 1]
            ):
                p, q = others[i, 0], others[i, 1]
                i += 1
            else:
                p, q = steps[j, 0], steps[j, 1]
                j += 1
            if b * (x + q) > width:
                left = width - b * x
                over = m * left * left * p
                area += m * 2 * y * left * b + over // q
                fraction[k] = (over % q) / q
                break
            area += m * b * b * q * (2 * y + p)
            x += q
            y += p
        whole[k] = area
    return whole, fraction


@kernel
def spread(curve):
    """Twice the area between a curve and its diagonal: the largest gain of splitting."""
    area = x = y = np.int64(0)
    for k in range(len(curve)):
        area += curve[k, 1] * (2 * y + curve[k, 0])
        x += curve[k, 1]
        y += curve[k, 0]
    return area - x * y


@kernel
def keep_best(whole, fraction, room, w, f, further, last, best, best_fraction, penalty):
    """Enter the units (w, f) of a choice with so many further leaves.

    The best units so far are kept, and the largest number of leaves that may beat the incumbent.
    """
    for k in range(len(w)):
        if w[k] > whole[k] or (w[k] == whole[k] and f[k] > fraction[k]):
            whole[k], fraction[k] = w[k], f[k]
        if w[k] > best or (w[k] == best and f[k] > best_fraction):
            # More leaves than the last number of levels only cost more. The excess over the
            # incumbent, rounded up, limits how many of them may be paid.
            more = (w[k] - best + (f[k] > 0) - 1) // penalty if last else 0
            room[k] = max(room[k], further + max(more, 0))
