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

from milp_trees.limits import NEVER, Deadline
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problem import Problem


#: Cheapest prunings of a subtree: entry l is (cost, tree) with exactly l + 1 leaves, or None.
Prunings = list[tuple[int, Node] | None]

#: Levels of a greedy tree if the space has no depth limit, and the largest number in any case.
ANY_DEPTH, DEEPEST = 8, 200
#: Entries of the 0/1 matrix that are kept as doubles; larger ones are converted block by block.
AS_DOUBLES = 4_000_000


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
    return _Grower(view, space.min_samples_leaf, most or 0, deadline).grow(
        np.arange(view.n_rows), depth
    )


class _Grower:
    """The arrays that growing needs.

    Sums are doubles; they are exact, because costs are whole numbers and sums are below 2^53.
    """

    def __init__(self, view: CostMatrix, least: int, most: int, deadline: Deadline) -> None:
        self.view, self.least, self.most, self.deadline = view, least, most, deadline
        small = view.ranked is None and view.X.size <= AS_DOUBLES
        self.X = view.X.astype(float) if small else None
        self.costs = view.regret.astype(float)
        weight = self.costs.sum(axis=1) / max(1, view.n_actions - 1)
        # A row with several best actions adds the same weight to each of them.
        best = self.costs == 0
        self.pull = best * (weight / best.sum(axis=1))[:, None]

    def grow(self, rows: np.ndarray, depth: int) -> Prunings:
        total = self.costs[rows].sum(axis=0)
        out: Prunings = [(round(total.min()) + self.view.leaf_cost, Leaf(int(total.argmin())))]
        f = (
            self.best_test(rows, depth)
            if depth and total.min() > 0 and not self.deadline.passed
            else None
        )
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

    def best_test(self, rows: np.ndarray, depth: int) -> int | None:
        """The test with the least cost (on the last level) or impurity after it; ties by the other.

        None if no test leaves enough rows on both sides.
        """
        view, K = self.view, self.view.n_actions
        needs = [
            (amounts[rows], least)
            for amounts, least in ((view.counts, self.least), *view.leaf_minima)
        ]
        sums = np.column_stack(
            [self.costs[rows], self.pull[rows], *(amounts for amounts, _ in needs)]
        )
        right = self.true_sums(rows, sums)
        left = sums.sum(axis=0) - right
        allowed = np.ones(view.n_features, dtype=bool)
        for i, (_, least) in enumerate(needs):
            allowed &= (right[:, 2 * K + i] >= least) & (left[:, 2 * K + i] >= least)
        if not allowed.any():
            return None
        cost = right[:, :K].min(axis=1) + left[:, :K].min(axis=1) + view.split_costs
        # Rounded, so that equal impurities do not differ in the last bit of a sum.
        gini = np.round(_gini(right[:, K : 2 * K]) + _gini(left[:, K : 2 * K]), 9)
        first, second = (cost, gini) if depth == 1 else (gini, cost)
        order = np.lexsort((second, first))
        return int(order[allowed[order]][0])

    def true_sums(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Sums of rows' values (m, S) over those on which each test is true, shape (tests, S)."""
        if self.X is not None:
            return np.asarray(self.X[rows].T @ values)
        view = self.view
        out = np.empty((view.n_features, values.shape[1]))
        if view.ranked is not None:
            weights = np.ascontiguousarray(values.T)
            for c in np.unique(view.ranked.column).tolist():
                here = np.flatnonzero(view.ranked.column == c)
                codes = view.ranked.codes[rows, c].astype(np.intp)
                for s in range(values.shape[1]):
                    upto = np.cumsum(
                        np.bincount(
                            codes,
                            weights=weights[s],
                            minlength=int(view.ranked.cut[here].max()) + 1,
                        )
                    )
                    out[here, s] = upto[view.ranked.cut[here]]
            return out
        block = max(1, AS_DOUBLES // max(1, len(rows)))
        for begin in range(0, view.n_features, block):
            out[begin : begin + block] = (
                view.X[rows, begin : begin + block].astype(float).T @ values
            )
        return out


def _gini(sums: np.ndarray) -> np.ndarray:
    """Gini impurity times weight, per row of sums."""
    weight = sums.sum(axis=1)
    safe = np.where(weight > 0, weight, 1.0)
    impurity: np.ndarray = weight - (sums**2).sum(axis=1) / safe
    return impurity
