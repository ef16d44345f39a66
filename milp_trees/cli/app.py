"""The command line `milp-trees`.

Every command has `--json`; exit codes are listed by `milp-trees --help`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from milp_trees.cli.failing import INTERRUPTED, NO_MODEL, NOT_VERIFIED, OK, SOLVER_FAILED
from milp_trees.cli.folding import folded
from milp_trees.cli.help import METHOD, OUTPUT, Command, Group
from milp_trees.cli.outputs import is_csv
from milp_trees.common.errors import DataError
from milp_trees.common.writing import write_whole

if TYPE_CHECKING:
    from milp_trees.results.result import Result
    from milp_trees.studies import Study

EXIT_CODES = """\b
Exit codes
  0    an answer was produced (its status says whether it is proven)
  1    wrong input: one sentence on standard error says what and the remedy
  2    wrong usage of an option
  3    no model: nothing is feasible, or none was found within the limits
  4    a result does not stand up to verification, or methods disagree
  5    a solver is absent or failed
  6    verify: the optimum or bound comes again from the same method only
  7    verify: the optimum or bound is only claimed
  130  interrupted (Ctrl-C); the best so far was printed, if there is one
  143  the same, by a signal to terminate (SIGTERM)
"""
#: What stands below the help text of a command.
SEE_EXIT_CODES = "Exit codes: see milp-trees --help."

F = TypeVar("F", bound=Callable[..., Any])


class _App(typer.Typer):
    """The command line; its commands show their options under headings."""

    def command(self, name: str | None = None, **given: Any) -> Callable[[F], F]:  # type: ignore[override]
        return super().command(name, **{"cls": Command, "epilog": SEE_EXIT_CODES, **given})


app = _App(
    name="milp-trees",
    cls=Group,
    help="Optimal decision trees and rule lists as mathematical programs: let published formulations compete.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print JSON on standard output, everything else on standard error.",
        rich_help_panel=OUTPUT,
    ),
]
#: Kinds of pictures that --plot can write.
PICTURES = (".png", ".svg", ".pdf")

Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="File to write the JSON to.", rich_help_panel=OUTPUT),
]
RowsOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="File for the rows: CSV if its name ends in .csv, else JSON.",
        rich_help_panel=OUTPUT,
    ),
]
SolverOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="NAME=VALUE, an option of the solver by its own name; repeatable.",
        rich_help_panel=METHOD,
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(metadata.version("milp-trees"))
        raise typer.Exit()


@app.callback()
def callback(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_version, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Options that stand before every command."""


def report(study: Study, out: Path | None, as_json: bool) -> None:
    """Print the rows, their reference, and the best tree.

    Parameters
    ----------
    study : Study
    out : Path or None
        File for the rows as JSON, or as CSV if its name ends so.
    as_json : bool
        Print JSON instead of tables.
    """
    from milp_trees.results.evidence import words
    from milp_trees.studies.rows import with_gaps_to_best

    rows = [{k: v for k, v in row.items() if k not in ("key", "problem_key")} for row in study.rows]
    if len(rows) > 1:
        oracle = None if study.reference is None else study.reference.to_json()
        rows = [{**row, "evidence": words(row)} for row in with_gaps_to_best(rows, oracle)]
    if not as_json:
        show(rows, study.best, reference=study.reference)
    write_rows(study, rows[0] if len(rows) == 1 else rows, out, as_json)


def write_rows(study: Study, data: Any, out: Path | None, as_json: bool) -> None:
    """Write the rows of a study: as CSV to a file of that ending, else as JSON."""
    write(data, None if is_csv(out) else out, as_json)
    if out is not None and is_csv(out):
        from milp_trees.studies.paper.tables import STYLES, row_table

        _written(out, STYLES["csv"](row_table(study, ["*"])))


# -- what all commands print ---------------------------------------------------------------------------------


def check_picture(path: Path | None) -> None:
    """Refuse a file whose ending is not a kind of picture that can be drawn."""
    if path is not None and path.suffix.lower() not in PICTURES:
        raise DataError(f"A picture's name ends in {', '.join(PICTURES)}; got {path.name!r}.")


def write(data: Any, out: Path | None, as_json: bool) -> None:
    """Write JSON to a file and to standard output, where requested.

    Parameters
    ----------
    data : object
        Plain data.
    out : Path or None
        The file.
    as_json : bool
        Whether to print it.

    Raises
    ------
    DataError
        The file cannot be written.
    """
    text = json.dumps(data, indent=2, allow_nan=False)
    if as_json:
        typer.echo(text)
    if out is not None:  # last, so that the answer is printed even if the disk is full
        _written(out, text + "\n")


def _written(out: Path, text: str) -> None:
    """Write a file; an error says where the answer is."""
    try:
        write_whole(out, text)
    except OSError as error:
        raise DataError(
            f"{out} cannot be written: {error.strerror}. The answer is above; name another file."
        ) from None


