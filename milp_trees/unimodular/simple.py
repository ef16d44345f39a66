"""Linear-time checks of the matrix in its given order."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.unimodular.answer import Unimodularity, no, unknown, yes
from milp_trees.unimodular.reading import NamedMatrix, read_matrix


def decide_by_entries(matrix: Any) -> Unimodularity:
    """No, if an entry is not 0, 1 or -1 (a 1 × 1 submatrix); else unknown.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    """
    named = read_matrix(matrix)
    if named.is_sign_matrix:
        return unknown(named, "All entries are 0, 1 or -1.")
    coo = named.A.tocoo()
    k = int(np.flatnonzero(~np.isin(coo.data, (1, -1)))[0])
    answer = no(named, [coo.row[k]], [coo.col[k]])
    return answer.because(
        f"The entry of row {named.row_names[coo.row[k]]}, column {named.column_names[coo.col[k]]} is {coo.data[k].item():g}."
    )


def decide_by_difference_rows(matrix: Any, *, columns: bool = False) -> Unimodularity:
    """Yes, if every row has at most one 1 and at most one -1 and nothing else; else unknown.

    Such rows `x - y` occur in closure problems (H. Poincaré, 1900).

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    columns : bool
        Check the columns instead: the node-arc incidence matrix of a directed graph.
    """
    named = read_matrix(matrix)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    A, kind = (named.A.tocsc(), "column") if columns else (named.A, "row")
    line = np.repeat(np.arange(len(A.indptr) - 1), np.diff(A.indptr))
    for sign in (1, -1):
        counts = np.bincount(line[A.data == sign], minlength=1)
        if len(counts) and counts.max() > 1:
            name = (named.column_names if columns else named.row_names)[int(counts.argmax())]
            return unknown(named, f"{kind.capitalize()} {name} has {counts.max()} entries {sign}.")
    return yes(named, f"difference {kind}s", f"Every {kind} has at most one 1 and at most one -1.")


def decide_by_consecutive_ones(matrix: Any, *, columns: bool = False) -> Unimodularity:
    """Yes, if the nonzeros of every row are consecutive and have one sign; else unknown.

    The order of the columns is the given one. Such matrices are called interval matrices.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    columns : bool
        Check the columns instead.
    """
    named = read_matrix(matrix)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    kind = "column" if columns else "row"
    bad = _first_gap(sparse.csr_matrix(named.A.T) if columns else named.A)
    if bad is not None:
        name = (named.column_names if columns else named.row_names)[bad]
        return unknown(
            named, f"The nonzeros of {kind} {name} have gaps or two signs in the given order."
        )
    return yes(
        named,
        "consecutive ones (given order)",
        f"The nonzeros of every {kind} are consecutive and have one sign.",
    )


def _first_gap(A: sparse.csr_matrix) -> int | None:
    """The first row whose nonzeros are not consecutive with one sign."""
    A.sort_indices()
    inside = np.ones(A.nnz, dtype=bool)
    inside[A.indptr[:-1][np.diff(A.indptr) > 0]] = (
        False  # there is no entry before the first one of a row
    )
    at = np.flatnonzero(inside)
    broken = at[(A.indices[at] != A.indices[at - 1] + 1) | (A.data[at] != A.data[at - 1])]
    return int(np.searchsorted(A.indptr, broken[0], side="right") - 1) if len(broken) else None


def easy_checks(named: NamedMatrix) -> Unimodularity | None:
    """The answer of the first of these checks that decides."""
    for check in (decide_by_difference_rows, decide_by_consecutive_ones):
        for columns in (False, True):
            answer = check(named, columns=columns)
            if answer.answer != "unknown":
                return answer
    return None
