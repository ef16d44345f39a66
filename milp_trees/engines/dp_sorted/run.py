"""One run of the search over sorted columns: depths, limits, incumbent, bound and trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from milp_trees.engines.dp_sorted.columns import SortedColumns
from milp_trees.engines.dp_sorted.instance import SortedArrays, largest_depth
from milp_trees.engines.dp_sorted.parts import Question, SortedPart, SortedRows, extend, read
from milp_trees.engines.kit.compile import compile_once
from milp_trees.engines.kit.run import Run, wrong_value
from milp_trees.models.tree import Tree
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix


def compile_passes(view: LeafSums, arrays: SortedArrays) -> None:
    """Compile the kernels for this type of number, once per process."""
    from milp_trees.engines.dp_sorted import passes

    kind = arrays.columns.values.dtype.name
    needs = dict.fromkeys(("nothing", arrays.form[1]))
    function = (view.leaf, view.n_values) if isinstance(view, LossSums) else None

    def made(need: str) -> Any:
        if function is not None:
            return passes.compiled_sums(need, *function)
        return passes.compiled((arrays.form[0], need), kind)

    def work() -> None:
        for need in needs:
            made(need)
        arrays.state.stop[0] = 1  # the call that compiles then returns at once
        arrays.solve()
        arrays.state.stop[0] = 0

    compile_once("dp-sorted", work, kind, *arrays.form, function)
    for i, need in enumerate(needs):
        arrays.work.address[i] = made(need).address


class SortedRun(Run):
    """One run with rising depth, incumbent and bound.

    The compiled search runs in a thread of its own, so that Ctrl-C and the deadline take effect.
    Values inside are regrets; `constant` is what every tree costs. Those of losses are rounded, so
    the value of a tree may be larger by up to `slack` per leaf than a bound allows that holds for
    the loss before rounding: see `loss_sums`.
    """

    root: SortedPart | None = None
    start: tuple[int, Tree] | None = None
    value: int | None = None

    def prepare(self, view: LeafSums, columns: SortedColumns, arrays: SortedArrays) -> None:
        """Begin with arrays whose kernels are compiled."""
        self.view, self.columns, space = view, columns, self.problem.trees
        self.arrays = arrays
        self.depth = largest_depth(view, space, columns)
        self.leaves = int(space.max_leaf_nodes or 0) if space.limits_leaves else 0
        self.rows = self.arrays.rows()
        self.limited = 1 if len(self.arrays.columns.least) else 0
        self.constant = int(view.base.sum()) if isinstance(view, CostMatrix) else 0
        self.slack = self.arrays.columns.slack
        self.bound = self.constant + view.leaf_cost

    def counters(self) -> dict[str, int]:
        from milp_trees.engines.dp_sorted import spans as s

        shared = self.arrays.state.shared.tolist()
        return {
            "depth_two": shared[s.CALLS],
            "cuts": shared[s.CUTS],
            "cached": shared[s.HITS],
            "similar": shared[s.SIMILAR],
        }

    # -- solving ---------------------------------------------------------------------------------------------

    def solve(self, start: Tree | None) -> None:
        """Raise the depth until no deeper tree can be better, or a limit of the run is reached."""
        best = None
        if start is not None:
            start = self.view.decided(self.view.canonical(start))
            self.start = (self.view.objective(start), start)
            self.report(self.start[0])
            best = self.start[0] - self.constant + 1
        for depth in [self.depth] if self.depth <= 2 else range(2, self.depth + 1):
            best = self.run_depth(depth, best)
            if self.limit is None and (depth == self.depth or best <= self.least_deeper(depth)):
                assert self.value is not None
                self.bound = self.value
                self.report(self.value)
                return
            if self.limit is None:
                best = self.extend(depth, best)
            if self.limit is not None:
                return

    def least_deeper(self, depth: int) -> int:
        """What trees deeper than `depth` cost at least."""
        columns = self.arrays.columns
        return max(columns.leaf, (depth + 2) * columns.leaf + (depth + 1) * columns.cheapest)

    def run_depth(self, depth: int, best: int | None) -> int:
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
        self._run(self._search, look)
        found = int(self.arrays.state.level[0, UB])
        if self.limit is None:
            state.shared[s.LOWER] = found
        if found < budget:
            budget = found
            self.root = self._part(depth, self.leaves)
            self.report(self.constant + budget)
        look()
        return budget

    def _ask(self, rows: SortedRows, depth: int, leaves: int, budget: int, floor: int) -> None:
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

    def _run(self, work: Callable[[], object], look: Callable[[], object]) -> None:
        """Do compiled work in a thread, until it ends by itself or a limit is reached."""
        stop = self.arrays.state.stop
        self.attempt(lambda: self.watch.beside(lambda _: work(), stop, look))
        if stop[0]:  # interrupted again while the search was to stop, so it still runs
            raise KeyboardInterrupt

    def report(self, Z: int | None) -> None:
        """Report a new incumbent or bound."""
        if Z is not None and (self.value is None or self.value > Z):
            self.value = Z
        value = None if self.value is None else self.view.to_value(self.value)
        self.note(value, self.view.to_bound(self.bound))

    # -- the tree --------------------------------------------------------------------------------------------

    def _part(self, depth: int, leaves: int) -> SortedPart:
        """The tree that the search has found."""
        from milp_trees.engines.dp_sorted import memory as m

        level = self.arrays.state.level[0].tolist()
        return SortedPart(
            level[m.UB],
            level[m.BEST_DEPTH],
            leaves,
            level[m.COLUMN],
            level[m.BEST_CUT],
            (level[m.BEST_LOW], level[m.BEST_HIGH]),
            level[m.BEST_LEAVES],
        )

    def solve_part(self, rows: SortedRows, asked: Question, floor: int) -> SortedPart:
        """The best tree of some rows; it has the value asked for, if its search is not stopped."""
        self._ask(rows, asked.depth, asked.leaves, self.budget(rows, asked), floor)
        self._search()
        return self._part(asked.depth, asked.leaves)

    def budget(self, rows: SortedRows, asked: Question) -> int:
        """What a tree of some rows must cost less than."""
        leaves = min(asked.leaves or rows.order.shape[1], 1 << min(asked.depth, 40))
        return asked.value + 1 + self.slack * leaves

    def found_part(self, rows: SortedRows, asked: Question) -> SortedPart:
        """A tree of some rows that is known to have a value."""
        part = self.solve_part(rows, asked, asked.value)
        if part.value >= self.budget(rows, asked):
            raise wrong_value(self.label, asked.value, part.value)
        return part

    def extend(self, depth: int, best: int) -> int:
        """Make the best tree deeper: its sides are solved again, at the depth that is solved.

        That costs about as much as this depth did, and gives the next depth a better tree to begin
        with.
        """
        root, state = self.root, self.arrays.state
        if root is None or root.value != best:
            return best

        def again(rows: SortedRows, asked: Question) -> SortedPart | None:
            found = self.solve_part(rows, asked, self.arrays.columns.leaf)
            return None if state.stop[0] else found

        def gain(less: int) -> None:
            nonlocal best
            best -= less

        self._run(
            lambda: extend(root, self.rows, depth, self.depth, again, gain),
            lambda: self.report(self.constant + best),
        )
        self.report(self.constant + best)
        return best

    def best_tree(self) -> Tree | None:
        """The better one of the best tree found and the start."""
        if self.root is None:
            return self.start[1] if self.start else None
        root, totals = read(self.root, self.rows, self.columns, self.view, self.found_part)
        return self.view.with_best_actions(root, np.array(totals))
