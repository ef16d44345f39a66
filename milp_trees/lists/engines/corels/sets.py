"""Compiled operations on sets of rows and on the queue. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel

_LOW = np.int64(2**32 - 1)


@kernel(allocates=False)
def _sum_of(table, begin, x):
    """Sum over the rows of one word of a set; its first byte has its sums from `begin` on."""
    total, byte = np.int64(0), np.uint64(255)
    for b in range(8):
        total += table[begin + np.uint64(256 * b) + ((x >> np.uint64(8 * b)) & byte)]
    return total


@kernel(allocates=False)
def add_up(tables, rows, packed, sums):
    """Sums of all amounts over a set of rows."""
    for w in range(tables.shape[0]):
        table, total = tables[w], np.int64(0)
        for q in range(len(rows)):
            if rows[q]:
                total += _sum_of(table, np.uint64(2048 * q), rows[q])
        if packed:
            sums[2 * w] = total & _LOW
            sums[2 * w + 1] = total >> 32
        else:
            sums[w] = total


@kernel(allocates=False)
def add_up_each(columns, tables, rows, candidates, packed, sums):
    """Sums of all amounts over the rows of a set in which each candidate is true.

    This is where a search spends its time, so it takes arrays alone, and those it needs.
    """
    n = len(rows)
    for c in range(len(candidates)):
        column = columns[candidates[c]]
        for w in range(tables.shape[0]):
            table, total = tables[w], np.int64(0)
            for q in range(n):
                x = rows[q] & column[q]
                if x:
                    total += _sum_of(table, np.uint64(2048 * q), x)
            if packed:
                sums[c, 2 * w] = total & _LOW
                sums[c, 2 * w + 1] = total >> 32
            else:
                sums[c, w] = total


@kernel(allocates=False)
def rest_of(instance, trie, node, rows):
    """The rows that a prefix does not capture; False if it or a part of it is dominated."""
    for q in range(len(rows)):
        rows[q] = instance.full[q]
    alive = True
    while node > 0:
        if trie.dead[node]:
            alive = False
        column = instance.columns[trie.antecedent[node]]
        for q in range(len(rows)):
            rows[q] &= ~column[q]
        node = trie.parent[node]
    return alive


@kernel(allocates=False)
def _before(queue, bound, i, j):
    """Whether place i of the queue comes before place j: key, then bound, then number."""
    if queue.key[i] != queue.key[j]:
        return queue.key[i] < queue.key[j]
    a, b = queue.prefix[i], queue.prefix[j]
    return bound[a] < bound[b] or (bound[a] == bound[b] and a < b)


@kernel(allocates=False)
def _swap(queue, i, j):
    queue.key[i], queue.key[j] = queue.key[j], queue.key[i]
    queue.prefix[i], queue.prefix[j] = queue.prefix[j], queue.prefix[i]


@kernel(allocates=False)
def push(queue, bound, size, key, node):
    """Put a prefix into a queue of `size` prefixes."""
    queue.key[size], queue.prefix[size] = key, node
    i = size
    while i > 0 and _before(queue, bound, i, (i - 1) >> 1):
        _swap(queue, i, (i - 1) >> 1)
        i = (i - 1) >> 1


@kernel(allocates=False)
def sink(queue, bound, size, i):
    """Restore the order below place i."""
    while 2 * i + 1 < size:
        j = 2 * i + 1
        if j + 1 < size and _before(queue, bound, j + 1, j):
            j += 1
        if not _before(queue, bound, j, i):
            return
        _swap(queue, i, j)
        i = j


@kernel(allocates=False)
def pop(queue, bound, size):
    """Take the first prefix out of a queue of `size` prefixes."""
    node = queue.prefix[0]
    queue.key[0], queue.prefix[0] = queue.key[size - 1], queue.prefix[size - 1]
    sink(queue, bound, size - 1, 0)
    return node
