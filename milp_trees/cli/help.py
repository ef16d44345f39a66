"""Help texts: options and commands under headings, the options of the command itself first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from milp_trees.cli.outputs import given_values

#: Headings of options, in the order of a help text; options without a heading come first.
METHOD, DATA, POLICIES, READING, TASK, SPACE, LISTS = (
    "Method",
    "Data",
    "Policies",
    "Reading",
    "Task",
    "Space",
    "Rule lists",
)
LIMITS, OUTPUT = "Limits", "Output"
OPTIONS = ("Options", METHOD, DATA, POLICIES, READING, TASK, SPACE, LISTS, LIMITS, OUTPUT)

#: Headings of commands, in the order of the list of commands.
ANSWER, DATA_COMMANDS, STORED = "Solve and compare", "Look at data", "Use results"
STUDIES, LISTED = "Studies and model files", "What there is"
COMMANDS = (ANSWER, DATA_COMMANDS, STORED, STUDIES, LISTED, "Other commands")
#: What most people look for stands first under its heading; the others follow by their names.
FIRST = ("solve", "compare", "look", "verify", "study")


UNDERSCORED = re.compile(r"[-+]?\d+(_\d+)+(\.\d+)?(e[-+]?\d+)?|[-+]?\d[\d_]*\.\d+(_\d+)+")
#: What numbers are called in a sentence, by the names of pydantic's errors.
NUMBERS = {"int_parsing": "a whole number", "float_parsing": "a number"}


class Command(TyperCommand):
    """A command whose options stand under headings in its help text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        texts = [a.partition("=")[2] if a.startswith("--") else a for a in args]
        try:
            left = super().parse_args(ctx, args)
        except Exception as error:  # typer has its own copy of click, whose classes are private
            if getattr(error, "exit_code", None) == 2:
                _explain(error)
            raise
        # Python's own syntax for numbers allows underscores, which are typing errors elsewhere.
        for text in filter(UNDERSCORED.fullmatch, texts):
            stated = [
                value
                for name, value in ctx.params.items()
                if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
            ]
            if any(type(v) in (int, float) and v == float(text) for v in stated):
                ctx.fail(f"A number is written without underscores; got {text!r}.")
        return left

    def invoke(self, ctx: Any) -> Any:
        called = {
            param.name: param.opts[0] if param.param_type_name == "option" else param.name.upper()
            for param in self.params
        }
        given = {called.get(name, name): value for name, value in ctx.params.items()}
        with given_values(given):
            return super().invoke(ctx)

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


def _explain(error: Any) -> None:
    """Add what was given and what to do to the sentence of an error of usage."""
    param: Any = getattr(error, "param", None)
    cause, message = error.__cause__, str(error.message)
    if type(error).__name__ == "MissingParameter" and getattr(param, "help", None):
        error.message = f"It is needed: {param.help}"
    elif hasattr(cause, "errors"):
        first = cause.errors()[0]
        limits, what = first.get("ctx", {}), NUMBERS.get(first["type"])
        what = f"at least {limits['ge']}" if "ge" in limits else what
        what = f"at most {limits['le']}" if "le" in limits else what
        must = message.rstrip(".") if what is None else f"It must be {what}"
        error.message = f"{must}; got {first.get('input')!r}."
    elif "unexpected extra argument" in message:
        error.message = f"{message.rstrip('.')}; a value with spaces stands in quotes, and options begin with two dashes."


def _heading(param: Any) -> str:
    if param.name == "help":
        return OUTPUT
    return getattr(param, "rich_help_panel", None) or "Options"


class Group(TyperGroup):
    """The list of commands, under headings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if type(error).__name__ == "NoSuchOption":
                option = getattr(error, "option_name", "")
                text = f"No such option: {option}. Options follow the command: milp-trees solve iris --depth 2."
                error.message = text  # type: ignore[attr-defined]
            raise

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
