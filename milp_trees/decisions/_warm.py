"""A linear or mixed-integer program in HiGHS that is solved repeatedly for changing costs.

Each solve starts from what earlier solves have found.
"""

from __future__ import annotations

import math
from typing import Any

import highspy
import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.decisions.base import Failure, LinearSet
from milp_trees.mip.linear import claims
from milp_trees.mip.linear.silent_highs import silent_highs

#: Tolerances of the simplex method, the smallest that HiGHS accepts.
TOLERANCE = 1e-10
#: If a reduced cost is this close to 0 (costs are scaled to 1), there may be another optimum.
TIE = 1e-9
#: A point that HiGHS reports as feasible must be feasible within this tolerance.
FEASIBLE = 1e-6
#: Largest difference between HiGHS's objective or bound and what its point costs, relative to the
#: sizes of the terms. It is 100 times HiGHS's tolerances.
AGREES = 1e-7
#: Entries of a decision are rounded to this many places, so that a vertex has the same entries
#: after different earlier solves.
PLACES = 12


class WarmProgram:
    """min c·w over a `LinearSet` for one c after another; the answer depends on c alone.

    An LP starts from the last optimal basis. If several points are optimal, a second LP over the
    optimal face minimises a fixed direction, which selects one vertex. A MILP starts from the best
    of the points in `pool`, which the caller fills before the first solve and then leaves alone.

    Parameters
    ----------
    program : LinearSet
        The program.
    d : int
        Length of w.
    pool : list of float arrays
        Points of a MILP.
    """

    def __init__(self, program: LinearSet, d: int, pool: list[np.ndarray]) -> None:
        self.program, self.d, self.pool = program, d, pool
        self.mip = bool(program.integer.any())
        self.A = program.A.tocsr()
        self.h = silent_highs()
        settings: dict[str, Any] = {
            "parallel": "off",
            "random_seed": 0,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
        }
        settings |= {
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
            "mip_feasibility_tolerance": 1e-9,
        }
        if not self.mip:
            settings |= {"solver": "simplex", "presolve": "off"}
        for option, value in settings.items():
            self._must(self.h.setOptionValue(option, value), f"the option {option}")
        p, A = program, self.A
        status = self.h.passModel(
            len(p.lower),
            len(p.row_lower),
            int(A.nnz),
            2,
            1,
            0.0,
            np.zeros(len(p.lower)),
            p.lower,
            p.upper,
            p.row_lower,
            p.row_upper,
            A.indptr[:-1].astype(np.int32),
            A.indices.astype(np.int32),
            A.data.astype(float),
            p.integer.astype(np.int32),
        )
        if status != highspy.HighsStatus.kOk:  # it leaves out tiny coefficients, with a warning
            raise SolverFailure(
                "HiGHS does not take the program of the decision set as it is; scale its rows so that no coefficient is below 1e-9 or above 1e15 in size."
            )
        self.columns, self.rows = (
            np.arange(len(p.lower), dtype=np.int32),
            np.arange(len(p.row_lower), dtype=np.int32),
        )
        self._last = np.zeros(len(p.lower))
        #: A fixed direction without structure, so that no two relevant points have the same value.
        self.direction = np.zeros(len(p.lower))
        self.direction[:d] = np.random.default_rng(20).uniform(0.5, 1.0, d)

    def minimise(self, cost: np.ndarray) -> np.ndarray | Failure:
        """A cheapest w for costs of shape (d,), or the reason why there is none."""
        full = np.zeros(len(self.columns))
        full[: self.d] = (
            cost / 2.0 ** math.floor(math.log2(largest))
            if (largest := float(np.abs(cost).max())) > 0
            else 0.0
        )
        found = self._branch(full) if self.mip else self._simplex(full)
        if isinstance(found, Failure):
            return found
        return np.round(found[: self.d], PLACES) + 0.0

    def remember(self) -> None:
        """Add the point that was found last to the pool (MILP)."""
        if self.mip:
            self.pool.append(self._last)

    # -- linear ------------------------------------------------------------------------------------

    def _simplex(self, full: np.ndarray) -> np.ndarray | Failure:
        self._costs(full)
        for again in (False, True):
            if again:  # without what earlier solves have left
                self._must(self.h.clearSolver(), "a fresh start")
            failure = self._run()
            if failure is not None:
                return self._confirmed(failure, full)
            solution = self.h.getSolution()
            x, column, row = (
                np.array(a) for a in (solution.col_value, solution.col_dual, solution.row_dual)
            )
            # The multipliers prove a bound, whatever HiGHS says about them.
            bound = claims.dual_value(self.program, full, row)
            wrong = self._wrong(full, x, bound)
            if wrong is None:
                break
        else:
            raise self._contradicts(wrong)
        loose_column, loose_row = np.abs(column) <= TIE, np.abs(row) <= TIE
        if int(loose_column.sum()) + int(loose_row.sum()) <= len(self.rows):
            return x  # only the basis has reduced costs of 0, so no other point is optimal
        return self._tied(full, x, np.array(solution.row_value), ~loose_column, ~loose_row)

    def _tied(
        self,
        full: np.ndarray,
        x: np.ndarray,
        activity: np.ndarray,
        tight_column: np.ndarray,
        tight_row: np.ndarray,
    ) -> np.ndarray | Failure:
        """The optimum that is smallest in the fixed direction.

        By complementary slackness, columns and rows with a nonzero reduced cost have the same value
        in all optima.
        """
        p = self.program
        self._bounds(np.where(tight_column, x, p.lower), np.where(tight_column, x, p.upper))
        self._row_bounds(
            np.where(tight_row, activity, p.row_lower), np.where(tight_row, activity, p.row_upper)
        )
        self._costs(self.direction)
        failure = self._run()
        chosen = x if failure is not None else self._point()
        self._bounds(p.lower, p.upper)
        self._row_bounds(p.row_lower, p.row_upper)
        if failure is Failure.UNBOUNDED:
            # The direction has entries for the decision only, so the decision itself is unbounded.
            return failure
        if failure is not None:
            raise SolverFailure(
                "HiGHS lost the optimal face of the decision set while breaking a tie; scale the rows of the model."
            )
        wrong = self._wrong(full, chosen, float(full @ x))
        if wrong is not None:
            raise self._contradicts(wrong)
        return chosen

    # -- mixed integer -----------------------------------------------------------------------------

    def _branch(self, full: np.ndarray) -> np.ndarray | Failure:
        """Solve with a start; without it, and without presolve, if HiGHS contradicts itself.

        HiGHS 1.16 may return another point than the one whose objective it reports, if it has a
        start and presolve.
        """
        wrong = ""
        for with_start, presolve in ((True, "choose"), (False, "choose"), (False, "off")):
            if with_start and not self.pool:
                continue
            self._must(self.h.clearSolver(), "a fresh start")
            self._must(self.h.setOptionValue("presolve", presolve), "the option presolve")
            self._costs(full)
            if with_start:
                start = highspy.HighsSolution()
                start.col_value = min(self.pool, key=lambda x: float(full @ x)).tolist()
                self._must(self.h.setSolution(start), "a start")
            failure = self._run()
            if failure is not None:
                return self._confirmed(failure, full)
            info = self.h.getInfo()
            raw = np.array(self.h.getSolution().col_value)
            x = np.where(self.program.integer, np.rint(raw), raw)
            found = self._wrong(
                full, raw, float(info.mip_dual_bound), float(info.objective_function_value)
            ) or self._wrong(full, x, float(info.mip_dual_bound))
            if found is None:
                self._last = x
                return x
            wrong = found
        raise self._contradicts(wrong)

    # -- what HiGHS says ---------------------------------------------------------------------------

    def _wrong(
        self, full: np.ndarray, x: np.ndarray, bound: float, objective: float | None = None
    ) -> str | None:
        """How HiGHS contradicts itself about an optimum x, in words; None if it does not."""
        violation = claims.violation(self.program, x)
        if violation > FEASIBLE:
            return f"returns a point that breaks the rows by {violation:.3g}"
        return claims.misstatement(
            full, x, objective=objective, bound=bound, gap=0.0, tolerance=AGREES
        )

    @staticmethod
    def _contradicts(wrong: str | None) -> SolverFailure:
        return SolverFailure(
            f"HiGHS {wrong}, so its answer for the decision set is not used; scale rows, bounds and costs to numbers near 1."
        )

    def _confirmed(self, failure: Failure, full: np.ndarray) -> Failure:
        """A failure that a second solver finds too; raises SolverFailure if it finds a point."""
        from milp_trees.decisions.second import SecondProgram

        other = SecondProgram(self.program).outcome(full)
        if other is not failure:
            raise SolverFailure(
                f"HiGHS calls the decision set {failure.value} and SciPy does not; scale rows, bounds and costs to numbers near 1."
            )
        return failure

    # -- HiGHS -------------------------------------------------------------------------------------

    def _point(self) -> np.ndarray:
        return np.array(self.h.getSolution().col_value)

    def _run(self) -> Failure | None:
        S = highspy.HighsModelStatus
        self._must(self.h.run(), "to solve the program of the decision set")
        status = self.h.getModelStatus()
        if status == S.kOptimal:
            return None
        if status == S.kInfeasible:
            return Failure.EMPTY
        if status in (S.kUnbounded, S.kUnboundedOrInfeasible):
            return Failure.UNBOUNDED
        raise SolverFailure(
            f"HiGHS stopped with status {self.h.modelStatusToString(status)!r} on the decision set."
        )

    def _costs(self, full: np.ndarray) -> None:
        self._must(self.h.changeColsCost(len(full), self.columns, full), "the costs")

    def _bounds(self, lower: np.ndarray, upper: np.ndarray) -> None:
        self._must(
            self.h.changeColsBounds(len(self.columns), self.columns, lower, upper), "the bounds"
        )

    def _row_bounds(self, lower: np.ndarray, upper: np.ndarray) -> None:
        if len(self.rows):
            self._must(self.h.changeRowsBounds(len(self.rows), self.rows, lower, upper), "the rows")

    @staticmethod
    def _must(status: highspy.HighsStatus, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverFailure(f"HiGHS refused {what}.")
