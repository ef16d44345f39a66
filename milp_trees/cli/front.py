"""`milp-trees front`: the models that no other is better than in every coordinate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import (
    Json,
    Out,
    app,
    check_picture,
    finish,
    none_or,
    write,
)
from milp_trees.cli.failing import explained
from milp_trees.cli.help import ANSWER
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.lists import print_table
from milp_trees.cli.options import ProblemOptions, takes_problem
from milp_trees.cli.outputs import draw, writable
from milp_trees.cli.readers import check_methods
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.common.plurals import counted

if TYPE_CHECKING:
    from milp_trees.results.result import Result


@app.command(rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit", "max_nonzeros", "threads", "seed")
def front(
    options: ProblemOptions,
    *,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            help="Trade the value against what a side constraint limits: its name, with parameters such as capacity:action=1. Default: the task's own coordinates, such as false positives and false negatives.",
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Largest number of models. Default: all.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help="Default: the first that takes the problem."),
    ] = None,
    reference: Annotated[
        str, typer.Option("--reference", help="Method that judges the answer, or none.")
    ] = "none",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Picture of the first two coordinates (.png, .svg, .pdf)."),
    ] = None,
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the Pareto front: all best compromises between the coordinates of a task."""
    from milp_trees.explanations.reasons import with_reasons
    from milp_trees.problems.questions import Front
    from milp_trees.solving.attempt import default_method
    from milp_trees.solving.solve import answer
    from milp_trees.studies.live import Live
    from milp_trees.tasks.constraints import constraint_of_label

    writable(json=out, picture=plot)
    check_picture(plot)
    question = Front(None if against is None else constraint_of_label(against), most)
    check_methods(method, reference)
    options.check_complete(question.against)
    task = options.make_task()
    if question.against is None and task.without_front:
        raise DataError(
            f"{task.without_front} For example: --against statistical-parity --group COLUMN."
        )
    problem, test_data = options.problem(quiet=as_json)
    problem = replace(problem, question=question)
    method = method or default_method(problem)
    with Live() as live:
        live.begin(method)
        result = answer(
            problem,
            method,
            limits,
            reference=none_or(reference),
            test_data=test_data,
            progress=live.point,
        )
        result = with_reasons(result, limits)
    if plot is not None and result.solutions:
        from milp_trees.studies.figures.front import plot_front

        draw(plot_front(result).figure, plot, bbox_inches="tight")
    if not as_json:
        show_front(result)
    write(result.to_json(), out, as_json)
    finish(result)


def show_front(result: Result) -> None:
    """Print the coordinates of all models, and whether the front is complete."""
    from milp_trees.tasks.base import heading

    rows = result.front().to_dict("records")
    heads = [name for name in (rows[0] if rows else {}) if not str(name).endswith("(exact)")]
    unit = result.problem.task.unit
    titles = [f"value ({heading(unit)})" if head == "value" else str(head) for head in heads]
    print_table(titles, [[_shown(row, head) for head in heads] for row in rows])
    known = "the whole front" if result.complete else "not proven to be the whole front"
    limit = f", {result.limit.value} limit" if result.limit else ""
    typer.echo(
        f"\n{counted(len(rows), 'model')}, {known}{limit}; by {result.method} in {result.seconds:.3g} s"
    )
    if result.message:
        typer.echo(result.message)


def _shown(row: dict[Any, Any], head: Any) -> str:
    """A number of a table; a short fraction is written beside its decimals."""
    exact = row.get(f"{head} (exact)")
    short = isinstance(exact, Fraction) and 1 < exact.denominator < 10**6
    return f"{row[head]:.6g}" + (f" = {exact}" if short else "")
