"""Help texts: options and commands under headings, the options of the command itself first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

#: Headings of options, in the order of a help text; options without a heading come first.
METHOD, DATA, READING, TASK, SPACE, LISTS = (
    "Method",
    "Data",
    "Reading",
    "Task",
    "Space",
    "Rule lists",
)
LIMITS, OUTPUT = "Limits", "Output"
OPTIONS = ("Options", METHOD, DATA, READING, TASK, SPACE, LISTS, LIMITS, OUTPUT)

#: Headings of commands, in the order of the list of commands.
ANSWER, DATA_COMMANDS, STORED = "Solve and compare", "Look at data", "Use results"
STUDIES, LISTED = "Studies and model files", "What there is"
COMMANDS = (ANSWER, DATA_COMMANDS, STORED, STUDIES, LISTED, "Other commands")
#: What most people look for stands first under its heading; the others follow by their names.
FIRST = ("solve", "compare", "look", "verify", "study")


class Command(TyperCommand):
    """A command whose options stand under headings in its help text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records = [(param, param.get_help_record(ctx)) for param in self.get_params(ctx)]
        shown = [(param, record) for param, record in records if record is not None]
        arguments = [record for param, record in shown if param.param_type_name == "argument"]
        options = [
            (_heading(param), record)
            for param, record in shown
            if param.param_type_name != "argument"
        ]
        _write(formatter, [("Arguments", record) for record in arguments], ["Arguments"])
        _write(formatter, options, OPTIONS)


def _heading(param: Any) -> str:
    if param.name == "help":
        return OUTPUT
    return getattr(param, "rich_help_panel", None) or "Options"


class Group(TyperGroup):
    """The list of commands, under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        names = sorted(self.list_commands(ctx))
        names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
        commands: list[Any] = [self.get_command(ctx, name) for name in names]
        rows = [
            (getattr(c, "rich_help_panel", None) or COMMANDS[-1], (c.name, _summary(c)))
            for c in commands
            if not c.hidden
        ]
        _write(formatter, rows, COMMANDS)


def _summary(command: Any) -> str:
    """The first line of a command's help, whole; it is wrapped, not cut."""
    summary: str = command.get_short_help_str(limit=1000)
    return summary


def _write(formatter: Any, rows: Iterable[tuple[str, Any]], headings: Sequence[str]) -> None:
    """Write the rows of each heading in a section of its own."""
    rows = list(rows)
    others = [heading for heading, _ in rows if heading not in headings]
    for heading in [*headings, *dict.fromkeys(others)]:
        if of := [row for name, row in rows if name == heading]:
            with formatter.section(heading):
                formatter.write_dl(of)
