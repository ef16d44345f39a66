"""Sorted columns from a cost matrix.

Nested tests become ranks. Costs become signed differences in the smallest number type that holds
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.errors import Unsupported
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix

#: Memory of the cache: entries of five words; a quarter of what is allowed, at most this many.
CACHE_ENTRIES = 2**20
#: Sets kept per depth for similarity bounds.
ARCHIVE = 32
#: Largest sum of costs.
LARGEST = 2**56


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


def sorted_columns(view: CostMatrix) -> SortedColumns:
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
        yield np.searchsorted(cuts, ranked.codes[:, c], side="left"), group


def _nested(view: CostMatrix) -> Any:
    for _, group in view.columns:
        outcomes = view.X[:, group]
        if len(group) == 1 or (outcomes[:, 1:] >= outcomes[:, :-1]).all():
            yield (outcomes == 0).sum(axis=1), np.array(group, dtype=np.int64)
        else:
            yield from (
                ((outcomes[:, i] == 0).astype(np.int64), np.array([f], dtype=np.int64))
                for i, f in enumerate(group)
            )


@dataclass(eq=False)
class Arrays:
    """What the compiled search works on; see `nodes`, `sweep` and `memory`.

    `form` is the name of the pass over a column (`passes.FORMS`).
    """

    columns: Any
    lists: Any
    work: Any
    state: Any
    form: str


def too_large(view: CostMatrix, depth: int | None) -> str | None:
    """The sentence that sums of these costs do not fit into 64 bits, or None."""
    levels = 20 if depth is None else min(depth, 20)
    penalty = (view.leaf_cost + int(view.split_costs.max(initial=0))) * 2**levels
    # Summed as floats: integers of 64 bits could overflow here already.
    if 2 * float(view.regret.sum(dtype=float)) + penalty <= LARGEST:
        return None
    return (
        "dp-sorted adds costs in 64 bits, and these are too large; divide them by a common factor."
    )


def allocate(
    view: CostMatrix, space: Trees, sorted_: SortedColumns, depth: int, memory_mb: int | None = None
) -> Arrays:
    """Arrays for a search of at most the given depth.

    Parameters
    ----------
    view : CostMatrix
        The rows, the costs and the tests.
    space : Trees
        Its minima of rows and weight per leaf are used.
    sorted_ : SortedColumns
        The columns of the view (`sorted_columns`).
    depth : int
        Largest depth of a tree.
    memory_mb : int, optional
        Memory limit in MiB, a quarter of which the cache of solved nodes may take. By default the
        cache has `CACHE_ENTRIES` entries.

    Returns
    -------
    Arrays
        The root holds all rows; the cache is empty.

    Raises
    ------
    Unsupported
        The costs are too large for exact 64-bit sums.
    """
    from milp_trees.engines.sorted.memory import State
    from milp_trees.engines.sorted.nodes import Columns, Lists
    from milp_trees.engines.sorted.passes import TABLE, lanes_of
    from milp_trees.engines.sorted.sweep import Work

    n, p = view.n_rows, len(sorted_.tests)
    regret = view.regret
    values, first, labels = _values(view)
    unit = max(1, int(np.gcd.reduce(values, axis=None)))
    if (why := too_large(view, depth)) is not None:
        raise Unsupported(why)
    amounts, least = amounts_of(view, space)
    values = values // unit
    reach = max(int(np.abs(values).sum(axis=1).max()), int(amounts.sum()), n + 1) if n else 0
    kind = np.int16 if reach < 2**13 * 1.9 else np.int32 if reach < 2**29 else np.int64
    levels, V, lanes = max(1, depth - 1), values.shape[0], lanes_of(kind)
    words = n // 64 + 1
    capacity = sum(len(t) for t in sorted_.tests) + p + 1
    entries = (
        CACHE_ENTRIES
        if memory_mb is None
        else min(CACHE_ENTRIES, max(2**10, 2 ** int(np.log2(memory_mb * 2**20 / 4 / 40))))
    )
    rng = np.random.default_rng(0)
    columns = Columns(
        values=np.ascontiguousarray(values, dtype=kind),
        labels=labels.astype(kind),
        weights=(-values.sum(axis=0) if len(labels) else np.zeros(0)).astype(kind),
        first=first,
        worst=regret.max(axis=1),
        amounts=amounts.astype(kind),
        keys=rng.integers(0, 2**64, (2, n), dtype=np.uint64),
        costs=sorted_.costs,
        by_cost=np.argsort(sorted_.costs, kind="stable"),
        leaf=int(view.leaf_cost),
        unit=unit,
        least=least,
    )
    lists = Lists(
        rows=np.empty((levels, max(1, p), n), dtype=np.int32),
        ranks=np.empty((levels, p, n), dtype=np.int32),
        ends=np.empty((levels, p, n), dtype=np.int32),
        runs=np.zeros((levels, p), dtype=np.int64),
        size=np.zeros(levels, dtype=np.int64),
        side=np.zeros(n, dtype=np.uint8),
    )
    lists.rows[0, 0] = np.arange(n)  # the rows, also where there is no column to split on
    for j in range(p):
        lists.rows[0, j] = np.argsort(sorted_.ranks[j], kind="stable")
        lists.ranks[0, j] = sorted_.ranks[j][lists.rows[0, j]]
    lists.size[0] = n
    work = Work(
        position=np.zeros(n, dtype=kind),
        P=np.zeros((p, n), dtype=kind),
        W=np.zeros((p, 1 if len(labels) else V, n), dtype=kind),
        Y=np.zeros((p, n), dtype=kind),
        A=np.zeros((p, n), dtype=kind),
        cuts=np.zeros(lanes, dtype=kind),
        C=np.zeros(2 * lanes, dtype=kind),
        sums=np.zeros(4 * V * lanes, dtype=kind),
        store=np.zeros(3 * lanes * n if len(labels) else 0, dtype=kind),
        out=np.zeros(4 * lanes, dtype=kind),
        prefix=np.zeros((V + 2, n), dtype=np.int64),
        low=np.zeros((2, lanes), dtype=np.int64),
        high=np.zeros((2, lanes), dtype=np.int64),
        spans=np.zeros((5, n + 2), dtype=np.int64),
        bounds=np.zeros((4, n + 2), dtype=np.int64),
        picked=np.zeros(lanes, dtype=np.int64),
        address=np.zeros(1, dtype=np.int64),
        args=np.zeros(TABLE, dtype=np.int64),
    )
    state = State(
        level=np.zeros((levels, 16), dtype=np.int64),
        keys=np.zeros((levels, 2), dtype=np.uint64),
        words=np.zeros((levels, words), dtype=np.uint64),
        spans=np.zeros((levels, 3, capacity), dtype=np.int64),
        bounds=np.zeros((levels, 3, capacity), dtype=np.int64),
        cache_keys=np.zeros((entries, 2), dtype=np.uint64),
        cache=np.zeros((entries, 3), dtype=np.int64),
        archive_words=np.zeros((levels + 2, ARCHIVE, words), dtype=np.uint64),
        archive=np.zeros((levels + 2, ARCHIVE), dtype=np.int64),
        archived=np.zeros(levels + 2, dtype=np.int64),
        known=np.zeros(p, dtype=np.int64),
        found=np.zeros(3, dtype=np.int64),
        shared=np.zeros(8, dtype=np.int64),
        stop=np.zeros(1, dtype=np.uint8),
    )
    form = "labels" if len(labels) else "many" if V > 1 else "two, least" if least else "two"
    return Arrays(columns, lists, work, state, form)


def _values(view: CostMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values (V, n), first costs and labels (empty without) as `nodes.Columns` describes them."""
    regret, n = view.regret, view.n_rows
    form = view.labels if view.n_actions > 2 else None
    if form is None:
        values = (
            (regret[:, 1:] - regret[:, :1]).T
            if view.n_actions > 1
            else np.zeros((1, n), dtype=np.int64)
        )
        return values, np.ascontiguousarray(regret[:, 0]), np.zeros(0, dtype=np.int64)
    labels, losses = form
    values = np.zeros((view.n_actions, n), dtype=np.int64)
    values[labels, np.arange(n)] = -losses
    return values, losses, labels


def amounts_of(view: CostMatrix, space: Trees) -> tuple[np.ndarray, int]:
    """What every leaf needs `least` of: rows or weight; 0 if nothing that not every leaf has."""
    if view.min_weight_leaf:
        assert view.row_weight is not None
        return view.row_weight, int(view.min_weight_leaf)
    least = space.min_samples_leaf
    return view.counts, (least if least > 1 else 0)
