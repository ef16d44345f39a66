r"""`LossSums`: leaves whose cost is a real function of sums, on a grid of whole units.

Engines add and compare integers. A leaf with integer sums s costs

.. math:: g(s) = \lfloor 2^k f(s) - \text{margin} \rfloor + \sum_i \lceil 2^k c_i \rceil + \text{tie}

units, where f is evaluated in doubles, the margin is more than their rounding error in units, and
:math:`c_i` is the part of the loss that each row has in every tree, such as :math:`w_i y_i^2`. So
:math:`g` without the tie is never more than :math:`2^k` times the loss, up to the *excess* of the
rounded constants, which is the same for all trees and known. With G a lower bound on the objectives
of all trees, none has a loss below

.. math:: 2^{-k}\bigl(G - \text{excess} - \text{tie}\cdot\#\text{leaves}\bigr).

That is a rational number and holds whatever the doubles are: all bounds of an engine follow from
sums of leaf costs and from "a part of a set costs no more than the set", which the loss itself
obeys. No loss is below 0, so a tree costs what a leaf is paid for at least. The tie adds more to every leaf than rounding takes from it, so no split is made for the
sake of rounding. The grid has :math:`2^{51}` units in the largest loss; the units in question are
some per leaf and row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from milp_trees.tasks.leaf_functions import LeafFunction, values_of
from milp_trees.tasks.leaf_sums import LeafSums

if TYPE_CHECKING:
    from milp_trees.models.shown import Shown

    #: A predictor on the view's features.
    P = TypeVar("P", bound=Shown)


class Squares(NamedTuple):
    """Rows whose loss is the squared error of predictions, without any rounding.

    Parameters
    ----------
    y : integer array of shape (n, K)
        What is predicted, in units of `unit`.
    unit : Fraction
    w : integer array of shape (n,)
        Weights of at least 0, in units of `weight`.
    weight : Fraction
    """

    y: np.ndarray
    unit: Fraction
    w: np.ndarray
    weight: Fraction


class ExactLoss(NamedTuple):
    """A loss with its penalties, as proof files state it.

    Parameters
    ----------
    squares : Squares
    share : bool
        Whether the value is the share of the loss of a single leaf, with penalties.
    leaf_penalty : Fraction
    split_penalties : list of Fraction
        One per test.
    """

    squares: Squares
    share: bool
    leaf_penalty: Fraction
    split_penalties: list[Fraction]


#: Units in the largest loss: sums and their products with the grid stay exact in doubles.
UNITS = 2**51
#: With more products of rows and pairs of tests, no chains of tests are looked for.
_MOST_NESTED = 4 * 10**9
#: Words of rows that are compared at once.
_TOGETHER = 2**17
#: A claim "optimal" holds up to this share of the largest loss.
TOLERANCE = Fraction(1, 10**9)


def chains_of(X: np.ndarray) -> list[list[int]]:
    """Chains of tests whose true rows lie inside each other, as thresholds of a column are.

    Each chain lists its tests by rising numbers of rows; a test is in one chain.
    """
    n, F = X.shape
    if not F * n or F * F * n > _MOST_NESTED:
        return [[f] for f in range(F)]
    # Rows as bits, tests by rising numbers of rows; `begin` is the first test that is larger.
    packed = np.packbits(X, axis=0)
    packed = np.concatenate([packed, np.zeros((-len(packed) % 8, F), dtype=np.uint8)])
    sets = np.ascontiguousarray(packed.T).view(np.uint64)
    sizes = np.bitwise_count(sets).sum(axis=1)
    order = np.argsort(sizes, kind="stable")
    sets, sizes = sets[order], sizes[order]
    begin, outside = np.searchsorted(sizes, sizes, side="right").tolist(), ~sets
    after, free = [-1] * F, np.ones(F, dtype=bool)
    some = max(1, _TOGETHER // sets.size)
    for f, first in enumerate(begin):
        if f % some == 0:
            inside = np.logical_not((sets[f : f + some, None] & outside).any(axis=2))
        holders = free[first:] & inside[f % some, first:]
        if len(holders) and holders[k := int(holders.argmax())]:
            after[f] = first + k
            free[first + k] = False
    chains, names = [], order.tolist()
    for f in sorted(np.flatnonzero(free).tolist(), key=names.__getitem__):
        chain, at = [], f
        while at >= 0:
            chain.append(names[at])
            at = after[at]
        chains.append(chain)
    return chains


@dataclass(frozen=True, eq=False, kw_only=True)
class LossSums(LeafSums):
    """Leaves whose cost is a function of sums of real numbers.

    Parameters that are not listed are those of `LeafSums`; the tie is part of `leaf_cost`, and
    `exact` is False.

    Parameters
    ----------
    parts : int64 array of shape (n, U + 1)
        Sums of every row that the function takes, the first of which (such as the weight) is positive
        for rows that count, and the row's constant part of the loss in units.
    leaf : callable
        The function f of a tuple of U sums, in the language of `leaf_functions`.
    grid : float
        Units per unit of f, a power of two.
    margin : int
        More units than rounding makes of f in doubles.
    predict : callable
        What a leaf with a tuple of U sums predicts.
    excess : Fraction
        Units by which the constants of all rows together may be rounded up.
    tie : int
        Units per leaf that are part of no loss.
    most_leaves : int
        Largest number of leaves of a tree.
    size : Fraction
        The largest loss in units, to which the tolerance refers.
    predicted : int
        Units that predictions add because they are doubles, which matters if targets differ by
        little from a large number.
    whole : callable
        Gives the loss of a single leaf in natural units, 1 if it is 0, or 1 with penalties.
    exact_loss : callable, optional
        Gives the loss without rounding, for proofs; None if it is no squared error.
    """

    sums_field: ClassVar[str] = "parts"
    #: Whether a bound is a rational that holds, though objectives are rounded.
    rational_bounds: ClassVar[bool] = True

    parts: np.ndarray
    leaf: LeafFunction
    grid: float
    margin: int
    predict: Callable[[tuple[int, ...]], Any]
    excess: Fraction
    tie: int
    most_leaves: int
    size: Fraction
    whole: Callable[[], Fraction]
    predicted: int = 0
    exact_loss: Callable[[], ExactLoss | None] = lambda: None

    @property
    def n_values(self) -> int:
        """Number of sums that the function takes."""
        return int(self.parts.shape[1]) - 1

    def leaf_values(self, totals: np.ndarray) -> np.ndarray:
        found = values_of(self.leaf, totals[:, :-1]) * self.grid
        weighs = totals[:, 0] > 0
        floors: np.ndarray = np.where(weighs, np.floor(found - self.margin), 0.0)
        values: np.ndarray = floors.astype(np.int64) + totals[:, -1]
        return values

    def leaf_actions(self, totals: np.ndarray) -> tuple[list[int], tuple[Any, ...]]:
        predicted = [self.predict(tuple(row[:-1])) for row in totals.tolist()]
        names = tuple(dict.fromkeys(predicted))
        index = {name: k for k, name in enumerate(names)}
        return [index[name] for name in predicted], names

    def objective(self, tree: P) -> int:
        placed = self.canonical(tree)
        price = sum(int(self.split_costs[self.index[t]]) for t in placed.splits)  # type: ignore[index]
        leaves = self.leaf_values(self.totals(tree))
        return int(leaves.sum()) + self.leaf_cost * len(leaves) + price

    def to_bound(self, Z: int, most_leaves: int | None = None) -> Fraction:
        leaves = self.most_leaves if most_leaves is None else min(most_leaves, self.most_leaves)
        units = Z - self.excess - self.tie * leaves
        # Rows cost nothing at least, whatever rounding leaves of that.
        floor = Fraction(self.leaf_cost - self.tie)
        return self.to_value(0) + self.scale * max(units, floor)

    def to_value(self, Z: float | int) -> Fraction:
        found = self.scale * (Z if isinstance(Z, int) else Fraction(Z))
        return found + self.offset if self.offset else found

    def from_value(self, value: Fraction | float) -> Fraction:
        above = Fraction(value) - self.offset if self.offset else Fraction(value)
        return above / self.scale

    @property
    def slack(self) -> int:
        """By how many units two sums of rounded leaves may differ that are equal without."""
        return (2 * self.margin + 4) * self.most_leaves

    @cached_property
    def rounding(self) -> int:
        """How much an objective may differ from the value, in units."""
        per_leaf = self.tie + 2 * self.margin + 4
        return math.ceil(self.excess) + per_leaf * self.most_leaves + self.predicted + 8

    @cached_property
    def tolerance(self) -> int:
        """By how many units two values differ at most that count as equal: see the module."""
        return max(self.rounding + self.slack, min(math.floor(TOLERANCE * self.size), 2**40))

    @cached_property
    def most_open(self) -> Fraction:
        """What a claim "optimal" leaves open at most, in units.

        It is a share of the loss of a single leaf, and what doubles as predictions add. A run that
        leaves more open proves a bound.
        """
        share = TOLERANCE * self.whole() / self.scale
        return min(Fraction(self.tolerance), share + self.predicted)

    @property
    def chains(self) -> np.ndarray:
        """Where chains of tests begin whose true rows lie inside each other, and F; int64.

        Only `reduce` orders tests by chains; before it each test is a chain.
        """
        known: np.ndarray | None = self.memo.get("chains")
        return np.arange(self.n_features + 1) if known is None else known

    def reduce(self, merge_rows: bool = True, drop_tests: bool = True) -> LossSums:
        """An equivalent smaller view, whose tests are ordered by chains if tests were dropped.

        A chain holds thresholds of one column, in their order; see `LeafSums.reduce`.
        """
        view = super().reduce(merge_rows, drop_tests)
        if not drop_tests or view.ranked is not None:
            return view
        chains = chains_of(view.X)
        order = np.array([f for chain in chains for f in chain], dtype=np.int64)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        alias = {
            test: kept if isinstance(kept, bool) else (int(place[kept[0]]), kept[1])
            for test, kept in view.alias.items()
        }
        ordered = replace(
            view,
            X=np.ascontiguousarray(view.X[:, order]),
            features=tuple(view.features[f] for f in order.tolist()),
            split_costs=view.split_costs[order],
            alias=alias,
        )
        ordered.memo["chains"] = np.cumsum([0, *map(len, chains)], dtype=np.int64)
        return ordered

    @property
    def absolute_gap(self) -> float:
        return float(max(0, self.tolerance - self.rounding))

    @cached_property
    def unavoidable(self) -> int:
        alone = self.leaf_values(self.parts)
        return int(np.maximum(alone, 0).sum()) + self.leaf_cost if self.n_rows else self.leaf_cost
