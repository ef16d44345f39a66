"""The oracle of oblique trees: every way to cut a set of rows in two is tried by a linear program.

It shares no code with the engines, which look at directions, nor with the models.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.oblique.columns import numeric_columns
from milp_trees.oblique.linear_test import LinearTest
from milp_trees.oblique.oblique_tree import ObliqueTree
from milp_trees.oblique.separating import separating_test
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

#: Number of leaves and totals of the side rows → (cost, node).
Achieved = dict[tuple[int, ...], tuple[int, Node]]


class Splits:
    """The splits of sets of rows of a problem; a set is a frozenset of numbers of rows."""

    def __init__(self, problem: Problem) -> None:
        self.columns = numeric_columns(problem.dataset)
        self.gap = problem.space_as(ObliqueTrees).gap
        p = len(self.columns.names)
        priced = bool(getattr(problem.task, "feature_costs", None))
        # Splits on some columns alone may be cheaper.
        kinds = product((0, 1), repeat=p) if priced else [(1,) * p]
        self.sets = [[j for j in range(p) if kind[j]] for kind in kinds if any(kind)]
        self.of = cache(self._of)

    def _of(self, rows: frozenset[int]) -> list[tuple[frozenset[int], frozenset[int], LinearTest]]:
        """Pairs of the rows below and above a split, each once per set of columns, with a test."""
        first, *others = sorted(rows)
        out = []
        for kind in product((0, 1), repeat=len(others)):
            above = [i for i, k in zip(others, kind, strict=True) if k]
            below = [first, *(i for i, k in zip(others, kind, strict=True) if not k)]
            if not above:
                continue
            for allowed in self.sets:
                test = separating_test(
                    self.columns, np.array(below), np.array(above), self.gap, allowed
                )
                if test is not None:
                    out.append((frozenset(below), frozenset(above), test))
        return out


def all_oblique_trees(problem: Problem) -> Iterator[ObliqueTree]:
    """A tree for every way to send the rows to leaves with actions, feasible or not."""
    splits, K = Splits(problem), len(problem.task.actions(problem.dataset))
    actions, names = problem.task.actions(problem.dataset), tuple(problem.dataset.columns or ())

    def nodes(rows: frozenset[int], depth: int) -> Iterator[Node]:
        yield from (Leaf(k) for k in range(K))
        for below, above, test in splits.of(rows) if depth and len(rows) > 1 else ():
            for one in nodes(below, depth - 1):
                for other in nodes(above, depth - 1):
                    asked: Any = test
                    yield Branch(asked, other, one)

    everything = frozenset(range(problem.dataset.n_rows))
    for root in nodes(everything, problem.space_as(ObliqueTrees).depth):
        yield ObliqueTree(root, actions, names)


def n_oblique_trees(problem: Problem) -> int:
    """Number of trees that `all_oblique_trees` makes."""
    splits, K = Splits(problem), len(problem.task.actions(problem.dataset))

    @cache
    def count(rows: frozenset[int], depth: int) -> int:
        if not depth or len(rows) < 2:
            return K
        return K + sum(
            count(below, depth - 1) * count(above, depth - 1) for below, above, _ in splits.of(rows)
        )

    everything = frozenset(range(problem.dataset.n_rows))
    return count(everything, problem.space_as(ObliqueTrees).depth)


def best_oblique_tree(problem: Problem) -> ObliqueTree | None:
    """The cheapest feasible tree of a task that offers a cost matrix, or None."""
    view, space = problem.view(CostMatrix), problem.space_as(ObliqueTrees)
    splits, price = Splits(problem), dict.fromkeys(numeric_columns(problem.dataset).names, 0)
    for name, cost in zip(
        price, (view.split_costs[1 : 1 + len(price)] - view.split_costs[0]).tolist(), strict=True
    ):
        price[name] = cost
    split_cost = int(view.split_costs[0])

    @cache
    def trees(rows: frozenset[int], depth: int) -> Achieved:
        out: Achieved = {}

        def offer(key: tuple[int, ...], cost: int, node: Node) -> None:
            if key not in out or cost < out[key][0]:
                out[key] = cost, node

        here = sorted(rows)
        if int(view.counts[here].sum()) >= space.min_samples_leaf:
            for k in range(view.n_actions):
                totals = (int(row.coefs[here, k].sum()) for row in view.side)
                offer((1, *totals), int(view.costs[here, k].sum()) + view.leaf_cost, Leaf(k))
        for below, above, test in splits.of(rows) if depth and len(rows) > 1 else ():
            cost = split_cost + sum(price[c] for c in test.columns)
            for key, (cost_b, one) in trees(below, depth - 1).items():
                for more, (cost_a, other) in trees(above, depth - 1).items():
                    both = tuple(a + b for a, b in zip(key, more, strict=True))
                    asked: Any = test
                    offer(both, cost + cost_b + cost_a, Branch(asked, other, one))
        return out

    found = trees(frozenset(range(view.n_rows)), space.depth)
    feasible = [
        one
        for (leaves, *totals), one in found.items()
        if leaves <= (space.most_leaves or leaves)
        and all(row.holds(t) for row, t in zip(view.side, totals, strict=True))
    ]
    if not feasible:
        return None
    root = min(feasible, key=lambda one: one[0])[1]
    return ObliqueTree(root, view.actions, tuple(problem.dataset.columns or ()))
