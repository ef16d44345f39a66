"""Cuts for a linear program that its solver keeps: every round begins at the basis before it.

A relaxation to which violated rows are added stays dual feasible, so the dual simplex method goes on
from the last basis instead of beginning again (Padberg, Rinaldi 1991, "A branch-and-cut algorithm
for the resolution of large-scale symmetric traveling salesman problems").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from milp_trees.mip.linear.matrix import MatrixModel, NewRows
from milp_trees.mip.solver import Answer, Job
from milp_trees.results.result import Limit, Status

from ._common import Trace


def cut_rounds(
    job: Job,
    trace: Trace,
    stop: Callable[[], bool],
    solve: Callable[[MatrixModel, NewRows | None], Answer],
) -> Answer:
    """Solve a relaxation, add the rows that its solution violates, and so on until none is.

    Parameters
    ----------
    job : Job
        With `relax`, and in `lazy` what finds the rows.
    trace : Trace
        Its clock is that of the time limit; it gets the bound of every round.
    stop : callable
        Whether to end early.
    solve : callable
        Solves the linear program with further rows, which are also given by themselves after the
        first time, and ends at what is left of the time limit.

    Returns
    -------
    Answer
        Of the last round, with the rows of all rounds and the best bound of any.
    """
    assert job.lazy is not None
    model, found, bound = job.model.relaxed(), [], -np.inf
    answer = solve(model, None)
    while answer.status is Status.OPTIMAL and answer.x is not None:
        bound = max(bound, -np.inf if answer.bound is None else answer.bound)
        trace.record(None, bound)
        ended = Limit.INTERRUPTED if stop() else Limit.TIME if _over(job, trace) else None
        if ended is not None:
            answer = replace(answer, status=Status.FEASIBLE, limit=ended)
            break
        rows = NewRows(*job.lazy.separate(answer.x, False))
        if not len(rows.lower):
            break
        found.append(rows)
        model = model.with_rows(*rows)
        answer = solve(model, rows)
    if answer.status is Status.NO_SOLUTION and answer.limit is None and _over(job, trace):
        answer = replace(answer, limit=Limit.TIME)
    if answer.status is not Status.INFEASIBLE and np.isfinite(bound):
        answer = replace(answer, bound=float(bound), root_bound=float(bound))
    return replace(
        answer, rows=together(found), cuts=sum(len(rows.lower) for rows in found), duals=None
    )


def _over(job: Job, trace: Trace) -> bool:
    """Whether the time limit has passed."""
    return job.limits.time is not None and trace.seconds >= job.limits.time


def together(parts: list[NewRows]) -> NewRows | None:
    """Several blocks of rows as one; None if there is none."""
    if not parts:
        return None
    A = sparse.csr_matrix(sparse.vstack([rows.A for rows in parts], format="csr"))
    lower, upper = (np.concatenate([rows[k] for rows in parts]) for k in (1, 2))
    return NewRows(A, lower, upper)
