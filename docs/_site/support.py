"""Which methods take which tasks: on the tiny problems of the suite, and asked of each method."""

from __future__ import annotations

from functools import cache
from typing import Any

from _site.files import ROOT
from milp_trees.common.errors import MilpTreesError
from milp_trees.lists.antecedents import Antecedents
from milp_trees.lists.space import RuleLists
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.testing.taken import FILE, suites, takers_by_problem
from milp_trees.testing.task_data import random_datasets


@cache
def methods() -> dict[str, Any]:
    """All methods by the names of their plug-ins; formulations come with the default solver."""
    found = {name: registry.method(name) for name in registry.classes("methods")}
    solver = registry.default_solver
    return found | {n: registry.method(f"{n}@{solver}") for n in registry.classes("formulations")}


@cache
def tasks() -> dict[str, tuple[Problem, ...]]:
    """Tiny problems with every task, as a tree and as a rule list where both are possible."""
    dataset = next(iter(random_datasets(1).values()))
    found: dict[str, tuple[Problem, ...]] = {}
    classes: dict[str, Any] = registry.classes("tasks")
    for name, cls in classes.items():
        spaces = (Trees(2), RuleLists(Antecedents(negations=True), max_length=2))
        found[name] = tuple(
            problem for space in spaces if (problem := _stated(dataset, cls, space)) is not None
        )
    return found


def _stated(dataset: Any, cls: Any, space: Any) -> Problem | None:
    """The problem, or None where the task wants something else of data or space."""
    try:
        return Problem(dataset, cls(), space)
    except MilpTreesError:
        return None


@cache
def takers(task: str) -> tuple[str, ...]:
    """Names of the methods that take a task, or some problems with it."""
    suite = _in_the_suite().get(task, set())
    return tuple(
        name
        for name, m in methods().items()
        if name in suite or any(_takes(m, p) for p in tasks()[task])
    )


@cache
def _of_the_suite() -> tuple[tuple[Problem, frozenset[str]], ...]:
    """The problems of the suite with the methods that take them, by the golden file."""
    golden = takers_by_problem((ROOT / "tests" / "golden" / FILE).read_text(encoding="utf-8"))
    return tuple(
        (problem, frozenset(golden.get((kind, name), ())))
        for kind, problems in suites().items()
        for name, problem in problems().items()
    )


@cache
def _in_the_suite() -> dict[str, set[str]]:
    """Task → methods that take a problem of the suite with it."""
    found: dict[str, set[str]] = {}
    for problem, names in _of_the_suite():
        found.setdefault(problem.task.name, set()).update(names)
    return found


@cache
def taking_constraint() -> dict[str, set[str]]:
    """Class of a constraint → methods that take a problem of the suite with it."""
    found: dict[str, set[str]] = {}
    for problem, names in _of_the_suite():
        for constraint in getattr(problem.task, "constraints", ()):
            found.setdefault(type(constraint).__name__, set()).update(names)
    return found


@cache
def taken_by(method: str) -> tuple[str, ...]:
    """Names of the tasks that a method takes."""
    return tuple(task for task in tasks() if method in takers(task))


def _takes(method: Any, problem: Problem) -> bool:
    try:
        return method.unsupported(problem) is None
    except MilpTreesError:
        return False
