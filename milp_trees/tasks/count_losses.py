r"""Poisson and gamma deviance: a leaf predicts the mean of its rows.

With weights :math:`w_i`, which for counts are exposures where the target is a rate, and a leaf's
prediction :math:`\mu` the deviances are

.. math:: 2\sum_i w_i\Bigl(y_i\log\frac{y_i}{\mu} - y_i + \mu\Bigr), \qquad
          2\sum_i w_i\Bigl(\log\frac{\mu}{y_i} + \frac{y_i}{\mu} - 1\Bigr).

They are the total weight times `mean_poisson_deviance` and `mean_gamma_deviance` of scikit-learn;
its criterion `poisson` of trees is half of the first. Reference: McCullagh and Nelder 1989,
*Generalized linear models* (section 2.3).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.tasks.rates import Rates, RateTask, kinds_of
from milp_trees.tasks.targets import numeric_targets, weight_numbers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.tasks.targets import Numbers


@dataclass(frozen=True)
class _Deviance(RateTask):
    """Base class of deviances of a single numeric target."""

    units: ClassVar[tuple[str, str]] = ("deviance", "loss")
    factor: ClassVar[int] = 2

    def _counted(self, dataset: Dataset) -> tuple[Numbers, list[int], list[int], np.ndarray]:
        """Targets, and per kind of row weight (times count) and target as integers."""
        numbers = numeric_targets(dataset, self.name)
        if numbers.whole.shape[1] != 1:
            raise DataError(
                f"The task {self.name} predicts one number; the data have {numbers.whole.shape[1]} targets."
            )
        y, weights = numbers.whole[:, 0], weight_numbers(dataset)
        self._refuse(y, dataset)
        place = np.unique(y, return_inverse=True)[1]
        first, kind = kinds_of(place, dataset.row_weights, dataset.row_counts)
        w = [weights.whole[i] * int(dataset.row_counts[i]) for i in first.tolist()]
        return numbers, list(map(int, w)), [int(y[i]) for i in first.tolist()], kind

    @abstractmethod
    def _refuse(self, y: np.ndarray, dataset: Dataset) -> None:
        """Raise DataError for targets of which there is no deviance."""

    def extra_scores(self, routes: Any, dataset: Dataset) -> dict[str, float]:
        one = self.normaliser(dataset)
        return {"d2": float(1 - self.loss(routes, dataset)[0] / one)}


@register
@dataclass(frozen=True)
class Poisson(_Deviance):
    """Poisson deviance of counts, or of rates whose weights are the exposures.

    Targets are at least 0. With a penalty the value is the share of the deviance of a single leaf
    that is left, plus penalties.
    """

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Poisson deviance of predicted means"
    has_extra_scores: ClassVar[bool] = True

    def rates(self, dataset: Dataset) -> Rates:
        numbers, w, y, kind = self._counted(dataset)
        weight = weight_numbers(dataset).unit
        amounts = [a * b for a, b in zip(w, y, strict=True)]
        return Rates(amounts, w, weight * numbers.unit, weight, kind)

    def _refuse(self, y: np.ndarray, dataset: Dataset) -> None:
        if (y < 0).any():
            raise DataError(
                f"The task poisson needs targets of at least 0; row {int(np.argmax(y < 0))} has a negative one."
            )


@register
@dataclass(frozen=True)
class Gamma(_Deviance):
    """Gamma deviance of positive numbers, such as amounts of claims.

    It counts relative errors: multiplying all targets by a number changes nothing. With a penalty
    the value is the share of the deviance of a single leaf that is left, plus penalties.
    """

    name: ClassVar[str] = "gamma"
    title: ClassVar[str] = "Gamma deviance of predicted means"
    has_extra_scores: ClassVar[bool] = True
    inverse: ClassVar[bool] = True

    def rates(self, dataset: Dataset) -> Rates:
        numbers, w, y, kind = self._counted(dataset)
        weight = weight_numbers(dataset).unit
        exposures = [a * b for a, b in zip(w, y, strict=True)]
        return Rates(w, exposures, weight, weight * numbers.unit, kind)

    def _refuse(self, y: np.ndarray, dataset: Dataset) -> None:
        if (y <= 0).any():
            raise DataError(
                f"The task gamma needs targets above 0; row {int(np.argmax(y <= 0))} has another one."
            )
