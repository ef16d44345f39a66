"""Rows in the order of every column, and the rows that are drawn for a tree of a forest."""

from __future__ import annotations

import numpy as np


def order_of(columns: np.ndarray) -> np.ndarray:
    """Rows in the order of every column of shape (C, n), int32 of the same shape, sorted stably."""
    return np.argsort(columns, axis=1, kind="stable").astype(np.int32)


def drawn_rows(n: int, bootstrap: bool, rng: np.random.Generator) -> np.ndarray:
    """The rows of a tree: n draws with replacement, or every row once."""
    return rng.integers(n, size=n) if bootstrap else np.arange(n)


def order_of_drawn(order: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The order of those rows that are drawn at least once."""
    kept = times > 0
    out: np.ndarray = order[kept[order]].reshape(len(order), int(kept.sum()))
    return out
