"""Criteria for greedy splits.

They are the SPO loss of both sides over listed vertices or by an oracle, squared error (CART), or
both in turn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.decisions.engines.greedy_spo import kernels
from milp_trees.methods.growing.grow import Entered, Split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milp_trees.decisions.base import DecisionSet
    from milp_trees.decisions.engines.greedy_spo.kernels import Lots

#: Rounding error of a sum relative to what is summed; splits and losses that are closer are equal.
ROUNDING = 1e-12
#: Numbers in the sums of candidate splits that are handed to an oracle at once.
BATCH = 2**22
NO_WEIGHTS = np.zeros(0)


class Criterion(ABC):
    """Values of splits; splitting a node must never raise its `loss`."""

    @abstractmethod
    def enter(self, rows: np.ndarray) -> Entered:
        """Value a node."""

    @abstractmethod
    def best(self, lots: Lots, columns: np.ndarray, slack: float, node: Any) -> Split | None:
        """The best allowed split on some of the columns, or None."""


def _split(value: float, column: int, cut: int) -> Split | None:
    """What a scan has found."""
    return Split(value, column, cut) if column >= 0 else None


class DecisionLoss(Criterion):
    """SPO loss; its leaves decide."""

    @abstractmethod
    def decide(self, nodes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Best decision of every node, shape (nodes, d), and its loss, shape (nodes,).

        A node is given by its rows.
        """

    @abstractmethod
    def repeated(self, times: np.ndarray) -> DecisionLoss:
        """The loss where every row counts so many times; int array of shape (n,)."""


def decision_loss(
    vectors: np.ndarray, base: np.ndarray, decisions: DecisionSet, vertices: np.ndarray | None
) -> DecisionLoss:
    """SPO loss, over vertices if they are listed, and otherwise by the oracle."""
    if vertices is None:
        return OracleLoss(np.ascontiguousarray(vectors), base, decisions)
    paid = vectors @ vertices.T
    return ListedLoss(np.ascontiguousarray(paid - paid.min(axis=1, keepdims=True)), vertices)


