"""Points of HiGHS: that of a relaxation, and whether it calls the right one optimal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from milp_trees.mip.linear.claims import misstatement
from milp_trees.mip.solver import Answer, Job
from milp_trees.results.result import Status

#: Share of the time limit for the relaxation whose point is sent.
RELAXING = 0.2


def relaxation(job: Job) -> Job:
    return replace(job, model=job.model.relaxed(), start=None)


def send_relaxation(job: Job, solve: Callable[[Job], Answer]) -> None:
    """Send the point of the linear relaxation, since HiGHS shows only incumbents while it runs."""
    assert job.exchange is not None
    time = job.limits.time
    limits = replace(job.limits, time=None if time is None else RELAXING * time)
    answer = solve(relaxation(replace(job, limits=limits)))
    if answer.x is not None and answer.status is Status.OPTIMAL:
        job.exchange.send(answer.x)


def contradicts(job: Job, answer: Answer) -> bool:
    """Whether HiGHS calls a point optimal that is not the one whose objective it reports."""
    model = job.model
    return (
        answer.status is Status.OPTIMAL
        and answer.x is not None
        and misstatement(model.c, answer.x, model.offset, objective=answer.claimed) is not None
    )
