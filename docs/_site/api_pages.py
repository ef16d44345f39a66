"""Pages of the public names, from their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from _site.files import Pages
from _site.names import Public, public
from _site.text import first_sentence, table
from milp_trees.models.space import Space
from milp_trees.tasks.constraint_base import Constraint

#: Pages that hold several names: title, and what the names are for.
GROUPS = {
    "problems": ("Problems and answers", "State a problem, solve it, ask more of it, check it."),
    "data": ("Data", "Read tables, make binary features, write rules."),
    "models": ("Models", "Trees, rule lists and ensembles, which need no solver."),
    "studies": ("Studies and files", "Compare many methods, keep runs, write pages and models."),
    "tasks": ("Around tasks", "Prices, cost files, products of tasks and constraints on values."),
    "decisions": ("Sets of decisions", "What a leaf may decide, and generated data for it."),
    "pruning": ("Pruning of ensembles", "Prices of features, gains of nodes, curves of prunings."),
    "plugins": ("For plug-ins", "What plug-ins inherit from, receive and return."),
    "testing": ("Checks of plug-ins", "Tiny problems, an oracle and conformance checks."),
    "errors": ("Errors", "What the package raises."),
}
#: Folders of `milp_trees` whose names are on the page "problems" are all that are not named here.
FOLDERS = {
    "data": "data",
    "models": "models",
    "lists": "models",
    "embedding": "models",
    "studies": "studies",
    "exports": "studies",
    "engines": "studies",
}
#: Packages whose classes and descriptors have documentation of their own.
OTHERS = ("abc", "builtins", "collections", "enum", "sklearn", "typing")


def page_of(one: Public) -> str:
    """The page of a public name below docs/generated, without its ending."""
    value, place = one.value, one.home.split(".")
    if isinstance(value, type):
        if {"estimators", "estimator"} & set(place):
            return f"estimators/{one.name}"
        if "tasks" in place and getattr(value, "registry_group", "") == "tasks":
            name = getattr(value, "name", None)
            if isinstance(name, str):
                return f"tasks/{name}"
        if issubclass(value, Constraint) and not inspect.isabstract(value):
            return f"constraints/{one.name}"
        if issubclass(value, Space) and not inspect.isabstract(value):
            return f"spaces/{one.name}"
    last = one.module.split(".")[-1]
    if last in GROUPS:
        return f"api/{last}"
    folder = place[1] if len(place) > 1 else ""
    return f"api/{FOLDERS.get(folder, 'problems')}"


def write(pages: Pages) -> None:
    """A page per group of names, and one that lists all."""
    names = sorted(public(), key=lambda one: one.name.lower())
    by_page: dict[str, list[Public]] = {}
    for one in names:
        by_page.setdefault(page_of(one), []).append(one)
    for group, (title, purpose) in GROUPS.items():
        listed = by_page.get(f"api/{group}", [])
        parts = [f"# {title}", purpose, _listing(listed), *map(described, listed)]
        pages.add(f"api/{group}.md", "\n\n".join(parts) + "\n")
    rows = [[reference(one.path), f"`{one.module}`", _summary(one)] for one in names]
    everything = table(["name", "import from", "what it is"], rows)
    pages.add("api/names.md", f"# All public names\n\n{everything}\n")


def described(one: Public, heading: str = "## ") -> str:
    """The section of a name, which Sphinx fills from its docstring."""
    return f"{heading}{one.name}\n\n{directive(one.path, one.value)}"


def directive(path: str, value: Any, inherited: bool = True) -> str:
    """What makes Sphinx write the documentation of an object."""
    if isinstance(value, type):
        members = ", ".join(documented(value, inherited))
        lines = [f".. autoclass:: {path}", *([f"   :members: {members}"] if members else [])]
    elif callable(value):
        lines = [f".. autofunction:: {path}"]
    else:
        lines = [f".. autodata:: {path}", "   :no-value:"]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def documented(cls: type, inherited: bool = True) -> list[str]:
    """Public methods and properties that have a docstring in a class of this package or a plug-in.

    Without `inherited` only those that the class itself defines.
    """
    found: dict[str, None] = {}
    for base in cls.__mro__ if inherited else (cls,):
        if base.__module__.split(".")[0] in OTHERS:
            continue
        for name, value in vars(base).items():
            ours = type(value).__module__.split(".")[0] != "sklearn"
            is_member = ours and (inspect.isroutine(value) or isinstance(value, property))
            if not name.startswith("_") and is_member and _has_doc(value):
                found.setdefault(name)
    return sorted(name for name in found if getattr(cls, name, None) is not None)


def _has_doc(value: Any) -> bool:
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    return bool(getattr(value, "__doc__", None))


def _listing(names: Iterable[Public]) -> str:
    return table(["name", "what it is"], [[reference(n.path), _summary(n)] for n in names])


def reference(path: str) -> str:
    """A link to a public name."""
    return f"{{py:obj}}`{path.rpartition('.')[2]} <{path}>`"


def _summary(one: Public) -> str:
    value = one.value
    if isinstance(value, type) or callable(value):
        return first_sentence(inspect.getdoc(value) or "")
    return ""
