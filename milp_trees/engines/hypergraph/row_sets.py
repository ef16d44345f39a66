"""Compiled enumeration of states: sets of rows as bit strings, by levels. Loads numba.

The kernel works on as many states as its output arrays have room for, and returns where it stopped;
the caller makes more room and calls again. Complexity per state, for n rows and F tests: F n / 64.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel

_MULTIPLY = np.uint64(0xBF58476D1CE4E5B9)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_ONE = np.uint64(1)


@kernel
def _hash(words):
    h = _SEED
    for w in words:
        h = (h ^ w) * _MULTIPLY
        h ^= h >> _SHIFT
    return h


@kernel
def _same(a, b):
    w = 0
    while w < len(a) and a[w] == b[w]:
        w += 1
    return w == len(a)


@kernel
def _copy(source, target):
    """Copy a set. (Between arrays, `target[:] = source` is slow to compile.)"""
    for w in range(len(source)):
        target[w] = source[w]


@kernel
def _find(words, h, bits, hashes, table):
    """Position of a set in the hash table: of its entry, or of the free slot for it."""
    last = len(table) - 1
    slot = np.int64(h & np.uint64(last))
    while table[slot] >= 0 and not (hashes[table[slot]] == h and _same(bits[table[slot]], words)):
        slot = (slot + 1) & last
    return slot


@kernel
def rehash(hashes, n, table):
    """Fill an empty table with the first n sets, which are all different."""
    last = len(table) - 1
    for i in range(n):
        slot = np.int64(hashes[i] & np.uint64(last))
        while table[slot] >= 0:
            slot = (slot + 1) & last
        table[slot] = i


@kernel
def _too_small(words, amounts, least):
    """Whether a set holds less than `least` of the amounts of its rows."""
    total = 0
    for w in range(len(words)):
        word = words[w]
        base = 64 * w
        while word:
            if word & _ONE:
                total += amounts[base]
                if total >= least:
                    return False
            word >>= _ONE
            base += 1
    return True


@kernel
def _sides_too_small(right, left, amounts, least):
    """Whether one of two sides (not empty) holds too little of something that leaves need."""
    for m in range(len(least)):
        trivial = m + 1 == len(least) and least[m] == 1  # the last amount counts rows
        if not trivial and (
            _too_small(right, amounts[m], least[m]) or _too_small(left, amounts[m], least[m])
        ):
            return True
    return False


@kernel
def _contains_first(side, state):
    """Whether the state's first row is in a side of it.

    Of the two sides of every split exactly one contains it, so that side identifies the split.
    """
    for w in range(len(state)):
        if state[w]:
            return (side[w] & (state[w] & (~state[w] + _ONE))) != 0
    return False


@kernel
def _partitions(state, T, split, amounts, least, merge, sides, keys, tests):
    """Tests that split a state into two sides; returns their number.

    With `merge`, of equal or complementary tests only the cheapest is kept.
    """
    n = 0
    right, left = sides[len(tests)], sides[len(tests) + 1]
    for f in range(len(T)):
        any_right = any_left = np.uint64(0)
        for w in range(len(state)):
            right[w] = state[w] & T[f, w]
            left[w] = state[w] & ~T[f, w]
            any_right |= right[w]
            any_left |= left[w]
        if not any_right or not any_left:
            continue
        if _sides_too_small(right, left, amounts, least):
            continue
        if not merge:
            tests[n] = f
            n += 1
            continue
        side = right if _contains_first(right, state) else left
        h = _hash(side)
        known = -1
        for i in range(n):
            if keys[i] == h and _same(sides[i], side):
                known = i
                break
        if known < 0:
            keys[n] = h
            _copy(side, sides[n])
            tests[n] = f
            n += 1
        elif split[f] < split[tests[known]]:
            tests[known] = f
    return n


@kernel
def expand(
    level,
    closed,
    begin,
    T,
    split,
    amounts,
    least,
    merge,
    bits,
    hashes,
    table,
    n_sets,
    columns,
    n_columns,
):
    """Split the states from `begin` on by all tests into sets of the next level.

    With `merge`, of tests that divide a state in the same way only the cheapest is taken.

    Column c is (state, test, left, right).


    Returns the first state that is not done, the number of sets and the number of columns.
    """
    F, W = T.shape
    sides = np.empty((F + 2, W), dtype=np.uint64)
    keys = np.empty(F, dtype=np.uint64)
    tests = np.empty(F, dtype=np.int64)
    child = np.empty(W, dtype=np.uint64)
    for s in range(begin, len(level)):
        if (
            n_sets + 2 * F > len(bits)
            or 2 * (n_sets + 2 * F) > len(table)
            or n_columns + F > len(columns)
        ):
            return s, n_sets, n_columns
        if closed[s]:
            continue
        for i in range(_partitions(level[s], T, split, amounts, least, merge, sides, keys, tests)):
            f = tests[i]
            columns[n_columns, 0] = s
            columns[n_columns, 1] = f
            for side in range(2):
                for w in range(W):
                    child[w] = level[s, w] & (T[f, w] if side else ~T[f, w])
                h = _hash(child)
                slot = _find(child, h, bits, hashes, table)
                if table[slot] < 0:
                    table[slot] = n_sets
                    _copy(child, bits[n_sets])
                    hashes[n_sets] = h
                    n_sets += 1
                columns[n_columns, 2 + side] = table[slot]
            n_columns += 1
    return len(level), n_sets, n_columns
