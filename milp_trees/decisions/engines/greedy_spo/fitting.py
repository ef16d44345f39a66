"""A sample of rows with cost vectors, and a set of decisions, for growing and pruning trees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common import exact
from milp_trees.decisions.engines.greedy_spo.columns import Columns
from milp_trees.decisions.engines.greedy_spo.criteria import (
    Criterion,
    DecisionLoss,
    SmoothedLoss,
    SquaredError,
    decision_loss,
)
from milp_trees.decisions.engines.greedy_spo.grow import Rules, Sample, compile_kernels, grow
from milp_trees.methods.growing.tree import GrownTree

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.models.space import Trees
    from milp_trees.models.tree import Tree


#: The criteria by which a greedy tree can be grown.
CRITERIA = ("loss", "smoothed", "squared-error")


def chosen(by: str, loss: DecisionLoss, vectors: np.ndarray, weights: np.ndarray) -> Criterion:
    """SPO loss, SPO loss with squared error on its plateaus, or squared error."""
    if by not in CRITERIA:
        raise ValueError(f"A tree is grown by {', '.join(CRITERIA)}; got {by!r}.")
    if by == "loss":
        return loss
    error = SquaredError(vectors, weights)
    return error if by == "squared-error" else SmoothedLoss(loss, error)


@dataclass(frozen=True, eq=False)
class CostSample:
    """Training rows.

    Parameters
    ----------
    costs : float array of shape (n, d)
    weights : float array of shape (n,)
    decisions : DecisionSet
    """

    costs: np.ndarray
    weights: np.ndarray
    decisions: DecisionSet

    @cached_property
    def vectors(self) -> np.ndarray:
        """Cost vectors times weights."""
        out: np.ndarray = self.decisions.checked(self.costs) * self.weights[:, None]
        return out

    @cached_property
    def loss(self) -> DecisionLoss:
        """SPO loss: over the vertices of S if they can be listed."""
        vertices = self.decisions.vertices()
        base = self.decisions.value(self.vectors) if vertices is None else np.zeros(0)
        return decision_loss(self.vectors, base, self.decisions, vertices)

    @cached_property
    def row_weight(self) -> tuple[np.ndarray, Any]:
        """Weights as whole numbers, and their unit."""
        whole, unit, _ = exact.integers(self.weights)
        return whole, unit

    def enough(self, space: Trees) -> bool:
        """Whether one leaf has enough rows and weight."""
        whole, unit = self.row_weight
        return (
            len(self.costs) >= space.min_samples_leaf
            and int(whole.sum()) * unit >= space.min_weight_leaf
        )

    def rules(self, space: Trees, quantiles: int = 0, max_features: int | None = None) -> Rules:
        """Limits of a space, as rules for growing."""
        return Rules(
            space.max_depth,
            space.min_samples_leaf,
            math.ceil(space.min_weight_leaf / self.row_weight[1]),
            int(quantiles),
            max_features,
        )

    def grow(self, columns: Columns, space: Trees, by: str, quantiles: int) -> GrownTree:
        """The tree grown by one criterion."""
        compile_kernels()
        criterion = chosen(by, self.loss, self.vectors, self.weights)
        sample = Sample(np.ones(len(self.costs), dtype=np.int64), self.row_weight[0])
        return grow(columns, columns.order(), sample, criterion, self.rules(space, quantiles))

    def valued(self, tree: GrownTree) -> GrownTree:
        """The tree with the SPO losses of its nodes."""
        return replace(
            tree, loss=self.loss.decide(tree.rows)[1], slack=self.loss.enter(tree.rows[0])[1]
        )

    def to_tree(self, tree: GrownTree, columns: Columns, labels: tuple[Any, ...]) -> Tree:
        """The tree with decisions in its leaves."""
        decisions, _ = self.loss.decide(tree.rows)
        return columns.tree(tree, [self.decisions.label(w) for w in decisions], labels)

    def compared_with(
        self, tree: GrownTree, costs: np.ndarray, squared: bool
    ) -> tuple[GrownTree, Callable[[np.ndarray, int], np.ndarray]]:
        """The tree with the losses for pruning, and the loss of further rows at its nodes."""
        if squared:
            means = tree.sums(self.vectors) / tree.sums(self.weights)[:, None]
            return tree, lambda rows, t: ((costs[rows] - means[t]) ** 2).sum(axis=1)
        decisions, _ = self.loss.decide(tree.rows)
        least = self.decisions.value(costs)
        return self.valued(tree), lambda rows, t: costs[rows] @ decisions[t] - least[rows]
