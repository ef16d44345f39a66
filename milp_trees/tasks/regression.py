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
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.tasks.leaf_functions import LeafFunction
from milp_trees.tasks.losses import LossParts, LossTask
from milp_trees.tasks.targets import WHOLE, numeric_targets, whole_numbers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
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
    """Targets and weights of a dataset as integers.

    `y` (n, K) are deviations from `centre` in units of `unit`, `w` (n,) weights in units of
    `weight`, both exact; `search_w`, `search_y` are what engines add up, of `step` units of y and
    `heavy` units of weight each, and `lost` is what their rounding can change of a loss.
    """

    y: np.ndarray
    centre: tuple[int, ...]
    unit: Fraction
    w: np.ndarray
    weight: Fraction
    search_y: np.ndarray
    search_w: np.ndarray
    step: Fraction
    heavy: Fraction
    lost: float


_known: WeakKeyDictionary[Dataset, _Rows] = WeakKeyDictionary()


def _rows(dataset: Dataset, name: str) -> _Rows:
    found = _known.get(dataset)
    if found is None:
        found = _known[dataset] = _measure(dataset, name)
    return found


def _measure(dataset: Dataset, name: str) -> _Rows:
    """Read targets and weights, and round what engines add up to 53 bits."""
    numbers, counts = numeric_targets(dataset, name), dataset.row_counts
    if dataset.weights is None:
        w, weight = counts, Fraction(1)
    else:
        given = whole_numbers(dataset.weights)
        w, weight = given.whole * counts, given.unit
    total = sum(w.tolist())
    if total == 0:
        raise DataError(f"The task {name} needs rows with a positive weight; all weights are 0.")
    heavy, search_w = Fraction(1), w
    if w.dtype == object or total >= WHOLE // 4:
        heavy = Fraction(2) ** max(0, total.bit_length() - 50)
        search_w = np.array([round(x / heavy) for x in w.tolist()], dtype=np.int64)
    columns = numbers.whole.T
    centre = tuple(
        round(Fraction(sum((c.astype(object) * w).tolist()), total))
        if c.dtype == object or float(np.abs(c).max(initial=0)) * float(total) >= _ROOM
        else round(Fraction(int(c @ w), total))
        for c in columns
    )
    y = np.column_stack([c - m for c, m in zip(columns, centre, strict=True)])
    size = (
        float(max(sum(map(abs, (c.astype(object) * search_w).tolist())) for c in y.T))
        if (y.dtype == object)
        else float((np.abs(y).astype(float).T @ search_w.astype(float)).max())
    )
    step, search_y, lost = Fraction(1), y, 0.0
    if y.dtype == object or size >= WHOLE // 2:
        step = Fraction(2) ** math.ceil(math.log2(max(size, 1.0)) - 51)
        near = [round(x / step) for x in y.ravel().tolist()]
        search_y = np.array(near, dtype=np.int64).reshape(y.shape)
        squares = float((search_y.astype(float) ** 2).sum(axis=1) @ search_w)
        # ||e|| <= sqrt(K W) / 2, and sqrt(loss) changes by no more than ||e||.
        lost = 1.01 * math.sqrt(squares * float(search_w.sum()) * y.shape[1]) + 1
    if heavy > 1:
        spread = float((np.abs(search_y).max(axis=0).astype(float) ** 2).sum())
        lost += 4 * spread * len(w)
    return _Rows(y, centre, numbers.unit, w, weight, search_y, search_w, step, heavy, lost)


@register
@dataclass(frozen=True)
class SquaredError(LossTask):
    """Sum over rows of the weighted squared difference between target and prediction.

    The targets are `Dataset.targets`, or `Dataset.y` if its classes are numbers. With a penalty the
    value is the share of the squared error of a single leaf that is left, 1 - R², plus penalties.
    """

    name: ClassVar[str] = "squared-error"
    title: ClassVar[str] = "Squared error of predicted means"
    units: ClassVar[tuple[str, str]] = ("squared error", "loss")
    has_extra_scores: ClassVar[bool] = True
    leaf: ClassVar[LeafFunction] = staticmethod(_squared_error)

    def normaliser(self, dataset: Dataset) -> Fraction:
        """The squared error of a single leaf that predicts the mean; 1 if that is 0."""
        rows = _rows(dataset, self.name)
        whole = np.zeros(dataset.n_rows, dtype=np.int64)
        return _least(rows, whole, 1) or Fraction(1)

    def parts(self, dataset: Dataset) -> LossParts:
        rows = _rows(dataset, self.name)
        w, y = rows.search_w, rows.search_y
        sums = np.column_stack([w, y * w[:, None]]).astype(np.int64)
        squares = (y.astype(float) ** 2).sum(axis=1) * w.astype(float)
        K = y.shape[1]
        constants = squares * (1 + (K + 4) * 2.0**-52)
        total = Fraction(_dot(w, y))
        unit = (rows.unit * rows.step) ** 2 * rows.weight * rows.heavy
        size = float(constants.sum()) * (1 + 1e-9)
        return LossParts(sums, constants, total, unit, size, K + 2, rows.lost)

    def predictor(self, dataset: Dataset) -> Callable[[tuple[int, ...]], Any]:
        rows = _rows(dataset, self.name)

        def mean(sums: tuple[int, ...]) -> Any:
            weight, *totals = sums
            means = [
                float(rows.unit * (c + (rows.step * Fraction(t, weight) if weight else 0)))
                for c, t in zip(rows.centre, totals, strict=True)
            ]
            return means[0] if len(means) == 1 else tuple(means)

        return mean

    def loss(self, routes: Routes, dataset: Dataset) -> tuple[Fraction, bool]:
        rows = _rows(dataset, self.name)
        K, total = rows.y.shape[1], Fraction(0)
        sums = _leaf_sums(rows, routes.leaf, routes.n_leaves)
        for (weight, *by_output), action in zip(sums, routes.leaf_actions, strict=True):
            predicted = routes.actions[action]
            several = predicted if isinstance(predicted, (tuple, list)) else (predicted,)
            if len(several) != K:
                raise DataError(
                    f"The model does not fit the data: it predicts {len(several)} numbers, and the data have {K} targets."
                )
            for p, c, (t, q) in zip(several, rows.centre, by_output, strict=True):
                near = Fraction(p) / rows.unit - c
                total += q - 2 * near * t + near * near * weight
        return total * rows.unit**2 * rows.weight, True

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
        largest = float(np.abs(y).astype(float).max(initial=0.0))
        if largest**2 * float(np.abs(rows.w).astype(float).sum()) >= _ROOM:
            y = y.astype(object)
        first = y * rows.w
        outputs.append(zip(_added(first, leaf, n), _added(first * y, leaf, n), strict=True))
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


def _dot(w: np.ndarray, y: np.ndarray) -> int:
    """Weighted sum of squares, exact."""
    largest = float(np.abs(y).astype(float).max(initial=0.0))
    if largest**2 * float(w.astype(float).sum()) * y.shape[1] < _ROOM:
        return int(((y * y).sum(axis=1) * w).sum())
    return sum(
        int(a) * int(b) ** 2 for row, a in zip(y.tolist(), w.tolist(), strict=True) for b in row
    )
