"""`dp-sorted`: exact search for data whose tests are thresholds of few columns.

It is meant above all for continuous features with all midpoints as thresholds.

Tests `column <= t` of one column are nested, so the rows of a node in the order of the column hold
all its splits, and neighbouring splits differ in few rows. Depth two takes one pass over the sorted
rows of every column, for many root cuts at once. Higher levels use best-first search over spans of
cuts with interval bounds, a cache of row sets and similarity bounds (Brița, van der Linden,
Demirović 2025, *ConTree*; the idea for depth two: Demirović et al. 2022, *MurTree*). Time and
memory depend on rows and columns; no matrix of rows × tests is made.

Where a leaf costs a function of sums, as squared error does, depth two evaluates that function for
the cuts of a column only where blocks of rows can hold a better one, and divides spans of root cuts
in the same way (Mazumder, Meng, Wang 2022, *Quant-BnB*, whose bounds by quantiles are such spans).

All arithmetic is in integers. The depth rises step by step, so a run that is stopped keeps a good
tree and a valid bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import infeasible
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.work import Sizes
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result, Status
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Seconds per row, column and halving of a column at depth three, and how many times as long the
#: next level takes.
PACE, LEVEL = 2e-8, 40
#: Seconds that every run takes, and seconds per row and column for sorting.
START, SORTING = 2e-3, 1.5e-7


@register
class SortedColumnsSearch(Method):
    """Exact search over sorted columns."""

    name = "dp-sorted"
    title: ClassVar[str] = (
        "Exact search over sorted columns: all midpoints of continuous features, compiled"
    )
    needs: ClassVar[tuple[type, ...]] = (CostMatrix, LeafSums)
    verification_rank: ClassVar[int] = 25
    takes_any_depth = True
    takes_min_weight = True
    takes_min_treatment = True
    # It is for problems with too many tests for dp.
    default_rank = 30
    proves: ClassVar[bool] = True
    sorts_columns: ClassVar[bool] = True

    def expected_seconds(self, sizes: Sizes) -> float:
        spans = sum(1 + 4 * math.log2(max(1.0, cuts)) for cuts in sizes.cuts)
        third = PACE * sizes.rows * len(sizes.cuts) * spans * math.log2(max(2, sizes.actions))
        started = START + SORTING * sizes.rows * len(sizes.cuts)
        return float(started + third * LEVEL ** (sizes.depth - 3))

    def most_tests(self, sizes: Sizes) -> int:
        """All: it is named, or chosen, for all thresholds."""
        return sizes.tests

    def unsupported_view(self, problem: Problem) -> str | None:
        view, space = problem.first_view(self.needs), problem.trees
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp-sorted takes penalties and test costs of at least 0; some are negative."
        from milp_trees.engines.dp_sorted.instance import too_large

        return too_large(view, space)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view = problem.first_view(self.needs)
        with clock("prepare"):
            from milp_trees.engines.dp_sorted.columns import sorted_columns
            from milp_trees.engines.dp_sorted.instance import allocate, minima_of
            from milp_trees.engines.dp_sorted.run import SortedRun, compile_passes

            minima = minima_of(view, problem.trees)
            columns = sorted_columns(view)
        if any(int(amounts.sum()) < least for amounts, least in minima):
            return infeasible(self.name, problem, clock)
        with clock("solve"):
            arrays = allocate(view, problem.trees, columns, limits.memory_mb)
            compile_passes(view, arrays)
            run = SortedRun(self.name, problem, limits, progress, clock)
            run.prepare(view, columns, arrays)
            run.solve(start)
            tree = run.best_tree()
        return run.result(tree, view.to_bound(run.bound), model_size=run.counters())

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        """Give the one claim that the checker needs for up to three levels or four leaves."""
        if result.status is not Status.OPTIMAL or result.value is None:
            raise Unsupported("dp-sorted proves optima; this run was stopped before it had one.")
        if not problem.task.offers(CostMatrix):
            raise Unsupported("dp-sorted writes proofs of sums of action costs alone.")
        if why := self.unproved(problem):
            raise Unsupported(why)
        view, space = problem.view(CostMatrix), problem.trees
        few = (space.max_leaf_nodes,) if space.limits_leaves else (None,)
        return Claims([(view.objective(result.predictor), space.max_depth, [], [], *few)])

    def unproved(self, problem: Problem) -> str | None:
        depth, leaves = problem.trees.max_depth, problem.trees.max_leaf_nodes
        if (depth is not None and depth <= 3) or (leaves is not None and leaves <= 4):
            return None
        return "dp-sorted writes proofs of trees of at most three levels or four leaves; the method dp writes those of larger ones."
