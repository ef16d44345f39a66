r"""Linear side constraints on the actions, each as exact integer rows.

Group fairness compares the share of rows that get the favourable action between two levels of a
protected attribute,

.. math:: \Bigl|\tfrac{1}{n_g}\sum_{i\in I_g}\hat y_i-\tfrac1{n_{g'}}\sum_{i\in I_{g'}}\hat y_i\Bigr|\le\delta
   \iff -\Delta\le n_{g'}\sum_{I_g}\hat y_i-n_g\sum_{I_{g'}}\hat y_i\le\Delta,\quad
   \Delta=\lfloor\delta n_gn_{g'}\rfloor,

for every pair of levels (Jo, Aghaei, Benson, Gómez, Vayanos 2022, "Learning optimal fair
classification trees"). Rows are counted, and their weights are ignored. A pair in which one of the
two sets is empty gives no integer row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.common.plurals import counted, spaced
from milp_trees.common.registering import labels
from milp_trees.common.registering.spelling import hint, same_name
from milp_trees.tasks.captured_share import CapturedShare
from milp_trees.tasks.constraint_base import Constraint as Constraint
from milp_trees.tasks.constraint_base import as_constraints as as_constraints
from milp_trees.tasks.constraint_base import group_rates, in_words, position, share
from milp_trees.tasks.feature_constraints import FeatureBudget, NotTogether, Requires
from milp_trees.tasks.leaf_order import Monotone
from milp_trees.tasks.mean_parity import MeanPredictionParity
from milp_trees.tasks.node_constraints import ParityInLeaves, ParityInSubtrees
from milp_trees.tasks.task_value import TaskValue
from milp_trees.tasks.views import SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Routes


@dataclass(frozen=True)
class GroupRates(Constraint):
    """Base class of the group-fairness notions.

    The rates of the favourable action of any two groups differ by at most `max_disparity`.

    Parameters
    ----------
    max_disparity : number in [0, 1]
        Largest difference of rates, as a fraction (0.01 is one percent).
    favourable : action, optional
        The favourable action; by default the last class.
    """

    compares_groups: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, bool]] = {"max_disparity": True}

    max_disparity: Any = 0.01
    favourable: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_disparity", share(self.max_disparity, "max_disparity"))

    def slices(self, dataset: Dataset, positive: int) -> Iterator[tuple[str, np.ndarray]]:
        """(label, mask) of the rows within which rates are compared; by default all rows."""
        yield "", np.ones(dataset.n_rows, dtype=bool)

    def positive(self, actions: tuple[Any, ...]) -> int:
        """Position of the favourable action."""
        return len(actions) - 1 if self.favourable is None else position(self.favourable, actions)

    def pairs(
        self, dataset: Dataset, positive: int
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Label and masks of every two sets of rows, both with rows, whose rates are compared."""
        groups = dataset.require("groups", f"The constraint {self.name}")
        for label, mask in self.slices(dataset, positive):
            for a, b in combinations(np.unique(groups).tolist(), 2):
                in_a, in_b = mask & (groups == a), mask & (groups == b)
                if in_a.any() and in_b.any():
                    yield f"{a}/{b}{label}", in_a, in_b

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        positive, out = self.positive(actions), []
        for label, in_a, in_b in self.pairs(dataset, positive):
            rows = dataset.row_counts
            n_a, n_b = int(rows[in_a].sum()), int(rows[in_b].sum())
            coefs = np.zeros((dataset.n_rows, len(actions)), dtype=np.int64)
            coefs[in_a, positive], coefs[in_b, positive] = n_b * rows[in_a], -n_a * rows[in_b]
            delta = int(self.max_disparity * n_a * n_b)
            out.append(SideRow(f"{self.name} {label}", coefs, -delta, delta))
        return out

    def amount(
        self, action: np.ndarray, dataset: Dataset, actions: tuple[Any, ...]
    ) -> tuple[str, Fraction]:
        """The largest difference of two rates; 0 if there is nothing to compare."""
        positive = self.positive(actions)
        rows = dataset.row_counts
        message = np.where(action == positive, rows, 0)
        differences = [
            abs(
                Fraction(int(message[a].sum()), int(rows[a].sum()))
                - Fraction(int(message[b].sum()), int(rows[b].sum()))
            )
            for _, a, b in self.pairs(dataset, positive)
        ]
        return self.name, max(differences, default=Fraction(0))

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The largest difference of two rates."""
        return self.amount(routes.action, dataset, actions)[1]

    def stated(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> str:
        """The limit, the largest difference, and the rate of every group."""
        positive = self.positive(actions)
        largest = self.amount(routes.action, dataset, actions)[1]
        limit = in_words(self.max_disparity)
        rates = []
        for label, mask in self.slices(dataset, positive):
            shares = group_rates(routes.action == positive, mask, dataset)
            rates.append(f"{label.strip()} {shares}".strip())
        return (
            f"{self.name}: rates of {actions[positive]!s} differ by {float(largest):.4g}, "
            f"at most {limit} is allowed ({'; '.join(rates)})"
        )

    def up_to(self, amount: Fraction) -> Constraint:
        return replace(self, max_disparity=amount)

    def widest(self, dataset: Dataset) -> Fraction:
        return Fraction(1)

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """A limit that is a little smaller.

        Amounts are differences of two shares of at most n rows. Two of them with the denominators
        d and e differ by at least 1/(d·e), and d is at most n².
        """
        closest = Fraction(1, 2 * dataset.total_rows**2 * amount.denominator)
        return amount - closest if amount > 0 else None


@dataclass(frozen=True)
class StatisticalParity(GroupRates):
    """Equal shares of the favourable action among all rows of each group."""

    name: ClassVar[str] = "statistical-parity"


@dataclass(frozen=True)
class ConditionalStatisticalParity(GroupRates):
    """Statistical parity within every level of the dataset's legitimate `factor`."""

    name: ClassVar[str] = "conditional-statistical-parity"

    def slices(self, dataset: Dataset, positive: int) -> Iterator[tuple[str, np.ndarray]]:
        factor = dataset.require("factor", f"The constraint {self.name}")
        for level in np.unique(factor).tolist():
            yield f" given {level}", factor == level


