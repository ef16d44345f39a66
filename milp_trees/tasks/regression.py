r"""Squared error: a leaf predicts the mean of its rows.

With weights :math:`w_i` and targets :math:`y_i` a leaf L costs

.. math:: \sum_{i\in L} w_i (y_i - \bar y_L)^2 = \sum_{i\in L} w_i y_i^2 - \frac{(\sum_{i\in L} w_i y_i)^2}{\sum_{i\in L} w_i},

summed over the outputs if there are several. References: Breiman, Friedman, Olshen, Stone 1984
(section 8.3); van den Bos, van der Linden, Demirović 2024, *Piecewise constant and linear
regression trees: an optimal dynamic programming approach*; Zhang, Xin, Seltzer, Rudin 2023,
*Optimal sparse regression trees*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.registering import register
from milp_trees.tasks.constraint_base import Constraint, as_constraints
from milp_trees.tasks.leaf_functions import LeafFunction
from milp_trees.tasks.loss_sums import LossSums, Squares
from milp_trees.tasks.losses import LossParts, LossTask
from milp_trees.tasks.mean_parity import MeanPredictionParity
from milp_trees.tasks.targets import LARGEST, WHOLE, Numbers, numeric_targets, whole_numbers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

#: Largest sums of products that 64 bits hold.
_ROOM = 2**62


def _squared_error(sums: tuple[Any, ...]) -> Any:
    """Minus the squares of the sums by the weight: the loss without the squares of the targets."""
    weight, first, *others = sums
    squares = first * first
    for total in others:
        squares = squares + total * total
    return -squares / weight


class _Rows(NamedTuple):
    """Targets and weights of a dataset as exact integers, and what engines add up of them.

    `y` (n, K) are deviations from `centre` in units of `unit`, `w` (n,) weights in units of
    `weight`. Engines add `search_w` and `search_t` (n, K), which are `w` and `w y` in units of
    `step_w` and `step_t`, rounded where they need more than 53 bits. A leaf function then costs
    `step_t² / step_w` units of `w y²` per unit, and at most `lost` more than with exact sums; rounding
    predictions to doubles adds at most `predicted` units.
    """

    y: np.ndarray
    centre: tuple[int, ...]
    unit: Fraction
    w: np.ndarray
    weight: Fraction
    search_w: np.ndarray
    search_t: np.ndarray
    step_w: int
    step_t: int
    lost: float
    predicted: float


_known: WeakKeyDictionary[Dataset, _Rows] = WeakKeyDictionary()


def _rows(dataset: Dataset, name: str) -> _Rows:
    found = _known.get(dataset)
    if found is None:
        found = _known[dataset] = _measure(dataset, name)
    return found


def _measure(dataset: Dataset, name: str) -> _Rows:
    """Read targets and weights, and round what engines add up to 53 bits.

    A leaf that is evaluated at its true mean p with rounded sums costs p² |dw| + 2 |p| |dt| more at
    most, and its own minimum is not above that; |p| is at most the largest deviation.
    """
    numbers, counts = numeric_targets(dataset, name), dataset.row_counts
    given = None if dataset.weights is None else whole_numbers(dataset.weights)
    w = counts if given is None else given.whole * counts
    total = sum(w.tolist())
    if total == 0:
        raise DataError(f"The task {name} needs rows with a positive weight; all weights are 0.")
    columns = numbers.whole.T
    _refuse_large(numbers, w, Fraction(1) if given is None else given.unit)
    centre = tuple(round(Fraction(sum(_product(c, w).tolist()), total)) for c in columns)
    y = np.column_stack([c - m for c, m in zip(columns, centre, strict=True)])
    t = np.column_stack([_product(c, w) for c in y.T])
    step_w, search_w, lost_w = _rounded(w[:, None])
    step_t, search_t, lost_t = _rounded(t)
    # Rows without weight may have any targets, and theirs do not count.
    heavy = y[np.asarray(w > 0, dtype=bool)]
    farthest = float(np.abs(heavy).max(initial=0))
    # In units of `step_t ** 2 / step_w`, the farthest mean is so many of `step_t / step_w`.
    far = 1.001 * farthest * step_w / step_t
    lost = y.shape[1] * far * far * lost_w + 2 * far * lost_t
    # A mean is rounded by 2^-53 of itself at most.
    ends = np.abs(heavy).max(axis=0).tolist()
    largest = max(abs(c) + end for c, end in zip(centre, ends, strict=True))
    off = Fraction(largest * step_w, step_t * 2**52) ** 2
    predicted = float(y.shape[1] * off * Fraction(total, step_w))
    unit = Fraction(1) if given is None else given.unit
    return _Rows(
        y, centre, numbers.unit, w, unit, search_w[:, 0], search_t, step_w, step_t, lost, predicted
    )


def _refuse_large(numbers: Numbers, w: np.ndarray, weight: Fraction) -> None:
    """Raise DataError for targets whose squares no double can be."""
    largest = max((abs(y) for y in numbers.whole.ravel().tolist()), default=0) * numbers.unit
    if largest**2 * sum(w.tolist()) * weight * numbers.whole.shape[1] * 4 > LARGEST:
        raise DataError(
            f"The target has values as large as {float(largest):.3g}, whose squares are too large for doubles; divide it by a number such as {float(largest):.0e}."
        )


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of integers, as objects where they need more than 64 bits."""
    if a.dtype != object != b.dtype:
        largest = [float(np.abs(x).astype(float).max(initial=0.0)) for x in (a, b)]
        if largest[0] * largest[1] * max(1, len(a)) < _ROOM:
            return np.asarray(a * b)
    return np.asarray(a.astype(object) * b.astype(object))


