"""`SeparableTask`: a task that is stated by its six parts alone, in one file."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.errors import NoView
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.penalised import plain_spec
from milp_trees.tasks.states_view import Integers, States

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes


class SeparableTask(Task):
    """Base class of tasks that offer the view `States` and nothing else.

    A subclass is a dataclass with `name`, `title`, `unit`, `sense`, and the method `states`. The
    value of a tree is computed from the six parts in plain Python, by their definition. A task
    whose value can be said without them has its own `value`, which then judges the parts.
    """

    view_makers: ClassVar[dict[type, str]] = {States: "states"}

    @abstractmethod
    def states(self, dataset: Dataset, space: Space | None) -> States:
        """The six parts.

        Parameters
        ----------
        dataset : Dataset
        space : Space or None
            None: all features of the dataset are candidates.
        """

    def tuple_of(self, routes: Routes, dataset: Dataset) -> Integers | None:
        """The value of a tree as its six parts give it; None if a part violates the constraint."""
        return self.states(dataset, None).evaluate(routes.root)

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        view = self.states(dataset, None)
        found = view.evaluate(routes.root)
        if found is None:  # `violations` says so; the value without the constraint is still a value
            from dataclasses import replace

            found = replace(view, feasible=None).evaluate(routes.root)
        assert found is not None
        number = view.to_value(view.units_of(found))
        return Value(float(number), number, self.unit, self.sense)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        if self.tuple_of(routes, dataset) is None:
            return [f"A part of the tree violates the constraint of the task {self.name}."]
        return []

    def coordinates(self, routes: Routes, dataset: Dataset) -> tuple[Value, ...]:
        view = self.states(dataset, None)
        found = view.evaluate(routes.root)
        if found is None:
            raise NoView(
                f"The tree violates the constraint of the task {self.name}, so it has no place on a front."
            )
        natural = [
            offset + scale * n for n, (offset, scale) in zip(found, view.affine, strict=True)
        ]
        return tuple(
            Value(float(n), n, name, "min" if scale > 0 else "max")
            for name, n, (_, scale) in zip(view.names, natural, view.affine, strict=True)
        )

    def spec(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name}
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if value != f.default and value is not None:
                out[f.name] = plain_spec(value)
        return out
