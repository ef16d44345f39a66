"""`milp-trees gap`: how far a given model is from the best one, with a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, Out, app, write
from milp_trees.cli.failing import INTERRUPTED, NO_MODEL, explained
from milp_trees.cli.help import ANSWER
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.options import ProblemOptions, takes_problem
from milp_trees.cli.outputs import writable
from milp_trees.cli.readers import check_methods
from milp_trees.common.limits import Limit, Limits


@app.command(rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit", "node_limit", "max_nonzeros", "threads", "seed")
def gap(
    model: Annotated[
        Path,
        typer.Argument(
            help="A result of solve or compare, the JSON of a tree or rule list, or a rule list as text: lines 'if FEATURE: CLASS', 'else if ...' and 'else: CLASS'."
        ),
    ],
    options: ProblemOptions,
    *,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", help="What proves the bound. Default: the first that takes the problem."
        ),
    ] = None,
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Prove how far a given model is from the best one of a problem.

    The model may come from a heuristic, from another program, or from an editor. Its value is
    recomputed; the bound is that of a method, by default an exact one.
    """
    from milp_trees.solving.gap import gap_of, read_model
    from milp_trees.studies.live import Live

    writable(json=out)
    check_methods(method)
    options.check_complete()
    problem, _ = options.problem(quiet=as_json)
    given = read_model(model, problem)
    problem = options.free_of_depth(problem, method)
    with Live() as live:
        live.begin(method or "")
        found = gap_of(given, problem, method=method, limits=limits, progress=live.point)
    if not as_json:
        typer.echo(f"\n{found.to_text()}")
    write(found.to_json(), out, as_json)
    if found.result.limit is Limit.INTERRUPTED:
        typer.echo("Interrupted; this is the bound so far.", err=True)
        raise typer.Exit(INTERRUPTED)
    if found.bound is None:
        raise typer.Exit(NO_MODEL)
