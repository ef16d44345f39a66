"""Parts of `milp-trees why-not`: why another model is not the answer, and which rows conflict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.mip.registry import registry

if TYPE_CHECKING:
    from milp_trees.common.limits import Limits
    from milp_trees.explanations.rather import WhyNotModel
    from milp_trees.mip.conflicting_rows import ConflictingRows
    from milp_trees.problems.problem import Problem


def check_parts(tree: Path | None, formulation: str | None, among: str) -> None:
    """Refuse options that do not go together, and names that do not exist, before data are read."""
    if tree is not None and formulation is not None:
        raise DataError("Give --tree or --formulation, not both.")
    if among and formulation is None:
        raise DataError(
            "--among names constraints of a formulation's model; give --formulation too."
        )
    if formulation is not None:
        name, at, solver = formulation.partition("@")
        registry.formulation(name)
        if at:
            registry.solver(solver)


def another_model(problem: Problem, path: Path, limits: Limits) -> WhyNotModel:
    """Why the model in a file is not the answer of a problem."""
    from milp_trees.explanations.rather import why_not_model
    from milp_trees.solving.gap import read_model
    from milp_trees.studies.live import Live

    given = read_model(path, problem)
    with Live() as live:
        live.begin("")
        return why_not_model(problem, given, limits=limits, progress=live.point)


def conflicting_rows_of(
    problem: Problem, name: str, among: list[str], limits: Limits
) -> ConflictingRows:
    """Rows of a formulation's model of a problem that contradict each other.

    Parameters
    ----------
    problem : Problem
    name : str
        A formulation, or `FORMULATION@SOLVER`.
    among : list of str
        Names of the blocks of rows that may be left out; all if it is empty.
    limits : Limits
    """
    from milp_trees.mip.conflicting_rows import conflicting_rows
    from milp_trees.mip.open_thresholds import for_models

    label, _, solver = name.partition("@")
    chosen, problem = registry.formulation(label), for_models(problem)
    model = chosen.build(problem, incomplete=True, max_nonzeros=limits.nonzeros)
    try:
        return conflicting_rows(
            model, chosen, problem, among=among or None, solver=solver or None, limits=limits
        )
    except DataError as why:
        if chosen.whole(problem):
            raise
        raise Unsupported(
            f"{label} finds further rows while it is solved, and those that it begins with have a common point; take a formulation whose model is complete."
        ) from why
