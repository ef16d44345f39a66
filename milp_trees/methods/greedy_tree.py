"""A greedy tree: grown from the root by impurity, then pruned by exact cost.

It is the engine `cart`, and the answer of a run that is stopped before it has found a tree.

Growing follows Breiman, Friedman, Olshen, Stone (1984) with the Gini impurity of the rows' best
actions, each row weighted by what a wrong action costs it on average; for misclassified weight this
is the usual weighted Gini. Splits on the last level are chosen by cost itself. Of all prunings of
the grown tree within the limit on leaves, the cheapest is returned, penalties included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.limits import NEVER, Deadline
from milp_trees.methods.true_sums import kinds_of, true_sums
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


#: Cheapest prunings of a subtree: entry l is (cost, tree) with exactly l + 1 leaves, or None.
Prunings = list[tuple[int, Node] | None]

#: Levels of a greedy tree if the space has no depth limit, and the largest number in any case.
ANY_DEPTH, DEEPEST = 8, 200


def reduced_view(problem: Problem) -> CostMatrix:
    """The problem's cost matrix after presolve, which merges rows and drops tests.

    Thresholds that are stored as ranks are left as they are, since making the 0/1 matrix is what
    takes long for them.
    """
    whole = problem.view(CostMatrix)
    return whole if whole.ranked is not None else problem.presolved_view()


def greedy_tree(view: CostMatrix, space: Trees, deadline: Deadline = NEVER) -> Tree | None:
    """The pruned greedy tree of a view.

    Parameters
    ----------
    view : CostMatrix
        Reduced or not.
    space : Trees
    deadline : Deadline, optional
        From this time on, nodes are no longer split.

    Returns
    -------
    Tree or None
        None if even a single leaf would have too few rows, or too little weight.
    """
    prunings = greedy_prunings(
        view, space, space.max_leaf_nodes if space.limits_leaves else 0, deadline
    )
    best = min((p for p in prunings if p is not None), key=lambda p: p[0], default=None)
    return None if best is None else Tree(best[1], view.actions)


def greedy_prunings(
    view: CostMatrix, space: Trees, most: int | None, deadline: Deadline = NEVER
) -> Prunings:
    """The cheapest prunings of the greedy tree with 1, 2, … leaves.

    Parameters
    ----------
    view : CostMatrix
        Reduced or not.
    space : Trees
    most : int or None
        The largest number of leaves. With 0 only the cheapest of all prunings is kept.
    deadline : Deadline, optional
        From this time on, nodes are no longer split.

    Returns
    -------
    list of (cost, tree) or None
        Entry l has exactly l + 1 leaves. Empty if there is no tree.
    """
    enough = all(int(amounts.sum()) >= least for amounts, least in view.leaf_minima)
    if view.total_rows < space.min_samples_leaf or not enough:
        return []
    depth = min(ANY_DEPTH if space.max_depth is None else space.max_depth, DEEPEST)
    if space.max_leaf_nodes is not None and most:
        most = min(most, space.max_leaf_nodes)
    grower = _Grower(view, space.min_samples_leaf, most or 0, deadline)
    return grower.grow(grower.sums.rows, depth)


class _Grower:
    """The arrays that growing needs.

    Sums are doubles; they are exact, because costs are whole numbers and sums are below 2^53.
    """

    def __init__(self, view: CostMatrix, least: int, most: int, deadline: Deadline) -> None:
        self.view, self.most, self.deadline = view, most, deadline
        needs = ((view.counts, least), *view.leaf_minima)
        self.minima = [fewest for _, fewest in needs]
        amounts = [amount for amount, _ in needs]
        kinds = kinds_of([*view.regret.T, *amounts])
        rows = slice(None) if kinds is None else kinds.rows
        costs = view.regret[rows].T.astype(float)
        weight = costs.sum(axis=0) / max(1, view.n_actions - 1)
        # A row with several best actions adds the same weight to each of them.
        best = costs == 0
        pull = best * (weight / best.sum(axis=0))
        # The regret of every action, the weight for every action, and what leaves need.
        values = np.column_stack([*costs, *pull, *(amount[rows] for amount in amounts)])
        self.sums = true_sums(view.stored, values, kinds)

    def grow(self, rows: np.ndarray, depth: int) -> Prunings:
        total = self.sums.total(rows)
        costs = total[: self.view.n_actions]
        out: Prunings = [(round(costs.min()) + self.view.leaf_cost, Leaf(int(costs.argmin())))]
        grows = depth and costs.min() > 0 and not self.deadline.passed
        f = self.best_test(rows, total, depth) if grows else None
        if f is None:
            return out
        true = self.view.outcome(f, rows) == 1
        left, right = self.grow(rows[~true], depth - 1), self.grow(rows[true], depth - 1)
        price, test = int(self.view.split_costs[f]), self.view.features[f]
        if not self.most:
            (a, a_node), (b, b_node) = left[0], right[0]  # type: ignore[misc]
            return [min(out[0], (a + b + price, Branch(test, a_node, b_node)), key=lambda p: p[0])]  # type: ignore[index, return-value]
        out += [None] * (min(len(left) + len(right), self.most) - 1)
        for i, p in enumerate(left):
            for j, q in enumerate(right[: len(out) - i - 1]):
                here = out[i + j + 1]
                if p and q:
                    cost = p[0] + q[0] + price
                    if here is None or cost < here[0]:
                        out[i + j + 1] = (cost, Branch(test, p[1], q[1]))
        return out

    def best_test(self, rows: np.ndarray, total: np.ndarray, depth: int) -> int | None:
        """The test with the least cost (on the last level) or impurity after it; ties by the other.

        None if no test leaves enough rows on both sides, or the time is over.
        """
        view, K = self.view, self.view.n_actions
        right = self.sums.sums(rows, self.deadline)
        if right is None:
            return None
        left = total[:, None] - right
        allowed = np.ones(view.n_features, dtype=bool)
        for held, other, least in zip(right[2 * K :], left[2 * K :], self.minima, strict=True):
            allowed &= (held >= least) & (other >= least)
        tests = np.flatnonzero(allowed)
        if not len(tests):
            return None
        cost = right[:K].min(axis=0) + left[:K].min(axis=0) + view.split_costs
        # Rounded, so that equal impurities do not differ in the last bit of a sum.
        gini = np.round(_gini(right[K : 2 * K]) + _gini(left[K : 2 * K]), 9)
        for number in (cost, gini) if depth == 1 else (gini, cost):
            tests = tests[number[tests] == number[tests].min()]
        return int(tests[0])


def _gini(sums: np.ndarray) -> np.ndarray:
    """Gini impurity times weight, per column of sums."""
    weight = sums.sum(axis=0)
    safe = np.where(weight > 0, weight, 1.0)
    impurity: np.ndarray = weight - (sums**2).sum(axis=0) / safe
    return impurity
