"""The command `unimodular`: is the matrix of a model totally unimodular?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.app import Json, Out, app, check_picture, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import STUDIES
from milp_trees.cli.limits import takes_limits
from milp_trees.cli.options import ProblemOptions
from milp_trees.cli.outputs import draw, writable
from milp_trees.common.errors import DataError, UnknownName, Unsupported
from milp_trees.common.limits import Limits

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.unimodular import Unimodularity

#: Kinds of model files.
MODELS = (".mps", ".mps.gz", ".lp", ".lp.gz", ".npz")

CUTS_MISSING = "This is the matrix of {} before cuts; with the cuts that it is completed by the answer may be another."


@app.command(rich_help_panel=STUDIES)
@explained
@takes_limits("time_limit")
def unimodular(
    model: Annotated[
        str,
        typer.Argument(
            help="A model file (.mps, .lp, each also .gz; sparse .npz of SciPy), or the name of a formulation."
        ),
    ],
    *,
    example: Annotated[
        str | None,
        typer.Option(
            "--example", help="For a formulation: a small ensemble by name, e.g. figure-1."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", help="For a formulation: a table or a built-in name, e.g. iris."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="With --data: target column.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            help="With --data: most levels of splits. Default: 2; of prunings no limit.",
        ),
    ] = None,
    binarize: Annotated[
        str | None,
        typer.Option(
            "--binarize", help="With --data, formulations of trees: as in solve. Default: auto."
        ),
    ] = None,
    trees: Annotated[
        int | None,
        typer.Option(
            "--trees",
            help="With --data, formulations of prunings: trees of a random forest. Default: 2.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Picture of the spanning tree, if that is the proof (.png, .svg, .pdf)."
        ),
    ] = None,
    limits: Limits,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Test whether a constraint matrix is totally unimodular.

    The answer is yes with a proof, no with a submatrix that violates it, or unknown.
    """
    from milp_trees.unimodular import NetworkCertificate, total_unimodularity

    writable(picture=plot, json=out)
    check_picture(plot)
    options = {"target": target, "depth": depth, "binarize": binarize, "trees": trees}
    matrix, tree, incomplete = read_model(model, example, data, options, quiet=as_json)
    answer = total_unimodularity(matrix, tree, time_limit=limits.time).because(incomplete)
    if not as_json:
        show(answer)
    stated = answer.to_json()
    if not model.lower().endswith(MODELS):  # there is no file that a checker could read
        stated["matrix"] = matrix.to_json()
    write(stated, out, as_json)
    if plot is not None:
        if isinstance(answer.certificate, NetworkCertificate):
            draw(answer.certificate.plot().figure, plot, bbox_inches="tight")
        else:
            typer.echo(f"{plot} is not written: the proof is no spanning tree.", err=True)


def read_model(
    model: str, example: str | None, data: str | None, options: dict[str, Any], quiet: bool
) -> tuple[Any, Any, str]:
    """The matrix of a file or formulation."""
    from milp_trees.mip.linear.matrix import compile_model
    from milp_trees.mip.open_thresholds import for_models
    from milp_trees.mip.registry import registry
    from milp_trees.unimodular.reading import read_matrix

    known = registry.classes("formulations")
    given = {name: value for name, value in options.items() if value is not None}
    if given and (model not in known or data is None):
        raise DataError(f"{_flag(next(iter(given)))} belongs to a formulation with --data TABLE.")
    if model not in known:
        if example is not None or data is not None:
            registry.formulation(model)  # its error lists the names
        return read_file(Path(model)), None, ""
    if (example is None) == (data is None):
        raise DataError(
            f"The formulation {model} needs a problem: either --example NAME ({', '.join(examples())}) or --data TABLE."
        )
    formulation = registry.formulation(model)
    problem = (
        fitting_problem(formulation, example_problem(example), quiet)
        if example is not None
        else data_problem(formulation, str(data), given, quiet)
    )
    problem = for_models(problem)
    reason = formulation.unsupported(problem)
    if reason:
        raise Unsupported(f"{model} cannot take this problem: {reason}")
    built = formulation.build(problem, incomplete=True)
    named = getattr(formulation, "network_tree", None)
    model_matrix = compile_model(built)
    incomplete = formulation.separator(built, model_matrix) is not None
    matrix = read_matrix(model_matrix)  # names are those of the model while it exists
    return matrix, named(built) if named else None, CUTS_MISSING.format(model) if incomplete else ""


def data_problem(formulation: Any, data: str, given: dict[str, Any], quiet: bool) -> Problem:
    """A problem of the formulation's kind on a table, such as that of the best tree."""
    from milp_trees.mip.model_problems import ModelProblems, of_families
    from milp_trees.models.space import Trees, space_classes, space_names

    def of_trees(data: str, **given: Any) -> tuple[Problem, list[str]]:
        return ProblemOptions(data=data, **given).problem(quiet)[0], []

    kinds = (ModelProblems(Trees, "trees", ("binarize",), of_trees, {}), *of_families())
    spaces = space_classes(formulation.space)
    own = next((kind for kind in kinds if kind.space in spaces), None)
    if own is None:
        raise DataError(
            f"{formulation.name} searches {space_names(formulation.space)}, for which no problem is made from a table here; give a model file instead."
        )
    for kind in kinds:
        if stray := next((name for name in given if kind is not own and name in kind.options), ""):
            raise DataError(
                f"{_flag(stray)} is for formulations of {kind.noun}; {formulation.name} searches {space_names(formulation.space)}."
            )
    problem, sentences = own.of_table(data, **given)
    for sentence in sentences:
        typer.echo(sentence, err=quiet)
    return fitting_problem(formulation, problem, quiet)


def fitting_problem(formulation: Any, problem: Problem, quiet: bool) -> Problem:
    """A problem as the formulation takes it; say on standard error what was changed, if quiet."""
    from milp_trees.mip.model_problems import fitted

    found, sentence = fitted(formulation, problem)
    if sentence:
        typer.echo(sentence, err=quiet)
    return found


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def examples() -> dict[str, Any]:
    """Small problems by name."""
    from milp_trees.mip.model_problems import of_families

    return {name: make for kind in of_families() for name, make in kind.examples.items()}


def example_problem(name: str) -> Problem:
    """A small problem by name."""
    known = examples()
    if name not in known:
        raise UnknownName(f"There is no example called {name!r}. Known: {', '.join(known)}.")
    problem: Problem = known[name]()
    return problem


def read_file(path: Path) -> Any:
    """The matrix of a model file."""
    from milp_trees.unimodular.files import read_model_file

    if not path.name.lower().endswith(MODELS):
        raise DataError(
            f"{path} is neither a formulation (milp-trees formulations lists them) nor a model file, whose name ends in {', '.join(MODELS)}."
        )
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    return read_model_file(path)


def show(answer: Unimodularity) -> None:
    """Print the answer, with the submatrix or the tree if they are small."""
    from milp_trees.unimodular import NetworkCertificate

    typer.echo(str(answer))
    found, tree = answer.submatrix, answer.certificate
    if found is not None:
        from milp_trees.cli.lists import print_table

        if len(found.rows) <= 20:
            print_table(
                ["", *found.column_names],
                [[name, *row] for name, row in zip(found.row_names, found.entries, strict=True)],
            )
    elif isinstance(tree, NetworkCertificate) and len(tree.vertices) <= 30:
        for arc in tree.to_json()["arcs"]:
            typer.echo(f"  {arc['tail']} -> {arc['head']}  carries {arc['carries']}")
