"""`dp-sorted`: exact search for data whose tests are thresholds of few columns.

It is meant above all for continuous features with all midpoints as thresholds.

Tests `column <= t` of one column are nested, so the rows of a node in the order of the column hold
all its splits, and neighbouring splits differ in few rows. Depth two takes one pass over the sorted
rows of every column, for many root cuts at once. Higher levels use best-first search over spans of
cuts with interval bounds, a cache of row sets and similarity bounds (Brița, van der Linden,
Demirović 2025, *ConTree*; the idea for depth two: Demirović et al. 2022, *MurTree*). Time and
memory depend on rows and columns; no matrix of rows × tests is made.

All arithmetic is in integers. The depth rises step by step, so a run that is stopped keeps a good
tree and a valid bound.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from milp_trees.compiling import compiling
from milp_trees.errors import Unsupported
from milp_trees.limits import Limits
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.registering import register
from milp_trees.results.result import Limit, Result, Status
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.sorted.instance import SortedColumns
    from milp_trees.problem import Problem

log = logging.getLogger("milp_trees")

#: Seconds between two checks of a running search.
POLL = 0.02

_warm: set[tuple[str, str]] = set()


@register
class SortedColumnsSearch(Method):
    """Exact search over sorted columns."""

    name = "dp-sorted"
    title: ClassVar[str] = (
        "Exact search over sorted columns: all midpoints of continuous features, compiled"
    )
    effort: ClassVar[int] = 30
    takes_min_weight = True
    # It is for problems with too many tests for dp.
    default_rank = 30
    proves: ClassVar[bool] = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view, space = problem.view(CostMatrix), problem.trees
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp-sorted takes penalties and test costs of at least 0; some are negative."
        if space.limits_leaves:
            return "dp-sorted takes no largest number of leaves; the method dp does."
        if view.min_weight_leaf and space.min_samples_leaf > 1:
            return "dp-sorted takes a smallest leaf in rows or in weight, not both at once; the method dp takes both."
        from milp_trees.engines.sorted.instance import too_large

        return too_large(view, space.max_depth)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view = problem.view(CostMatrix)
        with clock("prepare"):
            from milp_trees.engines.sorted.instance import amounts_of, sorted_columns

            amounts, least = amounts_of(view, problem.trees)
            columns = sorted_columns(view)
        if int(amounts.sum()) < least or view.n_rows < problem.trees.min_samples_leaf:
            return finish(
                problem,
                self.name,
                None,
                bound=None,
                claims_optimal=False,
                proved_by=self.name,
                clock=clock,
                infeasible=True,
            )
        with clock("solve"):
            run = SortedRun(view, problem.trees, columns, limits, progress)
            run.began = clock.begin = clock.begin + run.warm_up()
            watch = Watch(limits, clock.begin, problem)
            run.offer_start(start)
            limit = run.solve(watch)
            tree = run.best_tree()
        return finish(
            problem,
            self.name,
            tree,
            bound=view.to_value(run.bound),
            claims_optimal=limit is None,
            proved_by=self.name,
            clock=clock,
            limit=limit,
            model_size=run.counters(),
            trace=run.trace,
            watch=watch,
        )

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        """Give the one claim that the checker needs for up to three levels."""
        if result.status is not Status.OPTIMAL or result.value is None:
            raise Unsupported("dp-sorted proves optima; this run was stopped before it had one.")
        if why := self.unproved(problem):
            raise Unsupported(why)
        view, depth = problem.view(CostMatrix), problem.trees.max_depth
        return Claims([(view.objective(result.predictor), depth, [])])

    def unproved(self, problem: Problem) -> str | None:
        depth = problem.trees.max_depth
        if depth is not None and depth <= 3:
            return None
        return "dp-sorted writes proofs of trees of at most three levels; the method dp writes those of deeper ones."


class Found(NamedTuple):
    """The root of a node's best tree: searched depth, column (-1: leaf), cut, values of sides.

    A value is only given if it is known.
    """

    depth: int
    column: int
    cut: int
    low: int | None
    high: int | None


class SortedRun:
    """One run with rising depth, incumbent, bound and trace.

    The compiled search runs in a thread of its own, so that Ctrl-C and the deadline take effect.
    """

    def __init__(
        self,
        view: CostMatrix,
        space: Trees,
        columns: SortedColumns,
        limits: Limits,
        progress: Progress | None,
    ) -> None:
        from milp_trees.engines.sorted.instance import allocate

        assert space.max_depth is not None
        self.view, self.columns, self.limits = view, columns, limits
        self.depth = min(int(space.max_depth), view.n_rows - 1) if columns.tests else 0
        self.arrays = allocate(view, space, columns, self.depth, limits.memory_mb)
        self.limited = 1 if self.arrays.columns.least else 0
        self.constant = int(view.base.sum())  # the search works with regrets
        self.bound = self.constant + view.leaf_cost
        self.root: Found | None = None
        self.start: tuple[int, Tree] | None = None
        self.value: int | None = None
        self.trace = Trace(progress)
        self.began = time.perf_counter()

    def warm_up(self) -> float:
        """Compile the kernels for this instance's number type, once per process.

        Returns the seconds it took, which are not charged to a run.
        """
        began = time.perf_counter()
        from milp_trees.engines.sorted import passes
        from milp_trees.engines.sorted import search as sweep_search

        a = self.arrays
        kind = (a.columns.values.dtype.name, a.form)
        if kind not in _warm:
            with compiling("dp-sorted"):
                passes.compiled(a.form, kind[0])
                a.state.stop[0] = 1  # the call that compiles then returns at once
                sweep_search.solve(a.columns, a.lists, a.work, a.state)
                a.state.stop[0] = 0
            _warm.add(kind)
        a.work.address[0] = passes.compiled(a.form, kind[0]).address
        return time.perf_counter() - began

    def counters(self) -> dict[str, int]:
        from milp_trees.engines.sorted import search as s

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
        """Raise the depth until its limit or a limit of the run is reached."""
        best = None if self.start is None else self.start[0] - self.constant + 1
        for depth in [self.depth] if self.depth <= 2 else range(2, self.depth + 1):
            limit, value = self.run_depth(depth, best, watch, depth == self.depth)
            best = value if best is None else min(best, value)
            if limit is not None:
                return limit
            if best <= self.view.leaf_cost:
                break
        assert self.value is not None
        self.bound = self.value
        self.report(self.value)
        return None

    def run_depth(
        self, depth: int, best: int | None, watch: Watch, last: bool
    ) -> tuple[Limit | None, int]:
        """Search one depth for a tree with a value below `best`.

        Parameters
        ----------
        depth : int
        best : int or None
            Value of the best known tree, in integer units.
        watch : Watch
        last : bool
            Whether this is the largest depth.

        Returns
        -------
        limit : Limit or None
            The limit that ended the search.
        value : int
            Value of the best known tree.
        """
        from milp_trees.engines.sorted import search as s
        from milp_trees.engines.sorted.nodes import INFINITY

        state = self.arrays.state
        budget = INFINITY if best is None else best
        self._ask(depth, budget, self.limited)
        state.shared[s.BEST], state.shared[s.LOWER] = budget, 0

        def look() -> None:
            found = int(state.shared[s.BEST])
            if last:
                self.bound = max(
                    self.bound,
                    min(self.constant + int(state.shared[s.LOWER]), self.constant + found),
                )
            self.report(self.constant + found if found < INFINITY else None)

        limit = self._run(watch, look)
        level = state.level[0]
        if int(level[s.UB]) < budget:
            budget = int(level[s.UB])
            self.root = self._found(depth)
            self.report(self.constant + budget)
        if limit is not None and last:
            look()
        return limit, budget

    def _ask(self, depth: int, budget: int, mode: int) -> None:
        from milp_trees.engines.sorted import search as s

        level = self.arrays.state.level[0]
        level[:] = 0
        level[s.DEPTH], level[s.BUDGET], level[s.UB], level[s.MODE], level[s.PHASE] = (
            depth,
            budget,
            budget,
            mode,
            s.ENTER,
        )
        level[s.COLUMN], level[s.BEST_CUT] = -1, -1

    def _run(self, watch: Watch, look: Any) -> Limit | None:
        """Run the compiled search in a thread; None if it ended by itself."""
        from milp_trees.engines.sorted import search as s

        a, done, failure = self.arrays, threading.Event(), []

        def work() -> None:
            try:
                s.solve(a.columns, a.lists, a.work, a.state)
            except BaseException as error:  # raised again in the caller's thread below
                failure.append(error)
            finally:
                done.set()

        a.state.stop[0] = 0
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        limit = None
        try:
            while not done.wait(watch.deadline.wait(POLL)):
                look()
                limit = watch.over()
                if limit is not None:
                    break
        except KeyboardInterrupt:
            limit = Limit.INTERRUPTED
        if limit is not None:
            a.state.stop[0] = 1
        thread.join()
        a.state.stop[0] = 0
        if failure:
            raise failure[0]
        return limit

    def report(self, Z: int | None) -> None:
        """Report a new incumbent or bound."""
        if Z is not None and (self.value is None or self.value > Z):
            self.value = Z
        value = None if self.value is None else float(self.view.to_value(self.value))
        bound = float(self.view.to_value(self.bound))
        self.trace.add(time.perf_counter() - self.began, value, bound)

    # -- the tree --------------------------------------------------------------------------------------------

    def best_tree(self) -> Tree | None:
        """The better one of the best tree found and the start."""
        if self.root is None:
            return self.start[1] if self.start else None
        lists = self.arrays.lists
        rows = lists.rows[0].copy(), lists.ranks[0].copy()
        return Tree(self._node(rows, self.root), self.view.actions)

    def _node(self, rows: tuple[np.ndarray, np.ndarray], found: Found) -> Node:
        """The tree of a node, from its known root.

        The children are solved again, now with their values as budgets.
        """
        order, ranks = rows
        m = order.shape[1]
        if found.column < 0:
            return Leaf(int(self.view.regret[order[0]].sum(axis=0).argmin()))
        begins = (
            np.flatnonzero(np.diff(ranks[found.column])) + 1
        )  # the positions at which all runs but the first begin
        k = int(begins[found.cut])
        low, high = int(ranks[found.column, k - 1]), int(ranks[found.column, k])
        # Every threshold between the two runs divides these rows in the same way; the middle one is
        # taken.
        test = self.view.features[int(self.columns.tests[found.column][(low + high - 1) // 2])]
        inside = np.zeros(self.view.n_rows, dtype=bool)
        inside[order[found.column, :k]] = True
        sides = []
        for kept, value in ((inside, found.low), (~inside, found.high)):
            mask = kept[order]
            p = len(order)
            child = order[mask].reshape(p, -1), ranks[mask].reshape(p, -1)
            assert 0 < child[0].shape[1] < m
            sides.append(self._node(child, self._solve_again(child, found.depth - 1, value)))
        return Branch(test, sides[1], sides[0])

    def _solve_again(
        self, rows: tuple[np.ndarray, np.ndarray], depth: int, value: int | None
    ) -> Found:
        from milp_trees.engines.sorted import search as s
        from milp_trees.engines.sorted.nodes import INFINITY

        lists = self.arrays.lists
        m = rows[0].shape[1]
        lists.size[0] = m
        lists.rows[0, :, :m], lists.ranks[0, :, :m] = rows
        self._ask(depth, INFINITY if value is None else value + 1, self.limited)
        s.solve(self.arrays.columns, lists, self.arrays.work, self.arrays.state)
        return self._found(depth)

    def _found(self, depth: int) -> Found:
        from milp_trees.engines.sorted import search as s

        level = self.arrays.state.level[0]
        low, high = (int(level[s.BEST_LOW]), int(level[s.BEST_HIGH])) if depth > 2 else (None, None)
        return Found(depth, int(level[s.COLUMN]), int(level[s.BEST_CUT]), low, high)
