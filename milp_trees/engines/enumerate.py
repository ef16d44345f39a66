"""`enumerate`: the oracle for tiny problems, which lists what every tree can achieve.

It is as simple as possible, and slow.

For a set of rows and a depth, `trees` holds the cheapest tree for every pair (number of leaves,
totals of the side constraints) that some tree achieves. Nothing is bounded, merged or cut; limits
and side constraints are checked at the end. It works on the problem as the task gives it, without
presolve, and shares no code with the dynamic programme. Where leaves cost a function of sums, a set
of rows has one leaf, whose prediction is found at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.enumeration_limit import too_much_work
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import full_leaves
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Largest n_rows · (2 · n_tests)^depth that is accepted: seconds, not minutes.
MOST_WORK = 2_000_000

#: (number of leaves, side totals) → (cost, tree).
Achieved = dict[tuple[int, tuple[int, ...]], tuple[int, Node]]


@register
class Enumerator(Method):
    """All trees of a tiny problem."""

    name = "enumerate"
    title: ClassVar[str] = "Enumeration of all trees, for tiny problems"
    needs: ClassVar[tuple[type, ...]] = (CostMatrix, LeafSums)
    verification_rank: ClassVar[int] = 5
    default_rank: ClassVar[int | None] = 90
    reference_rank: ClassVar[int | None] = 30
    takes_side_rows = True
    takes_min_weight = True
    takes_min_treatment = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.first_view(self.needs)
        return too_much_work(self.name, view, problem.trees.depth, MOST_WORK)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view, space = problem.first_view(self.needs), problem.trees
        watch = Watch(limits, clock.begin, problem)
        with clock("solve"):
            achieved, limit = watch.until(
                lambda: enumerate_trees(view, space.depth, space.min_samples_leaf, watch.check)
            )
            if achieved is None:
                bound = view.to_bound(view.unavoidable)
                return finish(
                    problem,
                    self.name,
                    start,
                    bound=bound,
                    claims_optimal=False,
                    proved_by=self.name,
                    clock=clock,
                    limit=limit,
                    watch=watch,
                )
            most = space.max_leaf_nodes or full_leaves(space.depth)
            feasible = [
                (cost, leaves, node)
                for (leaves, totals), (cost, node) in achieved.items()
                if leaves <= most
                and all(row.holds(total) for row, total in zip(view.side, totals, strict=True))
            ]
            best = min(feasible, key=lambda entry: entry[:2], default=None)
        sizes = {"achieved": len(achieved)}
        if best is None:
            return finish(
                problem,
                self.name,
                None,
                bound=None,
                claims_optimal=False,
                proved_by=self.name,
                clock=clock,
                infeasible=True,
                model_size=sizes,
            )
        return finish(
            problem,
            self.name,
            Tree(best[2], view.actions) if isinstance(view, CostMatrix) else view.tree_of(best[2]),
            bound=view.to_bound(best[0], most),
            claims_optimal=True,
            proved_by=self.name,
            clock=clock,
            model_size=sizes,
        )


def _leaves_of(view: LeafSums) -> Callable[[list[int]], list[tuple[tuple[int, ...], int]]]:
    """The side totals and the cost of every leaf that some rows can have."""
    sums = view.sums.tolist()
    side = [row.coefs.tolist() for row in view.side]

    def by_action(members: list[int]) -> list[tuple[tuple[int, ...], int]]:
        return [
            (
                tuple(sum(coefs[i][k] for i in members) for coefs in side),
                sum(sums[i][k] for i in members) + view.leaf_cost,
            )
            for k in range(view.sums.shape[1])
        ]

    def by_sums(members: list[int]) -> list[tuple[tuple[int, ...], int]]:
        total = np.array(
            [[sum(column) for column in zip(*(sums[i] for i in members), strict=True)]]
        )
        return [((), int(view.leaf_values(total)[0]) + view.leaf_cost)]

    return by_action if isinstance(view, CostMatrix) else by_sums


def enumerate_trees(
    view: LeafSums,
    max_depth: int,
    min_samples_leaf: int = 1,
    check: Callable[[], None] = lambda: None,
) -> Achieved:
    """What trees of at most a given depth achieve on all rows.

    A set of rows is an integer with a bit per row.
    """
    needs = [
        (amounts.tolist(), least)
        for amounts, least in ((view.counts, min_samples_leaf), *view.leaf_minima)
    ]
    leaves_of = _leaves_of(view)
    true = [sum(1 << i for i in range(view.n_rows) if view.X[i, f]) for f in range(view.n_features)]

    @cache
    def trees(rows: int, depth: int) -> Achieved:
        out: Achieved = {}

        def offer(leaves: int, totals: tuple[int, ...], cost: int, node: Node) -> None:
            if (leaves, totals) not in out or cost < out[leaves, totals][0]:
                out[leaves, totals] = (cost, node)

        members = [i for i in range(view.n_rows) if rows >> i & 1]
        if all(sum(amounts[i] for i in members) >= least for amounts, least in needs):
            for k, (totals, cost) in enumerate(leaves_of(members)):
                offer(1, totals, cost, Leaf(k))
        for f in range(view.n_features if depth else 0):
            left, right = rows & ~true[f], rows & true[f]
            check()
            if left and right:
                for (leaves_l, totals_l), (cost_l, node_l) in trees(left, depth - 1).items():
                    check()
                    for (leaves_r, totals_r), (cost_r, node_r) in trees(right, depth - 1).items():
                        totals = tuple(a + b for a, b in zip(totals_l, totals_r, strict=True))
                        cost = cost_l + cost_r + int(view.split_costs[f])
                        offer(
                            leaves_l + leaves_r,
                            totals,
                            cost,
                            Branch(view.features[f], node_l, node_r),
                        )
        return out

    return trees((1 << view.n_rows) - 1, max_depth)
