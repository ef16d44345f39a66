"""`milp-trees example`: write the small tables that the documentation's commands use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import DATA_COMMANDS
from milp_trees.common.errors import DataError


@app.command(rich_help_panel=DATA_COMMANDS)
@explained
def example(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="people, messy, …; without a name they are listed."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Another name for the file, or a folder.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: Json = False,
) -> None:
    """Write a small generated example table; every command of the documentation uses one."""
    from milp_trees.data.examples import EXAMPLES, example_named

    if not names and not everything:
        listed = [{"name": one.file, "title": one.title} for one in EXAMPLES.values()]
        if as_json:
            write(listed, None, True)
            return
        for one in EXAMPLES.values():
            typer.echo(f"{one.file:<11} {one.title}")
        typer.echo("\nWrite one with: milp-trees example people.csv")
        return
    chosen = list(EXAMPLES.values()) if everything else [example_named(n) for n in names or ()]
    into = out is not None and out.is_dir()
    if out is not None and len(chosen) > 1 and not into:
        raise DataError(f"Several files need a folder, and {out} is none; make it first.")
    written = [one.write(out / one.file if into and out else out) for one in chosen]
    if as_json:
        write([str(path) for path in written], None, True)
        return
    for one, path in zip(chosen, written, strict=True):
        typer.echo(f"wrote {path}: {one.title}")
