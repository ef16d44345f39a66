"""`one-split`: the best tree with at most one split, by looking at every one of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from milp_trees import Tree
from milp_trees.plugins import Branch, Clock, CostMatrix, Leaf, Method, finish, register


@register
class OneSplit(Method):
    """All trees of depth 1 at once, by sums over rows; O(rows · tests · actions)."""

    name = "one-split"
    title: ClassVar[str] = "All trees with at most one split"
    # It is the cheapest way to judge and to derive such trees again, and says so.
    reference_rank: ClassVar[int | None] = 1
    verification_rank: ClassVar[int] = 1

    def unsupported_view(self, problem: Any) -> str | None:
        if problem.trees.depth > 1:
            return f"one-split takes trees of depth at most 1; max_depth is {problem.trees.depth}."
        return None

    def search(self, problem: Any, limits: Any, start: Any, progress: Any) -> Any:
        clock = Clock()
        with clock("solve"):
            best = self.best(problem.view(CostMatrix), problem.trees)
        return finish(
            problem,
            self.name,
            None if best is None else best[1],
            bound=None if best is None else problem.view(CostMatrix).to_value(best[0]),
            claims_optimal=best is not None,
            infeasible=best is None,
            proved_by=self.name,
            clock=clock,
        )

    def best(self, view: CostMatrix, space: Any) -> tuple[int, Tree] | None:
        """Cost and tree; None if not even a leaf holds enough rows."""
        total, rows = view.costs.sum(axis=0), int(view.counts.sum())
        if rows < space.min_samples_leaf:
            return None
        leaf = int(total.argmin())
        best = int(total[leaf]) + view.leaf_cost, Tree(Leaf(leaf), view.actions)
        if space.depth == 0 or (space.max_leaf_nodes or 2) < 2:
            return best
        X = view.X.astype(view.costs.dtype)
        right, held = X.T @ view.costs, X.T @ view.counts
        left = total - right
        costs = left.min(axis=1) + right.min(axis=1) + view.split_costs + 2 * view.leaf_cost
        least = max(1, space.min_samples_leaf)
        for f in np.flatnonzero((held >= least) & (rows - held >= least)).tolist():
            if costs[f] < best[0]:
                sides = Leaf(int(left[f].argmin())), Leaf(int(right[f].argmin()))
                best = int(costs[f]), Tree(Branch(view.features[f], *sides), view.actions)
        return best
