"""What the compiled search over sorted columns works on.

Costs of actions become signed differences in the smallest number type that holds them. What a leaf
function adds up is whole numbers as doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.engines.dp_sorted.columns import SortedColumns
from milp_trees.engines.dp_sorted.parts import SortedRows
from milp_trees.models.space import Trees
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.loss_sums import UNITS, LossSums
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.dp.contexts import Context

#: Memory of the cache: entries of five words; a quarter of what is allowed, at most this many.
CACHE_ENTRIES = 2**20
#: Sets kept per depth for similarity bounds.
ARCHIVE = 32
#: Arrays with an entry per level of the search.
PER_LEVEL = ("level", "keys", "words", "spans", "bounds")
PER_LEVEL_OF_LISTS = ("rows", "ranks", "ends", "runs", "size")
#: Largest sum of costs of actions, and largest sum of a loss with its penalties.
LARGEST, LARGEST_LOSS = 2**56, 2**59
#: Whole numbers up to this one are doubles.
WHOLE = 2**53


@dataclass(eq=False)
class SortedArrays:
    """What the compiled search works on; see `nodes`, `sweep` and `memory`.

    `form` names the passes over a column: what a leaf costs (`passes.COSTS`, or "sums" where that is
    a function of sums), and what it needs (`passes.NEEDS`).
    """

    columns: Any
    lists: Any
    work: Any
    state: Any
    form: tuple[str, str]
    #: Entries of the cache once there is one: trees of two levels have no nodes to remember.
    entries: int
    _tables: tuple[Context, ...] | None = None

    def solve(self) -> None:
        """Let the compiled search answer what was asked of level 0 (`search.solve`)."""
        from milp_trees.engines.dp_sorted.records import tables
        from milp_trees.engines.dp_sorted.search import solver

        number = self.columns.values.dtype.name
        if self._tables is None:
            self._tables = tables(number, (self.columns, self.lists, self.work, self.state))
        solver(number)(*(table.address for table in self._tables))

    def rows(self) -> SortedRows:
        """All rows, in the order of every column."""
        return SortedRows(self.lists.rows[0].copy(), self.lists.ranks[0].copy())

    def grow_levels(self, depth: int, leaves: int) -> None:
        """Make room for trees of some depth and largest number of leaves (0: no limit).

        The rows of the root and the archive are kept.
        """
        levels = max(1, depth - 1)
        while (
            leaves and len(self.columns.costs) * min(leaves, 2**depth) >= self.state.spans.shape[2]
        ):
            self.grow_spans()
        if levels <= len(self.state.level):
            return
        state, lists = self.state, self.lists
        more = {name: _longer(getattr(lists, name), levels) for name in PER_LEVEL_OF_LISTS}
        self.lists = lists._replace(**more)
        more = {name: _longer(getattr(state, name), levels) for name in PER_LEVEL}
        archive = ("archive_words", "archive", "archived")
        more |= {name: _longer(getattr(state, name), levels + 2) for name in archive}
        if not len(state.cache):
            caches = ("cache_keys", "cache")
            more |= {name: _longer(getattr(state, name), self.entries) for name in caches}
        self.state, self._tables = state._replace(**more), None

    def grow_spans(self) -> None:
        """Double the pools of spans."""
        pools = {
            name: np.concatenate([pool, np.empty_like(pool)], axis=2)
            for name, pool in (("spans", self.state.spans), ("bounds", self.state.bounds))
        }
        self.state, self._tables = self.state._replace(**pools), None


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    """The array with zeros behind it; memory that stays zero is not used."""
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def too_large(view: LeafSums, space: Trees) -> str | None:
    """The sentence that sums of these costs do not fit into 64 bits, or None."""
    penalty = (view.leaf_cost + int(view.split_costs.max(initial=0))) * (
        _most_leaves(view, space) + 2
    )
    if isinstance(view, LossSums):
        amounts = max((float(a.sum(dtype=float)) for a, _ in minima_of(view, space)), default=0)
        if amounts >= WHOLE:
            return "dp-sorted adds the weights of rows in 53 bits, and these are too large; divide them by a common factor."
        fits = 4 * UNITS + penalty <= LARGEST_LOSS
        return None if fits else "dp-sorted adds penalties in 64 bits, and these are too large."
    # Summed as floats: integers of 64 bits could overflow here already.
    if 2 * float(view.regret.sum(dtype=float)) + penalty <= LARGEST:  # type: ignore[attr-defined]
        return None
    return (
        "dp-sorted adds costs in 64 bits, and these are too large; divide them by a common factor."
    )


def _most_leaves(view: LeafSums, space: Trees) -> int:
    """The largest number of leaves of a best tree."""
    most = min(view.n_rows, space.most_leaves or view.n_rows)
    return min(most, view.most_leaves) if isinstance(view, LossSums) else most


def largest_depth(view: LeafSums, space: Trees, columns: SortedColumns) -> int:
    """The largest depth that can matter: no tree has more leaves than rows, or than these fill."""
    if not columns.tests:
        return 0
    most = [_most_leaves(view, space)]
    most += [int(amounts.sum()) // least for amounts, least in minima_of(view, space)]
    depth = max(0, min(most) - 1)
    return depth if space.max_depth is None else min(depth, int(space.max_depth))


def allocate(
    view: LeafSums, space: Trees, sorted_: SortedColumns, memory_mb: int | None = None
) -> SortedArrays:
    """Arrays for a search of depth two; `grow_levels` makes room for deeper ones."""
    from milp_trees.engines.dp_sorted.memory import FIELDS, SortedState
    from milp_trees.engines.dp_sorted.nodes import Lists, SearchColumns
    from milp_trees.engines.dp_sorted.passes import TABLE, lanes_of
    from milp_trees.engines.dp_sorted.sweep import SweepWork
    from milp_trees.engines.kit.leaf_code import compiled_leaf

    n, p = view.n_rows, len(sorted_.tests)
    is_loss = isinstance(view, LossSums)
    values, first, labels, worst = _values(view)
    unit = 1 if is_loss else max(1, int(np.gcd.reduce(values, axis=None)))
    if (why := too_large(view, space)) is not None:
        raise Unsupported(why)
    minima = minima_of(view, space)
    A = len(minima)
    amounts = np.array([amount for amount, _ in minima], dtype=np.int64).reshape(A, n)
    values = values // unit
    kind = (
        np.float64 if is_loss else _integers([*values, *amounts], [n + 1, *(x for _, x in minima)])
    )
    levels, V, lanes = 1, values.shape[0], lanes_of(kind)
    words = n // 64 + 1
    capacity = sum(len(t) for t in sorted_.tests) + p + 1
    entries = (
        CACHE_ENTRIES
        if memory_mb is None
        else min(CACHE_ENTRIES, max(2**10, 2 ** int(np.log2(memory_mb * 2**20 / 4 / 40))))
    )
    rng = np.random.default_rng(0)
    cheapest, (address, parameters) = int(sorted_.costs.min(initial=0)), compiled_leaf(view)
    tie = view.tie if isinstance(view, LossSums) else 0
    columns = SearchColumns(
        values=np.ascontiguousarray(values, dtype=kind),
        labels=labels.astype(kind),
        weights=(-values.sum(axis=0) if len(labels) else np.zeros(0)).astype(kind),
        first=first,
        worst=worst,
        amounts=amounts.astype(kind),
        keys=rng.integers(0, 2**64, (2, n), dtype=np.uint64),
        costs=sorted_.costs,
        by_cost=np.argsort(sorted_.costs, kind="stable"),
        least=np.array([least for _, least in minima], dtype=kind),
        parameters=parameters,
        cheapest=cheapest,
        leaf=int(view.leaf_cost),
        unit=unit,
        slack=tie,
        priced=int(view.leaf_cost - tie + cheapest > 0),
        leaf_function=address,
    )
    lists = Lists(
        rows=np.empty((levels, max(1, p), n), dtype=np.int32),
        ranks=np.empty((levels, p, n), dtype=np.int32),
        ends=np.empty((levels, p, n), dtype=np.int32),
        runs=np.zeros((levels, p), dtype=np.int64),
        size=np.zeros(levels, dtype=np.int64),
        side=np.zeros(n, dtype=np.uint8),
        sums=np.zeros((3, 1 + V), dtype=np.int64),
    )
    lists.rows[0, 0] = np.arange(n)  # the rows, also where there is no column to split on
    for j in range(p):
        lists.rows[0, j] = np.argsort(sorted_.ranks[j], kind="stable")
        lists.ranks[0, j] = sorted_.ranks[j][lists.rows[0, j]]
    lists.size[0] = n
    work = SweepWork(
        position=np.zeros(n, dtype=kind),
        P=np.zeros((p, n), dtype=kind),
        W=np.zeros((p, 1 if len(labels) else V, n), dtype=kind),
        Y=np.zeros((p, n if len(labels) else 0), dtype=kind),
        A=np.zeros((p, A, n), dtype=kind),
        cuts=np.zeros(lanes, dtype=kind),
        least=columns.least,
        C=np.zeros(2 * A * lanes, dtype=kind),
        counts=np.zeros(A * lanes + A, dtype=kind),
        sums=np.zeros(4 * V * lanes, dtype=kind),
        store=np.zeros(4 * lanes * n if len(labels) else 0, dtype=kind),
        out=np.zeros(4 * lanes, dtype=kind),
        prefix=np.zeros((1 + V + A, n), dtype=np.int64),
        low=np.zeros((3, lanes), dtype=np.int64),
        high=np.zeros((3, lanes), dtype=np.int64),
        caps=np.zeros((2, lanes), dtype=np.int64),
        spans=np.zeros((5, n + 2), dtype=np.int64),
        bounds=np.zeros((8, n + 2), dtype=np.int64),
        picked=np.zeros(lanes, dtype=np.int64),
        address=np.zeros(2, dtype=np.int64),
        args=np.zeros(TABLE, dtype=np.int64),
    )
    state = SortedState(
        level=np.zeros((levels, FIELDS), dtype=np.int64),
        keys=np.zeros((levels, 2), dtype=np.uint64),
        words=np.zeros((levels, words), dtype=np.uint64),
        spans=np.zeros((levels, 4, capacity), dtype=np.int64),
        bounds=np.zeros((levels, 3, capacity), dtype=np.int64),
        cache_keys=np.zeros((0, 2), dtype=np.uint64),
        cache=np.zeros((0, 3), dtype=np.int64),
        archive_words=np.zeros((0, ARCHIVE, words), dtype=np.uint64),
        archive=np.zeros((0, ARCHIVE, 2), dtype=np.int64),
        archived=np.zeros(0, dtype=np.int64),
        known=np.zeros(p, dtype=np.int64),
        found=np.zeros(6, dtype=np.int64),
        shared=np.zeros(9, dtype=np.int64),
        stop=np.zeros(1, dtype=np.uint8),
    )
    costs = "sums" if is_loss else "labels" if len(labels) else "many" if V > 1 else "two"
    needs = "amounts" if A > 1 else "one amount" if A else "nothing"
    return SortedArrays(columns, lists, work, state, (costs, needs), entries)


def _integers(added: list[np.ndarray], numbers: list[int]) -> type:
    """The smallest type that holds sums of some rows of numbers, and some numbers."""
    reach = max([int(np.abs(row).sum()) for row in added] + numbers)
    return np.int16 if reach < 2**13 * 1.9 else np.int32 if reach < 2**29 else np.int64


def _values(view: LeafSums) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values (V, n), first costs, labels (empty without) and largest regrets of rows.

    They are those of `nodes.SearchColumns`.
    """
    if isinstance(view, LossSums):
        from milp_trees.engines.dp_sorted.nodes import INFINITY

        # What a row of a loss that is removed was worth is not known: only subsets give bounds.
        worst = np.full(view.n_rows, INFINITY, dtype=np.int64)
        parts = np.ascontiguousarray(view.parts.T)
        return parts, parts[-1].copy(), np.zeros(0, dtype=np.int64), worst
    assert isinstance(view, CostMatrix)
    return (*_differences(view), view.regret.max(axis=1))


def _differences(view: CostMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, first costs and labels of costs of actions."""
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


def minima_of(view: LeafSums, space: Trees) -> tuple[tuple[np.ndarray, int], ...]:
    """What every leaf needs: pairs of an amount per row and its smallest sum.

    Rows are left out where one is enough: every leaf of the search has one.
    """
    least = space.min_samples_leaf
    return ((view.counts, least), *view.leaf_minima) if least > 1 else view.leaf_minima
