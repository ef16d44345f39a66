"""The same data in another order: rows and binary features, permuted by a seed.

Solvers take other paths on the same problem in another order. Runs on several orders show how much
of a difference between methods is due to chance (Lodi, Tramontani 2013, "Performance variability in
mixed-integer programming").
"""

from __future__ import annotations

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import Dataset
from milp_trees.data.ranked import RankedTests


def orders(dataset: Dataset, permutation: int) -> tuple[np.ndarray, np.ndarray]:
    """The order of the rows and the order of the features that a permutation stands for.

    Parameters
    ----------
    dataset : Dataset
        With n rows and F features.
    permutation : int
        The seed; 0 is the order as given.

    Returns
    -------
    rows : int array of shape (n,)
    features : int array of shape (F,)

    Raises
    ------
    DataError
        The permutation is not a whole number of at least 0.
    """
    if not isinstance(permutation, int) or isinstance(permutation, bool) or permutation < 0:
        raise DataError(
            f"A permutation is a whole number of at least 0, and 0 is the order as given; got {permutation!r}."
        )
    if permutation == 0:
        return np.arange(dataset.n_rows), np.arange(dataset.n_features)
    random = np.random.Generator(np.random.PCG64(permutation))
    return random.permutation(dataset.n_rows), random.permutation(dataset.n_features)


def permuted(dataset: Dataset, permutation: int) -> Dataset:
    """The dataset with its rows and its binary features in the order of a permutation.

    The optimum of every problem on the data stays the same, exactly. The permutation is stated in
    the `source` of the dataset, so a stored result can be verified from the data's file.
    """
    rows, features = orders(dataset, permutation)
    if permutation == 0:
        return dataset
    moved = dataset.subset(rows)
    stored = moved.stored
    X = stored[:, features] if moved.ranked is None else _ranks(stored.select(features))
    return moved.with_(
        X=X,
        features=[dataset.features[j] for j in features],
        classes=dataset.classes,
        source={**dataset.source, "permutation": permutation},
    )


def _ranks(given: RankedTests) -> RankedTests:
    """The same features with the columns behind them in the order in which features name them."""
    used, first = np.unique(given.column, return_index=True)
    order = used[np.argsort(first)]
    place = np.empty(given.codes.shape[1], dtype=np.int64)
    place[order] = np.arange(len(order))
    return RankedTests(given.codes[:, order], place[given.column], given.cut, given.gap)
