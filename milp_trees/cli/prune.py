"""`milp-trees prune`: prune an ensemble with feature costs, for one λ, under a budget, or for every
λ at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import (
    EXIT_CODES,
    MAX_NONZEROS,
    Json,
    MaxNonzeros,
    Memory,
    Out,
    Threads,
    TimeLimit,
    app,
    check_picture,
    finish,
    finish_study,
    report,
    show,
    writable,
    write,
)
from milp_trees.cli.lists import print_table
from milp_trees.cli.options import (
    DATA,
    INTERRUPTED,
    NO_MODEL,
    WRONG_INPUT,
    describe,
    explained,
    fail,
    read_feature_costs,
    split,
)
from milp_trees.errors import DataError
from milp_trees.exact import fraction
from milp_trees.registering.labels import split_labels

if TYPE_CHECKING:
    from milp_trees.engines.pruning.curve import PruningCurve
    from milp_trees.problem import Problem
    from milp_trees.results.result import Result
    from milp_trees.study.pruning import Grown
    from milp_trees.tasks.feature_costs import Group

ENSEMBLE, COSTS = "Ensemble", "Costs"


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel)


@app.command(epilog=EXIT_CODES)
@explained
def prune(
    data: Annotated[
        str,
        typer.Argument(
            help="A table (CSV, text, Parquet; plain or .gz) or a built-in name: breast-cancer, iris, wine, digits."
        ),
    ],
    model: Annotated[
        str, _option("random-forest, extra-trees, bagging, tree or budget-rf.", ENSEMBLE, "--model")
    ] = "random-forest",
    trees: Annotated[int, _option("Number of trees.", ENSEMBLE, "--trees")] = 10,
    max_depth: Annotated[
        int | None, _option("Depth limit of the trees; by default none.", ENSEMBLE, "--max-depth")
    ] = None,
    seed: Annotated[
        int, _option("Seed of the ensemble, of splits of rows and of solvers.", ENSEMBLE, "--seed")
    ] = 0,
    errors: Annotated[
        str,
        _option("Rows on which errors are counted: train, oob or held-out.", ENSEMBLE, "--errors"),
    ] = "train",
    held_out: Annotated[
        float | None,
        _option("Share of rows for --errors held-out; default: 0.3.", ENSEMBLE, "--held-out"),
    ] = None,
    regression: Annotated[
        bool,
        _option("The target is a number; squared errors are counted.", ENSEMBLE, "--regression"),
    ] = False,
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
    feature_costs: Annotated[
        Path | None,
        _option(
            "File of lines 'FEATURE COST'; by default every feature costs 1.",
            COSTS,
            "--feature-costs",
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        _option(
            "NAME=COST:FEATURE,FEATURE: a price shared by features (or groups), once per row; repeatable.",
            COSTS,
            "--group",
        ),
    ] = None,
    group_once: Annotated[
        list[str] | None,
        _option(
            "The same with a price paid a single time for all rows (a device).",
            COSTS,
            "--group-once",
        ),
    ] = None,
    node_cost: Annotated[
        str, _option("Price of every node evaluated for a row.", COSTS, "--node-cost")
    ] = "0",
    leaf_cost: Annotated[str, _option("Price of every leaf.", COSTS, "--leaf-cost")] = "0",
    denominator: Annotated[
        int | None, _option("Round prices to multiples of 1/N.", COSTS, "--denominator")
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option("--lambda", help="Price of cost in terms of error, e.g. 0.001 or 1/1000."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            help="Largest mean cost of a row: the hull point below it, or with --exact the proven best.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Solve the program with the budget as a row (ip3-closure@highs, from the hull point).",
        ),
    ] = False,
    path: Annotated[
        bool,
        typer.Option(
            "--path",
            help="Every breakpoint, for all λ at once (the default without --lambda and --budget).",
        ),
    ] = False,
    method: Annotated[
        str | None,
        typer.Option("--method", help="min-cut, dantzig-wolfe, ip3@highs, …; default: min-cut."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", help="Several methods, comma-separated, compared on one --lambda."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Picture of error against cost along the path (.png, .svg, .pdf); not with --lambda or --exact.",
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="SQLite file for the rows of --methods.")
    ] = None,
    time_limit: TimeLimit = 60.0,
    memory_limit: Memory = None,
    max_nonzeros: MaxNonzeros = MAX_NONZEROS,
    threads: Threads = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Prune an ensemble with feature costs: grow it, then find the pruning that is best for one λ,
    for all λ, or within a budget.
    """
    from milp_trees.study.pruning import Growing, describe_ensemble, pruning_problem

    writable(out, plot)
    check_picture(plot)
    _one_question(lam, budget, path, exact, method, methods)
    _used(plot, lam, exact, store, methods, held_out, errors)
    growing = Growing(
        model,
        trees,
        max_depth,
        seed,
        errors,
        0.3 if held_out is None else held_out,
        test_size,
        regression,
    )
    columns = {
        "target": target,
        "weights": weights,
        "features": split(features),
        "drop": split(drop),
    }
    costs = _costs(feature_costs, group, group_once, node_cost, leaf_cost, denominator)
    grown = pruning_problem(data, growing, lam=0 if lam is None else lam, costs=costs, **columns)
    typer.echo(describe(grown.train, grown.test), err=as_json)
    typer.echo(
        describe_ensemble(
            grown.problem.space.ensemble,  # type: ignore[attr-defined]
            growing,
            grown.problem.dataset.n_rows,
        ),
        err=as_json,
    )
    limits = {
        "time_limit": time_limit,
        "memory_mb": memory_limit,
        "max_nonzeros": max_nonzeros,
        "threads": threads,
    }
    if budget is not None and exact:
        _within_budget(grown, budget, method, {**limits, "seed": seed}, out, as_json)
    elif lam is None:
        _path(grown, method or "min-cut", budget, plot, {**limits, "seed": seed}, out, as_json)
    elif methods is not None:
        _compare(grown, methods, seed, store, limits, out, as_json)
    else:
        _solve(grown, method or "min-cut", {**limits, "seed": seed}, out, as_json)


