"""Plug-ins of SCIP for one run: rows that are found during the search, and points from outside.

Their base classes exist only when pyscipopt is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.mip.linear.matrix import MatrixModel, Separator
from milp_trees.mip.solver import Exchange

#: A row counts as violated, and a point as infeasible, if the violation is larger than this, which
#: is SCIP's own tolerance.
TOLERANCE = 1e-6


def values(scip: Any, solution: Any, columns: list[Any]) -> np.ndarray:
    """Values of variables in a solution; None is the current point of the relaxation."""
    return np.array([scip.getSolVal(solution, v) for v in columns], dtype=float)


def heuristic(columns: list[Any], exchange: Exchange) -> Any:
    """The heuristic that sends points of the relaxation and tries those that came back."""
    from pyscipopt import SCIP_LPSOLSTAT, SCIP_RESULT, Heur

    class Points(Heur):  # type: ignore[misc]
        def heurexec(self, heurtiming: Any, nodeinfeasible: bool) -> dict[str, Any]:
            scip = self.model
            x = exchange.take()
            if scip.getLPSolstat() == SCIP_LPSOLSTAT.OPTIMAL:
                exchange.send(values(scip, None, columns))
            if x is None:
                return {"result": SCIP_RESULT.DIDNOTRUN}
            found = scip.createOrigSol(self)
            for column, value in zip(columns, x.tolist(), strict=True):
                scip.setSolVal(found, column, value)
            stored = scip.trySol(found)
            return {"result": SCIP_RESULT.FOUNDSOL if stored else SCIP_RESULT.DIDNOTFIND}

    return Points()


def lazy_handler(columns: list[Any], model: MatrixModel, separator: Separator) -> Any:  # noqa: C901
    """The constraint handler that represents the rows that are not in the model."""
    from pyscipopt import SCIP_RESULT, Conshdlr, quicksum

    class LazyRows(Conshdlr):  # type: ignore[misc]
        def __init__(self) -> None:
            self.cuts = 0
            self.error: Exception | None = None

        def violated(
            self, solution: Any, integral: bool
        ) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
            """Rows that a point violates: columns, coefficients, lower, upper."""
            x = values(self.model, solution, columns)
            try:
                A, lower, upper = separator.separate(model.rounded(x) if integral else x, integral)
            except Exception as error:
                # An exception cannot pass through SCIP; the search ends, and it is raised
                # afterwards.
                self.error = error
                self.model.interruptSolve()
                return []
            if not len(lower):
                return []
            A = A.tocsr()
            activity = A @ x
            # A row that SCIP regards as satisfied would be found again without end.
            wrong = np.flatnonzero(np.maximum(lower - activity, activity - upper) > TOLERANCE)
            parts = [(slice(A.indptr[i], A.indptr[i + 1]), i) for i in wrong]
            return [(A.indices[s], A.data[s], float(lower[i]), float(upper[i])) for s, i in parts]

        def add(self, solution: Any, integral: bool) -> bool:
            rows = self.violated(solution, integral)
            for indices, data, lower, upper in rows:
                terms = quicksum(
                    a * columns[j] for j, a in zip(indices.tolist(), data.tolist(), strict=True)
                )
                if np.isfinite(lower):
                    self.model.addCons(terms >= lower, removable=True)
                if np.isfinite(upper):
                    self.model.addCons(terms <= upper, removable=True)
            self.cuts += len(rows)
            return bool(rows)

        def conscheck(self, constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
            wrong = self.violated(solution, True) or self.error is not None
            return {"result": SCIP_RESULT.INFEASIBLE if wrong else SCIP_RESULT.FEASIBLE}

        def consenfolp(self, *_: Any) -> dict[str, Any]:
            return {"result": SCIP_RESULT.CONSADDED if self.add(None, True) else self.undecided()}

        def consenfops(self, *_: Any) -> dict[str, Any]:
            return {"result": SCIP_RESULT.CONSADDED if self.add(None, True) else self.undecided()}

        def undecided(self) -> Any:
            return SCIP_RESULT.FEASIBLE if self.error is None else SCIP_RESULT.INFEASIBLE

        def conssepalp(self, *_: Any) -> dict[str, Any]:
            return {
                "result": SCIP_RESULT.CONSADDED if self.add(None, False) else SCIP_RESULT.DIDNOTFIND
            }

        def conslock(self, constraint: Any, locktype: Any, nlockspos: int, nlocksneg: int) -> None:
            # The signs in rows to come are unknown, so every variable is locked in both directions.
            for v in columns:
                self.model.addVarLocksType(
                    v, locktype, nlockspos + nlocksneg, nlockspos + nlocksneg
                )

    return LazyRows()
