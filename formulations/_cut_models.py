r"""Common parts of CUT and CUT_W: all but the constraints of connectivity.

These connect the node where a row is right to the root. Row i is right at v (:math:`s_{iv}`) and
passes v (:math:`q_{iv}`); with the structure of
`_tree_structure`, w binary and p continuous (it follows):

.. math:: s_{iv}\le w_{v,y_i},\quad\sum_vs_{iv}\le1,\quad q_{i,2v}\le\sum_{f:x_{if}=0}b_{vf},\quad q_{i,2v+1}\le\sum_{f:x_{if}=1}b_{vf}.

For costs that differ between the wrong actions of a row,
:math:`s_{iv}\le\sum_k\frac{r_{ik}}{\rho_i}w_{vk}` with continuous s is the share of a row's largest
gain (see `_gains`); for misclassification it is the constraint above.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from milp_trees.mip.formulation import ModelSize
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _gains as gains
from . import _tree_structure as ts

#: Constraints of both models that only tighten them.
REDUNDANT = {
    "leaf_role": "(1c) a leaf without rows need not predict, and a leaf with rows that does not predict gains nothing",
    "one_node": "a row passes only one node that predicts; cuts fractional points",
}


def declare_common(m: Any, view: CostMatrix, space: Trees) -> None:
    """Sets, variables and all constraints but connectivity."""
    D = space.depth
    ts.add_sets(m, view, space)
    ts.add_tests_by_row(m, view)
    gains.add_shares(m, view)
    ts.add_structure(m, view, space, binary_labels=True)
    for v in m.nodes:
        m.p[v].domain = pyo.UnitInterval
    m.below = pyo.Set(
        m.nodes, initialize={v: subtree(v, D) for v in m.nodes}, doc="subtree(v), v included"
    )
    m.passed = pyo.RangeSet(2, 2 ** (D + 1) - 1, doc="nodes below the root")
    m.s = pyo.Var(
        m.scored,
        m.nodes,
        domain=pyo.UnitInterval if view.labels is None else pyo.Binary,
        doc="s[i,v] = 1 iff row i is right at node v",
    )
    m.q = pyo.Var(
        m.scored, m.passed, domain=pyo.UnitInterval, doc="q[i,v] = 1 only if row i passes node v"
    )
    if not m.scored:
        return

    @m.Constraint(m.scored, m.nodes, doc="a row is right only where its action is predicted")
    def predicted(m: Any, i: Any, v: Any) -> Any:
        return m.s[i, v] <= sum(m.r[i, k] * m.w[v, k] for k in m.gains[i])

    @m.Constraint(m.scored, doc="a row is right at one node at most")
    def one_node(m: Any, i: Any) -> Any:
        return sum(m.s[i, v] for v in m.nodes) <= 1

    if not D:
        return

    @m.Constraint(m.scored, m.branch, doc="a row passes the left child only if the test is false")
    def left(m: Any, i: Any, v: Any) -> Any:
        return m.q[i, 2 * v] <= sum(m.b[v, f] for f in m.false[i])

    @m.Constraint(m.scored, m.branch, doc="a row passes the right child only if the test is true")
    def right(m: Any, i: Any, v: Any) -> Any:
        return m.q[i, 2 * v + 1] <= sum(m.b[v, f] for f in m.true[i])


def minimise_cost(m: Any, view: CostMatrix) -> None:
    """Cost of the rows that are right nowhere, and penalties.

    The authors' code leaves the root out of the sum.
    """
    gains.minimise_cost(
        m,
        view,
        [(i, m.s[i, v]) for i in m.scored for v in m.nodes],
        "cost of the rows that are right nowhere, and penalties",
    )


def encode(m: Any, tree: Any) -> None:
    """Values of all variables at a tree."""
    splits, leaves = ts.place(tree, m.view)
    ts.encode_structure(m, splits, leaves)
    end = ts.reached(splits, m.view).tolist()
    share, _ = gains.shares(m.view)
    for i in m.scored:
        path = {end[i], *ts.ancestors(end[i])}
        for v in m.nodes:
            m.s[i, v].set_value(
                float(share[i, leaves[v]]) if v == end[i] else 0, skip_validation=True
            )
        for v in m.passed:
            m.q[i, v].set_value(int(v in path), skip_validation=True)


def common_sizes(view: CostMatrix, space: Trees) -> tuple[ModelSize, int]:
    """Sizes of what `declare_common` declares, and the number of scored rows."""
    n, actions = gains.counts(view)
    V, B, F = 2 ** (space.depth + 1) - 1, 2**space.depth - 1, view.n_features
    base = ts.structure_sizes(view, space, True)
    nonzeros = base.nonzeros + V * (n + actions) + n * V + n * B * (F + 2)
    binaries = base.binaries - V + (0 if view.labels is None else n * V)
    return ModelSize(
        base.variables + n * (2 * V - 1), binaries, base.rows + n * (1 + V + 2 * B), nonzeros
    ), n


def subtree(v: int, depth: int) -> list[int]:
    """Heap nodes in the subtree of v, v first."""
    levels = depth - (v.bit_length() - 1)
    return [u for j in range(levels + 1) for u in range(v << j, (v + 1) << j)]
