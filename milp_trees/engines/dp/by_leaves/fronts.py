"""Best trees of every number of leaves from one search, exact for any leaf sums.

They are the front of loss against size. Every node gets a budget for each number of leaves from
its parent and returns lower bounds (van der Linden, de Weerdt, Demirović 2023, *STreeD*, solve the
same problem by merging Pareto fronts; Demirović et al. 2022, *MurTree*, have the limit on leaves,
depth-two counts and similar sets). The entry is `turns.solve_sizes`; the compiled part is `kernels`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.by_leaves.limits import MEMO_BYTES as MEMO_BYTES
from milp_trees.engines.dp.by_leaves.limits import PreparedSizes
from milp_trees.engines.dp.switches import Switches
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit
from milp_trees.tasks.views import LeafSums

if TYPE_CHECKING:
    from milp_trees.engines.dp.contexts import Context, ContextRows

#: Work between two looks at the clock (about 0.05 s).
QUOTA = 5e8


@dataclass(frozen=True)
class Size:
    """Best tree with at most so many leaves.

    Parameters
    ----------
    leaves : int
        Leaves allowed.
    Z : int or None
        Integer objective of the best tree found; None if there is no feasible tree (or none was
        found before a limit).
    bound : int
        No tree with at most so many leaves costs less.
    tree : Tree or None
        It may have fewer leaves; then a leaf more does not pay.
    """

    leaves: int
    Z: int | None
    bound: int
    tree: Tree | None

    @property
    def proven(self) -> bool:
        return self.Z is not None and self.bound >= self.Z


@dataclass(frozen=True)
class TreesBySize:
    """The answer of `solve_sizes`.

    It holds one `Size` for each of 1, 2, … leaves, why the search ended early, and its counters.
    """

    sizes: tuple[Size, ...]
    limit: Limit | None
    counters: dict[str, int]


class Paid(NamedTuple):
    """Prices that depend on the path.

    `context` is the record of `prices.PAID`, `prices` are those of the attributes at the root,
    `table` is the address of the table for the kernel, and `kernels` has the addresses of all.
    """

    context: Context
    prices: np.ndarray
    table: int
    kernels: np.ndarray


class LeavesPart(NamedTuple):
    """A set of rows, the prices there, and the limits of a tree on it."""

    bits: np.ndarray
    prices: np.ndarray
    depth: int
    leaves: int


#: Called with the objectives (for 1, 2, … leaves) whenever one has improved; 0 leaves the first
#: out.
Improved = Callable[[tuple[int | None, ...]], None]


class LeavesSearch:
    """One search: the memory of the kernels, the loop around them, and the trees."""

    def __init__(
        self,
        prepared: PreparedSizes,
        view: LeafSums,
        memory_bytes: int,
        similar: bool,
        paid: Paid | None = None,
    ) -> None:
        from milp_trees.engines.dp import pair_layout as at
        from milp_trees.engines.dp.buffers import table_of, work_of
        from milp_trees.engines.dp.by_leaves import kernels

        self.kernels, self.view = kernels, view
        self.instance, self.leaves, self.depth, self.any_leaves = prepared
        self.data: Context = self.instance.data
        switches = Switches(similarity=similar)
        own = None if paid is None else paid.kernels
        self.work: Context = work_of(self.instance, switches, self.depth, self.leaves + 5, own)
        self.paid, self.prices = paid, np.zeros(0, dtype=np.int64)
        if paid is not None:
            self.prices = paid.prices
            self.work.args[at.PRICES] = paid.table
        self.own = self._own()
        self.frames = self._frames(prepared.levels)
        self.root: Context = self.frames[0]
        self.fronts = self._fronts()
        self.table: Context = table_of(1)
        entry = 32 * (self.leaves + 5) + 3 * 8 * 4
        most = max(1, memory_bytes // (2 * entry))  # the memo and its copy while it grows
        self.memo = self._memo(np.zeros((2**9, 4, self.leaves + 5), dtype=np.int64), 0, most)

    # -- arrays ------------------------------------------------------------------------------------

    def _frames(self, levels: int) -> ContextRows:
        from milp_trees.engines.dp.by_leaves.records import FRAME
        from milp_trees.engines.dp.contexts import ContextRows

        size, (F, W) = self.leaves + 5, self.data.tests.shape
        shapes = {
            "bits": (W,),
            "key": (2,),
            "prices": self.prices.shape,
            "floor": (F, 2),
            "hashes": (F, 4),
            **dict.fromkeys(("cost", "order", "paired"), (F,)),
            **dict.fromkeys(("budget", "best", "tests", "left"), (size,)),
            **dict.fromkeys(("lower", "upper"), (F, 2, size)),
            "answer": (2, size),
        }
        return ContextRows(FRAME, levels, shapes)

    def _fronts(self) -> Context:
        from milp_trees.engines.dp.by_leaves.records import FRONTS
        from milp_trees.engines.dp.contexts import Context

        return Context(
            FRONTS,
            frames=self.frames.address,
            any_leaves=int(self.any_leaves),
            paid=0 if self.paid is None else self.paid.context.address,
            regret=np.zeros((1, len(self.data.tests)), dtype=np.int64),
            goal=np.zeros(self.leaves + 5, dtype=np.int64),
            found=np.zeros((2, 5), dtype=np.int64),
            own=self.own,
        )

    def _own(self) -> np.ndarray:
        """What the row at every position costs in any leaf; empty if costs leave that out."""
        if self.instance.leaf is None:
            return np.zeros(0, dtype=np.int64)
        own = np.zeros(len(self.data.X), dtype=np.int64)
        own[self.instance.position] = np.maximum(self.view.leaf_values(self.view.sums), 0)
        return own

    def _memo(self, entries: np.ndarray, used: int, most: int) -> Context:
        from milp_trees.engines.dp.by_leaves.records import MEMO
        from milp_trees.engines.dp.contexts import Context

        return Context(MEMO, entries=entries, used=used, most=most)

    def _grow(self) -> None:
        """More room in the memo: four times as many entries, and a table for them."""
        from milp_trees.engines.dp.buffers import table_of
        from milp_trees.engines.dp.memory import move

        old, table = self.memo, table_of(4 * len(self.memo.entries))
        move(self.table.address, table.address)
        more = np.zeros((3 * len(old.entries), *old.entries.shape[1:]), dtype=np.int64)
        self.memo = self._memo(np.concatenate([old.entries, more]), old.used, old.most)
        self.table = table

    # -- the search --------------------------------------------------------------------------------

    def begin(
        self, bits: np.ndarray, depth: int, leaves: int, prices: np.ndarray | None = None
    ) -> Context:
        """Make a set of rows the root of the search."""
        frame = self.root
        if self.paid is not None:
            frame.prices[:] = self.prices if prices is None else prices
        frame.bits[:], frame.depth, frame.leaves = bits, depth, leaves
        frame.budget[:] = INFINITY
        frame.phase = self.kernels.ENTER
        self.fronts.level = 0
        return frame

    def run(self, between: Callable[[], bool]) -> bool:
        """Search until done (True) or until `between` says to stop."""
        while True:
            done, stop = self.advance(), between()
            if done or stop:
                return done

    def advance(self) -> bool:
        """Search for a few hundredths of a second; whether it is done."""
        k = self.kernels
        answer = k.search(
            self.data.address,
            self.work.address,
            self.table.address,
            self.memo.address,
            self.fronts.address,
            QUOTA,
        )
        if answer == k.FULL:
            self._grow()
        return bool(answer == k.DONE)

    def lower(self, best: np.ndarray, proven: int = 0) -> np.ndarray:
        """Lower bounds of the root by number of leaves, if its search has not ended.

        They are the values proven for up to four leaves, or for as many as another search has
        proven; every other tree pays at least its leaves.
        """
        k, root, data = self.kernels, self.root, self.data
        exact = max(proven, 4 if root.phase > k.PAIRS else 1 if root.phase == k.PAIRS else 0)
        lower, own = best.copy(), int(self.own.sum())
        for leaves in range(exact + 1, self.leaves + 1):
            least = (exact + 1) * data.leaf + exact * data.least_split + own
            lower[leaves] = min(least, int(best[exact])) if exact else data.leaf + own
        return lower

    def root_bound(self, leaves: int) -> int:
        """No tree with so many leaves costs less than this or than the best value found.

        It is that of the bounds of the root tests, while the search is at its largest depth.
        """
        root = self.root
        if root.phase == self.kernels.ENTER or root.depth < self.depth or leaves == 0:
            return 0
        lower, cost = root.lower, root.cost
        if root.any_leaves:
            sums = lower[:, 0, leaves] + lower[:, 1, leaves] + cost
        else:
            sums = lower[:, 0, 1:leaves] + lower[:, 1, leaves - 1 : 0 : -1] + cost[:, None]
        return int(sums.min(initial=INFINITY))

    def objective(self, value: int) -> int | None:
        """Z of a value; None for what is infeasible."""
        return None if value >= INFINITY // 2 else self.instance.to_Z(value)

    @property
    def counters(self) -> dict[str, int]:
        work = self.work
        return {
            "pairs": work.calls,
            "nodes": work.nodes,
            "recalled": work.hits,
            "skipped": work.tests_skipped,
            "cached": self.memo.used,
        }

    # -- trees -------------------------------------------------------------------------------------

    def trees(self, wanted: list[int]) -> dict[int, Node]:
        """The trees behind the values of the root for some numbers of leaves, without actions.

        The search cannot go on after this.
        """
        root = self.root
        tests, left = root.tests.copy(), root.left.copy()
        return {k: self.tree(self.depth, k, int(tests[k]), int(left[k])) for k in wanted}

    def tree(self, depth: int, leaves: int, test: int, left: int) -> Node:
        """The best tree of all rows with a root test and so many leaves on its left."""
        return self._split(LeavesPart(self.data.everything, self.prices, depth, leaves), test, left)

    def _tree(self, part: LeavesPart, entry: int) -> Node:
        """Best tree of a set within its limits, from the memo or by another search."""
        bits, prices, depth, leaves = part
        if not self._any(depth) and leaves <= depth:
            part = LeavesPart(bits, prices, leaves - 1, leaves)
        if entry >= 0:
            lower, value, test, left = self.memo.entries[entry, :, leaves].tolist()
            if lower >= value:
                return self._split(part, test, left)
        frame = self.begin(bits, part.depth, leaves, prices)
        frame.budget[:leaves] = -INFINITY
        self.run(lambda: False)
        return self._split(part, int(frame.tests[leaves]), int(frame.left[leaves]))

    def _any(self, depth: int) -> bool:
        """Whether the number of leaves of trees of a depth is not limited."""
        return self.any_leaves and depth > 3

    def _split(self, part: LeavesPart, test: int, left: int) -> Node:
        """The tree of a set with a root test and so many leaves on its left."""
        bits, prices, depth, leaves = part
        if test < 0:
            return Leaf(0)
        true, after = self.data.tests[test], prices if self.paid is None else prices.copy()
        entries = self.kernels.known(
            self.data.address,
            self.work.address,
            self.table.address,
            self.fronts.address,
            bits,
            after,
            test,
            depth - 1,
        )
        right = leaves if self._any(depth) else leaves - left
        return Branch(
            self.view.features[test],
            self._tree(LeavesPart(bits & ~true, after, depth - 1, left), entries[0]),
            self._tree(LeavesPart(bits & true, after, depth - 1, right), entries[1]),
        )
