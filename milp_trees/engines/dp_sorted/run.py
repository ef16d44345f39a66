"""One run of the search over sorted columns: depths, limits, incumbent, bound and trace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from milp_trees.common.compiling import compiling, run_clock
from milp_trees.common.limits import Limits
from milp_trees.engines.dp_sorted.columns import SortedColumns
from milp_trees.engines.dp_sorted.instance import allocate, largest_depth
from milp_trees.engines.dp_sorted.parts import Part, Question, Rows, extend, read
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit
from milp_trees.tasks.views import CostMatrix

#: Seconds between two checks of a running search.
POLL = 0.02

_warm: set[tuple[str, str, str]] = set()


class SortedRun:
    """One run with rising depth, incumbent, bound and trace.

    The compiled search runs in a thread of its own, so that Ctrl-C and the deadline take effect.
    Values inside are regrets; `constant` is what every tree costs.
    """

    def __init__(
        self,
        view: CostMatrix,
        space: Trees,
        columns: SortedColumns,
        limits: Limits,
        progress: Progress | None,
    ) -> None:
        self.view, self.columns, self.limits = view, columns, limits
        self.depth = largest_depth(view, space, columns)
        self.leaves = int(space.max_leaf_nodes or 0) if space.limits_leaves else 0
        self.arrays = allocate(view, space, columns, limits.memory_mb)
        self.rows = self.arrays.rows()
        self.limited = 1 if len(self.arrays.columns.least) else 0
        self.constant = int(view.base.sum())
        self.bound = self.constant + view.leaf_cost
        self.root: Part | None = None
        self.start: tuple[int, Tree] | None = None
        self.value: int | None = None
        self.trace = Trace(progress)
        self.began = run_clock()

    def warm_up(self) -> None:
        """Compile the kernels for this instance's number type, once per process."""
        from milp_trees.engines.dp_sorted import passes

        a = self.arrays
        kind = a.columns.values.dtype.name
        needs = dict.fromkeys(("nothing", a.form[1]))
        if (kind, *a.form) not in _warm:
            with compiling("dp-sorted"):
                for need in needs:
                    passes.compiled((a.form[0], need), kind)
                a.state.stop[0] = 1  # the call that compiles then returns at once
                a.solve()
                a.state.stop[0] = 0
            _warm.add((kind, *a.form))
        for i, need in enumerate(needs):
            a.work.address[i] = passes.compiled((a.form[0], need), kind).address

    def counters(self) -> dict[str, int]:
        from milp_trees.engines.dp_sorted import spans as s

        shared = self.arrays.state.shared.tolist()
        return {
            "depth_two": shared[s.CALLS],
            "cuts": shared[s.CUTS],
            "cached": shared[s.HITS],
            "similar": shared[s.SIMILAR],
        }

    def offer_start(self, tree: Tree | None) -> None:
        """Make a given tree the incumbent until a better one is found."""
        if tree is not None:
            self.start = (self.view.objective(tree), self.view.canonical(tree))
            self.report(self.start[0])

    # -- solving ---------------------------------------------------------------------------------------------

    def solve(self, watch: Watch) -> Limit | None:
        """Raise the depth until no deeper tree can be better, or a limit of the run is reached."""
        best = None if self.start is None else self.start[0] - self.constant + 1
        for depth in [self.depth] if self.depth <= 2 else range(2, self.depth + 1):
            limit, best = self.run_depth(depth, best, watch)
            if limit is not None:
                return limit
            if depth == self.depth or best <= self.least_deeper(depth):
                break
            limit, best = self.extend(depth, best, watch)
            if limit is not None:
                return limit
        assert self.value is not None
        self.bound = self.value
        self.report(self.value)
        return None

    def least_deeper(self, depth: int) -> int:
        """What trees deeper than `depth` cost at least."""
        columns = self.arrays.columns
        return max(columns.leaf, (depth + 2) * columns.leaf + (depth + 1) * columns.cheapest)

    def run_depth(self, depth: int, best: int | None, watch: Watch) -> tuple[Limit | None, int]:
        """Search one depth for a tree with a value below `best`."""
        from milp_trees.engines.dp_sorted import spans as s
        from milp_trees.engines.dp_sorted.memory import UB
        from milp_trees.engines.dp_sorted.nodes import INFINITY

        self.arrays.grow_levels(depth, self.leaves)
        state = self.arrays.state
        budget = INFINITY if best is None else best
        state.shared[s.BEST], state.shared[s.LOWER] = budget, 0
        others = INFINITY if depth == self.depth else self.least_deeper(depth)

        def look() -> None:
            found, lower = int(state.shared[s.BEST]), int(state.shared[s.LOWER])
            self.bound = max(self.bound, self.constant + min(lower, found, others))
            self.report(self.constant + found if found < INFINITY else None)

        self._ask(self.rows, depth, self.leaves, budget, 0)
        limit = self._run(self._search, watch, look)
        found = int(self.arrays.state.level[0, UB])
        if limit is None:
            state.shared[s.LOWER] = found
        if found < budget:
            budget = found
            self.root = self._part(depth, self.leaves)
            self.report(self.constant + budget)
        look()
        return limit, budget

    def _ask(self, rows: Rows, depth: int, leaves: int, budget: int, floor: int) -> None:
        from milp_trees.engines.dp_sorted import memory as m
        from milp_trees.engines.dp_sorted.search import ENTER

        lists, level = self.arrays.lists, self.arrays.state.level[0]
        size = rows.order.shape[1]
        lists.size[0] = size
        lists.rows[0, :, :size], lists.ranks[0, :, :size] = rows
        level[:] = 0
        level[m.DEPTH], level[m.LEAVES] = m.fitted.py_func(depth, leaves)
        level[m.BUDGET], level[m.UB], level[m.FLOOR] = budget, budget, floor
        level[m.MODE], level[m.PHASE] = self.limited, ENTER
        level[m.COLUMN], level[m.BEST_CUT] = -1, -1

    def _search(self) -> None:
        """Answer what was asked, with larger pools where it needs them."""
        from milp_trees.engines.dp_sorted.spans import FULL

        a = self.arrays
        a.solve()
        while a.state.shared[FULL] and not a.state.stop[0]:
            a.grow_spans()
            a.solve()

    def _run(self, work: Callable[[], Any], watch: Watch, look: Callable[[], None]) -> Limit | None:
        """Do compiled work in a thread; None if it ended by itself."""
        state, done, failure = self.arrays.state, threading.Event(), []

        def run() -> None:
            try:
                work()
            except BaseException as error:  # raised again in the caller's thread below
                failure.append(error)
            finally:
                done.set()

        state.stop[0] = 0
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        limit = None
        try:
            while not done.wait(watch.deadline.wait(POLL)):
                look()
                limit = watch.over(done.is_set)
                if limit is not None:
                    break
        except KeyboardInterrupt:
            limit = Limit.INTERRUPTED
        if limit is not None:
            state.stop[0] = 1
        thread.join()
        state.stop[0] = 0
        if failure:
            raise failure[0]
        return limit

    def report(self, Z: int | None) -> None:
        """Report a new incumbent or bound."""
        if Z is not None and (self.value is None or self.value > Z):
            self.value = Z
        value = None if self.value is None else float(self.view.to_value(self.value))
        bound = float(self.view.to_value(self.bound))
        self.trace.add(run_clock() - self.began, value, bound)

    # -- the tree --------------------------------------------------------------------------------------------

    def _part(self, depth: int, leaves: int) -> Part:
        """The tree that the search has found."""
        from milp_trees.engines.dp_sorted import memory as m

        level = self.arrays.state.level[0].tolist()
        return Part(
            level[m.UB],
            level[m.BEST_DEPTH],
            leaves,
            level[m.COLUMN],
            level[m.BEST_CUT],
            (level[m.BEST_LOW], level[m.BEST_HIGH]),
            level[m.BEST_LEAVES],
        )

    def solve_part(self, rows: Rows, asked: Question, floor: int) -> Part:
        """The best tree of some rows."""
        self._ask(rows, asked.depth, asked.leaves, asked.value + 1, floor)
        self._search()
        return self._part(asked.depth, asked.leaves)

    def extend(self, depth: int, best: int, watch: Watch) -> tuple[Limit | None, int]:
        """Make the best tree deeper: its sides are solved again, at the depth that is solved.

        That costs about as much as this depth did, and gives the next depth a better tree to begin
        with.
        """
        root, state = self.root, self.arrays.state
        if root is None or root.value != best:
            return None, best

        def again(rows: Rows, asked: Question) -> Part | None:
            found = self.solve_part(rows, asked, self.arrays.columns.leaf)
            return None if state.stop[0] else found

        def gain(less: int) -> None:
            nonlocal best
            best -= less

        limit = self._run(
            lambda: extend(root, self.rows, depth, self.depth, again, gain),
            watch,
            lambda: self.report(self.constant + best),
        )
        self.report(self.constant + best)
        return limit, best

    def best_tree(self) -> Tree | None:
        """The better one of the best tree found and the start."""
        if self.root is None:
            return self.start[1] if self.start else None
        node = read(self.root, self.rows, self.columns, self.view, self.solve_part)
        return Tree(node, self.view.actions)
