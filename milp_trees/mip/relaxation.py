"""The linear relaxation first: an integral optimum of it is one of the integer program.

Every solver that takes linear programs gets the relaxation alone, without integer variables and
without a start. What it says is checked here, once for all solvers: the point is rounded to
integers, keeps every row and bound, and has the objective that the bound allows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.mip.solver import Answer
from milp_trees.results.result import Status

if TYPE_CHECKING:
    from milp_trees.mip.run import Run

#: A point this close to integers, or to keeping a row, is taken as one that is there, and the
#: largest relative distance between its objective and the bound.
INTEGRALITY, GAP = 1e-6, 1e-6


#: The option of a `FormulationMethod` that no solver has.
AS_LP_FIRST = "as_lp_first"


class Calls(Protocol):
    """The part of a method that calls its solver; `FormulationMethod` has it."""

    formulation: Any
    solver: Any
    options: dict[str, Any]

    def encode_known(self, run: Run, start: Any) -> None:
        """Give the solver the best predictor so far as a start."""

    def solve_once(self, run: Run, **job: Any) -> Answer | None:
        """Call the solver once and keep its bound; None if no time is left."""

    def keep_bound(self, run: Run, answer: Answer, relax: bool, finished: bool) -> None:
        """Keep the bound of an answer if it is no worse than the one so far."""

    def decode(self, run: Run, answer: Answer) -> None:
        """Keep the predictor of a solver's point."""


def comes_first(method: Calls, run: Run) -> bool:
    """Whether the linear relaxation of the run's model is solved first."""
    if "lp" not in method.solver.capabilities or not run.matrix.integer.any():
        return False
    integral = method.formulation.has_integral_relaxation(run.view, run.problem.space)
    return bool(method.options.get(AS_LP_FIRST, integral))


def settles(method: Calls, run: Run) -> bool:
    """Solve the relaxation of the run's model; whether that ends the run."""
    answer = method.solve_once(run, relax=True)
    if answer is None or answer.status is Status.INFEASIBLE:
        return True
    if answer.limit is not None:  # what it has is a point of the relaxation only
        run.answers[-1] = replace(answer, status=Status.NO_SOLUTION, x=None, objective=None)
        return True
    settled = _integral(run, answer)
    if settled is None:
        # Its bound and its log stay; its point is none of the integer program.
        run.answers[-1] = replace(answer, status=Status.NO_SOLUTION, x=None, objective=None)
        return False
    run.answers[-1] = settled
    if run.start is not None and run.start_info:  # else it came from the model itself
        run.start_info["needed"] = False
    assert settled.bound is not None
    method.keep_bound(run, settled, True, True)
    method.decode(run, settled)
    run.record(None, None)
    return True


def _integral(run: Run, answer: Answer) -> Answer | None:
    """The answer with its point at integers, if that is an optimum of the integer program."""
    if answer.status is not Status.OPTIMAL or answer.x is None or answer.bound is None:
        return None
    x = run.matrix.rounded(answer.x)
    if np.abs(x - answer.x).max(initial=0.0) > INTEGRALITY or run.matrix.violation(x) > INTEGRALITY:
        return None
    value = run.objective(x)
    if value - answer.bound > GAP * max(1.0, abs(value)):
        return None
    return replace(answer, x=x, objective=value, nodes=0, root_bound=answer.bound)
