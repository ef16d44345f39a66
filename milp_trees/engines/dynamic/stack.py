"""The memory of a search with an explicit stack: names of its numbers. No numba here."""

from typing import NamedTuple

import numpy as np

#: Positions in `Stack.number[level]`. ALLOWED: discrepancies allowed, -1 for any; RUNG: what the root test may cost for now.
DEPTH, BUDGET, BEST, TEST, POSITION, PHASE, CURRENT, FIRST_SIDE, FIRST_VALUE, LOWER, ALLOWED, OTHER_BOUND, OTHER_EXACT, SIZE, RUNG = range(15)
#: Positions in `Stack.state`.
LEVEL, RETURNED, EXACT, RETURNED_TEST, BASE, REPORTED = range(6)
#: Positions in `Stack.board`, shared by threads.
STOP, SHARED_BEST = range(2)


class Stack(NamedTuple):
    """One row per level; the last three are shared by the threads of a run."""

    number: np.ndarray  # int64 (levels, 16)
    bits: np.ndarray  # uint64 (levels, W)
    key: np.ndarray  # uint64 (levels, 2)
    order: np.ndarray  # int64 (levels, F)
    bound: np.ndarray  # int64 (levels, F): lower bounds with a given root test
    hashes: np.ndarray  # uint64 (levels, F, 4)
    side: np.ndarray  # uint64 (levels, 2, W)
    total: np.ndarray  # int64 (levels, U + 1)
    state: np.ndarray  # int64
    board: np.ndarray  # int64
    root_bound: np.ndarray  # int64 (F,): lower bounds with a root test
    busy: np.ndarray  # int64 (F,): whether a thread works on it
