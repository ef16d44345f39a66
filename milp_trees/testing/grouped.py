"""The same data with equal rows as one row with a count, made by a slow loop over rows."""

from __future__ import annotations

import numpy as np

from milp_trees.data.dataset import Dataset

#: Fields with an entry per row; rows that are equal in all of them are one row.
_OF_ROWS = (
    "y",
    "weights",
    "groups",
    "factor",
    "treatments",
    "outcomes",
    "propensities",
    "values",
)


def grouped(dataset: Dataset) -> Dataset:
    """The dataset with `counts`, and without rows that equal an earlier one.

    Parameters
    ----------
    dataset : Dataset
        Without `numeric`; it may have counts already.

    Returns
    -------
    Dataset
    """
    arrays = [getattr(dataset, name) for name in _OF_ROWS]
    columns = [dataset.X.tolist(), *(a.tolist() for a in arrays if a is not None)]
    first: dict[str, int] = {}
    count: dict[str, int] = {}
    for row, entries in enumerate(zip(*columns, strict=True)):
        key = repr(entries)
        first.setdefault(key, row)
        count[key] = count.get(key, 0) + int(dataset.row_counts[row])
    kept = dataset.subset(np.array(list(first.values())))
    return kept.with_(classes=kept.classes, counts=np.array(list(count.values())))
