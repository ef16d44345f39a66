"""The two exponential checks, for small matrices.

They are all subdeterminants, and the partitions of Ghouila-Houri as an independent second check.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Deadline
from milp_trees.unimodular.answer import Unimodularity, no, yes
from milp_trees.unimodular.reading import read_matrix
from milp_trees.unimodular.simple import decide_by_entries

#: Largest m + n for all subdeterminants: 4 MB and about half a second. All matrices up to 10 × 10
#: are smaller.
MOST_LINES = 22
#: Largest number of rows for the partitions of Ghouila-Houri: 3^12 sign vectors.
MOST_ROWS = 12


def decide_by_subdeterminants(matrix: Any, *, deadline: Deadline | None = None) -> Unimodularity:
    """Yes or no, from all subdeterminants.

    Entry (R, C) of a table, with sets R and C of rows and columns as bits, is the determinant of
    that submatrix, expanded along its last row; for sets of different size it is 0. The time is
    2^(m + n) · n additions, vectorised.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        m + n is at most 22.
    deadline : Deadline, optional
        End of the allowed time.

    Raises
    ------
    DataError
        The matrix is larger.
    """
    named = read_matrix(matrix)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    m, n = named.A.shape
    if m + n > MOST_LINES:
        raise DataError(
            f"All subdeterminants are computed for at most {MOST_LINES} rows and columns together; got {m} + {n}. Use total_unimodularity."
        )
    a = (
        named.A.toarray() if m >= n else named.A.toarray().T
    )  # the loop over rows splits the table, which is shorter with fewer columns
    table = np.zeros((1 << a.shape[0], 1 << a.shape[1]), dtype=np.int8)
    table[0, 0] = 1
    sets = np.arange(1 << a.shape[1])
    for i, row in enumerate(a):
        before, new = table[: 1 << i], table[1 << i : 2 << i]
        for j in np.flatnonzero(row):
            if deadline:
                deadline.check()
            with_j = sets[(sets >> j) & 1 == 1]
            above = (
                np.bitwise_count(with_j >> (j + 1)) & 1
            )  # number of columns between j and the last, which gives the sign of the expansion
            new[:, with_j] += (row[j] * (1 - 2 * above.astype(np.int8))).astype(np.int8) * before[
                :, with_j ^ (1 << j)
            ]
        bad = np.argwhere(np.abs(new) > 1)
        if len(bad):
            size = np.bitwise_count(bad[:, 1])
            R, C = bad[size.argmin()]
            rows, columns = [*_bits(int(R)), i], _bits(int(C))
            return no(named, *((rows, columns) if m >= n else (columns, rows)))
    return yes(named, "all subdeterminants", "Every square submatrix has determinant 0, 1 or -1.")


def decide_by_ghouila_houri(matrix: Any) -> Unimodularity:
    """Yes or no, from partitions of sets of rows.

    A matrix is totally unimodular iff every set of rows can be divided into two whose sums differ
    by 0, 1 or -1 in each column (A. Ghouila-Houri, 1962). The `certificate` of a "no" holds the
    rows that cannot be divided; there is no submatrix.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The smaller of m and n is at most 12; the transpose is checked if n is the smaller.

    Raises
    ------
    DataError
        The matrix is larger.
    """
    named = read_matrix(matrix)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    m, n = named.A.shape
    if min(m, n) > MOST_ROWS:
        raise DataError(
            f"Partitions are tried for at most {MOST_ROWS} rows or columns; got {m} × {n}. Use total_unimodularity."
        )
    a, names = (
        (named.A.toarray().astype(np.int64), named.row_names)
        if m <= n
        else (named.A.toarray().T.astype(np.int64), named.column_names)
    )
    divisible = np.zeros(1 << len(a), dtype=bool)
    half = len(a) // 2  # sign vectors: all of the first half at once, the others one by one
    first = np.array(list(product((0, 1, -1), repeat=half)), dtype=np.int64).reshape(-1, half)
    sums, sets = first @ a[:half], (first != 0) @ (1 << np.arange(half))
    for signs in product((0, 1, -1), repeat=len(a) - half):
        second = np.array(signs, dtype=np.int64)
        fits = (np.abs(sums + second @ a[half:]) <= 1).all(axis=1)
        divisible[sets[fits] + int((second != 0) @ (1 << np.arange(half, len(a))))] = True
    if divisible.all():
        return yes(
            named,
            "Ghouila-Houri",
            f"Every set of {'rows' if m <= n else 'columns'} can be divided evenly.",
        )
    bad = np.flatnonzero(~divisible)
    which = [names[i] for i in _bits(int(bad[np.bitwise_count(bad).argmin()]))]
    kind = "rows" if m <= n else "columns"
    reason = f"These {kind} cannot be divided evenly: {', '.join(which)}."
    return Unimodularity(
        "no", "Ghouila-Houri", (m, n), int(named.A.nnz), reason, {"kind": kind, "lines": which}
    )


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]
