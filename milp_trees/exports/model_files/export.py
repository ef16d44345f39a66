"""Writing a problem × formulation as a model file.

Beside it are written a description of what the model means, and the proven optimum as a solution
file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, MilpTreesError, Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.writing import write_whole
from milp_trees.exports.model_files.description import SCHEMA, comments, description
from milp_trees.mip.linear.files import FileModel, file_model, opb_model, suffix_of, write_text
from milp_trees.mip.linear.matrix import MatrixModel, compile_model
from milp_trees.mip.linear.pseudo_boolean import HEADER, best_bound, proof_text
from milp_trees.mip.linear.solutions import OBJECTIVE, write_solution
from milp_trees.mip.method import too_large
from milp_trees.mip.open_thresholds import for_models
from milp_trees.mip.proving import row_duals, with_duals
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import availability_of
from milp_trees.results.json import json_safe
from milp_trees.results.result import Result, Status
from milp_trees.solving.agreement import choose_reference
from milp_trees.solving.estimate import named_formulation
from milp_trees.tasks.comparing import solver_slack, units
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    import numpy as np

    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem

SUFFIXES = (".mps", ".mps.gz", ".lp", ".opb")


@dataclass(frozen=True, eq=False)
class Export:
    """A problem × formulation in the form of a file, before it is written.

    Parameters
    ----------
    problem : Problem
    formulation : Formulation
    m : Pyomo model
    matrix : MatrixModel
        The compiled model.
    file : FileModel
        Its form in the file.
    described : dict
        What `description` returns.
    """

    problem: Problem
    formulation: Formulation
    m: Any
    matrix: MatrixModel
    file: FileModel
    described: dict[str, Any]

    def point(self, best: Result) -> np.ndarray:
        """The predictor of a result as a point of the file, which is checked.

        Raises
        ------
        MilpTreesError
            The point breaks a row, or its objective is another one than that of the predictor.
        """
        self.formulation.encode(self.problem.space.simplify(best.predictor, self.m.view), self.m)
        point = self.file.point(self.matrix.values())
        _check_solution(self.file, point, best, self.m.view)
        return point

    def write(self, path: Path, beside: str | None = None) -> None:
        """Write the model.

        Parameters
        ----------
        path : Path
            Ends in one of `SUFFIXES`.
        beside : str, optional
            Name of the JSON file that holds the whole description.
        """
        kind = suffix_of(path, SUFFIXES).removesuffix(".gz")
        write_text(path, self.file.text(kind, comments(self.described, beside)))

    def pseudo_boolean(self) -> Export:
        """The same as a pseudo-Boolean problem.

        Raises
        ------
        Unsupported
            The model has other variables than 0/1 variables, numbers that are not whole, or a row
            that nothing satisfies.
        """
        if why := self.matrix.contradiction():
            raise Unsupported(f"{why} A pseudo-Boolean problem with such a row is not written.")
        file = opb_model(self.file)
        message = description(self.problem, self.formulation, self.m, self.matrix, file)
        return replace(self, file=file, described=message)

    def prove(self, path: Path, point: np.ndarray, limits: Limits) -> int:
        """Write the VeriPB proof of the bound of the relaxation.

        Parameters
        ----------
        path : Path
        point : array
            A solution, as `point` returns it.
        limits : Limits

        Returns
        -------
        int
            The bound, in units of the objective of the file.

        Raises
        ------
        Unsupported
            No solver gives duals of the relaxation.
        Stopped
            A limit was reached.
        """
        names = [n for n in with_duals() if availability_of(registry.solver(n)).found]
        if not names:
            raise Unsupported(
                f"A proof needs duals, and no solver that gives them is installed; install {' or '.join(with_duals())}, or write the model alone with --no-solution."
            )
        options = self.formulation.relaxation_options_for(names[0], self.m.view, self.problem.space)
        duals = row_duals(names[0], self.file.model, limits, options)
        bound = best_bound(self.file.model, duals)
        write_whole(path, proof_text(self.file.model, self.file.columns, bound, point))
        return bound.bound


def prepare(problem: Problem, formulation: str, limits: Limits) -> Export:
    """Build and compile a model that is to be written to a file."""
    model, problem = named_formulation(formulation), for_models(problem)
    _check_exportable(problem, model, limits)
    m = model.build(problem, max_nonzeros=limits.nonzeros)
    matrix = compile_model(m)
    file = file_model(matrix)
    return Export(problem, model, m, matrix, file, description(problem, model, m, matrix, file))


def export_model(
    problem: Problem,
    formulation: str,
    path: str | Path,
    solution: bool = True,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Write a model, its meaning (`NAME.json`) and its proven optimum (`NAME.sol`).

    Parameters
    ----------
    problem : Problem
    formulation : str
        With its options: `flow-oct:merge_rows=off`.
    path : path
        Ends in `.mps`, `.mps.gz` or `.lp`; or in `.opb`, for a pseudo-Boolean problem, whose proof
        for VeriPB, `NAME.pbp`, is written with the solution.
    solution : bool, default=True
        Whether to solve the problem (with an exact engine, or with the formulation itself on HiGHS)
        and write `NAME.sol`: a line per variable that is not 0.
    limits : Limits, optional
        Of the run that solves it, by default 60 seconds. A model with more nonzeros than they allow
        is not built.

    Returns
    -------
    dict
        `model`, `description`, `solution` and for `.opb` `proof` (paths), `status` (of the problem: optimal or
        infeasible; None if it was not solved), `objective` (of the model, as the file states it),
        `value` (natural), `unit`, `proved_by`, and `notes`: solvers that cannot read such a file. A
        description holds `offset` and `scale` as exact fractions, with value = offset + scale ·
        objective, and the meaning of every name.

    Raises
    ------
    DataError
        The path has another ending, its folder is missing, or `NAME.json` or `NAME.sol` is a file
        of another kind.
    Unsupported
        The formulation cannot take the problem, is too large, or has rows that are found only while
        it is solved.
    MilpTreesError
        No optimum was proven within the time limit.

    Examples
    --------
    >>> import milp_trees as mt, tempfile
    >>> problem = mt.Problem(mt.Dataset([[0], [1]], y=["no", "yes"]), mt.Accuracy(), mt.Trees(max_depth=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = mt.export_model(problem, "flow-oct", f"{folder}/tiny.mps")
    >>> written["objective"], written["value"], written["unit"]
    (0.0, 0.0, 'errors')
    """
    path, limits = Path(path), limits or Limits()
    suffix = suffix_of(path, SUFFIXES)
    stem = path.name[: -len(suffix)]
    beside = path.with_name(f"{stem}.json")
    target, proof = path.with_name(f"{stem}.sol"), path.with_name(f"{stem}.pbp")
    _check_writable(path, beside, target if solution else None)
    export = prepare(problem, formulation, limits)
    if suffix == ".opb":
        _check_kind(proof, HEADER, "the proof")
        export = export.pseudo_boolean()
    described = export.described
    described["solution"] = None
    out: dict[str, Any] = dict.fromkeys(
        ("solution", "status", "objective", "value", "unit", "proved_by")
    )
    notes: list[str] = []
    if solution:
        best = _optimum(problem, formulation, limits)
        if best.value is not None:
            point = export.point(best)
            write_solution(export.file, point, target)
            if suffix == ".opb":
                bound = export.prove(proof, point, limits)
                out |= {"proof": str(proof)}
                gap = round(export.file.model.objective(point)) - bound
                notes += [
                    f"{proof.name} proves the bound {bound} of the relaxation, {gap} below the optimum."
                ] * bool(gap)
            out |= {
                "solution": str(target),
                "objective": export.file.model.objective(point),
                "value": best.value.number,
                "unit": best.value.unit,
            }
        out |= {"status": best.status.value, "proved_by": best.certificate.proved_by or best.method}
        described["solution"] = {
            **out,
            **_beside(best),
            "solution": out["solution"] and target.name,
        }
    if (
        out["solution"] is None
        and target.exists()
        and target.read_text(errors="replace").startswith(OBJECTIVE)
    ):
        target.unlink()  # the solution of an earlier model with this name
    if suffix == ".opb" and "proof" not in out:
        proof.unlink(missing_ok=True)
    export.write(path, beside.name)
    write_whole(beside, _json({**described, "model": path.name}))
    notes += [
        f"{solver.title}: {why}" for solver in _solvers() if (why := solver.cannot_read.get(suffix))
    ]
    return {"model": str(path), "description": str(beside), **out, "notes": notes}


