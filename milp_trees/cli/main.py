"""Entry point of the command line: every module that adds commands to `app` is imported here."""

from __future__ import annotations

import io
import sys

from milp_trees.cli import solve  # noqa: F401

# isort: split
from milp_trees.cli import (  # noqa: F401
    example,
    export,
    front,
    gap,
    library,
    lists,
    plot,
    prune,
    questions,
    report,
    rule_list,
    spo,
    stored,
    study,
    table,
    unimodular,
    warm,
)
from milp_trees.cli.app import app
from milp_trees.cli.signals import interrupts

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of `milp-trees`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show becomes a question mark instead of an error.
            stream.reconfigure(errors="replace")
    with interrupts() as code:
        app()
    sys.exit(code())
