"""`milp-trees library build` and `check`: a library of model files with proven optima."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milp_trees.cli.app import SEE_EXIT_CODES, Json, app, write
from milp_trees.cli.failing import NOT_VERIFIED, explained
from milp_trees.cli.help import STUDIES, Command
from milp_trees.cli.readers import split

if TYPE_CHECKING:
    from milp_trees.exports.library.check import CheckedInstance

library = typer.Typer(
    help="Build a library of model files with proven optima, and check it again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(library, name="library", rich_help_panel=STUDIES)

Jobs = Annotated[
    int,
    typer.Option("--jobs", min=1, help="Processes; each of them runs one solver at a time."),
]


@library.command("build", cls=Command, epilog=SEE_EXIT_CODES)
@explained
def build(
    spec: Annotated[Path, typer.Argument(help="A SPEC file, as for study.")],
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder: new, empty, or a library that is continued."),
    ],
    jobs: Jobs = 1,
    only: Annotated[
        str,
        typer.Option(
            "--only",
            help="Problems whose names match, e.g. 'uci/*'; the library then holds these alone.",
        ),
    ] = "*",
    as_json: Json = False,
) -> None:
    """Write every problem of a SPEC in all its formulations, with optima and who proved them.

    Ctrl-C keeps what is finished; the same command goes on from there.
    """
    from milp_trees.exports.library.registry import CLASSES, PAGE
    from milp_trees.exports.library.spec import build_library

    made = build_library(
        spec, out, jobs=jobs, only=only, progress=lambda line: typer.echo(line, err=True)
    )
    counts = {c: sum(one.status == c for one in made.instances) for c in CLASSES}
    size = sum(one.bytes for one in made.instances)
    if not as_json:
        stated = ", ".join(f"{n} {c}" for c, n in counts.items())
        typer.echo(f"{len(made.instances)} instances ({stated}), {size / 1e6:.1f} MB")
        typer.echo(f"{len(made.refused)} formulations of problems are no file; see {out / PAGE}")
    write({"instances": len(made.instances), **counts, "bytes": size}, None, as_json)


@library.command("check", cls=Command, epilog=SEE_EXIT_CODES)
@explained
def check(
    folder: Annotated[Path, typer.Argument(help="The folder of a library.")],
    *,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.1, help="Seconds of each solver on each file.")
    ] = 10.0,
    jobs: Jobs = 1,
    only: Annotated[
        str, typer.Option("--only", help="Instances whose names match, e.g. '*--flow-oct'.")
    ] = "*",
    solvers: Annotated[
        str,
        typer.Option(
            "--solvers", help="all (that are installed and read files), none, or names with commas."
        ),
    ] = "all",
    as_json: Json = False,
) -> None:
    """Check checksums, registry and solutions, and solve every file again."""
    from milp_trees.exports.library.check import check_library

    found = check_library(
        folder,
        time_limit=time_limit,
        jobs=jobs,
        only=only,
        solvers=None if solvers == "all" else [] if solvers == "none" else split(solvers),
        progress=None if as_json else _say,
    )
    if not as_json:
        stated = {sentence for one in found.instances for sentence in one.wrong}
        for sentence in found.wrong:
            if sentence not in stated:
                typer.echo(f"wrong  {sentence}")
        typer.echo(f"{len(found.instances)} instances, {len(found.wrong)} contradictions")
    write(dataclasses.asdict(found), None, as_json)
    if found.wrong:
        typer.echo(f"Error: {found.wrong[0]}", err=True)
        raise typer.Exit(NOT_VERIFIED)


def _say(one: CheckedInstance) -> None:
    """Print what was found about an instance."""
    word = "wrong" if one.wrong else "ok"
    typer.echo(f"{word:<6} {one.instance}: {one.said or 'not solved'} ({one.seconds:.1f} s)")
    for sentence in one.wrong:
        typer.echo(f"       {sentence}")
    for sentence in one.news:
        typer.echo(f"news   {sentence}")
