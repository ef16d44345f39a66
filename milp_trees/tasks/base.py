"""`Task`: what "best" means, defined in one place.

A task scores predictors, and offers views of itself to methods; no code depends on its class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from milp_trees.common.errors import DataError, NoView

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

V = TypeVar("V")


@dataclass(frozen=True)
class Value:
    """A number with its unit and its sense.

    Parameters
    ----------
    number : float
        The number.
    exact : Fraction or None
        The number as a rational, if it is exact.
    unit : str
        `errors`, `cost`, `rate`, `reward`, `balanced accuracy`, ….
    sense : {"min", "max"}
        Whether smaller or larger is better.
    """

    number: float
    exact: Fraction | None
    unit: str
    sense: str

    def better_than(self, other: Value) -> bool:
        a, b = (
            (self.exact, other.exact)
            if self.exact is not None and other.exact is not None
            else (self.number, other.number)
        )
        return bool(a < b) if self.sense == "min" else bool(a > b)

    def __str__(self) -> str:
        message = "(objective)" if is_objective(self.unit) else self.unit
        return f"{self.number:.10g} {message}"


def is_objective(unit: str) -> bool:
    """Whether a unit is that of a loss with penalties, which nothing else is counted in."""
    return unit in ("rate", "loss") or unit.startswith("1 - ")


def heading(unit: str) -> str:
    """The unit as the heading of a column of values, or of an axis."""
    return "objective" if is_objective(unit) else unit


class Task(ABC):
    """What is optimised.

    A task defines `value` (the only scorer) and, in the class attribute `view_makers`, the methods
    that make its views: `{CostMatrix: "cost_matrix"}` means that `self.cost_matrix(dataset, space)`
    returns a CostMatrix. The first view is also the `Scale` on which values of the task are
    compared.
    """

    registry_group: ClassVar[str] = "tasks"

    name: ClassVar[str]
    #: What the task optimises, in a few words, for lists of tasks.
    title: ClassVar[str] = ""
    #: Whether actions are predicted classes, so that classifiers accept the task by its name.
    of_classes: ClassVar[bool] = False
    #: Whether a leaf predicts a number (or several), which is no label of a class.
    predicts_numbers: ClassVar[bool] = False
    #: Whether row weights of the dataset count; otherwise `weighted_by` may name the same task with
    #: weights.
    weighs_rows: ClassVar[bool] = False
    weighted_by: ClassVar[str | None] = None
    #: Whether the task may be stated on rows that stand for several equal rows (`Dataset.counts`).
    takes_counts: ClassVar[bool] = False
    #: The command for such problems, if it is not `solve`.
    command: ClassVar[str | None] = None
    #: Parameters that the constructor does not accept as text → function that reads the text.
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {}
    view_makers: ClassVar[dict[type, str]] = {}
    #: Whether `extra_scores` returns something.
    has_extra_scores: ClassVar[bool] = False
    #: For the conformance checks: the value as a plain loop that uses none of the task's code, a
    #: static method (spec, rows, seen) → float (see `milp_trees.testing.check_task`), and options
    #: with which the task is tried beside none at all.
    definition: ClassVar[Callable[[Any, Any, Any], float] | None] = None
    example_options: ClassVar[Sequence[Mapping[str, Any]]] = ()

    @property
    def about_features(self) -> bool:
        """Whether prices or constraints make it matter which of several equal features is used."""
        return bool(getattr(self, "feature_costs", None)) or any(
            getattr(rule, "about_features", False) for rule in getattr(self, "constraints", ())
        )

    def space_for(self, space: Space) -> Space:
        """The space of a problem of this task, where a space is given."""
        return space.for_features() if self.about_features else space

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of the value."""

    @property
    @abstractmethod
    def sense(self) -> str:
        """`"min"` or `"max"`."""

    @abstractmethod
    def value(self, routes: Routes, dataset: Dataset) -> Value:
        """The value of a predictor, computed from its routes of the rows."""

    @abstractmethod
    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        """A sentence for each side constraint of the task that a predictor violates."""

    def coordinates(self, routes: Routes, dataset: Dataset) -> tuple[Value, ...]:
        """The coordinates of a predictor on the task's own Pareto front, computed from its routes.

        Each is a number with its name as the unit.

        Raises
        ------
        NoView
            The task has no front of its own; the sentence says what to ask instead.
        """
        raise NoView(self.without_front)

    @property
    def without_front(self) -> str:
        """The sentence that the task has no Pareto front of its own; empty if it has one."""
        if type(self).coordinates is not Task.coordinates:
            return ""
        return f"The task {self.name} has one value and no Pareto front of its own; give the question front a side constraint to trade it against (against=, --against)."

    def dominates(self, a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
        """Whether coordinates `a` make a predictor with coordinates `b` superfluous on a front.

        By default they do if they are at least as good in every coordinate and better in one.
        """
        return any(x.better_than(y) for x, y in zip(a, b, strict=True)) and not any(
            y.better_than(x) for x, y in zip(a, b, strict=True)
        )

    def costs_alone(self, dataset: Dataset) -> Any:
        """What every action costs if all rows get it, as an array of floats; None if unknown.

        It costs little time, and serves to look at the cheapest actions first.
        """
        return None

    def extra_scores(self, routes: Any, dataset: Dataset) -> dict[str, float]:
        """Numbers that are reported beside the value but not optimised (`Result.scores`)."""
        return {}

    def by_other_means(self) -> Task:
        """The same task where others than before compute what it takes from libraries.

        `verify` solves this one. By default it is the task itself.
        """
        return self

    def check_again(self, routes: Any, dataset: Dataset, seconds: float) -> list[str]:
        """Compute again, by other libraries, what the value of a predictor takes from libraries.

        Parameters
        ----------
        routes : Routes
            Of the predictor.
        dataset : Dataset
        seconds : float
            After this time the rest is left out, and a sentence says so.

        Returns
        -------
        list of str
            A sentence per check.

        Raises
        ------
        VerificationError
            A value differs.
        """
        return []

    @abstractmethod
    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        """Names of the actions a leaf can choose."""

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        """The reason why a predictor with these actions does not fit the data, or None."""
        own = self.actions(dataset)
        if list(map(str, actions)) == list(map(str, own)):
            return None
        return f"its actions are {', '.join(map(str, actions))}; the problem's actions are {', '.join(map(str, own))}."

    def refuse_others(self, actions: tuple[Any, ...], dataset: Dataset) -> None:
        """Raise DataError if a predictor has other actions than the data, or another order of them.

        A scorer counts actions by their numbers.
        """
        if why := actions and self.unknown_actions(actions, dataset):
            raise DataError(f"The model does not fit the data: {why}")

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """A JSON description that `milp_trees.tasks.from_spec` turns back into the task."""

    def without_rows(self) -> tuple[Task, tuple[str, ...]]:
        """The task without its data for single rows, and the names of what was removed."""
        return self, ()

    def for_other_rows(self, dataset: Dataset) -> Task:
        """The task as it values models that were found on a dataset on other rows.

        What it estimates from the rows of the dataset, and models refer to, is kept. By default
        that is nothing.
        """
        return self

    def reordered(self, rows: Any) -> Task:
        """The task for the dataset with its rows in another order (indices of all rows)."""
        return self

    def offers(self, kind: type) -> bool:
        """Whether the task has views of the given kind (for some data it may still not exist)."""
        return kind in self.view_makers

    def view(self, kind: type[V], dataset: Dataset, space: Space) -> V:
        """The view of the given kind.

        Parameters
        ----------
        kind : type
            Class of the view, such as `CostMatrix`.
        dataset : Dataset
            The rows.
        space : Space
            The allowed predictors, which determine the candidate features.

        Returns
        -------
        object of the class `kind`

        Raises
        ------
        NoView
            The task has no such view; the message lists its views.
        """
        maker = self.view_makers.get(kind)
        if maker is None:
            offered = ", ".join(k.__name__ for k in self.view_makers) or "none"
            raise NoView(
                f"The task {self.name} has no {kind.__name__} view (it offers: {offered})."
            )
        make: Callable[[Dataset, Space], V] = getattr(self, maker)
        return make(dataset, space)
