"""How a table is read, as options of commands; `Reading` states their names and help texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from milp_trees.cli.help import READING
from milp_trees.cli.limits import with_options
from milp_trees.cli.readers import split
from milp_trees.data.reading import Reading


def options() -> dict[str, tuple[Any, Any]]:
    """For every option its annotation for typer and its default."""
    kinds = get_type_hints(Reading)
    out: dict[str, tuple[Any, Any]] = {}
    for name, (default, text) in Reading.options().items():
        kind, value = (str, "") if isinstance(default, tuple) else (kinds[name], default)
        flag = f"--{name.replace('_', '-')}"
        out[name] = (
            Annotated[kind, typer.Option(flag, help=text, rich_help_panel=READING)],
            value,
        )
    return out


def stated(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of reading out of `given`: those that differ from their defaults."""
    out = {}
    for name, (default, _) in Reading.options().items():
        value = given.pop(name)
        value = tuple(split(value)) if isinstance(default, tuple) else value
        if value != default:
            out[name] = value
    return out


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; it gets those that were stated as its argument `reading`."""
    return with_options(command, "reading", options(), lambda **given: stated(given))


def described(source: Mapping[str, Any]) -> list[str]:
    """How a table was read and what was left out, in lines; none if that goes without saying."""
    how = dict(source.get("reading", {}))
    guessed = list(how.pop("guessed", []))
    if "decimal" in guessed and how.get("decimal") == ".":  # it is stored, and usual
        guessed.remove("decimal")
        del how["decimal"]
    formats = how.pop("formats", {})
    reading = Reading.from_json({"formats": formats})
    lines = []
    if how:
        reported = [f"{name.replace('_', '-')} {_shown(how[name])}".rstrip() for name in how]
        found = f" ({', '.join(guessed)} guessed)" if guessed else ""
        lines.append(f"read as   {', '.join(reported)}{found}")
    lines += [f"          {name}: {form}" for name, form in reading.formats.items()]
    for name, why in source.get("left_out", {}).items():
        lines.append(f"left out  {name}, which {why}")
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is True else {"\t": "tab"}.get(value, str(value))
