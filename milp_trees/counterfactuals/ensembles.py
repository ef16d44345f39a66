r"""The nearest row of an ensemble, by an integer program over its embedding.

    min  Σ_c Σ_j p_cj a_cj
    s.t. Σ_j a_cj = 1                    for every column c
         k_c = Σ_j j a_cj                number of the interval of column c
         the embedded ensemble at k has a wanted prediction

where a_cj says that column c lies in its interval j, whose nearest value costs p_cj. The limits of
wanted predictions are relaxed by a little more than a solver's tolerance, so the bound holds for all
rows; a row that the ensemble itself predicts otherwise is cut off, and the program solved again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import Limit, Limits
from milp_trees.counterfactuals.cells import Cells, cells_of, row_of
from milp_trees.counterfactuals.columns import Column, Found
from milp_trees.counterfactuals.target import Target
from milp_trees.results.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from milp_trees.models.ensemble import Ensemble

#: By how much a limit of a prediction is relaxed, as a share of the largest value: rows that a
#: solver's tolerance would hide are found, and compared by the ensemble itself.
RELAXED = 1e-5


@dataclass
class Search:
    """What the rounds of solving have found.

    Parameters
    ----------
    status : Status
    values : mapping of str to Found, or None
    bound : Fraction or None
    nodes : int
    limit : Limit or None
    cuts : int
        Rows that were cut off because the ensemble predicts them otherwise.
    """

    status: Status = Status.NO_SOLUTION
    values: Mapping[str, Found] | None = None
    bound: Fraction | None = None
    nodes: int = 0
    limit: Limit | None = None
    cuts: int = 0
    log: list[str] = field(default_factory=list)


def nearest_in_ensemble(
    ensemble: Ensemble,
    columns: Mapping[str, Column],
    target: Target,
    accepts: Callable[[Mapping[str, Found]], bool],
    solver: str,
    limits: Limits,
) -> Search:
    """The nearest row with a wanted prediction, by a solver.

    Parameters
    ----------
    ensemble : Ensemble
    columns : mapping of str to Column
        What every column that is asked for may hold.
    target : Target
    accepts : callable
        Whether the ensemble itself predicts a row, given by its values, as wanted.
    solver : str
    limits : Limits

    Returns
    -------
    Search

    Raises
    ------
    SolverFailure
        The solver failed, or its answer is no row.
    """
    from milp_trees.mip import runner
    from milp_trees.mip.linear.matrix import compile_model
    from milp_trees.mip.solver import Job

    began, out = time.perf_counter(), Search()
    cells = cells_of(ensemble, columns)
    m = model_of(cells, target)
    while True:
        left = limits.after(time.perf_counter() - began)
        matrix = compile_model(m)
        answer = runner.run(solver, Job(matrix, left))
        if answer.status is Status.ERROR:
            raise SolverFailure(f"{solver} failed: {answer.message}")
        out.nodes += answer.nodes or 0
        out.limit = answer.limit
        if answer.bound is not None and math.isfinite(answer.bound):
            out.bound = max(out.bound or Fraction(0), Fraction(answer.bound))
        if answer.x is None:
            out.status = Status.INFEASIBLE if answer.status is Status.INFEASIBLE else out.status
            return out
        matrix.load(answer.x)
        chosen = _chosen(m, cells)
        values = row_of(cells, chosen)
        if accepts(values):
            out.values, out.status = values, answer.status
            return _within(out, answer.objective)
        out.cuts += 1
        m.cuts.add(sum(m.at[name, k] for name, k in chosen.items()) <= len(chosen) - 1)


def _within(out: Search, objective: float | None) -> Search:
    """The bound, at most the exact distance: what a solver adds to it is its tolerance."""
    assert out.values is not None
    exact = sum((one.price for one in out.values.values()), Fraction(0))
    off = abs(float(exact) - (objective or 0.0))
    if out.status is Status.OPTIMAL and off <= 1e-6 * max(1.0, float(exact)):
        out.bound = exact
    elif out.bound is not None:
        out.bound = min(out.bound, exact)
    return out


def _chosen(m: Any, cells: Cells) -> dict[str, int]:
    """The interval of every column in a solution."""
    return {
        name: max(found, key=lambda k, name=name: m.at[name, k].value)  # type: ignore[misc]
        for name, found in cells.found.items()
    }


def model_of(cells: Cells, target: Target) -> Any:
    """The Pyomo model over the cells of an ensemble.

    Parameters
    ----------
    cells : Cells
    target : Target

    Returns
    -------
    ConcreteModel
    """
    import pyomo.environ as pyo

    from milp_trees.embedding import embed

    m = pyo.ConcreteModel(name="counterfactual")
    m.columns = pyo.Set(initialize=list(cells.found))
    index = [(name, k) for name, found in cells.found.items() for k in found]
    m.at = pyo.Var(index, domain=pyo.Binary, doc="column c lies in its interval j")
    m.cell = pyo.Var(
        m.columns,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, c: (min(cells.found[c]), max(cells.found[c])),
        doc="number of the interval of column c",
    )

    @m.Constraint(m.columns, doc="every column lies in one interval")
    def one(m: Any, c: str) -> Any:
        return sum(m.at[c, k] for k in cells.found[c]) == 1

    @m.Constraint(m.columns, doc="k_c = sum_j j a_cj")
    def number(m: Any, c: str) -> Any:
        return m.cell[c] == sum(k * m.at[c, k] for k in cells.found[c])

    m.trees = embed(cells.ensemble, {c: m.cell[c] for c in cells.found})
    m.cuts = pyo.ConstraintList(doc="rows that the ensemble itself predicts otherwise")
    m.price = pyo.Objective(
        expr=sum(float(cells.found[c][k].price) * m.at[c, k] for c, k in index),
        doc="distance of the row",
    )
    return m
