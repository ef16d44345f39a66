"""View `WorstCase`: what it costs to shift each row to each cell of each column, and the budget."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.nodes import Branch, Leaf, Node

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree


@dataclass(frozen=True, eq=False)
class WorstCase:
    r"""Rows that may be shifted at a price, in exact integers.

    A shifted row is in one cell of every column, and pays the sum of their prices. Of all shifts
    of the rows whose prices add up to the budget at most, the worst one for a tree makes the most
    rows wrong. The objective of a tree is

    .. math:: Z = \text{error\_cost}\cdot\#\text{wrong rows} + \text{leaf\_cost}\cdot\#\text{leaves} + \sum_v \text{split\_costs}_{f(v)}.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        The candidate features, before any shift.
    features : tuple of BinaryFeature, length F
        What the columns of `X` mean.
    y : int64 array of shape (n,)
        The action that is right on each row.
    actions : tuple, length K
        Names of the actions, which are classes.
    column : int64 array of shape (F,)
        The column of each feature, by its number.
    cell_column : int64 array of shape (C,)
        The column of each cell, in ascending order.
    answers : uint8 array of shape (F, C)
        The answer of each feature in each cell of its column; 0 in cells of other columns.
    price : int64 array of shape (n, C)
        Least price of a shift of a row to a cell; `budget` + 1 if it is more than the budget. It is
        0 for the cell in which the row is.
    budget : int
        What all shifts together may cost.
    error_cost, leaf_cost : int
        Cost of a wrong row, and of a leaf.
    split_costs : int64 array of shape (F,)
        Cost of a branch node that tests the feature.
    scale : Fraction
        Natural value of one unit.
    """

    X: np.ndarray
    features: tuple[BinaryFeature, ...]
    y: np.ndarray
    actions: tuple[Any, ...]
    column: np.ndarray
    cell_column: np.ndarray
    answers: np.ndarray
    price: np.ndarray
    budget: int
    error_cost: int
    leaf_cost: int
    split_costs: np.ndarray
    scale: Fraction

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def n_actions(self) -> int:
        return len(self.actions)

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem, for tables beside the sizes of a model."""
        return {"data_rows": self.n_rows, "data_tests": self.n_features}

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    @property
    def never(self) -> int:
        """The price of what cannot be done."""
        return self.budget + 1

    @property
    def free(self) -> bool:
        """Whether shifts cost nothing or cannot be done, so that rows do not share the budget."""
        return self.budget == 0

    # -- Scale -------------------------------------------------------------------------------------

    @property
    def exact(self) -> bool:
        """True: values are counts with penalties, in rationals."""
        return True

    @property
    def tolerance(self) -> int:
        return 0

    @property
    def absolute_gap(self) -> float:
        """An incumbent is optimal if its gap is below this."""
        return 0.999

    def to_value(self, Z: float | int) -> Fraction:
        """Natural value of an objective."""
        return Fraction(Z) * self.scale

    def from_value(self, value: Fraction | float) -> Fraction:
        """A natural value in units."""
        return Fraction(value) / self.scale

    @property
    def spread(self) -> int:
        """Largest possible difference of the costs of the rows between two trees."""
        return self.error_cost * self.n_rows

    @property
    def unavoidable(self) -> int:
        """Lower bound for the objective of every tree: one leaf."""
        return self.leaf_cost

    # -- the worst case ----------------------------------------------------------------------------

    def canonical(self, tree: Tree) -> Tree:
        """The tree itself, because this view drops no feature."""
        strange = next((t for t in tree.splits if t not in self.index), None)
        if strange is not None:
            raise KeyError(f"The test {strange.name!r} is not a candidate of this problem.")
        return tree

    @cached_property
    def everywhere(self) -> np.ndarray:
        """All cells, as a mask of shape (C,)."""
        return np.ones(len(self.cell_column), dtype=bool)

    def narrowed(self, inside: np.ndarray, test: int, answer: bool) -> np.ndarray:
        """The cells of a box in which a test has an answer; cells of other columns stay.

        Parameters
        ----------
        inside : bool array of shape (C,)
            The cells of the box.
        test : int
            Index of the feature.
        answer : bool

        Returns
        -------
        bool array of shape (C,)
        """
        other = self.cell_column != self.column[test]
        return np.asarray(inside & (other | (self.answers[test] == int(answer))))

    def is_empty(self, inside: np.ndarray) -> bool:
        """Whether a box has no cell of some column, so that no row can be in it."""
        return len(np.unique(self.cell_column[inside])) < len(self.starts)

    def entry(self, inside: np.ndarray) -> np.ndarray:
        """Least price at which each row is shifted into a box, shape (n,)."""
        if self.is_empty(inside):
            return np.full(self.n_rows, self.never)
        if not len(self.starts):
            return np.zeros(self.n_rows, dtype=np.int64)
        allowed = np.where(inside[None, :], self.price, self.never)
        total = np.minimum.reduceat(allowed, self.starts, axis=1).sum(axis=1)
        return np.asarray(np.minimum(total, self.never))

    @cached_property
    def starts(self) -> np.ndarray:
        """The first cell of every column."""
        return np.unique(self.cell_column, return_index=True)[1]

    def nearest(self, inside: np.ndarray, row: int) -> np.ndarray:
        """The cell of every column to which a row is shifted at the least price into a box."""
        allowed = np.where(inside, self.price[row], self.never + 1)
        ends = np.append(self.starts, len(inside))[1:]
        return np.array(
            [a + allowed[a:b].argmin() for a, b in zip(self.starts, ends, strict=True)],
            dtype=np.int64,
        )

    def leaves(self, root: Node) -> list[tuple[np.ndarray, int]]:
        """The box and the action of every leaf, from left to right."""
        out: list[tuple[np.ndarray, int]] = []

        def walk(node: Node, inside: np.ndarray) -> None:
            if isinstance(node, Leaf):
                out.append((inside, node.action))
                return
            test = self.index[node.test]
            walk(node.left, self.narrowed(inside, test, False))
            walk(node.right, self.narrowed(inside, test, True))

        walk(root, self.everywhere)
        return out

    def prices(self, root: Node) -> np.ndarray:
        """Least price at which each row is made wrong, shape (n,); 0 if it is wrong anyway."""
        out = np.full(self.n_rows, self.never)
        for inside, action in self.leaves(root):
            others = self.y != action
            if others.any():
                out[others] = np.minimum(out, self.entry(inside))[others]
        return out

    def attacked(self, prices: np.ndarray) -> np.ndarray:
        """The rows that the worst shift makes wrong, which are the cheapest ones."""
        order = np.argsort(prices, kind="stable")
        spent = np.cumsum(prices[order])
        return np.asarray(order[(spent <= self.budget) & (prices[order] < self.never)])

    def wrong(self, tree: Tree) -> int:
        """Number of wrong rows of a tree in the worst case."""
        return len(self.attacked(self.prices(self.canonical(tree).root)))

    def objective(self, tree: Tree) -> int:
        """Integer objective of a tree on this view's features."""
        split = sum(int(self.split_costs[self.index[t]]) for t in self.canonical(tree).splits)
        return self.error_cost * self.wrong(tree) + self.leaf_cost * tree.n_leaves + split

    # -- trees -------------------------------------------------------------------------------------

    def without_empty(self, tree: Tree) -> Tree:
        """The tree without splits of which one side has no value of some column.

        No row is there after any shift, so each row keeps its actions.
        """

        def walk(node: Node, inside: np.ndarray) -> Node:
            if isinstance(node, Leaf):
                return node
            test = self.index[node.test]
            no, yes = self.narrowed(inside, test, False), self.narrowed(inside, test, True)
            if self.is_empty(no):
                return walk(node.right, yes)
            if self.is_empty(yes):
                return walk(node.left, no)
            return Branch(node.test, walk(node.left, no), walk(node.right, yes))

        return tree._alike(
            type(tree)(walk(self.canonical(tree).root, self.everywhere), tree.actions)
        )

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Store for what methods derive from this view and may need again; not part of it."""
        return {}
