"""The registry: where formulations, solvers, methods and tasks are found by name. Registered means listed, documented and tested.

A plug-in registers its class with `@register`. The package's own plug-ins are the files of `milp_trees.formulations`, `milp_trees.solvers`
and `milp_trees.engines`; third parties add entry points in the groups `milp_trees.formulations`, `milp_trees.solvers`, `milp_trees.methods`
and `milp_trees.tasks`, each naming a module to import.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from milp_trees.errors import UnknownName

if TYPE_CHECKING:
    from milp_trees.formulation import Formulation
    from milp_trees.method import Method
    from milp_trees.solver import Solver
    from milp_trees.tasks.base import Task

C = TypeVar("C", bound=type)

_GROUPS = ("formulations", "solvers", "methods", "tasks")


class Registry:
    """Plug-ins by kind and name. Modules are imported when their kind is first asked for."""

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, type]] = {g: {} for g in _GROUPS}
        self._loaded: set[str] = set()

    def add(self, group: str, cls: type) -> None:
        name = getattr(cls, "name", None)
        if not isinstance(name, str):
            raise TypeError(f"{cls.__name__} must have a class attribute `name`.")
        if cls.__module__.split(".")[0] in ("formulations", "solvers"):
            raise ImportError(f"Import {cls.__module__} as milp_trees.{cls.__module__}: by its folder's name every class would exist twice.")
        known = self._classes[group].get(name)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"Two plug-ins are called {name!r}: {known.__module__} and {cls.__module__}.")
        self._classes[group][name] = cls

    def classes(self, group: str) -> dict[str, type]:
        """All classes of a group by name, in alphabetical order."""
        self._load(group)
        return dict(sorted(self._classes[group].items()))

    def _load(self, group: str) -> None:
        if group in self._loaded:
            return
        self._loaded.add(group)
        home = {
            "formulations": "milp_trees.formulations",
            "solvers": "milp_trees.solvers",
            "methods": "milp_trees.engines",
            "tasks": "milp_trees.tasks",
        }[group]
        package = importlib.import_module(home)
        for info in pkgutil.iter_modules(package.__path__):
            if not info.name.startswith("_"):
                importlib.import_module(f"{home}.{info.name}")
        for entry in importlib.metadata.entry_points(group=f"milp_trees.{group}"):
            entry.load()

    def _get(self, group: str, name: str) -> type:
        classes = self.classes(group)
        if name not in classes:
            close = difflib.get_close_matches(name, classes, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise UnknownName(f"There is no {group[:-1]} called {name!r}.{hint} Known: {', '.join(classes)}.")
        return classes[name]

    # -- by kind ---------------------------------------------------------------------------------------------

    def task(self, name: str) -> type[Task]:
        return self._get("tasks", name)

    def formulation(self, name: str, **options: Any) -> Formulation:
        """The formulation of that name; `options` are its fields (`merge_rows=False`, …)."""
        formulation: Formulation = self._configured("formulations", name, options)
        return formulation

    def _configured(self, group: str, name: str, options: dict[str, Any]) -> Any:
        """A plug-in with its options, which are its fields."""
        cls: Any = self._get(group, name)
        declared = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
        known = [f.name for f in declared]
        unknown = [option for option in options if option not in known]
        if unknown:
            raise UnknownName(f"{name} has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}.")
        for f in declared:
            if f.name in options and type(options[f.name]) is not type(f.default):
                allowed = {bool: "on or off", int: "a whole number"}.get(type(f.default), "a word")
                raise UnknownName(f"{name}:{f.name} is {allowed}; got {options[f.name]!r}. Options are separated by commas.")
        return cls(**options)

    def formulations_for(self, asked: Any) -> list[str]:
        """Names of the formulations that search such a space; given a Problem, those that also model a view which its task offers."""
        from milp_trees.dinkelbach import by_steps
        from milp_trees.problem import Problem, offers_what

        classes: dict[str, Any] = self.classes("formulations")
        if not isinstance(asked, Problem):
            return [name for name, cls in classes.items() if isinstance(asked, cls.space)]
        return [
            name for name, cls in classes.items() if isinstance(asked.space, cls.space) and (offers_what(cls, asked.task) or by_steps(cls, asked))
        ]

    def solver(self, name: str) -> Solver:
        solver: Solver = self._get("solvers", name)()
        return solver

    def method(self, name: str) -> Method:
        """A method by its full name: `dp`, `dp:order=best-first`, `cart`, `flow-oct@highs`, `flow-oct:merge_rows=off@highs`."""
        if "@" not in name:
            engine, _, given = name.partition(":")
            if engine in self.classes("methods"):
                method: Method = self._configured("methods", engine, _options(given))
                return method
            if name.split(":")[0] in self.classes("formulations"):
                raise UnknownName(f"{name!r} is a formulation; name the solver too, for example {name}@highs.")
            self._get("methods", name)
        from milp_trees.formulation_method import FormulationMethod

        left, _, solver = name.partition("@")
        formulation, _, given = left.partition(":")
        return FormulationMethod(self.formulation(formulation, **_options(given)), self.solver(solver))

    def methods(self, formulations: Iterable[str], solvers: Iterable[str]) -> list[str]:
        """Names of all combinations of formulations and solvers."""
        return [f"{f}@{s}" for f in formulations for s in solvers]


def _options(text: str) -> dict[str, Any]:
    """`merge_rows=off,repair=spo` as keyword arguments."""
    out: dict[str, Any] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise UnknownName(f"{item!r} is not an option; write name=value, for example merge_rows=off.")
        out[key.replace("-", "_")] = {"on": True, "off": False}.get(value, int(value) if value.lstrip("-").isdigit() else value)
    return out


registry = Registry()


def register(cls: C) -> C:
    """Class decorator: make a Formulation, Solver or Method known by its `name`."""
    group = getattr(cls, "registry_group", None)
    if group not in _GROUPS:
        raise TypeError(f"{cls.__name__} is neither a Formulation nor a Solver nor a Method.")
    registry.add(group, cls)
    return cls


def register_task(*classes: type) -> None:
    """Make tasks known by their `name`."""
    for cls in classes:
        registry.add("tasks", cls)


def __getattr__(name: str) -> Any:
    # `milp_trees.registry` is this module once it has been imported; it answers like the object, so that mt.registry.method(…) always works.
    return getattr(registry, name)
