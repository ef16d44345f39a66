"""View `PathCosts`: costs of actions, and prices of tests that depend on what the path has paid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from milp_trees.models.nodes import Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.tasks.grouping import equal_rows, packed_columns
from milp_trees.tasks.views import CostMatrix, SideRow


@dataclass(frozen=True, eq=False)
class PathCosts:
    r"""A cost matrix, and prices of attributes that every row pays on its path.

    The objective of a tree is that of the cost matrix, plus, for every row, its weight times the
    prices of the attributes on its path. An attribute is paid once: at its full price, or at its
    discounted one after another attribute of its group.

    Parameters
    ----------
    errors : CostMatrix
        The costs without prices; it has no side rows. Its units are those of the prices.
    weights : int64 array of shape (n,)
        What a price is multiplied by on every row.
    attribute : int64 array of shape (F,)
        Attribute of every candidate feature, -1 for those that are free.
    price, discount : int64 array of shape (A,)
        Full and discounted price of every attribute, `0 <= discount <= price`.
    group : int64 array of shape (A,)
        Group of every attribute, -1 for none.
    """

    errors: CostMatrix
    weights: np.ndarray
    attribute: np.ndarray
    price: np.ndarray
    discount: np.ndarray
    group: np.ndarray

    @property
    def side(self) -> tuple[SideRow, ...]:
        return self.errors.side

    @property
    def actions(self) -> tuple[Any, ...]:
        return self.errors.actions

    # -- prices --------------------------------------------------------------------------------------

    def prices(self, paid: frozenset[int]) -> np.ndarray:
        """Price of every attribute for a path that has paid some, shape (A,)."""
        groups = {int(self.group[a]) for a in paid} - {-1}
        out = np.where(np.isin(self.group, list(groups)), self.discount, self.price)
        out[list(paid)] = 0
        return out

    def objective(self, tree: Tree) -> int:
        """Integer objective of a tree that uses only this view's features (or their aliases)."""
        view = self.errors

        def cost(node: Node, rows: np.ndarray, bought: frozenset[int]) -> int:
            if isinstance(node, Leaf):
                return int(view.costs[rows, node.action].sum()) + view.leaf_cost
            f = view.index[node.test]
            a, true = int(self.attribute[f]), view.X[rows, f] == 1
            more = bought if a < 0 else bought | {a}
            here = 0 if a < 0 else int(self.prices(bought)[a]) * int(self.weights[rows].sum())
            return (
                here
                + int(view.split_costs[f])
                + cost(node.left, rows[~true], more)
                + cost(node.right, rows[true], more)
            )

        return cost(view.canonical(tree).root, np.arange(view.n_rows), frozenset())

    @cached_property
    def largest(self) -> int:
        """No tree costs more, without its penalties."""
        prices = int(self.price.sum()) * int(self.weights.sum())
        return int(np.abs(self.errors.costs).max(axis=1, initial=0).sum(dtype=object)) + prices

    # -- Scale: that of the cost matrix --------------------------------------------------------------

    @property
    def exact(self) -> bool:
        return self.errors.exact

    @property
    def tolerance(self) -> int:
        return self.errors.tolerance

    @property
    def absolute_gap(self) -> float:
        return self.errors.absolute_gap

    def to_value(self, Z: float | int) -> Fraction:
        """Natural value of an integer objective."""
        return self.errors.to_value(Z)

    def from_value(self, value: Fraction | float) -> Fraction:
        """Integer objective of a natural value."""
        return self.errors.from_value(value)

    # -- presolve ------------------------------------------------------------------------------------

    @cached_property
    def reduced(self) -> PathCosts:
        """An equivalent view: equal rows are merged, and features that no optimum needs are dropped.

        These are constant features, and those equal or complementary to another feature of the same
        attribute (of different attributes one may be free where the other is not).
        """
        view = self.errors
        if not view.n_features or not view.n_rows:
            return self
        words = packed_columns(view.X ^ view.X[0])
        owner = np.column_stack([self.attribute, view.split_costs]).astype(np.int64)
        first, of = equal_rows(np.column_stack([words, owner.view(np.uint64)]))
        varies = words[first].any(axis=1)
        kept = np.sort(first[varies])
        place = {int(f): k for k, f in enumerate(kept.tolist())}
        alias: dict[Any, tuple[int, bool] | bool] = {}
        for f in range(view.n_features):
            g = int(first[of[f]])
            if not varies[of[f]]:
                alias[view.features[f]] = bool(view.X[0, f])
            elif g != f:
                alias[view.features[f]] = (place[g], bool(view.X[0, f] != view.X[0, g]))
        # The weights travel as costs of one more action, so that equal rows add them up too.
        wide = replace(
            view,
            X=np.ascontiguousarray(view.X[:, kept]),
            features=tuple(view.features[f] for f in kept),
            split_costs=view.split_costs[kept],
            alias=alias,
            costs=np.column_stack([view.costs, self.weights]),
        ).reduce(drop_tests=False)
        matrix = replace(wide, costs=np.ascontiguousarray(wide.costs[:, :-1]))
        return replace(
            self, errors=matrix, weights=wide.costs[:, -1].copy(), attribute=self.attribute[kept]
        )

    def without_prices(self) -> bool:
        """Whether no test costs anything, so that the cost matrix alone states the problem."""
        used = self.attribute[self.attribute >= 0]
        return not self.price[used].any()
