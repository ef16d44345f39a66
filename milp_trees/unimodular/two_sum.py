"""2-sums: a matrix that consists of two smaller ones and a product of a column and a row.

If, in some order of rows and columns, the matrix is [[P, a b], [0, Q]] with a column a and a row b,
it is totally unimodular iff [P a] and [b; Q] are (P. Seymour, 1980; A. Schrijver, 1986, section
19.4). Both are submatrices of it. Such a form is a split of the bipartite graph of nonzeros.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from milp_trees.common.limits import Deadline
from milp_trees.unimodular.reading import NamedMatrix

#: Larger matrices are not searched, because the search needs (m + n)² bytes.
MOST_LINES = 3000


@dataclass(frozen=True)
class Split:
    """The parts of a matrix that is a 2-sum.

    Parameters
    ----------
    rows, columns : tuple of int
        Rows and columns of the side with P; all others are the side with Q.
    row : int
        A row of the first side that equals b, up to its sign, on the columns of the second.
    column : int
        A column of the second side that equals a, up to its sign, on the rows of the first.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    row: int
    column: int

    def parts(
        self, shape: tuple[int, int]
    ) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]]]:
        """Rows and columns of the two summands."""
        rows, columns = self.others(shape)
        return ([*self.rows], [*self.columns, self.column]), ([self.row, *rows], columns)

    def others(self, shape: tuple[int, int]) -> tuple[list[int], list[int]]:
        """Rows and columns of the second side."""
        own = set(self.rows), set(self.columns)
        return [i for i in range(shape[0]) if i not in own[0]], [
            j for j in range(shape[1]) if j not in own[1]
        ]

    def holds(self, a: np.ndarray) -> bool:
        """Whether the matrix has this form, and both summands are smaller than it."""
        rows, columns = self.others(a.shape)
        if (
            self.row not in self.rows
            or self.column not in columns
            or len(rows) + len(columns) < 2
            or len(self.rows) + len(self.columns) < 2
        ):
            return False
        middle = a[np.ix_(self.rows, columns)]
        product = (
            np.outer(a[list(self.rows), self.column], a[self.row, columns])
            * a[self.row, self.column]
        )
        return (
            bool(a[self.row, self.column])
            and not a[np.ix_(rows, self.columns)].any()
            and bool((middle == product).all())
        )


def find_split(named: NamedMatrix, deadline: Deadline) -> Split | None:
    """A split of a connected matrix, or None if it has none.

    Some nonzero (r, c) of a spanning tree of the graph of nonzeros joins the two sides; say r is on
    the first one and c on the second. Then a row i of the first side forces column j to be there
    too if entry (i, j) is not a[i, c] a[r, j] / a[r, c], and a column forces every row in which it
    is not zero. A split exists iff some line does not force every other line. The search needs
    m + n - 1 computations of strong components with up to 2 m n arcs.
    """
    a = named.A.toarray().astype(np.int64)
    m, n = a.shape
    graph = sparse.csr_matrix(
        np.block([[np.zeros((m, m)), np.abs(a)], [np.abs(a.T), np.zeros((n, n))]])
    )
    order, before = breadth_first_order(graph, 0, directed=False)
    for node in order[1:].tolist():
        deadline.check()
        r, c = sorted((node, int(before[node])))
        c -= m
        lines = [k for k in range(m + n) if k not in (r, m + c)]
        forces = np.zeros((m + n, m + n), dtype=bool)
        forces[:m, m:] = a != np.outer(a[:, c], a[r]) * a[r, c]
        forces[m:, :m] = a.T != 0
        forces = forces[np.ix_(lines, lines)]
        count, label = connected_components(
            sparse.csr_matrix(forces), directed=True, connection="strong"
        )
        if count == 1:
            continue
        u, v = np.nonzero(forces)
        final = np.setdiff1d(
            np.arange(count), label[u[label[u] != label[v]]]
        )  # components that force no line outside
        side = [lines[k] for k in np.flatnonzero(label == final[0])]
        return Split((r, *(k for k in side if k < m)), tuple(k - m for k in side if k >= m), r, c)
    return None
