r"""Policies: a leaf chooses a treatment, and the value is the mean outcome of the population.

Reference: Jo et al. 2021, "Learning optimal prescriptive trees".

With observed treatments :math:`K_i`, outcomes :math:`Y_i` (larger is better), propensities
:math:`\hat\mu` of the observed treatment and an outcome model :math:`\hat\nu_k`:

.. math:: Q_{IPW}=\tfrac1n\sum_i\tfrac{Y_i}{\hat\mu_i}1[\pi(X_i)=K_i],\quad Q_{DM}=\tfrac1n\sum_i\hat\nu_{\pi(X_i)}(X_i),\quad
   Q_{DR}=\tfrac1n\sum_i\Bigl(\hat\nu_{\pi(X_i)}(X_i)+\tfrac{(Y_i-\hat\nu_{K_i}(X_i))1[\pi(X_i)=K_i]}{\hat\mu_i}\Bigr).

All are sums of a matrix of action values, maximised; negative outcomes are allowed. With row weights
:math:`\omega_i` the means are :math:`\sum_i\omega_i(\cdot)/\sum_i\omega_i`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.data.names import spelled
from milp_trees.tasks.action_costs import ActionCosts

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@dataclass(frozen=True)
class PolicyValue(ActionCosts):
    """Base class: the mean over rows of `action_values`, maximised; row weights count.

    With a penalty it is minus the mean value, plus penalties, minimised.
    """

    units: ClassVar[tuple[str, str]] = ("reward", "rate")
    weighs_rows: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True

    @abstractmethod
    def action_values(self, dataset: Dataset) -> np.ndarray:
        """Estimated value of every action on every row, shape (n, K)."""

    @property
    def sense(self) -> str:
        return "min" if self.penalised else "max"

    def costs(self, dataset: Dataset) -> np.ndarray:
        given = np.asarray(self.action_values(dataset))
        # Whole numbers are integers only if floats would round them.
        values = -given if given.dtype == np.int64 else -given.astype(float)
        return values if dataset.weights is None else _weighted(values, dataset.weights)

    def to_natural(self, total: Fraction, dataset: Dataset) -> Fraction:
        weight = self.normaliser(dataset)
        if not weight:
            raise DataError(
                f"The task {self.name} is a mean over rows, and all rows have the weight 0; give at least one row a positive weight."
            )
        return -total / weight


@register
@dataclass(frozen=True)
class ActionValues(PolicyValue):
    """The dataset's `values` as they are: rewards of every action on every row.

    They may be predictions of the direct method.
    """

    name: ClassVar[str] = "action-values"
    title: ClassVar[str] = "The value of the chosen action, known for every row and action"

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        dataset.require("values", f"The task {self.name}")
        return tuple(dataset.actions or ())

    def action_values(self, dataset: Dataset) -> np.ndarray:
        return dataset.require("values", f"The task {self.name}")


@register
@dataclass(frozen=True)
class ActionCostMatrix(ActionCosts):
    """Any n × K matrix of costs, given as the dataset's `values`, summed and minimised."""

    name: ClassVar[str] = "action-costs"
    takes_counts: ClassVar[bool] = True
    title: ClassVar[str] = "The cost of the chosen action, known for every row and action"

    def normaliser(self, dataset: Dataset) -> Fraction:
        return Fraction(
            dataset.total_rows
        )  # row weights are no part of the costs, so they are no part of the rate

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        dataset.require("values", f"The task {self.name}")
        return tuple(dataset.actions or ())

    def costs(self, dataset: Dataset) -> np.ndarray:
        return dataset.require("values", f"The task {self.name}")


@register
@dataclass(frozen=True)
class DirectMethod(ActionValues):
    """Predicted outcomes of every treatment (`values`), summed as they are."""

    name: ClassVar[str] = "policy-dm"
    title: ClassVar[str] = "Policy value by predicted outcomes"


@register
@dataclass(frozen=True)
class InversePropensity(PolicyValue):
    """Outcomes of rows with the policy's treatment, weighted by the inverse propensity."""

    name: ClassVar[str] = "policy-ipw"
    title: ClassVar[str] = "Policy value by inverse propensity weights"

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return observed_treatments(dataset, self.name)[1]

    def action_values(self, dataset: Dataset) -> np.ndarray:
        given, actions = observed_treatments(dataset, self.name)
        weight = dataset.require("outcomes", f"The task {self.name}") / dataset.require(
            "propensities", f"The task {self.name}"
        )
        return np.where(given[:, None] == np.arange(len(actions)), weight[:, None], 0.0)


@register
@dataclass(frozen=True)
class DoublyRobust(PolicyValue):
    """The direct method, corrected by inverse propensity where the treatment was observed."""

    name: ClassVar[str] = "policy-dr"
    title: ClassVar[str] = "Policy value, doubly robust"

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return observed_treatments(dataset, self.name)[1]

    def action_values(self, dataset: Dataset) -> np.ndarray:
        given, actions = observed_treatments(dataset, self.name)
        nu = dataset.require("values", f"The task {self.name}")
        if nu.dtype == np.int64:
            raise DataError(
                f"The task {self.name} adds outcomes over propensities to values, which are whole numbers above 2^53 here; divide values and outcomes by a common factor."
            )
        outcome = dataset.require("outcomes", f"The task {self.name}")
        rest = (outcome - nu[np.arange(len(nu)), given]) / dataset.require(
            "propensities", f"The task {self.name}"
        )
        return nu + np.where(given[:, None] == np.arange(len(actions)), rest[:, None], 0.0)


def _weighted(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Values times row weights, shape (n, K): Fractions if both are short decimals, else floats."""
    (whole, unit, exact_values), (weight, step, exact_weights) = map(
        exact.integers, (values, weights)
    )
    if not (exact_values and exact_weights):
        return values * weights[:, None]
    if int(np.abs(whole).max(initial=0)) * int(weight.max(initial=0)) >= 2**62:
        whole = whole.astype(object)
    products, where = np.unique(whole * weight[:, None], return_inverse=True)
    made = np.array([unit * step * int(p) for p in products] + [None], dtype=object)[:-1]
    return np.asarray(made[where.reshape(values.shape)])


def observed_treatments(dataset: Dataset, name: str) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Index of the observed treatment per row, and the treatments' names."""
    levels, which = np.unique(
        dataset.require("treatments", f"The task {name}"), return_inverse=True
    )
    actions = tuple(dataset.actions) if dataset.actions is not None else tuple(levels.tolist())
    where = {spelled(a): k for k, a in enumerate(actions)}
    unknown = sorted({spelled(t) for t in levels.tolist()} - set(where))
    if unknown:
        raise DataError(f"Treatment {unknown[0]!r} is not among the actions {', '.join(where)}.")
    return np.array([where[spelled(t)] for t in levels.tolist()], dtype=np.int64)[which], actions