def _one_question(
    lam: str | None,
    budget: str | None,
    path: bool,
    exact: bool,
    method: str | None,
    methods: str | None,
) -> None:
    """Refuse options that ask for different things, and numbers that are none, before an ensemble
    is grown.
    """
    asked = [
        name
        for name, given in (
            ("--lambda", lam is not None),
            ("--budget", budget is not None),
            ("--path", path),
        )
        if given
    ]
    if len(asked) > 1:
        fail(f"{' and '.join(asked)} ask different questions; give one of them.", WRONG_INPUT)
    if methods is not None and lam is None:
        fail("--methods are compared on one λ; give --lambda too.", WRONG_INPUT)
    if methods is not None and method:
        fail("Give --method or --methods, not both.", WRONG_INPUT)
    if exact and budget is None:
        fail(
            "--exact belongs to --budget; for one λ every method here is exact already.",
            WRONG_INPUT,
        )
    _check_methods(
        [*split_labels(methods or ""), *([method] if method else [])],
        whole_path=lam is None and not exact,
    )
    for name, number in (("--lambda", lam), ("--budget", budget)):
        if number is not None and fraction(number, name) < 0:
            fail(f"{name} must not be negative; got {number}.", WRONG_INPUT)


def _check_methods(names: list[str], whole_path: bool) -> None:
    """Refuse names of methods that do not exist, or do not answer for all λ, before an ensemble is
    grown.
    """
    from milp_trees.by_name import registry

    for name in names:
        chosen: Any = registry.method(name)
        questions = getattr(chosen, "formulation", chosen).questions
        if whole_path and "path" not in questions:
            fail(
                f"{name} answers for one λ; give --lambda too, or leave out --method: min-cut answers for all λ at once.",
                WRONG_INPUT,
            )


def _used(
    plot: Path | None,
    lam: str | None,
    exact: bool,
    store: Path | None,
    methods: str | None,
    held_out: float | None,
    errors: str,
) -> None:
    """Refuse options that would not be looked at."""
    if plot is not None and (lam is not None or exact):
        fail("--plot draws the path; leave out --lambda and --exact.", WRONG_INPUT)
    if store is not None and methods is None:
        fail("--store keeps the rows of a comparison; give --methods too.", WRONG_INPUT)
    if held_out is not None and errors != "held-out":
        fail("--held-out is the share of rows for --errors held-out; give that too.", WRONG_INPUT)


def _costs(
    file: Path | None,
    groups: list[str] | None,
    once: list[str] | None,
    node: str,
    leaf: str,
    denominator: int | None,
) -> Any:
    from milp_trees.tasks.feature_costs import FeatureCosts

    made = [*_groups(groups, "--group", False), *_groups(once, "--group-once", True)]
    return FeatureCosts(
        1 if file is None else read_feature_costs(file),
        groups=made,
        node=node,
        leaf=leaf,
        denominator=denominator,
    )


def _groups(given: list[str] | None, flag: str, once: bool) -> list[Group]:
    """`NAME=COST:FEATURE,FEATURE` options; a feature's name may hold = and :."""
    from milp_trees.tasks.feature_costs import Group

    made = []
    for text in given or ():
        name, _, rest = text.partition("=")
        cost, _, members = rest.partition(":")
        if not (name and cost and split(members)):
            raise DataError(
                f"{flag} is written NAME=COST:FEATURE,FEATURE, for example blood=2.1:glucose,cholesterol; got {text!r}."
            )
        made.append(Group(name.strip(), split(members), cost.strip(), once))
    return made


