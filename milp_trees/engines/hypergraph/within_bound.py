"""The hypergraph of all trees within a bound, grown from the root without the rest of it.

With multipliers of the side rows every feasible tree of objective at most `upper` has a Lagrangian
cost of at most `upper`. From the root down, a state's *allowance* is what the best tree around it
leaves of that; if several splits enter it, the largest counts. A split is kept if the optimal
Lagrangian values of its sides fit into the allowance, a stop or last split if its own cost fits, so
a column is kept exactly if it is part of a tree within `upper`. Leaves choose their action freely:
all that fit are kept. Loads numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Stopped
from milp_trees.engines.hypergraph.all_states import assemble
from milp_trees.engines.hypergraph.columns import NONE, StateColumns
from milp_trees.engines.hypergraph.graph import States
from milp_trees.engines.hypergraph.levels import StateLevel, TreeStates, data_of, leaf_minima
from milp_trees.engines.hypergraph.row_sets import SetTable
from milp_trees.engines.hypergraph.shrink import Priced, most_at, shrink
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.engines.near_best.kernels import levels
from milp_trees.engines.near_best.states import RowSets
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.results.result import Limit
from milp_trees.tasks.views import LeafSums

#: Memory of remembered values, of one level's sets, and of all columns, if no limit is given.
MEMORY_MB = 3000
#: Values of sides that are made at a time.
VALUES = 200_000


def trees_within(
    view: LeafSums,
    space: Trees,
    multipliers: Sequence[Priced],
    upper: int,
    watch: Watch | None = None,
    **more: Any,
) -> States:
    """The states and columns that can be part of a tree within a bound."""
    found = TreesWithin(view, space, multipliers[0], watch, **more).within(upper)
    return shrink(found, view, multipliers, upper)


class TreesWithin(TreeStates):
    """Hypergraphs for one vector of multipliers; values of sets are kept between them.

    Parameters
    ----------
    view, space, watch
        As for `trees_within`.
    multipliers : multipliers
        One vector.
    merge : bool, default=True
        Leave columns out that are no better than others with the same side numbers in the same
        state: tests that divide it like another one, actions, and last splits. An optimum under
        side rows is kept, but not all trees. Otherwise both leaves of a last split may have one
        action.
    max_states, max_columns : int
        OverflowError is raised if there are more.
    memory_mb : int
        Memory of the remembered values.
    """

    def __init__(
        self,
        view: LeafSums,
        space: Trees,
        multipliers: Priced,
        watch: Watch | None = None,
        merge: bool = True,
        max_states: int = 2_000_000,
        max_columns: int = 20_000_000,
        memory_mb: int = MEMORY_MB,
    ) -> None:
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            raise Unsupported("The reduction takes penalties and test costs of at least 0.")
        warm_up()
        self.view, self.multipliers, self.watch = view, multipliers, watch
        self.priced = multipliers.view_at(view)
        max_bytes = memory_mb * 2**20
        self.sets = RowSets(self.priced, replace(space, max_leaf_nodes=None), watch, max_bytes)
        place = self.sets.data.X, self.sets.truth, self.sets.position
        data = data_of(view, *leaf_minima(view, space), self.priced, merge=merge, place=place)
        super().__init__(data, space.depth, max_states, max_columns, max_bytes)
        self.root = np.array(self.sets.all_rows)[None, :]
        self._by_test = np.zeros((self.sets.data.values.shape[1], view.n_features), np.int64)

    def within(self, upper: int) -> States:
        """All columns of trees whose Lagrangian cost is at most `upper`."""
        most = most_at(self.multipliers, self.view, upper)
        self.allowance = most - self.priced.fixed_cost
        return assemble(self, States)

    def _check(self) -> None:
        if self.watch is not None:
            self.watch.check()
        if self.n_columns * 8 * (8 + self.data.n_side) > self.max_bytes:
            raise Stopped(Limit.MEMORY)

    def _split_allowance(self, level: StateLevel, cheapest: np.ndarray) -> np.ndarray:
        return level.allowance

    def _add_splits(self, level: StateLevel, parts: list[StateColumns]) -> None:
        each = max(1, VALUES // (2 * self.view.n_features)) if self.view.n_features else 1
        for begin in range(0, len(level.sets), each):
            self._check()
            span = begin, min(len(level.sets), begin + each)
            self._split(level, span, self._values(level, *span), parts)

    def _values(self, level: StateLevel, begin: int, end: int) -> np.ndarray:
        """Optimal values of both sides of every test, exact where they fit; else too large."""
        sets, F = self.sets, self.view.n_features
        values = np.empty((end - begin, 2, F), dtype=np.int64)
        if level.depth == 2:
            at, scratch = sets.data.address, np.empty((3, 2, F), dtype=np.int64)
            values_of_sides(
                at, sets.work.address, level.sets, begin, self._by_test, scratch, values
            )
            return values
        values[:] = NONE
        for i in range(end - begin):
            rows, allowance = level.sets[begin + i], int(level.allowance[begin + i])
            two = sets.levels(rows)
            low = sets.low(two).sum(axis=0) + sets.split
            for f in np.flatnonzero(low <= allowance).tolist():
                spare = allowance - int(sets.split[f])
                both = sets.within(two, rows, level.depth, f, spare)
                if both is not None:
                    values[i, :, f] = both
        return values


@kernel  # type: ignore[untyped-decorator]
def values_of_sides(data_address, work_address, sets, begin, by_test, scratch, values):  # type: ignore[no-untyped-def]
    """The best tree of at most one split on both sides of every test: values[i, side, f].

    They are those of the sets from `begin` on, as many as `values` has room for. `scratch` is
    (3, 2, F).
    """
    one, actions, size = scratch[0], scratch[1], scratch[2]
    for i in range(len(values)):
        rows = sets[begin + i]
        levels(data_address, work_address, rows, True, by_test, one, actions, values[i], size)


def warm_up() -> None:
    """Compile the kernels, once per process; later processes read them from files."""

    def enumerate_tiny() -> None:
        TreesWithin(tiny_view(side=True), Trees(2), _Zero()).within(10)
        SetTable.of(1, 1).with_room(2)

    compile_once("the states within a bound", enumerate_tiny)


class _Zero:
    """No price on any side row."""

    denominator = 1
    numerators = (0,)

    def view_at(self, view: Any) -> Any:
        return replace(view, costs=view.regret, side=())

    def bound(self, z: int, view: LeafSums) -> Fraction:
        return Fraction(z + view.fixed_cost)
