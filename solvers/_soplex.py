"""A linear program that SoPlex keeps between cuts, through `pyscipopt.LP`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.mip.linear.claims import dual_value
from milp_trees.mip.linear.matrix import MatrixModel, NewRows
from milp_trees.mip.solver import Answer, Job
from milp_trees.results.result import Status

from ._common import Trace, finite
from ._cut_rounds import cut_rounds


def solve_by_rounds(job: Job, trace: Trace, stop: Callable[[], bool], version: str) -> Answer:
    """A relaxation with its cuts; see `cut_rounds`."""
    lp = KeptProgram(job.model)

    def solve(model: MatrixModel, rows: NewRows | None) -> Answer:
        if rows is not None:
            lp.add(rows)
        return lp.answer(model, trace.left(job.limits.time), version)

    return cut_rounds(job, trace, stop, solve)


class KeptProgram:
    """A linear program in SoPlex."""

    def __init__(self, model: MatrixModel) -> None:
        from pyscipopt import LP

        self.lp = LP()
        self.infinity = self.lp.infinity()
        nothing: list[Any] = [[] for _ in range(model.n_variables)]
        self.lp.addCols(
            nothing, model.c.tolist(), self._sides(model.lower), self._sides(model.upper)
        )
        self.add(NewRows(model.A, model.row_lower, model.row_upper))

    def _sides(self, values: np.ndarray) -> list[float]:
        sides: list[float] = np.clip(values, -self.infinity, self.infinity).tolist()
        return sides

    def add(self, rows: NewRows) -> None:
        """Add rows at the end."""
        A = rows.A.tocsr()
        columns, values, at = A.indices.tolist(), A.data.tolist(), A.indptr.tolist()
        entries = [list(zip(columns[a:b], values[a:b], strict=True)) for a, b in pairwise(at)]
        if entries:
            self.lp.addRows(entries, self._sides(rows.lower), self._sides(rows.upper))

    def answer(self, model: MatrixModel, left: float | None, version: str) -> Answer:
        """Solve it from the last basis."""
        from pyscipopt import SCIP_LPPARAM

        if left is not None:
            self.lp.setRealParam(SCIP_LPPARAM.LPTILIM, left)
        self.lp.solve()
        if not self.lp.isOptimal():
            # Nothing is claimed; the search that follows finds out what the reason is.
            return Answer(Status.NO_SOLUTION, version=version)
        x = np.array(self.lp.getPrimal(), dtype=float)
        value = model.objective(x)
        dual = dual_value(model, model.c, np.array(self.lp.getDual(), dtype=float), model.offset)
        bound = finite(min(value, dual))
        return Answer(
            Status.OPTIMAL, None, x, value, bound, bound, 0, version=version, claimed=value
        )
