"""`milp-trees import-solution`: a solution of an exported model comes back as a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, Out, app, finish, show, write
from milp_trees.cli.failing import explained
from milp_trees.cli.folding import folded
from milp_trees.cli.help import STUDIES
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.outputs import writable
from milp_trees.common.limits import Limits


@app.command("import-solution", rich_help_panel=STUDIES)
@explained
@takes_limits("time_limit", "max_nonzeros")
def import_solution(
    model: Annotated[
        Path, typer.Argument(help="NAME.json, which export-model wrote, or the model beside it.")
    ],
    solution: Annotated[
        Path,
        typer.Argument(
            help="The solution file: of Gurobi, CPLEX (XML), HiGHS, SCIP, CBC, or in MIPLIB's form."
        ),
    ],
    *,
    data: Annotated[
        Path | None, typer.Option("--data", help="Where the data file is now, if it has moved.")
    ] = None,
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Read a solution that another program found for an exported model.

    The point is checked against the model, decoded, and its value recomputed on the data.
    """
    from milp_trees.exports.model_files.imported import import_solution as read

    writable(json=out)
    found = read(model, solution, data=data, limits=limits)
    result = found.result
    if not as_json:
        stated = found.solution.objective
        message = "states no objective" if stated is None else f"states the objective {stated:.10g}"
        typer.echo(
            folded(
                f"solution  {solution}, of {found.solution.program}: it {message}; its point has {found.objective:.10g} and breaks no row (by {found.violation:.2g} at most)"
            )
        )
        show([result.to_json()], result)
    write(result.to_json(), out, as_json)
    finish(result)
