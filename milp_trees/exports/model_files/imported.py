"""A solution of an exported model, found by another program, becomes a result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.limits import Limits
from milp_trees.exports.model_files.description import SCHEMA
from milp_trees.exports.model_files.export import Export, prepare
from milp_trees.methods.finish import Clock, finish
from milp_trees.mip.linear.files import CONSTANT
from milp_trees.mip.linear.stored_solutions import StoredSolution, read_stored
from milp_trees.mip.method import FEASIBILITY
from milp_trees.results.restore import problem_of
from milp_trees.results.result import Result
from milp_trees.results.strict_json import read_json
from milp_trees.tasks.comparing import solver_slack

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: How far a value may be from a whole number, and an objective from the one that is stated, of its size.
WHOLE, SAME = 1e-4, 1e-6


@dataclass(frozen=True)
class Imported:
    """The model of a solution file.

    Parameters
    ----------
    result : Result
        The tree or rule list with its recomputed value. It claims no bound: nothing here has proved
        one.
    solution : StoredSolution
        What the file holds.
    objective : float
        The objective of the point, computed from the model.
    violation : float
        The largest violation of a row or bound.
    """

    result: Result
    solution: StoredSolution
    objective: float
    violation: float


def import_solution(
    model: str | Path,
    solution: str | Path,
    dataset: Dataset | None = None,
    data: str | Path | None = None,
    limits: Limits | None = None,
) -> Imported:
    """The tree or rule list of a solution of an exported model, scored on the data.

    The model is built again and must be the one that was written; the point must keep its rows;
    the value is recomputed from the decoded tree, and must be what the objective says.
    """
    clock = Clock()
    described = read_description(Path(model))
    stored = read_stored(Path(solution))
    with clock("prepare"):
        problem = problem_of(described["problem"], dataset, data)
    with clock("build"):
        export = prepare(problem, described["formulation"]["label"], limits or Limits())
        if str(described.get("model", "")).endswith(".opb"):
            export = export.pseudo_boolean()
    _same_model(described, export)
    point = _point(stored, export, Path(solution))
    violation = _kept(stored, export, point)
    objective = _stated(stored, export, point)
    with clock("decode"):
        tree = _decoded(export, point)
    actual = export.m.view.objective(tree)
    if actual > objective + solver_slack(export.m.view, objective):
        raise VerificationError(
            f"The solution's objective is {objective:.9g}, but the {problem.space.noun} that it describes costs {actual}; the model or its decoding is wrong: please report it."
        )
    message = f"{stored.program} states the status {stored.status!r}; " if stored.status else ""
    result = finish(
        export.problem,
        f"{export.formulation.label}@{stored.program.lower()}",
        tree,
        bound=None,
        claims_optimal=False,
        proved_by=None,
        clock=clock,
        message=f"{message}read from {Path(solution).name}, which proves no bound.",
    )
    return Imported(result, stored, objective, violation)


def read_description(model: Path) -> dict[str, Any]:
    """The description of a model file."""
    path = model
    for ending in (".mps.gz", ".mps", ".lp", ".opb"):
        if model.name.endswith(ending):
            path = model.with_name(model.name.removesuffix(ending) + ".json")
    if not path.is_file():
        raise DataError(f"There is no file {path}, which export-model writes beside the model.")
    described = read_json(path)
    kind = described.get("schema") if isinstance(described, dict) else None
    if kind != SCHEMA:
        raise DataError(
            f"{path} describes no model (its schema is {json.dumps(kind)}); give the JSON that export-model wrote beside the model."
        )
    lacking = [k for k in ("problem", "formulation", "variables", "rows") if k not in described]
    if lacking:
        raise DataError(f"{path} is damaged: it has no {lacking[0]}; export the model again.")
    return dict(described)


def _same_model(described: dict[str, Any], export: Export) -> None:
    """Refuse a description whose columns and rows are not those of the model built now."""
    now = export.described
    for part in ("variables", "rows"):
        if list(described[part]) != list(now[part]):
            version = described.get("versions", {}).get("milp-trees", "another version")
            raise DataError(
                f"The {part} of the described model (written by milp-trees {version}) are not those that {export.formulation.label} has here; export it again with this version."
            )


def _point(stored: StoredSolution, export: Export, path: Path) -> np.ndarray:
    """The values of all columns of the model, whole where they must be."""
    place = {name: j for j, name in enumerate(export.file.columns)}
    rows = set(export.file.rows)
    unknown = [name for name in stored.values if name not in place and name not in rows]
    if unknown:
        many = (
            f"{unknown[0]!r}"
            if len(unknown) == 1
            else f"{len(unknown)} columns, {unknown[0]!r} the first,"
        )
        raise DataError(
            f"{path} names {many} that the model does not have, whose columns are {', '.join(export.file.columns[:3])}, …; it is a solution of another model, or the solver renamed the columns: solve the .mps file without renaming."
        )
    x = np.zeros(len(place))
    for name, value in stored.values.items():
        if name in place:
            x[place[name]] = value
    if CONSTANT in place and CONSTANT not in stored.values:
        x[place[CONSTANT]] = 1.0  # it is fixed
    whole = export.file.model.integer
    off = np.where(whole, np.abs(x - np.round(x)), 0.0)
    if off.max(initial=0.0) > WHOLE:
        j = int(off.argmax())
        raise VerificationError(
            f"{path} gives {export.file.columns[j]} the value {x[j]:g}, which must be whole; it is a solution of the relaxation: solve the model with its integers."
        )
    return np.where(whole, np.round(x), x)


def _kept(stored: StoredSolution, export: Export, point: np.ndarray) -> float:
    """The largest violation of a row; a point that breaks one is refused."""
    violation = export.file.model.violation(point)
    if violation > FEASIBILITY:
        raise VerificationError(
            f"The point of {stored.program} breaks a row or bound of the model by {violation:g}, so it is no solution; give the file of the model that was solved."
        )
    return float(violation)


def _stated(stored: StoredSolution, export: Export, point: np.ndarray) -> float:
    """The objective of the point; another one that the file states is refused."""
    objective = float(export.file.model.objective(point))
    message = stored.objective
    if message is not None and abs(message - objective) > SAME * max(1.0, abs(objective)):
        raise VerificationError(
            f"The file states the objective {message:.9g}, but its point has {objective:.9g} in this model; it is a solution of another model, or of one that was changed."
        )
    return objective


def _decoded(export: Export, point: np.ndarray) -> Any:
    """The predictor of a point."""
    export.matrix.load(point[: export.matrix.n_variables])
    return export.problem.space.simplify(export.formulation.decode(export.m), export.m.view)
