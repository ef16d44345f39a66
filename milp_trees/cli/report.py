"""`milp-trees report`: a study as one page that can be sent around."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import STUDIES
from milp_trees.cli.outputs import writable


@app.command(rich_help_panel=STUDIES)
@explained
def report(
    store: Annotated[
        Path, typer.Argument(help="The file of a study, as compare or study wrote it with --store.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page; by default beside the study, named .html."),
    ] = None,
    *,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Another study, to compare two versions with each other."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a study as one HTML page: tables, plots, models, logs and certificates.

    The page is a single file that loads nothing from the network.
    """
    from milp_trees.exports.pages.report import write_report

    page = store.with_suffix(".html") if out is None else out
    writable(page=page)
    write_report(store, page, against)
    size = page.stat().st_size
    write({"page": str(page), "bytes": size}, None, as_json)
    if not as_json:
        typer.echo(f"{page} ({size / 1000:.0f} kB)")
