"""`Task`: what "best" means, said once. It scores, and it offers views of itself; nobody asks for
its type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from milp_trees.errors import NoView

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Routes
    from milp_trees.spaces.trees import Space

V = TypeVar("V")


@dataclass(frozen=True)
class Value:
    """A number that knows its unit and its sense.

    Parameters
    ----------
    number : float
    exact : Fraction or None
        The same as a rational, where it is exact.
    unit : str
        `errors`, `cost`, `rate`, `reward`, `balanced accuracy`, ….
    sense : {"min", "max"}
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
        return f"{self.number:.10g} {self.unit}"


class Task(ABC):
    """What is optimised.

    A task defines `value` (the only scorer there is) and, in the class attribute `view_makers`,
    functions that produce its views: `{CostMatrix: "cost_matrix"}` says that
    `self.cost_matrix(dataset, space)` returns a CostMatrix. The first of them is also the `Scale`
    on which its values are compared.
    """

    registry_group: ClassVar[str] = "tasks"

    name: ClassVar[str]
    #: What it optimises, in a few words, for lists of tasks.
    title: ClassVar[str] = ""
    #: Whether it is about predicted classes, so that classifiers take it by name.
    of_classes: ClassVar[bool] = False
    #: Whether it weighs rows by the dataset's weights; else `weighted_by` may name the task that
    #: does the same with weights.
    weighs_rows: ClassVar[bool] = False
    weighted_by: ClassVar[str | None] = None
    #: The command that states such problems, where that is not `solve`.
    command: ClassVar[str | None] = None
    #: For parameters whose text is not what the constructor takes: who reads it.
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {}
    view_makers: ClassVar[dict[type, str]] = {}
    #: Whether `beside` has anything to say.
    has_extra_scores: ClassVar[bool] = False

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
        """The value of a predictor, from where it sends the rows."""

    @abstractmethod
    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        """A sentence per side constraint of the task that a predictor breaks; empty if it is
        feasible.
        """

    def extra_scores(self, routes: Any, dataset: Dataset) -> dict[str, float]:
        """Numbers that are reported beside the value but not optimised; goes into `Result.scores`."""
        return {}

    @abstractmethod
    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        """Names of the actions a leaf can choose."""

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        """Why a predictor with these actions is not one for the task on the data, or None."""
        own = self.actions(dataset)
        if list(map(str, actions)) == list(map(str, own)):
            return None
        return f"its actions are {', '.join(map(str, actions))}; the problem's actions are {', '.join(map(str, own))}."

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """A JSON description that `milp_trees.tasks.from_spec` turns back into the task."""

    def without_rows(self) -> tuple[Task, tuple[str, ...]]:
        """The task without what it was given for single rows, and the names of what that was."""
        return self, ()

    def offers(self, kind: type) -> bool:
        """Whether the task has views of the given kind (making one may still fail on some data)."""
        return kind in self.view_makers

    def view(self, kind: type[V], dataset: Dataset, space: Space) -> V:
        """The view of the given kind.

        Raises
        ------
        NoView
            The task has none; the message says which it has.
        """
        maker = self.view_makers.get(kind)
        if maker is None:
            offered = ", ".join(k.__name__ for k in self.view_makers) or "none"
            raise NoView(
                f"The task {self.name} has no {kind.__name__} view (it offers: {offered})."
            )
        make: Callable[[Dataset, Space], V] = getattr(self, maker)
        return make(dataset, space)
