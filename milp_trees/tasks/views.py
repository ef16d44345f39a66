"""Views: what a task shows of itself to those who optimise it. Plain arrays, no behaviour of the
task's own type.

A method names the view it takes; `task.view(kind, dataset, space)` returns it or raises `NoView`
with the sentence why not. The table of views, and which published systems use which, is in
`docs/nouns.md`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.ranked import MaybeRanked
from milp_trees.tasks.grouping import by_column, equal_rows, packed, packed_columns, sums_by_group

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree


class Scale(Protocol):
    """How values of a problem are compared, which every view can say: `problem.scale` is the first
    view that the task offers.
    """

    @property
    def exact(self) -> bool:
        """Whether values and bounds are rationals without rounding."""

    @property
    def tolerance(self) -> int:
        """Two values that differ by no more than this many units are the same (0 where they are
        exact).
        """

    @property
    def absolute_gap(self) -> float:
        """Gap in units below which an incumbent is optimal."""

    def from_value(self, value: Fraction | float) -> Fraction:
        """A natural value in units that are always minimised."""


@dataclass(frozen=True, eq=False)
class SideRow:
    """One linear side constraint on the actions: `lower <= sum_i coefs[i, action(i)] <= upper`, all
    integers.

    Parameters
    ----------
    name : str
        E.g. `statistical parity a/b`.
    coefs : int64 array of shape (n, K)
    lower, upper : int or None
        None: no bound on that side.
    """

    name: str
    coefs: np.ndarray
    lower: int | None
    upper: int | None

    def reduced(self) -> SideRow:
        """The same constraint divided by the common divisor of its coefficients (bounds rounded
        inwards: exact on integers).
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
        The candidate tests (only those that may be used). Given as `RankedTests`, it is kept as
        `ranked` and made when someone asks for it.
    tests : tuple of Test, length F
    costs : int64 array of shape (n, K)
    actions : tuple, length K
        Original names of the actions (class labels, treatments).
    counts : int64 array of shape (n,)
        Number of original rows that a row stands for (minimum leaf sizes count these).
    leaf_cost : int
    split_costs : int64 array of shape (F,)
        Cost per branch node that uses the test; includes the penalty per split.
    side : tuple of SideRow
    offset, scale : Fraction
        Natural value = offset + scale · Z (scale < 0 for a maximised metric).
    exact : bool
        False when natural costs had to be rounded to integers.
    rows : int64 array of shape (n,)
        For every row, one row of the dataset that it stands for.
    mass, least_mass : int64 array of shape (n,), int
        Scaled row weights, and the smallest sum of them that a leaf may hold (0: no minimum).
    alias : mapping of Test to (int, bool) or bool
        Where a dropped test went: index of the equal test and whether it is its complement; for a
        constant test its truth.
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
        return self.offset + self.scale * (Z if isinstance(Z, (int, np.integer)) else Fraction(Z))

    def from_value(self, value: Fraction | float) -> Fraction:
        """Integer objective of a natural value."""
        return (Fraction(value) - self.offset) / self.scale

    @cached_property
    def tolerance(self) -> int:
        """Two objectives that differ by no more than this are the same (0 where costs are exact)."""
        if self.exact:
            return 0
        from milp_trees.exact import INEXACT_TOLERANCE

        spread = int((self.costs.max(axis=1) - self.costs.min(axis=1)).sum())
        return max(1, math.ceil(INEXACT_TOLERANCE * spread))

    @cached_property
    def absolute_gap(self) -> float:
        """Gap below which an incumbent is optimal: just under one integer unit, or the tolerance of
        inexact costs.
        """
        return 0.999 if self.exact else float(self.tolerance)

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What a method derived from this view and may need again (states, counts); never part of
        the view itself.
        """
        return {}

    @cached_property
    def base(self) -> np.ndarray:
        """Cheapest cost of every row, shape (n,): no tree can avoid their sum."""
        return self.costs.min(axis=1)

    @cached_property
    def regret(self) -> np.ndarray:
        """Costs above `base`, shape (n, K), nonnegative with a zero in every row."""
        return self.costs - self.base[:, None]

    @cached_property
    def spread(self) -> int:
        """By how much the costs of the rows can differ between two trees at most."""
        return int(self.regret.max(axis=1).sum()) if self.n_rows else 0

    @property
    def unavoidable(self) -> float:
        """What every tree costs: the cheapest action of every row, and one leaf."""
        return float(self.base.sum() + self.leaf_cost)

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem that stand beside those of a model."""
        return {"data_rows": self.n_rows, "data_tests": self.n_features}

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(best action, weight) per row if each row loses the same amount on every other action;
        None otherwise.

        Misclassification has this form, and every task with two actions has it.
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
        """Tests grouped by original column: (name, test indices by rising threshold); other tests
        are groups of their own.
        """
        return by_column(self.features)

    def objective(self, tree: Tree) -> int:
        """Integer objective Z of a tree that uses only this view's tests (or their aliases)."""
        placed = self.canonical(tree)
        routes = placed.routes(self)
        split = sum(int(self.split_costs[self.index[t]]) for t in placed.splits)
        return (
            int(self.costs[np.arange(self.n_rows), routes.action].sum())
            + self.leaf_cost * placed.n_leaves
            + split
        )

    def side_totals(self, tree: Tree) -> list[int]:
        """Left-hand side of every side row at a tree."""
        action = self.canonical(tree).routes(self).action
        return [int(row.coefs[np.arange(self.n_rows), action].sum()) for row in self.side]

    # -- tests -------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    def canonical(self, tree: Tree) -> Tree:
        """The same tree in terms of the tests that are left: complements swap children, constant
        tests disappear.
        """
        return tree.map_tests(lambda t: (t, False) if t in self.index else self._alias(t))

    def _alias(self, test: BinaryFeature) -> tuple[BinaryFeature, bool] | bool:
        if test not in self.alias:
            raise KeyError(f"The test {test.name!r} is not a candidate of this problem.")
        kept = self.alias[test]
        return kept if isinstance(kept, bool) else (self.features[kept[0]], kept[1])

    # -- presolve ----------------------------------------------------------------------------------

    def reduce(self, merge_rows: bool = True, drop_tests: bool = True) -> CostMatrix:
        """An equivalent smaller view: equal rows merged, constant, equal and complementary tests
        dropped.

        Rows with equal tests share their leaf in every tree, hence their action: costs, counts and
        side coefficients add up. This also carries the equivalent-points bound into every
        relaxation, because `base` of a merged row is unavoidable.
        """
        view = self._drop_tests() if drop_tests and not self.alias else self
        return view._merge_rows() if merge_rows else view

    def _drop_tests(self) -> CostMatrix:
        if not self.n_features:
            return self
        if not self.n_rows:
            return replace(
                self,
                X=self.X[:, :0],
                features=(),
                split_costs=self.split_costs[:0],
                alias=dict.fromkeys(self.features, False),
            )
        # Complements are equal once every column begins with 0; constant columns are then all 0.
        words = packed_columns(self.X ^ self.X[0])
        first, group = equal_rows(words)
        cheapest_last = np.argsort(self.split_costs, kind="stable")[::-1]
        represent = np.empty(len(first), dtype=np.int64)
        represent[group[cheapest_last]] = cheapest_last
        varies = words[first].any(axis=1)
        kept = np.sort(represent[varies])
        position = np.full(self.n_features, -1)
        position[kept] = np.arange(len(kept))
        alias: dict[BinaryFeature, tuple[int, bool] | bool] = {}
        for f in np.flatnonzero(position < 0).tolist():
            g = int(represent[group[f]])
            alias[self.features[f]] = (
                (int(position[g]), bool(self.X[0, f] != self.X[0, g]))
                if varies[group[f]]
                else bool(self.X[0, f])
            )
        X = (
            self.X if len(kept) == self.n_features else np.ascontiguousarray(self.X[:, kept])
        )  # a copy of a large matrix takes a while
        return replace(
            self,
            X=X,
            features=tuple(self.features[f] for f in kept),
            split_costs=self.split_costs[kept],
            alias=alias,
        )

    def _merge_rows(self) -> CostMatrix:
        if not self.n_rows:
            return self
        first, group = equal_rows(packed(self.X))

        def total(array: np.ndarray) -> np.ndarray:
            return array if len(first) == self.n_rows else sums_by_group(array, group, len(first))

        X = self.X if len(first) == self.n_rows else np.ascontiguousarray(self.X[first])
        side = tuple(replace(row, coefs=total(row.coefs)) for row in self.side)
        return replace(
            self,
            X=X,
            costs=total(self.costs),
            counts=total(self.counts),
            side=side,
            rows=self.rows[first],
            row_weight=None if self.row_weight is None else total(self.row_weight),
        )