def _check_writable(path: Path, beside: Path, target: Path | None) -> None:
    if not path.absolute().parent.is_dir():
        raise DataError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it first."
        )
    if (
        beside.exists()
        and f'"schema": "{SCHEMA.rpartition(" ")[0]}'
        not in beside.read_text(encoding="utf-8", errors="replace")[:200]
    ):
        raise DataError(
            f"{beside} is to describe the model and exists already as another kind of file; choose another name for the model."
        )
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.")
    if target is not None:
        _check_kind(target, OBJECTIVE, "the optimum")


def _check_kind(target: Path, begins: str, what: str) -> None:
    if target.exists() and not target.read_text(errors="replace").startswith(begins):
        raise DataError(
            f"{target} is to hold {what} and exists already as another kind of file; choose another name, or write the model alone (solution=False)."
        )


def _check_exportable(problem: Problem, model: Formulation, limits: Limits) -> None:
    if problem.task.offers(Ratio) and not problem.task.offers(CostMatrix):
        raise Unsupported(
            f"The task {problem.task.name} is a ratio and solved in steps, each a model of its own; there is no one model to export."
        )
    why = model.unsupported(problem)
    if why is None and not model.whole(problem):
        whole = [
            name
            for name in registry.formulations_for(problem)
            if (f := named_formulation(name)).unsupported(problem) is None and f.whole(problem)
        ]
        remedy = (
            f"export {' or '.join(whole)} instead"
            if whole
            else "no other formulation takes this problem"
        )
        why = f"its rows are found while it is solved, so a file would hold a part of it only, with another optimum; {remedy}."
    why = why or too_large(
        model.model_size(model.presolved_view(problem), problem.space).nonzeros,
        replace(limits, time=None),
    )
    if why:
        raise Unsupported(why if why.startswith(model.name) else f"{model.label}: {why}")