def show(
    rows: list[dict[str, Any]],
    best: Result | None,
    reference: Result | None = None,
    verbose: bool = False,
) -> None:
    """Print tables (of a single result its summary) and the best tree.

    Parameters
    ----------
    rows : list of dict
        The rows of a study.
    best : Result or None
        The result whose tree is drawn.
    reference : Result or None
        The result with which the rows were compared.
    verbose : bool, default=False
        Whether the summary of a single result has counters.
    """
    from milp_trees.results.tables import reasons, rich_tables, summary

    typer.echo()
    if len(rows) == 1:
        for name, text in summary(rows[0], verbose):
            for line in text.splitlines():
                typer.echo(folded(f"{name:<9} {line}"))
            if name == "status" and best is not None:
                show_constraints(best)
    else:
        from rich.console import Console

        console = Console()
        name = "reference" if reference is None else reference.method
        for table in rich_tables(rows, console.width, name):
            console.print(table)
            typer.echo()
        if reference is not None:
            typer.echo(f"reference    {reference.line}")
        for line in reasons(rows):
            typer.echo(folded(line))
        for row in rows:
            if row["scores"]:
                typer.echo(
                    f"{row['method']}: "
                    + ", ".join(f"{k.replace('_', ' ')} {v:.6g}" for k, v in row["scores"].items())
                )
    if best is not None and best.predictor is not None:
        if len(rows) > 1:
            show_constraints(best)
        typer.echo(f"\n{best.value} by {best.found_by or best.method}:\n{best.predictor.to_text()}")


def show_constraints(result: Result) -> None:
    """Print every side constraint with its limit, and the rates of the groups it compares."""
    for text in result.constraints:
        typer.echo(folded(f"{'limits':<9} {text}"))


def finish(result: Result) -> None:
    """Stop with the exit code of a result, and print the reason if it has no model."""
    from milp_trees.results.result import Limit, Status

    if result.agrees is False:
        raise typer.Exit(NOT_VERIFIED)
    if result.status is Status.ERROR:
        typer.echo(f"Error: {result.method} failed: {result.message}", err=True)
        raise typer.Exit(SOLVER_FAILED)
    if result.limit is Limit.INTERRUPTED:
        there = result.predictor is not None
        typer.echo(
            "Interrupted; this is the best so far."
            if there
            else "Error: Interrupted before there was an answer.",
            err=True,
        )
        raise typer.Exit(INTERRUPTED)
    if result.predictor is None:
        typer.echo(f"Error: {no_model(result)}", err=True)
        raise typer.Exit(SOLVER_FAILED if result.status is Status.UNSUPPORTED else NO_MODEL)


def no_model(result: Result) -> str:
    """The sentence for a result without a model."""
    from milp_trees.results.result import Status

    space = result.problem.space
    if result.status is Status.INFEASIBLE and space.counts_rules:
        return "No rule list satisfies the constraints; loosen --max-disparity, --capacity or --min-samples-rule, allow a larger --max-length, or allow more antecedents."
    if result.status is Status.INFEASIBLE and result.problem.all_rows_too_few:
        return "No tree satisfies the limits: all rows together are fewer than a leaf must hold; lower --min-samples-leaf, --min-weight-leaf or --min-samples-treatment."
    if result.status is Status.INFEASIBLE:
        return "No tree satisfies the constraints; loosen --max-disparity, --capacity or --min-samples-leaf, or allow a larger --depth."
    if result.status is Status.UNSUPPORTED:
        return f"{result.message} (milp-trees formulations lists what there is)"
    limit = f"its {result.limit.value} limit" if result.limit else "its limits"
    return f"{result.method} found no {space.noun} within {limit}; raise --time-limit, or begin with --start auto."


def finish_study(study: Study) -> None:
    """Stop with the exit code of a comparison."""
    statuses = [row["status"] for row in study.rows]
    if any(row["agrees"] is False for row in study.rows):
        typer.echo("Error: methods disagree; see the column 'agrees'.", err=True)
        raise typer.Exit(NOT_VERIFIED)
    if study.interrupted:
        typer.echo(
            "Interrupted; these are the rows that were finished, and "
            + (
                f"{study.store.path} keeps them: the same command resumes."
                if study.store.path
                else "none is kept: with --store FILE the same command would resume."
            ),
            err=True,
        )
        raise typer.Exit(INTERRUPTED)
    failed = [row for row in study.rows if row["status"] == "error"]
    if failed:
        typer.echo(f"Error: {failed[0]['method']} failed: {failed[0]['message']}", err=True)
        raise typer.Exit(SOLVER_FAILED)
    if not any(row["predictor"] for row in study.rows):
        results = study.results
        worst = next((r for r in results if r.status.value == "infeasible"), results[0])
        typer.echo(f"Error: {no_model(worst)}", err=True)
        raise typer.Exit(SOLVER_FAILED if set(statuses) == {"unsupported"} else NO_MODEL)
    raise typer.Exit(OK)


def none_or(text: str | None) -> str | None:
    """The name of a method, or None for the word `none`."""
    return None if text in (None, "", "none") else text
