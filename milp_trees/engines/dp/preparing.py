"""Compiled preparation of a search: rows relative to the first action, their groups, and bit sets.

Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.contexts import ContextType, context_at, fields
from milp_trees.engines.dp.layouts import data_at

#: Powers of two up to which a column is written as a sum of planes.
MOST_BITS = 16

#: What `measure` reads: every_row: whether rows without influence are kept; n_keys: leading columns by which rows are grouped; costs (n, K), masses (n, M).
#: What it writes, for n_kept rows in n_groups groups: kept (n,): their numbers; vectors (n, U + 1):
#: values, masses, regret of the first action; best, most (n,): the cheapest action and the largest
#: regret; of (n,): the group of every row, numbered by first row; first, sizes (n,): first row and
#: number of rows of every group; slots: more than 2 n entries, a power of two; all begin with 0; gain
#: (U + 1,): sums of positive entries of the vectors; total (U + 1,): sums of absolute values as
#: floats, to be tested for overflow before anything else is used.
ROWS = ContextType(
    "Rows",
    fields(
        "every_row:fixed n_keys:fixed n_kept n_groups costs:int64:2 masses:int64:2"
        " kept:int64:1 vectors:int64:2 best:int64:1 most:int64:1 of:int64:1 first:int64:1"
        " sizes:int64:1 slots:int64:1 gain:int64:1 total:float64:1"
    ),
)

#: What `fill` reads beside the rows: given (n, F): the tests on all rows of the view; position
#: (n_kept,): of every kept row in the sets; rank: new number of every group; planes (G, 4): column,
#: divisor, bit and sign of every group, without rows if rows are grouped by equal vectors. What it
#: writes: test_bytes (F, 8 W): the sets of the tests; eight (S,): scratch.
PLACES = ContextType(
    "Places",
    fields(
        "given:uint8:2 position:int64:1 rank:int64:1 planes:int64:2 test_bytes:uint8:2"
        " eight:uint8:1"
    ),
)

rows_at, places_at = context_at(ROWS), context_at(PLACES)


@kernel(nogil=True, allocates=False)
def measure(rows_address):
    """Vectors of the rows that matter, and their groups (`ROWS`)."""
    p = rows_at(rows_address)
    n_rows, K = p.costs.shape
    M, U = p.masses.shape[1], p.vectors.shape[1] - 1
    V = U - M
    kept = 0
    for i in range(n_rows):
        base, best, most = p.costs[i, 0], 0, p.costs[i, 0]
        for k in range(1, K):
            c = p.costs[i, k]
            if c < base:
                base, best = c, k
            most = max(most, c)
        if most == base and not p.every_row:
            continue
        vector = p.vectors[kept]
        for k in range(V):
            vector[k] = (p.costs[i, k + 1] - p.costs[i, 0]) if K > 1 else 0
        for k in range(M):
            vector[V + k] = p.masses[i, k]
        vector[U] = p.costs[i, 0] - base
        for u in range(U + 1):
            if vector[u] > 0:
                p.gain[u] += vector[u]
        for k in range(V):
            if K > 1:
                p.total[k] += abs(float(p.costs[i, k + 1]) - float(p.costs[i, 0]))
        for k in range(M):
            p.total[V + k] += p.masses[i, k]
        p.total[U] += float(p.costs[i, 0]) - float(base)
        p.kept[kept], p.best[kept], p.most[kept] = i, best, (most - base)
        kept += 1
    p.n_kept = kept
    _group(p, kept)


@kernel(allocates=False)
def _group(p, n):
    """Number the rows by equal vectors."""
    mask, groups = len(p.slots) - 1, 0
    for i in range(n):
        h = np.uint64(0)
        for u in range(p.n_keys):
            h = (h ^ np.uint64(p.vectors[i, u])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(32)
        slot = np.int64(h & np.uint64(mask))
        while p.slots[slot] > 0 and not _equal(p, i, p.first[p.slots[slot] - 1]):
            slot = (slot + 1) & mask
        if p.slots[slot] == 0:
            p.first[groups] = i
            groups += 1
            p.slots[slot] = groups
        p.of[i] = p.slots[slot] - 1
        p.sizes[p.of[i]] += 1
    p.n_groups = groups


@kernel(allocates=False)
def _equal(p, i, k):
    for u in range(p.n_keys):  # noqa: SIM110 (numba compiles loops better)
        if p.vectors[i, u] != p.vectors[k, u]:
            return False
    return True


@kernel(nogil=True, allocates=False)
def plane_sizes(rows_address, divisor, sizes):
    """Rows with each power of two in a column divided by its greatest common divisor.

    Writes the divisor of every column (0: only zeros), and `sizes[column, bit, sign]` with sign 1
    for negative numbers. Returns False if a column has larger numbers than planes are made for.
    """
    p = rows_at(rows_address)
    for u in range(p.vectors.shape[1]):
        g, most = np.int64(0), np.int64(0)
        for i in range(p.n_kept):
            a, b = abs(p.vectors[i, u]), g
            most = max(most, a)
            while a:
                a, b = b % a, a
            g = b
        divisor[u] = g
        if g == 0:
            continue
        if most // g >> MOST_BITS:
            return False
        for i in range(p.n_kept):
            x = p.vectors[i, u]
            size, bit = abs(x) // g, 0
            while size:
                if size & 1:
                    sizes[u, bit, np.int64(x < 0)] += 1
                size >>= 1
                bit += 1
    return True


@kernel(nogil=True, allocates=False)
def order_rows(of, rank, begin, position):
    """Places of rows: those of a group follow each other, from where the group begins."""
    for i in range(len(position)):
        g = rank[of[i]]
        position[i] = begin[g]
        begin[g] += 1


@kernel(nogil=True, allocates=False)
def fill(data_address, rows_address, places_address):
    """Write the tests, costs and groups of the kept rows to their places in the record `DATA`."""
    data, p, q = data_at(data_address), rows_at(rows_address), places_at(places_address)
    F, one = data.n_tests, np.uint64(1)
    for i in range(p.n_kept):
        r, row = q.position[i], p.kept[i]
        for f in range(F):
            data.X[r, f] = q.given[row, f]
        for u in range(p.vectors.shape[1]):
            data.values[r, u] = p.vectors[i, u]
        data.best[r], data.most[r] = p.best[i], p.most[i]
        word = r >> 6
        data.heavy[word] = max(data.heavy[word], p.most[i])
        data.everything[word] |= one << np.uint64(r & 63)
        if data.n_groups and len(q.planes) == 0:
            _join(data, q.rank[p.of[i]], r)
        for g in range(len(q.planes)):
            x, divisor = p.vectors[i, q.planes[g, 0]], q.planes[g, 1]
            if (x < 0) == (q.planes[g, 3] < 0) and abs(x) // divisor >> q.planes[g, 2] & 1:
                _join(data, g, r)
    _transpose(data.X, q.test_bytes, q.eight)


@kernel(allocates=False)
def _join(data, g, r):
    """Make a row a member of a group."""
    word = r >> 6
    if data.group_range[g, 1] == 0:
        data.group_range[g, 0], data.group_range[g, 1] = word, word + 1
    data.group_range[g, 0] = min(data.group_range[g, 0], word)
    data.group_range[g, 1] = max(data.group_range[g, 1], word + 1)
    data.group_bits[g, word] |= np.uint64(1) << np.uint64(r & 63)


@kernel(allocates=False)
def _transpose(X, sets, eight):
    """Columns of 0 and 1 as bits: eight rows of bytes become one, which is doubled in between."""
    for k in range(sets.shape[1]):
        for f in range(len(eight)):
            eight[f] = X[8 * k + 7, f]
        for b in range(6, -1, -1):
            for f in range(len(eight)):
                eight[f] += eight[f] + X[8 * k + b, f]
        for f in range(len(sets)):
            sets[f, k] = eight[f]
