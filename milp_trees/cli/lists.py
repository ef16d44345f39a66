"""The commands beside `solve` and `compare`: what there is, what it would cost, and other
questions.
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
    TimeLimit,
    app,
    check_picture,
    finish,
    finish_study,
    report,
    writable,
    write,
)
from milp_trees.cli.options import (
    INTERRUPTED,
    NO_MODEL,
    ProblemOptions,
    explained,
    fail,
    takes_problem,
)

if TYPE_CHECKING:
    from rich.table import Table

    from milp_trees.engines.near.tree_set import TreeSet

#: Near-optimal trees that a command writes at most; more would fill the memory.
MOST_SHOWN = 1_000_000


@app.command(epilog=EXIT_CODES)
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
    from milp_trees.study.estimate import estimates

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
                *(_number(r[k]) for k in ("variables", "binaries", "rows", "nonzeros")),
                r["time_class"] or "unsupported",
            ]
            for r in rows
        ],
    )
    for r in rows:
        if r["reason"]:
            typer.echo(f"{r['formulation']}: {r['reason']}")


@app.command(epilog=EXIT_CODES)
@explained
@takes_problem
def export(
    options: ProblemOptions,
    formulation: Annotated[
        str, typer.Option("--formulation", help="The formulation to write.")
    ] = "flow-oct",
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="File to write: .mps (which every solver reads), .mps.gz or .lp; NAME.json and NAME.sol go beside it.",
        ),
    ] = Path("model.mps"),
    solution: Annotated[bool, typer.Option(help="Also write the proven optimum as .sol.")] = True,
    time_limit: TimeLimit = 60.0,
    max_nonzeros: MaxNonzeros = MAX_NONZEROS,
    as_json: Json = False,
) -> None:
    """Write any problem × formulation as a model file, with what it means as JSON, and the proven
    optimum as a solution file.
    """
    from milp_trees.study.export import export_model

    problem, _ = options.problem(quiet=as_json)
    written = export_model(problem, formulation, out, solution, time_limit, max_nonzeros)
    if as_json:
        write(written, None, True)
    else:
        for name, value in written.items():
            for line in value if isinstance(value, list) else [] if value is None else [value]:
                typer.echo(f"{name:<11} {line}")


@app.command(epilog=EXIT_CODES)
@explained
@takes_problem
def path(
    options: ProblemOptions,
    leaves: Annotated[int, typer.Option("--leaves", min=1, help="Largest number of leaves.")] = 8,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="dp-sizes answers all sizes in one run; others run once per size. Default: what takes the task.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Picture of value against leaves (.png, .svg, .pdf)."),
    ] = None,
    time_limit: TimeLimit = 60.0,
    memory_limit: Memory = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The best tree of every number of leaves, each with its proof, and the penalties per leaf for
    which it is the best.
    """
    from milp_trees.api import size_path
    from milp_trees.results.result import Limit
    from milp_trees.study.live import Live

    writable(out, plot)
    check_picture(plot)
    problem, _ = options.problem(quiet=as_json)
    with Live() as live:
        live.bar.update(live.task, method=method or "")
        found = size_path(
            problem,
            max_leaves=leaves,
            method=method,
            time_limit=time_limit,
            memory_mb=memory_limit,
            progress=live.point,
        )
    if not as_json:
        print_table(
            [
                "leaves",
                found.points[0].value.unit,
                "bound",
                "proven",
                "depth",
                "best for penalties per leaf",
            ],
            [
                [
                    r["leaves"],
                    f"{r['value']:.10g}",
                    "–" if r["bound"] is None else f"{float(r['bound']):.10g}",
                    "yes" if r["proven"] else "no",
                    r["depth"],
                    _between(r),
                ]
                for r in found.rows()
            ],
        )
        typer.echo(f"\n{found.improving[-1].predictor.to_text()}")
    if plot is not None:
        found.plot().figure.savefig(plot, bbox_inches="tight")
    write(found.to_json(), out, as_json)
    if found.limit is Limit.INTERRUPTED:
        typer.echo("Interrupted; these are the best so far.", err=True)
        raise typer.Exit(INTERRUPTED)


def _between(row: dict[str, Any]) -> str:
    """The penalties for which a size is the best, as fractions where these are short."""
    if not row["on_hull"]:
        return "none"
    low, high = (
        str(p) if p is None or p.denominator < 10**6 else f"{float(p):.8g}"
        for p in (row["penalty_from"], row["penalty_to"])
    )
    return f"{low} to {high}" if row["penalty_to"] is not None else f"from {low}"


