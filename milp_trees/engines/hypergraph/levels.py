"""Breadth-first enumeration of states, level by level: what trees and rule lists have in common.

It holds the arrays of the kernels, and calls them again with more room when that is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.hypergraph.columns import (
    FALSE,
    FAR,
    STATE,
    TRUE,
    StateColumns,
    StateData,
    StateWork,
    last_columns,
    split_columns,
    stop_columns,
)
from milp_trees.engines.hypergraph.row_sets import SetTable
from milp_trees.engines.kit.leaf_code import compiled_leaf
from milp_trees.engines.kit.rowsets import all_rows, pack
from milp_trees.models.space import Trees
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums

#: Bytes that the sets of one level may use.
MOST_BYTES = 2 * 2**30
#: Columns that one call of a kernel may make. This takes some hundredths of a second, after which
#: the time limit is checked.
ROOM = 4_000


class StateLevel(NamedTuple):
    """The states with one depth left: sets as bit strings, allowances, number of the first one."""

    sets: np.ndarray
    allowance: np.ndarray
    depth: int
    first: int


class Enumeration(ABC):
    """States and columns, level by level.

    Parameters
    ----------
    data : StateData
    depth, allowance : int
        Those of the root.
    max_states, max_columns, max_bytes : int
        OverflowError is raised as soon as it is known that there are more, or that the sets of a
        level need more bytes.
    """

    def __init__(
        self,
        data: StateData,
        depth: int,
        max_states: int,
        max_columns: int,
        max_bytes: int = MOST_BYTES,
        allowance: int = FAR,
    ) -> None:
        self.data, self.depth, self.allowance = data, depth, allowance
        self.max_states, self.max_columns, self.max_bytes = max_states, max_columns, max_bytes
        self.words = data.truth.shape[1]
        self.root = all_rows(len(data.group))[None]
        self.n_columns = 0

    def levels(self) -> Iterator[tuple[StateLevel, list[StateColumns]]]:
        """Every level with its columns.

        The states that they enter are numbered within the next level.
        """
        self.n_columns = 0
        level = StateLevel(self.root, np.array([self.allowance], dtype=np.int64), self.depth, 0)
        while len(level.sets):
            self.table = SetTable.of(max(1024, 4 * len(self.data.truth)), self.words)
            parts: list[StateColumns] = []
            self._add_columns(level, parts)
            yield level, parts
            n, first = int(self.table.used[0]), level.first + len(level.sets)
            sets, allowance = self.table.bits[:n].copy(), self.table.allowance[:n].copy()
            level = StateLevel(sets, allowance, level.depth - 1, first)

    @abstractmethod
    def _add_columns(self, level: StateLevel, parts: list[StateColumns]) -> None:
        """Append the columns of a level, and put the sets that they enter into the table."""

    def _fill(
        self,
        parts: list[StateColumns],
        kernel: Callable[[int, StateColumns], tuple[int, int]],
        span: tuple[int, int],
        each: int,
    ) -> None:
        """Append the columns of a span of states, at most `each` of a state, by calls of a kernel.

        The kernel gets the first state and room for columns; it returns the first state that is not
        done, and the number of columns.
        """
        begin, end = span
        out = StateColumns.room(max(each, min(each * (end - begin), ROOM)), self.data.n_side)
        while begin < end:
            self._check()
            begin, n = kernel(begin, out)
            parts.append(StateColumns(out.info[:n].copy(), out.side[:n].copy()))
            self.n_columns += n
            if self.n_columns > self.max_columns:
                raise OverflowError(
                    f"it has {self.n_columns:,} columns and more, where at most {self.max_columns:,} are allowed"
                )

    def _check(self) -> None:
        """Raise an error where a limit ends the run."""

    def _make_room(self, level: StateLevel, more: int) -> SetTable:
        """The table with room for more sets, unless there are too many already."""
        n = int(self.table.used[0])
        states = level.first + len(level.sets) + n
        if states > self.max_states:
            raise OverflowError(
                f"it has {states:,} states and more, where at most {self.max_states:,} are allowed"
            )
        if 8 * self.words * n > self.max_bytes:
            raise OverflowError(
                f"it has {states:,} states and more, whose sets of rows no longer fit in memory"
            )
        self.table = self.table.with_room(more)
        return self.table


class TreeStates(Enumeration):
    """States and columns of trees: here of all trees, in `within_bound` of those within a bound.

    Parameters
    ----------
    data, depth, max_states, max_columns, **more
        As for `Enumeration`.
    """

    def __init__(self, data: StateData, *args: Any, **more: Any) -> None:
        super().__init__(data, *args, **more)
        K, every = data.n_actions, data.n_side or not data.merge
        self.work = StateWork.of(data, K + (len(data.truth) * K * K if every else 1))

    def _add_columns(self, level: StateLevel, parts: list[StateColumns]) -> None:
        if level.depth == 1:
            self._add_last(level, parts)
            return
        sets, data, work = level.sets, self.data, self.work
        cheapest = np.empty(len(level.sets), dtype=np.int64)

        def stop(begin: int, out: StateColumns) -> Any:
            return stop_columns(sets, level.allowance, begin, data, cheapest, work, out)

        self._fill(parts, stop, (0, len(sets)), data.n_actions)
        if not level.depth:
            return
        stops = len(parts)
        self._add_splits(level._replace(allowance=self._split_allowance(level, cheapest)), parts)
        if level.depth == 2:
            splits = np.concatenate([part.info for part in parts[stops:]])
            self._above = sets, np.ascontiguousarray(splits[:, [STATE, FALSE, TRUE]])

    def _split_allowance(self, level: StateLevel, cheapest: np.ndarray) -> np.ndarray:
        """Allowances for splits; -1 where no split can improve the cheapest stop.

        There, two leaves without errors would cost as much as the stop. What rounding takes off a
        leaf is less than two ties.
        """
        if self.data.n_side or not self.data.merge:
            return level.allowance
        least = int(self.data.split[0].min(initial=2**40)) + 2 * (
            self.data.leaf - 2 * self.data.tie
        )
        return np.where(cheapest <= least, -1, level.allowance)

    def _add_last(self, level: StateLevel, parts: list[StateColumns]) -> None:
        """Append stops and last splits."""
        data, work = self.data, self.work
        # All rows of a root that is the last level are on one side of a split.
        above, family = self._above if level.first else (level.sets, np.zeros((1, 3), np.int64))
        sets, allowance, done = level.sets, level.allowance, np.zeros(len(level.sets), np.bool_)

        def last(begin: int, out: StateColumns) -> Any:
            return last_columns(above, sets, allowance, family, done, begin, data, work, out)

        self._fill(parts, last, (0, len(family)), 2 * work.most)

    def _add_splits(self, level: StateLevel, parts: list[StateColumns]) -> None:
        """Append the splits, and put the sets that they enter into the table."""
        no_values = np.empty((1, 0, len(self.data.truth)), dtype=np.int64)
        self._split(level, (0, len(level.sets)), no_values, parts)

    def _split(
        self,
        level: StateLevel,
        span: tuple[int, int],
        values: np.ndarray,
        parts: list[StateColumns],
    ) -> None:
        """Append the splits of a span of states, for whose sides optimal values may be given."""
        first, end = span
        bounded, F = values.shape[1], len(self.data.truth)

        def split(begin: int, out: StateColumns) -> Any:
            table = self._make_room(level, 2 * F)
            here = values[begin - first :] if bounded else values
            return split_columns(
                level.sets, level.allowance, begin, end, self.data, here, table, self.work, out
            )

        self._fill(parts, split, span, max(1, F))
        self._make_room(level, 0)


def all_trees(
    view: LeafSums, space: Trees, max_states: int, max_columns: int, merge: bool
) -> TreeStates:
    """The enumeration of all trees of a space."""
    data = data_of(view, *leaf_minima(view, space), merge=merge)
    return TreeStates(data, space.depth, max_states, max_columns)


def leaf_minima(view: LeafSums, space: Trees) -> tuple[list[np.ndarray], list[int]]:
    """What the rows of a leaf add up, and how much is needed: last its rows, at least one."""
    rows = max(1, min(space.min_samples_leaf, view.total_rows + 1))
    amounts, least = zip(*view.leaf_minima, (view.counts, rows), strict=True)
    return list(amounts), list(least)


def data_of(
    view: LeafSums,
    amounts: list[np.ndarray],
    least: list[int],
    priced: LeafSums | None = None,
    only_default: int = -1,
    merge: bool = True,
    place: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> StateData:
    """What the kernels read; rows of equal values are side by side, as kernels count them in bytes.

    `priced` is the view at the prices at which columns are bounded, if these are not its own.
    `place` is another order of the rows: the truth of tests in rows and in bits, and the place of
    every row.
    """
    costs, prices, sums = _costs(view), [], []
    K, S, at_prices = costs.shape[1], len(view.side), view if priced is None else priced
    if isinstance(view, LossSums):
        sums = [view.parts[:, :-1]]
    elif priced is not None:
        prices = [_costs(priced)]
    before = [costs, *(row.coefs for row in view.side), *prices]
    columns = [*before, *sums, *amounts]
    values = np.column_stack(columns).astype(np.int64)
    coef, group = np.unique(values, axis=0, return_inverse=True)
    if place is None:
        order = np.argsort(group.ravel(), kind="stable")
        group = group.ravel()[order].astype(np.int64)
        X = np.ascontiguousarray(view.X[order])
        truth = pack(X)
    else:
        X, truth, position = place
        groups, group = group.ravel(), np.zeros(64 * truth.shape[1], dtype=np.int64)
        group[position] = groups
    function, parameters = compiled_leaf(view)
    return StateData(
        X=X,
        truth=truth,
        group=group,
        coef=coef,
        amounts=np.ascontiguousarray(coef[group, -len(least) :].T),
        least=np.array(least, dtype=np.int64),
        split=np.array([view.split_costs, at_prices.split_costs], dtype=np.int64),
        n_actions=K,
        n_side=S,
        priced=K * (1 + S) if prices else 0,
        leaf=int(view.leaf_cost),
        priced_leaf=int(at_prices.leaf_cost),
        only_default=only_default,
        merge=bool(merge),
        leaf_function=function,
        parameters=parameters,
        sums=sum(part.shape[1] for part in before),
        tie=int(getattr(view, "tie", 0)),
    )


def _costs(view: LeafSums) -> np.ndarray:
    """Costs of rows with each action above the cheapest, or their constant part of a loss."""
    if isinstance(view, LossSums):
        return view.parts[:, -1:]
    assert isinstance(view, CostMatrix)
    return view.regret
