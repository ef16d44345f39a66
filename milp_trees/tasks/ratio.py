"""Ratios of confusion counts: F1, F-beta, Jaccard index, precision with a lower bound on recall."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.tasks.classification import _classes
from milp_trees.tasks.views import SideRow
from milp_trees.tasks.written import mapping

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

from milp_trees.tasks.confusion import CONFUSION, ConfusionRatio, Counts, whole_weights

#: Largest beta, for which recall counts a thousand times as much as precision; with larger numbers
#: the integers of exact arithmetic would become too large.
LARGEST_BETA = 1000


@register
@dataclass(frozen=True)
class F1(ConfusionRatio):
    """F1 score, the harmonic mean of precision and recall: 2·TP / (2·TP + FP + FN)."""

    name: ClassVar[str] = "f1"
    title: ClassVar[str] = "F1 of the positive class"
    monotone: ClassVar[bool] = True
    units: ClassVar[tuple[str, str]] = ("f1", "1 - f1")

    def coefficients(self) -> tuple[Counts, Counts]:
        return {"TP": Fraction(2)}, {"TP": Fraction(2), "FP": Fraction(1), "FN": Fraction(1)}


@register
@dataclass(frozen=True)
class FBeta(ConfusionRatio):
    """F-beta score: (1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP).

    Recall counts β times as much as precision.

    Parameters
    ----------
    beta : number, default=1
        Above 0, at most 1000.
    """

    name: ClassVar[str] = "f-beta"
    title: ClassVar[str] = (
        "F-beta of the positive class: recall counts beta times as much as precision"
    )
    monotone: ClassVar[bool] = True
    units: ClassVar[tuple[str, str]] = ("f-beta", "1 - f-beta")

    beta: Any = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.beta
        object.__setattr__(self, "beta", exact.fraction(given, "beta"))
        if self.beta < 0:
            raise DataError(f"beta must not be negative; got {given!r}.")
        if not 0 < self.beta <= LARGEST_BETA:
            raise DataError(
                f"beta must be above 0 and at most {LARGEST_BETA} (0 counts precision alone: take Precision); got {given!r}."
            )

    def coefficients(self) -> tuple[Counts, Counts]:
        square = self.beta**2
        return {"TP": 1 + square}, {"TP": 1 + square, "FN": square, "FP": Fraction(1)}


@register
@dataclass(frozen=True)
class Jaccard(ConfusionRatio):
    """Jaccard index (intersection over union, critical success index): TP / (TP + FP + FN)."""

    name: ClassVar[str] = "jaccard"
    title: ClassVar[str] = "Jaccard index of the positive class"
    monotone: ClassVar[bool] = True
    units: ClassVar[tuple[str, str]] = ("jaccard", "1 - jaccard")

    def coefficients(self) -> tuple[Counts, Counts]:
        return {"TP": Fraction(1)}, {"TP": Fraction(1), "FP": Fraction(1), "FN": Fraction(1)}


@register
@dataclass(frozen=True)
class Precision(ConfusionRatio):
    """Precision TP / (TP + FP) of trees whose recall TP / (TP + FN) is at least `min_recall`.

    Parameters
    ----------
    min_recall : number in [0, 1], default=0
        A value above 0 is a side constraint, which `flow-oct`, `state-flow` and other formulations
        accept.
    """

    name: ClassVar[str] = "precision"
    title: ClassVar[str] = "Precision of the positive class at a least recall"
    units: ClassVar[tuple[str, str]] = ("precision", "1 - precision")

    min_recall: Any = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.min_recall
        object.__setattr__(self, "min_recall", exact.fraction(given, "min_recall"))
        if not 0 <= self.min_recall <= 1:
            raise DataError(f"min_recall must lie between 0 and 1; got {given!r}.")

    def coefficients(self) -> tuple[Counts, Counts]:
        return {"TP": Fraction(1)}, {"TP": Fraction(1), "FP": Fraction(1)}

    def own_rows(self, dataset: Dataset) -> tuple[SideRow, ...]:
        if not self.min_recall:
            return ()
        return (
            SideRow(
                "true positives", self.counts({"TP": 1}, dataset), self._least_found(dataset), None
            ),
        )

    def least_denominator(self, dataset: Dataset) -> int:
        return max(1, self._least_found(dataset))

    def _least_found(self, dataset: Dataset) -> int:
        there = self._is_positive(_classes(dataset, self.name)[0], dataset)
        weights = whole_weights(self, dataset) * dataset.row_counts
        return math.ceil(self.min_recall * int(weights[there].sum()))


@register
@dataclass(frozen=True)
class CountRatio(ConfusionRatio):
    """Any ratio of linear functions of the confusion counts with coefficients of at least 0.

    Parameters
    ----------
    numerator, denominator : mapping of "TP", "FP", "FN", "TN" to number
        Coefficient of each count.

    Examples
    --------
    A ratio with different costs of the two kinds of errors:

    >>> import milp_trees as mt
    >>> task = mt.tasks.CountRatio(numerator={"TP": 3}, denominator={"TP": 3, "FN": 2, "FP": "1/2"})
    """

    name: ClassVar[str] = "count-ratio"
    title: ClassVar[str] = "A ratio of linear counts of the confusion matrix"
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {
        "numerator": mapping,
        "denominator": mapping,
    }

    numerator: Any = None
    denominator: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("numerator", "denominator"):
            given = getattr(self, name)
            if not given:
                raise DataError(
                    f"The task {self.name} needs {name}=, a mapping such as {{'TP': 2}}; known counts are {', '.join(CONFUSION)}."
                )
            coefs = {
                str(k): exact.fraction(v, f"the coefficient of {k}") for k, v in dict(given).items()
            }
            if set(coefs) - set(CONFUSION):
                raise DataError(
                    f"{sorted(set(coefs) - set(CONFUSION))[0]!r} is no confusion count; known are {', '.join(CONFUSION)}."
                )
            if any(c < 0 for c in coefs.values()):
                raise DataError(f"The coefficients of a {name} must not be negative.")
            object.__setattr__(self, name, coefs)

    def coefficients(self) -> tuple[Counts, Counts]:
        return self.numerator, self.denominator
