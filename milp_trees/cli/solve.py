"""`milp-trees solve` and `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import (
    Json,
    Out,
    RowsOut,
    SolverOption,
    app,
    check_picture,
    finish,
    finish_study,
    none_or,
    report,
    show,
    write,
)
from milp_trees.cli.failing import explained
from milp_trees.cli.help import ANSWER, METHOD, OUTPUT
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.options import ProblemOptions, takes_problem
from milp_trees.cli.outputs import draw, rows_to, writable
from milp_trees.cli.progress import longest, of_one_run, of_several_runs
from milp_trees.cli.readers import check_methods, solver_options, split, whole_numbers
from milp_trees.common.limits import Limits

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem


@app.command(rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit", "max_nonzeros", "threads", "seed", "log")
def solve(
    options: ProblemOptions,
    *,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="A method of `milp-trees methods` or FORMULATION@SOLVER, e.g. flow-oct@highs; by default the first that takes the problem.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            "--start",
            help="Method that makes a model to begin with, or none. auto: formulations begin with the default engine's model, and no answer is worse than the greedy tree over all thresholds.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    reference: Annotated[
        str,
        typer.Option(
            "--reference",
            help="Method that judges the answer (its time is not counted), or none.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    then: Annotated[
        list[str] | None,
        typer.Option(
            "--then",
            help="A further goal among the optima: a task, or fewest-leaves; repeatable. The last one's answer is shown.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof",
            help="File for a proof of the bound, which `milp-trees check` checks.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Picture of the model (.png, .svg, .pdf), of a survival tree with the curves of its leaves.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    limits: Limits,
    option: SolverOption = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Also print bounds, times and counters.", rich_help_panel=OUTPUT
        ),
    ] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Solve one problem with one method and draw the tree or rule list."""
    writable(log=limits.log_file, json=out, proof=proof, picture=plot)
    check_picture(plot)
    check_methods(method, start, reference, option=option)
    goals = _goals(then or [])
    options.check_complete()
    problem, test_data = options.problem(quiet=as_json)
    if goals:
        problem = _after_first_goals(problem, goals, method, limits, quiet=as_json)
    problem = options.free_of_depth(problem, method)
    solve_one(
        problem,
        method,
        limits,
        start=start,
        reference=reference,
        option=option,
        test_data=test_data,
        out=out,
        as_json=as_json,
        quiet=options.quiet,
        verbose=verbose,
        proof=proof,
        plot=plot,
    )


def solve_one(
    problem: Problem,
    method: str | None,
    limits: Limits,
    *,
    start: str,
    reference: str,
    option: list[str] | None,
    test_data: Dataset | None,
    out: Path | None,
    as_json: bool,
    quiet: bool = False,
    verbose: bool = False,
    proof: Path | None = None,
    plot: Path | None = None,
) -> None:
    """Solve a problem with one method, print the answer, and stop with its exit code."""
    from milp_trees.explanations.reasons import with_reasons
    from milp_trees.solving.attempt import default_method
    from milp_trees.solving.solve import answer

    method = method or default_method(problem)
    if proof is not None:
        from milp_trees.verification.proof_files import prove, prover

        proving = prover(method, problem, proof)
    with of_one_run(quiet) as live:
        live.begin(method)
        result = answer(
            problem,
            method,
            limits,
            start=none_or(start),
            reference=none_or(reference),
            reference_engines=True,
            options=solver_options(option),
            test_data=test_data,
            progress=live.point,
        )
        result = with_reasons(result, limits)
        if proof is not None:
            result = prove(proving, result.problem, result, proof, limits)
    if not as_json:
        show([result.to_json()], result, verbose=verbose)
    write(result.to_json(), out, as_json)
    if plot is not None and result.predictor is not None:
        draw(result.plot(), plot, bbox_inches="tight")
    finish(result)


def _goals(then: list[str]) -> list[Any]:
    """The tasks of further goals, or the word for the fewest leaves."""
    from milp_trees.mip.registry import registry
    from milp_trees.solving.lexicographic import FEWEST_LEAVES

    goals: list[Any] = []
    for label in then:
        kind, given = (None, {}) if label == FEWEST_LEAVES else registry.task_from_label(label)
        goals.append(label if kind is None else kind(**given))
    return goals


