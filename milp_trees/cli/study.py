"""`milp-trees study`: a whole study from a SPEC file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milp_trees.cli.app import EXIT_CODES, Json, Out, app, finish_study, writable, write
from milp_trees.cli.failing import explained
from milp_trees.cli.readers import solver_options

if TYPE_CHECKING:
    from milp_trees.studies.study import Study


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
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="SQLite file for the rows. The same command continues a study that was stopped; from another shell or machine it joins.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, help="Runs at a time: 1, or on a cluster all that it has room for."
        ),
    ] = None,
    executor: Annotated[
        str, typer.Option("--executor", help="Where runs are made: serial, processes, dask, slurm.")
    ] = "processes",
    address: Annotated[
        str | None, typer.Option("--address", help="Address of a Dask scheduler.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", help="NAME=VALUE: a setting of the executor, such as slurm_partition=short."
        ),
    ] = None,
    retries: Annotated[
        int, typer.Option("--retries", min=0, help="How often a run that crashed is made again.")
    ] = 2,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory-cap",
            min=1,
            help="MB that a run and its solver may use together; a run with more is ended.",
        ),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run a study: every problem of a SPEC file with every method, under stated limits.

    The whole SPEC is checked before anything runs.
    """
    from milp_trees.cli.lists import print_table
    from milp_trees.planning.listing import run_table, said, totals
    from milp_trees.planning.reading import read_plan
    from milp_trees.running.front import run_plan

    writable(out, store)
    plan = read_plan(spec)
    if dry_run:
        if not as_json:
            print_table(*run_table(plan))
        typer.echo("\n".join(said(plan, jobs or 1)), err=as_json)
        write({**plan.to_json(), "totals": totals(plan, jobs or 1)}, out, as_json)
        return
    found = run_plan(
        plan,
        store,
        executor=executor,
        jobs=jobs,
        address=address,
        options=solver_options(option),
        retries=retries,
        memory_mb=memory,
    )
    if not as_json:
        typer.echo(summary(found, len(plan.runs)))
    write(found.rows, out, as_json)
    finish_study(found)


def summary(found: Study, total: int) -> str:
    """What a study has, in a few lines; `table` and `report` show it all."""
    ends = Counter(row["status"] for row in found.rows)
    counts = ", ".join(f"{number} {status}" for status, number in ends.most_common())
    lines = [f"{len(found.rows)} of {total} runs: {counts}."]
    crashed = sum(bool(row.get("run", {}).get("crashes")) for row in found.rows)
    if crashed:
        lines.append(f"{crashed} of them crashed at first and were made again.")
    if found.store.path is not None:
        lines.append(f"milp-trees report {found.store.path} makes a page of them.")
    return "\n".join(lines)