def _optimum(problem: Problem, formulation: str, limits: Limits) -> Result:
    """A proven optimum, or the proof that there is none.

    An exact engine is tried first, then the formulation itself.
    """
    own = f"{formulation}@{registry.default_solver}"
    names = [n for n in (choose_reference(problem), own) if n is not None]
    for name in dict.fromkeys(names):
        result = registry.method(name).run(problem, limits)
        if result.optimal or result.status is Status.INFEASIBLE:
            return result
    raise MilpTreesError(
        f"{' and '.join(names)} proved no optimum within {limits.time or 0:g} s; raise --time-limit, or write the model alone with --no-solution."
    )


def _beside(best: Result) -> dict[str, Any]:
    """What the description states about an optimum besides its value."""
    known = {"method": best.method, "checked": list(best.certificate.checked)}
    return (
        known
        if best.value is None
        else {**known, "exact": best.value.exact, "predictor": best.predictor.to_json()}
    )


def _check_solution(file: FileModel, point: np.ndarray, best: Result, view: Any) -> None:
    """Check the encoded optimum: it is feasible in the file, and its objective gives the value."""
    assert best.value is not None
    name, violation, objective = (
        file.model.name,
        file.model.violation(point),
        file.model.objective(point),
    )
    if violation > 1e-6:
        raise MilpTreesError(
            f"The optimum of {best.method} breaks a row of {name} by {violation:g}: a bug in its encode; please report it."
        )
    wanted = float(units(best.value, view))
    if abs(objective - wanted) > solver_slack(view, wanted):
        raise MilpTreesError(
            f"The optimum of {best.method} is {wanted:.15g} units and {objective:.15g} in {name}: a bug in its encode; please report it."
        )


def _json(described: dict[str, Any]) -> str:
    """JSON with a line per entry of a map, so that the description of a large model is readable."""
    safe = json_safe(described)
    parts = []
    for key, value in safe.items():
        if key in ("variables", "rows") and value:
            entries = ",\n".join(
                f"  {json.dumps(name)}: {json.dumps(place)}" for name, place in value.items()
            )
            parts.append(f" {json.dumps(key)}: {{\n{entries}\n }}")
        else:
            parts.append(f" {json.dumps(key)}: " + json.dumps(value, indent=1).replace("\n", "\n "))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _solvers() -> list[Any]:
    return [registry.solver(name) for name in sorted(registry.classes("solvers"))]