def _path(
    grown: Grown,
    method: str,
    budget: str | None,
    plot: Path | None,
    limits: dict[str, Any],
    out: Path | None,
    as_json: bool,
) -> None:
    from milp_trees.api import solve
    from milp_trees.questions import ByPrice
    from milp_trees.results.json import SCHEMA
    from milp_trees.results.result import Limit

    result = solve(replace(grown.problem, question=ByPrice()), method, **limits)
    curve: Any = result.path
    if curve is None:
        _finish(result)
        raise typer.Exit(NO_MODEL)
    if budget is not None:
        _affordable(curve, budget)
    if plot is not None:
        curve.plot().figure.savefig(plot, bbox_inches="tight")
    found = {
        "kind": "pruning-curve",
        "schema": SCHEMA,
        **curve.to_json(),
        "problem": result.problem.spec(),
        "method": result.method,
        "seconds": result.seconds,
        "times": dict(result.times),
        "sizes": dict(result.model_size),
    }
    if budget is not None:
        point = curve.below(budget)
        found = {**found, "budget": point.to_json()}
    if not as_json:
        typer.echo()
        rows = curve.rows()
        shown = rows if len(rows) <= 24 else [*rows[:12], None, *rows[-11:]]
        print_table(
            ["lambda from", "lambda to", "error", "cost", "splits"],
            [
                ["…"] * 5
                if r is None
                else [
                    _short(r["lambda_from"]),
                    _short(r["lambda_to"]),
                    f"{float(r['error']):.6g}",
                    f"{float(r['cost']):.6g}",
                    r["splits"],
                ]
                for r in shown
            ],
        )
        typer.echo(
            f"\n{len(rows)} prunings are best for some λ ({result.seconds:.3f} s); --json lists all breakpoints exactly."
        )
        if budget is not None:
            typer.echo(f"{point}")
    write(found, out, as_json)
    if result.limit is Limit.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def _affordable(curve: PruningCurve, budget: str) -> None:
    """Stop where even the cheapest pruning costs more."""
    cheapest = curve.vertices[-1].cost
    if cheapest > fraction(budget):
        fail(
            f"No pruning keeps the budget of {budget}: the cheapest costs {float(cheapest):.6g}; raise --budget, or lower --leaf-cost.",
            NO_MODEL,
        )


def _short(value: Any) -> str:
    return "∞" if value is None else f"{float(value):.6g}"


def _within_budget(
    grown: Grown,
    budget: str,
    method: str | None,
    limits: dict[str, Any],
    out: Path | None,
    as_json: bool,
) -> None:
    """The exact program, begun from the hull point below the budget."""
    from milp_trees.api import solve

    start = hull_start(grown.problem, budget)
    task = replace(grown.problem.task, max_cost=budget)  # type: ignore[type-var]
    problem: Problem = replace(grown.problem, task=task)
    result = solve(
        problem, method or "ip3-closure@highs", start=start, test_data=grown.test, **limits
    )
    if not as_json:
        show([result.to_json()], result)
    write(result.to_json(), out, as_json)
    _finish(result)


def hull_start(problem: Problem, budget: str) -> Any:
    """The best pruning on the hull that the budget allows; the command ends where even the cheapest
    costs more.
    """
    from milp_trees.engines.pruning.curve import prune_curve

    curve = prune_curve(problem)
    _affordable(curve, budget)
    return curve.below(budget).predictor


def _finish(result: Result) -> None:
    """Exit code of one result; without a model, the reason in terms of prunings."""
    from milp_trees.results.result import Status

    if result.status is Status.NO_SOLUTION:
        limit = f"its {result.limit.value} limit" if result.limit else "its limits"
        fail(
            f"{result.method} found no pruning within {limit}; raise --time-limit, or take min-cut.",
            NO_MODEL,
        )
    finish(result)


def _compare(
    grown: Grown,
    names: str,
    seed: int,
    store: Path | None,
    limits: dict[str, Any],
    out: Path | None,
    as_json: bool,
) -> None:
    from milp_trees.api import compare
    from milp_trees.study.live import Live

    with Live() as live:
        study = compare(
            grown.problem,
            names,
            start=None,
            reference="min-cut",
            seeds=[seed],
            store=store,
            test_data=grown.test,
            progress=live,
            **limits,
        )
    report(study, out, as_json)
    finish_study(study)


def _solve(
    grown: Grown, method: str, limits: dict[str, Any], out: Path | None, as_json: bool
) -> None:
    from milp_trees.api import solve
    from milp_trees.study.live import Live

    with Live() as live:
        live.bar.update(live.task, method=method)
        result = solve(
            grown.problem,
            method,
            reference="min-cut",
            test_data=grown.test,
            progress=live.point,
            **limits,
        )
    if not as_json:
        show([result.to_json()], result)
    write(result.to_json(), out, as_json)
    _finish(result)
