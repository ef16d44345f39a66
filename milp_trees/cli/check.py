"""`milp-trees check`: whether a proof file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import STORED


@app.command(rich_help_panel=STORED)
@explained
def check(
    proof: Annotated[Path, typer.Argument(help="What --proof wrote, or unimodular with --out.")],
    data: Annotated[
        Path | None,
        typer.Argument(
            help="The data file, unless the proof holds its rows; of unimodular the model file."
        ),
    ] = None,
    *,
    slowly: Annotated[
        bool,
        typer.Option(
            "--slowly",
            help="Use the second checker, which shares no code with the first; for tiny problems.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a proof file, claim by claim, as the stand-alone checker does.

    With exit code 0 it holds: an optimum is proved, or a bound. With 4 it does not hold.
    """
    from milp_trees.verification.checking import check_file

    found = check_file(proof, data, slowly)
    write(found.to_json(), None, as_json)
    if not as_json:
        typer.echo(found.sentence)
