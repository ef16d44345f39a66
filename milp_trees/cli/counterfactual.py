"""`milp-trees counterfactual`: the nearest row that a stored model predicts otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, Out, app, write
from milp_trees.cli.failing import NO_MODEL, explained
from milp_trees.cli.help import STORED
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.outputs import writable
from milp_trees.cli.readers import pairs, split
from milp_trees.cli.reading import takes_reading
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits

Columns = Annotated[
    str, typer.Option("--immutable", help="Columns that keep their value, comma-separated.")
]
Priced = Annotated[
    list[str] | None,
    typer.Option("--weight", help="COLUMN=PRICE of a change, for --norm weighted; repeatable."),
]


@app.command(rich_help_panel=STORED)
@explained
@takes_reading
@takes_limits("time_limit", "threads", "seed")
def counterfactual(
    result: Annotated[Path, typer.Argument(help="What solve wrote with --out or --json.")],
    row: Annotated[str, typer.Argument(help="A table with the row, which --row chooses.")],
    *,
    number: Annotated[
        int | None,
        typer.Option("--row", min=0, help="Number of the row in the table, from 0."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", help="The wanted label; by default any other than that of the row."
        ),
    ] = None,
    at_least: Annotated[
        float | None, typer.Option("--at-least", help="Least number that is to be predicted.")
    ] = None,
    at_most: Annotated[
        float | None, typer.Option("--at-most", help="Largest number that is to be predicted.")
    ] = None,
    norm: Annotated[
        str,
        typer.Option(
            "--norm",
            help="l1 (shares of the range in the training rows), l0 (number of changes) or weighted.",
        ),
    ] = "l1",
    weight: Priced = None,
    immutable: Columns = "",
    monotone: Annotated[
        list[str] | None,
        typer.Option(
            "--monotone",
            help="COLUMN=up or COLUMN=down: changes in this direction only; repeatable.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option("--step", help="COLUMN=STEP of which its numbers are multiples; repeatable."),
    ] = None,
    missing: Annotated[bool, typer.Option("--missing", help="Values may become missing.")] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Where the training rows are now, if they have moved."),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option("--solver", help="Solver for ensembles; a single tree or list needs none."),
    ] = None,
    limits: Limits,
    reading: dict[str, Any],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the nearest row that a stored model predicts otherwise, and prove it.

    The training rows say what the columns hold: ranges, categories, whole numbers.
    """
    from milp_trees.counterfactuals.ask import counterfactual as nearest
    from milp_trees.solving.stored_model import model_and_rows, read_result

    writable(json=out)
    source = read_result(result)["problem"]["data"]
    training = data or source.get("path")
    if training is None:
        raise DataError(
            "The result was made from arrays in memory, so the ranges of its columns are not known; say with --data which table holds its training rows."
        )
    model, (rows, known), _ = model_and_rows(result, [row, str(training)], **reading)
    if number is None and len(rows) != 1:
        raise DataError(f"{row} has {len(rows)} rows; say with --row which of them is meant.")
    if number is not None and number >= len(rows):
        raise DataError(f"{row} has {len(rows)} rows, numbered from 0; there is no row {number}.")
    found = nearest(
        model,
        rows.iloc[[number or 0]],
        target,
        at_least=at_least,
        at_most=at_most,
        norm=norm,
        weights=dict(pairs(weight, "--weight", "COLUMN=PRICE")) or None,
        immutable=split(immutable),
        monotone=dict(pairs(monotone, "--monotone", "COLUMN=up")),
        steps=dict(pairs(step, "--step", "COLUMN=STEP")),
        missing=missing,
        data=known,
        solver=solver,
        time_limit=limits.time,
        threads=limits.threads,
        seed=limits.seed,
    )
    if not as_json:
        typer.echo(found.to_text())
    write(found.to_json(), out, as_json)
    if not found.found:
        raise typer.Exit(NO_MODEL)
