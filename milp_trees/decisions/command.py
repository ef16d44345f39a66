"""`milp-trees spo`: trees for decisions on generated data, by greedy, MILP and exact search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milp_trees.cli.app import Json, RowsOut, app, finish_study, report
from milp_trees.cli.failing import WRONG_INPUT, explained, fail
from milp_trees.cli.help import ANSWER
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.outputs import rows_to, writable
from milp_trees.cli.readers import whole
from milp_trees.common.limits import Limits
from milp_trees.common.registering.labels import split_labels

#: Short names of methods for decisions.
SHORT = {"greedy": "greedy-spo", "cart": "cart-spo"}


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel)


@app.command(rich_help_panel=ANSWER)
@explained
@takes_limits("time_limit", "memory_limit", "max_nonzeros", "threads")
def spo(
    context: typer.Context,
    *,
    data: Annotated[
        str, typer.Argument(help="shortest-path, two-roads or news.")
    ] = "shortest-path",
    rows: Annotated[int, _option("Training rows.", "Data", "--rows")] = 200,
    test_rows: Annotated[int, _option("Test rows.", "Data", "--test-rows")] = 1000,
    degree: Annotated[
        float, _option("Degree of the costs in the features (shortest-path).", "Data", "--degree")
    ] = 2,
    noise: Annotated[
        float, _option("Half width of the noise factor, 0 to 1 (shortest-path).", "Data", "--noise")
    ] = 0.25,
    grid: Annotated[
        str, _option("ROWSxCOLUMNS of nodes (shortest-path).", "Data", "--grid")
    ] = "4x4",
    features: Annotated[int, _option("Features (shortest-path, news).", "Data", "--features")] = 5,
    inner: Annotated[
        float, _option("Constant inside the power (shortest-path).", "Data", "--inner")
    ] = 3.0,
    outer: Annotated[
        float, _option("Constant outside the power (shortest-path).", "Data", "--outer")
    ] = 1.0,
    constraints: Annotated[
        int, _option("Seed of the constraint set (news).", "Data", "--constraints")
    ] = 10,
    thresholds: Annotated[
        int, _option("Candidate thresholds per feature; 0: all midpoints.", "Data", "--thresholds")
    ] = 100,
    seed: Annotated[int, _option("Seed of the data and of solvers.", "Data", "--seed")] = 0,
    depth: Annotated[
        str,
        _option(
            "Levels of splits, or none: no limit, e.g. for greedy and cart.", "Space", "--depth"
        ),
    ] = "2",
    min_samples_leaf: Annotated[
        int, _option("Fewest rows in a leaf.", "Space", "--min-samples-leaf")
    ] = 1,
    split_penalty: Annotated[
        str, _option("Added to the mean loss per split.", "Space", "--split-penalty")
    ] = "0",
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            help="Comma-separated, e.g. greedy, cart, dp, dp-oracle, spot@highs, or any FORMULATION@SOLVER.",
        ),
    ] = "greedy,dp,cart",
    start: Annotated[
        str,
        typer.Option(
            "--start", help="Method that makes a tree for formulations to begin with, or none."
        ),
    ] = "greedy",
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", help="SQLite file for the rows; a killed comparison resumes from it."
        ),
    ] = None,
    limits: Limits,
    out: RowsOut = None,
    as_json: Json = False,
) -> None:
    """Train trees for decisions on generated data.

    Training losses come with proofs; test rows give the normalised regret.
    """
    from milp_trees.decisions.generated import DecisionData
    from milp_trees.decisions.generated_problems import generated_problem
    from milp_trees.studies.compare import compare_problems, method_names
    from milp_trees.studies.live import Live

    writable(**rows_to(out), store=store)
    _own_options(context, data)
    shape = _grid(grid)
    generated = DecisionData(
        data,
        rows,
        test_rows,
        degree,
        noise,
        shape,
        inner,
        outer,
        features,
        constraints,
        thresholds,
        seed,
    )
    problem, test = generated_problem(
        generated,
        None if depth == "none" else whole(depth, "--depth"),
        min_samples_leaf,
        split_penalty=split_penalty,
    )
    typer.echo(
        f"data      {problem.dataset.source['path']}\nfeatures  {problem.dataset.n_features} tests; decisions {_described(problem)}",
        err=as_json,
    )
    names = [_full(name) for name in split_labels(methods)]
    with Live() as live:
        study = compare_problems(
            [problem],
            method_names(names, (), (), [problem]),
            limits,
            start=None if start == "none" else _full(start),
            reference=None if depth == "none" else "auto",
            seeds=[seed],
            store=store,
            test_data=test,
            progress=live,
        )
    report(study, out, as_json)
    finish_study(study)


def _full(label: str) -> str:
    """A method's full label: `greedy-spo:plateaus=…` for `greedy:plateaus=…`."""
    name, colon, options = label.partition(":")
    return SHORT.get(name, name) + colon + options


def _own_options(context: typer.Context, data: str) -> None:
    """Refuse options of another kind of data, which would have no effect."""
    from milp_trees.decisions.generated import KINDS, OF_KIND

    for name, kinds in OF_KIND.items():
        source = context.get_parameter_source(name)
        if (
            data in KINDS
            and data not in kinds
            and source is not None
            and source.name == "COMMANDLINE"
        ):
            fail(
                f"--{name} is for {' and '.join(kinds)}; the data {data} do not use it.",
                WRONG_INPUT,
            )


def _grid(text: str) -> tuple[int, int]:
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(p.isdecimal() and int(p) > 0 for p in parts):
        fail(f"--grid is written ROWSxCOLUMNS, for example 4x4; got {text!r}.", WRONG_INPUT)
    return int(parts[0]), int(parts[1])


def _described(problem: Any) -> str:
    S = problem.task.decisions
    listed = problem.task.actions(problem.dataset)
    count = (
        f"{len(listed)} vertices"
        if listed
        else f"{S.n_vertices:,} vertices".replace(",", " ")
        if hasattr(S, "n_vertices")
        else "an oracle"
    )
    return f"of {S.dimension} entries, {count}"