def _after_first_goals(
    problem: Problem, goals: list[Any], method: str | None, limits: Limits, quiet: bool
) -> Problem:
    """The problem of the last goal, after those before it are solved and printed.

    It is that of the first goal for which nothing is feasible, if there is one.
    """
    from milp_trees.common.errors import NothingFound
    from milp_trees.results.result import Status
    from milp_trees.solving.attempt import default_method
    from milp_trees.solving.lexicographic import GoalsInOrder
    from milp_trees.solving.solve import answer

    steps = GoalsInOrder(problem, goals).apply()
    last = next(steps).problem
    for _ in goals:
        result = answer(last, method or default_method(last), limits)
        typer.echo(f"goal      {last.task.name}: {result.value}, {result.status.value}", err=quiet)
        if result.status is Status.INFEASIBLE:
            return last
        if not result.optimal:
            raise NothingFound(
                f"The goal {last.task.name} was not proven ({result.status.value}), so no further goal can keep it; raise --time-limit."
            )
        last = steps.send(result).problem
    return last


@app.command(rich_help_panel=ANSWER)
@explained
@takes_problem
@takes_limits("time_limit", "memory_limit", "max_nonzeros", "threads", "log")
def compare(
    options: ProblemOptions,
    *,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="Methods by name, comma-separated; instead of formulations × solvers.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    formulations: Annotated[
        str,
        typer.Option(
            "--formulations", help="all, or names, comma-separated.", rich_help_panel=METHOD
        ),
    ] = "all",
    solvers: Annotated[
        str,
        typer.Option(
            "--solvers",
            help="all (that are found), names, comma-separated, or auto: the one that comes with the package.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    start: Annotated[
        str,
        typer.Option(
            "--start",
            help="Method that makes a model to begin with, auto or none.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    reference: Annotated[
        str,
        typer.Option(
            "--reference", help="Method that judges the answers, or none.", rich_help_panel=METHOD
        ),
    ] = "auto",
    seeds: Annotated[
        str,
        typer.Option("--seeds", help="Seeds of solvers, comma-separated.", rich_help_panel=METHOD),
    ] = "0",
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="SQLite file for the rows; a killed comparison resumes from it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Picture of incumbents, bounds and the performance profile (.png, .svg, .pdf).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    proofs: Annotated[
        Path | None,
        typer.Option(
            "--proofs",
            help="Folder for a proof file of every run whose method proves its answer; each is checked.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    limits: Limits,
    option: SolverOption = None,
    out: RowsOut = None,
    as_json: Json = False,
) -> None:
    """Compare formulations and solvers on one problem; an exact engine checks each answer."""
    from milp_trees.mip.registry import registry
    from milp_trees.studies.compare import method_names

    writable(log=limits.log_file, **rows_to(out), picture=plot, store=store)
    check_picture(plot)
    check_methods(start, reference)
    whole_numbers(seeds)
    if methods is not None or formulations != "all":
        method_names(methods, formulations, solvers)
    else:  # all formulations are those for the problem, which is not known yet
        for name in split(solvers) if solvers not in ("all", "auto") else ():
            registry.solver(name)
    options.check_complete()
    problem, test_data = options.problem(quiet=as_json)
    compare_several(
        problem,
        method_names(methods, formulations, solvers, [problem]),
        limits,
        seeds,
        store,
        plot,
        start=start,
        reference=reference,
        option=option,
        test_data=test_data,
        out=out,
        as_json=as_json,
        quiet=options.quiet,
        proofs=proofs,
    )


def compare_several(
    problem: Problem,
    names: list[str],
    limits: Limits,
    seeds: str,
    store: Path | None,
    plot: Path | None,
    *,
    start: str | None,
    reference: str,
    option: list[str] | None,
    test_data: Dataset | None,
    out: Path | None,
    as_json: bool,
    quiet: bool = False,
    proofs: Path | None = None,
) -> None:
    """Compare methods on a problem, print the rows, and stop with the exit code of them all."""
    from milp_trees.studies import StoreError
    from milp_trees.studies.compare import compare_problems
    from milp_trees.verification.proof_folder import ProofFolder

    folder = None if proofs is None else ProofFolder(proofs)
    runs = len(names) * len(whole_numbers(seeds))
    helpers = [
        word
        for word, given in (("the start", none_or(start)), ("the reference", none_or(reference)))
        if given
    ]
    if not quiet:
        typer.echo(longest(runs, helpers, limits.time), err=as_json)
    broken: StoreError | None = None
    with of_several_runs(quiet) as live:
        try:
            study = compare_problems(
                [problem],
                names,
                limits,
                start=none_or(start),
                reference=none_or(reference),
                seeds=whole_numbers(seeds),
                store=store,
                options=solver_options(option),
                test_data=test_data,
                progress=live,
                prove=folder,
            )
        except StoreError as error:
            if not hasattr(error, "study"):
                raise
            broken, study = error, error.study
    report(study, out, as_json)
    if plot is not None:
        draw(study.plot(), plot)
    if broken is not None:
        raise broken
    finish_study(study)
