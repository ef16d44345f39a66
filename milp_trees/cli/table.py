"""`milp-trees table`: the rows of a study, or their aggregates, as a table for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import STUDIES
from milp_trees.cli.outputs import TABLE, writable
from milp_trees.cli.readers import split
from milp_trees.common.errors import DataError
from milp_trees.common.writing import write_whole

#: By which a table in a file is known, so that it may be replaced; CSV has no remarks.
REMARKS = {"latex": "% {}\n", "markdown": "\n<!-- {} -->\n"}

StoreFile = Annotated[Path, typer.Argument(metavar="STORE", help="SQLite file of a study.")]
TimeOuts = Annotated[
    str,
    typer.Option(
        "--timeouts",
        help="How runs that were not solved count: limit, par10 or intersection (only instances that all solved).",
    ),
]
Shift = Annotated[
    float, typer.Option("--shift", min=0, help="Shift of geometric means, in seconds.")
]


@app.command(rich_help_panel=STUDIES)
@explained
def table(
    store: StoreFile,
    style: Annotated[
        str, typer.Option("--style", help="latex (booktabs), csv or markdown.")
    ] = "markdown",
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="Columns, comma-separated, of whose entries there is a row each: variant, method, solver, group, data, ….",
        ),
    ] = "",
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            help="Measures of the aggregates, comma-separated; an unknown one lists all.",
        ),
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            "--columns", help="Columns of a table of rows, comma-separated, * and ? allowed."
        ),
    ] = "",
    timeouts: TimeOuts = "limit",
    shift: Shift = 1.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File; by default standard output.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The rows of a study, or with --by aggregates of them, as LaTeX, CSV or Markdown."""
    from milp_trees.common.writing import refuse_to_replace
    from milp_trees.results.json import json_safe
    from milp_trees.studies import Study
    from milp_trees.studies.measures.summary import USUAL
    from milp_trees.studies.paper.tables import STYLES, aggregate_table, row_table

    if style not in STYLES:
        raise DataError(f"--style is one of {', '.join(STYLES)}; got {style!r}.")
    if columns and by:
        raise DataError("--columns chooses among rows, and --by aggregates them; give one of them.")
    if measure and not by:
        raise DataError("--measure is about aggregates; say with --by of what, such as variant.")
    writable(table=out)
    if out is not None:
        refuse_to_replace(out)
    study = Study.open(store)
    if by:
        made = aggregate_table(study, split(by), split(measure) or USUAL, timeouts, shift)
    else:
        made = row_table(study, ["*"] if style == "csv" and not columns else split(columns))
    text = STYLES[style](made)
    if as_json:
        write(json_safe(made.frame.to_dict("records")), None, True)
    if out is None and not as_json:
        typer.echo(text, nl=False)
    elif out is not None:
        write_whole(out, text + REMARKS.get(style, "").format(TABLE))
