"""`enumerate-oblique`: every oblique tree of a small problem, in exact integers.

For a set of rows and a depth, `trees` holds the cheapest tree for every pair (number of leaves,
totals of the side constraints) that some tree achieves; limits and side constraints are checked at
the end. The splits of a set of rows are all linear ones with the gap of the space (`directions`).
Nothing is bounded or cut.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.simplest import incumbent_or_trivial
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Leaf, Node
from milp_trees.oblique.directions import MOST_ROWS, Directions, n_directions, n_splits
from milp_trees.oblique.linear_test import LinearTest
from milp_trees.oblique.oblique_tree import ObliqueTree
from milp_trees.oblique.separating import branch, separating_test, with_bound
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.oblique.view import ObliqueMatrix, oblique_view
from milp_trees.results.result import Result

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Largest number of directions, and of sums that are compared.
MOST_DIRECTIONS, MOST_WORK = 50_000, 100_000_000

#: An action, or the rows below a split, its direction, and the nodes below and above it.
Found = tuple[Any, ...]
#: (number of leaves, side totals) → (cost, node).
Achieved = dict[tuple[int, tuple[int, ...]], tuple[int, Found]]


@register
class ObliqueEnumerator(Method):
    """All oblique trees of a small problem."""

    name = "enumerate-oblique"
    title: ClassVar[str] = "Enumeration of all oblique trees, for small problems"
    space = ObliqueTrees
    verification_rank: ClassVar[int] = 5
    default_rank: ClassVar[int | None] = 50
    reference_rank: ClassVar[int | None] = 30
    takes_side_rows = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view, depth = oblique_view(problem), problem.space_as(ObliqueTrees).depth
        n, p = view.n_rows, len(view.numeric.names)
        directions = n_directions(n, p)
        if depth == 0 or p == 0:
            return None
        work = directions * n * (2 * n_splits(n, p)) ** (depth - 1)
        if n <= MOST_ROWS and directions <= MOST_DIRECTIONS and work <= MOST_WORK:
            return None
        return f"{self.name} is for small problems (at most {MOST_ROWS} different rows, {MOST_DIRECTIONS:,} directions, {MOST_WORK:,} sums); {n} different rows with {p} columns have {directions:,} directions, and depth {depth} about {work:,} sums. Lower max_depth, or take fewer columns or rows, or oct-h@highs."

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view, space = oblique_view(problem), problem.space_as(ObliqueTrees)
        watch = Watch(limits, clock.begin, problem)
        directions = Directions(view.numeric, space.gap, view.column_costs)
        with clock("solve"):
            achieved, limit = watch.until(
                lambda: enumerate_trees(view, space, directions, watch.check)
            )
        feasible = [
            (cost, leaves, node)
            for (leaves, totals), (cost, node) in (achieved or {}).items()
            if leaves <= (space.most_leaves or leaves)
            and all(row.holds(total) for row, total in zip(view.side, totals, strict=True))
        ]
        best = min(feasible, key=lambda entry: entry[:2], default=None)
        bound = view.to_value(view.unavoidable)
        if achieved is None and start is None:
            start = incumbent_or_trivial(problem)
        return finish(
            problem,
            self.name,
            start if best is None else written_tree(best[2], view, directions),
            bound=(view.to_value(best[0]) if best else None) if achieved is not None else bound,
            claims_optimal=best is not None,
            proved_by=self.name,
            clock=clock,
            limit=limit,
            watch=watch,
            infeasible=achieved is not None and best is None,
            model_size={"achieved": len(achieved or {})},
        )


def enumerate_trees(
    view: ObliqueMatrix,
    space: ObliqueTrees,
    directions: Directions,
    check: Callable[[], None] = lambda: None,
) -> Achieved:
    """What trees achieve on all rows; a set of rows is an integer with a bit per row."""
    costs, counts = view.costs.tolist(), view.counts.tolist()
    side = [row.coefs.tolist() for row in view.side]

    @cache
    def splits(rows: int) -> list[Any]:
        return list(directions.splits(rows))

    @cache
    def trees(rows: int, depth: int) -> Achieved:
        out: Achieved = {}

        def offer(leaves: int, totals: tuple[int, ...], cost: int, node: Found) -> None:
            if (leaves, totals) not in out or cost < out[leaves, totals][0]:
                out[leaves, totals] = cost, node

        check()
        members = [i for i in range(view.n_rows) if rows >> i & 1]
        if sum(counts[i] for i in members) >= space.min_samples_leaf:
            for k in range(view.n_actions):
                totals = tuple(sum(coefs[i][k] for i in members) for coefs in side)
                offer(1, totals, sum(costs[i][k] for i in members) + view.leaf_cost, (k,))
        for split in splits(rows) if depth else ():
            lower, upper = split.below, rows & ~split.below
            price = view.split_cost + split.price
            for (leaves_b, totals_b), (cost_b, node_b) in trees(lower, depth - 1).items():
                for (leaves_a, totals_a), (cost_a, node_a) in trees(upper, depth - 1).items():
                    totals = tuple(a + b for a, b in zip(totals_b, totals_a, strict=True))
                    node = (rows, lower, split.direction, node_b, node_a)
                    offer(leaves_b + leaves_a, totals, cost_b + cost_a + price, node)
        return out

    return trees((1 << view.n_rows) - 1, space.depth)


def written_tree(found: Found, view: ObliqueMatrix, directions: Directions) -> ObliqueTree:
    """The tree of what was found, with tests of few digits."""
    columns = view.numeric

    def members(rows: int) -> np.ndarray:
        return np.array([i for i in range(view.n_rows) if rows >> i & 1], dtype=np.int64)

    def walk(node: Found) -> Node:
        if len(node) == 1:
            return Leaf(node[0])
        rows, lower, direction, node_b, node_a = node
        below, above = members(lower), members(rows & ~lower)
        weights = {j: w for j, w in enumerate(directions.weights[direction]) if w}
        test = separating_test(columns, below, above, directions.gap, list(weights))
        if test is None:
            names = tuple(columns.names[j] for j in weights)
            exact = LinearTest(names, tuple(w / columns.steps[j] for j, w in weights.items()), 0)  # type: ignore[arg-type]
            if columns.gap(exact, below, above) < 0:
                exact = LinearTest(names, tuple(-w for w in exact.weights), exact.bound)
            test = with_bound(columns, exact, below, above)
        return branch(test, walk(node_a), walk(node_b))

    return ObliqueTree(walk(found), view.actions, view.column_names)
