"""Some of the thresholds of columns: those at quantiles, and how many each column may have."""

from __future__ import annotations

import numpy as np


def quantile_cuts(numbers: np.ndarray, values: np.ndarray, bins: int) -> np.ndarray:
    """The cuts at quantiles of a column, between `values[k - 1]` and `values[k]` for every k.

    Parameters
    ----------
    numbers : array of shape (n,)
        The column.
    values : array
        Its different values in order.
    bins : int
        With as many bins as rows, the quantiles give all midpoints already.

    Returns
    -------
    int array
    """
    bins = max(2, min(bins, len(numbers)))
    # The lower of two neighbours, as numpy's quantile, which is slow for many places.
    places = np.floor((len(numbers) - 1) * (np.arange(1, bins) / bins)).astype(np.intp)
    at = np.sort(numbers)[places]
    cuts: np.ndarray = np.unique(np.searchsorted(values, at, side="right"))
    return cuts


def most_of_a_column(sizes: list[int], total: int) -> int | None:
    """The most thresholds of a column so that all columns have at most `total`; None if they do."""
    if sum(sizes) <= total:
        return None
    left, sizes = total, sorted(sizes)
    for k, size in enumerate(sizes):
        if size * (len(sizes) - k) > left:
            return left // (len(sizes) - k)
        left -= size
    return None
