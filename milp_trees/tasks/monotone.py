"""Metrics of two classes that decrease in false positives and in false negatives.

They need not be sums over rows. Such a metric has its optimum at a point of the Pareto front of
(false positives, false negatives), for any formula (van der Linden, de Weerdt, Demirović 2023,
*STreeD*, use this for F1). So it holds also for square roots of rationals, which no sequence of
linear problems reaches exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.registering import register
from milp_trees.tasks.base import Value
from milp_trees.tasks.count_views import PairCounts, error_counts
from milp_trees.tasks.surd import Surd
from milp_trees.tasks.two_classes import TwoClassTask

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes


@dataclass(frozen=True)
class MonotoneMetric(TwoClassTask):
    """A metric that is given by `worth`.

    It may increase with an error only where it is worse than the better one of the two single
    leaves, as correlations below zero do: no optimum is there.
    """

    view_makers: ClassVar[dict[type, str]] = {PairCounts: "pair_counts"}
    #: Whether `worth` is always rational.
    rational: ClassVar[bool] = True

    @abstractmethod
    def worth(self, fp: int, fn: int, positives: int, negatives: int) -> Surd:
        """The metric of a labelling; larger is better.

        Parameters
        ----------
        fp, fn : int
            Number of false positives and of false negatives.
        positives, negatives : int
            Number of rows of each class.

        Returns
        -------
        Surd
        """

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        self.refuse_others(routes.actions, dataset)
        positive = self.positive_action(dataset)
        is_positive = dataset.require("y", f"The task {self.name}") == positive
        message = routes.action == positive
        ones = int(is_positive.sum())
        metric = self.worth(
            int((message & ~is_positive).sum()),
            int((~message & is_positive).sum()),
            ones,
            len(is_positive) - ones,
        )
        number = (
            -metric + (1 + self.leaf_penalty * routes.n_leaves) if self.leaf_penalty else metric
        )
        exact = number.exact
        return Value(
            float(number if exact is None else exact), exact, self.unit, self.sense
        )  # sums of rounded parts differ in the last digit

    def coordinates(self, routes: Routes, dataset: Dataset) -> tuple[Value, ...]:
        positive = self.positive_action(dataset)
        return error_counts(
            routes.action == positive,
            dataset.require("y", f"The task {self.name}") == positive,
            routes.n_leaves if self.leaf_penalty else None,
        )

    def pair_counts(self, dataset: Dataset, space: Space) -> PairCounts:
        """The view."""
        positive = self.positive_action(dataset)
        errors = self.errors(dataset, space)
        ones = int(errors.costs[:, 1 - positive].sum())
        zeros = len(errors.costs) - ones
        return PairCounts(
            errors,
            positive,
            self.leaf_penalty,
            partial(self.worth, positives=ones, negatives=zeros),
            self.rational,
        )


@register
@dataclass(frozen=True)
class Matthews(MonotoneMetric):
    r"""Matthews' correlation coefficient; 0 where only one class is predicted.

    It is :math:`(TP\,TN-FP\,FN)/\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}`, and decreases in FP and FN
    wherever it is positive. Proof for FP, with s rows predicted positive of n
    and numerator :math:`u=N^+TN-N^-FN>0`: the derivative of its logarithm is
    :math:`-N^+/u-(n-2s)/(2s(n-s))`, and :math:`(2s-n)u\le2s\,N^+TN\le2s(n-s)N^+`.
    """

    name: ClassVar[str] = "mcc"
    title: ClassVar[str] = "Matthews' correlation coefficient"
    rational: ClassVar[bool] = False

    @property
    def metric(self) -> str:
        return "MCC"

    def worth(self, fp: int, fn: int, positives: int, negatives: int) -> Surd:
        message = positives - fn + fp
        under = message * (positives + negatives - message) * positives * negatives
        over = (positives - fn) * (negatives - fp) - fp * fn
        return Surd(Fraction(0), Fraction(over * abs(over), under) if under else Fraction(0))


@register
@dataclass(frozen=True)
class GeometricMean(MonotoneMetric):
    """Geometric mean of the shares of positives and of negatives that are classified correctly."""

    name: ClassVar[str] = "g-mean"
    title: ClassVar[str] = "Geometric mean of the rates of both classes"
    rational: ClassVar[bool] = False

    @property
    def metric(self) -> str:
        return "geometric mean"

    def worth(self, fp: int, fn: int, positives: int, negatives: int) -> Surd:
        return Surd(
            Fraction(0), Fraction((positives - fn) * (negatives - fp), positives * negatives)
        )


@register
@dataclass(frozen=True)
class CohenKappa(MonotoneMetric):
    """Cohen's kappa, agreement above chance; decreases in FP and FN wherever it is positive."""

    name: ClassVar[str] = "kappa"
    title: ClassVar[str] = "Cohen's kappa"

    @property
    def metric(self) -> str:
        return "kappa"

    def worth(self, fp: int, fn: int, positives: int, negatives: int) -> Surd:
        message = positives - fn + fp
        over = 2 * (positives * negatives - positives * fp - negatives * fn)
        return Surd(
            Fraction(over, message * negatives + (positives + negatives - message) * positives)
        )
