"""From a table of methods in a SPEC to labels with solver options, for one problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.registering import plugins
from milp_trees.methods.method import Method
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import availability_of
from milp_trees.solving.attempt import named_method
from milp_trees.studies.planning.lines import Path

#: Stands for every formulation or solver, and for the solver that comes with the package.
ALL, AUTO = "all", "auto"


@dataclass(frozen=True)
class Chosen:
    """A method of the SPEC with options of its solver.

    Parameters
    ----------
    label : str
        Its full label.
    options : mapping
        Options of the solver.
    path : Path
        Where it is named in the SPEC.
    """

    label: str
    options: Mapping[str, Any]
    path: Path

    @cached_property
    def method(self) -> Method:
        """The method."""
        return named_method(self.label, self.options or None)

    @cached_property
    def taker(self) -> Any:
        """What declares which problems are taken: the formulation, or the method itself."""
        return getattr(self.method, "formulation", self.method)

    @cached_property
    def takes_start(self) -> bool:
        """Whether a run can begin with a predictor: formulations do, engines do not."""
        return not registry.is_engine(self.label)


@dataclass
class MethodTable:
    """The methods that one table of the SPEC states.

    Parameters
    ----------
    table : Methods
        The checked table.
    path : Path
        Where it stands.
    """

    table: Any
    path: Path
    _made: dict[tuple[str, str], Chosen] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """An upper bound on the number of methods, without making any."""
        table = self.table
        models = len(plugins.classes("formulations")) if ALL in table.formulations else 0
        solvers = len(plugins.classes("solvers")) if ALL in table.solvers else 0
        per_label = max(models, len(table.formulations)) * max(solvers, len(table.solvers))
        return (per_label + len(table.labels)) * len(table.options)

    def may_be_named(self, patterns: list[str] | None) -> bool:
        """Whether a table of problems can mean methods of this one, as far as names say it."""
        if patterns is None:
            return True
        models = bool(self.table.formulations)
        return any(
            fnmatchcase(self.table.name or "", pattern)
            or (models and any(sign in pattern for sign in "@*?["))
            # Options and the solver may be written in another way than in the full label.
            or any(fnmatchcase(_first(label), _first(pattern)) for label in self.table.labels)
            for pattern in patterns
        )

    def check(self, source: Any) -> None:
        """Refuse unknown names, and a table that names no method."""
        if not self.table.labels and not self.table.formulations:
            raise source.error(
                self.path,
                "This table names no method; give labels, or formulations with solvers.",
            )
        for key in ("formulations", "solvers", "labels"):
            for i, name in enumerate(getattr(self.table, key)):
                with source.at(*self.path, key, i):
                    self._check_name(key, name)

    def _check_name(self, key: str, name: str) -> None:
        if key == "labels":
            self._chosen(name, "labels", 0)
        elif name not in ((ALL,) if key == "formulations" else (ALL, AUTO)):
            if key == "solvers":
                registry.solver(name)
            else:
                registry.spelled("formulations", name)

    def of(self, fitting: list[str]) -> Iterator[Chosen]:
        """The methods of the table for a problem."""
        for i, label in enumerate(self.table.labels):
            for number in range(len(self.table.options)):
                yield self._chosen(label, "labels", number, i)
        names = [
            one for name in self.table.formulations for one in (fitting if name == ALL else [name])
        ]
        for name in dict.fromkeys(names):
            for solver in self._solvers:
                for number in range(len(self.table.options)):
                    yield self._chosen(f"{name}@{solver}", "formulations", number)

    @cached_property
    def _solvers(self) -> list[str]:
        """The solvers: `all` are those that are found on this machine."""
        found: list[str] = []
        for name in self.table.solvers:
            if name == ALL:
                classes: dict[str, Any] = registry.classes("solvers")
                found += [n for n, cls in classes.items() if availability_of(cls()).found]
            else:
                found.append(registry.default_solver if name == AUTO else name)
        return list(dict.fromkeys(found))

    def _chosen(self, label: str, key: str, number: int, place: int | None = None) -> Chosen:
        options = self.table.options[number]
        known = (label, str(number))
        if known not in self._made:
            method = registry.method(label)
            if options and not hasattr(method, "options"):
                raise DataError(
                    f"{label} has no solver, so it takes no options; state it in another table of methods, with its own options in its label (NAME:OPTION=VALUE)."
                )
            path = (*self.path, key) if place is None else (*self.path, key, place)
            self._made[known] = Chosen(method.label, options, path)
        return self._made[known]

    def named(self, patterns: list[str], chosen: Chosen) -> bool:
        """Whether the methods that a table of problems names include one of this table."""
        names = [self.table.name or "", chosen.label]
        return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _first(label: str) -> str:
    """The name at the beginning of a label, without options and solver."""
    return label.partition(":")[0].partition("@")[0]
