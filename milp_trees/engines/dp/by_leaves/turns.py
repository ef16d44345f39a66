"""A search for trees of every number of leaves, later in turns with searches for fewer leaves.

Trees of at most 5, 6, … leaves are found sooner by a search for them alone, so that a run that is
stopped is not worse than one with fewer leaves. They begin when an eighth of the time is used up:
a run that ends before needs none of them. What they find, the search of all sizes must improve on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from milp_trees.common.compiling import compiling, run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limit, Limits
from milp_trees.engines.dp.arrays import INFINITY, Instance
from milp_trees.engines.dp.by_leaves.fronts import (
    MEMO_BYTES,
    Improved,
    LeavesSearch,
    Size,
    TreesBySize,
)
from milp_trees.engines.dp.by_leaves.limits import prepare_sizes
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Node
from milp_trees.models.space import Trees
from milp_trees.tasks.views import LeafSums

#: Fewer leaves are searched when this part of the time is used up.
SHARE = 8
#: Turns of the searches for fewer leaves for one of the whole search.
TURNS = 2
#: Part of the memory that a search for fewer leaves may take.
MEMORY_SHARE = 4
#: Every search is exact for so many leaves after its first round through the root tests.
EXACT = 4

_warm: set[tuple[Any, ...]] = set()


def solve_sizes(
    view: LeafSums,
    space: Trees,
    watch: Watch | None = None,
    progress: Improved | None = None,
    memory_bytes: int = MEMO_BYTES,
    similar: bool = True,
) -> TreesBySize:
    """Best trees of at most 1, 2, …, L leaves on a view without side rows."""
    if space.max_depth is None and space.max_leaf_nodes is None:
        raise Unsupported("Trees of every size need a limit: give max_leaf_nodes or max_depth.")
    prepared = prepare_sizes(view, space)
    warm_up(prepared.instance)

    def make(leaves: int, part: int) -> LeavesSearch:
        depth = min(prepared.depth, leaves - 1)
        smaller = prepared._replace(leaves=leaves, depth=depth)
        return LeavesSearch(smaller, view, memory_bytes // part, similar)

    return Turns(make, prepared.leaves).solve(watch, progress)


class Turns:
    """The search for trees of all sizes, and one at a time for fewer leaves.

    Parameters
    ----------
    make : callable
        Makes a search from the largest number of leaves and its part of the memory.
    leaves : int
        Largest number of leaves.
    """

    def __init__(self, make: Callable[[int, int], LeavesSearch], leaves: int) -> None:
        self.make, self.leaves = make, leaves
        self.whole, self.short = self._begun(leaves, 1), None
        #: Leaves of the last search for fewer, and up to which all values are proven.
        self.size, self.proven = EXACT, 0
        #: Values of the trees that searches for fewer leaves have found, and the trees.
        self.values = np.full(leaves + 1, INFINITY)
        self.nodes: dict[int, Node] = {}

    short: LeavesSearch | None

    def _begun(self, leaves: int, part: int) -> LeavesSearch:
        made = self.make(leaves, part)
        made.begin(made.data.everything, made.depth, leaves)
        return made

    def solve(self, watch: Watch | None = None, progress: Improved | None = None) -> TreesBySize:
        """The front on all rows."""
        guard = watch or Watch(Limits(time=None))
        _, limit = guard.until(lambda: self._search(guard, progress))
        if self.short is not None and self.short.work.nodes:
            self._keep(self.short)
        best = self._best()
        return self._answer(best, best if limit is None else self._lower(best), limit)

    def _search(self, watch: Watch, progress: Improved | None) -> None:
        """Search in turns until everything is proven."""
        late = watch.began + (watch.deadline.at - watch.began) / SHARE
        last: tuple[int | None, ...] = ()
        for calls in itertools.count():
            if calls % (TURNS + 1) and self.size < self.leaves and run_clock() >= late:
                done = self._fewer()
            else:
                done = self.whole.advance()
            found = tuple(map(self.whole.objective, self._best()[1:].tolist()))
            if progress and found != last:
                last = found
                progress(found)
            if done:
                return
            watch.check()

    def _fewer(self) -> bool:
        """One call of the search for fewer leaves; True if no tree of more leaves can be better."""
        if self.short is None:
            self.size += 1
            if self.size == self.leaves:
                return False
            self.short = self._begun(self.size, MEMORY_SHARE)
            budget = self.short.root.budget
            budget[: self.size + 1] = self.values[: self.size + 1]
        if not self.short.advance():
            return False
        self._keep(self.short)
        self.short, self.proven = None, self.size
        budget = self.whole.root.budget
        budget[: self.leaves + 1] = np.minimum(budget[: self.leaves + 1], self.values)
        best = self._best()
        return bool((self._lower(best) >= best).all())

    def _keep(self, search: LeavesSearch) -> None:
        """Keep the trees of a search for fewer leaves that are better than those known."""
        sizes = np.minimum(np.arange(self.leaves + 1), search.leaves)
        values = search.root.best[sizes]
        better = np.flatnonzero((values < self.values) & (sizes > 0))
        trees = search.trees(sorted(set(sizes[better].tolist())))
        for k in better.tolist():
            self.values[k], self.nodes[k] = values[k], trees[int(sizes[k])]

    # -- the answer --------------------------------------------------------------------------------

    def _best(self) -> np.ndarray:
        """The best values known, by number of leaves."""
        best: np.ndarray = np.minimum(self.whole.root.best[: self.leaves + 1], self.values)
        return best

    def _lower(self, best: np.ndarray) -> np.ndarray:
        return self.whole.lower(best, self.proven)

    def _answer(self, best: np.ndarray, lower: np.ndarray, limit: Limit | None) -> TreesBySize:
        whole, counters, sizes = self.whole, self.whole.counters, list[Size]()
        Z = [whole.objective(int(value)) for value in best]
        new = [
            k
            for k in range(1, self.leaves + 1)
            if Z[k] is not None and (k == 1 or Z[k] != Z[k - 1])
        ]
        own = whole.trees([k for k in new if best[k] < self.values[k]])
        tree = None
        for k in range(1, self.leaves + 1):
            if k in new:
                tree = whole.view.tree_of(own[k] if k in own else self.nodes[k])
            bound = whole.instance.to_Z(min(int(lower[k]), INFINITY))
            sizes.append(Size(k, Z[k], bound, tree))
        return TreesBySize(tuple(sizes), limit, counters)


def warm_up(instance: Instance) -> None:
    """Compile the search and the kernels for an instance's kind, once per process."""
    if instance.kernel_kind not in _warm:
        from milp_trees.engines.dp.buffers import kernels_of
        from milp_trees.engines.kit.compile import tiny_view

        with compiling("the search for trees of every size"):
            kernels_of(instance, sides=True)
            first = not _warm
            _warm.add(instance.kernel_kind)
            if first:
                solve_sizes(tiny_view(), Trees(4, 7))
