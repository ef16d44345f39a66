"""`milp-trees oblique-tree`: trees whose splits compare weighted sums of columns with bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, Out, SolverOption, app, check_picture
from milp_trees.cli.describing import describe
from milp_trees.cli.failing import explained
from milp_trees.cli.help import ANSWER, DATA, SPACE, TASK
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.outputs import rows_to, writable
from milp_trees.cli.readers import check_methods, split
from milp_trees.cli.reading import takes_reading
from milp_trees.cli.solve import compare_several, solve_one
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel)


@app.command("oblique-tree", rich_help_panel=ANSWER)
@explained
@takes_reading
@takes_limits("time_limit", "memory_limit", "max_nonzeros", "threads", "seed", "log")
def oblique_tree(
    data: Annotated[
        str,
        typer.Argument(
            help="A table (CSV, text, Parquet; plain or .gz) or a built-in name: breast-cancer, iris, wine, digits."
        ),
    ],
    *,
    depth: Annotated[int, _option("Levels of splits.", SPACE, "--depth")] = 2,
    gap: Annotated[
        str,
        _option(
            "Gap between the rows on both sides of a split, in scaled columns.", SPACE, "--gap"
        ),
    ] = "1/200",
    leaves: Annotated[int | None, _option("Most leaves.", SPACE, "--leaves")] = None,
    min_samples_leaf: Annotated[
        int, _option("Fewest rows in a leaf.", SPACE, "--min-samples-leaf")
    ] = 1,
    task: Annotated[
        str | None,
        _option("A task on classes; default: accuracy, with weights weighted.", TASK, "--task"),
    ] = None,
    leaf_penalty: Annotated[str, _option("Price of a leaf.", TASK, "--leaf-penalty")] = "0",
    split_penalty: Annotated[str, _option("Price of a split.", TASK, "--split-penalty")] = "0",
    column_penalty: Annotated[
        str, _option("Price of every column that a split uses.", TASK, "--column-penalty")
    ] = "0",
    target: Annotated[
        str | None,
        _option(
            "Target column; by default the last with a header, the first without.", DATA, "--target"
        ),
    ] = None,
    features: Annotated[
        str, _option("Columns to use, comma-separated, * and ? allowed.", DATA, "--features")
    ] = "",
    drop: Annotated[str, _option("Columns not to use.", DATA, "--drop")] = "",
    weights: Annotated[str | None, _option("Column of row weights.", DATA, "--weights")] = None,
    test_size: Annotated[
        float | None, _option("Share of rows left out for test scores.", DATA, "--test-size")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="enumerate-oblique, or FORMULATION@SOLVER such as oct-h@highs; by default the first that takes the problem.",
        ),
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Several, comma-separated, are compared.")
    ] = None,
    start: Annotated[
        str,
        typer.Option("--start", help="Method that makes a tree to begin with, auto or none."),
    ] = "greedy-oblique",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Picture of the tree, or of a comparison (.png, .svg, .pdf)."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="SQLite file for the rows of --methods.")
    ] = None,
    reading: dict[str, Any],
    limits: Limits,
    option: SolverOption = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find an optimal oblique tree: its splits compare weighted sums of columns with bounds.

    Columns are numeric; each category of a text column is one of 0 and 1.
    """
    from milp_trees.data.numeric import load_numeric_split
    from milp_trees.mip.registry import registry
    from milp_trees.oblique.space import ObliqueTrees
    from milp_trees.problems.problem import Problem
    from milp_trees.studies.compare import method_names

    to = {"json": out} if methods is None else rows_to(out)
    writable(log=limits.log_file, **to, picture=plot, store=store)
    check_picture(plot)
    if methods is not None and method is not None:
        raise DataError("--method and --methods are both given; give one of them.")
    if methods is None and store:
        raise DataError("--store keeps the rows of a comparison; give --methods too.")
    check_methods(method, start, "auto", option=option if methods is None else None)
    names = None if methods is None else method_names(methods, (), ())
    space = ObliqueTrees(depth, gap, leaves, min_samples_leaf)
    columns = {
        "target": target,
        "weights": weights,
        "features": split(features),
        "drop": split(drop),
        **reading,
    }
    train, test = load_numeric_split(data, test_size=test_size, seed=limits.seed, **columns)
    kind, given = registry.task_from_label(task or ("weighted" if weights else "accuracy"))
    prices: dict[str, Any] = {"leaf_penalty": leaf_penalty, "split_penalty": split_penalty}
    prices["feature_costs"] = dict.fromkeys(train.columns or (), column_penalty)
    if column_penalty in ("0", "0.0"):
        del prices["feature_costs"]
    problem = Problem(train, kind(**given, **prices), space)
    typer.echo(describe(train, test), err=as_json)
    shared: dict[str, Any] = {
        "start": start,
        "reference": "auto",
        "option": option,
        "test_data": test,
        "out": out,
        "as_json": as_json,
    }
    if names is None:
        solve_one(problem, method, limits, plot=plot, **shared)
    else:
        compare_several(problem, names, limits, str(limits.seed), store, plot, **shared)
