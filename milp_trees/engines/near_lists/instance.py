"""The arrays of a problem for the compiled search for rule lists. Loads numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.engines.list_search.bits import all_rows, byte_sums, pack_columns
from milp_trees.engines.near_lists.kernels import NONE
from milp_trees.errors import Unsupported
from milp_trees.tasks.views import CostMatrix


class Data(NamedTuple):
    """What the kernels read.

    Parameters
    ----------
    tests : uint64 array of shape (M, words)
        The rows of every antecedent.
    sums : int64 array of shape (8 · words, 256, 2 K + 1)
        Sums per byte of the columns that `kernels` explains.
    price : int64 array of shape (M,)
        Price of a rule with each antecedent.
    order : int64 array of shape (M,)
        The antecedents by price, equal ones by number.
    everything : uint64 array of shape (words,)
        All rows.
    floor, least, most : int
        Smallest price of a rule, fewest rows that it captures, largest number of rules.
    one : bool
        Whether one antecedent stands for all that capture the same rows of a set.
    """

    tests: np.ndarray
    sums: np.ndarray
    price: np.ndarray
    order: np.ndarray
    everything: np.ndarray
    floor: int
    least: int
    most: int
    one: bool


class Work(NamedTuple):
    """What the kernels write on; see there."""

    total: np.ndarray
    other: np.ndarray
    nothing: np.ndarray
    parts: np.ndarray
    taken: np.ndarray
    gains: np.ndarray
    sorted: np.ndarray
    slots: np.ndarray
    met: np.ndarray
    child: np.ndarray


def data_of(view: CostMatrix, least: int, most: int, one: bool) -> Data:
    """The arrays of a view.

    Parameters
    ----------
    view : CostMatrix
        Its prices are at least 0.
    least : int
        Fewest rows (with their counts) that a rule captures.
    most : int
        Largest number of rules.
    one : bool
        Whether one antecedent stands for all that capture the same rows of a set.

    Raises
    ------
    Unsupported
        The costs are too large for sums of 64 bits.
    """
    check_fits(view, most)
    price = view.split_costs.astype(np.int64) + view.leaf_cost
    amounts = np.column_stack([view.regret, _of_others(view.regret), view.counts])
    return Data(
        pack_columns(view.X),
        byte_sums(amounts),
        price,
        np.argsort(price, kind="stable"),
        all_rows(view.n_rows),
        int(price.min(initial=NONE)),
        least,
        most,
        one,
    )


def check_fits(view: CostMatrix, most: int) -> None:
    """Raise an error if sums of 64 bits cannot hold the cost of every list of `most` rules.

    Raises
    ------
    Unsupported
        They cannot.
    """
    price = int(view.split_costs.max(initial=0)) + view.leaf_cost
    largest = float(view.regret.sum(dtype=float)) + (most + 1) * price
    if largest >= NONE // 8:
        raise Unsupported(
            "near-best-lists adds costs in 64 bits, and these are too large; divide them by a common factor."
        )


def _of_others(regret: np.ndarray) -> np.ndarray:
    """The least regret of another action, per row and action; 0 if there is no other."""
    n, K = regret.shape
    if K == 1:
        return np.zeros_like(regret)
    two = np.partition(regret, 1, axis=1)[:, :2]
    first = np.arange(K) == regret.argmin(axis=1)[:, None]
    return np.where(first, two[:, 1:], two[:, :1])


def work_of(data: Data) -> Work:
    """Workspace for some arrays."""
    M, words = data.tests.shape
    columns = data.sums.shape[2]
    return Work(
        np.zeros(columns, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros((M, columns), dtype=np.int64),
        np.zeros((2, columns // 2), dtype=np.int64),
        np.zeros(max(1, data.most), dtype=np.int64),
        np.zeros(M, dtype=np.int64),
        np.zeros(1 << (2 * M + 1).bit_length(), dtype=np.int64),
        np.zeros(words, dtype=np.uint64),
        np.zeros(words + 1, dtype=np.uint64),
    )