@app.command("near-best", epilog=EXIT_CODES)
@explained
@takes_problem
def near_best(
    options: ProblemOptions,
    slack: Annotated[
        str | None,
        typer.Option(
            "--slack", help="How much worse than the best a tree may be, in the task's unit."
        ),
    ] = None,
    relative: Annotated[
        str | None,
        typer.Option(
            "--relative", help="The same as a share of the best value; give one of the two."
        ),
    ] = None,
    trivial: Annotated[
        bool, typer.Option(help="Count trees in which two sibling leaves choose the same action.")
    ] = True,
    equal_tests: Annotated[
        str,
        typer.Option(
            "--equal-tests",
            help="all or one: tests that divide a node's rows alike make a tree each, or one.",
        ),
    ] = "all",
    listed: Annotated[
        int, typer.Option("--list", min=0, max=MOST_SHOWN, help="Trees to show, best first.")
    ] = 3,
    sample: Annotated[
        int,
        typer.Option("--sample", min=0, max=MOST_SHOWN, help="Trees to draw uniformly and show."),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of --sample.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Picture of values and use of tests (.png, .svg, .pdf)."),
    ] = None,
    time_limit: TimeLimit = 60.0,
    memory_limit: Memory = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Count all trees within a slack of the optimum (the Rashomon set); list the first, draw some,
    and say which tests they use.
    """
    from milp_trees.api import solve as run
    from milp_trees.questions import NearBest
    from milp_trees.results.result import Limit

    writable(plot, out)
    check_picture(plot)
    question = NearBest(slack, relative, trivial, equal_tests, most=1)
    problem, _ = options.problem(quiet=as_json)
    result = run(
        replace(problem, question=question),
        "near-best",
        time_limit=time_limit,
        memory_mb=memory_limit,
    )
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
    drawn = {"trees": trees[: max(0, listed)], "sample": trees.sample(sample, seed)}
    used = trees.importance().astype(object)
    tests = used.where(used.notna(), None).to_dict("records")
    if plot is not None:
        trees.plot().savefig(plot)
    if not as_json:
        show_trees(trees, tests, drawn)
    shown = {
        name: [
            {"value": s.value.number, "exact": str(s.value.exact), "tree": s.predictor.to_json()}
            for s in of
        ]
        for name, of in drawn.items()
    }
    write({**trees.to_json(), "tests": tests, **shown}, out, as_json)
    if trees.limit is Limit.INTERRUPTED:
        typer.echo("Interrupted; this is the set for the smaller slack.", err=True)
        raise typer.Exit(INTERRUPTED)


def show_trees(trees: TreeSet, tests: list[dict[str, Any]], drawn: dict[str, Any]) -> None:
    """The counts, the use of tests and some trees, for people."""
    typer.echo(f"\n{trees!r}\n".replace("<", "", 1).replace(">\n", "\n"))
    print_table(
        [trees.optimum.unit, "trees"],
        [[f"{float(v):.10g}", _number(c)] for v, c in trees.values().items()],
    )
    typer.echo()
    print_table(
        ["test", "trees", "share", "best without"],
        [
            [
                t["test"],
                _number(t["trees"]),
                f"{t['share']:.1%}",
                "–" if t["best_without"] is None else f"{t['best_without']:.10g}",
            ]
            for t in tests
        ],
    )
    for name, of in drawn.items():
        for s in of:
            typer.echo(
                f"\n{s.value}{' (drawn)' if name == 'sample' else ''}:\n{s.predictor.to_text()}"
            )


@app.command(epilog=EXIT_CODES)
@explained
def formulations(as_json: Json = False) -> None:
    """List the formulations."""
    from milp_trees.by_name import registry

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
        print_table(
            ["name", "title", "reference"], [[r["name"], r["title"], r["reference"]] for r in rows]
        )


@app.command(epilog=EXIT_CODES)
@explained
def methods(as_json: Json = False) -> None:
    """List the methods that need no solver; formulations are methods with one, as
    FORMULATION@SOLVER.
    """
    from milp_trees.by_name import registry

    found = [registry.method(name) for name in registry.classes("methods")]
    rows = [
        {"name": m.name, "title": m.title, "exact": m.exact} for m in found
    ]  # whether it proves may depend on its options
    if as_json:
        write(rows, None, True)
    else:
        print_table(
            ["name", "title", "proves"],
            [[r["name"], r["title"], "yes" if r["exact"] else "no"] for r in rows],
        )


@app.command(epilog=EXIT_CODES)
@explained
def solvers(as_json: Json = False) -> None:
    """List the solvers: found, or why not and how to get them."""
    from milp_trees.by_name import registry
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


#: What the demonstration lets compete: one formulation per idea.
DEMO = ("state-flow", "flow-oct", "path-cut", "bin-oct", "oct-binary")


@app.command(epilog=EXIT_CODES)
@explained
def demo(
    time_limit: TimeLimit = 10.0,
    store: Annotated[Path | None, typer.Option("--store", help="SQLite file for the rows.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare formulations on the breast cancer data that comes with scikit-learn; takes less than
    two minutes.
    """
    from milp_trees.api import compare as run
    from milp_trees.by_name import registry
    from milp_trees.mip.solver import availability_of
    from milp_trees.study.live import Live

    columns = "mean texture,worst radius,worst texture,worst concave points,worst smoothness"
    options = ProblemOptions(
        data="breast-cancer", depth=2, binarize="quantiles:3", features=columns
    )
    typer.echo(
        "milp-trees compare breast-cancer --depth 2 --binarize quantiles:3 --features ... --solvers highs,cbc\n",
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
        study = run(problem, ["dp", *names], time_limit=time_limit, store=store, progress=live)
    report(study, out, as_json)
    finish_study(study)


def print_table(heads: list[str], rows: list[list[Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table: Table = Table(box=None, header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    Console().print(table)


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}".replace(",", " ")
