r"""Losses of predicted class probabilities: each leaf predicts the shares of its classes.

With the weights :math:`n_k` of the classes in a leaf, their sum :math:`n` and the prediction
:math:`p` the leaf costs

- `gini`: :math:`\sum_i w_i \sum_k (p_k - [y_i = k])^2`, which at :math:`p_k = n_k/n` is
  :math:`\sum_k n_k (n - n_k)/n = n\,(1 - \sum_k (n_k/n)^2)`, the weighted Gini impurity. It is
  Brier's score as he defined it, times the weight of the rows; for two classes that is twice
  `brier_score_loss` of scikit-learn, which counts one class.
- `log-loss`: :math:`-\sum_i w_i\log p_{y_i}`, which at the shares is the weighted entropy in nats, and
  the weight of the rows times `log_loss` of scikit-learn. As there, a predicted probability of 0
  counts as 2^-52 for a row of that class.

References: Breiman, Friedman, Olshen, Stone 1984 (section 4.3); Brier 1950, *Verification of
forecasts expressed in terms of probability*.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.logarithms import log_between
from milp_trees.common.registering import register
from milp_trees.tasks.leaf_functions import LeafFunction, times_log_quotient
from milp_trees.tasks.losses import LossParts, LossTask
from milp_trees.tasks.rates import LEAST
from milp_trees.tasks.targets import WHOLE, weight_numbers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Routes


def _all_counts(sums: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """Weight of a leaf and of each class, of which the sums leave out the last."""
    weight, *counts = sums
    last = weight
    for count in counts:
        last = last - count
    return weight, [*counts, last]


def _gini(sums: tuple[Any, ...]) -> Any:
    """Weighted Gini impurity."""
    weight, counts = _all_counts(sums)
    total = counts[0] * (weight - counts[0])
    for count in counts[1:]:
        total = total + count * (weight - count)
    return total / weight


def _entropy(sums: tuple[Any, ...]) -> Any:
    """Weighted entropy in nats."""
    weight, counts = _all_counts(sums)
    total = times_log_quotient(counts[0], weight)
    for count in counts[1:]:
        total = total + times_log_quotient(count, weight)
    return -total


@dataclass(frozen=True)
class ProbabilityTask(LossTask):
    """Base class of losses of class probabilities; a leaf's action is the tuple of them.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs
        See `PenalisedTask`. They are shares of the loss of a single leaf (`normaliser`).
    """

    has_extra_scores: ClassVar[bool] = True
    #: Roundings of the leaf function besides those of every class.
    ulps: ClassVar[int]

    @abstractmethod
    def _costs(self, counts: list[int], predicted: tuple[Fraction, ...]) -> Fraction:
        """Loss of a leaf with weights of classes and probabilities, in units of weight."""

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        K = len(_classes(dataset, self.name))
        for action in actions:
            given = action if isinstance(action, (tuple, list)) else ()
            numbers = all(isinstance(p, (int, float)) and 0 <= p <= 1 for p in given)
            if len(given) != K or not numbers or abs(sum(given) - 1) > 1e-6:
                return f"it predicts {action!r}; the task {self.name} needs the probabilities of {K} classes."
        return None

    def normaliser(self, dataset: Dataset) -> Fraction:
        """The loss of a single leaf that predicts the shares of the classes; 1 if that is 0."""
        (counts,) = self._class_sums(dataset, np.zeros(dataset.n_rows, dtype=np.int64), 1)
        n = sum(counts)
        cost = self._costs(counts, tuple(Fraction(c, n) for c in counts))
        if max(counts) == n:
            return Fraction(1)
        return Fraction(float(cost * weight_numbers(dataset).unit))

    def parts(self, dataset: Dataset) -> LossParts:
        K, weights = len(_classes(dataset, self.name)), weight_numbers(dataset)
        w = weights.whole * dataset.row_counts
        total, heavy = sum(w.tolist()), Fraction(1)
        if w.dtype == object or total >= WHOLE // 4:
            heavy = Fraction(2) ** max(0, total.bit_length() - 50)
            # Lighter rows make no tree cost more, because no row costs less than 0 at a prediction.
            w = np.array([math.floor(x / heavy) for x in w.tolist()], dtype=np.int64)
        counts = w[:, None] * (dataset.require("y", self.name)[:, None] == np.arange(K - 1))
        most = float(w.sum()) * (1 + (math.log(K) if K > 1 else 0.0))
        return LossParts(
            np.column_stack([w, counts]).astype(np.int64),
            np.zeros(len(w)),
            Fraction(0),
            weights.unit * heavy,
            most,
            self.ulps + 3 * K,
        )

    def predictor(self, dataset: Dataset) -> Callable[[tuple[int, ...]], Any]:
        K = len(_classes(dataset, self.name))

        def shares(sums: tuple[int, ...]) -> tuple[float, ...]:
            weight, *counts = sums
            if not weight:
                return (1 / K,) * K
            return tuple(c / weight for c in (*counts, weight - sum(counts)))

        return shares

    def loss(self, routes: Routes, dataset: Dataset) -> tuple[Fraction, bool]:
        sums = self._class_sums(dataset, routes.leaf, routes.n_leaves)
        total = Fraction(0)
        for counts, action in zip(sums, routes.leaf_actions, strict=True):
            predicted = tuple(map(Fraction, routes.actions[action]))
            total += self._costs(counts, predicted)
        return total * weight_numbers(dataset).unit, self.is_rational

    #: Whether losses are rational numbers.
    is_rational: ClassVar[bool] = False

    def _class_sums(self, dataset: Dataset, leaf: np.ndarray, n: int) -> list[list[int]]:
        """Weight of every class in every leaf, in units of weight."""
        K = len(_classes(dataset, self.name))
        w = weight_numbers(dataset).whole * dataset.row_counts
        out = np.zeros((n, K), dtype=w.dtype)
        np.add.at(out, (leaf, dataset.require("y", self.name)), w)
        return out.tolist()  # type: ignore[no-any-return]

    def extra_scores(self, routes: Routes, dataset: Dataset) -> dict[str, float]:
        """Share of rows, by weight, whose class is the most probable one of their leaf."""
        sums = self._class_sums(dataset, routes.leaf, routes.n_leaves)
        best = [int(np.argmax(routes.actions[a])) for a in routes.leaf_actions]
        right = sum(counts[k] for counts, k in zip(sums, best, strict=True))
        return {"accuracy": right / sum(map(sum, sums))}


def _classes(dataset: Dataset, name: str) -> tuple[Any, ...]:
    """The classes of a dataset; raises DataError if it has none."""
    dataset.require("y", f"The task {name}")
    return tuple(dataset.classes or ())


@register
@dataclass(frozen=True)
class Gini(ProbabilityTask):
    """Brier score of predicted class probabilities, as a sum over rows and classes.

    It is the squared error of the indicators of the classes, so leaves cost their Gini impurity
    times their weight. With a penalty the value is the share of that of a single leaf that is left,
    plus penalties.
    """

    name: ClassVar[str] = "gini"
    title: ClassVar[str] = "Brier score of class probabilities"
    units: ClassVar[tuple[str, str]] = ("Brier score", "loss")
    leaf: ClassVar[LeafFunction] = staticmethod(_gini)
    ulps: ClassVar[int] = 4
    is_rational: ClassVar[bool] = True

    def _costs(self, counts: list[int], predicted: tuple[Fraction, ...]) -> Fraction:
        n = sum(counts)
        return sum(
            (c * (1 - p) ** 2 + (n - c) * p**2 for c, p in zip(counts, predicted, strict=True)),
            Fraction(0),
        )


@register
@dataclass(frozen=True)
class LogLoss(ProbabilityTask):
    """Log loss of predicted class probabilities, summed over rows.

    Leaves cost their entropy times their weight. With a penalty the value is the share of that of a
    single leaf that is left, plus penalties.
    """

    name: ClassVar[str] = "log-loss"
    title: ClassVar[str] = "Log loss of class probabilities"
    units: ClassVar[tuple[str, str]] = ("log loss", "loss")
    leaf: ClassVar[LeafFunction] = staticmethod(_entropy)
    ulps: ClassVar[int] = 11

    def _costs(self, counts: list[int], predicted: tuple[Fraction, ...]) -> Fraction:
        return -sum(
            (
                c * log_between(p or LEAST)
                for c, p in zip(counts, predicted, strict=True)
                if c and p != 1
            ),
            Fraction(0),
        )
