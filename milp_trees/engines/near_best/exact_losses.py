r"""Exact values of trees whose leaves cost a function of sums, for counting them.

The units of `LossSums` are rounded, so they decide which states may hold a tree within the slack,
and not which trees do. The loss of a leaf is a rational number: the leaf function at its sums, as a
Fraction. Over the common denominator D of all leaves and prices of a graph these are whole numbers,
with which trees are counted, ordered and compared with the slack, without rounding. A tree's value
here is that of leaves which predict what is best for their rows exactly; as doubles, predictions
are off by a part in :math:`10^{16}`, and losses by its square.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.losses import LossTask

if TYPE_CHECKING:
    from milp_trees.engines.near_best.states import Levels, RowSets
    from milp_trees.problems.problem import Problem

#: Rounding may move a limit by what all leaves are off, on either side of every comparison.
PADDED = 4


class Graph(Protocol):
    """What is read of a graph of trees (`graph.TreeGraph`)."""

    states: list[Any]
    sets: RowSets
    splits: Any
    trivial: bool
    price: list[Any]

    def fitting(self, state: Any, one: Levels) -> np.ndarray:
        """Positions of the splits of a state into two leaves whose units fit."""


class ExactLosses:
    """Losses and prices of a problem as rationals, in units of the leaf function.

    Parameters
    ----------
    view : LossSums
        Before presolve.
    leaf_price : Fraction
    split_prices : tuple of Fraction
        Of the tests of the view.
    constant : Fraction
        The part of the loss that every tree has.
    slack : Fraction, default=0
        How much worse than the best a tree may be, in natural units.
    """

    def __init__(
        self,
        view: LossSums,
        leaf_price: Fraction,
        split_prices: tuple[Fraction, ...],
        constant: Fraction,
        slack: Fraction = Fraction(0),
    ) -> None:
        self.view, self.leaf_price, self.split_prices = view, leaf_price, split_prices
        self.constant, self.slack = constant, slack
        #: Natural units per unit of the leaf function.
        self.unit = view.scale * Fraction(view.grid)
        #: The common denominator, once there is a graph.
        self.denominator = 1

    @classmethod
    def of(cls, problem: Problem, view: LossSums) -> ExactLosses | None:
        """The exact losses of a problem; None if its leaf function has no exact values.

        It has none if it takes logarithms, or sums that round the data.
        """
        task = problem.task
        if not isinstance(task, LossTask):
            return None
        parts = task.parts(problem.dataset)
        if parts.lost or not _is_rational(view):
            return None
        unit = view.scale * Fraction(view.grid)
        free = task.penalties_of(0, [])
        splits = tuple(
            (task.penalties_of(0, [test.columns]) - free) / unit for test in view.features
        )
        return cls(view, (task.penalties_of(1, []) - free) / unit, splits, parts.total)

    def within(self, slack: Fraction) -> ExactLosses:
        """The same for another slack."""
        return ExactLosses(self.view, self.leaf_price, self.split_prices, self.constant, slack)

    @property
    def pad(self) -> int:
        """Units by which limits are widened, so that no tree within the slack is missed."""
        return PADDED * self.view.rounding

    def natural(self, value: int) -> Fraction:
        """The natural value of a tree's whole number."""
        loss = Fraction(value, self.denominator) + self.constant
        return self.view.offset + self.unit * loss

    def leaf(self, sums: list[int]) -> Fraction:
        """What a leaf with these sums costs, without the constant part of its rows."""
        found = self.view.leaf(tuple(map(Fraction, sums))) if sums[0] > 0 else 0
        return self.leaf_price + found

    def measure(self, graph: Graph) -> None:
        """Give the states of a graph their exact values, and the edges their exact prices."""
        numbers: dict[Any, int] = {}
        for state in graph.states:
            self._measure_state(state, graph, numbers)
        D = self.denominator = math.lcm(*self._denominators(graph))
        for state in graph.states:
            state.key, state.most = int(state.key * D), math.floor(state.most * D)
            if state.ends is not None:
                at, value, left, right = state.ends
                whole = np.empty(len(value), dtype=object)
                whole[:] = [int(v * D) for v in value]
                state.ends = at, whole, left, right
            state.edges = [
                (j, int(graph.price[j] * D), left, right) for j, _, left, right in state.edges
            ]

    def limit(self, best: int) -> int:
        """The largest value within the slack, if the best one is given."""
        return math.floor(best + self.slack / self.unit * self.denominator)

    def _denominators(self, graph: Graph) -> set[int]:
        """Denominators of all values of a graph."""
        found = {price.denominator for price in graph.price}
        for state in graph.states:
            found.add(state.key.denominator)
            if state.ends is not None:
                found.update(value.denominator for value in state.ends[1])
        return found

    def _measure_state(self, state: Any, graph: Graph, numbers: dict[Any, int]) -> None:
        """The leaf, the last splits and the limit of a state, as rationals."""
        sets, V = graph.sets, self.view.n_values
        one = sets.levels(state.rows, two=False)
        total = sets.totals
        sums, constant = total[:V].tolist(), int(total[-1])
        state.key, state.action = self.leaf(sums), self._number(sums, numbers)
        limit = state.allowance + self.pad - constant
        state.most = Fraction(limit) / Fraction(self.view.grid)
        if state.depth != 1:
            return
        right = sets.by_test[:V].T.tolist()
        known: dict[int, tuple[Fraction, int, int]] = {}
        found = []
        for j in graph.fitting(state, one).tolist():
            f, flipped = int(graph.splits.kept[j]), bool(graph.splits.flipped[j])
            if f not in known:
                sides = [s - r for s, r in zip(sums, right[f], strict=True)], right[f]
                ends = [self._number(side, numbers) for side in sides]
                known[f] = self.leaf(sides[0]) + self.leaf(sides[1]), ends[0], ends[1]
            value, a, b = known[f]
            if graph.trivial or a != b:
                found.append((j, value + graph.price[j], *((b, a) if flipped else (a, b))))
        at = np.array([one[0] for one in found], dtype=np.int64)
        state.ends = (
            at,
            [one[1] for one in found],
            np.array([one[2] for one in found], dtype=np.int64),
            np.array([one[3] for one in found], dtype=np.int64),
        )

    def _number(self, sums: list[int], numbers: dict[Any, int]) -> int:
        """The number of a leaf's prediction: leaves with one prediction have one number."""
        predicted = self.view.predict(tuple(sums))
        return numbers.setdefault(predicted, len(numbers))


def _is_rational(view: LossSums) -> bool:
    """Whether the leaf function of rationals is rational."""
    try:
        some = view.leaf((Fraction(1),) * view.n_values)
    except TypeError:  # a logarithm of a Fraction
        return False
    return isinstance(some, Fraction)
