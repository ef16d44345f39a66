"""The arrays of a problem for the compiled search for rule lists. Loads numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.engines.kit.rowsets import all_rows
from milp_trees.lists.engines.dp_lists.search import ListSearch


class Data(NamedTuple):
    """What the kernels read.

    Parameters
    ----------
    tests : uint64 array of shape (M, words)
        The rows of every antecedent.
    sums : int64 array of shape (8 · words, 256, C)
        Sums per byte (`bits.byte_sums`) of the regret of every action and, if rules have to capture
        several rows, of the number of rows.
    price : int64 array of shape (M,)
        Price of a rule with each antecedent.
    order : int64 array of shape (M,)
        The antecedents by price, equal ones by number.
    everything : uint64 array of shape (words,)
        All rows.
    n_actions, floor, least, most : int
        Number of actions, smallest price of a rule, fewest rows that it captures, largest number of
        rules.
    one : bool
        Whether one antecedent stands for all that capture the same rows of a set.
    """

    tests: np.ndarray
    sums: np.ndarray
    price: np.ndarray
    order: np.ndarray
    everything: np.ndarray
    n_actions: int
    floor: int
    least: int
    most: int
    one: bool


class ListWork(NamedTuple):
    """What the kernels write on; see there."""

    total: np.ndarray
    other: np.ndarray
    parts: np.ndarray
    may: np.ndarray
    slots: np.ndarray
    met: np.ndarray
    child: np.ndarray


class WholeSearch(ListSearch):
    """The search of `dp-lists` with all rows and all antecedents.

    Its sets and its tables of lower bounds then fit the sets of `near-best-lists`.
    """

    def _useful(self, least_rows: int) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.view.n_rows), np.arange(self.view.n_features)


def data_of(best: WholeSearch, least: int, most: int, one: bool) -> Data:
    """The arrays of a problem."""
    view, problem = best.view, best.problem
    price = view.split_costs.astype(np.int64) + view.leaf_cost
    return Data(
        tests=problem.sets,
        sums=problem.sums,
        price=price,
        order=np.argsort(price, kind="stable"),
        everything=all_rows(view.n_rows),
        n_actions=view.n_actions,
        floor=int(price.min(initial=0)),
        least=least,
        most=most,
        one=one,
    )


def work_of(data: Data) -> ListWork:
    """Workspace for some arrays."""
    M, words = data.tests.shape
    columns = data.sums.shape[2]
    return ListWork(
        np.zeros(columns, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros((M, columns), dtype=np.int64),
        np.zeros(M, dtype=np.bool_),
        np.zeros(1 << (2 * M + 1).bit_length(), dtype=np.int64),
        np.zeros(words, dtype=np.uint64),
        np.zeros(words + 1, dtype=np.uint64),
    )
