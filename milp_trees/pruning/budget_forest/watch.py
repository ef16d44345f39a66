"""Follows a growing forest on validation rows, so that it can stop at its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from milp_trees.pruning.budget_forest.trees import BudgetTree


class Watch:
    """Mean cost of a growing forest on validation rows, and its errors if labels are known.

    Parameters
    ----------
    X : array of shape (n, p)
    y : array of shape (n,) or None
        Labels, if they are known.
    classes : array of shape (K,)
    units : int64 array of shape (p,)
        Unit of every feature: features of one unit are paid together.
    unit_costs : array of shape (number of units,)
    budget : float
        Largest mean cost of a row.
    voting : {"soft", "hard"}
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray | None,
        classes: np.ndarray,
        units: np.ndarray,
        unit_costs: np.ndarray,
        budget: float,
        voting: str,
    ) -> None:
        self.X, self.y, self.classes = X, y, classes
        self.units, self.unit_costs, self.budget, self.voting = units, unit_costs, budget, voting
        self.used = np.zeros((len(X), len(unit_costs)), dtype=bool)
        self.total = np.zeros((len(X), len(classes)))
        self.costs: list[float] = []
        self.errors: list[float] = []

    def affords(self, tree: BudgetTree) -> bool:
        """Add a tree; False if the forest now costs more than its budget."""
        tree.mark_used(self.X, self.units, self.used)
        self.costs.append(float((self.used @ self.unit_costs).mean()))
        if self.y is not None:
            self.total += votes(tree.predict_proba(self.X), self.voting)
            self.errors.append(float((self.classes[self.total.argmax(axis=1)] != self.y).mean()))
        return self.costs[-1] <= self.budget


def votes(shares: np.ndarray, voting: str) -> np.ndarray:
    """What a tree adds to the vote.

    It is the class shares of its leaves (n, K), or 1 for the largest share of each row.
    """
    if voting == "soft":
        return shares
    return np.asarray(np.eye(shares.shape[1])[shares.argmax(axis=1)])
