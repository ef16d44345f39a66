"""What to do with stored results: verify them, and predict with them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import OK, ONLY_CLAIMED, ONLY_RECOMPUTED, explained
from milp_trees.cli.help import STORED
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.outputs import writable
from milp_trees.cli.readers import pairs
from milp_trees.cli.reading import takes_reading
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.common.writing import write_whole

if TYPE_CHECKING:
    from milp_trees.verification import Verification

Stored = Annotated[Path, typer.Argument(help="What solve or compare wrote with --out or --json.")]


@app.command(rich_help_panel=STORED)
@explained
@takes_limits("time_limit")
def verify(
    result: Stored,
    *,
    data: Annotated[
        Path | None, typer.Option("--data", help="Where the data file is now, if it has moved.")
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            "--require",
            help="Weakest verdict to exit with 0: proved, derived, recomputed or claimed.",
        ),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--expect",
            help="PLACE=VALUE, what the problem must be, e.g. space.max_depth=2; places are those of --json; repeatable.",
        ),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option("--proof", help="Proof file of the result, if it does not lie beside it."),
    ] = None,
    limits: Limits,
    as_json: Json = False,
) -> None:
    """Recompute a stored result, state its problem, and derive its optimum or bound again.

    Exit codes 0, 6 and 7 show how far it was verified; with 4 it is wrong.
    """
    from milp_trees.verification import Verdict, verify_file

    names = [verdict.value for verdict in Verdict]
    if require is not None and require not in names:
        raise DataError(f"--require is one of {', '.join(names)}; got {require!r}.")
    expected: dict[str, str] = {}
    for place, value in pairs(expect, "--expect", "PLACE=VALUE"):
        if expected.setdefault(place, value) != value:
            raise DataError(
                f"--expect gives {place} twice, as {expected[place]!r} and {value!r}; give it once."
            )
    found = verify_file(result, path=data, time_limit=limits.time, expect=expected, proof=proof)
    write([f.to_json() for f in found] if len(found) > 1 else found[0].to_json(), None, as_json)
    for one in found if not as_json else ():
        if len(found) > 1:
            typer.echo(f"{one.method}")
        typer.echo(f"{one}\n")
    weakest = max(found, key=lambda one: list(Verdict).index(one.verdict))
    if not as_json:
        typer.echo(f"Verdict: {weakest.words}.")
    raise typer.Exit(verdict_code(found, require))


def verdict_code(found: list[Verification], require: str | None) -> int:
    """Exit code for verdicts: 0 if all are as strong as required, else that of the weakest.

    If nothing is required, a result that claims only its value is verified once the value is
    recomputed.
    """
    from milp_trees.verification import Verdict

    if require is not None:
        weak = [one for one in found if not one.verdict.as_strong_as(Verdict(require))]
    else:
        weak = [one for one in found if one.claim and not one.verdict.as_strong_as(Verdict.DERIVED)]
    if any(one.verdict is Verdict.CLAIMED for one in weak):
        return ONLY_CLAIMED
    return ONLY_RECOMPUTED if weak else OK


@app.command(rich_help_panel=STORED)
@explained
@takes_reading
def predict(
    result: Stored,
    new: Annotated[
        str,
        typer.Argument(
            help="A table with the columns that the model tests, or a rule file (.out)."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="CSV file for the predictions; by default standard output."
        ),
    ] = None,
    *,
    name: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column of the table that names the rows; by default they are numbered from 0.",
        ),
    ] = None,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help="Also print the probability of each class: its share in the leaf."
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="For --proba: where the training data are now, if they have moved."
        ),
    ] = None,
    reading: dict[str, Any],
    as_json: Json = False,
) -> None:
    """Predict the rows of a table with the tree or rule list of a stored result.

    A line per row: its number (or --id), the label or number, and with --proba probabilities.
    """
    from milp_trees.solving.predict import predictions

    writable(predictions=out)
    found = predictions(result, new, name=name, proba=proba, data=data, **reading)
    note = found.note
    if as_json:
        more = {"outputs": list(found.outputs)} if found.outputs else {}
        shares = {"probabilities": {str(c): of for c, of in found.shares.items()}} if proba else {}
        write(
            {"predictions": found.labels, name or "row": found.names, **more, **shares}, None, True
        )
    predicted = [f"prediction {n}" for n in found.outputs] or ["prediction"]
    heads = [name or "row", *predicted, *(f"probability {c}" for c in found.shares)]
    of = [[f"{share:.6g}" for share in shares] for shares in found.shares.values()]
    labels = zip(*found.labels, strict=True) if found.outputs else [found.labels]
    text = as_csv(heads, list(zip(found.names, *labels, *of, strict=True)))
    if out is not None:
        write_whole(out, text)
    elif not as_json:
        typer.echo(text, nl=False)
    if note:
        typer.echo(note, err=True)


def as_csv(heads: list[str], rows: list[Any]) -> str:
    """Columns as CSV; values with commas or quotes are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    return text.getvalue()
