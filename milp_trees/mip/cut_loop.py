"""Solving a model whose cuts are found while it is solved."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from milp_trees.common.limits import Stopped
from milp_trees.methods.deadline import within
from milp_trees.mip.linear.matrix import NewRows

if TYPE_CHECKING:
    from milp_trees.mip.relaxation import Calls
    from milp_trees.mip.run import Run

#: Number of incumbents of a search, the last ones, whose cuts are added beside those of its answer.
POINTS = 20


def solve_by_cuts(method: Calls, run: Run, separator: Any) -> None:
    """Solve by cuts: first at fractional points of the relaxation, then in a tree search.

    The linear programs are one that the solver keeps, or each is solved from the beginning. The
    tree search uses a constraint handler, or solves again until no cut is violated.
    """
    if "lp-cuts" in method.solver.capabilities:
        method.solve_once(run, relax=True, lazy=separator)
    else:
        _cut_relaxation(method, run, separator)
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
        points = [run.matrix.rounded(x) for x in (answer.x, *run.incumbent_points[::-1][:POINTS])]
        if not _cut(run, separator, points, True):
            break
        if run.incumbent is not None:
            method.encode_known(run, run.incumbent)


def _cut_relaxation(method: Calls, run: Run, separator: Any) -> None:
    """Solve the relaxation from the beginning as often as its point violates cuts."""
    while (
        (answer := method.solve_once(run, relax=True)) is not None
        and answer.x is not None
        and answer.limit is None
    ):
        if not _cut(run, separator, [answer.x], False):
            break


def _cut(run: Run, separator: Any, points: list[np.ndarray], integral: bool) -> bool:
    """Add the cuts that the first point violates, and then those of the others.

    True if the first violates any, and time is left.
    """
    found: list[NewRows] = []
    try:
        for x in points:
            rows = within(run.deadline.left, partial(separator.separate, x, integral))
            found.append(NewRows(*rows))
            if not len(found[0].lower):
                break
    except Stopped as stopped:
        run.stopped = stopped.limit
        return False
    run.incumbent_points.clear()
    A, lower, upper = different(found)
    if len(lower):
        run.cuts += len(lower)
        run.compiled = run.matrix.with_rows(A, lower, upper)
    return bool(len(lower))


def different(parts: list[NewRows]) -> NewRows:
    """The rows of several blocks, each once."""
    A = sparse.csr_matrix(sparse.vstack([rows.A for rows in parts], format="csr"))
    A.sort_indices()
    lower, upper = (np.concatenate([rows[k] for rows in parts]) for k in (1, 2))
    first: dict[Any, int] = {}
    for i in range(A.shape[0]):
        here = slice(A.indptr[i], A.indptr[i + 1])
        key = A.indices[here].tobytes(), A.data[here].tobytes(), lower[i], upper[i]
        first.setdefault(key, i)
    kept = list(first.values())
    return NewRows(sparse.csr_matrix(A[kept]), lower[kept], upper[kept])
