"""What holds for every answer of a solver."""

from __future__ import annotations

from typing import Any

from milp_trees.common.limits import Limits
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer
from milp_trees.results.result import Status

#: Limits for programs that every solver finishes quickly.
ENOUGH = Limits(time=20)
EXACT = Limits(time=20, abs_gap=0.0)


def demand(holds: Any, said: str) -> None:
    """Raise AssertionError with a sentence if a claim is false."""
    if not holds:
        raise AssertionError(said)


def near(a: float | None, b: float | None, slack: float = 1e-6) -> bool:
    """Whether two numbers are equal up to rounding.

    Parameters
    ----------
    a, b : float or None
        The numbers; None equals nothing.
    slack : float
        Largest difference, relative to the larger of 1 and |b|.

    Returns
    -------
    bool
    """
    return a is not None and b is not None and abs(a - b) <= slack * max(1.0, abs(b))


def check_claims(m: MatrixModel, answer: Answer) -> Answer:
    """Check what holds for every answer to a minimisation; returns the answer."""
    demand(answer.status is not Status.ERROR, f"It failed: {answer.message}")
    has_point = answer.status in (Status.OPTIMAL, Status.FEASIBLE)
    demand((answer.x is not None) == has_point, f"{answer.status} with the point {answer.x}.")
    if answer.x is not None:
        demand(m.violation(answer.x) <= 1e-5, "The point breaks a row or a bound.")
        demand(near(answer.objective, m.objective(answer.x)), "The value is not the point's.")
        demand(
            answer.bound is None or answer.bound <= (answer.objective or 0) + 1e-6,
            f"The bound {answer.bound} is above the value {answer.objective}.",
        )
    bounds = [e.bound for e in answer.events if e.bound is not None]
    demand(bounds == sorted(bounds), "Bounds of the trace fall.")
    last = answer.bound
    demand(
        last is None or all(b <= last + 1e-6 * abs(b) for b in bounds),
        "A bound of the trace is above the last one.",
    )
    demand(answer.version, "The answer names no version.")
    return answer
