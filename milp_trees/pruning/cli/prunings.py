"""The answers of `milp-trees prune`: for one λ, for all, within a budget, or by several methods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from milp_trees.cli.app import finish, finish_study, report, show, write
from milp_trees.cli.failing import INTERRUPTED, NO_MODEL, fail
from milp_trees.cli.lists import print_table
from milp_trees.cli.outputs import draw
from milp_trees.common.limits import Limit, Limits

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.min_cut.curve import PruningCurve
    from milp_trees.pruning.from_table import Grown
    from milp_trees.results.result import Result


def whole_path(
    grown: Grown,
    method: str | None,
    budget: str | None,
    plot: Path | None,
    limits: Limits,
    out: Path | None,
    as_json: bool,
    proof: Path | None = None,
) -> None:
    """Print and write the best prunings for all λ."""
    from milp_trees.problems.questions import ByPrice
    from milp_trees.results.json import SCHEMA
    from milp_trees.solving.solve import answer
    from milp_trees.verification.proof_files import prove, prover

    problem = replace(grown.problem, question=ByPrice())
    proving = None if proof is None else prover(method, problem, proof)
    result = answer(problem, method, limits)
    curve: Any = result.curve
    if curve is None:
        _finish(result)
        raise typer.Exit(NO_MODEL)
    if proof is not None:
        result = prove(proving, problem, result, proof, limits)
    if budget is not None:
        _affordable(curve, budget)
    if plot is not None:
        draw(curve.plot().figure, plot, bbox_inches="tight")
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
    if result.proof is not None:
        found["proof"] = dict(result.proof)
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
        if proof is not None:
            typer.echo(f"Proof: {proof}" if result.proof is not None else result.message)
    write(found, out, as_json)
    if result.limit is Limit.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def _affordable(curve: PruningCurve, budget: str) -> None:
    """Stop the command if even the cheapest pruning costs more than the budget."""
    from milp_trees.common.exact import fraction

    cheapest = curve.vertices[-1].cost
    if cheapest > fraction(budget):
        fail(
            f"No pruning keeps the budget of {budget}: the cheapest costs {float(cheapest):.6g}; raise --budget, or lower --leaf-cost.",
            NO_MODEL,
        )


def _short(value: Any) -> str:
    return "∞" if value is None else f"{float(value):.6g}"


def within_budget(
    grown: Grown,
    budget: str,
    method: str | None,
    limits: Limits,
    out: Path | None,
    as_json: bool,
) -> None:
    """Solve the exact program for a budget, with the hull point below the budget as its start."""
    from milp_trees.solving.solve import answer

    start = hull_start(grown.problem, budget)
    task = replace(grown.problem.task, max_cost=budget)  # type: ignore[type-var]
    problem: Problem = replace(grown.problem, task=task)
    result = answer(problem, method, limits, start=start, test_data=grown.test)
    if not as_json:
        show([result.to_json()], result)
    write(result.to_json(), out, as_json)
    _finish(result)


def hull_start(problem: Problem, budget: str) -> Any:
    """The best pruning on the hull that the budget allows.

    The command stops if even the cheapest pruning costs more.
    """
    from milp_trees.pruning.engines.min_cut.curve import prune_curve

    curve = prune_curve(problem)
    _affordable(curve, budget)
    return curve.below(budget).predictor


def _finish(result: Result) -> None:
    """Stop with the exit code of a result; without a model the reason speaks of prunings."""
    from milp_trees.results.result import Status

    if result.status is Status.NO_SOLUTION:
        limit = f"its {result.limit.value} limit" if result.limit else "its limits"
        fail(
            f"{result.method} found no pruning within {limit}; raise --time-limit.",
            NO_MODEL,
        )
    finish(result)


def compared(
    grown: Grown,
    names: str,
    limits: Limits,
    store: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare several methods for one λ or a budget."""
    from milp_trees.studies.compare import compare_problems, method_names
    from milp_trees.studies.live import Live

    with Live() as live:
        study = compare_problems(
            [grown.problem],
            method_names(names, (), (), [grown.problem]),
            limits,
            reference="auto",
            seeds=[limits.seed],
            store=store,
            test_data=grown.test,
            progress=live,
        )
    report(study, out, as_json)
    finish_study(study)


def at_one_price(
    grown: Grown,
    method: str | None,
    limits: Limits,
    out: Path | None,
    as_json: bool,
    proof: Path | None = None,
) -> None:
    """Find the best pruning for one λ."""
    from milp_trees.solving.solve import answer
    from milp_trees.studies.live import Live

    if proof is not None:
        from milp_trees.verification.proof_files import prove, prover

        proving = prover(method, grown.problem, proof)
    with Live() as live:
        live.begin(method or "")
        result = answer(
            grown.problem,
            method,
            limits,
            reference="auto",
            test_data=grown.test,
            progress=live.point,
        )
        if proof is not None:
            result = prove(proving, grown.problem, result, proof, limits)
    if not as_json:
        show([result.to_json()], result)
    write(result.to_json(), out, as_json)
    _finish(result)
