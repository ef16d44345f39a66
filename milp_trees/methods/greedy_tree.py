"""A greedy tree: grown from the root by impurity, then pruned by exact cost.

It is the engine `cart`, and the answer of a run that is stopped before it has found a tree.

Growing follows Breiman, Friedman, Olshen, Stone (1984) with the Gini impurity of the rows' best
actions, each row weighted by what a wrong action costs it on average; for misclassified weight this
is the usual weighted Gini. Splits on the last level are chosen by cost itself. Where leaves cost a
function of sums, such as squared error, every split is chosen by what its two leaves cost. Of all
prunings of the grown tree within the limit on leaves, the cheapest is returned, penalties included.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.limits import NEVER, Deadline
from milp_trees.methods.growing.grow import Entered, Grower, Split
from milp_trees.methods.growing.prunings import cheapest, cheapest_by_size
from milp_trees.methods.growing.tree import GrownTree
from milp_trees.methods.true_sums import kinds_of, true_sums
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


#: Levels of a greedy tree if the space has no depth limit.
ANY_DEPTH = 8
#: The views that greedy trees are grown from.
KINDS: tuple[type, ...] = (CostMatrix, LeafSums)


def reduced_view(problem: Problem) -> LeafSums:
    """The problem's leaf sums after presolve, which merges rows and drops tests.

    Thresholds that are stored as ranks are left as they are, since making the 0/1 matrix is what
    takes long for them.
    """
    whole: LeafSums = problem.first_view(KINDS)
    return whole if whole.ranked is not None else problem.presolved_view()


def greedy_tree(view: LeafSums, space: Trees, deadline: Deadline = NEVER) -> Tree | None:
    """The pruned greedy tree of a view."""
    grower = _grower(view, space, deadline)
    if grower is None:
        return None
    grown, most = grower.grow(_levels(space), deadline), space.max_leaf_nodes
    most = most if space.limits_leaves else None
    return grower.tree(grown, cheapest(grown, view.leaf_cost, view.split_costs, most))


def greedy_prunings(
    view: LeafSums, space: Trees, most: int, deadline: Deadline = NEVER
) -> Iterator[Tree]:
    """The cheapest prunings of the greedy tree with 1, 2, … leaves."""
    grower = _grower(view, space, deadline)
    if grower is not None:
        grown = grower.grow(_levels(space), deadline)
        most = min(most, space.max_leaf_nodes or most)
        for stop in cheapest_by_size(grown, view.leaf_cost, view.split_costs, most):
            yield grower.tree(grown, stop)


def _levels(space: Trees) -> int:
    """The largest number of levels of splits."""
    return ANY_DEPTH if space.max_depth is None else space.max_depth


def _grower(view: LeafSums, space: Trees, deadline: Deadline) -> _TestGrower | None:
    """What grows the trees of a view; None if even one leaf has too few rows, or too little."""
    enough = all(int(amounts.sum()) >= least for amounts, least in view.leaf_minima)
    if view.total_rows < space.min_samples_leaf or not enough:
        return None
    if isinstance(view, LossSums):
        return _LossGrower(view, space.min_samples_leaf, deadline)
    assert isinstance(view, CostMatrix)
    return _ImpurityGrower(view, space.min_samples_leaf, deadline)


class _TestGrower(Grower[np.ndarray]):
    """Splits by the tests of a view; a node is the array of its rows.

    Sums are doubles; they are exact, because all values are whole numbers and sums are below 2^53.
    """

    def __init__(self, view: LeafSums, least: int, deadline: Deadline) -> None:
        self.view, self.deadline = view, deadline
        needs = ((view.counts, least), *view.leaf_minima)
        self.amounts = [amount for amount, _ in needs]
        self.minima = [fewest for _, fewest in needs]
        self.sums = self.made_sums()

    @abstractmethod
    def made_sums(self) -> Any:
        """Sums of the values of rows; the last of them are what leaves need."""

    @abstractmethod
    def tree(self, grown: GrownTree, stop: np.ndarray) -> Tree:
        """A pruning of a grown tree."""

    @abstractmethod
    def first_of(
        self, tests: np.ndarray, left: np.ndarray, right: np.ndarray, levels: int
    ) -> Split:
        """The best of some tests, from the sums of both sides of all of them."""

    def root(self) -> np.ndarray:
        rows: np.ndarray = self.sums.rows
        return rows

    def divide(self, part: np.ndarray, split: Split) -> tuple[np.ndarray, np.ndarray]:
        true = self.view.outcome(split.column, part) == 1
        return part[~true], part[true]

    def best(self, part: np.ndarray, node: Entered, levels: int) -> Split | None:
        """The best test; None if none leaves enough on both sides, or the time is over."""
        right = self.sums.sums(part, self.deadline)
        if right is None:
            return None
        left = node.data[:, None] - right
        allowed = np.ones(self.view.n_features, dtype=bool)
        first = len(right) - len(self.minima)
        for held, other, least in zip(right[first:], left[first:], self.minima, strict=True):
            allowed &= (held >= least) & (other >= least)
        tests = np.flatnonzero(allowed)
        return self.first_of(tests, left, right, levels) if len(tests) else None


class _ImpurityGrower(_TestGrower):
    """Splits by the impurity and the cost of both sides."""

    view: CostMatrix

    def __init__(self, view: CostMatrix, least: int, deadline: Deadline) -> None:
        super().__init__(view, least, deadline)
        #: The cheapest action of every node.
        self.actions: list[int] = []

    def made_sums(self) -> Any:
        view = self.view
        kinds = kinds_of([*view.regret.T, *self.amounts])
        rows = slice(None) if kinds is None else kinds.rows
        costs = view.regret[rows].T.astype(float)
        weight = costs.sum(axis=0) / max(1, view.n_actions - 1)
        # A row with several best actions adds the same weight to each of them.
        best = costs == 0
        pull = best * (weight / best.sum(axis=0))
        # The regret of every action, the weight for every action, and what leaves need.
        values = np.column_stack([*costs, *pull, *(amount[rows] for amount in self.amounts)])
        return true_sums(view.stored, values, kinds)

    def tree(self, grown: GrownTree, stop: np.ndarray) -> Tree:
        features = self.view.features
        return Tree(grown.to_nodes(lambda f, _: features[f], self.actions, stop), self.view.actions)

    def enter(self, part: np.ndarray) -> Entered:
        total = self.sums.total(part)
        costs = total[: self.view.n_actions]
        self.actions.append(int(costs.argmin()))
        return Entered(round(costs.min()), 0.0, total)

    def first_of(
        self, tests: np.ndarray, left: np.ndarray, right: np.ndarray, levels: int
    ) -> Split:
        """The test with the least impurity after it, on the last level the least cost."""
        view, K = self.view, self.view.n_actions
        cost = right[:K].min(axis=0) + left[:K].min(axis=0) + view.split_costs
        # Rounded, so that equal impurities do not differ in the last bit of a sum.
        gini = np.round(_gini(right[K : 2 * K]) + _gini(left[K : 2 * K]), 9)
        for number in (cost, gini) if levels == 1 else (gini, cost):
            tests = tests[number[tests] == number[tests].min()]
        return Split(float(cost[tests[0]]), int(tests[0]), 0)


class _LossGrower(_TestGrower):
    """Splits by what the two leaves cost."""

    view: LossSums

    def made_sums(self) -> Any:
        parts = self.view.parts
        kinds = kinds_of([*parts.T, *self.amounts])
        rows = slice(None) if kinds is None else kinds.rows
        values = np.column_stack([parts[rows], *(amount[rows] for amount in self.amounts)])
        return true_sums(self.view.stored, values.astype(float), kinds)

    def tree(self, grown: GrownTree, stop: np.ndarray) -> Tree:
        features = self.view.features
        no_action = [0] * grown.n_nodes
        root = grown.to_nodes(lambda f, _: features[f], no_action, stop)
        return self.view.tree_of(root)

    def enter(self, part: np.ndarray) -> Entered:
        total = self.sums.total(part)
        return Entered(int(self._losses(total[:, None])[0]), float(self.view.tolerance), total)

    def _losses(self, sums: np.ndarray) -> np.ndarray:
        """What leaves with some sums cost; sums are columns."""
        U = self.view.n_values + 1
        return self.view.leaf_values(np.rint(sums[:U].T).astype(np.int64))

    def first_of(
        self, tests: np.ndarray, left: np.ndarray, right: np.ndarray, levels: int
    ) -> Split:
        """The test with the least cost after it; of equal ones the first."""
        losses = self._losses(left[:, tests]) + self._losses(right[:, tests])
        cost = losses + self.view.split_costs[tests]
        k = int(cost.argmin())
        return Split(float(cost[k]), int(tests[k]), 0)


def _gini(sums: np.ndarray) -> np.ndarray:
    """Gini impurity times weight, per column of sums."""
    weight = sums.sum(axis=0)
    safe = np.where(weight > 0, weight, 1.0)
    impurity: np.ndarray = weight - (sums**2).sum(axis=0) / safe
    return impurity
