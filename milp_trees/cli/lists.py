"""Commands besides `solve` and `compare`: lists of plug-ins, estimates, model files, a demo."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, RowsOut, app, finish_study, report, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import DATA_COMMANDS, LISTED, STUDIES
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.options import ProblemOptions, takes_problem
from milp_trees.cli.outputs import rows_to, writable
from milp_trees.common.limits import Limits

#: Cells of a column of numbers.
NUMBER = re.compile(r"[-+]?\d[\d .,e+-]*|–")
#: The formulations of the demonstration: one for each idea.
DEMO = ("state-flow", "flow-oct", "path-cut", "bin-oct", "oct-binary")


@app.command(rich_help_panel=DATA_COMMANDS)
@explained
@takes_problem
def estimate(
    options: ProblemOptions,
    formulations: Annotated[
        str, typer.Option("--formulations", help="all, or names, comma-separated.")
    ] = "all",
    as_json: Json = False,
) -> None:
    """Sizes and a time class of every formulation before anything is built."""
    from milp_trees.solving.estimate import estimates

    problem, _ = options.problem(quiet=as_json)
    rows = estimates(problem, formulations)
    if as_json:
        write(rows, None, True)
        return
    print_table(
        ["formulation", "variables", "binaries", "rows", "nonzeros", "time class"],
        [
            [
                r["formulation"],
                *(spaced(r[k]) for k in ("variables", "binaries", "rows", "nonzeros")),
                r["time_class"] or "unsupported",
            ]
            for r in rows
        ],
    )
    for r in rows:
        if r["reason"]:
            typer.echo(f"{r['formulation']}: {r['reason']}")


@app.command("export-model", rich_help_panel=STUDIES)
@explained
@takes_problem
@takes_limits("time_limit", "max_nonzeros")
def export_problem(
    options: ProblemOptions,
    *,
    formulation: Annotated[
        str, typer.Option("--formulation", help="The formulation to write, e.g. flow-oct.")
    ] = DEMO[1],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .mps (which every solver reads), .mps.gz, .lp, or .opb with a VeriPB proof; NAME.json and NAME.sol go beside it.",
        ),
    ] = Path("model.mps"),
    solution: Annotated[bool, typer.Option(help="Also write the proven optimum as .sol.")] = True,
    limits: Limits,
    as_json: Json = False,
) -> None:
    """Write any problem × formulation as a model file.

    Its meaning is written beside it as JSON, and the proven optimum as a solution file.
    """
    from milp_trees.exports.model_files.export import export_model

    writable(model=out)
    problem, _ = options.problem(quiet=as_json)
    written = export_model(problem, formulation, out, solution, limits)
    if as_json:
        write(written, None, True)
    else:
        for name, value in written.items():
            for line in value if isinstance(value, list) else [] if value is None else [value]:
                typer.echo(f"{name:<11} {line}")


@app.command(rich_help_panel=LISTED)
@explained
def formulations(as_json: Json = False) -> None:
    """List the formulations."""
    from milp_trees.mip.registry import registry

    classes: dict[str, Any] = registry.classes("formulations")
    rows = [
        {
            "name": c.name,
            "title": c.title,
            "reference": c.reference,
            "side_constraints": c.takes_side_rows,
            "minimum_leaf_size": c.takes_min_leaf,
            "any_costs": c.takes_any_costs,
            "dp_derived": c.dp_derived,
        }
        for c in classes.values()
    ]
    if as_json:
        write(rows, None, True)
    else:
        # The reference has a line of its own, so that a link stays whole.
        print_table(
            ["name", "title and reference"],
            [[r["name"], f"{r['title']}\n{r['reference']}"] for r in rows],
        )


@app.command(rich_help_panel=LISTED)
@explained
def methods(as_json: Json = False) -> None:
    """List the methods that need no solver.

    Formulations are methods together with a solver, as FORMULATION@SOLVER.
    """
    from milp_trees.mip.registry import registry

    found = [registry.method(name) for name in registry.classes("methods")]
    rows = [
        {"name": m.name, "title": m.title, "exact": m.exact} for m in found
    ]  # whether it proves optima may depend on its options
    if as_json:
        write(rows, None, True)
    else:
        print_table(
            ["name", "title", "proves"],
            [[r["name"], r["title"], "yes" if r["exact"] else "no"] for r in rows],
        )


@app.command(rich_help_panel=LISTED)
@explained
def tasks(as_json: Json = False) -> None:
    """List the tasks with their own parameters, which are written NAME:PARAMETER=VALUE,…."""
    from milp_trees.cli.options import OF_TASKS
    from milp_trees.common.registering import labels
    from milp_trees.mip.registry import registry

    classes: dict[str, Any] = registry.classes("tasks")
    rows = [
        {
            "name": name,
            "title": cls.title,
            "parameters": [p for p in labels.declared(cls) if p not in OF_TASKS],
            "command": cls.command or "solve",
        }
        for name, cls in classes.items()
    ]
    if as_json:
        write(rows, None, True)
    else:
        print_table(
            ["name", "what is optimised", "parameters", "command"],
            [[r["name"], r["title"], ", ".join(r["parameters"]), r["command"]] for r in rows],
        )


@app.command(rich_help_panel=LISTED)
@explained
def constraints(as_json: Json = False) -> None:
    """List the side constraints with their parameters, for --constraint NAME:PARAMETER=VALUE,…."""
    from milp_trees.common.registering import labels
    from milp_trees.tasks.constraint_base import TreeConstraint
    from milp_trees.tasks.constraints import CONSTRAINTS

    rows = [
        {
            "name": name,
            "title": (cls.__doc__ or "").partition("\n")[0],
            "about": "the tree" if issubclass(cls, TreeConstraint) else "actions of rows",
            "parameters": list(labels.declared(cls)),
        }
        for name, cls in CONSTRAINTS.items()
    ]
    if as_json:
        write(rows, None, True)
    else:
        print_table(
            ["name", "what holds", "about", "parameters"],
            [[r["name"], r["title"], r["about"], ", ".join(r["parameters"])] for r in rows],
        )


@app.command(rich_help_panel=LISTED)
@explained
def solvers(as_json: Json = False) -> None:
    """List the solvers: installed, or the reason why not and how to get them."""
    from milp_trees.mip.registry import registry
    from milp_trees.mip.solver import availability_of

    classes: dict[str, Any] = registry.classes("solvers")
    rows = []
    for name, cls in classes.items():
        found = availability_of(cls())
        rows.append(
            {
                "name": name,
                "title": cls.title,
                "found": found.found,
                "version": found.version,
                "reason": found.reason,
                "capabilities": sorted(cls.capabilities),
            }
        )
    if as_json:
        write(rows, None, True)
    else:
        print_table(
            ["name", "found", "version or reason", "can"],
            [
                [
                    r["name"],
                    "yes" if r["found"] else "no",
                    r["version"] if r["found"] else r["reason"],
                    ", ".join(r["capabilities"]),
                ]
                for r in rows
            ],
        )


@app.command(rich_help_panel=LISTED)
@explained
@takes_limits("time_limit", time_limit=5.0)
def demo(
    *,
    limits: Limits,
    store: Annotated[Path | None, typer.Option("--store", help="SQLite file for the rows.")] = None,
    out: RowsOut = None,
    as_json: Json = False,
) -> None:
    """Compare formulations on the breast cancer data of scikit-learn, in less than two minutes."""
    from milp_trees.mip.registry import registry
    from milp_trees.mip.solver import availability_of
    from milp_trees.solving.attempt import default_method
    from milp_trees.studies.compare import compare_problems
    from milp_trees.studies.live import Live

    writable(**rows_to(out), store=store)
    columns = "mean texture,worst radius,worst texture,worst concave points,worst smoothness"
    options = ProblemOptions(data="breast-cancer", depth=2, features=columns)
    typer.echo(
        "milp-trees compare breast-cancer --depth 2 --features ... --solvers highs,cbc\n",
        err=as_json,
    )
    problem, _ = options.problem(quiet=as_json)
    chosen = [f for f in DEMO if f in registry.classes("formulations")]
    found = [
        s
        for s in ("highs", "cbc")
        if s in registry.classes("solvers") and availability_of(registry.solver(s)).found
    ]
    names = [f"{f}@{s}" for s in found for f in (chosen if s == "highs" else chosen[:2])]
    with Live() as live:
        study = compare_problems(
            [problem],
            [default_method(problem), *names],
            limits,
            start="auto",
            reference="auto",
            store=store,
            progress=live,
        )
    report(study, out, as_json)
    finish_study(study)


def print_table(heads: list[str], rows: list[list[Any]]) -> None:
    """Print a table that fits the terminal; the names in the first column stay whole."""
    from rich.console import Console
    from rich.table import Table

    table: Table = Table(box=None, header_style="bold", pad_edge=False)
    for at, head in enumerate(heads):
        cells = [str(row[at]) for row in rows]
        numbers = any(cells) and all(NUMBER.fullmatch(cell) for cell in cells)
        justify: Any = "right" if at and numbers else "left"
        table.add_column(head, overflow="fold", no_wrap=at == 0, justify=justify)
    for row in rows:
        table.add_row(*map(str, row))
    Console().print(table)


def spaced(value: int | None) -> str:
    return "–" if value is None else f"{value:,}".replace(",", " ")
