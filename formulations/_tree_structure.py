r"""Common parts of the flow and cut models: a complete binary tree.

Every node may branch or predict. Nodes are numbered as in a heap: root 1, children 2v and 2v+1;
branch nodes :math:`B=\{1..2^D-1\}`, leaves :math:`T=\{2^D..2^{D+1}-1\}`, :math:`V=B\cup T`,
:math:`A(v)` the proper ancestors of v. A row for which the test of v is false goes to 2v, otherwise
to 2v+1.

:math:`b_{vf}\in\{0,1\}`: v tests f; :math:`p_v\in\{0,1\}`: v predicts; :math:`w_{vk}`: its action.

.. math:: \sum_f b_{vf}+p_v+\sum_{u\in A(v)}p_u=1\ (v\in B),\quad p_v+\sum_{u\in A(v)}p_u=1\ (v\in T),\quad \sum_k w_{vk}=p_v\ (v\in V).

Aghaei, Gómez, Vayanos (2021), "Strong optimal classification trees", constraints (1b), (1c), (1d);
the leaf limit is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression
from scipy import sparse

from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix


def add_sets(m: Any, view: CostMatrix, space: Trees) -> None:
    """Index sets of rows, features, actions and nodes."""
    D = space.depth
    m.rows = pyo.RangeSet(0, view.n_rows - 1, doc="rows i (merged rows count once)")
    m.features = pyo.RangeSet(0, view.n_features - 1, doc="features f")
    m.actions = pyo.RangeSet(0, view.n_actions - 1, doc="actions k")
    m.nodes = pyo.RangeSet(1, 2 ** (D + 1) - 1, doc="nodes V")
    m.branch = pyo.RangeSet(1, 2**D - 1, doc="branch nodes B")
    m.leaves = pyo.RangeSet(2**D, 2 ** (D + 1) - 1, doc="leaves T")
    m.above = pyo.Set(
        m.nodes,
        initialize={v: ancestors(v) for v in range(1, 2 ** (D + 1))},
        doc="proper ancestors A(v)",
    )


def add_tests_by_row(m: Any, view: CostMatrix) -> None:
    """For every row, the features that send it left (false) and right (true)."""
    m.false = pyo.Set(
        m.rows,
        initialize=lambda m, i: np.flatnonzero(view.X[i] == 0).tolist(),
        domain=pyo.Any,
        doc="features that are 0 on row i",
    )
    m.true = pyo.Set(
        m.rows,
        initialize=lambda m, i: np.flatnonzero(view.X[i] == 1).tolist(),
        domain=pyo.Any,
        doc="features that are 1 on row i",
    )


def add_structure(m: Any, view: CostMatrix, space: Trees, binary_labels: bool) -> None:
    """Variables b, p, w and the constraints that make them a tree."""
    m.b = pyo.Var(m.branch, m.features, domain=pyo.Binary, doc="b[v,f] = 1 iff node v tests f")
    m.p = pyo.Var(m.nodes, domain=pyo.Binary, doc="p[v] = 1 iff node v predicts")
    m.w = pyo.Var(
        m.nodes,
        m.actions,
        domain=pyo.Binary if binary_labels else pyo.UnitInterval,
        doc="w[v,k] = 1 iff node v predicts action k",
    )

    @m.Constraint(
        m.branch, doc="(1b) a branch node tests, predicts, or lies below a predicting node"
    )
    def one_role(m: Any, v: Any) -> Any:
        return sum(m.b[v, f] for f in m.features) + m.p[v] + sum(m.p[u] for u in m.above[v]) == 1

    @m.Constraint(m.leaves, doc="(1c) a leaf predicts or lies below a predicting node")
    def leaf_role(m: Any, v: Any) -> Any:
        return m.p[v] + sum(m.p[u] for u in m.above[v]) == 1

    @m.Constraint(m.nodes, doc="(1d) a predicting node has one action")
    def one_action(m: Any, v: Any) -> Any:
        return sum(m.w[v, k] for k in m.actions) == m.p[v]

    add_split_limit(m, space)


def add_split_limit(m: Any, space: Trees) -> None:
    """The leaf limit as a row over b, if it excludes a tree."""
    if space.limits_leaves and len(m.features):
        splits = sum(m.b[v, f] for v in m.branch for f in m.features)
        m.most_splits = pyo.Constraint(
            expr=(None, splits, space.max_splits), doc="at most max_leaf_nodes - 1 splits"
        )


def structure_sizes(view: CostMatrix, space: Trees, binary_labels: bool) -> ModelSize:
    """Size of variables and constraints of `add_structure`."""
    B, V, F, K = 2**space.depth - 1, 2 ** (space.depth + 1) - 1, view.n_features, view.n_actions
    rows, nonzeros = 2 * V, B * F + V + sum_of_depths(space.depth) + V * (K + 1)
    if space.limits_leaves and view.n_features:
        rows, nonzeros = rows + 1, nonzeros + B * F
    return ModelSize(
        B * F + V * (1 + K), B * F + V + (V * K if binary_labels else 0), rows, nonzeros
    )


def penalties(m: Any, view: CostMatrix) -> tuple[list[Any], list[int], int]:
    """Variables and coefficients of the split costs, and the constant: leaves = splits + 1."""
    if not view.leaf_cost and not view.split_costs.any():
        return [], [], 0
    cost = (view.split_costs + view.leaf_cost).tolist()
    pairs = [(m.b[v, f], cost[f]) for v in m.branch for f in m.features]
    return [x for x, _ in pairs], [c for _, c in pairs], view.leaf_cost


def minimise(
    m: Any, coefficients: list[Any], variables: list[Any], constant: float, doc: str
) -> None:
    """The objective, always a minimisation, in integer units of the view."""
    m.objective = pyo.Objective(
        expr=LinearExpression(constant=constant, linear_coefs=coefficients, linear_vars=variables),
        sense=pyo.minimize,
        doc=doc,
    )


def add_side_rows(m: Any, view: CostMatrix, variables: Callable[[int, int], list[Any]]) -> None:
    """Side constraints as rows over the variables whose sum is 1 iff row i gets action k.

    These variables are given by `variables(i, k)`.
    """
    if not view.side:
        return
    columns: list[Any] = []
    position: dict[int, int] = {}
    data: list[int] = []
    indices: list[int] = []
    indptr = [0]
    for row in view.side:
        for i, k in np.argwhere(row.coefs).tolist():
            for x in variables(i, k):
                if id(x) not in position:
                    position[id(x)] = len(columns)
                    columns.append(x)
                indices.append(position[id(x)])
                data.append(int(row.coefs[i, k]))
        indptr.append(len(data))
    A = sparse.csr_matrix(
        (np.array(data, dtype=float), indices, indptr), shape=(len(view.side), len(columns))
    )
    lower = np.array([-np.inf if r.lower is None else r.lower for r in view.side], dtype=float)
    upper = np.array([np.inf if r.upper is None else r.upper for r in view.side], dtype=float)
    m.side = matrix_rows(columns, A, lower, upper, doc="side constraints on the actions")


def add_leaf_size(
    m: Any, view: CostMatrix, space: Trees, inside: Callable[[Any, Any, Any], Any]
) -> None:
    """Predicting nodes hold enough rows, where `inside(m, i, v)` is 1 iff row i ends at node v."""
    if space.min_samples_leaf <= 1:
        return
    m.count = pyo.Param(
        m.rows,
        initialize=dict(enumerate(view.counts.tolist())),
        doc="original rows that row i stands for",
    )

    predicting = m.nodes if len(m.p) == len(m.nodes) else m.branch

    @m.Constraint(predicting, doc="a predicting node holds at least min_samples_leaf rows")
    def leaf_size(m: Any, v: Any) -> Any:
        rows = sum(m.count[i] * inside(m, i, v) for i in m.rows)
        return rows >= space.min_samples_leaf * m.p[v]


def minimise_regret(m: Any, view: CostMatrix, variables: Callable[[int, int], list[Any]]) -> None:
    """Costs and penalties, where the sum of `variables(i, k)` is 1 iff row i gets action k."""
    splits, costs, constant = penalties(m, view)
    terms = [
        (int(view.regret[i, k]), x)
        for i, k in np.argwhere(view.regret).tolist()
        for x in variables(i, k)
    ]
    minimise(
        m,
        [c for c, _ in terms] + costs,
        [x for _, x in terms] + splits,
        int(view.base.sum()) + constant,
        "cost of the chosen actions, and penalties",
    )


def with_sums(
    size: ModelSize, view: CostMatrix, space: Trees, per_action: int, per_row: int = 0
) -> ModelSize:
    """A size with the rows of `add_side_rows` and, if `per_row` is given, of `add_leaf_size`.

    Sums have `per_action` variables per row and action, and `per_row` per node and row.
    """
    entries = sum(int(np.count_nonzero(row.coefs)) for row in view.side)
    rows, nonzeros = size.rows + len(view.side), size.nonzeros + per_action * entries
    if space.min_samples_leaf > 1 and per_row:
        V = 2 ** (space.depth + 1) - 1
        rows, nonzeros = rows + V, nonzeros + V * (per_row * view.n_rows + 1)
    return size._replace(rows=rows, nonzeros=nonzeros)


# -- trees -----------------------------------------------------------------------------------------


def ancestors(v: int) -> list[int]:
    """Proper ancestors of a heap node, nearest first."""
    return [v >> s for s in range(1, v.bit_length())]


def sum_of_depths(depth: int) -> int:
    """Sum of the depths of all nodes of a complete tree."""
    return (depth - 1) * 2 ** (depth + 1) + 2


def place(tree: Tree, view: CostMatrix) -> tuple[dict[int, int], dict[int, int]]:
    """Heap positions of a tree's nodes: feature of every branch node, action of every leaf."""
    splits: dict[int, int] = {}
    leaves: dict[int, int] = {}

    def walk(node: Any, v: int) -> None:
        if isinstance(node, Leaf):
            leaves[v] = node.action
        else:
            splits[v] = view.index[node.test]
            walk(node.left, 2 * v)
            walk(node.right, 2 * v + 1)

    walk(view.canonical(tree).root, 1)
    return splits, leaves


