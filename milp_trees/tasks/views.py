"""Views: what a task offers to methods, as plain arrays that do not depend on the task's class.

A method names the view it needs; `task.view(kind, dataset, space)` returns it, or raises `NoView`
with the reason. The table of views, and of the published systems that use them, is in
`docs/project/nouns.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from milp_trees.tasks.leaf_sums import LeafSums as LeafSums
from milp_trees.tasks.leaf_sums import SideRow as SideRow

if TYPE_CHECKING:
    from milp_trees.models.shown import Shown

    #: A predictor on the view's features.
    P = TypeVar("P", bound=Shown)


#: With no more actions, the cheapest action of rows is found action by action.
_FEW_ACTIONS = 16


class Scale(Protocol):
    """How values of a problem are compared.

    Every view has these properties; `problem.scale` is the first view that the task offers.
    """

    @property
    def exact(self) -> bool:
        """Whether values and bounds are rationals without rounding."""

    @property
    def tolerance(self) -> int:
        """Two values with at most this difference, in units, are equal; 0 if they are exact."""

    @property
    def absolute_gap(self) -> float:
        """An incumbent is optimal if its gap, in units, is below this."""

    def from_value(self, value: Fraction | float) -> Fraction:
        """A natural value in units that are always minimised."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CostMatrix(LeafSums):
    r"""A task on a finite action set, in exact integers: a leaf costs its cheapest action.

    The objective of a tree that gives row :math:`i` action :math:`a(i)` is

    .. math:: Z = \sum_i c_{i,a(i)} + \text{leaf\_cost}\cdot\#\text{leaves} + \sum_{\text{branch nodes } v} \text{split\_costs}_{f(v)}.

    Parameters that are not listed are those of `LeafSums`.

    Parameters
    ----------
    costs : int64 array of shape (n, K)
        Cost of every action on every row.
    actions : tuple, length K
        Original names of the actions (class labels, treatments).
    rounding : int
        How much an objective may differ from the value, in units, because costs and values are
        rounded; 0 if they are exact.
    """

    sums_field: ClassVar[str] = "costs"

    costs: np.ndarray
    actions: tuple[Any, ...]
    rounding: int = 0

    # -- leaves ------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        return int(self.costs.shape[1])

    def leaf_values(self, totals: np.ndarray) -> np.ndarray:
        least: np.ndarray = totals.min(axis=1)
        return least

    def leaf_actions(self, totals: np.ndarray) -> tuple[list[int], tuple[Any, ...]]:
        return totals.argmin(axis=1).tolist(), self.actions

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def tolerance(self) -> int:
        """Two objectives with at most this difference are equal; 0 if costs are exact."""
        if self.exact:
            return 0
        from milp_trees.common.exact import INEXACT_TOLERANCE

        return max(1, math.ceil(INEXACT_TOLERANCE * self.spread), 2 * self.rounding)

    @cached_property
    def absolute_gap(self) -> float:
        """An incumbent is optimal if its gap is below this.

        It is slightly less than one integer unit, or what rounding leaves of the tolerance of
        inexact costs.
        """
        return 0.999 if self.exact else float(self.tolerance - self.rounding)

    @cached_property
    def base(self) -> np.ndarray:
        """Cheapest cost of every row, shape (n,); every tree costs at least their sum."""
        # Columns one after the other: numpy is slow along a short axis.
        columns = self.costs.T if self.n_actions <= _FEW_ACTIONS else [self.costs.min(axis=1)]
        return np.ascontiguousarray(reduce(np.minimum, columns))

    @cached_property
    def fixed_cost(self) -> int:
        """The cheapest action of every row."""
        return int(self.base.sum())

    @cached_property
    def regret(self) -> np.ndarray:
        """Costs above `base`, shape (n, K), nonnegative with a zero in every row."""
        return self.costs - self.base[:, None]

    @cached_property
    def spread(self) -> int:
        """Largest possible difference of the costs of the rows between two trees."""
        return int(self.regret.max(axis=1).sum()) if self.n_rows else 0

    @property
    def unavoidable(self) -> int:
        """Lower bound of every tree: the cheapest action of every row, and one leaf."""
        return int(self.base.sum()) + self.leaf_cost

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(best action, weight) per row, if all other actions of a row lose the same amount.

        None otherwise. Misclassification has this form, and so has every task with two actions.
        """
        best = self.costs.argmin(axis=1)
        others = np.ones_like(self.costs, dtype=bool)
        others[np.arange(self.n_rows), best] = False
        if self.n_actions == 1:
            return best, np.zeros(self.n_rows, dtype=np.int64)
        loss = self.regret[others].reshape(self.n_rows, -1)
        return (best, loss[:, 0].copy()) if (loss == loss[:, :1]).all() else None

    def objective(self, tree: P) -> int:
        """Integer objective Z of a tree or rule list on this view's features (or their aliases)."""
        placed = self.canonical(tree)
        routes = placed.routes(self)
        split = sum(int(self.split_costs[self.index[t]]) for t in placed.splits)  # type: ignore[index, misc]
        return (
            int(self.costs[np.arange(self.n_rows), routes.action].sum())
            + self.leaf_cost * placed.n_leaves
            + split
        )

    def side_totals(self, tree: P) -> list[int]:
        """Left-hand side of every side row for a tree or rule list."""
        action = self.canonical(tree).routes(self).action
        return [int(row.coefs[np.arange(self.n_rows), action].sum()) for row in self.side]
