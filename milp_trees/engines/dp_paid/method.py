"""`dp-paid`: exact search for trees whose tests have prices that depend on what was paid before.

The search is in `milp_trees.engines.dp_paid`: a dynamic programme over sets of rows and the prices that
attributes have on the path, with trees of three levels compiled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.errors import SolverFailure, Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.dp_sizes import limited
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Limit, Result, Solution
from milp_trees.results.size_path import Point, SizePath
from milp_trees.tasks.path_costs import PathCosts

if TYPE_CHECKING:
    from milp_trees.engines.dp_paid.search import Search

#: Problems with no more rows × tests × largest sum surely fit.
_SMALL = 2**50


@register
class DynamicProgrammeWithPrices(Method):
    """Exact search over sets of rows and paid attributes."""

    name = "dp-paid"
    title: ClassVar[str] = "Dynamic programme over sets of rows and what their path has paid"
    needs = PathCosts
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-size"})
    shares: ClassVar[frozenset[str]] = frozenset({"dp"})
    effort: ClassVar[int] = 12
    default_rank = 25
    judge_rank = 25
    takes_min_weight = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(PathCosts)
        if view.errors.leaf_cost < 0 or (view.errors.split_costs < 0).any():
            return "dp-paid takes penalties of at least 0; some are negative."
        if view.largest * (view.errors.n_features + 32) ** 2 < _SMALL:
            return None
        from milp_trees.engines.dp_paid.arrays import instance_of

        try:
            instance_of(view.reduced, limited(problem))
        except Unsupported as why:
            return str(why)
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view, space = problem.view(PathCosts).reduced, limited(problem)
            from milp_trees.engines.dp_paid.arrays import instance_of
            from milp_trees.engines.dp_paid.search import Search, warm_up

            instance = instance_of(view, space)
        warm_up(instance)
        watch = Watch(limits, clock.begin, problem)
        with clock("solve"):
            run = _Run(view, problem, Trace(progress), clock, watch)
            sizes = isinstance(problem.question, BySize)
            run.search = Search(view, space, instance, watch.check, run.note, sizes)
            tree, limit = run.solve()
        if tree is None and limit is None:
            return run.end(None, limit, infeasible=True)
        if start is not None and (tree is None or view.objective(start) < view.objective(tree)):
            tree = start
        result = run.end(tree, limit)
        if not isinstance(problem.question, BySize):
            return result
        path = SizePath(problem, run.points(limited(problem)), self.name, limit, clock.seconds)
        return replace(
            result,
            curve=path,
            solutions=tuple(Solution(p.predictor, p.value) for p in reversed(path.improving)),
        )


class _Run:
    """One run: search, incumbent, bound, trace."""

    search: Search

    def __init__(
        self, view: PathCosts, problem: Problem, trace: Trace, clock: Clock, watch: Watch
    ) -> None:
        self.view, self.problem, self.trace = view, problem, trace
        self.clock, self.watch = clock, watch

    def solve(self) -> tuple[Tree | None, Limit | None]:
        """The best tree, and the limit that ended the search."""
        _, limit = self.watch.until(self.search.solve)
        return self.tree(-1), limit

    def tree(self, k: int) -> Tree | None:
        """The tree behind the value found for a number of leaves (-1: the largest one)."""
        from milp_trees.engines.dp.arrays import INFINITY

        found = self.search.found
        if found is None or found[0].best[k] >= INFINITY // 2:
            return None
        tree = Tree(self.search.tree(*found, k % len(found[0].best)), self.view.actions)
        claimed = self.Z(found[0].best[k])
        if self.view.objective(tree) > claimed:
            raise SolverFailure(
                f"dp-paid found the value {claimed}, but its tree has {self.view.objective(tree)}. Please report this problem."
            )
        return tree

    def Z(self, value: Any) -> int:
        """Integer objective of a value of the search."""
        return self.search.instance.to_Z(int(value))

    def bound(self, k: int = -1) -> int:
        """No tree with so many leaves costs less."""
        lower = self.search.lower
        matrix = self.view.errors
        least = int(matrix.base.sum()) + matrix.leaf_cost
        return least if lower is None else max(least, self.Z(lower[k]))

    def note(self, search: Search) -> None:
        """Add a point to the trace."""
        if search.found is not None:
            best, bound = self.Z(search.found[0].best[-1]), self.bound()
            self.trace.add(
                self.clock.seconds,
                float(self.view.to_value(best)),
                float(self.view.to_value(min(best, bound))),
            )

    def points(self, space: Trees) -> tuple[Point, ...]:
        """The best tree for every number of leaves."""
        out: list[Point] = []
        last = 0 if self.search.found is None else len(self.search.found[0].best) - 1
        for leaves in range(1, (space.max_leaf_nodes or last) + 1):
            k = min(leaves, last)
            tree = out[-1].predictor if out and k < leaves else self.tree(k)
            if tree is not None:
                bound = self.view.to_value(self.bound(k))
                out.append(Point.of(self.problem, leaves, tree, bound))
        return tuple(out)

    def end(self, tree: Tree | None, limit: Limit | None, infeasible: bool = False) -> Result:
        search, name = self.search, DynamicProgrammeWithPrices.name
        work = search.arrays.work
        return finish(
            self.problem,
            name,
            tree,
            bound=None if infeasible else self.view.to_value(self.bound()),
            claims_optimal=limit is None and not infeasible,
            proved_by=name,
            clock=self.clock,
            limit=limit,
            infeasible=infeasible,
            model_size={
                "rows": self.view.errors.n_rows,
                "tests": self.view.errors.n_features,
                "nodes": work.nodes + len(search.memo),
                "pairs": work.calls,
                "skipped": work.tests_skipped,
                "recalled": search.reused,
            },
            trace=self.trace,
            watch=self.watch,
        )