def _rounded(whole: np.ndarray) -> tuple[int, np.ndarray, float]:
    """The step, columns of integers in such steps with sums below 2^53, and what is lost."""
    if whole.dtype != object and np.abs(whole).sum(axis=0, dtype=float).max() >= _ROOM:
        whole = whole.astype(object)
    most = max(map(int, np.abs(whole).sum(axis=0).tolist()))
    if most < WHOLE:
        return 1, whole.astype(np.int64), 0.0
    bits = most.bit_length() - 52
    whole = whole.astype(object)
    near = (whole + (1 << bits - 1)) >> bits
    lost = int(np.abs(whole - (near << bits)).sum())
    return 1 << bits, near.astype(np.int64), float(Fraction(lost, 1 << bits))


@register
@dataclass(frozen=True)
class SquaredError(LossTask):
    """Sum over rows of the weighted squared difference between target and prediction.

    The targets are `Dataset.targets`, or `Dataset.y` if its classes are numbers. With a penalty the
    value is the share of the squared error of a single leaf that is left, 1 - R², plus penalties.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs
        See `LossTask`.
    constraints : sequence of MeanPredictionParity
        Side constraints on the predictions.
    """

    name: ClassVar[str] = "squared-error"
    title: ClassVar[str] = "Squared error of predicted means"
    units: ClassVar[tuple[str, str]] = ("squared error", "loss")
    has_extra_scores: ClassVar[bool] = True
    leaf: ClassVar[LeafFunction] = staticmethod(_squared_error)

    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        given = as_constraints(self.constraints)
        for one in given:
            if not isinstance(one, MeanPredictionParity):
                raise DataError(
                    f"The task {self.name} takes the constraint mean-prediction-parity; {one.name} is about actions, and its leaves have none."
                )
        object.__setattr__(self, "constraints", given)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        return [message for c in self.constraints for message in c.broken(routes, dataset, ())]

    def loss_sums(self, dataset: Dataset, space: Space) -> LossSums:
        view = super().loss_sums(dataset, space)
        parts = [p for c in self.constraints for p in c.structure(dataset, (), view.features)]
        return replace(view, structure=tuple(parts)) if parts else view

    def normaliser(self, dataset: Dataset) -> Fraction:
        """The squared error of a single leaf that predicts the mean; 1 if that is 0."""
        rows = _rows(dataset, self.name)
        whole = np.zeros(dataset.n_rows, dtype=np.int64)
        return _least(rows, whole, 1) or Fraction(1)

    def parts(self, dataset: Dataset) -> LossParts:
        rows, K = _rows(dataset, self.name), _rows(dataset, self.name).y.shape[1]
        squares = sum(_product(y, _product(y, rows.w)) for y in rows.y.T)
        scale = Fraction(rows.step_w, rows.step_t**2)
        total = scale * sum(np.asarray(squares).tolist())
        # Rounded up: the squares, their doubles and the product.
        constants = np.asarray(squares).astype(float) * float(scale) * (1 + 2.0**-50)
        return LossParts(
            np.column_stack([rows.search_w, rows.search_t]),
            constants,
            total,
            rows.unit**2 * rows.weight / scale,
            float(constants.sum()) * (1 + 1e-9) + rows.lost,
            K + 2,
            rows.lost,
            rows.predicted,
        )

    def predictor(self, dataset: Dataset) -> Callable[[tuple[int, ...]], Any]:
        rows = _rows(dataset, self.name)
        unit, step_t, step_w = rows.unit, rows.step_t, rows.step_w

        def mean(sums: tuple[int, ...]) -> Any:
            weight, *totals = sums
            below = (weight or 1) * step_w
            # Quotients of integers are the nearest doubles.
            means = [
                unit.numerator * (c * below + step_t * t) / (unit.denominator * below)
                for c, t in zip(rows.centre, totals, strict=True)
            ]
            return means[0] if len(means) == 1 else tuple(means)

        return mean

    def squares(self, dataset: Dataset) -> Squares:
        rows = _rows(dataset, self.name)
        return Squares(rows.y + np.array(rows.centre, dtype=object), rows.unit, rows.w, rows.weight)

    def loss(self, routes: Routes, dataset: Dataset) -> tuple[Fraction, bool]:
        rows = _rows(dataset, self.name)
        K, total, unit = rows.y.shape[1], 0, rows.unit
        sums = _leaf_sums(rows, routes.leaf, routes.n_leaves)
        given = []
        for predicted in routes.actions:
            several = predicted if isinstance(predicted, (tuple, list)) else (predicted,)
            if len(several) != K:
                raise DataError(
                    f"The model does not fit the data: it predicts {len(several)} numbers, and the data have {K} targets."
                )
            given.append(tuple(map(Fraction, several)))
        # Predictions, as deviations from the centre in units of y, are integers over `below`.
        common = math.lcm(*(p.denominator for several in given for p in several))
        below = common * unit.numerator
        near = [
            [
                p.numerator * (common // p.denominator) * unit.denominator - c * below
                for p, c in zip(several, rows.centre, strict=True)
            ]
            for several in given
        ]
        for (weight, *by_output), action in zip(sums, routes.leaf_actions, strict=True):
            for p, (t, q) in zip(near[action], by_output, strict=True):
                total += (q * below - 2 * p * t) * below + p * p * weight
        return Fraction(total, below**2) * unit**2 * rows.weight, True

    def check_again(self, routes: Routes, dataset: Dataset, seconds: float) -> list[str]:
        """Add up the squared error in the doubles of the data, one row after the other."""
        began, total, slack = run_clock(), Fraction(0), Fraction(0)
        targets = dataset.targets
        if targets is None:
            targets = np.array(dataset.classes, dtype=float)[dataset.require("y", self.name)]
        given = np.asarray(targets, dtype=float).reshape(dataset.n_rows, -1).tolist()
        weights = np.broadcast_to(dataset.row_weights, dataset.n_rows).tolist()
        counts = np.broadcast_to(dataset.row_counts, dataset.n_rows).tolist()
        for i, row in enumerate(given):
            predicted = routes.actions[routes.action[i]]
            several = predicted if isinstance(predicted, (tuple, list)) else (predicted,)
            weight = Fraction(weights[i]) * counts[i]
            for y, p in zip(row, several, strict=True):
                error, off = abs(Fraction(y) - Fraction(p)), Fraction(abs(y)) / 2**52
                total += weight * error * error
                slack += weight * (off * (2 * error + off) + error * error / 2**52)
            if i % 1000 == 0 and run_clock() - began > seconds:
                return [f"The squared error of {i} rows was added up again, until the time ended."]
        stated = self.loss(routes, dataset)[0]
        if abs(stated - total) > slack:
            raise VerificationError(
                f"The squared error is {float(stated):.12g}, but the rows add up to {float(total):.12g}."
            )
        return ["The squared error was added up again, one row after the other."]

    def extra_scores(self, routes: Routes, dataset: Dataset) -> dict[str, float]:
        total = self.loss(routes, dataset)[0]
        rows = _rows(dataset, self.name)
        whole = _least(rows, np.zeros(dataset.n_rows, dtype=np.int64), 1)
        weight = rows.weight * sum(rows.w.tolist())
        scores = {"rmse": math.sqrt(total / weight)}
        return {"r2": float(1 - total / whole), **scores} if whole else scores


def _leaf_sums(rows: _Rows, leaf: np.ndarray, n: int) -> list[tuple[Any, ...]]:
    """Per leaf its weight, and (sum, sum of squares) of every output, as exact integers."""
    w = _added(rows.w, leaf, n)
    outputs = []
    for y in rows.y.T:
        first = _product(y, rows.w)
        outputs.append(
            zip(_added(first, leaf, n), _added(_product(first, y), leaf, n), strict=True)
        )
    return list(zip(w, *outputs, strict=True))


def _added(values: np.ndarray, leaf: np.ndarray, n: int) -> list[int]:
    """Sums of integers by leaf."""
    out = np.zeros(n, dtype=values.dtype)
    np.add.at(out, leaf, values)
    return out.tolist()


def _least(rows: _Rows, leaf: np.ndarray, n: int) -> Fraction:
    """Squared error of leaves that predict their exact means."""
    total = Fraction(0)
    for weight, *by_output in _leaf_sums(rows, leaf, n):
        for t, q in by_output:
            total += q - (Fraction(t * t, weight) if weight else 0)
    return total * rows.unit**2 * rows.weight
