"""One tree of a forest, kept small: tests, and the mean cost vectors of the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.decisions.engines.greedy_spo.columns import Columns
from milp_trees.decisions.engines.greedy_spo.criteria import SquaredError
from milp_trees.decisions.engines.greedy_spo.fitting import CostSample, chosen
from milp_trees.decisions.engines.greedy_spo.grow import Rules, Sample, grow
from milp_trees.methods.growing.rows import drawn_rows, order_of_drawn
from milp_trees.methods.growing.tree import GrownTree, depth_of, leaf_of

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.decisions.engines.greedy_spo.coder import Coder


@dataclass(frozen=True, eq=False)
class ForestTree:
    """A tree of a forest.

    Attributes
    ----------
    column, cut, left, right : int64 arrays of shape (nodes,)
        As in `GrownTree`.
    leaf : int64 array of shape (nodes,)
        Number of a leaf, from left to right; -1 at inner nodes.
    costs : float array of shape (leaves, d)
        Mean cost vectors.
    weight : float array of shape (leaves,)
        Weight of the drawn rows.
    """

    column: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf: np.ndarray
    costs: np.ndarray
    weight: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        """Nodes of the leaves, in the order of their numbers."""
        nodes = np.flatnonzero(self.leaf >= 0)
        ordered: np.ndarray = nodes[np.argsort(self.leaf[nodes])]
        return ordered

    def apply(self, codes: np.ndarray) -> np.ndarray:
        """Leaf of every row; codes of shape (C, n)."""
        nodes = leaf_of(codes, self.column, self.cut, self.left, self.right)
        out: np.ndarray = self.leaf[nodes]
        return out

    def predict(self, codes: np.ndarray) -> np.ndarray:
        """Mean cost vector of every row's leaf."""
        out: np.ndarray = self.costs[self.apply(codes)]
        return out

    @property
    def depth(self) -> int:
        """Levels of splits."""
        return depth_of(self.left, self.right)


def grow_one(
    columns: Columns,
    order: np.ndarray,
    sample: CostSample,
    rules: Rules,
    by: str,
    bootstrap: bool,
    seed: int,
) -> tuple[ForestTree, np.ndarray]:
    """A tree, and how often each row was drawn for it; both depend on the seed alone."""
    rng = np.random.default_rng(seed)
    n = len(sample.costs)
    drawn = np.bincount(drawn_rows(n, bootstrap, rng), minlength=n)
    vectors, weights = sample.vectors * drawn[:, None], sample.weights * drawn
    # A tree by squared error alone needs no losses of decisions.
    loss = sample.loss.repeated(drawn) if by != "squared-error" else None
    criterion = (
        SquaredError(vectors, weights) if loss is None else chosen(by, loss, vectors, weights)
    )
    order = order_of_drawn(order, drawn)
    tree = grow(columns, order, Sample(drawn, sample.row_weight[0] * drawn), criterion, rules, rng)
    return _slim(tree, vectors, weights), drawn


def lean(coder: Coder, trees: Sequence[ForestTree]) -> tuple[Coder, list[ForestTree]]:
    """The coder and the trees without thresholds that no tree tests.

    Thresholds are values of the training rows, so unused ones need not be kept.
    """
    cuts = [
        np.unique(np.concatenate([t.cut[t.column == c] for t in trees])).astype(np.int64)
        for c in range(len(coder.rules))
    ]
    out = copy(coder)
    out.rules = [
        (j, name, kind, value[cuts[c]] if kind == "<=" else value)
        for c, (j, name, kind, value) in enumerate(coder.rules)
    ]
    thresholds = np.array([kind == "<=" for _, _, kind, _ in coder.rules], dtype=bool)
    recoded = []
    for tree in trees:
        cut = tree.cut.copy()
        for node in np.flatnonzero(tree.column >= 0):
            c = int(tree.column[node])
            if thresholds[c]:
                cut[node] = np.searchsorted(cuts[c], cut[node])
        recoded.append(replace(tree, cut=cut))
    return out, recoded


def _slim(tree: GrownTree, vectors: np.ndarray, weights: np.ndarray) -> ForestTree:
    leaves = tree.leaves
    number = np.full(tree.n_nodes, -1, dtype=np.int64)
    number[leaves] = np.arange(len(leaves))
    weight = np.array([weights[tree.rows[t]].sum() for t in leaves])
    costs = np.array([vectors[tree.rows[t]].sum(axis=0) for t in leaves]) / weight[:, None]
    return ForestTree(tree.column, tree.cut, tree.left, tree.right, number, costs, weight)


def most_frequent(
    trees: Sequence[ForestTree], decisions: DecisionSet, codes: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """The most frequent decision of the trees that are asked for each row, shape (rows, d)."""
    taken = decisions.solve(np.concatenate([tree.costs for tree in trees])).decisions
    distinct, which = np.unique(taken, axis=0, return_inverse=True)
    first = np.cumsum([0, *(len(tree.costs) for tree in trees)])
    n = codes.shape[1]
    votes = np.zeros((n, len(distinct)), dtype=np.int32)
    for tree, offset, here in zip(trees, first[:-1], asked, strict=True):
        rows = np.flatnonzero(here)
        votes[rows, which.ravel()[offset + tree.apply(codes[:, rows])]] += 1
    chosen: np.ndarray = distinct[votes.argmax(axis=1)]
    return chosen
