"""`milp-trees info`: what is installed here, and where files are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import LISTED

#: Names the folder of the public data sets.
DATA_VARIABLE = "MILP_TREES_DATA"
#: Distributions that every run depends on; --json lists all.
SHOWN = ("numpy", "pandas", "scikit-learn", "numba", "pyomo", "highspy")


@app.command(rich_help_panel=LISTED)
@explained
def info(as_json: Json = False) -> None:
    """Versions, solvers (and why one is not there), cores, and the folders of cache and data."""
    found = gathered()
    if as_json:
        write(found, None, True)
        return
    versions, cores, cache = found["versions"], found["cores"], found["cache"]
    shown = ", ".join(f"{name} {versions[name]}" for name in SHOWN if name in versions)
    lines = [
        ("milp-trees", f"{versions.get('milp-trees', 'unknown')}, {found['folder']}"),
        ("python", f"{found['python']}, {found['os']}"),
        ("packages", shown),
        ("cores", f"{cores['usable']} usable of {cores['logical']}: {found['cpu'] or 'unknown'}"),
        ("memory", f"{round(found['memory_mb'] or 0):,} MB".replace(",", " ")),
        ("cache", f"{cache['folder']}: {cache['files']} files, {cache['megabytes']:.1f} MB"),
        ("data", found["data"] or f"{DATA_VARIABLE} is not set: only built-in and your own tables"),
    ]
    for name, text in lines:
        typer.echo(f"{name:<11} {text}")
    for name, solver in found["solvers"].items():
        message = solver["version"] if solver["found"] else f"not there: {solver['reason']}"
        typer.echo(f"{'solver':<11} {name:<7} {message}")
    for why in found["left_out"]:
        typer.echo(f"{'left out':<11} {why}")


def gathered() -> dict[str, Any]:
    """What the command tells, as plain data."""
    from milp_trees.common.compiling.store import folder
    from milp_trees.common.registering import plugins
    from milp_trees.mip.registry import registry
    from milp_trees.mip.solver import availability_of
    from milp_trees.studies.running.cores import here
    from milp_trees.studies.running.environment import environment

    about = environment()
    classes: dict[str, Any] = registry.classes("solvers")
    for group in ("formulations", "methods", "tasks"):  # so that broken ones are known
        plugins.classes(group)
    cache = folder()
    sizes = [path.stat().st_size for path in cache.rglob("*") if path.is_file()]
    return {
        "versions": about["versions"],
        "folder": str(Path(__file__).parents[1]),
        "python": about["python"],
        "os": about["os"],
        "cpu": about["cpu"],
        "memory_mb": about["memory_mb"],
        "cores": {"usable": len(here()), "logical": about["logical_cores"]},
        "cache": {"folder": str(cache), "files": len(sizes), "megabytes": sum(sizes) / 1e6},
        "data": os.environ.get(DATA_VARIABLE),
        "solvers": {name: vars(availability_of(cls())) for name, cls in classes.items()},
        "left_out": list(plugins.broken.values()),
    }
