"""`milp-trees rule-list` and `antecedents`: lists of rules, and what their rules may ask."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import (
    Json,
    Out,
    SolverOption,
    app,
    check_picture,
    write,
)
from milp_trees.cli.failing import explained
from milp_trees.cli.help import ANSWER, DATA_COMMANDS
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.lists import print_table, spaced
from milp_trees.cli.options import ProblemOptions, takes_lists
from milp_trees.cli.outputs import rows_to, writable
from milp_trees.cli.readers import check_methods
from milp_trees.cli.solve import compare_several, solve_one
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits


@app.command("rule-list", rich_help_panel=ANSWER)
@explained
@takes_lists
@takes_limits("time_limit", "memory_limit", "node_limit", "max_nonzeros", "threads", "seed", "log")
def rule_list(
    options: ProblemOptions,
    *,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="A method of `milp-trees methods`, e.g. corels, or FORMULATION@SOLVER; by default the first that takes the problem.",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="Several, comma-separated, are compared, each with its gap to the best bound of all.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", help="Method that makes a list to begin with, auto or none."),
    ] = None,
    reference: Annotated[
        str,
        typer.Option(
            "--reference", help="Method that judges the answers (its time is not counted), or none."
        ),
    ] = "auto",
    store: Annotated[
        Path | None,
        typer.Option("--store", help="With --methods: SQLite file for the rows, to resume from."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="With --methods: picture of incumbents and bounds (.png, .svg, .pdf)."
        ),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", help="File for a proof of the bound, which `milp-trees check` checks."
        ),
    ] = None,
    limits: Limits,
    option: SolverOption = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find an optimal rule list with its proof, or compare methods that look for it.

    It is `solve`, and with --methods `compare`, for problems with --rule-lists.
    """
    from milp_trees.studies.compare import method_names

    to = {"json": out} if methods is None else rows_to(out)
    writable(log=limits.log_file, **to, picture=plot, proof=proof, store=store)
    check_picture(plot)
    if methods is not None and method is not None:
        raise DataError("--method and --methods are both given; give one of them.")
    if methods is None and (store or plot):
        raise DataError(
            f"{'--store' if store else '--plot'} belongs to a comparison; name its methods with --methods."
        )
    if methods is not None and proof:
        raise DataError("--proof belongs to one run; name its method with --method.")
    check_methods(method, start, reference, option=option if methods is None else None)
    names = None if methods is None else method_names(methods, (), ())
    options.check_complete()
    problem, test_data = options.problem(quiet=as_json)
    shared: dict[str, Any] = {
        "start": start,
        "reference": reference,
        "option": option,
        "test_data": test_data,
        "out": out,
        "as_json": as_json,
        "quiet": options.quiet,
    }
    if names is None:
        solve_one(problem, method, limits, proof=proof, **shared)
    else:
        compare_several(problem, names, limits, str(limits.seed), store, plot, **shared)


@app.command(rich_help_panel=DATA_COMMANDS)
@explained
@takes_lists
def antecedents(
    options: ProblemOptions,
    *,
    write_rules: Annotated[
        Path | None,
        typer.Option(
            "--write-rules",
            help="NAME.out (or .out.gz): write the antecedents as CORELS reads them, with NAME.label and NAME.minor.",
        ),
    ] = None,
    listed: Annotated[int, typer.Option("--list", min=0, help="Antecedents to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Count and list the antecedents that rules may have, and write them as rule files."""
    from milp_trees.lists.write_rules import write_rules as write_files

    writable(rules=write_rules)
    problem, _ = options.problem(quiet=as_json)
    space: Any = problem.space
    table = space.table(problem.dataset)
    held = (problem.dataset.row_counts @ table.X).tolist()
    files = [] if write_rules is None else write_files(problem.dataset, write_rules, table, False)
    if not as_json:
        typer.echo()
        shown = list(zip(table.antecedents, held, strict=True))[:listed]
        n = problem.dataset.total_rows
        print_table(
            ["antecedent", "rows", "share"],
            [[a.name, spaced(rows), f"{rows / n:.1%}"] for a, rows in shown],
        )
        if len(shown) < len(held):
            typer.echo(f"and {spaced(len(held) - len(shown))} more (--list)")
        for file in files:
            typer.echo(f"written   {file}")
        return
    rules = [
        {"name": a.name, "rows": rows, **a.to_json()}
        for a, rows in zip(table.antecedents, held, strict=True)
    ]
    write({"antecedents": rules, "files": [str(file) for file in files]}, None, True)
