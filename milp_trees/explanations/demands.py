"""The user's constraints of a problem, one by one, each of which can be loosened or left out.

A *demand* is a side constraint with one limit, or a parameter of the space that excludes models
(`Space.limits`). A constraint with two limits, such as a capacity with `at_least` and `at_most`, is
two demands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from milp_trees.common.exact import integers
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best
from milp_trees.tasks.constraint_base import in_words

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.tasks.constraint_base import Constraint


@dataclass(frozen=True, eq=False)
class Demand:
    """One of the user's constraints.

    Parameters
    ----------
    name : str
        Of the side constraint, or of the parameter of the space.
    limit : str or None
        The parameter whose number can be loosened; None if it can only be left out.
    level : number or None
        The number as it was given.
    larger : bool
        Whether a larger number allows more models.
    rule : Constraint or None
        The side constraint with this limit alone; None for a parameter of the space.
    """

    name: str
    limit: str | None
    level: Any
    larger: bool = True
    rule: Constraint | None = None

    @property
    def words(self) -> str:
        """The constraint with all its parameters."""
        return self.at(self.level)

    def at(self, level: Any) -> str:
        """The constraint in words, with another number."""
        if self.rule is None:
            if self.limit is None:
                return f"{self.name} {self.level}"
            return f"{self.name} {in_words(level)}"
        given = {k: v for k, v in self.rule.spec().items() if k != "name"}
        if self.limit is not None:
            given[self.limit] = level
        inside = ", ".join(f"{k} {in_words(v)}" for k, v in given.items())
        return f"{self.name} ({inside})" if inside else self.name

    @property
    def parameter(self) -> str:
        """The parameter with the number, and whose it is."""
        if self.rule is None or self.limit is None:
            return self.name
        action = getattr(self.rule, "action", None)
        return f"{self.limit} of {self.name}" + (f" of {action}" if action is not None else "")

    def allows(self, level: Any, needed: Any) -> bool:
        """Whether a number allows a model that needs another one."""
        return bool(needed <= level if self.larger else needed >= level)

    def number(self, level: Fraction) -> Any:
        """A number in the form that the parameter has."""
        return int(level) if self.whole else level

    @property
    def whole(self) -> bool:
        """Whether the parameter is a whole number."""
        return not isinstance(self.level, Fraction)


class Demands:
    """The demands of a problem, and the problems that keep some of them.

    Parameters
    ----------
    problem : Problem
        Its question is ignored.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = replace(problem, question=Best())
        self.all = (*_of_space(problem), *_of_task(problem))

    def __len__(self) -> int:
        return len(self.all)

    def keeping(
        self, kept: Collection[int], levels: Mapping[int, Any] | None = None, task: Any = None
    ) -> Problem:
        """The problem with some of its demands, and without the others.

        Parameters
        ----------
        kept : collection of int
            Positions of the demands.
        levels : mapping, optional
            Other numbers for some of them.
        task : Task, optional
            The task to state in place of the problem's own, without constraints.
        """
        levels = levels or {}
        space: dict[str, Any] = {}
        rules = []
        for i, demand in enumerate(self.all):
            level = demand.number(levels[i]) if i in levels else demand.level
            if demand.rule is None:
                parameter = demand.limit or demand.name
                free = self.problem.space.limits[parameter]
                space[parameter] = (level if demand.limit else False) if i in kept else free
            elif i in kept:
                limit = demand.limit
                rules.append(
                    demand.rule if limit is None else replace(demand.rule, **{limit: level})
                )
        stated: Any = self.problem.task if task is None else task
        if hasattr(stated, "constraints"):
            stated = replace(stated, constraints=tuple(rules))
        return Problem(self.problem.dataset, stated, replace(self.problem.space, **space))  # type: ignore[type-var]

    def needed(self, tree: Any) -> Needed:
        """What a model needs of every demand."""
        return Needed(self, tree)

    @cached_property
    def closest(self) -> Fraction:
        """Half the smallest difference of two weights of leaves."""
        _, scale, _ = integers(
            self.problem.dataset.row_weights, rows=self.problem.dataset.total_rows
        )
        return scale / 2

    def tighter(self, i: int, level: Fraction) -> Fraction | None:
        """The loosest number that excludes every model which needs exactly this one.

        It excludes none that needs less. None if there is no such number.
        """
        demand = self.all[i]
        if demand.whole:
            return level - 1 if demand.larger else level + 1
        if demand.rule is not None:
            return demand.rule.below(level, self.problem.dataset)
        return level + self.closest


class Needed:
    """What a model needs of every demand.

    Parameters
    ----------
    demands : Demands
    tree : Tree, RuleList or Ensemble

    Attributes
    ----------
    kept : tuple of bool
        Whether the model keeps each demand as it is.
    levels : tuple of Fraction or None
        The tightest number that the model keeps; None where no number helps.
    """

    def __init__(self, demands: Demands, tree: Any) -> None:
        problem = demands.problem
        routes = problem.routes(tree)
        data, actions = problem.dataset, problem.task.actions(problem.dataset)
        kept: list[bool] = []
        levels: list[Fraction | None] = []
        for demand in demands.all:
            level = None
            if demand.rule is not None:
                kept.append(not demand.rule.broken(routes, data, actions))
                if demand.limit is not None:
                    level = demand.rule.needed_limit(routes, data, actions)
            elif demand.limit is None:
                kept.append(_keeps_off_groups(tree, data))
            else:
                level = problem.space.needed_limit(demand.limit, tree, data, routes)
                kept.append(level is not None and demand.allows(demand.level, level))
            levels.append(level)
        self.tree, self.demands = tree, demands
        self.kept, self.levels = tuple(kept), tuple(levels)

    def keeps(self, kept: Collection[int], levels: Mapping[int, Any] | None = None) -> bool:
        """Whether the model keeps some demands, with other numbers for some of them."""
        return all(self._keeps(i, (levels or {}).get(i)) for i in kept)

    def _keeps(self, i: int, level: Any) -> bool:
        if level is None:
            return self.kept[i]
        needed = self.levels[i]
        return needed is not None and self.demands.all[i].allows(level, needed)


def _of_space(problem: Problem) -> Iterator[Demand]:
    """The parameters of the space that exclude models."""
    space, data = problem.space, problem.dataset
    for name, free in space.limits.items():
        given = getattr(space, name)
        if free is True:
            if data.group_columns and not given:
                yield Demand(name, None, "off")
        elif given is not None and given != free:
            yield Demand(name, name, given, larger=free is None)


def _of_task(problem: Problem) -> Iterator[Demand]:
    """The side constraints, each with one limit."""
    for constraint in getattr(problem.task, "constraints", ()):
        for rule in constraint.parts():
            limit = next((n for n in rule.limits if getattr(rule, n) is not None), None)
            level = None if limit is None else getattr(rule, limit)
            larger = limit is None or rule.limits[limit]
            yield Demand(rule.name, limit, level, larger, rule)


def _keeps_off_groups(tree: Any, data: Dataset) -> bool:
    """Whether no split of a model is on the column of the group."""
    return not {c for test in tree.splits for c in test.columns} & set(data.group_columns)
