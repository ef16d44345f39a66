r"""Rows that can reach a node, for a minimum leaf size in models that do not place rows.

**As variables** (`path_cut`). :math:`a_{iv}\in[0,1]` is 1 only if row i reaches node v; where v
predicts, enough rows must:

.. math::
   & a_{i,2v}+a_{i,2v+1}\le a_{iv},\qquad a_{i,2v}\le\sum_{f:x_{if}=0}b_{vf},\qquad
     a_{i,2v+1}\le\sum_{f:x_{if}=1}b_{vf}\qquad(i,\ v\in B)\\
   & \sum_in_ia_{iv}\ge N_{\min}p_v\qquad(v\in V).

Nothing forces a row to be counted, so it is counted at one node only, and that is enough: a node
that does not predict needs none.

**As cuts** (`benders_oct`). For a node v and any choice of an arc u(i) on the path to v for every
row i that is not in a set I,

.. math:: N_{\min}p_v\le\sum_{i\in I}n_i+\sum_{i\notin I}n_i\sum_{f:\,x_{if}\text{ stays on the path at }u(i)}b_{u(i),f},

because a row is in v only if it stays on the path at every node of it. The most violated one is
found row by row: :math:`i\notin I` iff some arc of the path has a capacity below 1, and u(i) is the
arc with the least, the first of several. With N of the rows missing to :math:`N_{\min}` in I,
coefficients above N are reduced to N, which is valid since b is integral.

Both are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts

# -- as variables ----------------------------------------------------------------------------------


def add_reached(m: Any, view: CostMatrix, space: Trees, levels: int) -> None:
    """Variables a of the nodes down to a level, and the leaf size of all nodes with p."""
    m.held = pyo.RangeSet(1, 2 ** (levels + 1) - 1, doc="nodes whose rows are counted")
    m.inner = pyo.RangeSet(1, 2**levels - 1, doc="nodes whose children's rows are counted")
    m.a = pyo.Var(
        m.rows, m.held, domain=pyo.UnitInterval, doc="a[i,v] = 1 only if row i reaches node v"
    )
    ts.add_leaf_size(m, view, space, lambda m, i, v: m.a[i, v])
    if not levels:
        return

    @m.Constraint(m.rows, m.inner, doc="a row reaches one child of a node that it reaches")
    def reach(m: Any, i: Any, v: Any) -> Any:
        return m.a[i, 2 * v] + m.a[i, 2 * v + 1] <= m.a[i, v]

    @m.Constraint(m.rows, m.inner, doc="a row reaches the left child only if the test is false")
    def reach_left(m: Any, i: Any, v: Any) -> Any:
        return m.a[i, 2 * v] <= sum(m.b[v, f] for f in m.false[i])

    @m.Constraint(m.rows, m.inner, doc="a row reaches the right child only if the test is true")
    def reach_right(m: Any, i: Any, v: Any) -> Any:
        return m.a[i, 2 * v + 1] <= sum(m.b[v, f] for f in m.true[i])


def set_reached(m: Any, splits: dict[int, int]) -> None:
    """Values of a at a tree."""
    end = ts.reached(splits, m.view).tolist()
    for i, v in m.a:
        reaches = v == end[i] or v in ts.ancestors(end[i])
        m.a[i, v].set_value(int(reaches), skip_validation=True)


def reached_sizes(view: CostMatrix, levels: int) -> tuple[int, int, int]:
    """Variables, rows and nonzeros of `add_reached`, without the leaf size."""
    n, inner = view.n_rows, 2**levels - 1
    return n * (2 * inner + 1), 3 * n * inner, n * inner * (5 + view.n_features)


# -- as cuts ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class LeafSizeCuts:
    """Finds the cuts of predicting nodes that too few rows can reach.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Features of the rows.
    counts : int array of shape (n,)
        Original rows that each row stands for.
    least : int
        The minimum leaf size.
    b, p : int arrays of shapes (branch nodes, F), (nodes,)
        Columns of the variables; node v is at position v - 1.
    n_columns : int
        Number of columns of the model.
    """

    X: np.ndarray
    counts: np.ndarray
    least: int
    b: np.ndarray
    p: np.ndarray
    n_columns: int

    def separate(self, x: np.ndarray, tolerance: float) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Rows `A x <= upper` that the point violates by more than a share of the leaf size."""
        tests = x[self.b] if len(self.b) else np.zeros((0, self.X.shape[1]))
        right = self.X @ tests.T
        left = tests.sum(axis=1)[None, :] - right
        at: list[int] = []
        column: list[np.ndarray] = []
        value: list[np.ndarray] = []
        upper: list[int] = []
        for v in range(1, len(self.p) + 1):
            found = self._cut(v, x, left, right, tolerance)
            if found is not None:
                columns, coefficients, inside = found
                at += [len(upper)] * len(columns)
                column.append(columns)
                value.append(coefficients)
                upper.append(inside)
        entries = (np.concatenate([*value, []]), (at, np.concatenate([*column, []]).astype(int)))
        A = sparse.csr_matrix(entries, shape=(len(upper), self.n_columns))
        return A, np.array(upper, dtype=float)

    def _cut(
        self, v: int, x: np.ndarray, left: np.ndarray, right: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray, int] | None:
        """Columns, coefficients and right side of the cut of a node; None if it holds."""
        predicts = x[self.p[v - 1]]
        if predicts <= tolerance:
            return None
        arcs = [(u >> 1, u & 1) for u in [v, *ts.ancestors(v)] if u > 1][::-1]
        capacity = np.array([(right if side else left)[:, u - 1] for u, side in arcs])
        capacity = np.vstack([capacity.reshape(len(arcs), len(self.X)), np.ones(len(self.X))])
        arc = capacity.argmin(axis=0)
        most = self.counts @ capacity[arc, np.arange(len(self.X))]
        if most >= self.least * (predicts - tolerance):
            return None
        inside = int(self.counts[arc == len(arcs)].sum())
        missing = self.least - inside
        columns, coefficients = [self.p[[v - 1]]], [np.array([float(self.least)])]
        for j, (u, side) in enumerate(arcs):
            rows = arc == j
            staying = self.counts[rows] @ (self.X[rows] == side)
            columns.append(self.b[u - 1])
            coefficients.append(-np.minimum(staying, missing).astype(float))
        column, coefficient = np.concatenate(columns), np.concatenate(coefficients)
        kept = coefficient != 0
        return column[kept], coefficient[kept], inside
