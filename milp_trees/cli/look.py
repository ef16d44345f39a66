"""`milp-trees look`: what a table holds, how it is read, and which binary features it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, Out, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import DATA, DATA_COMMANDS
from milp_trees.cli.outputs import writable
from milp_trees.cli.readers import split
from milp_trees.cli.reading import takes_reading
from milp_trees.cli.space_options import option


@app.command(rich_help_panel=DATA_COMMANDS)
@explained
@takes_reading
def look(
    data: Annotated[str, typer.Argument(help="A table, or a built-in name, as for solve.")],
    *,
    label: Annotated[
        Path | None, option("File of labels of a rule file NAME.out.", DATA, "--label")
    ] = None,
    target: Annotated[
        str | None,
        option(
            "Target column; by default the last with a header, the first without.", DATA, "--target"
        ),
    ] = None,
    targets: Annotated[
        str, option("Columns of numbers that are predicted together.", DATA, "--targets")
    ] = "",
    event: Annotated[
        str | None, option("Survival: column of events, 1 or 0.", DATA, "--event")
    ] = None,
    time: Annotated[str | None, option("Survival: column of times.", DATA, "--time")] = None,
    features: Annotated[
        str, option("Columns to split on, comma-separated, * and ? allowed.", DATA, "--features")
    ] = "",
    drop: Annotated[str, option("Columns not to split on.", DATA, "--drop")] = "",
    weights: Annotated[str | None, option("Column of row weights.", DATA, "--weights")] = None,
    group: Annotated[str | None, option("Column of the protected group.", DATA, "--group")] = None,
    binarize: Annotated[
        str, option("auto, midpoints, quantiles:N, buckets or tree-guess.", DATA, "--binarize")
    ] = "auto",
    reading: dict[str, Any],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show the columns of a table, what was guessed about them, and what must be settled.

    Nothing is solved, and problems of columns are no error here.
    """
    from milp_trees.data.look import look as looked

    writable(json=out)
    found = looked(
        data,
        binarizer=binarize,
        label=label,
        target=target,
        targets=split(targets),
        event=event,
        time=time,
        features=split(features),
        drop=split(drop),
        weights=weights,
        group=group,
        **reading,
    )
    if not as_json:
        typer.echo(str(found))
    write(found.to_json(), out, as_json)
