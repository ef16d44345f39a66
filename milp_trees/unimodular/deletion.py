"""A search for a violating submatrix by deletion of lines.

Lines are deleted as long as the rest is neither a network matrix nor the transpose of one. The
final rest is small: it is a minimal violating submatrix, as its determinant shows, or one of the
few totally unimodular matrices of another kind, such as R10. In the latter case another order of
deletions may give another result.
"""

from __future__ import annotations

import random
from typing import Any

from milp_trees.common.limits import Deadline, Stopped
from milp_trees.unimodular.answer import Unimodularity, no, unknown
from milp_trees.unimodular.determinants import MOST_LINES, decide_by_subdeterminants
from milp_trees.unimodular.reading import NamedMatrix, determinant, read_matrix
from milp_trees.unimodular.recognise import realise_block
from milp_trees.unimodular.reduce import reduce_matrix
from milp_trees.unimodular.refute import decide_by_chordless_cycles
from milp_trees.unimodular.simple import decide_by_entries

#: Rows, then columns.
Lines = tuple[list[int], list[int]]


def decide_by_deletion(
    matrix: Any, *, time_limit: float | None = 10.0, seed: int = 0, rounds: int = 10
) -> Unimodularity:
    """No, with a submatrix that was found by deletions in a random order; else unknown.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    time_limit : float, optional
        Seconds.
    seed : int, default=0
        Seed of the orders.
    rounds : int, default=10
        Number of orders to try.

    Returns
    -------
    Unimodularity
    """
    named, deadline = read_matrix(matrix), Deadline.after(time_limit)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    draw = random.Random(seed)
    try:
        for _ in range(rounds):
            rows, columns = _minimal(named, draw, deadline)
            answer = _reference(named.part(rows, columns), deadline)
            if answer.submatrix is not None:
                return no(
                    named,
                    [rows[i] for i in answer.submatrix.rows],
                    [columns[j] for j in answer.submatrix.columns],
                )
    except Stopped:
        return unknown(
            named,
            "Deletions of rows and columns led to no violating submatrix within the time limit.",
        )
    return unknown(
        named, f"{rounds} orders of deletions of rows and columns led to no violating submatrix."
    )


def _minimal(named: NamedMatrix, draw: random.Random, deadline: Deadline) -> Lines:
    """Rows and columns none of which can be deleted; first many are deleted at a time, then one."""
    m, n = named.A.shape
    lines = [(axis, i) for axis, count in ((0, m), (1, n)) for i in range(count)]
    draw.shuffle(lines)
    chunk = len(lines) // 2
    while chunk:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + chunk :]
            if _is_hard(named, fewer, deadline):
                lines = fewer
            else:
                at += chunk
        chunk //= 2
    return _sides(lines)


def _sides(lines: list[tuple[int, int]]) -> Lines:
    return sorted(i for axis, i in lines if axis == 0), sorted(j for axis, j in lines if axis == 1)


def _is_hard(named: NamedMatrix, lines: list[tuple[int, int]], deadline: Deadline) -> bool:
    """Whether a block of the submatrix is no network matrix and no transpose of one."""
    deadline.check()
    reduction = reduce_matrix(named.part(*_sides(lines)).A, deadline)
    if reduction.conflict:
        return True
    for rows, columns in reduction.components():
        found = realise_block(reduction, rows, columns, False, deadline)
        if found == "support":
            found = realise_block(reduction, columns, rows, True, deadline)
        if isinstance(found, str):
            return True
    return False


def _reference(part: NamedMatrix, deadline: Deadline) -> Unimodularity:
    """The answer for the final rest."""
    m, n = part.A.shape
    if m == n and determinant(part.A.toarray().tolist()) not in (-1, 0, 1):
        return no(part, range(m), range(n))
    if m + n <= MOST_LINES:
        return decide_by_subdeterminants(part, deadline=deadline)
    return decide_by_chordless_cycles(part, deadline=deadline)
