"""What all side constraints have in common, and the base of those on the tree itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.tasks.views import SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes
    from milp_trees.tasks.structure import Structure


@dataclass(frozen=True)
class Constraint(ABC):
    """A side constraint: linear integer rows over the chosen actions.

    A constraint on the tree itself is a `TreeConstraint`.
    """

    name: ClassVar[str]
    #: Whether it compares the levels of a protected attribute.
    compares_groups: ClassVar[bool] = False
    #: Whether it tells apart features that have the same values on all rows.
    about_features: ClassVar[bool] = False
    #: Whether it counts original rows where rows stand for several equal ones (`Dataset.counts`).
    takes_counts: ClassVar[bool] = False
    #: The parameters that are limits of a quantity, and whether a larger number allows more models.
    limits: ClassVar[Mapping[str, bool]] = {}

    @abstractmethod
    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        """The constraint as integer rows on the dataset's rows."""

    def amount(
        self, action: np.ndarray, dataset: Dataset, actions: tuple[Any, ...]
    ) -> tuple[str, Fraction]:
        """The quantity that the constraint limits: its name, and its exact size.

        Parameters
        ----------
        action : int array of shape (n,)
            Index of the chosen action of each row.
        dataset : Dataset
            The rows.
        actions : tuple
            Names of the actions.

        Returns
        -------
        name : str
        size : Fraction

        Raises
        ------
        DataError
            The constraint limits no single quantity.
        """
        raise DataError(
            f"The constraint {self.name} limits no single quantity that a value could be traded against; name one that does, such as statistical-parity."
        )

    def parts(self) -> tuple[Constraint, ...]:
        """Constraints with one limit each, which together say the same."""
        stated = [name for name in self.limits if getattr(self, name) is not None]
        if len(stated) < 2:
            return (self,)
        return tuple(
            replace(self, **{other: None for other in stated if other != name}) for name in stated
        )

    def needed_limit(
        self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]
    ) -> Fraction | None:
        """The tightest limit under which a model satisfies the constraint, which has one limit.

        Parameters
        ----------
        routes : Routes
            The model's routes of the rows.
        dataset : Dataset
            The rows.
        actions : tuple
            Names of the actions.

        Returns
        -------
        Fraction or None
            None if no limit helps, or if there is none.
        """
        return None

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """A limit that excludes an amount, and none that is tighter.

        Parameters
        ----------
        amount : Fraction
            The size that `amount` gave for some actions of the rows.
        dataset : Dataset
            The rows.

        Returns
        -------
        Fraction or None
            None if no amount is tighter, or if amounts may be as close as they like.
        """
        return None

    def up_to(self, amount: Fraction) -> Constraint:
        """The same constraint with another limit.

        Raises
        ------
        DataError
            The constraint limits no single quantity.
        """
        raise DataError(f"The constraint {self.name} limits no single quantity.")

    def widest(self, dataset: Dataset) -> Fraction:
        """A limit that excludes nothing."""
        return Fraction(dataset.total_rows)

    def violations(
        self, action: np.ndarray, dataset: Dataset, actions: tuple[Any, ...]
    ) -> list[str]:
        """A sentence for each integer row that is violated.

        Parameters
        ----------
        action : int array of shape (n,)
            Index of the chosen action of each row.
        dataset : Dataset
            The rows.
        actions : tuple
            Names of the actions.

        Returns
        -------
        list of str
        """
        out = []
        for row in self.rows(dataset, actions):
            total = int(row.coefs[np.arange(len(action)), action].sum())
            if not row.holds(total):
                out.append(f"{row.name}: {total} is outside [{row.lower}, {row.upper}].")
        return out

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        """A sentence for each way in which a tree violates the constraint.

        Parameters
        ----------
        routes : Routes
            The tree's routes of the rows.
        dataset : Dataset
            The rows.
        actions : tuple
            Names of the actions.

        Returns
        -------
        list of str
        """
        return self.violations(routes.action, dataset, actions)

    def stated(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> str:
        """The constraint with its limits, and how much of them a predictor uses, in words.

        Parameters
        ----------
        routes : Routes
            The predictor's routes of the rows.
        dataset : Dataset
            The rows.
        actions : tuple
            Names of the actions.

        Returns
        -------
        str
        """
        limits = {k: v for k, v in self.spec().items() if k != "name"}
        message = ", ".join(f"{k.replace('_', ' ')} {in_words(v)}" for k, v in limits.items())
        return f"{self.name}: {message}" if message else self.name

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        """What the constraint demands beside integer rows; nothing by default.

        Parameters
        ----------
        dataset : Dataset
            The rows.
        actions : tuple
            Names of the actions.
        features : tuple of BinaryFeature
            The candidate features of the view.

        Returns
        -------
        list of Structure
        """
        return []

    def spec(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            "name": self.name,
            **{
                k: str(v) if isinstance(v, Fraction) else v
                for k, v in values.items()
                if v is not None
            },
        }


class TreeConstraint(Constraint):
    """A constraint on the tree itself, which no row over the actions of single rows can express.

    `broken` is its definition, and `structure` states it for methods.
    """

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        return []

    def violations(
        self, action: np.ndarray, dataset: Dataset, actions: tuple[Any, ...]
    ) -> list[str]:
        """Not possible: actions of rows do not tell the tree.

        Raises
        ------
        DataError
            Always.
        """
        raise DataError(
            f"The constraint {self.name} is about the tree, not about the actions of rows; ask broken(tree.routes(dataset), …)."
        )

    @abstractmethod
    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]: ...

    @abstractmethod
    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]: ...


