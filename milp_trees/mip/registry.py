"""The registry: plug-ins by their full names, such as `flow-oct:merge_rows=off@highs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import UnknownName
from milp_trees.common.registering import GROUPS, labels, plugins
from milp_trees.common.registering.labels import FORMULATIONS_FROM

if TYPE_CHECKING:
    from milp_trees.methods.method import Method
    from milp_trees.mip.formulation import Formulation
    from milp_trees.mip.solver import Solver
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.base import Task


class Registry:
    """Makes plug-ins from their names; `milp_trees.common.registering.plugins` has the classes."""

    @property
    def broken(self) -> dict[str, str]:
        """Plug-ins that could not be imported: the entry point or module, and the reason."""
        return plugins.broken

    def classes(self, group: str) -> dict[str, type]:
        """All classes of a group (formulations, solvers, methods, tasks) by name."""
        return plugins.classes(group)

    def find(self, group: str, name: str) -> type | None:
        """The class of that name in a group, or None."""
        return plugins.find(group, name)

    def origin(self, cls: type) -> dict[str, str]:
        """Name and version of the distribution that a third party's plug-in came with."""
        return plugins.origin(cls)

    def task(self, name: str) -> type[Task]:
        return plugins.get("tasks", name)

    def task_from_label(self, label: str) -> tuple[type[Task], dict[str, Any]]:
        """The class and the parameters of a task by its label, such as `f-beta:beta=2`.

        Numbers stay texts, because tasks read them exactly.
        """
        name, _, given = label.partition(":")
        kind: Any = plugins.get("tasks", name)
        return kind, labels.parameters(given, kind)

    def formulation(self, name: str, **options: Any) -> Formulation:
        """The formulation of that name; `options` are its fields (`merge_rows=False`, …)."""
        formulation: Formulation = self._configured("formulations", name, options)
        return formulation

    def _configured(self, group: str, name: str, options: dict[str, Any]) -> Any:
        """A plug-in with its options, the parameters of its constructor."""
        cls: Any = plugins.get(group, name)
        labels.check_names(options, cls)
        for option, default in labels.declared(cls).items():
            if (
                option in options
                and default is not None
                and type(options[option]) is not type(default)
            ):
                raise labels.wrong_type(f"{name}:{option}", options[option], default)
        return labels.checked(cls(**options))

    def spelled(self, group: str, label: str) -> Any:
        """The plug-in that `name:option=value,…` describes."""
        name, _, given = label.partition(":")
        return self._configured(group, name, labels.options(given, plugins.get(group, name)))

    def formulations_for(self, asked: Any) -> list[str]:
        """Names of the formulations for a space or a problem.

        For a space: those that search such a space. For a Problem: of these, the ones that also
        model a view which the problem's task offers.
        """
        from milp_trees.problems.problem import Problem
        from milp_trees.problems.support import offers_what

        classes: dict[str, Any] = plugins.classes("formulations")
        if not isinstance(asked, Problem):
            return [name for name, cls in classes.items() if isinstance(asked, cls.space)]
        return [
            name
            for name, cls in classes.items()
            if isinstance(asked.space, cls.space)
            and (offers_what(cls, asked.task) or asked.by_steps(cls))
        ]

    def ranked(
        self, rank: str, problem: Problem | None = None, models: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Methods that declare a rank, the smallest first, with their classes.

        Formulations have ranks of at least `FORMULATIONS_FROM` and come with the default solver.
        They are loaded only when the engines before them are used up, because Pyomo takes a second.
        """
        engines = _having("methods", rank)
        first = [entry for entry in engines if entry[0] < FORMULATIONS_FROM]
        yield from _classes("methods", first, problem)
        rest = [("methods", *entry) for entry in engines if entry[0] >= FORMULATIONS_FROM]
        found = _having("formulations", rank) if models else []
        rest += [("formulations", *entry) for entry in found]
        solver = f"@{self.default_solver}" if found else ""
        for group, number, name in sorted(rest, key=lambda entry: entry[1:]):
            for taker, cls in _classes(group, [(number, name)], problem):
                yield taker + (solver if group == "formulations" else ""), cls

    @property
    def default_solver(self) -> str:
        """The solver that formulations get when no solver is named."""
        declared = plugins.values("solvers", "default_rank")
        ranks = {name: rank for name, rank in declared.items() if rank is not None}
        return min(ranks or declared, key=lambda name: (ranks.get(name, 0), name))

    def solver(self, name: str) -> Solver:
        try:
            solver: Solver = plugins.get("solvers", name)()
        except UnknownName as error:
            raise UnknownName(f"{error}{_reached(name)}") from None
        return solver

    def method(self, name: str) -> Method:
        """A method by its full name.

        Examples are `dp`, `dp:order=best-first`, `cart`, `flow-oct@highs` and
        `flow-oct:merge_rows=off@highs`.
        """
        if not isinstance(name, str):
            raise UnknownName(
                f"A method is named by a text such as 'dp' or 'flow-oct@highs'; got {name!r}."
            )
        if self.is_engine(name):
            method: Method = self.spelled("methods", name)
            return method
        base = name.partition("@")[0].partition(":")[0]
        if base != base.lower():
            return self.method(base.lower() + name[len(base) :])
        if "@" in name and self.is_engine(base):
            raise UnknownName(
                f"{base} is a search of its own and needs no solver; write {name.partition('@')[0]}."
            )
        if "@" not in name:
            if plugins.knows("formulations", name.partition(":")[0]):
                raise UnknownName(
                    f"{name!r} is a formulation; name the solver too, for example {name}@{self.default_solver}."
                )
            plugins.get("methods", name)
        from milp_trees.mip.method import FormulationMethod

        formulation, _, solver = name.rpartition("@")
        return FormulationMethod(self.spelled("formulations", formulation), self.solver(solver))

    def is_engine(self, label: str) -> bool:
        """Whether a label names a method that needs no solver.

        A formulation is named together with its solver, as in `flow-oct@highs`.
        """
        return plugins.knows("methods", label.partition(":")[0])

    def methods(self, formulations: Iterable[str], solvers: Iterable[str]) -> list[str]:
        """Names of all combinations of formulations and solvers."""
        return [f"{f}@{s}" for f in formulations for s in solvers]

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(plugins.classes(g))} {g}" for g in GROUPS)
        return f"<registry: {counts}>"


def _reached(name: str) -> str:
    """How a solver that is no plug-in is reached by one that is; empty if none says so."""
    classes: dict[str, Any] = plugins.classes("solvers")
    message = (cls.reaches(name) for cls in classes.values())
    return next((f" {sentence}" for sentence in message if sentence), "")


def _having(group: str, rank: str) -> list[tuple[int, str]]:
    """Plug-ins that declare a rank: the rank and the name, the smallest rank first."""
    ranks = plugins.values(group, rank)
    return sorted((number, name) for name, number in ranks.items() if number is not None)


def _classes(
    group: str, entries: Iterable[tuple[int, str]], problem: Problem | None
) -> Iterator[tuple[str, Any]]:
    """Names and classes, which are imported one after the other as they are needed."""
    for _, name in entries:
        if problem is None or not cannot_take(group, name, problem):
            cls = plugins.find(group, name)
            if cls is not None:  # its module could be imported
                yield name, cls


def cannot_take(group: str, name: str, problem: Problem) -> bool:
    """Whether a plug-in that is not imported is known to take no such problem."""
    if plugins.excludes(group, name, "space", type(problem.space).__mro__):
        return True
    if problem.rule is not None or problem.is_ratio:  # in steps, other questions and views do too
        return False
    return plugins.lacks(group, name, "questions", problem.question.name) or plugins.excludes(
        group, name, "needs", problem.task.view_makers
    )


registry = Registry()
