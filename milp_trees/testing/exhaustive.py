"""The oracle for problems with too many trees to score one by one: recursion over sets of rows.

The best subtree below a node depends on the rows that reach it and on the remaining levels; if
trees are limited as a whole, also on the number of leaves and on the totals of the side rows. So
`_Search.trees` holds, for a set of rows and a number of levels, the cheapest tree for every such
number and totals. There are no bounds, no merging and no cuts. The code shares nothing with the
engines; if there are few trees, the tests compare it with the scores of all of them.

Where leaves cost a function of sums, that function is evaluated in fractions, as far as it is one of
fractions, and the view's rounding to whole units is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.leaf_functions import values_of
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums

#: Number of leaves and totals of the side rows, if they are limited → (cost, node).
Achieved = dict[tuple[int, ...], tuple[Any, Node]]


def best_tree(problem: Problem) -> Tree | None:
    """The cheapest feasible tree of a problem whose task offers leaf sums, or None.

    None means that no tree is feasible.
    """
    search = _Search(problem)
    achieved = search.trees(np.ones(search.view.n_rows, dtype=bool), problem.trees.depth)
    best = min(
        (found for key, found in achieved.items() if search.allows(key)),
        key=lambda found: found[0],
        default=None,
    )
    if best is None:
        return None
    view = search.view  # side rows may ask for other actions than the cheapest
    return Tree(best[1], view.actions) if isinstance(view, CostMatrix) else view.tree_of(best[1])


def exact_loss(view: LossSums, rows: np.ndarray) -> Fraction:
    """What a leaf with some rows costs, in units, without penalties and the constants of rows."""
    total = view.parts[rows, :-1].astype(object).sum(axis=0)
    if total[0] <= 0:
        return Fraction(0)
    try:
        found = view.leaf(tuple(map(Fraction, total.tolist())))
    except TypeError:  # a logarithm of a fraction is none
        found = None
    if not isinstance(found, Fraction):
        found = Fraction(float(values_of(view.leaf, total.astype(float)[None])[0]))
    return found * Fraction(view.grid)


class _Search:
    """Costs, features and limits of one problem, and the results for sets of rows."""

    def __init__(self, problem: Problem) -> None:
        self.view: LeafSums = problem.first_view((CostMatrix, LeafSums))
        self.limits = problem.trees
        self.true = self.view.X.astype(bool)
        self.counts_leaves = self.limits.max_leaf_nodes is not None
        self.known: dict[tuple[bytes, int], Achieved] = {}

    def trees(self, rows: np.ndarray, levels: int) -> Achieved:
        """Costs of the trees with at most a given number of levels on some rows (a mask)."""
        name = rows.tobytes(), levels
        if name not in self.known:
            found: Achieved = {}
            for key, cost, node in self._offers(rows, levels):
                if key not in found or cost < found[key][0]:
                    found[key] = cost, node
            self.known[name] = found
        return self.known[name]

    def allows(self, key: tuple[int, ...]) -> bool:
        """Whether a whole tree may have this number of leaves and these totals."""
        most = self.limits.max_leaf_nodes
        totals = key[int(self.counts_leaves) :]
        return (most is None or key[0] <= most) and all(
            row.holds(t) for row, t in zip(self.view.side, totals, strict=True)
        )

    def _offers(self, rows: np.ndarray, levels: int) -> Iterator[tuple[tuple[int, ...], int, Node]]:
        view = self.view
        if self._large_enough(rows):
            costs = self._costs(rows)
            totals = [row.coefs[rows].sum(axis=0).tolist() for row in view.side]
            for k, cost in enumerate(costs):
                yield (
                    (*([1] if self.counts_leaves else []), *(t[k] for t in totals)),
                    cost + view.leaf_cost,
                    Leaf(k),
                )
        for f in range(view.n_features if levels else 0):
            left, right = rows & ~self.true[:, f], rows & self.true[:, f]
            if not (left.any() and right.any()):  # a leaf must have a row
                continue
            below, price = self.trees(right, levels - 1).items(), int(view.split_costs[f])
            for key, (cost, node) in self.trees(left, levels - 1).items():
                for other, (more, beside) in below:
                    yield (
                        tuple(map(sum, zip(key, other, strict=True))),
                        cost + more + price,
                        Branch(view.features[f], node, beside),
                    )

    def _costs(self, rows: np.ndarray) -> list[Any]:
        """What the leaves cost that some rows can have, without `leaf_cost`."""
        if isinstance(self.view, LossSums):
            # The tie of a leaf is no part of its loss.
            return [exact_loss(self.view, rows) - self.view.tie]
        return self.view.sums[rows].sum(axis=0).tolist()  # type: ignore[no-any-return]

    def _large_enough(self, rows: np.ndarray) -> bool:
        view = self.view
        enough = int(view.counts[rows].sum()) >= self.limits.min_samples_leaf
        return enough and all(
            int(amounts[rows].sum()) >= least for amounts, least in view.leaf_minima
        )
