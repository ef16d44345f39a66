"""What the compiled search works on: an instance, its settings, the trie, the queue and the map.

Every record is a named tuple of arrays and numbers, so that compiled code reads it by name. A
prefix is a node of the trie: its last antecedent and its parent. Its set of rows that are not yet
captured is never stored; it follows from the path to the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class PrefixInstance(NamedTuple):
    """A problem over classes of equal rows.

    Parameters
    ----------
    columns : uint64 array of shape (M, W)
        The rows in which each antecedent is true, one bit per row.
    full : uint64 array of shape (W,)
        All rows.
    tables : int64 array of shape (words, 8 W 256)
        For every byte of a set of rows and every value of it, the sums over its rows of the regret
        of each action, and of the amounts that `amounts` places; two sums in a word if `packed`.
    amounts : int64 array of shape (3,)
        Where the largest regrets, the numbers of original rows, and the excess of the
        equivalent-points bound are among the sums; -1 for what is not needed.
    prices : int64 array of shape (M,)
        Cost of a rule with the antecedent.
    cheapest : int64 array of shape (M + 1,)
        Sum of the 0, 1, …, M smallest prices.
    keys : uint64 array of shape (M,)
        Random words; the key of a set of antecedents is their exclusive or.
    """

    columns: np.ndarray
    full: np.ndarray
    tables: np.ndarray
    amounts: np.ndarray
    prices: np.ndarray
    cheapest: np.ndarray
    keys: np.ndarray


#: Places in `Instance.amounts`.
WORST, ROWS, EXCESS = 0, 1, 2


class Settings(NamedTuple):
    """Numbers of a run: sizes, limits of the space, and the switches as 0 or 1."""

    n_actions: int
    n_rows: int
    packed: int
    min_rows: int
    max_length: int
    limited: int
    policy: int
    seed: int
    curiosity: float
    map: int
    hierarchical: int
    look_ahead: int
    length_bound: int
    support: int
    correct_support: int
    rejection: int
    equivalent_points: int
    similar_support: int
    floor: int


class Trie(NamedTuple):
    """The prefixes by number; a parent has a smaller number than its extensions.

    Parameters
    ----------
    parent, antecedent : int32 arrays
        The prefix without its last rule (-1 for the empty prefix), and the antecedent of that rule.
    length : int16 array
        Number of rules.
    bound : int64 array
        Lower bound of all lists that begin with the prefix.
    dead : uint8 array
        1 if another prefix is at least as good, however both are extended.
    mask : int32 array
        Row of `masks` with the antecedents that may extend the extensions of this prefix; -1
        before it is expanded.
    masks : uint64 array of shape (rows, words)
    """

    parent: np.ndarray
    antecedent: np.ndarray
    length: np.ndarray
    bound: np.ndarray
    dead: np.ndarray
    mask: np.ndarray
    masks: np.ndarray


class Queue(NamedTuple):
    """A binary heap of prefixes, the smallest key first."""

    key: np.ndarray
    prefix: np.ndarray


class PrefixWork(NamedTuple):
    """Room for one expansion, and the antecedents of the best list.

    Parameters
    ----------
    rest, found, other : uint64 arrays of shape (W,)
        Sets of rows: not captured by the prefix, captured by an extension, of other prefixes.
    total, sums : int64 arrays
        Sums over `rest` and over `found`.
    candidates : int64 array of shape (M,)
        Antecedents that may extend the prefix.
    each : int64 array of shape (M, sums)
        Sums over the rows that each of them captures.
    kinds : uint8 array of shape (M,)
        What was found about each of them (`search.reference`).
    ends : int64 array of shape (2,)
        Objective of the incumbent, and the bound from which on no extension is extended.
    children : int64 array of shape (M + 1, 5)
        Extensions that may be extended: their columns are named below.
    path, best : int32 arrays of shape (M + 1,)
        Antecedents of a prefix, and those of the incumbent; the counters hold its length.
    """

    rest: np.ndarray
    found: np.ndarray
    other: np.ndarray
    total: np.ndarray
    sums: np.ndarray
    candidates: np.ndarray
    each: np.ndarray
    kinds: np.ndarray
    ends: np.ndarray
    children: np.ndarray
    path: np.ndarray
    best: np.ndarray


#: Columns of `Work.children`: antecedent; bound with and without the switch for equivalent points;
#: objective of the list that ends here; number of original rows that its rules capture.
ANTECEDENT, PLAIN, LOWER, OBJECTIVE_OF, ROWS_OF = range(5)


#: Places in the array of counters, which compiled code and Python share.
(
    NODES,
    QUEUED,
    MAPPED,
    MASKS,
    BEST,
    BEST_LENGTH,
    MOST,
    EXPANDED,
    EVALUATED,
    PUSHED,
    LONGEST,
    NO_SUPPORT,
    NO_CORRECT,
    BOUNDED,
    LOOKED,
    SIMILAR,
    EQUIVALENT,
    REPLACED,
    DROPPED,
    IMPROVED,
    COUNTERS,
) = range(21)

#: Why the compiled search returns.
FINISHED, PAUSED, BETTER, MORE_NODES, MORE_MAP, MORE_MASKS = range(6)

POLICIES = ("bound", "objective", "curiosity", "breadth", "depth", "stochastic")
BOUND, OBJECTIVE, CURIOSITY, BREADTH, DEPTH, STOCHASTIC = range(6)
MAPS = ("captured", "permutations", "none")
CAPTURED, PERMUTATIONS, NO_MAP = range(3)
