"""Help texts: options and commands under headings, the options of the command itself first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from milp_trees.cli.option_names import plurals, suggestion
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
LIMITS, OUTPUT, USUAL = "Limits", "Output", "Usual options"
OPTIONS = ("Options", USUAL, METHOD, DATA, POLICIES, READING, TASK, SPACE, LISTS, LIMITS, OUTPUT)

#: Shows all options of a command.
HELP_ALL = "--help-all"
#: Headings of options that many commands share: of these only the most used are in every help text.
SHARED = (DATA, POLICIES, READING, TASK, SPACE, LISTS, LIMITS)
MOST_USED = (
    "--target",
    "--depth",
    "--leaves",
    "--max-length",
    "--negations",
    "--leaf-penalty",
    "--split-penalty",
    "--min-samples-leaf",
    "--task",
    "--constraint",
    "--method",
    "--time-limit",
)
#: So few options are not worth another help text.
FEW = 5

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
        known = {opt for param in self.params for opt in param.opts if opt.startswith("--")}
        if HELP_ALL in args:
            ctx.meta[HELP_ALL] = True
            args = ["--help" if a == HELP_ALL else a for a in args]
        args = plurals(args, known)
        texts = [a.partition("=")[2] if a.startswith("--") else a for a in args]
        try:
            left = super().parse_args(ctx, args)
        except Exception as error:  # typer has its own copy of click, whose classes are private
            if type(error).__name__ == "NoSuchOption":
                _suggest(error, known)
            elif getattr(error, "exit_code", None) == 2:
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
        trees = any("--depth" in param.opts for param, _ in shown)
        options = [
            (_heading(param, trees), param, record)
            for param, record in shown
            if param.param_type_name != "argument"
        ]
        options.sort(key=lambda one: _place(one[1]) if one[0] == USUAL else 0)
        rare = [] if ctx.meta.get(HELP_ALL) else [h for h, _, _ in options if h in SHARED]
        rare = rare if len(rare) > FEW else []
        headed = [(h, record) for h, _, record in options if h not in rare]
        own = [h for h, _ in headed if h not in OPTIONS]
        _write(formatter, [("Arguments", record) for record in arguments], ["Arguments"])
        _write(formatter, headed, [*OPTIONS[:-2], *dict.fromkeys(own), *OPTIONS[-2:]])
        if rare:
            about = ", ".join(h.lower() for h in OPTIONS if h in rare)
            formatter.write_paragraph()
            formatter.write_text(
                f"{ctx.command_path} {HELP_ALL} shows {len(rare)} more options, about {about}."
            )


def _suggest(error: Any, known: set[str]) -> None:
    """Say which option was meant by one that the command does not have."""
    name = str(getattr(error, "option_name", ""))
    hint = suggestion(name, known) or "milp-trees COMMAND --help-all lists all options."
    error.message, error.possibilities = f"No such option: {name}. {hint}", None


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


def _heading(param: Any, trees: bool) -> str:
    """The heading of an option; `trees`: the command is about trees in the first place."""
    if param.name == "help":
        return OUTPUT
    heading = getattr(param, "rich_help_panel", None) or "Options"
    usual = param.opts[0] in MOST_USED and not (trees and heading == LISTS)
    return USUAL if usual and heading in (*SHARED, METHOD) else heading


def _place(param: Any) -> int:
    """The place of a usual option among the others."""
    return MOST_USED.index(param.opts[0])


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
