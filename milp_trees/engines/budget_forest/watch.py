"""Follows a growing forest on validation rows, so that it can stop at its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from milp_trees.engines.budget_forest.trees import GrownTree
    from milp_trees.estimators.budget_forest import BudgetForestClassifier


class Watch:
    """Follows a growing forest on validation rows: mean cost, and errors where labels are known."""

    def __init__(self, forest: BudgetForestClassifier, X: np.ndarray, y: np.ndarray | None) -> None:
        self.forest, self.X, self.y = forest, X, y
        self.used = np.zeros((len(X), len(forest.unit_costs_)), dtype=bool)
        self.total = np.zeros((len(X), len(forest.classes_)))
        self.costs: list[float] = []
        self.errors: list[float] = []

    def affords(self, tree: GrownTree) -> bool:
        """Take the tree in; False if the forest now costs more than its budget."""
        forest = self.forest
        tree.mark_used(self.X, forest.units_, self.used)
        self.costs.append(float((self.used @ forest.unit_costs_).mean()))
        if self.y is not None:
            self.total += votes(tree.predict_proba(self.X), forest.voting)
            self.errors.append(float((forest.classes_[self.total.argmax(axis=1)] != self.y).mean()))
        return forest.budget is None or self.costs[-1] <= forest.budget


def votes(shares: np.ndarray, voting: str) -> np.ndarray:
    """What a tree adds to the vote: its leaves' class shares (n, K), or 1 for the largest of each
    row.
    """
    if voting == "distributions":
        return shares
    return np.asarray(np.eye(shares.shape[1])[shares.argmax(axis=1)])
