r"""Equal mean predictions of groups, for trees whose leaves predict the mean of their rows.

With predictions :math:`p_\ell` of the leaves, and :math:`n_g(\ell)` of the :math:`n_g` rows of group
g in leaf :math:`\ell`,

.. math:: \Bigl|\sum_\ell\Bigl(\frac{n_a(\ell)}{n_a}-\frac{n_b(\ell)}{n_b}\Bigr)p_\ell\Bigr|\le\delta

for every two groups (Agarwal, Dudík, Wu 2019, *Fair regression*, ask for all of the distribution;
this is its mean, as in Calders et al. 2013, *Controlling attribute effect in linear regression*). A
leaf predicts the mean of its rows, so its part is a constant of its set of rows. Rows are counted,
and their weights are ignored. Predictions are doubles and solvers keep rows within tolerances, so a
difference above :math:`\delta` by a billionth of the range of the targets is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.tasks.constraint_base import TreeConstraint, in_words
from milp_trees.tasks.structure import Structure
from milp_trees.tasks.targets import numeric_targets

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes

#: Share of the range of the targets by which a difference may be above the limit.
ALLOWED = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False)
class MeanGaps(Structure):
    """Differences of mean predictions between groups, which are sums over the leaves.

    Parameters
    ----------
    name : str
    limit : Fraction
        Their largest absolute size.
    spread : Fraction
        Range of the targets, which is no smaller than any difference.
    centre : tuple of float
        A number per output that is taken off predictions: the parts of a leaf's rows cancel.
    shares : int64 array of shape (n, P)
        Per pair of groups a and b: `n_b` per row of a, minus `n_a` per row of b.
    products : tuple of int, length P
        `n_a n_b` of every pair.
    """

    kind: ClassVar[str] = "mean predictions"

    limit: Fraction
    spread: Fraction
    centre: tuple[float, ...]
    shares: np.ndarray
    products: tuple[int, ...]

    def parts(
        self, shares: np.ndarray, sums: np.ndarray, predict: Callable[[tuple[int, ...]], Any]
    ) -> np.ndarray:
        """What leaves add to the differences: (L, P · K) from shares (L, P) and sums (L, m)."""
        predicted = [predict(tuple(row[:-1])) for row in sums.tolist()]
        numbers = np.array(predicted, dtype=float).reshape(len(sums), len(self.centre))
        away = numbers - np.array(self.centre)
        weights = shares / np.array(self.products, dtype=float)
        out: np.ndarray = (weights[:, :, None] * away[:, None, :]).reshape(len(sums), -1)
        return out

    def holds(self, routes: Routes, view: Any) -> bool:
        sums = np.zeros((routes.n_leaves, view.sums.shape[1]), dtype=np.int64)
        shares = np.zeros((routes.n_leaves, self.shares.shape[1]), dtype=np.int64)
        np.add.at(sums, routes.leaf, view.sums)
        np.add.at(shares, routes.leaf, self.shares)
        gaps = self.parts(shares, sums, view.predict).sum(axis=0)
        return bool((np.abs(gaps) <= float(self.limit)).all())

    def merged(self, total: Callable[[np.ndarray], np.ndarray]) -> MeanGaps:
        return replace(self, shares=total(self.shares))


@dataclass(frozen=True)
class MeanPredictionParity(TreeConstraint):
    """The mean predictions of any two groups differ by at most `max_difference`.

    Parameters
    ----------
    max_difference : number, default=0
        In units of the target; with several targets it is the limit of each.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.tasks.SquaredError(constraints=[mt.tasks.MeanPredictionParity(0.5)]).constraints[0].name
    'mean-prediction-parity'
    """

    name: ClassVar[str] = "mean-prediction-parity"
    compares_groups: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True

    limits: ClassVar[Mapping[str, bool]] = {"max_difference": True}

    max_difference: Any = 0

    def __post_init__(self) -> None:
        number = fraction(self.max_difference, "max_difference")
        if number < 0:
            raise DataError(f"max_difference must not be negative; got {self.max_difference}.")
        object.__setattr__(self, "max_difference", number)

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        if actions:
            raise DataError(
                f"The constraint {self.name} compares predicted numbers, and this task chooses among actions; take statistical-parity."
            )
        pairs, counts = self._pairs(dataset), dataset.row_counts
        if not pairs:
            return []
        targets, spread = self._targets(dataset)
        columns, products = [], []
        for _, in_a, in_b in pairs:
            n_a, n_b = int(counts[in_a].sum()), int(counts[in_b].sum())
            columns.append(np.where(in_a, n_b, 0) * counts - np.where(in_b, n_a, 0) * counts)
            products.append(n_a * n_b)
        return [
            MeanGaps(
                name=self.name,
                limit=self.max_difference + spread * ALLOWED / 2,
                spread=spread,
                centre=tuple(targets.mean(axis=0).tolist()),
                shares=np.column_stack(columns).astype(np.int64),
                products=tuple(products),
            )
        ]

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        allowed = self.max_difference + self._targets(dataset)[1] * ALLOWED
        return [
            f"{self.name} {label}: mean predictions differ by {float(gap):.6g}, more than {in_words(self.max_difference)}."
            for label, gap in self.gaps(routes, dataset)
            if gap > allowed
        ]

    def stated(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> str:
        """The limit, and the largest difference."""
        largest = max((gap for _, gap in self.gaps(routes, dataset)), default=Fraction(0))
        limit = in_words(self.max_difference)
        return f"{self.name}: mean predictions differ by {float(largest):.4g}, at most {limit} is allowed"

    def gaps(self, routes: Routes, dataset: Dataset) -> list[tuple[str, Fraction]]:
        """The difference of every two groups, for every output, and its label."""
        counts, out = dataset.row_counts, []
        predicted = []
        for action in routes.leaf_actions:
            given = routes.actions[action]
            several = given if isinstance(given, (tuple, list)) else (given,)
            predicted.append([Fraction(p) for p in several])
        for label, *groups in self._pairs(dataset):
            means = []
            for here in groups:
                rows = np.bincount(routes.leaf[here], counts[here], routes.n_leaves)
                sizes = [int(n) for n in rows.tolist()]
                total = sum(sizes)
                means.append(
                    [
                        sum(n * p for n, p in zip(sizes, column, strict=True)) / total
                        for column in zip(*predicted, strict=True)
                    ]
                )
            out += [(label, abs(a - b)) for a, b in zip(*means, strict=True)]
        return out

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The largest difference of two mean predictions."""
        return max((gap for _, gap in self.gaps(routes, dataset)), default=Fraction(0))

    def _pairs(self, dataset: Dataset) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Label and masks of every two groups."""
        groups = dataset.require("groups", f"The constraint {self.name}")
        levels = np.unique(groups).tolist()
        return [(f"{a}/{b}", groups == a, groups == b) for a, b in combinations(levels, 2)]

    def _targets(self, dataset: Dataset) -> tuple[np.ndarray, Fraction]:
        """The targets as floats, and the range of the widest one."""
        numbers = numeric_targets(dataset, self.name)
        widest = max(max(column) - min(column) for column in numbers.whole.T.tolist())
        return numbers.whole.astype(float) * float(numbers.unit), widest * numbers.unit
