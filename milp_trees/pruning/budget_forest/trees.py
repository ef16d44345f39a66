"""Sorted columns, made once for a forest, and the tree grown on them for one draw of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling import interruptible
from milp_trees.methods.growing.kernels import leaves
from milp_trees.methods.growing.rows import drawn_rows, order_of, order_of_drawn
from milp_trees.methods.growing.tree import depth_of
from milp_trees.pruning.budget_forest.grow import (
    COUNTS,
    FEATURE,
    HIGH,
    LEFT,
    LOW,
    RIGHT,
    ROWS,
    DrawnRows,
    Rules,
    grow,
    mark,
)
from milp_trees.pruning.budget_forest.impurities import Measure, value


class SortedColumns(NamedTuple):
    """Training rows with sorted columns.

    Values (n, p), rows in the order of every column and ranks of their values (p, n), classes (n,),
    and the number of classes.
    """

    X: np.ndarray
    order: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    n_classes: int


@dataclass(frozen=True, eq=False)
class BudgetTree:
    """A binary tree as parallel arrays over its nodes, named as in scikit-learn's `tree_`.

    Attributes
    ----------
    children_left, children_right : int64 arrays of shape (nodes,)
        -1 at leaves. A parent comes before its children.
    feature : int64 array of shape (nodes,)
        Column tested, -2 at leaves.
    threshold : float64 array of shape (nodes,)
        A row with `x <= threshold` goes left; -2 at leaves.
    value : float64 array of shape (nodes, K)
        Share of every class among the draws that reach a node, at inner nodes too.
    impurity : float64 array of shape (nodes,)
    n_node_samples : int64 array of shape (nodes,)
        Distinct training rows at a node.
    weighted_n_node_samples : float64 array of shape (nodes,)
        Draws at a node: a row drawn twice counts twice.
    n_features : int
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    n_features: int

    @property
    def tree_(self) -> BudgetTree:
        """The tree itself, so that it can be used like a fitted scikit-learn tree."""
        return self

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return int((self.children_left < 0).sum())

    @property
    def n_classes(self) -> int:
        return int(self.value.shape[1])

    @property
    def max_depth(self) -> int:
        return depth_of(self.children_left, self.children_right)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Leaf of every row of a C-contiguous float64 array of shape (n, p)."""
        found: np.ndarray = leaves(
            X, self.feature, self.threshold, self.children_left, self.children_right
        )
        return found

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Class shares of every row's leaf, shape (n, K)."""
        shares: np.ndarray = self.value[self.apply(X)]
        return shares

    def mark_used(self, X: np.ndarray, units: np.ndarray, used: np.ndarray) -> None:
        """Set `used[i, units[f]]` for every column f that is tested on the path of row i."""
        mark(X, self.children_left, self.children_right, self.feature, self.threshold, units, used)


def sorted_columns(X: np.ndarray, labels: np.ndarray, n_classes: int) -> SortedColumns:
    """Sort every column once."""
    values = X.T
    order = order_of(values)
    in_order = np.take_along_axis(values, order, axis=1)
    ranks = np.zeros(order.shape, dtype=np.int32)
    np.put_along_axis(
        ranks[:, :],
        order[:, 1:],
        np.cumsum(in_order[:, 1:] != in_order[:, :-1], axis=1, dtype=np.int32),
        axis=1,
    )
    return SortedColumns(X, order, ranks, labels.astype(np.int32), n_classes)


def grow_tree(columns: SortedColumns, rules: Rules, bootstrap: bool, seed: int) -> BudgetTree:
    """Grow the tree of one seed; it does not depend on other trees."""
    rng = np.random.default_rng(seed)
    n = len(columns.labels)
    times = np.bincount(drawn_rows(n, bootstrap, rng), minlength=n).astype(np.int32)
    order = order_of_drawn(columns.order, times)
    rows = DrawnRows(order, columns.ranks, columns.labels, times, columns.n_classes)
    with interruptible():
        return _tree(grow(rows, rules, rng), columns.X, rules.measure)


def _tree(nodes: np.ndarray, X: np.ndarray, m: Measure) -> BudgetTree:
    counts = np.ascontiguousarray(nodes[:, COUNTS:])
    draws = counts.sum(axis=1)
    inner = nodes[:, LEFT] >= 0
    feature = nodes[:, FEATURE].copy()
    threshold = np.full(len(nodes), -2.0)
    threshold[inner] = midpoints(
        X[nodes[inner, LOW], feature[inner]], X[nodes[inner, HIGH], feature[inner]]
    )
    return BudgetTree(
        nodes[:, LEFT].copy(),
        nodes[:, RIGHT].copy(),
        feature,
        threshold,
        value=counts / draws[:, None],
        impurity=np.array([value(m, row) for row in counts]) / m.scale,
        n_node_samples=nodes[:, ROWS].copy(),
        weighted_n_node_samples=draws.astype(np.float64),
        n_features=X.shape[1],
    )


def midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Half way from low to high, or low where rounding would not leave high above it."""
    middle = 0.5 * low + 0.5 * high  # a sum could overflow
    return np.where((low <= middle) & (middle < high), middle, low)
