"""`side-fronts`: exact search under side rows, from fronts of costs and totals, in integers.

For every set of rows and every combination of totals of the side rows the cheapest tree is kept. Two
trees of a set can be compared only if all their totals are equal, since rows of one set add the same
to :math:`g_a+g_{\\bar a}` in every tree (van der Linden, de Weerdt, Demirović 2023, *STreeD*, group
fairness); so nothing but reachability prunes: a total is dropped if no labels of the other rows
bring it within the side rows, and a part if it alone costs as much as the best tree so far. The last
merge looks for a pair only, and makes no front.

It takes any number of side rows: statistical parity, equal opportunity, equalised odds, capacities.
It is slow, and has no part in common with the dynamic programme and the formulations, so it is there
to confirm what those find.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once, tiny_problem
from milp_trees.engines.kit.run import Run
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.space import full_leaves
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Largest estimate of the work: minutes, not hours.
MOST_WORK = 100_000_000


@register
class SideFronts(Method):
    """Exact search that keeps the cheapest tree for all totals of the side rows."""

    name = "side-fronts"
    title: ClassVar[str] = "Cheapest trees for all totals of the side rows, in exact integers"
    shared_components: ClassVar[frozenset[str]] = frozenset({"fronts"})
    verification_rank: ClassVar[int] = 40
    default_rank: ClassVar[int | None] = 92
    reference_rank: ClassVar[int | None] = 45
    takes_side_rows = True

    def unsupported_view(self, problem: Problem) -> str | None:
        from milp_trees.engines.side_fronts.search import keys_of

        view = problem.view(CostMatrix)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "side-fronts takes penalties and test costs of at least 0; some are negative."
        depth = _depth(problem, view)
        work = view.n_features * (2 * view.n_features) ** max(depth - 1, 0) * view.n_actions**2
        work *= view.n_rows ** max(depth - 3, 0)  # fronts of deeper trees have many points
        if work > MOST_WORK:
            return f"side-fronts is for problems with few tests or levels: tests · (2 · tests)^(depth − 1) · actions², from four levels on times rows^(depth − 3), may be at most {MOST_WORK:,}; here it is {work:.3g}."
        if keys_of(problem.presolved_view(), _most_leaves(problem)) is None:
            return "side-fronts writes the totals of all side rows as one integer of 61 bits; these have too many digits or are too many."
        return None

    def warm_up(self) -> None:
        """Compile the kernels, by a search without side rows."""
        from milp_trees.tasks.classification import Accuracy

        tiny, limits = tiny_problem(Accuracy()), Limits(time=None)
        compile_once(self.name, lambda: self.search(tiny, limits, None, None))

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        run = SideFrontsRun(self.name, problem, limits, progress, clock)
        with clock("prepare"):
            run.prepare(start)
        with clock("solve"):
            run.attempt(run.solve)
        cost = run.view.unavoidable if run.limit else run.cost
        bound = None if cost is None else run.view.to_value(cost)
        sizes = {"sets": run.search.n_sets, "points": run.search.n_points}
        return run.result(run.tree, bound, model_size=sizes)


class SideFrontsRun(Run):
    """One run: the incumbent and its cost."""

    tree: Tree | None = None
    cost: int | None = None

    def prepare(self, start: Tree | None) -> None:
        """Make the search, which looks for trees that cost less than the start."""
        from milp_trees.engines.side_fronts.search import SideRowFronts, keys_of

        problem, self.view = self.problem, self.problem.presolved_view()
        keys = keys_of(self.view, _most_leaves(problem))
        assert keys is not None
        self.search = SideRowFronts(self.view, problem.trees, keys, self.check)
        self.least = int(self.view.base.sum())
        if start is not None:
            self.tree, self.cost = self.view.canonical(start), self.view.objective(start)
            self.search.below = self.cost - self.least

    def solve(self) -> None:
        """Search for cheaper and cheaper trees, level by level."""
        depth, bound = _depth(self.problem, self.view), self.view.to_value(self.view.unavoidable)
        for levels in range(min(depth, 1), depth + 1):
            self.search.memo.clear()  # fronts of the last depth keep more than they need now
            for cost, node in self.search.best(levels):
                self.tree, self.cost = Tree(node, self.view.actions), cost + self.least
                self.note(self.view.to_value(self.cost), bound)


def _depth(problem: Problem, view: CostMatrix) -> int:
    """Levels that a tree can use: at most one per feature, and one row in every leaf."""
    return min(problem.trees.depth, view.n_features, max(0, view.n_rows - 1))


def _most_leaves(problem: Problem) -> int | None:
    space = problem.trees
    most = space.max_leaf_nodes
    return None if most is None or most >= full_leaves(space.depth) else most
