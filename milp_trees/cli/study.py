"""`milp-trees study`: a whole study from a SPEC file."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milp_trees.cli.app import Json, RowsOut, app, finish_study, write, write_rows
from milp_trees.cli.failing import INTERRUPTED, explained
from milp_trees.cli.help import STUDIES
from milp_trees.cli.outputs import rows_to, writable
from milp_trees.cli.readers import solver_options
from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.studies import Study
    from milp_trees.studies.planning.plan import Plan


@app.command(rich_help_panel=STUDIES)
@explained
def study(
    spec: Annotated[
        Path | None,
        typer.Argument(help="TOML file of problems and methods; see docs/guide/studies.md."),
    ] = None,
    *,
    watch: Annotated[
        Path | None,
        typer.Option(
            "--watch",
            metavar="STORE",
            help="Show how far the study with this store is, until it ends; start nothing.",
        ),
    ] = None,
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
            "--store", help="SQLite file for the rows; the same command continues a stopped study."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, help="Runs at a time; default: 1, on a cluster all that it has."
        ),
    ] = None,
    executor: Annotated[
        str, typer.Option("--executor", help="processes, serial, dask or slurm.")
    ] = "processes",
    address: Annotated[
        str | None, typer.Option("--address", help="Of a Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    executor_option: Annotated[
        list[str] | None,
        typer.Option(
            "--executor-option",
            help="NAME=VALUE, a setting of the executor by its own name; repeatable.",
        ),
    ] = None,
    retries: Annotated[
        int, typer.Option("--retries", min=0, help="How often a crashed run is made again.")
    ] = 2,
    memory_cap: Annotated[
        int | None,
        typer.Option(
            "--memory-cap", min=1, help="Megabytes of a run with its solver; more is a crash."
        ),
    ] = None,
    proofs: Annotated[
        Path | None,
        typer.Option(
            "--proofs",
            help="Folder for a proof file of every run whose method proves its answer; they are written and checked after all runs.",
        ),
    ] = None,
    out: RowsOut = None,
    as_json: Json = False,
) -> None:
    """Run a study: every problem of a SPEC file with every method, under stated limits.

    The whole SPEC is checked before anything runs.
    """
    from milp_trees.studies.planning.listing import said
    from milp_trees.studies.planning.reading import read_plan
    from milp_trees.studies.running.study import study as run_study

    if (spec is None) == (watch is None):
        raise DataError("Give a SPEC file, or --watch STORE to look at a study that runs.")
    if spec is None:
        assert watch is not None
        writable(json=out)
        _watch(watch, out, as_json)
        return
    writable(**({"json": out} if dry_run else rows_to(out)), store=store)
    plan = read_plan(spec)
    if dry_run:
        _list(plan, jobs or 1, out, as_json)
        return
    if proofs is not None:
        from milp_trees.verification.proof_folder import ProofFolder

        ProofFolder(proofs)  # refuses, before anything runs, a place where there can be none
    typer.echo("\n".join(said(plan, jobs or 1)), err=as_json)
    made = run_study(
        plan,
        store=store,
        jobs=jobs,
        executor=executor,
        address=address,
        options=solver_options(executor_option),
        retries=retries,
        memory_mb=memory_cap,
        progress=True,
    )
    if proofs is not None and not made.interrupted:
        _prove(made, plan, proofs, as_json)
    _report(made, store, out, as_json)
    finish_study(made)


def _prove(made: Study, plan: Plan, proofs: Path, as_json: bool) -> None:
    """Write and check the proof files of the runs."""
    from milp_trees.common.plurals import counted
    from milp_trees.verification.study_proofs import prove_study

    try:
        checked = prove_study(made, plan, proofs)
    except KeyboardInterrupt:
        made.interrupted = True
        return
    rows = counted(checked, "row")
    typer.echo(f"proofs    {proofs}: {rows} proved by file", err=as_json)


def _watch(store: Path, out: Path | None, as_json: bool) -> None:
    """Show the study with a store until it ends; only its folder is read."""
    from milp_trees.studies.running.display import Display, headline, watch
    from milp_trees.studies.running.folder import Folder
    from milp_trees.studies.running.study_progress import Follower

    follower = Follower(Folder(f"{store}.runs", make=False))
    try:
        with Display() as display:
            last = watch(follower, display)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    if last.done < last.total:
        typer.echo(
            "Nothing runs in this study now; the command that began it continues it.", err=True
        )
    if out is not None or as_json:
        write({**asdict(last), "said": headline(last)}, out, as_json)


def _list(plan: Plan, jobs: int, out: Path | None, as_json: bool) -> None:
    """Print the runs of a plan, and how many they are."""
    from milp_trees.cli.lists import print_table
    from milp_trees.studies.planning.listing import run_table, said, totals

    if not as_json:
        print_table(*run_table(plan))
    typer.echo("\n".join(said(plan, jobs)), err=as_json)
    write({**plan.to_json(), "totals": totals(plan, jobs)}, out, as_json)


def _report(made: Study, store: Path | None, out: Path | None, as_json: bool) -> None:
    """Print how the runs ended, and how their rows are looked at."""
    from milp_trees.studies.running.environment import mixed

    ends = Counter(row["status"] for row in made.rows).most_common()
    stated = ", ".join(f"{number} {status}" for status, number in ends)
    typer.echo(f"rows      {len(made.rows)}: {stated or 'none'}", err=as_json)
    used = {row["run"].get("environment") for row in made.rows}
    sentence = mixed({k: v for k, v in made.store.environments().items() if k in used})
    if sentence:
        typer.echo(f"machines  {sentence}", err=as_json)
    if store is not None:
        typer.echo(f"store     {store}; milp-trees report {store} makes a page of it", err=as_json)
    write_rows(made, made.rows, out, as_json)