@dataclass(frozen=True, eq=False)
class ListedLoss(DecisionLoss):
    """SPO loss where S is listed.

    Parameters
    ----------
    regret : float array of shape (n, K)
        What every vertex costs every row beyond the cheapest.
    vertices : float array of shape (K, d)
    """

    regret: np.ndarray
    vertices: np.ndarray

    def decide(self, nodes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        totals = np.array([self.regret[rows].sum(axis=0) for rows in nodes])
        least = totals.min(axis=1)
        # Of decisions that are equally good up to rounding, the first.
        first = (totals <= (least + ROUNDING * totals.max(axis=1))[:, None]).argmax(axis=1)
        return self.vertices[first], least

    def repeated(self, times: np.ndarray) -> ListedLoss:
        return ListedLoss(self.regret * times[:, None], self.vertices)

    def enter(self, rows: np.ndarray) -> Entered:
        total = self.regret[rows].sum(axis=0)
        return Entered(float(total.min()), ROUNDING * float(total.max()), total)

    def best(self, lots: Lots, columns: np.ndarray, slack: float, node: Any) -> Split | None:
        return _split(*kernels.scan(lots, columns, self.regret, node, NO_WEIGHTS, 0.0, slack))


@dataclass(frozen=True, eq=False)
class OracleLoss(DecisionLoss):
    """SPO loss where S is known by its oracle: one batch of calls per node.

    Parameters
    ----------
    vectors : float array of shape (n, d)
        Cost vectors times weights.
    base : float array of shape (n,)
        z* of each.
    decisions : DecisionSet
    """

    vectors: np.ndarray
    base: np.ndarray
    decisions: DecisionSet

    def decide(self, nodes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        answer = self.decisions.solve(np.array([self.vectors[rows].sum(axis=0) for rows in nodes]))
        return answer.decisions, answer.values - np.array([self.base[rows].sum() for rows in nodes])

    def repeated(self, times: np.ndarray) -> OracleLoss:
        return OracleLoss(self.vectors * times[:, None], self.base * times, self.decisions)

    def enter(self, rows: np.ndarray) -> Entered:
        total = self.vectors[rows].sum(axis=0)
        base = float(self.base[rows].sum())
        value = float(self.decisions.value(total[None, :])[0])
        return Entered(
            value - base,
            ROUNDING * (abs(value) + float(np.abs(self.base[rows]).sum())),
            (total, base),
        )

    def best(self, lots: Lots, columns: np.ndarray, slack: float, node: Any) -> Split | None:
        total, base = node
        at_once = max(1, BATCH // ((lots.end - lots.begin) * self.vectors.shape[1]))
        best: Split | None = None
        for first in range(0, len(columns), at_once):
            here = columns[first : first + at_once]
            sums, column, cut = kernels.true_sides(lots, here, self.vectors)
            if not len(sums):
                continue
            values = self.decisions.value(np.concatenate([sums, total - sums]))
            value = values[: len(sums)] + values[len(sums) :] - base + lots.price[column]
            q = int(np.argmax(value <= value.min() + slack))  # the first of the equal ones
            if best is None or value[q] < best.value - slack:
                best = Split(float(value[q]), int(column[q]), int(cut[q]))
        return best


@dataclass(frozen=True, eq=False)
class SquaredError(Criterion):
    """Squared error of cost vectors around their mean: CART for regression.

    See Breiman, Friedman, Olshen, Stone (1984).

    Parameters
    ----------
    vectors : float array of shape (n, d)
        Cost vectors times weights.
    weights : float array of shape (n,)
    """

    vectors: np.ndarray
    weights: np.ndarray

    @cached_property
    def _weights(self) -> np.ndarray:
        return np.asarray(self.weights, dtype=float)

    @cached_property
    def _centred(self) -> np.ndarray:
        """Cost vectors around the mean of all rows, of whose squares sums lose fewer digits."""
        share = self.weights.sum()
        middle = self.vectors.sum(axis=0) / share if share else np.zeros(self.vectors.shape[1])
        return np.ascontiguousarray(self.vectors - self.weights[:, None] * middle)

    @cached_property
    def _squares(self) -> np.ndarray:
        """Squares of these vectors per weight."""
        squares: np.ndarray = (self._centred**2).sum(axis=1)
        weighed = self.weights > 0
        return np.divide(squares, self.weights, out=np.zeros_like(squares), where=weighed)

    def enter(self, rows: np.ndarray) -> Entered:
        total, share = self._centred[rows].sum(axis=0), float(self.weights[rows].sum())
        squares = float(self._squares[rows].sum())
        return Entered(
            squares - (float(total @ total) / share if share else 0.0),
            ROUNDING * squares,
            (total, share),
        )

    def best(self, lots: Lots, columns: np.ndarray, slack: float, node: Any) -> Split | None:
        total, share = node
        found = kernels.scan(lots, columns, self._centred, total, self._weights, share, slack)
        return _split(*found)


@dataclass(frozen=True, eq=False)
class SmoothedLoss(Criterion):
    """SPO loss, and squared error on its plateaus.

    On a plateau no split of a node changes the decisions of its sides, so none lowers the SPO loss.

    The published rule takes the first of such equal splits, which peels off as few rows as a leaf
    may have; the split of least squared error makes rows with like costs neighbours, so that splits
    further down can gain.

    Parameters
    ----------
    loss : DecisionLoss
    error : SquaredError
        Of the same rows.
    """

    loss: DecisionLoss
    error: SquaredError

    def enter(self, rows: np.ndarray) -> Entered:
        value, slack, node = self.loss.enter(rows)
        return Entered(value, slack, (value, node, rows))

    def best(self, lots: Lots, columns: np.ndarray, slack: float, node: Any) -> Split | None:
        value, inner, rows = node
        found = self.loss.best(lots, columns, slack, inner)
        if found is None or found.value - lots.price[found.column] < value - slack:
            return found
        _, rounding, sums = self.error.enter(rows)
        # Prices are in units of loss, not of squared error: of the columns that cost as little as
        # the one found.
        cheap = columns[lots.price[columns] <= lots.price[found.column]]
        other = self.error.best(
            lots._replace(price=np.zeros_like(lots.price)), cheap, rounding, sums
        )
        return found if other is None else Split(found.value, other.column, other.cut)
