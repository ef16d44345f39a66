"""A page per method, formulation, solver and task, from what its class declares."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from _site import models, support
from _site.api_pages import directive, reference
from _site.examples import PROGRAMS, example
from _site.files import Pages
from _site.names import public
from _site.text import cell, markdown, module_text, parameters, table
from milp_trees.cli.options import OF_TASKS
from milp_trees.common.registering import labels
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import CAPABILITIES
from milp_trees.models.space import space_names

#: What a class variable of a method or formulation says, in words.
TAKES = {
    "takes_side_rows": "side constraints",
    "takes_min_leaf": "a minimum leaf size",
    "takes_any_depth": "trees without a depth limit",
    "takes_min_weight": "a minimum weight of leaves",
    "takes_min_treatment": "a minimum of rows per treatment in leaves",
}


def write(pages: Pages) -> None:
    """All pages of registered classes."""
    for kind, page in (
        ("methods", method),
        ("formulations", formulation),
        ("solvers", solver),
        ("tasks", task),
        ("exports", export),
    ):
        classes: dict[str, Any] = registry.classes(kind)
        for name, cls in classes.items():
            pages.add(f"{kind}/{name}.md", page(name, cls))


def method(name: str, cls: Any) -> str:
    """The page of an engine or a heuristic."""
    return _page(
        name,
        cls.title,
        _facts(cls),
        _options(cls),
        _tasks(name),
        _example(name),
        _documentation(cls),
    )


def formulation(name: str, cls: Any) -> str:
    """The page of a formulation, with the models that it builds."""
    made = registry.formulation(name)
    paper = f" Paper: <{cls.reference}>." if cls.reference.startswith("http") else ""
    derived = (
        "Its coefficients are optimal values of subproblems of a dynamic programme (`dp-derived`): it is compared apart."
        if cls.dp_derived
        else ""
    )
    integer = (
        "Solvers that take integer variables only take it too, if its coefficients are whole (`implied_integer`)."
        if cls.implied_integer
        else ""
    )
    return _page(
        name,
        f"{cls.title}.{paper}",
        derived,
        integer,
        _facts(cls),
        "## Model",
        module_text(cls),
        _options(cls),
        "## Variables and constraints",
        *models.tables(made),
        _tasks(name),
        _example(name),
        _documentation(cls),
    )


def solver(name: str, cls: Any) -> str:
    """The page of a solver."""
    can = [[f"`{word}`", text] for word, text in CAPABILITIES.items() if word in cls.capabilities]
    cannot = [f"- `{ending}`: {why}." for ending, why in cls.cannot_read.items()]
    default = (
        "It is the solver that formulations get when none is named."
        if name == registry.default_solver
        else ""
    )
    label = f"flow-oct@{name}"
    return _page(
        name,
        cls.title,
        " ".join(filter(None, [cls.notes, default, cls.cannot_stop])),
        f"How to get it: {cls.install}" if cls.install else "",
        "## What it can do",
        table(["capability", "meaning"], can),
        "\n".join(["It cannot read by itself:", "", *cannot]) if cannot else "",
        _code(example(registry.method(label))),
        _documentation(cls),
    )


def task(name: str, cls: Any) -> str:
    """The page of a task."""
    described = parameters(cls)
    own = [
        [f"`{p}`", f"`{default!r}`", cell(markdown(described.get(p, "")))]
        for p, default in labels.declared(cls).items()
        if p not in OF_TASKS
    ]
    views = ", ".join(_view(v) for v in cls.view_makers)
    takers = support.takers(name)
    command = cls.command or "solve"
    by_name = (
        f"On the command line: `milp-trees {command} DATA --task {name}`."
        if command == "solve"
        else f"On the command line: `milp-trees {command}`."
    )
    weighs = "Rows count by their weights." if cls.weighs_rows else "Every row counts once."
    return _page(
        name,
        f"{cls.title}. {weighs} {by_name}",
        f"Views of itself that it offers: {views}.",
        "## Parameters of its own" if own else "",
        table(["parameter", "default", "meaning"], own),
        "## Methods that take it",
        f"By default `{_default(takers)}` runs. " * bool(_default(takers))
        + "Side constraints and further limits may exclude some of them." * bool(takers),
        _links(
            "methods",
            [t for t in takers if t in registry.classes("methods")],
            "Engines and heuristics",
        ),
        _links(
            "formulations",
            [t for t in takers if t in registry.classes("formulations")],
            "Formulations",
        ),
        _documentation(cls),
    )


def export(name: str, cls: Any) -> str:
    """The page of a format for models."""
    source = "result" if cls.of_result else "result.predictor"
    needs = "It needs the result with its rows." if cls.of_result else ""
    call = f'{source}.export("{name}", "model{cls.suffix}")'
    program = f"{PROGRAMS[0]}result = mt.solve(problem)\n{call}\n"
    return _page(
        name,
        f"{cls.about}. Files end in `{cls.suffix}`. {needs}".strip(),
        _options(cls),
        _code(program),
        f"On the command line: `milp-trees export RESULT.json --to {name}`.",
        _documentation(cls),
    )


# -- parts of pages --------------------------------------------------------------------------------


def _page(name: str, *parts: str) -> str:
    return "\n\n".join([f"# {name}", *filter(None, parts)]) + "\n"


def _facts(cls: Any) -> str:
    """What a method or formulation declares, as a table."""
    views = cls.needs if isinstance(cls.needs, tuple) else (cls.needs,)
    takes = [words for field, words in TAKES.items() if getattr(cls, field, False)]
    kinds = sorted(cls.takes_structure)
    exact = getattr(cls, "exact", True)
    rows = [
        ["searches", space_names(cls.space)],
        ["answers", ", ".join(sorted(cls.questions))],
        ["view of the task", ", ".join(map(_view, views))],
        [
            "proves optima",
            "yes" if exact is True else "no" if exact is False else "depends on its options",
        ],
        ["also takes", ", ".join(takes) or "nothing further"],
        ["constraints on the tree", ", ".join(f"`{k}`" for k in kinds) or "none"],
        ["place among the methods that run by default", _rank(cls.default_rank)],
        ["place among the judges of answers", _rank(cls.reference_rank)],
        [
            "shares with others",
            ", ".join(f"`{s}`" for s in sorted(cls.shared_components)) or "nothing",
        ],
    ]
    return table(["declared", ""], [r for r in rows if r[1]])


def _view(view: Any) -> str:
    """The name of a view, with a link where it is public."""
    return reference(_public()[view]) if view in _public() else f"`{view.__name__}`"


def _rank(rank: int | None) -> str:
    return "only when named" if rank is None else str(rank)


def _options(cls: Any) -> str:
    """The options that may be written into the label."""
    described = parameters(cls)
    rows = [
        [f"`{name}`", f"`{spelled(default)}`", cell(markdown(described.get(name, "")))]
        for name, default in labels.declared(cls).items()
    ]
    if not rows:
        return ""
    return f"## Options\n\nWritten into the name: `{cls.name}:option=value`.\n\n" + table(
        ["option", "default", "meaning"], rows
    )


def spelled(default: Any) -> str:
    """A default as it is written into a label."""
    return ("on" if default else "off") if isinstance(default, bool) else str(default)


def _tasks(name: str) -> str:
    return "## Tasks that it takes\n\n" + (
        _links("tasks", support.taken_by(name)) or "None of those that are registered."
    )


def _links(kind: str, names: Iterable[str], title: str = "") -> str:
    """Links from one page in docs/generated to others."""
    listed = ", ".join(f"[{name}](../{kind}/{name}.md)" for name in names)
    return (f"{title}: {listed}." if title else f"{listed}.") if listed else ""


def _default(takers: Iterable[str]) -> str:
    """The method that runs when none is named."""
    for name, _ in registry.ranked("default_rank"):
        if name.partition("@")[0] in set(takers):
            return name
    return ""


def _example(name: str) -> str:
    return _code(example(support.methods()[name]))


def _code(program: str | None) -> str:
    return f"## Example\n\n```python\n{program}```" if program else ""


def _documentation(cls: Any) -> str:
    """The class's own documentation with a link to its code."""
    path = _public().get(cls, f"{cls.__module__}.{cls.__qualname__}")
    return f"## Class\n\n{directive(path, cls, inherited=False)}"


@cache
def _public() -> dict[Any, str]:
    """Public class → the name that users import."""
    return {one.value: one.path for one in public() if isinstance(one.value, type)}
