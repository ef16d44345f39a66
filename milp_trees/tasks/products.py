"""New separable tasks from others: products of two tasks, and upper limits on their numbers.

They are those of appendix A.4 and A.5 of van der Linden, de Weerdt, Demirović (2023). The value of a
product is the values of both tasks one after the other; one is better than another if no task finds
it worse and one finds it better. If the first task is a sum of action costs, its six parts follow
from its cost matrix.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.common.exact import fraction
from milp_trees.models.space import Trees
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.penalised import plain_spec
from milp_trees.tasks.separable import SeparableTask
from milp_trees.tasks.states_view import States
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes


def combine(first: Task, second: Task) -> Product:
    """The product of two tasks with the same actions: the Pareto front of both.

    Parameters
    ----------
    first, second : Task
        Each offers the view `States`, or a `CostMatrix` without side constraints.

    Returns
    -------
    Product
        The question `front` gives its front; for the question `best` the value of `first` counts.
    """
    return Product(first, second)


def bounded(task: Task, *limits: Any) -> Bounded:
    """A task whose values must not be above limits, in any part of a tree.

    Parameters
    ----------
    task : Task
        It offers the view `States`, or a `CostMatrix` without side constraints. Its numbers must
        not fall when parts are combined, or parts would be refused that a tree may have.
    *limits : number or None
        Largest number allowed for each number of a value, in its unit; None is no limit.

    Returns
    -------
    Bounded
    """
    return Bounded(task, limits)


def states_of(task: Task, dataset: Dataset, space: Space | None) -> States:
    """The six parts of a task."""
    if isinstance(task, SeparableTask):
        return task.states(dataset, space)
    space = space or Trees(max_depth=None, split_on_group=True)  # every feature is a candidate
    if task.offers(States):
        return task.view(States, dataset, space)
    view = task.view(CostMatrix, dataset, space)
    if view.side or view.leaf_minima:
        raise NoView(
            f"The task {task.name} has side constraints, which are no sums of one part; leave them out."
        )
    return States(
        view.X,
        view.features,
        view.counts,
        view.costs,
        view.actions,
        names=(task.unit,),
        leaf=_leaf_of_costs,
        split=_price if view.split_costs.any() else None,
        tables=(np.array([view.leaf_cost]), view.split_costs),
        # A leaf of many rows with negative costs is negative, whatever a leaf costs.
        nonnegative=bool(min(view.leaf_cost, view.costs.min(initial=0)) >= 0)
        and bool((view.split_costs >= 0).all()),
        offset=view.offset,
        scale=view.scale,
        scales=((view.offset, view.scale),),
    )


def _leaf_of_costs(sums: Any, action: int, context: Any, tables: Any) -> Any:
    return (sums[1 + action] + tables[0][0],)


def _price(sums: Any, test: int, context: Any, tables: Any) -> Any:
    return (tables[1][test],)


@dataclass(frozen=True)
class _Derived(SeparableTask):
    """A task that is made from another one, whose value counts."""

    @property
    @abstractmethod
    def _counted(self) -> Task:
        """The task whose value and actions are those of this one."""

    @property
    def unit(self) -> str:
        return self._counted.unit

    @property
    def sense(self) -> str:
        return self._counted.sense

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return self._counted.actions(dataset)

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        return self._counted.value(routes, dataset)


@dataclass(frozen=True)
class Product(_Derived):
    """See `combine`."""

    name: ClassVar[str] = "product"
    title: ClassVar[str] = "Two tasks at once"

    first: Task
    second: Task

    @property
    def _counted(self) -> Task:
        return self.first

    def states(self, dataset: Dataset, space: Space | None) -> States:
        a, b = (states_of(task, dataset, space) for task in (self.first, self.second))
        if list(map(str, a.actions)) != list(map(str, b.actions)):
            raise DataError(
                f"The tasks {self.first.name} and {self.second.name} choose between different actions; a product needs the same."
            )
        parts = _parts_of_product(
            _functions(a),
            a.width,
            1 + a.stats.shape[1],
            len(a.start),
            len(a.tables),
            (*_functions(b), b.width),
        )
        same = set(a.names) & set(b.names)
        names = [f"{self.second.name}: {n}" if n in same else n for n in b.names]
        units, width = a.units, a.width
        return replace(
            a,
            stats=np.column_stack([a.stats, b.stats]),
            names=(*a.names, *names),
            **parts,
            start=(*a.start, *b.start),
            tables=(*a.tables, *b.tables),
            total=False,
            nonnegative=a.nonnegative and b.nonnegative,
            units=lambda v: v[0] if units is None else units(v[:width]),
            scales=(*a.affine, *b.affine),
        )

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        own = super().violations(routes, dataset)
        return own or [
            message
            for task in (self.first, self.second)
            for message in task.violations(routes, dataset)
        ]

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "first": self.first.spec(), "second": self.second.spec()}


@dataclass(frozen=True)
class Bounded(_Derived):
    """See `bounded`."""

    name: ClassVar[str] = "bounded"
    title: ClassVar[str] = "A task with limits on its numbers"

    task: Task
    limits: tuple[Any, ...] = ()

    @property
    def _counted(self) -> Task:
        return self.task

    def states(self, dataset: Dataset, space: Space | None) -> States:
        view = states_of(self.task, dataset, space)
        if len(self.limits) != view.width:
            raise DataError(
                f"The task {self.task.name} has {view.width} numbers in a value ({', '.join(view.names)}); give a limit or None for each, not {len(self.limits)}."
            )
        most = np.array(
            [_largest(m, *how) for m, how in zip(self.limits, view.affine, strict=True)],
            dtype=np.int64,
        )
        return replace(
            view,
            feasible=_within(view.feasible, view.width, len(view.tables)),
            tables=(*view.tables, most),
        )

    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "task": self.task.spec(),
            "limits": plain_spec(self.limits),
        }


def _largest(limit: Any, offset: Fraction, scale: Fraction) -> int:
    """The largest number of a value whose natural value is within a limit."""
    if limit is None:
        return 2**62
    if scale < 0:
        raise DataError("A number that is maximised cannot have an upper limit; give None for it.")
    most = floor((fraction(limit, "a limit") - offset) / scale)
    return max(-(2**62), min(most, 2**62))


def _functions(view: States) -> tuple[Any, ...]:
    return (view.leaf, view.split, view.transition, view.better, view.combine, view.feasible)


@lru_cache(maxsize=64)
def _within(allowed: Callable[..., bool] | None, width: int, tables_before: int) -> Any:
    """The constraint of a task and limits, which are the last table.

    Equal arguments give the same function, so it is compiled once.
    """

    def below(value: Any, sums: Any, context: Any, tables: Any) -> Any:
        fits = True  # compiled code has no all()
        for i in range(width):
            fits = fits and value[i] <= tables[tables_before][i]
        return fits

    if allowed is None:
        return below

    def both(value: Any, sums: Any, context: Any, tables: Any) -> Any:
        return below(value, sums, context, tables) and allowed(value, sums, context, tables)

    return both


@lru_cache(maxsize=64)
def _parts_of_product(
    first: tuple[Any, ...], V: int, S: int, C: int, T: int, second: tuple[Any, ...]
) -> dict[str, Any]:
    """The functions of a product; equal arguments give the same functions."""
    leaf1, split1, move1, better1, combine1, allows1 = (
        given or default for given, default in zip(first, _defaults(V), strict=True)
    )
    width2 = second[-1]
    leaf2, split2, move2, better2, combine2, allows2 = (
        given or default for given, default in zip(second[:-1], _defaults(width2), strict=True)
    )

    def leaf(sums: Any, action: int, context: Any, tables: Any) -> Any:
        a = leaf1(sums[:S], action, context[:C], tables[:T])
        return a + leaf2(sums[:1] + sums[S:], action, context[C:], tables[T:])

    def split(sums: Any, test: int, context: Any, tables: Any) -> Any:
        a = split1(sums[:S], test, context[:C], tables[:T])
        return a + split2(sums[:1] + sums[S:], test, context[C:], tables[T:])

    def transition(context: Any, test: int, side: int, tables: Any) -> Any:
        a = move1(context[:C], test, side, tables[:T])
        return a + move2(context[C:], test, side, tables[T:])

    def better(a: Any, b: Any) -> Any:
        first_better, second_better = better1(a[:V], b[:V]), better2(a[V:], b[V:])
        first_equal, second_equal = a[:V] == b[:V], a[V:] == b[V:]
        return (first_better and (second_better or second_equal)) or (first_equal and second_better)

    def added(a: Any, b: Any) -> Any:
        return combine1(a[:V], b[:V]) + combine2(a[V:], b[V:])

    def feasible(value: Any, sums: Any, context: Any, tables: Any) -> Any:
        return allows1(value[:V], sums[:S], context[:C], tables[:T]) and allows2(
            value[V:], sums[:1] + sums[S:], context[C:], tables[T:]
        )

    both = {
        "split": split,
        "transition": transition,
        "better": better,
        "combine": added,
        "feasible": feasible,
    }
    given = zip(both, first[1:], second[1:-1], strict=True)
    needed = {name for name, a, b in given if a is not None or b is not None}
    return {"leaf": leaf, **{name: both[name] if name in needed else None for name in both}}


def _defaults(width: int) -> tuple[Any, ...]:
    """What stands for parts that a task leaves out, in the order of `_functions`."""
    zeros = (0,) * width

    def split(sums: Any, test: int, context: Any, tables: Any) -> Any:
        return zeros

    def transition(context: Any, test: int, side: int, tables: Any) -> Any:
        return context

    def better(a: Any, b: Any) -> Any:
        for i in range(width):
            if a[i] > b[i]:
                return False
        return a != b

    added = _added(width)

    def feasible(value: Any, sums: Any, context: Any, tables: Any) -> Any:
        return True

    return None, split, transition, better, added, feasible


def _added(width: int) -> Any:
    """The sum of two values; compiled code needs tuples of a length that is written down."""
    if width == 1:
        return lambda a, b: (a[0] + b[0],)
    rest = _added(width - 1)
    last = width - 1
    return lambda a, b: rest(a[:last], b[:last]) + (a[last] + b[last],)  # noqa: RUF005 (numba)
