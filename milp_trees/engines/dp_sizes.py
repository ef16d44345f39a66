"""`dp-sizes`: the best trees of every number of leaves, from one run of the dynamic programme.

The search is in `milp_trees.engines.dp.by_leaves.fronts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import Run, infeasible
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Result, Solution
from milp_trees.results.size_path import Point, SizePath
from milp_trees.tasks.views import CostMatrix, LeafSums


@register
class DynamicProgrammeBySize(Method):
    """Exact search for trees with at most 1, 2, …, L leaves at once.

    For a problem that asks for the best tree alone, the answer is the best tree with at most L
    leaves.
    """

    name = "dp-sizes"
    needs: ClassVar[tuple[type, ...]] = (CostMatrix, LeafSums)
    title: ClassVar[str] = "Dynamic programme for the best trees of every number of leaves"
    shared_components: ClassVar[frozenset[str]] = frozenset({"dp"})
    verification_rank: ClassVar[int] = 60
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-size"})
    takes_any_depth = True
    default_rank = 85
    takes_min_weight = True
    takes_min_treatment = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view, space = problem.first_view(self.needs), limited(problem)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp-sizes takes penalties and test costs of at least 0; some are negative."
        if space.max_depth is None and space.max_leaf_nodes is None:
            return "dp-sizes needs a limit on the size of trees; give max_leaf_nodes (--leaves) or max_depth (--depth)."
        from milp_trees.engines.dp.arrays import surely_fits

        if not surely_fits(view):
            from milp_trees.engines.dp.by_leaves.limits import prepare_sizes

            try:
                prepare_sizes(problem.presolved_view(), space)
            except Unsupported as why:
                return str(why)
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        from milp_trees.engines.dp.by_leaves.limits import memo_bytes
        from milp_trees.engines.dp.by_leaves.turns import solve_sizes

        clock = Clock()
        with clock("prepare"):
            view, space = problem.presolved_view(), limited(problem)
        run = Run(self.label, problem, limits, progress, clock, fallback=space is problem.trees)
        least = float(view.to_bound(view.unavoidable))

        def improved(found: tuple[int | None, ...]) -> None:
            if found[-1] is not None:
                run.note(view.to_value(found[-1]), least)

        with clock("solve"):
            if space is not problem.trees:  # a greedy tree has no more leaves than are asked for
                run.watch = Watch(limits, clock.begin, replace(problem, space=space))
            fronts = solve_sizes(view, space, run.watch, improved, memo_bytes(limits))
        last, run.limit = fronts.sizes[-1], fronts.limit
        tree, bound = last.tree, view.to_bound(last.bound, last.leaves)
        if start is not None and (last.Z is None or view.objective(start) < last.Z):
            tree = start  # the start is better than what was found in time
        if tree is None and run.limit is None:
            return infeasible(self.label, problem, clock)
        if run.limit is None:
            run.note(bound, bound)
        result = run.result(tree, bound, model_size=fronts.counters)
        if not isinstance(problem.question, BySize):
            return result
        points = tuple(
            Point.of(problem, size.leaves, size.tree, view.to_bound(size.bound, size.leaves))
            for size in fronts.sizes
            if size.tree is not None
        )
        return with_path(result, points, run)


def with_path(result: Result, points: tuple[Point, ...], run: Run) -> Result:
    """A result with the best trees of every number of leaves."""
    path = SizePath(run.problem, points, run.label, run.limit, run.clock.seconds)
    solutions = tuple(Solution(p.predictor, p.value) for p in reversed(path.improving))
    return replace(result, curve=path, solutions=solutions)


def limited(problem: Problem) -> Trees:
    """The space, with the number of leaves of the question as a limit."""
    question, space = problem.question, problem.trees
    if not isinstance(question, BySize):
        return space
    most = (
        question.max_leaves
        if space.max_leaf_nodes is None
        else min(question.max_leaves, space.max_leaf_nodes)
    )
    return replace(space, max_leaf_nodes=most)
