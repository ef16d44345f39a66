"""`milp-trees prune`: prune an ensemble with feature costs.

The pruning is for one λ, under a budget, or for every λ at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import Json, Out, app, check_picture
from milp_trees.cli.describing import describe
from milp_trees.cli.failing import WRONG_INPUT, explained, fail
from milp_trees.cli.help import ANSWER, DATA
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.outputs import rows_to, writable
from milp_trees.cli.readers import split
from milp_trees.cli.reading import takes_reading
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.common.registering.labels import split_labels
from milp_trees.pruning.cli.prunings import at_one_price, compared, whole_path, within_budget
from milp_trees.tasks.written import read_feature_costs

if TYPE_CHECKING:
    from milp_trees.pruning.feature_costs import Group

ENSEMBLE, COSTS = "Ensemble", "Costs"


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel)


@app.command(rich_help_panel=ANSWER)
@explained
@takes_reading
@takes_limits("time_limit", "memory_limit", "max_nonzeros", "threads")
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
    *,
    trees: Annotated[int, _option("Number of trees.", ENSEMBLE, "--trees")] = 10,
    depth: Annotated[
        int | None,
        _option("Most levels of splits of a tree; by default no limit.", ENSEMBLE, "--depth"),
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
            "--feature-group",
        ),
    ] = None,
    group_once: Annotated[
        list[str] | None,
        _option(
            "The same with a price paid a single time for all rows (a device).",
            COSTS,
            "--feature-group-once",
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
            help="Solve the program with the budget as a row (from the hull point).",
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
        typer.Option(
            "--method",
            help="A method for prunings, e.g. dantzig-wolfe or ip3@highs; by default the first that takes the problem.",
        ),
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
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof",
            help="File for a proof of the pruning, or of all prunings, which `milp-trees check` checks; not with --exact.",
        ),
    ] = None,
    reading: dict[str, Any],
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Grow an ensemble and prune it with feature costs.

    The pruning is the best for one λ, for all λ, or within a budget.
    """
    from milp_trees.pruning.from_table import Growing, describe_ensemble, pruning_problem

    to = {"json": out} if methods is None else rows_to(out)
    writable(**to, picture=plot, proof=proof, store=store)
    check_picture(plot)
    if proof is not None and (exact or methods is not None):
        fail(
            "--proof belongs to one run for one λ or for all; leave out --exact and --methods.",
            WRONG_INPUT,
        )
    _one_question(lam, budget, path, exact, method, methods)
    _used(plot, lam, exact, store, methods, held_out, errors)
    growing = Growing(
        model,
        trees,
        depth,
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
        **reading,
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
    limits = replace(limits, seed=seed)
    if budget is not None and exact:
        within_budget(grown, budget, method, limits, out, as_json)
    elif lam is None:
        whole_path(grown, method, budget, plot, limits, out, as_json, proof)
    elif methods is not None:
        compared(grown, methods, limits, store, out, as_json)
    else:
        at_one_price(grown, method, limits, out, as_json, proof)


def _one_question(
    lam: str | None,
    budget: str | None,
    path: bool,
    exact: bool,
    method: str | None,
    methods: str | None,
) -> None:
    """Refuse options that contradict each other, and wrong numbers, before an ensemble is grown."""
    from milp_trees.common.exact import fraction

    requested = [
        name
        for name, given in (
            ("--lambda", lam is not None),
            ("--budget", budget is not None),
            ("--path", path),
        )
        if given
    ]
    if len(requested) > 1:
        fail(f"{' and '.join(requested)} ask different questions; give one of them.", WRONG_INPUT)
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
    """Refuse methods that do not exist, or cannot answer for all λ, before an ensemble is grown."""
    from milp_trees.mip.registry import registry

    for name in names:
        chosen: Any = registry.method(name)
        questions = getattr(chosen, "formulation", chosen).questions
        if whole_path and "by-price" not in questions:
            fail(
                f"{name} answers for one λ; give --lambda too, or leave out --method.",
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
    """Refuse options that would have no effect."""
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
    from milp_trees.pruning.feature_costs import FeatureCosts

    made = [
        *_groups(groups, "--feature-group", False),
        *_groups(once, "--feature-group-once", True),
    ]
    return FeatureCosts(
        1 if file is None else read_feature_costs(file),
        groups=made,
        node=node,
        leaf=leaf,
        denominator=denominator,
    )


def _groups(given: list[str] | None, flag: str, once: bool) -> list[Group]:
    """Read options `NAME=COST:FEATURE,FEATURE`; a feature's name may contain = and :."""
    from milp_trees.pruning.feature_costs import Group

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
