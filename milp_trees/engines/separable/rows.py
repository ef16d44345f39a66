"""Sets of rows as bit strings, and sums of statistics for all pairs of tests. Loads numba.

Rows with equal statistics form a group, and a group fills whole words, so a sum is a population
count times the statistics of the group.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones
from milp_trees.tasks.grouping import equal_rows, packed_columns
from milp_trees.tasks.states_view import States


class Bits(NamedTuple):
    """All rows of a view.

    Parameters
    ----------
    tests : uint64 array of shape (W, F)
        Rows on which each test is true, by words.
    root : uint64 array of shape (W,)
        All rows.
    sums : int64 array of shape (W, 1 + S)
        What a row of each word adds to the sums of a state.
    """

    tests: np.ndarray
    root: np.ndarray
    sums: np.ndarray


def pack(view: States) -> tuple[States, Bits]:
    """The view after presolve, and its bit strings; rows are merged if that makes fewer words."""
    small = view.reduce()
    features = [view.index[t] for t in small.features]
    large = replace(view, X=np.ascontiguousarray(view.X[:, features]), features=small.features)
    return min(((one, _pack(one)) for one in (large, small)), key=lambda pair: len(pair[1].root))


def _pack(view: States) -> Bits:
    sums = view.sums
    first, group = equal_rows(sums)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=len(first))
    words = -(-sizes // 64)
    begins = np.cumsum(words) - words
    slot = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slot += np.repeat(begins, sizes) * 64
    filled = np.zeros((int(words.sum()) * 64, view.n_features + 1), dtype=np.uint8)
    filled[slot, :-1] = view.X[order]
    filled[slot, -1] = 1
    bits = packed_columns(filled)
    return Bits(
        np.ascontiguousarray(bits[:-1].T), bits[-1].copy(), np.repeat(sums[first], words, axis=0)
    )


@kernel
def state_sums(rows, sums):
    """Sums of a state, shape (1 + S,)."""
    out = np.zeros(sums.shape[1], dtype=np.int64)
    for w in range(len(rows)):
        number = np.int64(ones(rows[w]))
        if number:
            for s in range(sums.shape[1]):
                out[s] += number * sums[w, s]
    return out


@kernel
def side_sums(rows, tests, sums):
    """Sums of the rows of a state on which each test is true, shape (1 + S, F)."""
    F, S = tests.shape[1], sums.shape[1]
    out, counts = np.zeros((S, F), dtype=np.int64), np.zeros(F, dtype=np.int64)
    for w in range(len(rows)):
        word = rows[w]
        if word:
            for f in range(F):
                counts[f] = np.int64(ones(word & tests[w, f]))
            for s in range(S):
                if sums[w, s]:
                    for f in range(F):
                        out[s, f] += sums[w, s] * counts[f]
    return out


@kernel
def pair_sums(rows, tests, sums):
    """Sums of the rows on which both tests of a pair are true, shape (1 + S, F, F)."""
    F, S = tests.shape[1], sums.shape[1]
    out = np.zeros((S, F, F), dtype=np.int64)
    counts = np.zeros((F, F), dtype=np.int64)
    w, W = 0, len(rows)
    while w < W:
        # Words of one group are counted together before they are multiplied.
        end = w
        found = False
        while end < W and (end == w or (sums[end] == sums[w]).all()):
            word = rows[end]
            if word:
                found = True
                for f in range(F):
                    both = word & tests[end, f]
                    if both:
                        for g in range(f, F):
                            counts[f, g] += np.int64(ones(both & tests[end, g]))
            end += 1
        if found:
            for s in range(S):
                if sums[w, s]:
                    for f in range(F):
                        for g in range(f, F):
                            out[s, f, g] += sums[w, s] * counts[f, g]
            counts[:] = 0
        w = end
    for s in range(S):
        for f in range(F):
            for g in range(f):
                out[s, f, g] = out[s, g, f]
    return out


def warm_up() -> None:
    """Call every kernel once, so that it is compiled."""
    rows, tests = np.ones(1, dtype=np.uint64), np.ones((1, 1), dtype=np.uint64)
    sums = np.ones((1, 2), dtype=np.int64)
    state_sums(rows, sums)
    side_sums(rows, tests, sums)
    pair_sums(rows, tests, sums)
