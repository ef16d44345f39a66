"""Compiled work on one set of rows: its sums and its best trees of depth one and two. Loads numba.

`load` counts all pairs of tests on a node; `pair` then gives the best trees of depth two on both
sides of a test by counting only the smaller side, because the other side's sums are the difference
(Demirović et al. 2022, *MurTree*). Values include the regret of the first action.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"
# Types of compiled functions are inferred by numba.

# Long lists of names stay on few lines.
# ruff: isort: skip_file

import numpy as np
from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones

from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import (
    INFINITY,
)
from milp_trees.engines.dp.memory import look_up, store
from milp_trees.engines.dp.bins import sum_by_bins
from milp_trees.engines.dp.pair_counts import COUNT, EVALUATE, GATHER, HASH, PACK
from milp_trees.common.compiling.vectors import bits_double, call, call_two, double_bits, load_long
from milp_trees.engines.dp.words import children, clear, copy, count, lowest, subtract


@kernel(allocates=False)
def sums(data, bits, out):
    """Sums of values, masses and regrets of the first action over a set."""
    clear(out)
    if data.by_row:
        for w in range(len(bits)):
            word = bits[w]
            while word:
                r = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                for u in range(len(out)):
                    out[u] += data.values[r, u]
    else:
        for g in range(data.n_groups):
            n = 0
            for w in range(data.group_range[g, 0], data.group_range[g, 1]):
                n += ones(bits[w] & data.group_bits[g, w])
            for u in range(len(out)):
                out[u] += n * data.group_values[g, u]


@kernel(allocates=False)
def leaf_units(data, total):
    """What the leaf function costs at some sums, without the constants of the rows."""
    return call_two(
        data.leaf_function, np.int64(total.ctypes.data), np.int64(data.parameters.ctypes.data)
    )


@kernel(allocates=False)
def leaf_value(data, total):
    """Cost of one leaf, or INFINITY if it is too small."""
    V = data.n_values
    for k in range(data.n_masses):
        if total[V + k] < data.least[k]:
            return INFINITY
    best = np.int64(0)
    if data.leaf_function:
        best = leaf_units(data, total)
    else:
        for v in range(V):
            best = min(best, total[v])
    return best + total[len(total) - 1] + data.leaf


@kernel(allocates=False)
def side_value(data, cost):
    """What SIDES says of a side, INFINITY where a leaf is too small."""
    return cost if cost < data.forbidden else np.int64(INFINITY)


@kernel(allocates=False)
def sums_by_test(data, bits, first, out):
    """out[k, f]: sum of column `first` + k over the rows of a set with test f true.

    The columns are those of values, masses and regret.
    """
    F = data.n_tests
    for k in range(len(out)):
        clear(out[k])
    if data.by_row:
        for w in range(len(bits)):
            word = bits[w]
            while word:
                r = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                for k in range(len(out)):
                    for f in range(F):
                        out[k, f] += data.values[r, first + k] * data.X[r, f]
        return
    for g in range(data.n_groups):
        some = False
        for k in range(len(out)):
            some = some or data.group_values[g, first + k] != 0
        if some:
            for f in range(F):
                n = 0
                for w in range(data.group_range[g, 0], data.group_range[g, 1]):
                    n += ones(bits[w] & data.group_bits[g, w] & data.tests[f, w])
                for k in range(len(out)):
                    out[k, f] += n * data.group_values[g, first + k]


@kernel(allocates=False)
def large_enough(data, total):
    for k in range(data.n_masses):  # noqa: SIM110 (numba compiles loops better)
        if total[data.n_values + k] < data.least[k]:
            return False
    return True


@kernel(allocates=False)
def best_one(data, bits, left, right, total):
    """Best tree of depth at most one: (value, test or -1). `left`, `right`, `total` are scratch."""
    sums(data, bits, total[0])
    best, test = leaf_value(data, total[0]), np.int64(-1)
    for f in range(data.n_tests):
        n = children(bits, data.tests[f], left, right)
        if n == 0:
            continue
        sums(data, right, total[1])
        subtract(total[0], total[1], total[2])
        value = leaf_value(data, total[1]) + leaf_value(data, total[2]) + data.split[f]
        if value < best:
            best, test = value, f
    return best, test


@kernel(allocates=False)
def _list_rows(data, work, bits):
    """Rows of a subset of the loaded node, by group, as places in the node; returns how many."""
    m = 0
    for g in range(data.n_counted):
        work.first[g] = m
        for w in range(data.group_range[g, 0], data.group_range[g, 1]):
            word = bits[w] & data.group_bits[g, w]
            while word:
                work.listed[m] = work.local[64 * w + lowest(word)]
                m += 1
                word &= word - np.uint64(1)
    work.first[data.n_counted] = m
    return m


@kernel(allocates=False)
def _count(data, work, bits, matrix):
    """Pair sums of a subset of the loaded node."""
    work.args[at.PAIRS] = matrix
    work.rows_counted += count(bits)
    if data.binned:
        sum_by_bins(data, work, bits, matrix)
    elif data.by_row:
        clear(work.mask)
        for w in range(len(bits)):
            word = bits[w]
            while word:
                r = work.local[64 * w + lowest(word)]
                work.mask[r >> 6] |= np.uint64(1) << np.uint64(r & 63)
                word &= word - np.uint64(1)
        call(work.kernels[GATHER], work.args.ctypes.data)
    else:
        _list_rows(data, work, bits)
        call(work.kernels[PACK], work.args.ctypes.data)
        call(work.kernels[COUNT], work.args.ctypes.data)


@kernel(allocates=False)
def _by_row(data, work, m):
    """Test bits and weighted tests of the loaded node, for sums row by row."""
    F, U = data.n_tests, data.n_values + data.n_masses
    words = (m + 63) // 64
    work.args[at.WORDS] = len(work.mask)
    for f in range(F):
        for w in range(words):
            work.test_bits[f, w] = 0
    clear(work.mask)
    for i in range(m):
        row = work.X[i]
        bit = np.uint64(1) << np.uint64(i & 63)
        for f in range(F):
            if row[f]:
                work.test_bits[f, i >> 6] |= bit
        for u in range(U):
            value = data.values[work.rows[i], u]
            if data.leaf_function:
                value = double_bits(value)
            if work.weighted_16.size:
                _weigh(work.weighted_16[u, i], row, np.int16(value))
            elif work.weighted_32.size:
                _weigh(work.weighted_32[u, i], row, np.int32(value))
            else:
                _weigh(work.weighted_64[u, i], row, value)


@kernel(allocates=False)
def _weigh(out, row, value):
    for f in range(len(row)):
        out[f] = value if row[f] else 0


@kernel(allocates=False)
def load(data, work, bits):
    """Prepare a node for `split`: its rows, its pair sums, and the results of EVALUATE on it."""
    m = 0
    for w in range(len(bits)):
        word = bits[w]
        while word:
            r = 64 * w + lowest(word)
            work.rows[m] = r
            work.local[r] = m
            copy(data.X[r], work.X[m])
            m += 1
            word &= word - np.uint64(1)
    work.loads += 1
    if data.by_row and not data.binned:
        _by_row(data, work, m)
    sums(data, bits, work.total[0])
    _count(data, work, bits, work.pairs[0])
    work.args[at.TOTALS] = work.totals[0]
    work.args[at.PARENT] = 0
    call(work.kernels[EVALUATE], work.args.ctypes.data)


@kernel(allocates=False)
def best_two(data, work, bits):
    """Load a node; value and root test (-1: a leaf) of its best tree of depth at most two."""
    load(data, work, bits)
    return _at_most_two(data, work.total[0], work.args[at.BEST], work.args[at.BEST_TEST])


@kernel(allocates=False)
def value_of_test(work, f):
    """Value of the best tree of depth two with a root test, which EVALUATE left in `per_test`."""
    return bits_double(load_long(np.int64(work.per_test_values.ctypes.data) + 8 * f))


@kernel(allocates=False)
def split(data, work, n, size):
    """Evaluate both sides of the loaded node in `work.sides`; the smaller one is counted.

    `size` is the number of rows of the node, n of them on the right. Returns the side that was
    counted (1: the right one), whose sums are then `work.total[1]`, or -1 if a side is too small.
    """
    small = 1 if 2 * n <= size or not work.smaller_counted else 0
    sums(data, work.sides[small], work.total[1])
    subtract(work.total[0], work.total[1], work.total[2])
    if not large_enough(data, work.total[1]) or not large_enough(data, work.total[2]):
        return np.int64(-1)
    work.calls += 1
    _count(data, work, work.sides[small], work.pairs[1])
    work.args[at.TOTALS] = work.totals[1]
    work.args[at.PARENT] = work.pairs[0]
    work.args[at.PARENT_TOTALS] = work.totals[0]
    call(work.kernels[EVALUATE], work.args.ctypes.data)
    return np.int64(small)


@kernel(allocates=False)
def hash_children(data, work, bits, out):
    """Keys of both sides of every test: out[f] has two hashes of the left, two of the right."""
    work.args[at.SET] = bits.ctypes.data
    work.args[at.HASHES] = out.ctypes.data
    call(work.kernels[HASH], work.args.ctypes.data)


@kernel(allocates=False)
def _at_most_two(data, total, best, test):
    """The better of a leaf and the best tree with two or three splits that a kernel found."""
    single = leaf_value(data, total)
    if best < data.forbidden and best + total[len(total) - 1] < single:
        return best + total[len(total) - 1], test
    return single, np.int64(-1)


@kernel(allocates=False)
def pair(data, work, table, bits, f, goal):
    """Best trees of depth two on both sides of a test of the loaded node, in `work.value`.

    Returns False if a side is too small, or if one side is known to cost too much for a sum below
    `goal`.
    """
    left, right = work.sides[0], work.sides[1]
    n = children(bits, data.tests[f], left, right)
    size = 0
    for w in range(len(bits)):
        size += ones(bits[w])
    if n == 0 or n == size:
        return False
    h = work.hashes[f]
    known_left = known_right = False
    if work.cache_two:
        known_left, a, _, i = look_up(table, h[0], h[1], 2)
        known_right, b, _, j = look_up(table, h[2], h[3], 2)
        if known_left:
            work.value[0, 0], work.value[0, 1] = a, i
        if known_right:
            work.value[1, 0], work.value[1, 1] = b, j
        if known_left or known_right:
            work.hits_two += 1
        if known_left and known_right:
            return True
        cost = data.split[f] + data.leaf
        if (known_left and a + cost >= goal) or (known_right and b + cost >= goal):
            return False
    small = split(data, work, n, size)
    if small < 0:
        return False
    v, t = _at_most_two(data, work.total[1], work.args[at.BEST], work.args[at.BEST_TEST])
    work.value[small, 0], work.value[small, 1] = v, t
    v, t = _at_most_two(data, work.total[2], work.args[at.REST], work.args[at.REST_TEST])
    work.value[1 - small, 0], work.value[1 - small, 1] = v, t
    if work.cache_two:
        if not known_left:
            store(table, h[0], h[1], 2, work.value[0, 0], True, work.value[0, 1])
        if not known_right:
            store(table, h[2], h[3], 2, work.value[1, 0], True, work.value[1, 1])
    return True
