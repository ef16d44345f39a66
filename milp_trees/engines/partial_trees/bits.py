"""Rows of two classes as bit strings: positives first, each class in whole 64-bit words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.engines.kit.rowsets import pack as packed
from milp_trees.tasks.count_views import TwoClasses


class TwoClassBits(NamedTuple):
    """All rows of a problem.

    Parameters
    ----------
    tests : uint64 array of shape (F, words)
        Rows on which each test is true.
    root : uint64 array of shape (words,)
        All rows.
    ups : int
        Number of words that hold positives.
    order : int64 array of shape (64 · words,)
        Row of every bit, -1 where there is none.
    """

    tests: np.ndarray
    root: np.ndarray
    ups: int
    order: np.ndarray


def pack(view: TwoClasses) -> TwoClassBits:
    """The bit strings of a view whose rows are not merged."""
    X, ones = view.errors.X, view.is_positive
    halves = []
    for rows in (np.flatnonzero(ones), np.flatnonzero(~ones)):
        padded = np.full(-(-len(rows) // 64) * 64, -1, dtype=np.int64)
        padded[: len(rows)] = rows
        halves.append(padded)
    order = np.concatenate(halves)
    filled = order >= 0
    columns = np.zeros((len(order), X.shape[1] + 1), dtype=np.uint8)
    columns[filled, :-1] = X[order[filled]]
    columns[filled, -1] = 1
    words = packed(columns)
    return TwoClassBits(words[:-1], words[-1].copy(), len(halves[0]) // 64, order)
