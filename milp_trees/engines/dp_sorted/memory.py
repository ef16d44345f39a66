"""Compiled memory of the search over sorted columns. Loads numba.

It consists of the stack, the cache of solved nodes, and the archive of sets for similarity bounds.
A node is a set of rows with the largest depth and number of leaves of its trees (0: as many as the
depth allows). In mode 0 leaves need no least amounts, in mode 1 they do.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,assignment"

from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel

#: Places in the cache that a key may take.
WAYS = 4
#: Fields of a level of the stack. The best tree so far costs UB; its root is COLUMN (-1: a leaf)
#: and BEST_CUT; of its sides, the low one has at most BEST_LEAVES leaves, and both have at most
#: BEST_DEPTH - 1 levels. No tree costs less than FLOOR.
(
    DEPTH,
    LEAVES,
    MODE,
    BUDGET,
    UB,
    BOUND,
    FLOOR,
    PHASE,
    OPEN,
    SPAN,
    CUT,
    LOW,
    HIGH,
    COLUMN,
    BEST_CUT,
    BEST_LOW,
    BEST_HIGH,
    BEST_LEAVES,
    BEST_DEPTH,
    CHILD_SIDE,
    FIELDS,
) = range(21)


class SortedState(NamedTuple):
    """Stack, pools of spans, cache and archive."""

    level: np.ndarray
    keys: np.ndarray
    words: np.ndarray
    spans: np.ndarray
    bounds: np.ndarray
    cache_keys: np.ndarray
    cache: np.ndarray
    archive_words: np.ndarray
    archive: np.ndarray
    archived: np.ndarray
    known: np.ndarray
    found: np.ndarray
    shared: np.ndarray
    stop: np.ndarray


@kernel(allocates=False)
def fitted(depth: int, leaves: int):
    """(depth, leaves) that allow the same trees, as small as they can be.

    Where the depth is the only limit that matters, leaves are 0.
    """
    if leaves > 0:
        depth = min(depth, leaves - 1)
        if depth < 60 and leaves >= 1 << depth:
            leaves = 0
    return depth, leaves


@kernel(allocates=False)
def tag_of(depth: int, leaves: int, mode: int) -> Any:
    """What the cache keeps beside the rows; it rises with the depth."""
    return np.int64(depth) << 32 | np.int64(leaves) << 1 | np.int64(mode)


@kernel(nogil=True, allocates=False)
def identify(
    columns: Any, lists: Any, state: Any, level: int, cut_column: int, cut: int, side: int
) -> None:
    """Keys and bit set of a child before its lists are made."""
    k = lists.ends[level, cut_column, cut]
    begin, end = (0, k) if side == 0 else (k, lists.size[level])
    rows = lists.rows[level, cut_column]
    words = state.words[level + 1]
    words[:] = 0
    one = np.uint64(1)
    h0, h1 = np.uint64(0), np.uint64(0)
    for i in range(begin, end):
        r = rows[i]
        h0 += columns.keys[0, r]
        h1 += columns.keys[1, r]
        words[r >> 6] |= one << np.uint64(r & 63)
    state.keys[level + 1, 0], state.keys[level + 1, 1] = h0, h1


@kernel(nogil=True, allocates=False)
def look_up(state: Any, level: int, tag: int):
    """(value, whether it is the optimum) of a node in the cache; (-1, False) if it is absent."""
    h0, h1 = state.keys[level]
    begin = np.int64(h0 & np.uint64(len(state.cache) - 1)) & ~(WAYS - 1)
    for w in range(begin, begin + WAYS):
        if (
            state.cache_keys[w, 0] == h0
            and state.cache_keys[w, 1] == h1
            and state.cache[w, 0] == tag
        ):
            return state.cache[w, 1], state.cache[w, 2] == 1
    return np.int64(-1), False


@kernel(nogil=True, allocates=False)
def remember(state: Any, level: int, tag: int, value: int, exact: bool) -> None:
    """Put a node's optimum or lower bound into the cache.

    If all places are taken, the entry of the smallest depth is replaced.
    """
    h0, h1 = state.keys[level]
    begin = np.int64(h0 & np.uint64(len(state.cache) - 1)) & ~(WAYS - 1)
    at = begin + np.int64(h1 & np.uint64(WAYS - 1))
    for w in range(begin, begin + WAYS):
        same = (
            state.cache_keys[w, 0] == h0
            and state.cache_keys[w, 1] == h1
            and state.cache[w, 0] == tag
        )
        if same or state.cache[w, 0] == 0:
            at = w
            break
        if state.cache[w, 0] < state.cache[at, 0]:
            at = w
    state.cache_keys[at, 0], state.cache_keys[at, 1] = h0, h1
    state.cache[at, 0], state.cache[at, 1], state.cache[at, 2] = tag, value, exact


@kernel(nogil=True, allocates=False)
def _lost(columns: Any, mine: Any, other: Any, most: int) -> Any:
    """Largest regrets of the rows in `other` but not in `mine`, summed until `most` is reached."""
    total = 0
    for w in range(len(mine)):
        rest = other[w] & ~mine[w]
        while rest:
            low = rest & (~rest + np.uint64(1))
            i = 0
            x = low - np.uint64(1)
            while x:  # index of the lowest bit
                x &= x - np.uint64(1)
                i += 1
            total += columns.worst[64 * w + i]
            if total >= most:
                return total
            rest ^= low
    return total


@kernel(nogil=True, allocates=False)
def similar(columns: Any, state: Any, level: int) -> Any:
    """A lower bound from archived sets whose trees may be at least as large.

    Without the rows that only an archived set has, its best tree costs less by at most the sum of
    the largest regrets of these rows.
    """
    s = state.level[level]
    depth, leaves, budget = s[DEPTH], s[LEAVES], s[BUDGET]
    best = np.int64(0)
    for i in range(state.archive.shape[1]):
        value, most = state.archive[depth, i, 0], state.archive[depth, i, 1]
        if value > best and (most == 0 or 0 < leaves <= most):
            lost = _lost(columns, state.words[level], state.archive_words[depth, i], value - best)
            best = max(best, value - lost)
            if best >= budget:
                break
    return best


@kernel(nogil=True, allocates=False)
def archive(state: Any, level: int, value: int) -> None:
    """Keep a node and a lower bound of it for `similar`."""
    depth, leaves = state.level[level, DEPTH], state.level[level, LEAVES]
    i = state.archived[depth]
    state.archived[depth] = (i + 1) % state.archive.shape[1]
    state.archive[depth, i, 0], state.archive[depth, i, 1] = value, leaves
    for w in range(state.words.shape[1]):
        state.archive_words[depth, i, w] = state.words[level, w]
