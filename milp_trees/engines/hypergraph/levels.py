"""Breadth-first enumeration of states, level by level.

It holds the arrays of the kernels, and calls them again with more room when that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from milp_trees.engines.hypergraph import columns, row_sets
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

#: Bytes that the sets of one level may use.
MOST_BYTES = 2 * 2**30
#: Columns that one call of a kernel may make. This takes some hundredths of a second, after which
#: the time limit is checked.
ROOM = 4_000


class Level(NamedTuple):
    """The states with one depth left: their sets as bit strings, and the number of the first."""

    sets: np.ndarray
    depth: int
    first: int


class Enumeration:
    """One enumeration.

    Raises
    ------
    OverflowError
        There are more states or columns than allowed, as soon as that is known.
    """

    def __init__(
        self, view: CostMatrix, space: Trees, max_states: int, max_columns: int, merge: bool = True
    ) -> None:
        self.view, self.space, self.merge = view, space, merge
        self.words = max(1, -(-view.n_rows // 64))
        self.max_states = max_states
        self.max_bytes_states = MOST_BYTES // (8 * self.words)
        self.max_columns = max_columns
        self.split = view.split_costs.astype(np.int64)
        self.K, self.S = view.n_actions, len(view.side)
        # What a leaf must hold: last its rows, at least one.
        rows = max(1, min(space.min_samples_leaf, view.total_rows + 1))
        amounts, least = zip(*view.leaf_minima, (view.counts, rows), strict=True)
        self.least = np.array(least, dtype=np.int64)
        values = np.column_stack([view.regret, *(row.coefs for row in view.side), *amounts]).astype(
            np.int64
        )
        self.coef, group = np.unique(values, axis=0, return_inverse=True)
        # Rows with equal values are adjacent: the kernels count them in bytes.
        order = np.argsort(group.ravel(), kind="stable")
        self.group = group.ravel()[order].astype(np.int64)
        self.amounts = np.array([amount[order] for amount in amounts], dtype=np.int64)
        self.X = np.ascontiguousarray(view.X[order])
        self.truth = pack(self.X.T, self.words)
        self.n_columns = 0

    def root(self) -> np.ndarray:
        return pack(np.ones((1, self.view.n_rows), dtype=np.uint8), self.words)

    def levels(
        self,
    ) -> Iterator[tuple[Level, list[np.ndarray], list[np.ndarray], list[np.ndarray]]]:
        """Every level with its stops and last splits (info, side) and its splits."""
        level, depth = Level(self.root(), self.space.depth, 0), self.space.depth
        above, splits = (
            level,
            [np.array([[0, -1, 0, 0]])],
        )  # the split that enters the root if it is the last level: all rows are on one side
        while True:
            if depth == 1:
                yield level, *self._last_columns(above, level, splits), []
                return
            best_stop, infos, sides = self._stop_columns(level)
            sets, splits = (
                self._expand(level, self._closed(best_stop)) if depth else (level.sets[:0], [])
            )
            yield level, infos, sides, splits
            if not len(sets):
                return
            depth -= 1
            above, level = level, Level(sets, depth, level.first + len(level.sets))

    def _closed(self, best_stop: np.ndarray) -> np.ndarray:
        """States that no split can improve.

        For them, two leaves without errors would cost as much as the stop.
        """
        if self.S or not self.merge:
            return np.zeros(len(best_stop), dtype=bool)
        least_split = int(self.split.min(initial=2**40)) + 2 * self.view.leaf_cost
        return best_stop <= least_split

    def _stop_columns(self, level: Level) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
        best_stop = np.zeros(len(level.sets), dtype=np.int64)
        infos, sides = [], []
        begin = 0
        while begin < len(level.sets):
            info, side = self._room(self.K, len(level.sets) - begin)
            begin, n = columns.stop_columns(
                level.sets,
                begin,
                self.group,
                self.coef,
                self.K,
                self.S,
                int(self.view.leaf_cost),
                self.least,
                self.merge,
                best_stop,
                info,
                side,
            )
            infos.append(info[:n])
            sides.append(side[:n])
            self._count_columns(n)
        return best_stop, infos, sides

    def _last_columns(
        self, above: Level, level: Level, splits: list[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        K, S, F = self.K, self.S, self.view.n_features
        most = K + (F * K * K if S or not self.merge else 1)
        family = np.ascontiguousarray(np.concatenate(splits)[:, [0, 2, 3]])
        done = np.zeros(len(level.sets), dtype=bool)
        infos, sides = [], []
        begin = 0
        while begin < len(family):
            info, side = self._room(2 * most, len(family) - begin)
            begin, n = columns.last_columns(
                above.sets,
                family,
                level.sets,
                done,
                begin,
                self.X,
                self.group,
                self.coef,
                F,
                K,
                S,
                int(self.view.leaf_cost),
                self.split,
                self.least,
                most,
                self.merge,
                info,
                side,
            )
            infos.append(info[:n])
            sides.append(side[:n])
            self._count_columns(n)
        return infos, sides

    def _room(self, each: int, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for the columns of n states, or of fewer states if n is large."""
        size = max(each, min(each * n, ROOM))
        return np.empty((size, 6), dtype=np.int64), np.empty((size, self.S), dtype=np.int64)

    def _expand(self, level: Level, closed: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        F = self.view.n_features
        done_before = level.first + len(level.sets)
        capacity = max(1024, 4 * F)
        bits, hashes = (
            np.empty((capacity, self.words), dtype=np.uint64),
            np.empty(capacity, dtype=np.uint64),
        )
        table = np.full(_power_of_two(2 * capacity), -1, dtype=np.int64)
        begin = n = 0
        splits = []
        while begin < len(level.sets):
            found = np.empty((max(F, min(F * (len(level.sets) - begin), ROOM)), 4), dtype=np.int64)
            begin, n, n_columns = row_sets.expand(
                level.sets,
                closed,
                begin,
                self.truth,
                self.split,
                self.amounts,
                self.least,
                self.merge,
                bits,
                hashes,
                table,
                n,
                found,
                0,
            )
            splits.append(found[:n_columns])
            self._count_columns(n_columns)
            if done_before + n > self.max_states:
                raise OverflowError(
                    f"it has {done_before + n:,} states and more, where at most {self.max_states:,} are allowed"
                )
            if n > self.max_bytes_states:
                raise OverflowError(
                    f"it has {done_before + n:,} states and more, whose sets of rows no longer fit in memory"
                )
            if begin < len(level.sets) and (n + 2 * F > len(bits) or 2 * (n + 2 * F) > len(table)):
                bits, hashes = _grown(bits, n + 2 * F), _grown(hashes, n + 2 * F)
                table = np.full(_power_of_two(2 * len(bits)), -1, dtype=np.int64)
                row_sets.rehash(hashes, n, table)
        return bits[:n].copy(), splits

    def _count_columns(self, n: int) -> None:
        self.n_columns += n
        if self.n_columns > self.max_columns:
            raise OverflowError(
                f"it has {self.n_columns:,} columns and more, where at most {self.max_columns:,} are allowed"
            )


def pack(bits: np.ndarray, words: int) -> np.ndarray:
    """Rows of zeros and ones as rows of 64-bit words, lowest bit first."""
    out = np.zeros((len(bits), 8 * words), dtype=np.uint8)
    packed = np.packbits(np.ascontiguousarray(bits), axis=1, bitorder="little")
    out[:, : packed.shape[1]] = packed
    return out.view("<u8").astype(np.uint64)


def _power_of_two(n: int) -> int:
    return 1 << max(1, (n - 1).bit_length())


def _grown(array: np.ndarray, n: int) -> np.ndarray:
    out = np.empty((max(2 * len(array), n), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
