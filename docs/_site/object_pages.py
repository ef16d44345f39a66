"""A page per estimator, space and constraint, from its class and what methods declare of it."""

from __future__ import annotations

import inspect
from typing import Any

from _site import support
from _site.api_pages import directive, page_of
from _site.files import Pages
from _site.names import Public, public
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes


def write(pages: Pages) -> None:
    """The pages of all public classes of these kinds."""
    for one in public():
        folder = page_of(one).partition("/")[0]
        about = {"estimators": estimator, "spaces": space, "constraints": constraint}.get(folder)
        if about is not None:
            text = directive(one.path, one.value, inherited=folder != "constraints")
            parts = [f"# {one.name}", text, about(one)]
            pages.add(f"{page_of(one)}.md", "\n\n".join(filter(None, parts)) + "\n")


def estimator(one: Public) -> str:
    """Which tasks and methods can be named in an estimator."""
    names = inspect.signature(one.value).parameters
    parts = []
    if "task" in names:
        known: dict[str, Any] = registry.classes("tasks")
        parts.append(
            "Tasks by name: " + _links("tasks", [n for n, c in known.items() if c.of_classes])
        )
    if "method" in names:
        default = names["method"].default
        parts.append(
            f"`method` takes the name of any method that takes its task; the default is `{default}`. "
            "[Methods and formulations](../../reference/methods.md) are listed with what they take."
        )
    return "## Tasks and methods\n\n" + "\n\n".join(parts) if parts else ""


def space(one: Public) -> str:
    """The methods that search a space."""
    found = [
        name
        for name, cls in _searching().items()
        if any(issubclass(one.value, of) for of in space_classes(cls.space))
    ]
    return f"## Methods that search it\n\n{_method_links(found)}"


def constraint(one: Public) -> str:
    """The methods that take a constraint; of one that is new to the suite, those of side rows."""
    found = support.taking_constraint().get(one.name)
    if found is None:
        found = {name for name, cls in _searching().items() if cls.takes_side_rows}
    names = [name for name in _searching() if name in found]
    return f"## Methods that take it\n\nMethods that take a problem of the suite with it: {_method_links(names)}"


def _searching() -> dict[str, Any]:
    """Classes of all methods and formulations by name."""
    return registry.classes("methods") | registry.classes("formulations")


def _method_links(names: list[str]) -> str:
    formulations = registry.classes("formulations")
    return (
        ", ".join(
            f"[{n}](../{'formulations' if n in formulations else 'methods'}/{n}.md)" for n in names
        )
        + "."
    )


def _links(kind: str, names: list[str]) -> str:
    return ", ".join(f"[{name}](../{kind}/{name}.md)" for name in names) + "."