@dataclass(frozen=True)
class EqualOpportunity(GroupRates):
    """Equal true positive rates: the favourable share among rows of the favourable class."""

    name: ClassVar[str] = "equal-opportunity"

    def slices(self, dataset: Dataset, positive: int) -> Iterator[tuple[str, np.ndarray]]:
        yield " among positives", dataset.require("y", f"The constraint {self.name}") == positive


@dataclass(frozen=True)
class PredictiveEquality(GroupRates):
    """Equal false positive rates: the favourable share among rows of the other classes."""

    name: ClassVar[str] = "predictive-equality"

    def slices(self, dataset: Dataset, positive: int) -> Iterator[tuple[str, np.ndarray]]:
        yield " among negatives", dataset.require("y", f"The constraint {self.name}") != positive


@dataclass(frozen=True)
class EqualisedOdds(GroupRates):
    """Equal opportunity and predictive equality at once."""

    name: ClassVar[str] = "equalised-odds"

    def slices(self, dataset: Dataset, positive: int) -> Iterator[tuple[str, np.ndarray]]:
        y = dataset.require("y", f"The constraint {self.name}")
        yield " among positives", y == positive
        yield " among negatives", y != positive


@dataclass(frozen=True)
class Capacity(Constraint):
    """At most `at_most` rows (and at least `at_least`) get an action.

    Parameters
    ----------
    action : label of the action
        The action.
    at_most, at_least : int, optional
        Numbers of rows; None is no limit.

    Raises
    ------
    DataError
        A limit is not an integer.
    """

    name: ClassVar[str] = "capacity"
    takes_counts: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, bool]] = {"at_most": True, "at_least": False}

    action: Any = None
    at_most: int | None = None
    at_least: int | None = None

    def __post_init__(self) -> None:
        if self.action is None:
            raise DataError(
                "The constraint capacity needs the action whose rows are counted, for example capacity:action=drug,at_most=100."
            )
        for name in ("at_most", "at_least"):
            given = getattr(self, name)
            if isinstance(given, str) and given.isdecimal():  # from the command line
                given = int(given)
                object.__setattr__(self, name, given)
            if given is not None and (
                not isinstance(given, (int, np.integer)) or isinstance(given, bool)
            ):
                raise DataError(
                    f"{name} of a capacity must be a whole number of rows, or None; got {given!r}."
                )

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        coefs = np.zeros((dataset.n_rows, len(actions)), dtype=np.int64)
        coefs[:, position(self.action, actions)] = dataset.row_counts
        return [SideRow(f"capacity of {self.action}", coefs, self.at_least, self.at_most)]

    def amount(
        self, action: np.ndarray, dataset: Dataset, actions: tuple[Any, ...]
    ) -> tuple[str, Fraction]:
        """The number of rows that get the action."""
        chosen = action == position(self.action, actions)
        return f"rows given {self.action}", Fraction(int(dataset.row_counts[chosen].sum()))

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The number of rows that get the action."""
        return self.amount(routes.action, dataset, actions)[1]

    def stated(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> str:
        """The limits, and how many rows get the action."""
        used = int(self.amount(routes.action, dataset, actions)[1])
        limits = [
            f"{word} {spaced(number)}"
            for word, number in (("at most", self.at_most), ("at least", self.at_least))
            if number is not None
        ]
        limits = limits or ["no limit"]
        return f"{self.name}: {counted(used, 'row')} get {self.action}, allowed: {' and '.join(limits)}"

    def up_to(self, amount: Fraction) -> Constraint:
        return replace(self, at_most=int(amount), at_least=None)

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """One row less."""
        return amount - 1 if amount > 0 else None


@dataclass(frozen=True)
class ErrorRates(Constraint):
    """Bounds on both kinds of error at once, each as a share of the rows that can have it.

    Parameters
    ----------
    max_false_positive_rate, max_false_negative_rate : number in [0, 1], optional
        Largest share of the rows of the other classes that get the favourable action, and of the
        rows of the favourable class that do not. None is no bound.
    favourable : action, optional
        The favourable (positive) class; by default the last.

    Raises
    ------
    DataError
        A rate is not between 0 and 1, or there is none.
    """

    name: ClassVar[str] = "error-rates"
    takes_counts: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, bool]] = {
        "max_false_positive_rate": True,
        "max_false_negative_rate": True,
    }

    max_false_positive_rate: Any = None
    max_false_negative_rate: Any = None
    favourable: Any = None

    def __post_init__(self) -> None:
        names = ("max_false_positive_rate", "max_false_negative_rate")
        if all(getattr(self, name) is None for name in names):
            raise DataError(f"The constraint {self.name} needs {' or '.join(names)}.")
        for name in names:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, share(getattr(self, name), name))

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        positive = (
            len(actions) - 1 if self.favourable is None else position(self.favourable, actions)
        )
        truth = dataset.require("y", f"The constraint {self.name}") == positive
        rows, out = dataset.row_counts, []
        for name, most, here, is_error in (
            ("false positive rate", self.max_false_positive_rate, ~truth, True),
            ("false negative rate", self.max_false_negative_rate, truth, False),
        ):
            if most is not None:
                wrong = (np.arange(len(actions)) == positive) == is_error
                coefs = (here[:, None] & wrong[None, :]) * rows[:, None]
                out.append(SideRow(name, coefs, None, int(most * int(rows[here].sum()))))
        return out

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The rate that is limited; 0 of no rows."""
        (row,) = self.rows(dataset, actions)
        wrong = int(row.coefs[np.arange(len(routes.action)), routes.action].sum())
        return Fraction(wrong, int(row.coefs.max(axis=1).sum()) or 1)

    def widest(self, dataset: Dataset) -> Fraction:
        return Fraction(1)

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """Half a row less."""
        return amount - Fraction(1, 2 * dataset.total_rows) if amount > 0 else None

    def stated(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> str:
        """Both limits, and the rates as they are."""
        message = []
        for row in self.rows(dataset, actions):
            n = int(row.coefs.max(axis=1).sum())
            wrong = int(row.coefs[np.arange(len(routes.action)), routes.action].sum())
            most = getattr(self, f"max_{row.name.replace(' ', '_')}")
            rate = f"{wrong / n:.4g} ({wrong} of {n})" if n else "of no rows"
            message.append(f"{row.name} {rate}, at most {in_words(most)} is allowed")
        return f"{self.name}: {'; '.join(message)}"


def check_groups_differ(constraints: Iterable[Constraint], dataset: Dataset) -> None:
    """Raise DataError if groups are compared but all training rows are of one group.

    Such a constraint would forbid nothing.
    """
    for rule in constraints:
        if rule.compares_groups:
            levels = np.unique(dataset.require("groups", f"The constraint {rule.name}")).tolist()
            if len(levels) < 2:
                raise DataError(
                    f"The constraint {rule.name} compares groups, but all rows are of one group, {levels[0]!r}; name another column."
                )


#: Side constraints by name, as in the command line and in stored results.
CONSTRAINTS: dict[str, type[Constraint]] = {
    c.name: c
    for c in (
        StatisticalParity,
        ConditionalStatisticalParity,
        EqualOpportunity,
        PredictiveEquality,
        EqualisedOdds,
        Capacity,
        ErrorRates,
        FeatureBudget,
        NotTogether,
        Requires,
        ParityInLeaves,
        ParityInSubtrees,
        Monotone,
        MeanPredictionParity,
        CapturedShare,
        TaskValue,
    )
}


#: What papers and other packages call a constraint.
OTHER_NAMES = {
    "fairness": "statistical-parity",
    "demographic-parity": "statistical-parity",
    "group-fairness": "statistical-parity",
    "equalized-odds": "equalised-odds",
    "tpr-parity": "equal-opportunity",
    "fpr-parity": "predictive-equality",
    "calibration": "parity-in-leaves",
    "monotonicity": "monotone",
}


def constraint(name: str, **options: Any) -> Constraint:
    """The side constraint with a given name; UnknownName lists all names."""
    kind = _kind(name)
    labels.check_names(options, kind)
    return kind(**options)


def _kind(name: str) -> type[Constraint]:
    """The class of a constraint, with a suggestion for a misspelt name."""
    found = same_name(OTHER_NAMES.get(name.lower(), name), CONSTRAINTS)
    if found is None or name.lower() in OTHER_NAMES:
        message = hint(name, CONSTRAINTS) if found is None else f" Did you mean {found!r}?"
        raise UnknownName(
            f"There is no constraint {name!r}.{message} Known: {', '.join(CONSTRAINTS)}."
        )
    return CONSTRAINTS[found]


def constraint_of_label(text: str) -> Constraint:
    """The side constraint that a label names, such as `capacity:action=1`."""
    name, _, given = text.partition(":")
    kind = _kind(name)
    return kind(**labels.texts(given, kind))
