"""The hypergraph of all trees within a bound, grown from the root without the rest of it.

With multipliers of the side rows every feasible tree of objective at most `upper` has a Lagrangian
cost of at most `upper`. From the root down, a state's *allowance* is what the best tree around it
leaves of that; if several splits enter it, the largest counts. A split is kept if the optimal
Lagrangian values of its sides fit into the allowance, a stop or last split if its own cost fits, so
a column is kept exactly if it is part of a tree within `upper`. Leaves choose their action freely:
all that fit are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.compiling import compiling
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Stopped
from milp_trees.engines.hypergraph.graph import States, hypergraph
from milp_trees.engines.hypergraph.levels import Level
from milp_trees.engines.lagrangian_filter.prices import Priced, most_at
from milp_trees.engines.lagrangian_filter.shrink import shrink
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.results.result import Limit
from milp_trees.tasks.views import CostMatrix

#: Memory of remembered values, of one level's sets, and of all columns, if no limit is given.
MEMORY_MB = 3000
#: Columns that one call of a kernel may make, and numbers of sides' values; then limits are checked.
ROOM, VALUES = 4_000, 200_000

_warm: set[str] = set()


def reduce_states(
    view: CostMatrix,
    space: Trees,
    multipliers: Sequence[Priced],
    upper: int,
    watch: Watch | None = None,
    **more: Any,
) -> States:
    """The states and columns that can be part of a tree within a bound."""
    grown = Reduction(view, space, multipliers[0], watch, **more).within(upper)
    return shrink(grown, view, multipliers, upper)


class Reduction:
    """Hypergraphs for one vector of multipliers; values of sets are kept between them.

    Parameters
    ----------
    view, space, watch
        As for `reduce_states`.
    multipliers : multipliers
        One vector.
    merge : bool, default=True
        Leave columns out that are no better than others with the same side numbers in the same
        state: tests that divide it like another one, actions, and last splits. An optimum under
        side rows is kept, but not all trees.
    trivial : bool, default=False
        Whether both leaves of a last split may have one action.
    max_states, max_columns : int
        OverflowError is raised if there are more.
    memory_mb : int
        Memory of the remembered values.
    """

    def __init__(
        self,
        view: CostMatrix,
        space: Trees,
        multipliers: Priced,
        watch: Watch | None = None,
        merge: bool = True,
        trivial: bool = False,
        max_states: int = 2_000_000,
        max_columns: int = 20_000_000,
        memory_mb: int = MEMORY_MB,
    ) -> None:
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            raise Unsupported("The reduction takes penalties and test costs of at least 0.")
        warm_up()
        from milp_trees.engines.near_best.states import RowSets

        self.view, self.multipliers, self.watch = view, multipliers, watch
        self.merge, self.trivial = merge, trivial
        self.max_states, self.max_columns = max_states, max_columns
        self.depth = space.depth
        self.priced = multipliers.view_at(view)
        self.sets = RowSets(
            self.priced, replace(space, max_leaf_nodes=None), watch, memory_mb * 2**20
        )
        self.max_bytes = memory_mb * 2**20
        rows = max(1, min(space.min_samples_leaf, view.total_rows + 1))
        amounts, least = zip(*view.leaf_minima, (view.counts, rows), strict=True)
        self.least = np.array(least, dtype=np.int64)
        self.split = view.split_costs.astype(np.int64)
        self.K, self.S = view.n_actions, len(view.side)
        columns = [view.regret, *(row.coefs for row in view.side), self.priced.regret, *amounts]
        self.coef, group = np.unique(
            np.column_stack(columns).astype(np.int64), axis=0, return_inverse=True
        )
        self.group = np.zeros(64 * self.sets.words, dtype=np.int64)
        self.group[self.sets.position] = group.ravel()
        self.n_columns = 0
        self.allowance = -1

    def within(self, upper: int) -> States:
        """All columns of trees whose Lagrangian cost is at most `upper`."""
        self.n_columns = 0
        most = most_at(self.multipliers, self.view, upper)
        self.allowance = most - int(self.priced.base.sum())
        return hypergraph(self)

    # -- levels ----------------------------------------------------------------------------------

    def levels(
        self,
    ) -> Iterator[tuple[Level, list[np.ndarray], list[np.ndarray], list[np.ndarray]]]:
        """Every level with its stops and last splits (info, side) and its splits."""
        root = np.array(self.sets.all_rows)[None, :]
        level, allowed = Level(root, self.depth, 0), np.array([self.allowance], dtype=np.int64)
        while True:
            infos, sides = self._leaves(level, allowed)
            if level.depth < 2:
                yield level, infos, sides, []
                return
            sets, below, splits = self._expand(level, allowed)
            yield level, infos, sides, splits
            if not len(sets):
                return
            level = Level(sets, level.depth - 1, level.first + len(level.sets))
            allowed = below

    def _leaves(
        self, level: Level, allowed: np.ndarray
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        from milp_trees.engines.lagrangian_filter import kernels

        K, F, last = self.K, self.view.n_features, level.depth == 1
        most = K + (F * K * K if last else 0)
        infos, sides, begin = [], [], 0
        while begin < len(level.sets):
            self._tick()
            size = max(most, min(most * (len(level.sets) - begin), ROOM))
            info = np.empty((size, 6), dtype=np.int64)
            side = np.empty((size, self.S), dtype=np.int64)
            begin, n = kernels.leaf_columns(
                level.sets,
                allowed,
                begin,
                self.sets.data.X,
                self.group,
                self.coef,
                F,
                K,
                self.S,
                int(self.view.leaf_cost),
                self.split,
                int(self.priced.leaf_cost),
                self.sets.split,
                self.least,
                last,
                self.merge,
                self.trivial,
                most,
                info,
                side,
            )
            infos.append(info[:n].copy())
            sides.append(side[:n].copy())
            self._count(n)
        return infos, sides

    def _expand(
        self, level: Level, allowed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The sets of the next level, their allowances, and the splits into them."""
        from milp_trees.engines.hypergraph.row_sets import rehash
        from milp_trees.engines.lagrangian_filter import kernels

        F, words = self.view.n_features, self.sets.words
        found = _Sets(max(1024, 4 * F), words)
        splits: list[np.ndarray] = []
        each = max(1, VALUES // (2 * F)) if F else 1
        begin = done = 0
        values = np.empty((0, 2, F), dtype=np.int64)
        while begin < len(level.sets):
            self._tick()
            if begin == done:  # the values of the last states have all been used
                done = min(len(level.sets), begin + each)
                values = self._values(level, allowed, begin, done)
            columns = np.empty((max(F, min(F * (done - begin), ROOM)), 4), dtype=np.int64)
            begin, found.n, n = kernels.expand(
                level.sets,
                allowed,
                begin,
                self.sets.truth,
                self.sets.split,
                values[begin - done :] if begin < done else values[:0],
                self.merge,
                found.bits,
                found.hashes,
                found.table,
                found.below,
                found.n,
                columns,
            )
            splits.append(columns[:n].copy())
            self._count(n)
            states = level.first + len(level.sets) + found.n
            if states > self.max_states or 8 * words * found.n > self.max_bytes:
                raise OverflowError(
                    f"it has {states:,} states and more, where at most {self.max_states:,} are allowed"
                )
            if found.grow_for(2 * F):
                rehash(found.hashes, found.n, found.table)
        return found.bits[: found.n].copy(), found.below[: found.n].copy(), splits

    def _values(self, level: Level, allowed: np.ndarray, begin: int, end: int) -> np.ndarray:
        """Optimal values of both sides of every test, exact where they fit; else too large."""
        from milp_trees.engines.lagrangian_filter import kernels
        from milp_trees.engines.near_best.kernels import NONE

        sets, F = self.sets, self.view.n_features
        values = np.empty((end - begin, 2, F), dtype=np.int64)
        if level.depth == 2:
            kernels.values_of_sides(
                sets.data.address,
                sets.work.address,
                level.sets,
                begin,
                sets._by_test,
                np.empty((3, 2, F), dtype=np.int64),
                values,
            )
            return values
        values[:] = NONE
        for i in range(end - begin):
            rows, allowance = level.sets[begin + i], int(allowed[begin + i])
            two = sets.levels(rows)
            low = sets.low(two).sum(axis=0) + sets.split
            for f in np.flatnonzero(low <= allowance).tolist():
                spare = allowance - int(sets.split[f])
                both = sets.within(two, rows, level.depth, f, spare)
                if both is not None:
                    values[i, :, f] = both
        return values

    # -- limits ----------------------------------------------------------------------------------

    def _tick(self) -> None:
        if self.watch is not None:
            self.watch.check()

    def _count(self, n: int) -> None:
        self.n_columns += n
        if self.n_columns > self.max_columns:
            raise OverflowError(
                f"it has {self.n_columns:,} columns and more, where at most {self.max_columns:,} are allowed"
            )
        if self.n_columns * 8 * (8 + self.S) > self.max_bytes:
            raise Stopped(Limit.MEMORY)


class _Sets:
    """Sets of rows in a hash table, with their allowances."""

    def __init__(self, capacity: int, words: int) -> None:
        self.n = 0
        self.bits = np.empty((capacity, words), dtype=np.uint64)
        self.hashes = np.empty(capacity, dtype=np.uint64)
        self.below = np.empty(capacity, dtype=np.int64)
        self.table = np.full(_power_of_two(2 * capacity), -1, dtype=np.int64)

    def grow_for(self, more: int) -> bool:
        """Make room for some more sets; True if the table is new and must be filled again."""
        need = self.n + more
        if need <= len(self.bits) and 2 * need <= len(self.table):
            return False
        size = max(2 * len(self.bits), need)
        for name in ("bits", "hashes", "below"):
            old = getattr(self, name)
            new = np.empty((size, *old.shape[1:]), dtype=old.dtype)
            new[: self.n] = old[: self.n]
            setattr(self, name, new)
        self.table = np.full(_power_of_two(2 * size), -1, dtype=np.int64)
        return True


def _power_of_two(n: int) -> int:
    return 1 << max(1, (n - 1).bit_length())


def warm_up() -> None:
    """Compile the kernels, once per process; later processes read them from files."""
    if _warm:
        return
    _warm.add("reduction")
    with compiling("the reduction of states"):
        from milp_trees.data.dataset import BinaryFeature
        from milp_trees.engines.hypergraph import row_sets
        from milp_trees.engines.hypergraph.graph import _tiny
        from milp_trees.tasks.views import SideRow

        row_sets.rehash(np.zeros(1, dtype=np.uint64), 1, np.full(2, -1, dtype=np.int64))
        Reduction(_tiny(BinaryFeature, SideRow), Trees(2), _Zero()).within(10)


class _Zero:
    """No price on any side row."""

    denominator = 1
    numerators = (0,)

    def view_at(self, view: CostMatrix) -> CostMatrix:
        return replace(view, costs=view.regret, side=())

    def bound(self, z: int, view: CostMatrix) -> Fraction:
        return Fraction(z + int(view.base.sum()))
