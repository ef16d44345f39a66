"""A linear program that HiGHS keeps between cuts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.mip.linear.matrix import MatrixModel, NewRows
from milp_trees.mip.solver import Answer, Job

from ._cut_rounds import cut_rounds


def solve_by_rounds(run: Any, job: Job) -> Answer:
    """A relaxation with its cuts; `run` is a call of HiGHS with the relaxation (`highs.Run`)."""

    def solve(model: MatrixModel, rows: NewRows | None) -> Answer:
        if rows is not None:
            _add(run, model, rows)
        answer: Answer = run.answer()
        return answer

    return cut_rounds(job, run.trace, run.stop, solve)


def _add(run: Any, model: MatrixModel, rows: NewRows) -> None:
    """Add rows, with which the model is `model`."""
    import highspy

    A = rows.A.tocsr()
    status = run.h.addRows(
        len(rows.lower),
        rows.lower.astype(float),
        rows.upper.astype(float),
        int(A.nnz),
        A.indptr[:-1].astype(np.int32),
        A.indices.astype(np.int32),
        A.data.astype(float),
    )
    if status != highspy.HighsStatus.kOk:
        raise SolverFailure("HiGHS does not take a cut as it is.")
    run.job = replace(run.job, model=model)
    left = run.trace.left(run.job.limits.time)
    if left is not None and "time_limit" not in run.job.options:
        run.h.setOptionValue("time_limit", run.h.getRunTime() + left)  # its clock counts all rounds
