"""Ranking tasks: areas under the convex hull of a tree's ROC curve.

Reference: Lin, Zhong, Hu, Rudin, Seltzer 2020, *GOSDT*.

A tree ranks rows by the share of positives in their leaf. Let p and q be the positives and
negatives of a leaf, with leaves sorted by decreasing share; then the area is

.. math:: \\text{AUC} = \\frac1{2N^+N^-}\\sum_i q_i\\Bigl(2\\sum_{j<i}p_j+p_i\\Bigr) = \\frac12 + \\frac1{2N^+N^-}\\sum_{i<j}|p_iq_j-p_jq_i| :

This is the probability that a positive row is ranked above a negative one, where ties count one
half. Leaves are labelled by their majority; the labels do not change the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.tasks.base import Value
from milp_trees.tasks.count_views import LeafCounts, hull_area
from milp_trees.tasks.two_classes import TwoClassTask

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes


@dataclass(frozen=True)
class RankTask(TwoClassTask):
    """Base class of the areas, with everything but the largest false positive rate."""

    view_makers: ClassVar[dict[type, str]] = {LeafCounts: "leaf_counts"}

    @property
    def limit(self) -> Fraction:
        """Largest false positive rate."""
        return Fraction(1)

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        positive = self.positive_action(dataset)
        is_positive = dataset.require("y", f"The task {self.name}") == positive
        ups = np.bincount(routes.leaf[is_positive], minlength=routes.n_leaves).tolist()
        rights = np.bincount(routes.leaf[~is_positive], minlength=routes.n_leaves).tolist()
        area = hull_area(zip(ups, rights, strict=True), self.limit * sum(rights)) / (
            sum(ups) * sum(rights)
        )
        number = self.penalised(area, routes.n_leaves)
        return Value(float(number), number, self.unit, self.sense)

    def leaf_counts(self, dataset: Dataset, space: Space) -> LeafCounts:
        """The view."""
        positive = self.positive_action(dataset)
        return LeafCounts(self.errors(dataset, space), positive, self.leaf_penalty, self.limit)


@register
@dataclass(frozen=True)
class AUC(RankTask):
    """Area under the convex hull of the ROC curve; a single leaf has 1/2.

    With a penalty it is 1 − area + λ · leaves, minimised.
    """

    name: ClassVar[str] = "auc"
    title: ClassVar[str] = "Area under the ROC curve"

    @property
    def metric(self) -> str:
        return "AUC"


@register
@dataclass(frozen=True)
class PartialAUC(RankTask):
    """Area under the convex hull of the ROC curve for false positive rates up to `theta`.

    A single leaf has θ²/2; the largest possible area is θ.

    Parameters
    ----------
    theta : number in (0, 1], default=1
        Largest false positive rate; with 1 the task is the AUC.
    """

    name: ClassVar[str] = "partial-auc"
    title: ClassVar[str] = "Area under the ROC curve up to a false positive rate"

    theta: Any = Fraction(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        theta = exact.fraction(self.theta, "theta")
        if not 0 < theta <= 1:
            raise DataError(
                f"theta, the largest false positive rate, must be above 0 and at most 1; got {self.theta}."
            )
        object.__setattr__(self, "theta", theta)

    @property
    def metric(self) -> str:
        return "partial AUC"

    @property
    def limit(self) -> Fraction:
        limit: Fraction = self.theta
        return limit
