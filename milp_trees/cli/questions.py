"""Commands with other questions than the best model: the best of every size, and all near it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import Json, Out, app, check_picture, finish, write
from milp_trees.cli.failing import INTERRUPTED, NO_MODEL, explained, fail
from milp_trees.cli.help import ANSWER
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.lists import print_table, spaced
from milp_trees.cli.options import ProblemOptions, takes_problem
from milp_trees.cli.outputs import draw, writable
from milp_trees.cli.readers import check_methods
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limit, Limits

if TYPE_CHECKING:
    from milp_trees.results.model_set import ModelSet
    from milp_trees.results.size_path import SizePath

#: Largest number of near-optimal trees that a command writes, since more would fill the memory.
MOST_SHOWN = 1_000_000


@app.command("size-path", rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit")
def by_size(
    options: ProblemOptions,
    *,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="One that answers all sizes does so in one run; others run once per size. Default: the first that takes the problem.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Picture of value against leaves (.png, .svg, .pdf)."),
    ] = None,
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The best tree of every number of leaves, or list of every length, each with its proof.

    Sizes go up to --leaves (default 8), of lists to --max-length (default 7).
    The penalties per leaf (or rule) for which each is the best are printed too.
    """
    from milp_trees.solving.solve import path_of_sizes
    from milp_trees.studies.live import Live

    writable(json=out, picture=plot)
    check_picture(plot)
    check_methods(method)
    largest = options.leaves
    options.space()  # refuses limits of trees where lists are asked for
    problem, _ = replace(options, leaves=None).problem(quiet=as_json)
    with Live() as live:
        live.begin(method or "")
        most = largest or (8 if options.max_length is None else options.max_length + 1)
        found = path_of_sizes(problem, most, method, limits, live.point)
    if not as_json:
        _show_sizes(found, options.rule_lists)
        typer.echo(f"\n{found.improving[-1].predictor.to_text()}")
    if plot is not None:
        draw(found.plot().figure, plot, bbox_inches="tight")
    write(found.to_json(), out, as_json)
    if found.limit is Limit.INTERRUPTED:
        typer.echo("Interrupted; these are the best so far.", err=True)
        raise typer.Exit(INTERRUPTED)


def _show_sizes(found: SizePath, lists: bool) -> None:
    """Print a line per size; of rule lists it is the number of rules."""
    rows = [
        [
            r["leaves"] - lists,
            f"{r['value']:.10g}",
            "–" if r["bound"] is None else f"{float(r['bound']):.10g}",
            "yes" if r["proven"] else "no",
            *([] if lists else [r["depth"]]),
            _between(r),
        ]
        for r in found.rows()
    ]
    from milp_trees.tasks.base import heading

    heads = ["rules" if lists else "leaves", heading(found.points[0].value.unit), "bound", "proven"]
    heads += [] if lists else ["depth"]
    print_table([*heads, f"best for penalties per {'rule' if lists else 'leaf'}"], rows)


def _between(row: dict[str, Any]) -> str:
    """The penalties for which a size is the best; short fractions are written as such."""
    if not row["on_hull"]:
        return "none"
    low, high = (
        str(p) if p is None or p.denominator < 10**6 else f"{float(p):.8g}"
        for p in (row["penalty_from"], row["penalty_to"])
    )
    return f"{low} to {high}" if row["penalty_to"] is not None else f"from {low}"


