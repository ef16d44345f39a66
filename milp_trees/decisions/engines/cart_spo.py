"""`cart-spo`: regression CART on the cost vectors, then the best decision of every leaf; no proof.

It is the baseline of Elmachtoub, Liang, McNellis (2020): a tree grown by squared error, with the
best decision for the mean of every leaf, otherwise as `greedy-spo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from milp_trees.common.registering import register
from milp_trees.decisions.engines.greedy_spo.method import GreedyDecisions
from milp_trees.tasks.decision_view import LeafOracle

if TYPE_CHECKING:
    from milp_trees.decisions.engines.greedy_spo.criteria import Criterion


@register
class CartSPO(GreedyDecisions):
    """Regression CART on the cost vectors."""

    name = "cart-spo"
    title: ClassVar[str] = (
        "Regression CART on the cost vectors, then the best decision of every leaf (heuristic)"
    )

    def criterion(self, view: LeafOracle, vertices: np.ndarray | None) -> Criterion:
        from milp_trees.decisions.engines.greedy_spo.criteria import SquaredError

        return SquaredError(view.vectors, view.row_weight)
