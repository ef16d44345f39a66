"""Constraints on the set of features that a whole tree tests.

A feature is named by its column, which stands for all tests of that column (`age`), or by one test
(`age <= 37.5`). A test counts as used if some split of the tree asks it, whatever its leaves say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.errors import DataError
from milp_trees.tasks.constraint_base import TreeConstraint, count
from milp_trees.tasks.structure import FeatureUse, Structure

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes


@dataclass(frozen=True)
class FeatureBudget(TreeConstraint):
    """The whole tree tests at most so many different columns.

    Parameters
    ----------
    at_most : int
        Number of columns; several tests of one column count once.

    Raises
    ------
    DataError
        It is not a whole number of at least 0.
    """

    name: ClassVar[str] = "feature-budget"
    takes_counts: ClassVar[bool] = True
    about_features: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, bool]] = {"at_most": True}

    at_most: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most", count(self.at_most, "at_most of a feature budget"))

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The number of columns that are tested."""
        return Fraction(len({c for t in routes.splits for c in t.columns}))

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """One column less."""
        return amount - 1 if amount > 0 else None

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        used = sorted({c for t in routes.splits for c in t.columns})
        if len(used) <= self.at_most:
            return []
        return [
            f"{self.name}: the tree tests {len(used)} columns ({', '.join(used)}); at most {self.at_most} are allowed."
        ]

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        columns = list(dict.fromkeys(c for t in features for c in t.columns))
        groups = tuple(tuple(f for f, t in enumerate(features) if c in t.columns) for c in columns)
        return [FeatureUse(self.name, groups, (1,) * len(groups), None, self.at_most)]


@dataclass(frozen=True)
class NotTogether(TreeConstraint):
    """No tree tests both of two features.

    Parameters
    ----------
    first, second : str
        Columns or tests.
    """

    name: ClassVar[str] = "not-together"
    takes_counts: ClassVar[bool] = True
    about_features: ClassVar[bool] = True

    first: str = ""
    second: str = ""

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        if all(_tests(f, routes.splits, dataset, self.name) for f in (self.first, self.second)):
            return [f"{self.name}: the tree tests both {self.first} and {self.second}."]
        return []

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        groups = _apart(self.name, self.first, self.second, dataset, features)
        return [FeatureUse(self.name, groups, (1, 1), None, 1)]


@dataclass(frozen=True)
class Requires(TreeConstraint):
    """A tree that tests one feature tests another one too.

    Parameters
    ----------
    needs : str
        Column or test that is required.
    feature : str, optional
        Column or test that requires it; None: every tree must test `needs`.
    """

    name: ClassVar[str] = "requires"
    takes_counts: ClassVar[bool] = True
    about_features: ClassVar[bool] = True

    needs: str = ""
    feature: str | None = None

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        requested = self.feature is None or _tests(self.feature, routes.splits, dataset, self.name)
        if not requested or _tests(self.needs, routes.splits, dataset, self.name):
            return []
        because = "" if self.feature is None else f", though it tests {self.feature}"
        return [f"{self.name}: the tree does not test {self.needs}{because}."]

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        if self.feature is None:
            needed = _named(self.needs, features, dataset, self.name)
            return [FeatureUse(self.name, (needed,), (1,), 1, None)]
        groups = _apart(self.name, self.needs, self.feature, dataset, features)
        return [FeatureUse(self.name, groups, (1, -1), 0, None)]


def _apart(
    rule: str, first: str, second: str, dataset: Dataset, features: tuple[BinaryFeature, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The features of two names, which must not be the same features of the data."""
    one, two = (_named(name, features, dataset, rule) for name in (first, second))
    if any({first, second} <= _names(t) for t in dataset.features) or first == second:
        raise DataError(
            f"The constraint {rule} names {first!r} and {second!r}, which are not two different features."
        )
    return one, two


def _named(
    name: str, features: tuple[BinaryFeature, ...], dataset: Dataset, rule: str
) -> tuple[int, ...]:
    """Numbers of the features with a name: all tests of a column, or one test."""
    if not any(name in _names(t) for t in (*dataset.features, *features)):
        known = ", ".join(list(dict.fromkeys(t.column for t in dataset.features))[:8])
        raise DataError(
            f"The constraint {rule} names {name!r}, which is neither a column nor a test of the data; columns are {known}."
        )
    return tuple(f for f, t in enumerate(features) if name in _names(t))


def _names(question: Any) -> set[str]:
    """What a feature is called by; an antecedent also by its columns and the features it asks."""
    requested = getattr(question, "features", ())
    return {question.name, *question.columns, *(t.name for t in requested)}


def _tests(name: str, splits: tuple[BinaryFeature, ...], dataset: Dataset, rule: str) -> bool:
    """Whether a tree with these splits tests a feature."""
    return bool(_named(name, splits, dataset, rule))
