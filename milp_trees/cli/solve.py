"""`milp-trees solve` and `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import (
    EXIT_CODES,
    MAX_NONZEROS,
    Json,
    Log,
    MaxNonzeros,
    Memory,
    Out,
    Seed,
    SolverOption,
    Threads,
    TimeLimit,
    _none,
    app,
    check_picture,
    finish,
    finish_study,
    report,
    show,
    solver_options,
    whole_numbers,
    writable,
    write,
)
from milp_trees.cli.options import (
    ProblemOptions,
    explained,
    takes_problem,
)


@app.command(epilog=EXIT_CODES)
@explained
@takes_problem
def solve(
    options: ProblemOptions,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="dp, cart, … or FORMULATION@SOLVER, e.g. flow-oct@highs; by default the engine that takes the task.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", help="Method that makes a tree to begin with: dp, cart or none."),
    ] = None,
    reference: Annotated[
        str,
        typer.Option(
            "--reference", help="Method that judges the answer (its time is not counted), or none."
        ),
    ] = "dp",
    time_limit: TimeLimit = 60.0,
    memory_limit: Memory = None,
    max_nonzeros: MaxNonzeros = MAX_NONZEROS,
    threads: Threads = 1,
    seed: Seed = 0,
    option: SolverOption = None,
    log: Log = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Solve one problem with one method and draw the tree."""
    from milp_trees.api import solve as run
    from milp_trees.study.attempt import default_method
    from milp_trees.study.live import Live

    writable(log, out)
    problem, test_data = options.problem(quiet=as_json)
    problem = options.free_of_depth(problem, method)
    method = method or default_method(problem)
    with Live() as live:
        live.bar.update(live.task, method=method)
        result = run(
            problem,
            method,
            time_limit=time_limit,
            start=_none(start),
            reference=_none(reference),
            threads=threads,
            seed=seed,
            memory_mb=memory_limit,
            max_nonzeros=max_nonzeros,
            log_file=log,
            options=solver_options(option),
            test_data=test_data,
            progress=live.point,
        )
    if not as_json:
        show([result.to_json()], result)
    write(result.to_json(), out, as_json)
    finish(result)


@app.command(epilog=EXIT_CODES)
@explained
@takes_problem
def compare(
    options: ProblemOptions,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", help="Methods by name, comma-separated; instead of formulations × solvers."
        ),
    ] = None,
    formulations: Annotated[
        str, typer.Option("--formulations", help="all, or names, comma-separated.")
    ] = "all",
    solvers: Annotated[
        str, typer.Option("--solvers", help="all (that are found), or names, comma-separated.")
    ] = "highs",
    start: Annotated[
        str,
        typer.Option("--start", help="Method that makes a tree to begin with: dp, cart or none."),
    ] = "dp",
    reference: Annotated[
        str, typer.Option("--reference", help="Method that judges the answers, or none.")
    ] = "dp",
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds of solvers, comma-separated.")] = "0",
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", help="SQLite file for the rows; a killed comparison resumes from it."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Picture of incumbents, bounds and the performance profile (.png, .svg, .pdf).",
        ),
    ] = None,
    time_limit: TimeLimit = 60.0,
    memory_limit: Memory = None,
    max_nonzeros: MaxNonzeros = MAX_NONZEROS,
    threads: Threads = 1,
    option: SolverOption = None,
    log: Log = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Let formulations and solvers compete on one problem; each answer is checked against an exact
    dynamic programme.
    """
    from milp_trees.api import compare as run
    from milp_trees.study import StoreError
    from milp_trees.study.live import Live

    writable(log, out, plot)
    check_picture(plot)
    problem, test_data = options.problem(quiet=as_json)
    broken: StoreError | None = None
    with Live() as live:
        try:
            study = run(
                problem,
                methods,
                formulations=formulations,
                solvers=solvers,
                start=_none(start),
                reference=_none(reference),
                time_limit=time_limit,
                seeds=whole_numbers(seeds),
                store=store,
                threads=threads,
                memory_mb=memory_limit,
                max_nonzeros=max_nonzeros,
                log_file=log,
                options=solver_options(option),
                test_data=test_data,
                progress=live,
            )
        except StoreError as error:
            if not hasattr(error, "study"):
                raise
            broken, study = error, error.study
    report(study, out, as_json)
    if plot is not None:
        study.plot().savefig(plot)
    if broken is not None:
        raise broken
    finish_study(study)
