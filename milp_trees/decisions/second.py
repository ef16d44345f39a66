"""The second oracle of a set of decisions, which shares no code with the first one.

A set that is a linear program is solved anew for every cost vector by the HiGHS inside SciPy: it is
another build than highspy, and runs without presolve, without a start and without an earlier basis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from milp_trees.decisions.base import Failure, LinearSet
from milp_trees.errors import SolverFailure
from milp_trees.linear import claims

#: Largest violation of a row by an answer, and difference between what it costs and its claims.
FEASIBLE, AGREES = 1e-6, 1e-6


class SecondProgram:
    """min c·x over a `LinearSet`, by SciPy.

    Parameters
    ----------
    program : LinearSet
    """

    def __init__(self, program: LinearSet) -> None:
        self.program = program

    def outcome(self, full: np.ndarray) -> np.ndarray | Failure:
        """An optimal point for costs of all columns, or why there is none.

        Raises
        ------
        SolverFailure
            SciPy ended without an answer, or contradicts itself.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        p = self.program
        if (p.lower > p.upper).any() or (p.row_lower > p.row_upper).any():
            return Failure.EMPTY
        rows = [LinearConstraint(p.A, p.row_lower, p.row_upper)] if len(p.row_lower) else []
        given: dict[str, Any] = {
            "integrality": p.integer.astype(int),
            "bounds": Bounds(p.lower, p.upper),
            "constraints": rows,
        }
        found = milp(full, **given, options={"presolve": False, "mip_rel_gap": 0.0})
        if found.status == 2:
            return Failure.EMPTY
        if found.status == 3:
            return Failure.UNBOUNDED
        if found.status == 4 and found.x is None:  # unbounded or infeasible
            feasible = milp(np.zeros_like(full), **given, options={"presolve": False})
            if feasible.status in (0, 2):
                return Failure.EMPTY if feasible.status == 2 else Failure.UNBOUNDED
        if found.status != 0 or found.x is None:
            raise SolverFailure(
                f"SciPy ended without an answer for the decision set: {found.message}"
            )
        x = np.where(p.integer, np.rint(found.x), found.x)
        bound = found.mip_dual_bound if p.integer.any() else None
        violation = claims.violation(p, x)
        wrong = (
            f"returns a point that breaks the rows by {violation:.3g}"
            if violation > FEASIBLE
            else claims.misstatement(
                full,
                np.asarray(found.x),
                objective=float(found.fun),
                bound=bound if bound is None or math.isfinite(bound) else None,
                gap=0.0,
                tolerance=AGREES,
            )
        )
        if wrong is not None:
            raise SolverFailure(f"SciPy {wrong}, so its answer for the decision set is not used.")
        return x
