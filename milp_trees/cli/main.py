"""Entry point of the command line."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

from milp_trees.cli import commands
from milp_trees.cli.signals import interrupts

if TYPE_CHECKING:
    from milp_trees.cli.app import app

__all__ = ["app", "main"]


def __getattr__(name: str) -> Any:
    """`app` with all commands, which `main` only loads as far as it needs them."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    commands.load([])
    from milp_trees.cli.app import app

    return app


def main() -> None:
    """Entry point of `milp-trees`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show becomes a question mark instead of an error.
            stream.reconfigure(errors="replace")
    with interrupts() as code:
        commands.load(_words())
        from milp_trees.cli.app import app

        app()
    sys.exit(code())


def _words() -> list[str]:
    """The words of the command line; while a shell completes a line, those of that line."""
    if "_MILP_TREES_COMPLETE" not in os.environ:
        return sys.argv[1:]
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:-1]  # the last word is the one that is being completed
