"""The second oracle of a set of decisions, which shares no code with the first one.

A set that is a linear program is solved anew for every cost vector by the HiGHS inside SciPy: it is
another build than highspy, and runs without presolve, without a start and without an earlier basis.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.errors import SolverFailure
from milp_trees.decisions.base import (
    LISTED,
    Decided,
    DecisionSet,
    Failure,
    LinearSet,
    RowFailure,
)
from milp_trees.decisions.listed import ListedDecisions
from milp_trees.mip.linear import claims
from milp_trees.mip.linear.silent_highs import nothing_printed

#: Largest violation of a row by an answer, and difference between what it costs and its claims.
FEASIBLE, AGREES = 1e-6, 1e-5


class SecondProgram:
    """min c·x over a `LinearSet`, by SciPy.

    Parameters
    ----------
    program : LinearSet
    """

    def __init__(self, program: LinearSet) -> None:
        self.program = program

    def outcome(self, full: np.ndarray) -> np.ndarray | Failure:
        """An optimal point for costs of all columns, or why there is none."""
        p = self.program
        if (p.lower > p.upper).any() or (p.row_lower > p.row_upper).any():
            return Failure.EMPTY
        if not p.integer.any():
            return self._continuous(full, p.lower, p.upper)
        found = self._milp(full)
        if found.status == 2:
            return Failure.EMPTY
        if found.status == 3:
            return Failure.UNBOUNDED
        if found.status == 4 and found.x is None:  # unbounded or infeasible
            status = self._milp(np.zeros_like(full)).status
            if status in (0, 2):
                return Failure.EMPTY if status == 2 else Failure.UNBOUNDED
        if found.status != 0 or found.x is None:
            raise SolverFailure(
                f"SciPy ended without an answer for the decision set: {found.message}"
            )
        x = np.where(p.integer, np.rint(found.x), found.x)
        if not p.integer.all():
            # To full precision: SciPy has no options for the tolerances of integer programs.
            low, up = np.where(p.integer, x, p.lower), np.where(p.integer, x, p.upper)
            again = self._continuous(full, low, up)
            if isinstance(again, Failure):
                raise self._contradicts("returns integers that no point has")
            x = again
        self._check(full, x, float(found.fun), found.mip_dual_bound)
        return x

    def _milp(self, full: np.ndarray) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp

        p = self.program
        rows = [LinearConstraint(p.A, p.row_lower, p.row_upper)] if len(p.row_lower) else []
        with nothing_printed():
            return milp(
                full,
                integrality=p.integer.astype(int),
                bounds=Bounds(p.lower, p.upper),
                constraints=rows,
                options={"presolve": False, "mip_rel_gap": 0.0},
            )

    def _continuous(
        self, full: np.ndarray, low: np.ndarray, up: np.ndarray
    ) -> np.ndarray | Failure:
        """The linear program with other bounds of the columns, by the dual simplex method."""
        from scipy.optimize import linprog

        p = self.program
        equal = p.row_lower == p.row_upper
        above, below = ~equal & np.isfinite(p.row_upper), ~equal & np.isfinite(p.row_lower)
        found = linprog(
            full,
            A_ub=sparse.vstack([p.A[above], -p.A[below]], format="csr"),
            b_ub=np.concatenate([p.row_upper[above], -p.row_lower[below]]),
            A_eq=p.A[equal],
            b_eq=p.row_upper[equal],
            bounds=np.column_stack([low, up]),
            method="highs-ds",
            options={
                "presolve": False,
                "primal_feasibility_tolerance": 1e-10,
                "dual_feasibility_tolerance": 1e-10,
            },
        )
        if found.status in (2, 3):
            return Failure.EMPTY if found.status == 2 else Failure.UNBOUNDED
        if found.status != 0 or found.x is None:
            raise SolverFailure(
                f"SciPy ended without an answer for the decision set: {found.message}"
            )
        x = np.asarray(found.x)
        self._check(full, x, float(found.fun), None)
        return x

    def _check(
        self, full: np.ndarray, x: np.ndarray, objective: float, bound: float | None
    ) -> None:
        """Refuse an answer that contradicts itself."""
        violation = claims.violation(self.program, x)
        if violation > FEASIBLE:
            raise self._contradicts(f"returns a point that breaks the rows by {violation:.3g}")
        wrong = claims.misstatement(
            full,
            x,
            objective=objective,
            bound=bound if bound is None or math.isfinite(bound) else None,
            gap=0.0,
            tolerance=AGREES,
        )
        if wrong is not None:
            raise self._contradicts(wrong)

    @staticmethod
    def _contradicts(wrong: str) -> SolverFailure:
        return SolverFailure(f"SciPy {wrong}, so its answer for the decision set is not used.")


class SecondOracle(DecisionSet):
    """The set of another `DecisionSet`, with an oracle that solves its linear program by SciPy.

    Parameters
    ----------
    first : DecisionSet
        A set that has a program.
    """

    def __init__(self, first: DecisionSet) -> None:
        super().__init__(first.components)
        program = first.program()
        assert program is not None
        self._first, self._second = first, SecondProgram(program)

    def _solve(self, costs: np.ndarray) -> Decided:
        decisions = np.empty_like(costs)
        full = np.zeros(len(self._second.program.lower))
        for i, cost in enumerate(costs):
            # An exact factor brings the costs near 1, as the tolerances of solvers expect.
            largest = float(np.abs(cost).max())
            unit = 2.0 ** math.floor(math.log2(largest)) if largest > 0 else 1.0
            full[: self.dimension] = cost / unit
            try:
                found = self._second.outcome(full)
            except SolverFailure as error:
                raise RowFailure(i, str(error)) from error
            if isinstance(found, Failure):
                raise RowFailure(i, f"SciPy calls the decision set {found.value}, which it is not.")
            decisions[i] = found[: self.dimension]
        return Decided(decisions, (costs * decisions).sum(axis=1))

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        return self._first.vertices(limit)

    def program(self) -> LinearSet:
        return self._second.program

    def spec(self) -> dict[str, Any]:
        """The description of the set, which is the same."""
        return self._first.spec()


def second_oracle(first: DecisionSet) -> DecisionSet | None:
    """The same set with another oracle, which shares no code with the first one."""
    if first.program() is not None:
        return SecondOracle(first)
    vertices = first.vertices(sys.maxsize)
    return None if vertices is None else ListedDecisions(vertices, first.components)
