"""`milp-trees export`: the model of a stored result in another language or format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import STORED
from milp_trees.cli.outputs import exported
from milp_trees.cli.stored import Stored
from milp_trees.common.errors import DataError, MilpTreesError, VerificationError
from milp_trees.common.writing import write_whole


@app.command(rich_help_panel=STORED)
@explained
def export(
    result: Stored,
    *,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Format, with options if there are any, e.g. sql:table=people; without it all formats are listed.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; by default standard output."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Where the data file is now, if it has moved.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the model of a stored result in another language or format, which predicts the same.

    For a page, a proof file beside the result is checked, for up to a minute.
    """
    from milp_trees.models.exporting import export as written
    from milp_trees.models.exporting import make_format
    from milp_trees.solving.stored_model import read_result

    if to is None:
        _list(as_json)
        return
    form = make_format(to)
    exported(out, form.mark)
    stored = read_result(result)
    model: Any = _whole(stored, result, data) if form.of_result else _model(stored, result)
    more = _proof(form, model, result) if form.of_result else {}
    text = written(model, to, options=more, source=stored["problem"]["data"])
    if out is not None:
        write_whole(out, text)  # type: ignore[arg-type]
    elif isinstance(text, bytes):
        raise DataError(
            f"The format {form.name} is no text; name a file with -o model{form.suffix}."
        )
    elif not as_json:
        typer.echo(text, nl=False)
    message = {"format": form.name, "file": None if out is None else str(out)}
    write(message if out is not None else {**message, "text": text}, None, as_json)
    if out is not None and not as_json:
        typer.echo(f"{out} ({out.stat().st_size} bytes)")


def _list(as_json: bool) -> None:
    """Print all formats."""
    from milp_trees.common.registering import plugins

    formats: list[Any] = list(plugins.classes("exports").values())
    write([{"name": f.name, "about": f.about, "suffix": f.suffix} for f in formats], None, as_json)
    for one in formats if not as_json else ():
        typer.echo(f"{one.name:<8} {one.about}")


def _model(stored: dict[str, Any], path: Path) -> Any:
    """The model of a stored result."""
    from milp_trees.exports.pages.drawings import read_model
    from milp_trees.studies.rows import UNREADABLE

    try:
        return read_model(stored["predictor"], stored["problem"]["space"])
    except (*UNREADABLE, MilpTreesError) as error:
        raise DataError(
            f"The model in {path} is damaged ({type(error).__name__}: {error}); solve again."
        ) from error


def _whole(stored: dict[str, Any], path: Path, data: Path | None) -> Any:
    """The stored result with its problem, or what is left of it if its data cannot be read."""
    from milp_trees.exports.pages.tree_page import StoredModel
    from milp_trees.results.restore import problem_of
    from milp_trees.results.stored import result_from_json
    from milp_trees.verification.damage import refusing_damage
    from milp_trees.verification.fields import FIELDS, LATER, check_fields, complete

    with refusing_damage():
        check_fields(complete(stored, set(FIELDS) - LATER, "result"))
    try:
        with refusing_damage():
            result = result_from_json(stored, problem_of(stored["problem"], path=data))
    except VerificationError:
        raise
    except MilpTreesError as error:
        if data is not None:
            raise
        why = f"Rows are not counted: {error}"
        typer.echo(why, err=True)
        return StoredModel(stored, _model(stored, path), why)
    return result


def _proof(form: Any, model: Any, path: Path) -> dict[str, str]:
    """The option of a format that checks proofs, if the stored result has a file beside it."""
    from milp_trees.verification.proof_files import sha256
    from milp_trees.verification.proved import proof_beside

    if model.problem is None or getattr(form, "proof", None) != "":
        return {}
    beside = proof_beside({"proof": model.proof}, path)
    if beside is None:
        return {}
    if sha256(beside) != model.proof["sha256"]:
        typer.echo(
            f"{beside} is not the proof file that was written for this result, and is not used.",
            err=True,
        )
        return {}
    return {"proof": str(beside)}
