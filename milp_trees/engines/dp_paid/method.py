"""`dp-paid`: exact search for trees whose tests have prices that depend on what was paid before.

The search is that of `dp-sizes`, over sets of rows and the prices that attributes have on the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.dp.by_leaves.limits import memo_bytes
from milp_trees.engines.dp_sizes import limited, with_path
from milp_trees.engines.kit.run import Run, wrong_value
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Result
from milp_trees.results.size_path import Point
from milp_trees.tasks.path_costs import PathCosts

if TYPE_CHECKING:
    from milp_trees.engines.dp.by_leaves.fronts import LeavesSearch

#: Problems with no more rows × tests × largest sum surely fit.
_SMALL = 2**50
#: The first of the depths that are searched one after the other.
_FIRST = 4


@register
class DynamicProgrammeWithPrices(Method):
    """Exact search over sets of rows and paid attributes."""

    name = "dp-paid"
    title: ClassVar[str] = "Dynamic programme over sets of rows and what their path has paid"
    needs = PathCosts
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-size"})
    shared_components: ClassVar[frozenset[str]] = frozenset({"dp"})
    verification_rank: ClassVar[int] = 12
    default_rank = 25
    reference_rank = 25
    takes_min_weight = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(PathCosts)
        if view.errors.leaf_cost < 0 or (view.errors.split_costs < 0).any():
            return "dp-paid takes penalties of at least 0; some are negative."
        if view.largest * (view.errors.n_features + 32) ** 2 < _SMALL:
            return None
        from milp_trees.engines.dp_paid.arrays import prepare_paid

        try:
            prepare_paid(view.reduced, limited(problem), isinstance(problem.question, BySize))
        except Unsupported as why:
            return str(why)
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view, sizes = problem.view(PathCosts).reduced, isinstance(problem.question, BySize)
            from milp_trees.engines.dp_paid.arrays import prepare_paid, search_of, warm_up

            prepared = prepare_paid(view, limited(problem), sizes)
        warm_up(prepared.instance)
        run = PaidRun(self.label, problem, limits, progress, clock)
        with clock("solve"):
            run.prepare(view, search_of(view, prepared, memo_bytes(limits)))
            tree = run.solve()
        if tree is None and run.limit is None:
            return run.end(None)
        if start is not None and (tree is None or view.objective(start) < view.objective(tree)):
            tree = start
        result = run.end(tree)
        return with_path(result, run.points(limited(problem)), run) if sizes else result


class PaidRun(Run):
    """One run: the best trees by number of leaves, for one depth after the other."""

    def prepare(self, view: PathCosts, search: LeavesSearch) -> None:
        """Begin with a search, before it has found a tree."""
        from milp_trees.engines.dp.arrays import INFINITY

        self.view, self.search, self.infinity = view, search, INFINITY
        n = search.leaves + 1
        #: By number of leaves: the best value, its root test, the leaves on its left, and the depth
        #: of the search that found it.
        self.best = np.full(n, INFINITY)
        self.tests, self.left, self.depths = (np.full(n, -1) for _ in range(3))
        #: Bounds by number of leaves, once the search has ended.
        self.lower: np.ndarray | None = None

    def solve(self) -> Tree | None:
        """The best tree."""
        self.attempt(self._search)
        if self.limit is None:
            self.lower = self.best
            self.point()
        else:
            self.lower = np.array([self.search.root_bound(k) for k in range(len(self.best))])
        return self.tree(-1)

    def _search(self) -> None:
        search, most = self.search, self.search.leaves
        for depth in range(min(_FIRST, search.depth), search.depth + 1):
            root = search.begin(search.data.everything, depth, most)
            root.budget[: most + 1] = self.best
            if not isinstance(self.problem.question, BySize):
                root.budget[:most] = -self.infinity
            done = False
            while not done:
                self.check()
                done = search.advance()
                better = root.best[: most + 1] < self.best
                better[0] = False
                for mine, found in (
                    (self.best, root.best),
                    (self.tests, root.tests),
                    (self.left, root.left),
                ):
                    mine[better] = found[: most + 1][better]
                self.depths[better] = depth
                self.point()

    def tree(self, k: int) -> Tree | None:
        """The tree behind the value found for a number of leaves (-1: the largest one)."""
        k %= len(self.best)
        if self.search.objective(int(self.best[k])) is None:
            return None
        claimed, found = self.Z(self.best[k]), (self.depths[k], k, self.tests[k], self.left[k])
        tree = self.view.errors.tree_of(self.search.tree(*map(int, found)))
        if self.view.objective(tree) > claimed:
            raise wrong_value(self.label, claimed, self.view.objective(tree))
        return tree

    def Z(self, value: Any) -> int:
        """Integer objective of a value of the search."""
        return self.search.instance.to_Z(int(value))

    def bound(self, k: int = -1) -> int:
        """No tree with so many leaves costs less."""
        matrix, k = self.view.errors, k % len(self.best)
        least = int(matrix.base.sum()) + matrix.leaf_cost
        lower = self.search.root_bound(k) if self.lower is None else self.lower[k]
        return max(least, self.Z(min(lower, self.best[k])))

    def point(self) -> None:
        """Add a point to the trace, if there is a tree."""
        if self.search.objective(int(self.best[-1])) is not None:
            best = self.Z(self.best[-1])
            self.note(self.view.to_value(best), self.view.to_value(min(best, self.bound())))

    def points(self, space: Trees) -> tuple[Point, ...]:
        """The best tree for every number of leaves."""
        out: list[Point] = []
        last = len(self.best) - 1
        for leaves in range(1, (space.max_leaf_nodes or last) + 1):
            k = min(leaves, last)
            tree = out[-1].predictor if out and k < leaves else self.tree(k)
            if tree is not None:
                bound = self.view.to_value(self.bound(k))
                out.append(Point.of(self.problem, leaves, tree, bound))
        return tuple(out)

    def end(self, tree: Tree | None) -> Result:
        """The result with a tree."""
        counters = self.search.counters
        sizes = {
            "rows": self.view.errors.n_rows,
            "tests": self.view.errors.n_features,
            **{name: counters[name] for name in ("nodes", "pairs", "skipped", "recalled")},
        }
        return self.result(tree, self.view.to_value(self.bound()), model_size=sizes)
