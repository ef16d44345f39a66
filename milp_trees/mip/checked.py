"""A solver's answer compared with the model, once for all solvers.

The objective of an answer is always computed here, from its point. An answer that contradicts
itself is an error: a point that is not the one whose objective the solver reports, a bound beyond a
feasible point, "optimal" without a point, "infeasible" beside a feasible point. "Optimal" with a
gap larger than asked for is feasible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from milp_trees.mip.linear.claims import misstatement
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Event, Job
from milp_trees.results.result import Status

#: Largest violation of a point that counts as feasible when another claim is compared with it.
FEASIBLE = 1e-6
#: A point that breaks a row by more than this is no incumbent.
BROKEN = 1e-4
#: Largest difference between two statements of a solver, relative to the sizes of the terms: solvers
#: print few digits, and keep rows and integers within tolerances.
AGREES = 1e-5


def checked(name: str, job: Job, answer: Answer, events: Iterable[Event] = ()) -> Answer:
    """The answer of a solver, or an error in its place that says how it contradicts itself."""
    model = job.model.relaxed() if job.relax else job.model
    if answer.x is not None:
        answer = replace(answer, objective=_objective(model, answer.x))
    wrong = _contradiction(model, job, answer, events)
    if wrong is None:
        return _within_gaps(name, model, job, answer)
    if answer.status is Status.FEASIBLE and answer.x is not None and _keeps(model, answer.x):
        # The point stands by itself; nothing else that the solver says is used.
        stated = f"{name} {wrong}; its bound is not used."
        message = " ".join(filter(None, [answer.message, stated]))
        return replace(answer, bound=None, root_bound=None, message=message)
    return replace(
        answer,
        status=Status.ERROR,
        x=None,
        objective=None,
        bound=None,
        root_bound=None,
        message=f"{name} {wrong}, so its answer is not used; solve with another solver, or run it with other options or another seed.",
    )


def news(model: MatrixModel, event: Event) -> Event:
    """An event without its incumbent, if the point of that breaks the model."""
    if event.x is None or model.violation(model.rounded(event.x)) <= BROKEN:
        return event
    return replace(event, incumbent=None, x=None)


def _contradiction(
    model: MatrixModel, job: Job, answer: Answer, events: Iterable[Event]
) -> str | None:
    """How an answer contradicts itself, as the end of a sentence that begins with the solver."""
    if answer.x is not None and answer.x.shape != model.c.shape:
        return f"returns {answer.x.size} values for {model.n_variables} columns"
    if answer.x is not None and not np.isfinite(answer.x).all():
        return "returns a point that is not finite"
    if answer.bound is not None and math.isnan(answer.bound):
        return "reports a bound that is no number"
    if answer.status is Status.INFEASIBLE and not job.relax:
        points = [job.start, *(e.x for e in events)]
        if any(x is not None and _keeps(model, x) for x in points):
            return "calls the model infeasible although a feasible point is known"
        return None
    if answer.status is Status.OPTIMAL and answer.x is None:
        return "calls a point optimal that it does not have"
    if answer.status not in (Status.OPTIMAL, Status.FEASIBLE) or answer.x is None:
        return None
    wrong = misstatement(
        model.c, answer.x, model.offset, objective=answer.claimed, tolerance=AGREES
    )
    if wrong is None and _keeps(model, answer.x):
        wrong = misstatement(model.c, answer.x, model.offset, bound=answer.bound, tolerance=AGREES)
    return wrong


def _within_gaps(name: str, model: MatrixModel, job: Job, answer: Answer) -> Answer:
    """An optimum is only feasible if its bound leaves more than the gaps that were asked for.

    Options of the user may have widened them.
    """
    if answer.status is not Status.OPTIMAL or answer.objective is None or answer.x is None:
        return answer
    gap = max(job.limits.abs_gap, job.limits.rel_gap * abs(answer.objective))
    wrong = misstatement(
        model.c, answer.x, model.offset, bound=answer.bound, gap=gap, tolerance=AGREES
    )
    if job.relax or wrong is None or not _keeps(model, answer.x):
        return answer
    message = " ".join(filter(None, [answer.message, f"{name} {wrong}."]))
    return replace(answer, status=Status.FEASIBLE, message=message)


def _keeps(model: MatrixModel, x: np.ndarray) -> bool:
    """Whether a point, with its integers rounded, satisfies the model."""
    return model.violation(model.rounded(x)) <= FEASIBLE


def _objective(model: MatrixModel, x: np.ndarray) -> float | None:
    """The objective of a point that has the length of the model's; None of any other."""
    return model.objective(x) if x.shape == model.c.shape else None
