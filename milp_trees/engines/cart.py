"""`cart`: a greedy tree, grown from the root by impurity and pruned by exact cost. An incumbent, never a proof.

Growing follows Breiman, Friedman, Olshen, Stone (1984) with the Gini impurity of the rows' best actions, each row weighted by what a wrong action
costs it on average; for misclassified weight this is the usual weighted Gini. Splits on the last level are chosen by cost itself. Of all prunings
of the grown tree within the limit on leaves, the cheapest is returned, penalties included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from milp_trees.method import Clock, Method, Progress, finish
from milp_trees.models.tree import Branch, Leaf, Node, Tree
from milp_trees.registry import register
from milp_trees.result import Result
from milp_trees.solver import Limits
from milp_trees.space import Trees
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problem import Problem

#: Cheapest prunings of a subtree: entry l is (cost, tree) with exactly l + 1 leaves, or None.
Prunings = list[tuple[int, Node] | None]


@register
class Cart(Method):
    """Greedy heuristic."""

    name = "cart"
    title: ClassVar[str] = "Greedy tree by impurity, pruned by exact cost (heuristic)"
    exact = False

    def search(self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.instance()
        with clock("solve"):
            tree = greedy_tree(view, problem.trees)
            if start is not None and (tree is None or view.objective(start) < view.objective(tree)):
                tree = view.canonical(start)
        # That not even one leaf has enough rows is the only thing this heuristic knows for sure.
        infeasible = view.total_rows < problem.trees.min_samples_leaf
        proved_by = self.name if infeasible else None
        return finish(problem, self.name, tree, bound=None, claims_optimal=False, proved_by=proved_by, clock=clock, infeasible=infeasible)


def greedy_tree(view: CostMatrix, space: Trees) -> Tree | None:
    """The pruned greedy tree of a view; None if even one leaf would have too few rows."""
    if view.total_rows < space.min_samples_leaf:
        return None
    grower = _Grower(view, space)
    prunings = grower.grow(np.arange(view.n_rows), space.depth)
    _, node = min((p for p in prunings if p is not None), key=lambda p: p[0])
    return Tree(node, view.actions)


class _Grower:
    """The arrays that growing needs. Sums are in doubles, exact for the whole numbers below 2^53 that costs are."""

    def __init__(self, view: CostMatrix, space: Trees) -> None:
        self.view = view
        self.least = space.min_samples_leaf
        self.most = space.max_leaf_nodes or view.total_rows
        self.X = view.X.astype(float)
        self.costs = view.regret.astype(float)
        weight = self.costs.sum(axis=1) / max(1, view.n_actions - 1)
        # Rows with several best actions pull towards all of them alike.
        best = self.costs == 0
        self.pull = best * (weight / best.sum(axis=1))[:, None]

    def grow(self, rows: np.ndarray, depth: int) -> Prunings:
        total = self.costs[rows].sum(axis=0)
        out: Prunings = [(round(total.min()) + self.view.leaf_cost, Leaf(int(total.argmin())))]
        f = self.best_test(rows, depth) if depth and total.min() > 0 else None
        if f is None:
            return out
        true = self.view.X[rows, f] == 1
        left, right = self.grow(rows[~true], depth - 1), self.grow(rows[true], depth - 1)
        out += [None] * (min(len(left) + len(right), self.most) - 1)
        for i, a in enumerate(left):
            for j, b in enumerate(right[: len(out) - i - 1]):
                here = out[i + j + 1]
                if a and b:
                    cost = a[0] + b[0] + int(self.view.split_costs[f])
                    if here is None or cost < here[0]:
                        out[i + j + 1] = (cost, Branch(self.view.tests[f], a[1], b[1]))
        return out

    def best_test(self, rows: np.ndarray, depth: int) -> int | None:
        """The test with the least cost (last level) or impurity after it, ties by the other; None if no side would be large enough."""
        X = self.X[rows]
        n = X.T @ self.view.counts[rows]
        allowed = (n >= self.least) & (self.view.counts[rows].sum() - n >= self.least)
        if not allowed.any():
            return None
        cost = self._after(X, self.costs[rows], lambda sums: sums.min(axis=1)) + self.view.split_costs
        gini = self._after(X, self.pull[rows], _gini)
        # Rounded: equal impurities must not be told apart by the last bit of a sum.
        gini = np.round(gini, 9)
        first, second = (cost, gini) if depth == 1 else (gini, cost)
        order = np.lexsort((second, first))
        return int(order[allowed[order]][0])

    def _after(self, X: np.ndarray, sums: np.ndarray, value: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A value of the action sums on both sides of every test, added up."""
        right = X.T @ sums
        return np.asarray(value(right) + value(sums.sum(axis=0) - right))


def _gini(sums: np.ndarray) -> np.ndarray:
    """Gini impurity times weight, per row of sums."""
    weight = sums.sum(axis=1)
    safe = np.where(weight > 0, weight, 1.0)
    impurity: np.ndarray = weight - (sums**2).sum(axis=1) / safe
    return impurity
