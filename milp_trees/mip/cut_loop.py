"""Solving a model whose cuts are found while it is solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Stopped
from milp_trees.methods.deadline import within

if TYPE_CHECKING:
    import numpy as np

    from milp_trees.mip.relaxation import Calls
    from milp_trees.mip.run import Run


def solve_by_cuts(method: Calls, run: Run, separator: Any) -> None:
    """Solve by cuts: first at fractional points of the relaxation, then in a tree search.

    The tree search uses a constraint handler, or solves again until no cut is violated.
    """
    while (
        (answer := method.solve_once(run, relax=True)) is not None
        and answer.x is not None
        and answer.limit is None
    ):
        if not _cut(run, separator, answer.x, False):
            break
    if run.stopped:
        return
    if "lazy" in method.solver.capabilities:
        method.solve_once(run, lazy=separator)
        return
    while (
        not run.closed
        and not run.wrong
        and (answer := method.solve_once(run)) is not None
        and answer.x is not None
        and answer.limit is None
    ):
        if not _cut(run, separator, run.matrix.rounded(answer.x), True):
            break
        if run.incumbent is not None:
            method.encode_known(run, run.incumbent)


def _cut(run: Run, separator: Any, x: np.ndarray, integral: bool) -> bool:
    """Add the cuts that a point violates; True if there are any, and time is left."""
    try:
        A, lower, upper = within(run.deadline.left, lambda: separator.separate(x, integral))
    except Stopped as stopped:
        run.stopped = stopped.limit
        return False
    if len(lower):
        run.cuts += len(lower)
        run.compiled = run.matrix.with_rows(A, lower, upper)
    return bool(len(lower))
