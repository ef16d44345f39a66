r"""`PrunedError`: mean error of an ensemble's trees plus λ times the mean cost of features.

.. math:: \frac1{NT}\sum_t\sum_h e_{t,h} z_{t,h} + \lambda\,\frac1N\sum_k\sum_i c_k W_{k,i}

(Nan, Wang, Saligrama 2016, *Optimally pruning decision tree ensembles with feature cost*, ICML,
objective of their ensemble programs). The cost of a row is that of the features that it needs. The
first part is the error of a tree that is drawn at random, which differs from the error of the
trees' vote; the latter is reported beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.common.exact import fraction
from milp_trees.common.registering import register
from milp_trees.pruning.feature_costs import FeatureCosts
from milp_trees.pruning.first_uses import integer_prices, purchases
from milp_trees.pruning.view import NodeGains
from milp_trees.tasks.base import Task, Value

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.ensemble import Ensemble, EnsembleRoutes
    from milp_trees.models.space import Space


from milp_trees.pruning.sums import (
    codes,
    numbers,
    per_class,
    per_node,
    targets,
    total_weight,
    whole_numbers,
)

#: Number of steps of the grid for squared errors, from 0 to the loss of all trees as single leaves.
STEPS = 2**36


@register
@dataclass(frozen=True, eq=False)
class PrunedError(Task):
    """Mean error of the trees + λ · mean feature cost of a row.

    Parameters
    ----------
    lam : number, default=0
        Price of cost in terms of error.
    costs : FeatureCosts, optional
        Prices; by default every feature costs 1 for a row.
    error_weights : array of shape (n,) or (n, T), optional
        Weight of an error on a row, for each tree or for all: 0/1 for out-of-bag rows
        (`milp_trees.models.read_ensemble.out_of_bag`), 0 for rows that only add to the cost. By
        default the dataset's row weights.
    cost_weights : array of shape (n,), optional
        Weight of a row in the mean cost. By default the dataset's row weights.
    loss : {"auto", "error", "squared"}
        `error` counts wrong labels of single trees, `squared` is the squared error of single
        regression trees; `auto` chooses by the kind of the ensemble.
    max_cost : number, optional
        Budget: largest mean cost of a row.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.pruning.PrunedError("0.01", mt.pruning.FeatureCosts(2)).lam
    Fraction(1, 100)
    """

    name: ClassVar[str] = "pruned-error"
    title: ClassVar[str] = "Error and cost of a pruned ensemble"
    command: ClassVar[str | None] = "prune"
    weighs_rows: ClassVar[bool] = True
    view_makers: ClassVar[dict[type, str]] = {NodeGains: "node_gains"}
    has_extra_scores: ClassVar[bool] = True

    lam: Any = 0
    costs: FeatureCosts = None  # type: ignore[assignment]
    error_weights: Any = None
    cost_weights: Any = None
    loss: str = "auto"
    max_cost: Any = None

    def __post_init__(self) -> None:
        lam = fraction(self.lam, "lam")
        if lam < 0:
            raise DataError(f"lam must not be negative; got {self.lam!r}.")
        object.__setattr__(self, "lam", lam)
        if self.loss not in ("auto", "error", "squared"):
            raise DataError(f"loss is 'auto', 'error' or 'squared'; got {self.loss!r}.")
        if not isinstance(self.costs, FeatureCosts):
            given = 1 if self.costs is None else self.costs
            object.__setattr__(
                self,
                "costs",
                FeatureCosts.from_spec(given)
                if FeatureCosts.is_spec(given)
                else FeatureCosts(given),
            )
        for name in ("error_weights", "cost_weights"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, numbers(getattr(self, name), name))
        if self.max_cost is not None:
            budget = fraction(self.max_cost, "max_cost")
            if budget < 0:
                raise DataError(f"max_cost must not be negative; got {self.max_cost!r}.")
            object.__setattr__(self, "max_cost", budget)

    @property
    def unit(self) -> str:
        return "error" if not self.lam else "error + λ·cost"

    @property
    def sense(self) -> str:
        return "min"

    # -- scoring -----------------------------------------------------------------------------------

    def value(self, routes: EnsembleRoutes, dataset: Dataset) -> Value:  # type: ignore[override]
        error, cost = self.parts(routes, dataset)
        total = error + self.lam * cost
        exact = self._squared(routes.ensemble) is False
        return Value(float(total), Fraction(total) if exact else None, self.unit, self.sense)

    def parts(self, routes: EnsembleRoutes, dataset: Dataset) -> tuple[Fraction, Fraction]:
        """Mean error of the trees (a squared one is rounded to a double) and mean cost of a row."""
        ensemble = routes.ensemble
        whole, _ = self._error_weights(dataset, ensemble.n_trees)
        total = total_weight(whole, ensemble.n_trees)
        if self._squared(ensemble):
            wrong = float(
                (whole * (targets(dataset)[:, None] - ensemble.value[routes.leaf, 0]) ** 2).sum()
            )
            error = Fraction(wrong / total)
        else:
            miss = ensemble.label[routes.leaf] != codes(dataset, ensemble)[:, None]
            error = Fraction(int((whole * miss).sum()), total)
        weights, unit = self._cost_weights(dataset)
        return error, self.costs.charge(
            routes.used, routes.evaluations, routes.n_leaves, weights, unit, ensemble.features
        )

    def extra_scores(self, routes: EnsembleRoutes, dataset: Dataset) -> dict[str, float]:  # type: ignore[override]
        """The parts of the value, and the score of the whole ensemble.

        The score is the error of the vote, or the squared error of the mean.
        """
        error, cost = self.parts(routes, dataset)
        out = {"error": float(error), "cost": float(cost)}
        weights = dataset.row_weights
        if dataset.y is not None and weights.sum() > 0:
            if self._squared(routes.ensemble):
                off = (routes.ensemble.mean_value(routes.leaf)[:, 0] - targets(dataset)) ** 2
                out["mean_squared_error"] = float(off @ weights / weights.sum())
            else:
                wrong = routes.action != codes(dataset, routes.ensemble)
                out["vote_error"] = float(wrong @ weights / weights.sum())
        return out

    def violations(self, routes: EnsembleRoutes, dataset: Dataset) -> list[str]:  # type: ignore[override]
        if self.max_cost is None:
            return []
        cost = self.parts(routes, dataset)[1]
        return (
            []
            if cost <= self.max_cost
            else [
                f"A row costs {float(cost):.6g} on average; at most {float(self.max_cost):.6g} is allowed."
            ]
        )

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return tuple(dataset.classes or ())

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        """None: an ensemble has classes of its own, some of which the data may lack.

        The space compares its trees with those of the problem.
        """
        return None

    # -- the view ----------------------------------------------------------------------------------

    def node_gains(self, dataset: Dataset, space: Space) -> NodeGains:
        """Errors of all nodes, and prices of what they need."""
        ensemble: Ensemble | None = getattr(space, "ensemble", None)
        if ensemble is None:
            raise NoView(
                f"The task {self.name} prunes ensembles; the space is {space.name}. Give PrunedEnsembles(ensemble)."
            )
        leaf = ensemble.pruned(ensemble.left >= 0).routes(dataset).leaf
        weights, weight_unit = self._cost_weights(dataset)
        prices = integer_prices(self.costs, ensemble, dataset.n_rows, weights, weight_unit)
        error, error_unit, exact = self._errors(dataset, ensemble, leaf, prices.unit)
        paying = np.flatnonzero(weights)
        if prices.own.ndim == 2:
            prices = replace(prices, own=prices.own[paying])
        bought = purchases(ensemble, leaf[paying], prices, weights[paying])
        avoidable = prices.leaf * ensemble.n_trees
        budget = None if self.max_cost is None else int(self.max_cost // prices.unit) - avoidable
        return NodeGains(
            ensemble.parent,
            ensemble.left,
            ensemble.right,
            ensemble.member,
            bought.unit,
            error,
            bought.keep_cost,
            leaf[paying],
            bought.first,
            bought.start,
            bought.need,
            bought.price,
            bought.purchase_unit,
            np.where(bought.purchase_row >= 0, paying[bought.purchase_row], -1),
            bought.above,
            prices.units,
            error_unit,
            prices.unit,
            self.lam,
            exact,
            budget,
            prices.unit * avoidable,
        )

    def _errors(
        self, dataset: Dataset, ensemble: Ensemble, leaf: np.ndarray, cost_unit: Fraction
    ) -> tuple[np.ndarray, Fraction, bool]:
        """Integer errors of every node as a leaf, their unit, and whether they are exact.

        Squared errors are rounded to a decimal fraction of the unit of cost: with a decimal λ,
        error and cost then have a common unit of that size.
        """
        whole, _ = self._error_weights(dataset, ensemble.n_trees)
        total = total_weight(whole, ensemble.n_trees)
        weights = np.broadcast_to(whole, leaf.shape)
        if self._squared(ensemble):
            y = targets(dataset)
            middle = y.mean()  # a target far from 0 would lose digits
            y, v = y - middle, ensemble.value[:, 0] - middle
            with np.errstate(over="ignore", invalid="ignore"):  # an error is raised below
                sums = per_node(
                    ensemble, leaf, [weights, weights * y[:, None], weights * (y**2)[:, None]]
                )
                measured = np.maximum(0.0, sums[2] - 2 * v * sums[1] + v**2 * sums[0]) / total
            spread = float(measured[ensemble.roots].sum())
            if not np.isfinite(spread):
                raise DataError(
                    "The squared errors are larger than floating-point numbers hold; divide the target by a constant."
                )
            digits = math.ceil(math.log10(STEPS * float(cost_unit) / spread)) if spread > 0 else 0
            unit = cost_unit / Fraction(10) ** digits
            return np.rint(measured / float(unit)).astype(np.int64), unit, False
        y = codes(dataset, ensemble)
        right = per_class(ensemble, leaf, y, weights)
        everything = per_node(ensemble, leaf, [weights])[0]
        return np.rint(everything - right).astype(np.int64), Fraction(1, total), True

    def _error_weights(self, dataset: Dataset, n_trees: int) -> tuple[np.ndarray, Fraction]:
        """Integer weights of shape (n, 1) or (n, T), and the value of one of their units."""
        given = dataset.row_weights if self.error_weights is None else self.error_weights
        if given.shape not in ((dataset.n_rows,), (dataset.n_rows, n_trees)):
            raise DataError(
                f"error_weights must have shape ({dataset.n_rows},) or ({dataset.n_rows}, {n_trees}); its shape is {given.shape}."
            )
        whole, unit = whole_numbers(
            given, "The row weights" if self.error_weights is None else "error_weights"
        )
        return (whole[:, None] if whole.ndim == 1 else whole), unit

    def _cost_weights(self, dataset: Dataset) -> tuple[np.ndarray, Fraction]:
        given = dataset.row_weights if self.cost_weights is None else self.cost_weights
        if given.shape != (dataset.n_rows,):
            raise DataError(
                f"cost_weights must have one entry per row ({dataset.n_rows}); its shape is {given.shape}."
            )
        return whole_numbers(
            given, "The row weights" if self.cost_weights is None else "cost_weights"
        )

    def _squared(self, ensemble: Ensemble) -> bool:
        if self.loss == "error" and ensemble.classes is None:
            raise DataError(
                "The ensemble predicts numbers, so labels cannot be counted; use loss='squared'."
            )
        if self.loss == "squared" and ensemble.classes is not None:
            raise DataError("The ensemble predicts classes; use loss='error'.")
        return ensemble.classes is None

    def reordered(self, rows: Any) -> Task:
        held = {n: getattr(self, n) for n in ("error_weights", "cost_weights")}
        priced = self.costs.per_row
        costs = self.costs if priced is None else replace(self.costs, per_row=priced[rows])
        moved = {name: given[rows] for name, given in held.items() if given is not None}
        return replace(self, costs=costs, **moved)

    def without_rows(self) -> tuple[Task, tuple[str, ...]]:
        held = {
            "error_weights": self.error_weights,
            "cost_weights": self.cost_weights,
            "row_costs": self.costs.per_row,
        }
        costs = replace(self.costs, per_row=None, columns=None)
        return replace(self, error_weights=None, cost_weights=None, costs=costs), tuple(
            name for name, given in held.items() if given is not None
        )

    # -- exchange ----------------------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "name": self.name,
            "lam": str(self.lam),
            "costs": self.costs.spec(),
            "loss": self.loss,
        }
        for name in ("error_weights", "cost_weights"):
            given = getattr(self, name)
            if given is not None:
                out[name] = (given.astype(str) if given.dtype == object else given).tolist()
        if self.max_cost is not None:
            out["max_cost"] = str(self.max_cost)
        return out
