"""`milp-trees why-not`: why a problem has no answer, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milp_trees.cli.app import Json, Out, app, write
from milp_trees.cli.failing import INTERRUPTED, NO_MODEL, explained
from milp_trees.cli.folding import folded
from milp_trees.cli.help import ANSWER
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.options import ProblemOptions, takes_problem
from milp_trees.cli.outputs import writable
from milp_trees.cli.readers import split
from milp_trees.cli.why_not_parts import another_model, check_parts, conflicting_rows_of
from milp_trees.common.limits import Limit, Limits

if TYPE_CHECKING:
    from milp_trees.explanations.rather import WhyNotModel
    from milp_trees.mip.conflicting_rows import ConflictingRows


@app.command("why-not", rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit", "threads")
def why_not(
    options: ProblemOptions,
    *,
    tree: Annotated[
        Path | None,
        typer.Option(
            "--tree",
            help="Another model: what it violates or costs, and at which penalties and for which weights it would be the answer. As MODEL of gap.",
        ),
    ] = None,
    formulation: Annotated[
        str | None,
        typer.Option(
            "--formulation",
            help="Rows of this formulation's model (NAME or NAME@SOLVER) that contradict each other.",
        ),
    ] = None,
    among: Annotated[
        str,
        typer.Option(
            "--among",
            help="With --formulation: names of constraints, comma-separated; rows of all others always hold.",
        ),
    ] = "",
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say which constraints of a problem conflict, or why another model is not the answer.

    The conflict is the smallest set of constraints that no model keeps together. For each of them
    the least change that helps alone is shown, and the model that violates least. With --tree
    another model is compared with the best one, and with --formulation rows of a model conflict.
    """
    from milp_trees.explanations.explanation import explain
    from milp_trees.results.result import Status

    writable(json=out)
    check_parts(tree, formulation, among)
    options.check_complete()
    problem, _ = options.problem(quiet=as_json)
    if tree is not None or formulation is not None:
        other: WhyNotModel | ConflictingRows
        if tree is not None:
            other = another_model(options.free_of_depth(problem, None), tree, limits)
        else:
            other = conflicting_rows_of(problem, str(formulation), split(among), limits)
        if not as_json:
            typer.echo(f"\n{other.to_text()}")
        write(other.to_json(), out, as_json)
        if other.limit is Limit.INTERRUPTED:
            raise typer.Exit(INTERRUPTED)
        return
    found = explain(options.free_of_depth(problem, None), limits)
    if not as_json:
        typer.echo("\n" + "\n".join(map(folded, found.to_text().splitlines())))
        if found.nearest is not None:
            typer.echo(f"\n{found.nearest.predictor.to_text()}")
    write(found.to_json(), out, as_json)
    if found.limit is Limit.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if found.result.predictor is None and found.result.status is not Status.INFEASIBLE:
        raise typer.Exit(NO_MODEL)
