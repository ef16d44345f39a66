r"""Common parts of CUT and CUT_W: all but the constraints of connectivity.

These connect the node where a row is right to the root. Row i is right at v (:math:`s_{iv}`) and
passes v (:math:`q_{iv}`); with the structure of
`_tree_structure`, w binary and p continuous (it follows):

.. math:: s_{iv}\le w_{v,y_i},\quad\sum_vs_{iv}\le1,\quad q_{i,2v}\le\sum_{f:x_{if}=0}b_{vf},\quad q_{i,2v+1}\le\sum_{f:x_{if}=1}b_{vf}.

For costs that differ between the wrong actions of a row,
:math:`s_{iv}\le\sum_k\frac{r_{ik}}{\rho_i}w_{vk}` with continuous s is the share of a row's largest
gain (see `_gains`); for misclassification it is the constraint above.

**Several sinks** (ours, after the multi-sink flow of `flow_oct`). Rows that are wrong are at no
node, so side constraints and a minimum leaf size cannot be stated. Where there are any, every row
ends at one node with one action, :math:`s_{ivk}\in\{0,1\}`, and the constraints of connectivity
have :math:`\sum_ks_{ivk}` in place of :math:`s_{iv}`:

.. math::
   \min\ \sum_{i,v,k}r_{ik}s_{ivk}+\text{penalties},\qquad & \sum_{v,k}s_{ivk}=1,\qquad
   s_{ivk}\le w_{vk},\\
   & \ell\le\sum_{i,v,k}a_{ik}s_{ivk}\le u,\qquad \sum_{i,k}n_is_{ivk}\ge N_{\min}p_v,

where :math:`r_{ik}` is the cost of action k above the cheapest one of row i.
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
    "leaf_role": "(1c) a leaf without rows need not predict, and in one with rows that does not predict no row is right (or can end)",
    "one_node": "a row passes only one node that predicts; cuts fractional points",
}


def declare_common(m: Any, view: CostMatrix, space: Trees) -> None:
    """Sets, variables and all constraints but connectivity."""
    D = space.depth
    ts.add_sets(m, view, space)
    ts.add_tests_by_row(m, view)
    if places_rows(view, space):
        m.scored = pyo.Set(initialize=list(m.rows), doc="rows i, which all end at a node")
    else:
        gains.add_shares(m, view)
    ts.add_structure(m, view, space, binary_labels=True)
    for v in m.nodes:
        m.p[v].domain = pyo.UnitInterval
    m.below = pyo.Set(
        m.nodes, initialize={v: subtree(v, D) for v in m.nodes}, doc="subtree(v), v included"
    )
    m.passed = pyo.RangeSet(2, 2 ** (D + 1) - 1, doc="nodes below the root")
    (_several_sinks if places_rows(view, space) else _one_sink)(m, view, space)
    m.q = pyo.Var(
        m.scored, m.passed, domain=pyo.UnitInterval, doc="q[i,v] = 1 only if row i passes node v"
    )
    if not m.scored or not D:
        return

    @m.Constraint(m.scored, m.branch, doc="a row passes the left child only if the test is false")
    def left(m: Any, i: Any, v: Any) -> Any:
        return m.q[i, 2 * v] <= sum(m.b[v, f] for f in m.false[i])

    @m.Constraint(m.scored, m.branch, doc="a row passes the right child only if the test is true")
    def right(m: Any, i: Any, v: Any) -> Any:
        return m.q[i, 2 * v + 1] <= sum(m.b[v, f] for f in m.true[i])


def places_rows(view: CostMatrix, space: Trees) -> bool:
    """Whether every row is at a node, with one sink per action."""
    return bool(view.side) or space.min_samples_leaf > 1


def sinks(view: CostMatrix, space: Trees) -> int:
    """Number of variables s per row and node."""
    return view.n_actions if places_rows(view, space) else 1


def at(m: Any, i: Any, v: Any) -> Any:
    """The expression that is 1 iff row i is right, or ends, at node v."""
    return m.s[i, v] if m.s.dim() == 2 else sum(m.s[i, v, k] for k in m.actions)


def _one_sink(m: Any, view: CostMatrix, space: Trees) -> None:
    m.s = pyo.Var(
        m.scored,
        m.nodes,
        domain=pyo.UnitInterval if view.labels is None else pyo.Binary,
        doc="s[i,v] = 1 iff row i is right at node v",
    )
    if not m.scored:
        return

    @m.Constraint(m.scored, m.nodes, doc="a row is right only where its action is predicted")
    def predicted(m: Any, i: Any, v: Any) -> Any:
        return m.s[i, v] <= sum(m.r[i, k] * m.w[v, k] for k in m.gains[i])

    @m.Constraint(m.scored, doc="a row is right at one node at most")
    def one_node(m: Any, i: Any) -> Any:
        return sum(m.s[i, v] for v in m.nodes) <= 1


def _several_sinks(m: Any, view: CostMatrix, space: Trees) -> None:
    m.s = pyo.Var(
        m.rows,
        m.nodes,
        m.actions,
        domain=pyo.Binary,
        doc="s[i,v,k] = 1 iff row i ends at node v with action k",
    )

    @m.Constraint(m.rows, m.nodes, m.actions, doc="rows end with the action that is predicted")
    def predicted(m: Any, i: Any, v: Any, k: Any) -> Any:
        return m.s[i, v, k] <= m.w[v, k]

    @m.Constraint(m.rows, doc="a row ends at one node with one action")
    def ends(m: Any, i: Any) -> Any:
        return sum(m.s[i, v, k] for v in m.nodes for k in m.actions) == 1

    ts.add_side_rows(m, view, lambda i, k: [m.s[i, v, k] for v in m.nodes])
    ts.add_leaf_size(m, view, space, at)


def minimise_cost(m: Any, view: CostMatrix) -> None:
    """Cost of the rows that are right nowhere (or of what rows get), and penalties.

    The authors' code leaves the root out of the sum.
    """
    if m.s.dim() == 3:
        ts.minimise_regret(m, view, lambda i, k: [m.s[i, v, k] for v in m.nodes])
        return
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
    for i, v, *given in m.s:
        # With one sink the share that the row gains, otherwise whether the action is the node's.
        there = v == end[i]
        value = (leaves[v] == given[0] if given else share[i, leaves[v]]) if there else 0
        m.s[(i, v, *given)].set_value(float(value), skip_validation=True)
    for i, v in m.q:
        passes = v == end[i] or v in ts.ancestors(end[i])
        m.q[i, v].set_value(int(passes), skip_validation=True)


def common_sizes(view: CostMatrix, space: Trees) -> tuple[ModelSize, int]:
    """Sizes of what `declare_common` declares, and the number of rows that have s and q."""
    V, B, F = 2 ** (space.depth + 1) - 1, 2**space.depth - 1, view.n_features
    base = ts.structure_sizes(view, space, True)
    if places_rows(view, space):
        n, K = view.n_rows, view.n_actions
        size = ModelSize(
            base.variables + n * V * K + n * (V - 1),
            base.binaries - V + n * V * K,
            base.rows + n * (1 + V * K + 2 * B),
            base.nonzeros + 3 * n * V * K + n * B * (F + 2),
        )
        return ts.with_sums(size, view, space, per_action=V, per_row=K), n
    n, actions = gains.counts(view)
    nonzeros = base.nonzeros + V * (n + actions) + n * V + n * B * (F + 2)
    binaries = base.binaries - V + (0 if view.labels is None else n * V)
    return ModelSize(
        base.variables + n * (2 * V - 1), binaries, base.rows + n * (1 + V + 2 * B), nonzeros
    ), n


def subtree(v: int, depth: int) -> list[int]:
    """Heap nodes in the subtree of v, v first."""
    levels = depth - (v.bit_length() - 1)
    return [u for j in range(levels + 1) for u in range(v << j, (v + 1) << j)]
