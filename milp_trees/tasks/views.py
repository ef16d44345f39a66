"""Views: what a task offers to methods, as plain arrays that do not depend on the task's class.

A method names the view it needs; `task.view(kind, dataset, space)` returns it, or raises `NoView`
with the reason. The table of views, and of the published systems that use them, is in
`docs/project/nouns.md`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.ranked import MaybeRanked
from milp_trees.tasks.grouping import by_column
from milp_trees.tasks.presolve import with_different_tests, with_merged_rows

if TYPE_CHECKING:
    from milp_trees.data.antecedent import Antecedent
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


@dataclass(frozen=True, eq=False)
class SideRow:
    """One linear side constraint on the actions, all integers.

    It is `lower <= sum_i coefs[i, action(i)] <= upper`.

    Parameters
    ----------
    name : str
        For example `statistical parity a/b`.
    coefs : int64 array of shape (n, K)
        Coefficient of every action on every row.
    lower, upper : int or None
        Bounds; None if there is no bound on that side.
    """

    name: str
    coefs: np.ndarray
    lower: int | None
    upper: int | None

    def reduced(self) -> SideRow:
        """The same constraint divided by the common divisor of its coefficients.

        Bounds are rounded inwards, which is exact for integers.
        """
        g = int(np.gcd.reduce(np.abs(self.coefs), axis=None)) if self.coefs.size else 1
        if g <= 1:
            return self
        lower = None if self.lower is None else -((-self.lower) // g)
        upper = None if self.upper is None else self.upper // g
        return SideRow(self.name, self.coefs // g, lower, upper)

    def holds(self, total: int) -> bool:
        return (self.lower is None or total >= self.lower) and (
            self.upper is None or total <= self.upper
        )


@dataclass(frozen=True, eq=False)
class CostMatrix(MaybeRanked):
    r"""A task on a finite action set, in exact integers.

    The objective of a tree that gives row :math:`i` action :math:`a(i)` is

    .. math:: Z = \sum_i c_{i,a(i)} + \text{leaf\_cost}\cdot\#\text{leaves} + \sum_{\text{branch nodes } v} \text{split\_costs}_{f(v)},

    always minimised; `to_value` turns :math:`Z` into the task's natural value.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        The candidate features (only those that may be used). Given as `RankedTests`, it is kept as
        `ranked`, and the matrix is made when it is first used.
    features : tuple of BinaryFeature, length F
        What the columns of `X` mean. For rule lists they are Antecedents (also `antecedents`).
    costs : int64 array of shape (n, K)
        Cost of every action on every row.
    actions : tuple, length K
        Original names of the actions (class labels, treatments).
    counts : int64 array of shape (n,)
        Number of original rows that a row stands for (minimum leaf sizes count these).
    leaf_cost : int
        Cost per leaf.
    split_costs : int64 array of shape (F,)
        Cost per branch node that uses the feature; includes the penalty per split.
    side : tuple of SideRow
        Side constraints.
    offset, scale : Fraction
        Natural value = offset + scale · Z (scale < 0 for a maximised metric).
    exact : bool
        False if natural costs had to be rounded to integers.
    rows : int64 array of shape (n,)
        For every row, one row of the dataset that it stands for.
    alias : mapping of BinaryFeature to (int, bool) or bool
        Replacement of a dropped feature: index of the equal feature and whether it is its
        complement; for a constant feature its value.
    row_weight, min_weight_leaf : int64 array of shape (n,), int
        Scaled row weights, and their smallest sum in a leaf (0: no minimum).
    treated, min_treated : int64 array of shape (n, T), int
        Number of original rows with every observed treatment, and their smallest number in a leaf
        (0: no minimum).
    structure : tuple of Structure
        Constraints on the tree itself, which are not linear in the actions of rows.
    complements : bool
        Whether a feature and its complement are interchangeable. They are in a tree; in a rule list
        only the last rule can ask for either.
    rounding : int
        How much an objective may differ from the value, in units, because costs and values are
        rounded; 0 if they are exact.
    """

    X: np.ndarray
    features: tuple[BinaryFeature, ...]
    costs: np.ndarray
    actions: tuple[Any, ...]
    counts: np.ndarray
    leaf_cost: int
    split_costs: np.ndarray
    side: tuple[SideRow, ...]
    offset: Fraction
    scale: Fraction
    exact: bool
    rows: np.ndarray
    alias: Mapping[BinaryFeature, tuple[int, bool] | bool] = field(default_factory=dict)
    row_weight: np.ndarray | None = None
    min_weight_leaf: int = 0
    treated: np.ndarray | None = None
    min_treated: int = 0
    structure: tuple[Any, ...] = ()
    complements: bool = True
    rounding: int = 0

    def __post_init__(self) -> None:
        self._keep_ranked()

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        return int(self.costs.shape[1])

    @property
    def total_rows(self) -> int:
        """Number of original rows."""
        return int(self.counts.sum())

    # -- values ------------------------------------------------------------------------------------

    def to_value(self, Z: float | int) -> Fraction:
        """Natural value of an integer objective."""
        if self._counted and isinstance(Z, int):
            return Fraction(Z)
        return self.offset + self.scale * (Z if isinstance(Z, (int, np.integer)) else Fraction(Z))

    def from_value(self, value: Fraction | float) -> Fraction:
        """Integer objective of a natural value."""
        if self._counted:
            return Fraction(value)
        return (Fraction(value) - self.offset) / self.scale

    @cached_property
    def _counted(self) -> bool:
        """Whether natural values are the objectives themselves, as numbers of errors are."""
        return self.offset == 0 and self.scale == 1

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
    def memo(self) -> dict[Any, Any]:
        """Store for what methods derive from this view and may need again; not part of it."""
        return {}

    @cached_property
    def base(self) -> np.ndarray:
        """Cheapest cost of every row, shape (n,); every tree costs at least their sum."""
        # Columns one after the other: numpy is slow along a short axis.
        columns = self.costs.T if self.n_actions <= _FEW_ACTIONS else [self.costs.min(axis=1)]
        return np.ascontiguousarray(reduce(np.minimum, columns))

    @cached_property
    def regret(self) -> np.ndarray:
        """Costs above `base`, shape (n, K), nonnegative with a zero in every row."""
        return self.costs - self.base[:, None]

    @cached_property
    def spread(self) -> int:
        """Largest possible difference of the costs of the rows between two trees."""
        return int(self.regret.max(axis=1).sum()) if self.n_rows else 0

    @cached_property
    def leaf_minima(self) -> tuple[tuple[np.ndarray, int], ...]:
        """What a leaf must hold besides rows: pairs of an amount per row and its smallest sum."""
        weight = (self.row_weight, self.min_weight_leaf)
        given = [weight] if self.row_weight is not None and self.min_weight_leaf > 0 else []
        if self.treated is not None and self.min_treated > 0:
            given += [(np.ascontiguousarray(column), self.min_treated) for column in self.treated.T]
        return tuple(given)  # type: ignore[arg-type]

    @property
    def incumbent(self) -> Any:
        """What was found while a model of the view was being made, for runs that end before.

        It has `tree`, `bound` and `prover`; None if nothing was found.
        """
        return self.memo.get("incumbent")

    def keep_incumbent(self, found: Any) -> None:
        """Keep an incumbent; it may still become better while the model is being made."""
        self.memo["incumbent"] = found

    @property
    def unavoidable(self) -> int:
        """Lower bound of every tree: the cheapest action of every row, and one leaf."""
        return int(self.base.sum()) + self.leaf_cost

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem, for tables beside the sizes of a model."""
        return {"data_rows": self.n_rows, "data_tests": self.n_features}

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

    @cached_property
    def columns(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Features grouped by original column: (name, indices by increasing threshold).

        Each other feature is a group of its own.
        """
        return by_column(self.features)

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

    # -- features ----------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    @property
    def antecedents(self) -> tuple[Antecedent, ...]:
        """The features of a view of rule lists, which are antecedents."""
        antecedents: Any = self.features
        return antecedents  # type: ignore[no-any-return]

    def canonical(self, tree: P) -> P:
        """The same tree or rule list in terms of the features that are left.

        A complement swaps the children of a node; a node with a constant feature is removed.
        """
        return tree.map_tests(lambda t: (t, False) if t in self.index else self._alias(t))

    def _alias(self, test: BinaryFeature) -> tuple[BinaryFeature, bool] | bool:
        if test not in self.alias:
            raise KeyError(f"The test {test.name!r} is not a candidate of this problem.")
        kept = self.alias[test]
        return kept if isinstance(kept, bool) else (self.features[kept[0]], kept[1])

    # -- presolve ----------------------------------------------------------------------------------

    def reduce(self, merge_rows: bool = True, drop_tests: bool = True) -> CostMatrix:
        """An equivalent smaller view.

        Equal rows are merged; constant and equal features are dropped, and complementary ones where
        they are interchangeable. Rows with
        equal features share their leaf in every tree and therefore their action, so costs, counts
        and side coefficients add up. With merged rows every relaxation contains the
        equivalent-points bound, because `base` of a merged row is unavoidable. No feature is
        dropped where a constraint on the tree itself may tell equal features apart.
        """
        # Of different rows alone, the same tests differ as of all rows.
        view: CostMatrix = with_merged_rows(self) if merge_rows else self
        dropping = drop_tests and not self.structure and not self.alias
        return view if not dropping else with_different_tests(view)