def as_constraints(given: Any) -> tuple[Constraint, ...]:
    """A sequence of constraints as a tuple; raises DataError for anything else."""
    if not isinstance(given, (list, tuple)) or not all(isinstance(c, Constraint) for c in given):
        raise DataError(
            f"constraints must be a sequence of constraints such as [StatisticalParity(0.01)]; got {given!r}."
        )
    return tuple(given)


def group_rates(happens: np.ndarray, rows: np.ndarray, dataset: Dataset) -> str:
    """The share of each group's rows for which something happens, with both numbers.

    Parameters
    ----------
    happens, rows : bool array of shape (n,)
        Whether it happens for a row, and whether the row counts.
    dataset : Dataset
        The rows.

    Returns
    -------
    str
    """
    groups, counts, message = dataset.require("groups", "A rate of groups"), dataset.row_counts, []
    for group in np.unique(groups).tolist():
        here = rows & (groups == group)
        n, hits = int(counts[here].sum()), int(counts[here & happens].sum())
        message.append(f"{group} {hits / n:.4g} ({hits} of {n})" if n else f"{group} no rows")
    return ", ".join(message)


def in_words(limit: Any) -> str:
    """A limit as it is usually written: a fraction with decimals where these are few."""
    if isinstance(limit, Mapping):
        return str(limit.get("name", limit))
    try:
        number = Fraction(str(limit))
    except (ValueError, ZeroDivisionError):
        return str(limit)
    return f"{float(number):.6g}" if Fraction(f"{float(number):.6g}") == number else str(limit)


def share(given: Any, name: str) -> Fraction:
    """A number between 0 and 1, as a rational; raises DataError for anything else."""
    number = fraction(given, name)
    if not 0 <= number <= 1:
        raise DataError(f"{name} must lie between 0 and 1 (a fraction, not percent); got {given}.")
    return number


def count(given: Any, name: str) -> int:
    """A whole number of at least 0, or its text; raises DataError for anything else."""
    if isinstance(given, str) and given.isdecimal():
        given = int(given)
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < 0:
        raise DataError(f"{name} must be a whole number of at least 0; got {given!r}.")
    return int(given)


def position(action: Any, actions: tuple[Any, ...]) -> int:
    """Index of an action by its name; raises DataError if there is none of that name."""
    for k, a in enumerate(actions):
        if a == action or str(a) == str(action):
            return k
    raise DataError(
        f"{action!r} is not an action of this task; its actions are {', '.join(map(str, actions))}."
    )
