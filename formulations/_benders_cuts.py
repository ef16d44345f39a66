r"""Separation for BendersOCT: the minimum cut of a row's flow network, in closed form.

The network is a tree.

With :math:`\sigma_{iv}=\sum_k\tfrac{r_{ik}}{\rho_i}w_{vk}` and the arc capacities
:math:`\mathrm{cap}^L,\mathrm{cap}^R`, the maximum flow from v on is

.. math:: \phi_i(v)=\sigma_{iv}+\min\{\mathrm{cap}^L_{iv},\phi_i(2v)\}+\min\{\mathrm{cap}^R_{iv},\phi_i(2v+1)\},\qquad \phi_i(v)=\sigma_{iv}\ (v\in T).

Where the capacity is the smaller term the arc is in the cut, otherwise the child belongs to the set
S: this separates exactly, for all rows at once, in O(n · nodes). The class holds arrays only, so
that it can be sent to the process of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ._equivalent_points import EquivalentPointCuts
from ._path_bounds import PathBoundCuts
from ._reached import LeafSizeCuts

#: Violation below which a cut is not added. At integral points no cut may be missed, but a solver
#: may violate a row by 1e-6, and then the same cut would be found again.
INTEGRAL, FRACTIONAL = 1e-5, 1e-3
#: Largest number of cuts that are added at once, the most violated first.
MOST = 4000


@dataclass(eq=False)
class BendersCuts:
    """Finds the violated cuts of a point.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Features of the scored rows.
    share : array of shape (n, K)
        r / rho.
    b, w, g : int arrays of shapes (branch nodes, F), (nodes, K), (n,)
        Columns of the variables; node v is at position v - 1.
    n_columns : int
        Number of columns of the model.
    sizes : LeafSizeCuts, optional
        Finds the cuts of a minimum leaf size.
    points : EquivalentPointCuts, optional
        Finds the cuts of rows that few tests separate.
    paths : PathBoundCuts, optional
        Finds the cuts of paths by the best subtrees below them.
    """

    X: np.ndarray
    share: np.ndarray
    b: np.ndarray
    w: np.ndarray
    g: np.ndarray
    n_columns: int
    sizes: LeafSizeCuts | None = None
    points: EquivalentPointCuts | None = None
    paths: PathBoundCuts | None = None

    def separate(
        self, x: np.ndarray, integral: bool
    ) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
        """Rows g_i - (capacity of the cut) <= 0 that the point violates.

        Violated cuts of leaf sizes, of rows that few tests separate, and of paths follow.
        """
        tolerance = INTEGRAL if integral else FRACTIONAL
        flow, cut_left, cut_right = self._flows(x)
        violation = x[self.g] - flow
        order = np.argsort(-violation, kind="stable")[:MOST]
        rows = order[violation[order] > tolerance]
        A, upper = self._rows(rows, cut_left[rows], cut_right[rows]), np.zeros(len(rows))
        for further in (self.sizes, self.points, self.paths):
            if further is None:
                continue
            found, held = further.separate(x, tolerance)
            A = sparse.csr_matrix(sparse.vstack([A, found], format="csr"))
            upper = np.concatenate([upper, held])
        return A, np.full(len(upper), -np.inf), upper

    def _flows(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Maximum flow of every row, and at every branch node the arcs in its minimum cut."""
        n, B = len(self.X), len(self.b)
        flow = self.share @ x[self.w].T  # starts as sigma, ends as phi
        tests = x[self.b] if B else np.zeros((0, self.X.shape[1]))
        right = self.X @ tests.T
        left = tests.sum(axis=1)[None, :] - right
        cut_left, cut_right = np.zeros((n, B), dtype=bool), np.zeros((n, B), dtype=bool)
        for v in range(B, 0, -1):
            for cap, cut, child in ((left, cut_left, 2 * v), (right, cut_right, 2 * v + 1)):
                below = flow[:, child - 1]
                cut[:, v - 1] = cap[:, v - 1] < below
                flow[:, v - 1] += np.minimum(cap[:, v - 1], below)
        return flow[:, 0], cut_left, cut_right

    def _rows(
        self, rows: np.ndarray, cut_left: np.ndarray, cut_right: np.ndarray
    ) -> sparse.csr_matrix:
        """The cuts of some rows as a matrix over all columns."""
        nodes, B = len(self.w), len(self.b)
        inside = np.zeros((len(rows), nodes), dtype=bool)
        inside[:, 0] = True
        at, column, value = [np.arange(len(rows))], [self.g[rows]], [np.ones(len(rows))]

        def add(where: np.ndarray, coefficients: np.ndarray, columns: np.ndarray) -> None:
            i, j = np.nonzero(coefficients)
            at.append(where[i])
            column.append(columns[j])
            value.append(-coefficients[i, j].astype(float))

        for v in range(1, nodes + 1):
            here = np.flatnonzero(inside[:, v - 1])
            add(here, self.share[rows[here]], self.w[v - 1])
            if v > B:
                continue
            for cut, child, outcome in ((cut_left, 2 * v, 0), (cut_right, 2 * v + 1, 1)):
                inside[here, child - 1] = ~cut[here, v - 1]
                leaving = here[cut[here, v - 1]]
                add(leaving, self.X[rows[leaving]] == outcome, self.b[v - 1])
        entries = (np.concatenate(value), (np.concatenate(at), np.concatenate(column)))
        return sparse.csr_matrix(entries, shape=(len(rows), self.n_columns))
