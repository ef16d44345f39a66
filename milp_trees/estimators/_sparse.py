"""Sparse tables as columns that are made dense one at a time, when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError

#: Largest number of cells of a sparse table that `fit` takes: the codes of its binary features are
#: dense, four bytes for a cell, and beside them there is one table of doubles.
MOST_CELLS = 2**26


class SparseColumns(Mapping[str, np.ndarray]):
    """The columns of a sparse matrix by name; a column is a dense array of shape (n,).

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n, p)
    names : sequence of str
    """

    def __init__(self, matrix: Any, names: Any) -> None:
        self.matrix = matrix.tocsc()
        self.place = {str(name): j for j, name in enumerate(names)}

    def __getitem__(self, name: str) -> np.ndarray:
        j = self.place[name]
        return np.asarray(self.matrix[:, [j]].toarray()).ravel()

    def __iter__(self) -> Iterator[str]:
        return iter(self.place)

    def __len__(self) -> int:
        return len(self.place)

    def dense(self) -> dict[str, np.ndarray]:
        """All columns, for a fit."""
        n, p = self.matrix.shape
        if n * p > MOST_CELLS:
            raise DataError(
                f"X is sparse with {n} rows and {p} columns, and the binary features of a fit are dense: about {12 * n * p / 2**30:.1f} GiB, where at most"
                f" {12 * MOST_CELLS / 2**30:.1f} GiB are made from a sparse table. Keep fewer columns, for example by sklearn.feature_selection.SelectKBest, or give X.toarray()."
            )
        return {name: self[name] for name in self}
