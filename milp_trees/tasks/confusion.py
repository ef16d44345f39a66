r"""Objectives that are one count divided by another, made of confusion counts.

Examples are F-beta, F1, the Jaccard index, and precision with a lower bound on recall. With true
and false positives and negatives of one *positive* class (rows weighted by the dataset's row
weights), a subclass defines how much each of the four counts adds to the numerator and to the
denominator. If both are 0, the ratio is 0/0 and its value is 0, as with scikit-learn's
`zero_division=0`: an F-score is 0 if no row is positive and none is predicted to be positive.

With a penalty the value is the loss :math:`1-\text{ratio}+\lambda\cdot\text{leaves}` (Lin, Zhong,
Hu, Rudin, Seltzer 2020, *Generalized and scalable optimal sparse decision trees*, for the F-score).
Any method for cost matrices solves these tasks, in Dinkelbach steps.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError, NoView
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.classification import Accuracy, _classes
from milp_trees.tasks.constraint_base import Constraint, TreeConstraint, as_constraints
from milp_trees.tasks.count_views import PairCounts, error_counts
from milp_trees.tasks.penalised import leaf_needs, plain_spec
from milp_trees.tasks.ratio_view import LARGEST, Ratio, quotient
from milp_trees.tasks.surd import Surd
from milp_trees.tasks.views import CostMatrix, SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

#: Coefficient of each confusion count.
Counts = Mapping[str, Fraction]

#: The confusion counts: true and false positives and negatives.
CONFUSION = ("TP", "FP", "FN", "TN")


@dataclass(frozen=True)
class ConfusionRatio(Task):
    """Base class of the ratios of confusion counts; maximised, or with a penalty minimised.

    Parameters
    ----------
    positive : class, optional
        The positive class; by default the last (of 0 and 1, it is 1). All other classes are
        negative.
    leaf_penalty : number, default=0
        Added per leaf to one minus the ratio.
    constraints : sequence of Constraint
        Linear side constraints on the actions.
    """

    of_classes: ClassVar[bool] = True
    weighs_rows: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True
    view_makers: ClassVar[dict[type, str]] = {Ratio: "ratio", PairCounts: "pair_counts"}
    #: Whether the ratio decreases in false positives and in false negatives on all data.
    monotone: ClassVar[bool] = False
    #: Unit without a penalty, and with a penalty.
    units: ClassVar[tuple[str, str]] = ("ratio", "1 - ratio")

    positive: Any = None
    leaf_penalty: Any = 0
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", as_constraints(self.constraints))
        for rule in self.constraints:
            if isinstance(rule, TreeConstraint):
                raise DataError(
                    f"The task {self.name} takes constraints on actions; {rule.name} is about the tree, and tasks that add up costs (accuracy, weighted-error, policies) take it."
                )
        penalty = exact.fraction(self.leaf_penalty, "leaf_penalty")
        if penalty < 0:
            raise DataError(f"leaf_penalty must not be negative; got {self.leaf_penalty}.")
        object.__setattr__(self, "leaf_penalty", penalty)

    # -- what a subclass defines -------------------------------------------------------------------

    @abstractmethod
    def coefficients(self) -> tuple[Counts, Counts]:
        """Coefficients of TP, FP, FN and TN in the numerator and in the denominator.

        A count without an entry has the coefficient 0.
        """

    def own_rows(self, dataset: Dataset) -> tuple[SideRow, ...]:
        """Side rows that are part of the metric's definition."""
        return ()

    def least_denominator(self, dataset: Dataset) -> int:
        """Lower bound of positive denominators that follows from `own_rows`, in integer weights."""
        return 1

    # -- what follows from it ----------------------------------------------------------------------

    @property
    def unit(self) -> str:
        return self.units[int(bool(self.leaf_penalty))]

    @property
    def sense(self) -> str:
        return "min" if self.leaf_penalty else "max"

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return _classes(dataset, self.name)[1]

    def positive_index(self, dataset: Dataset) -> int:
        """Position of the positive class."""
        classes = self.actions(dataset)
        if self.positive is None:
            return len(classes) - 1
        for k, c in enumerate(classes):
            if c == self.positive or str(c) == str(self.positive):
                return k
        raise DataError(
            f"The positive class {self.positive!r} is no class of the data; the classes are {', '.join(map(str, classes))}."
        )

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        self.refuse_others(routes.actions, dataset)
        given, is_exact = dataset.row_weights, True
        weights = np.ones(len(given), dtype=np.int64)
        if (given != 1).any():
            weights, _, is_exact = exact.integers(given, rows=dataset.total_rows)
        if not is_exact:
            weights = np.asarray(given, dtype=float)
        weights = weights * dataset.row_counts
        truth, sentence = (
            self._is_positive(which, dataset)
            for which in (_classes(dataset, self.name)[0], routes.action)
        )
        totals = {
            name: Fraction(weights[where].sum().item())
            for name, where in _confusion(truth, sentence).items()
        }
        n, d = (
            sum((c * totals[name] for name, c in coefs.items()), Fraction(0))
            for coefs in self.coefficients()
        )
        number = quotient(n, d)
        if self.leaf_penalty:
            number = 1 - number + self.leaf_penalty * routes.n_leaves
        return Value(float(number), number if is_exact else None, self.unit, self.sense)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        actions = self.actions(dataset)
        out = [
            message
            for c in self.constraints
            for message in c.violations(routes.action, dataset, actions)
        ]
        for row in self.own_rows(dataset):
            total = int(row.coefs[np.arange(len(routes.action)), routes.action].sum())
            if not row.holds(total):
                out.append(f"{row.name}: {total} is outside [{row.lower}, {row.upper}].")
        return out

    def ratio(self, dataset: Dataset, space: Space) -> Ratio:
        """The task as exact integers, with the candidate features of a space."""
        (tests, X, complements), actions = space.tests(dataset), self.actions(dataset)
        numerator, denominator = (self.counts(coefs, dataset) for coefs in self._whole())
        frame = CostMatrix(
            X=np.ascontiguousarray(getattr(X, "dense", X)),
            features=tests,
            costs=numerator,
            actions=actions,
            counts=np.array(dataset.row_counts),
            leaf_cost=0,
            split_costs=np.zeros(len(tests), dtype=np.int64),
            side=(
                *self.own_rows(dataset),
                *(row.reduced() for c in self.constraints for row in c.rows(dataset, actions)),
            ),
            offset=Fraction(0),
            scale=Fraction(1),
            exact=True,
            rows=np.arange(dataset.n_rows, dtype=np.int64),
            complements=complements,
            **leaf_needs(dataset, space),
        )
        return Ratio(self, frame, denominator, self.leaf_penalty, self.least_denominator(dataset))

    def pair_counts(self, dataset: Dataset, space: Space) -> PairCounts:
        """The task as a metric of the numbers of false positives and false negatives.

        It exists for two classes without weights and side constraints.
        """
        if (
            not self.monotone
            or self.constraints
            or len(self.actions(dataset)) != 2
            or _weighted(dataset)
        ):
            raise NoView(
                f"The task {self.name} has a PairCounts view only for two classes, without row weights, grouped rows and side constraints, and if the ratio "
                "falls in false positives and negatives (f1, f-beta, jaccard); any method for cost matrices takes it in steps."
            )
        positive = self.positive_index(dataset)
        ones = int((_classes(dataset, self.name)[0] == positive).sum())
        zeros = dataset.n_rows - ones
        return PairCounts(
            Accuracy().cost_matrix(dataset, space),
            positive,
            self.leaf_penalty,
            partial(_worth, self._whole(), ones, zeros),
        )

    def coordinates(self, routes: Routes, dataset: Dataset) -> tuple[Value, ...]:
        """False positives and false negatives; the number of leaves too if they are penalised.

        They exist for the ratios and the data that have a `PairCounts` view.
        """
        if not self.monotone or _weighted(dataset):
            return super().coordinates(routes, dataset)
        sentence, truth = (
            self._is_positive(which, dataset)
            for which in (routes.action, _classes(dataset, self.name)[0])
        )
        return error_counts(sentence, truth, routes.n_leaves if self.leaf_penalty else None)

    def counts(self, coefs: Mapping[str, int], dataset: Dataset) -> np.ndarray:
        """What every action adds on every row, shape (n, K), in units of the integer weights."""
        weights = whole_weights(self, dataset) * dataset.row_counts
        if (
            max(coefs.values(), default=0) * sum(weights.tolist()) > LARGEST
        ):  # 64-bit sums would be wrong without a warning
            raise DataError(
                f"The coefficients of the task {self.name} have too many digits for exact ratios; round them (such as beta) and the row weights."
            )
        y, classes = _classes(dataset, self.name)
        sentence = np.broadcast_to(
            self._is_positive(np.arange(len(classes)), dataset), (dataset.n_rows, len(classes))
        )
        truth = np.broadcast_to(self._is_positive(y, dataset)[:, None], sentence.shape)
        out = np.zeros(sentence.shape, dtype=np.int64)
        for name, where in _confusion(truth, sentence).items():
            out += coefs.get(name, 0) * where
        return out * weights[:, None]

    def _whole(self) -> tuple[dict[str, int], dict[str, int]]:
        """The coefficients times their common denominator, divided by their common divisor."""
        both = self.coefficients()
        numbers = [c for coefs in both for c in coefs.values()]
        times = math.lcm(*(c.denominator for c in numbers))
        by = math.gcd(*(int(c * times) for c in numbers)) or 1
        first, second = (
            {name: int(c * times) // by for name, c in coefs.items()} for coefs in both
        )
        return first, second

    def _is_positive(self, which: np.ndarray, dataset: Dataset) -> np.ndarray:
        out: np.ndarray = np.asarray(which) == self.positive_index(dataset)
        return out

    def spec(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name}
        for f in fields(self):
            value = getattr(self, f.name)
            if value == f.default or value is None:
                continue
            out[f.name] = plain_spec(value)
        return out


def whole_weights(task: Task, dataset: Dataset) -> np.ndarray:
    """The row weights as integers, divided by their unit, which a ratio does not depend on."""
    weights, _, is_exact = exact.integers(dataset.row_weights, rows=dataset.total_rows)
    if not is_exact:
        raise DataError(
            f"The task {task.name} is solved in exact rationals; round the row weights to at most nine digits."
        )
    if weights.min(initial=0) < 0:
        raise DataError(
            f"The task {task.name} needs row weights of at least 0; one is {dataset.row_weights.min()}."
        )
    return weights


def _weighted(dataset: Dataset) -> bool:
    """Whether some row counts otherwise than once."""
    return dataset.counts is not None or bool((dataset.row_weights != 1).any())


def _confusion(truth: np.ndarray, said: np.ndarray) -> dict[str, np.ndarray]:
    return {"TP": truth & said, "FP": ~truth & said, "FN": truth & ~said, "TN": ~truth & ~said}


def _worth(
    coefficients: tuple[Mapping[str, int], Mapping[str, int]],
    ones: int,
    zeros: int,
    fp: int,
    fn: int,
) -> Surd:
    """The ratio of two classes with given numbers of rows and of errors."""
    totals = {"TP": ones - fn, "FP": fp, "FN": fn, "TN": zeros - fp}
    over, under = (sum(c * totals[name] for name, c in coefs.items()) for coefs in coefficients)
    return Surd(Fraction(over, under) if under else Fraction(0))
