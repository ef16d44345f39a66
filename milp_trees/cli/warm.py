"""The command that compiles ahead."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import LISTED


@app.command("warm-up", rich_help_panel=LISTED)
@explained
def warm_up(
    engines: Annotated[
        list[str] | None,
        typer.Argument(help="Names from `methods`, and formulations that compile."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="All that compile; without names, those that are run by default."
        ),
    ] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Default: one per core.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile ahead, so that later runs need not compile; compiled code is only read."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from milp_trees.common.compiling.store import folder
    from milp_trees.common.registering import plugins
    from milp_trees.testing.warm_up import compiled_methods, warm_up

    names = list(engines or compiled_methods())
    if not engines and not everything:
        classes: dict[str, Any] = plugins.classes("methods")
        by_default = {n for n, cls in classes.items() if cls.default_rank is not None}
        names = [name for name in names if name in by_default]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    done, runs = [], warm_up(names, processes)
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("compiling", total=len(names))
        for one in runs:
            bar.update(task, advance=1)
            done.append(one)
    if as_json:
        write([vars(one) for one in done], None, True)
        return
    for one in sorted(done, key=lambda one: one.name):
        message = f"compiled in {one.compiling:.1f} s" if one.compiling else "nothing to compile"
        typer.echo(f"{one.name}: {message}")
    typer.echo(f"kept in {folder()}")
