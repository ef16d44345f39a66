"""Sorted columns from a view: nested tests become ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.tasks.leaf_sums import LeafSums


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """Rows as ranks in groups of nested tests of one price.

    Parameters
    ----------
    ranks : int32 array of shape (p, n)
        Test s of a column is true on rows of rank at most s.
    tests : tuple of int arrays
        Test indices of every column by rising threshold.
    costs : int64 array of shape (p,)
    """

    ranks: np.ndarray
    tests: tuple[np.ndarray, ...]
    costs: np.ndarray


def sorted_columns(view: LeafSums) -> SortedColumns:
    """Columns of a view; tests that their thresholds do not nest get columns of their own."""
    ranked = view.ranked
    ranks: list[np.ndarray] = []
    tests: list[np.ndarray] = []
    for codes, group in _nested(view) if ranked is None else _ranked_groups(ranked):
        for price in np.unique(view.split_costs[group]):
            kept = view.split_costs[group] == price
            below = np.concatenate([[0], np.cumsum(kept)])
            rank = below[np.minimum(codes, len(group))] if not kept.all() else codes
            if rank.min() < rank.max():
                ranks.append(np.asarray(rank, dtype=np.int32))
                tests.append(group[kept])
    costs = np.array([view.split_costs[t[0]] for t in tests], dtype=np.int64)
    return SortedColumns(
        np.array(ranks, dtype=np.int32).reshape(len(tests), view.n_rows), tuple(tests), costs
    )


def _ranked_groups(ranked: Any) -> Any:
    """(ranks, tests by rising cut) per column of ranked tests."""
    if not len(ranked.column):
        return
    order = np.lexsort((ranked.cut, ranked.column))
    columns, begins = np.unique(ranked.column[order], return_index=True)
    for c, group in zip(columns.tolist(), np.split(order, begins[1:]), strict=True):
        cuts = ranked.cut[group]
        # Codes count all thresholds of the column; ranks count those that are candidates.
        codes = ranked.codes[:, c]
        every = np.arange(int(codes.max(initial=0)) + 1)
        yield np.searchsorted(cuts, every, side="left").astype(np.int32)[codes], group


def _nested(view: LeafSums) -> Any:
    for _, group in view.columns:
        outcomes = view.X[:, group]
        if len(group) == 1 or (outcomes[:, 1:] >= outcomes[:, :-1]).all():
            yield (outcomes == 0).sum(axis=1), np.array(group, dtype=np.int64)
        else:
            yield from (
                ((outcomes[:, i] == 0).astype(np.int64), np.array([f], dtype=np.int64))
                for i, f in enumerate(group)
            )
