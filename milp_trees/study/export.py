"""Writing a problem × formulation as a model file, with the proven optimum as a solution file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.errors import DataError, MilpTreesError, Unsupported
from milp_trees.formulation_method import too_large
from milp_trees.linear.files import write_model
from milp_trees.matrix import MatrixModel, compile_model
from milp_trees.registry import registry
from milp_trees.result import Result
from milp_trees.solver import MAX_NONZEROS, Limits
from milp_trees.study.agreement import choose_oracle
from milp_trees.study.estimate import named_formulation
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    import numpy as np

    from milp_trees.problem import Problem

SUFFIXES = (".mps.gz", ".mps", ".lp")


def export_model(
    problem: Problem, formulation: str, path: str | Path, solution: bool = True, time_limit: float = 60.0, max_nonzeros: int | None = MAX_NONZEROS
) -> dict[str, Any]:
    """Write a model and, beside it, its proven optimum.

    Parameters
    ----------
    path : path
        Ends in `.mps.gz`, `.mps` or `.lp`.
    solution : bool, default=True
        Whether to solve (with an oracle, or with the formulation itself on HiGHS) and write `NAME.sol`: a line per variable that is not 0.
    max_nonzeros : int or None, default=20 million
        A larger model is not built.

    Returns
    -------
    dict
        `model`, `solution`, `objective` (of the model, as the file states it), `value` (natural), `unit`, `proved_by`.
    """
    path = Path(path)
    suffix = next((s for s in SUFFIXES if path.name.endswith(s)), None)
    if suffix is None:
        raise DataError(f"A model file ends in .mps, .mps.gz or .lp; got {path.name!r}.")
    model = named_formulation(formulation)
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path} cannot be written: there is no folder {path.parent}. Make it first.")
    if problem.task.offers(Ratio) and not problem.task.offers(CostMatrix):
        raise Unsupported(f"The task {problem.task.name} is a ratio and solved in steps, each a model of its own; there is no one model to export.")
    why = model.unsupported(problem) or too_large(model.sizes(model.instance(problem), problem.space).nonzeros, Limits(None, nonzeros=max_nonzeros))
    if why:
        raise Unsupported(f"{model.label}: {why}")
    m = model.build(problem)
    matrix = compile_model(m)
    write_model(matrix, path)
    out: dict[str, Any] = {"model": str(path), "solution": None, "objective": None, "value": None, "unit": None, "proved_by": None}
    if not solution:
        return out
    best = _optimum(problem, formulation, time_limit)
    assert best.predictor is not None
    assert best.value is not None
    view = model.instance(problem)
    model.encode(view.canonical(best.predictor).prune_empty(view), m)
    point = matrix.values()
    violation = matrix.violation(point)
    if violation > 1e-6:
        raise MilpTreesError(f"The optimum of {best.method} breaks a row of {model.name} by {violation:g}: a bug in its encode; please report it.")
    target = path.with_name(path.name[: -len(suffix)] + ".sol")
    _write_solution(matrix, point, target)
    return {
        **out,
        "solution": str(target),
        "objective": matrix.objective(point),
        "value": best.value.number,
        "unit": best.value.unit,
        "proved_by": best.method,
    }


def _optimum(problem: Problem, formulation: str, time_limit: float) -> Result:
    """A proven optimum by an oracle, or else by the formulation itself."""
    names = [n for n in (choose_oracle(problem, "dp"), f"{formulation}@highs") if n is not None]
    for name in names:
        result = registry.method(name).run(problem.fresh(), Limits(time=time_limit))
        if result.optimal:
            return result
    raise MilpTreesError(
        f"{' and '.join(names)} proved no optimum within {time_limit:g} s; raise --time-limit, or write the model alone with --no-solution."
    )


def _write_solution(matrix: MatrixModel, point: np.ndarray, path: Path) -> None:
    names, _ = matrix.names()
    lines = [f"=obj= {matrix.objective(point):.15g}"]
    lines += [f"{name} {value:.15g}" for name, value in zip(names, point.tolist(), strict=True) if value]
    path.write_text("\n".join(lines) + "\n")