@app.command("near-best", rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit")
def near_best(
    options: ProblemOptions,
    *,
    slack: Annotated[
        str | None,
        typer.Option(
            "--slack", help="How much worse than the best a model may be, in the task's unit."
        ),
    ] = None,
    relative: Annotated[
        str | None,
        typer.Option(
            "--relative", help="The same as a share of the best value; give one of the two."
        ),
    ] = None,
    trivial: Annotated[
        bool,
        typer.Option(
            help="Count trees in which two sibling leaves choose the same action, and rule lists with a rule too many."
        ),
    ] = True,
    equal_tests: Annotated[
        str,
        typer.Option(
            "--equal-tests",
            help="all or one: tests (antecedents) that divide a node's rows (capture) alike make a model each, or one.",
        ),
    ] = "all",
    listed: Annotated[
        int, typer.Option("--list", min=0, max=MOST_SHOWN, help="Models to show, best first.")
    ] = 3,
    sample: Annotated[
        int,
        typer.Option("--sample", min=0, max=MOST_SHOWN, help="Models to draw uniformly and show."),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of --sample.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Picture of values and use of tests (.png, .svg, .pdf)."),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", help="File for a proof of the count, which `milp-trees check` checks."
        ),
    ] = None,
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Count all trees or rule lists within a slack of the optimum (the Rashomon set).

    The first are listed, some are drawn, and the use of tests or antecedents is shown. Of rule
    lists, permutations that predict alike count once.
    """
    from milp_trees.problems.questions import NearBest
    from milp_trees.results.near_best import near_best_json
    from milp_trees.solving.solve import answer

    writable(picture=plot, json=out, proof=proof)
    check_picture(plot)
    if (slack is None) == (relative is None):
        raise DataError(
            "Give one of --slack (in the task's unit) and --relative (a share of the best value), for example --slack 1."
        )
    question = NearBest(slack, relative, trivial, equal_tests, most=1)
    options.check_complete()
    problem, _ = options.problem(quiet=as_json)
    problem = replace(problem, question=question)
    if proof is not None:
        from milp_trees.verification.proof_files import prove, prover

        proving = prover(None, problem, proof)
    result = answer(problem, None, limits)
    trees = result.trees
    if trees is None:
        if result.limit in (Limit.TIME, Limit.MEMORY):
            fail(
                f"{result.message} Raise {'--time-limit' if result.limit is Limit.TIME else '--memory-limit'}.",
                NO_MODEL,
            )
        if result.limit is Limit.INTERRUPTED:
            fail("Interrupted before there was an answer.", INTERRUPTED)
        finish(result)
        raise typer.Exit(NO_MODEL)
    if proof is not None:
        result = prove(proving, problem, result, proof, limits)
    kind = trees.noun.split()[-1]
    drawn = {f"{kind}s": trees[: max(0, listed)], "sample": trees.sample(sample, seed)}
    found = near_best_json(result, *drawn.values())
    if plot is not None:
        draw(trees.plot(), plot)
    if not as_json:
        show_models(trees, found[f"{trees.question}s"], drawn)
        if result.proof is not None:
            typer.echo(f"\nproof: {proof}")
    if proof is not None and result.proof is None:
        typer.echo(result.message, err=True)
    write(found, out, as_json)
    if trees.limit is Limit.INTERRUPTED:
        typer.echo("Interrupted; this is the set for the smaller slack.", err=True)
        raise typer.Exit(INTERRUPTED)


def show_models(models: ModelSet, questions: list[dict[str, Any]], drawn: dict[str, Any]) -> None:
    """Print the counts, the use of questions and some models.

    Parameters
    ----------
    models : ModelSet
    questions : list of dict
        How many models ask each question.
    drawn : dict
        The models that are drawn.
    """
    from milp_trees.tasks.base import heading

    nouns, question = f"{models.noun.split()[-1]}s", models.question
    typer.echo(f"\n{models!r}\n".replace("<", "", 1).replace(">\n", "\n"))
    print_table(
        [heading(models.optimum.unit), nouns],
        [[f"{float(v):.10g}", spaced(c)] for v, c in models.values().items()],
    )
    typer.echo()
    print_table(
        [question, nouns, "share", "best without"],
        [
            [
                q[question],
                spaced(q[nouns]),
                f"{q['share']:.1%}",
                "–" if q["best_without"] is None else f"{q['best_without']:.10g}",
            ]
            for q in questions
        ],
    )
    for name, of in drawn.items():
        for s in of:
            typer.echo(
                f"\n{s.value}{' (drawn)' if name == 'sample' else ''}:\n{s.predictor.to_text()}"
            )
