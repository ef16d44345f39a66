"""`milp-trees study`: a whole study from a SPEC file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import EXIT_CODES, Json, Out, app, writable, write
from milp_trees.cli.failing import explained


@app.command(epilog=EXIT_CODES)
@explained
def study(
    spec: Annotated[
        Path,
        typer.Argument(help="TOML file with problems and methods; docs/studies.md describes it."),
    ],
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check the whole SPEC, list the runs with a guess of their time, stop.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Runs at a time.")] = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run a study: every problem of a SPEC file with every method, under stated limits.

    The whole SPEC is checked before anything runs.
    """
    from milp_trees.cli.lists import print_table
    from milp_trees.planning.listing import run_table, said, totals
    from milp_trees.planning.reading import read_plan

    writable(out)
    plan = read_plan(spec)
    if dry_run:
        if not as_json:
            print_table(*run_table(plan))
        typer.echo("\n".join(said(plan, jobs)), err=as_json)
        write({**plan.to_json(), "totals": totals(plan, jobs)}, out, as_json)