def reached(splits: dict[int, int], view: CostMatrix) -> np.ndarray:
    """Heap node in which every row ends, shape (n,)."""
    at = np.ones(view.n_rows, dtype=np.int64)
    for v in sorted(splits):
        here = at == v
        at[here] = 2 * v + view.X[here, splits[v]]
    return at


def encode_structure(m: Any, splits: dict[int, int], leaves: dict[int, int]) -> None:
    """Values of b, p and w."""
    for v in m.branch:
        for f in m.features:
            m.b[v, f].set_value(int(splits.get(v) == f), skip_validation=True)
    for v in m.nodes:
        m.p[v].set_value(int(v in leaves), skip_validation=True)
        for k in m.actions:
            m.w[v, k].set_value(int(leaves.get(v) == k), skip_validation=True)


def decode_structure(m: Any) -> Tree:
    """The tree that b, p and w describe."""
    view = m.view

    def walk(v: int) -> Any:
        if m.p[v].value > 0.5:
            return Leaf(max(m.actions, key=lambda k: (m.w[v, k].value, -k)))
        f = max(m.features, key=lambda f: m.b[v, f].value)
        return Branch(view.features[f], walk(2 * v), walk(2 * v + 1))

    return Tree(walk(1), view.actions)


def weights_of_tests(m: Any, variables: Any, nodes_first: bool = True) -> dict[int, np.ndarray]:
    """Values of variables over branch nodes and tests, or tests and branch nodes, by node."""
    return {
        v: np.array([variables[(v, f) if nodes_first else (f, v)].value for f in m.features])
        for v in m.branch
    }


def regret_by_row(view: CostMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Gain r[i,k] of action k over the worst one, and the largest gain of every row."""
    gain = view.costs.max(axis=1, keepdims=True) - view.costs
    return gain, gain.max(axis=1)
