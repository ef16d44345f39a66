r"""Common parts of OCT and its variant on binary features.

They state which nodes split, which leaves hold rows, and what the leaves cost. Nodes are numbered
as in `_tree_structure`. :math:`d_v`: node v splits; :math:`z_{it}`: row i is in leaf t;
:math:`l_t`: leaf t holds rows; :math:`c_{kt}`: it predicts action k; :math:`L_t`: its cost above
the cheapest actions of its rows. A node that does not split sends its rows to one side, so that a
leaf of the tree above the lowest level is the rightmost (or leftmost) leaf below it. The
constraints are stated in `oct`.

With costs in the millions, (20) would be below the solvers' tolerances. So r, M and L are counted
in units of a power of two (`cost_unit`; 1 for small costs), which changes none of their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.mip.formulation import ModelSize
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _row_actions as row_actions
from . import _tree_structure as ts

#: If the largest big-M of costs is above `MOST`, costs are counted in units that make it at most
#: `SCALED`. Solvers may return 0 and 1 with an error of 1e-6, and print them with an error of 1e-8;
#: these shares of big-M must be small.
MOST, SCALED = 2**16, 2**10
#: The reason for constraint (5), for the models' `redundant`.
HIERARCHY = {
    "hierarchy": "(5) removes symmetric solutions: no split below a node that does not split"
}


def add_splits(m: Any, space: Trees) -> None:
    """Variable d, constraint (5), and the leaf limit."""
    m.d = pyo.Var(m.branch, domain=pyo.Binary, doc="d[v] = 1 iff node v splits")
    m.below = pyo.Set(initialize=range(2, 2**space.depth), doc="branch nodes except the root")
    m.parent = pyo.Param(
        m.below, initialize=lambda m, v: v // 2, within=pyo.Any, doc="parent of a node"
    )

    @m.Constraint(m.below, doc="(5) a node splits only if its parent does")
    def hierarchy(m: Any, v: Any) -> Any:
        return m.d[v] <= m.d[m.parent[v]]

    if space.limits_leaves:
        m.most_splits = pyo.Constraint(
            expr=(None, sum(m.d[v] for v in m.branch), space.max_splits),
            doc="at most max_leaf_nodes - 1 splits",
        )


def add_places(m: Any, view: CostMatrix, space: Trees) -> None:
    """Variables z, l and constraints (6), (7), (8)."""
    m.z = pyo.Var(m.rows, m.leaves, domain=pyo.Binary, doc="z[i,t] = 1 iff row i is in leaf t")
    m.l = pyo.Var(m.leaves, domain=pyo.Binary, doc="l[t] = 1 iff leaf t holds rows")
    m.count = pyo.Param(
        m.rows,
        initialize=dict(enumerate(view.counts.tolist())),
        doc="n[i] original rows that row i stands for",
    )

    @m.Constraint(m.rows, m.leaves, doc="(6) rows are in leaves that are in use")
    def in_use(m: Any, i: Any, t: Any) -> Any:
        return m.z[i, t] <= m.l[t]

    @m.Constraint(m.leaves, doc="(7) a leaf in use holds at least min_samples_leaf rows")
    def leaf_size(m: Any, t: Any) -> Any:
        return sum(m.count[i] * m.z[i, t] for i in m.rows) >= space.min_samples_leaf * m.l[t]

    @m.Constraint(m.rows, doc="(8) a row is in one leaf")
    def one_leaf(m: Any, i: Any) -> Any:
        return sum(m.z[i, t] for t in m.leaves) == 1


def add_leaves(m: Any, view: CostMatrix, space: Trees) -> None:
    """Variables z, l, c, L and constraints (6), (7), (8), (18), (20); side constraints."""
    add_places(m, view, space)
    m.c = pyo.Var(
        m.actions, m.leaves, domain=pyo.Binary, doc="c[k,t] = 1 iff leaf t predicts action k"
    )
    m.L = pyo.Var(
        m.leaves,
        domain=pyo.NonNegativeReals,
        doc="L[t] cost of leaf t above the cheapest cost of its rows",
    )
    m.costly = pyo.Set(
        m.actions,
        initialize={k: np.flatnonzero(view.regret[:, k]).tolist() for k in m.actions},
        doc="rows with r[i,k] > 0",
    )
    regret = in_units(view.regret)
    m.regret = pyo.Param(
        m.rows,
        m.actions,
        initialize=entries(regret),
        doc="r[i,k] cost of action k above the cheapest",
    )
    m.most = pyo.Param(
        m.actions,
        initialize=dict(enumerate(regret.sum(axis=0).tolist())),
        doc="M[k] sum of r[i,k]: the least big-M",
    )

    @m.Constraint(m.leaves, doc="(18) a leaf in use predicts one action")
    def one_action(m: Any, t: Any) -> Any:
        return sum(m.c[k, t] for k in m.actions) == m.l[t]

    @m.Constraint(m.actions, m.leaves, doc="(20) a leaf costs what its action costs")
    def leaf_cost(m: Any, k: Any, t: Any) -> Any:
        return m.L[t] >= sum(m.regret[i, k] * m.z[i, t] for i in m.costly[k]) - m.most[k] * (
            1 - m.c[k, t]
        )

    row_actions.add_row_actions(
        m,
        view,
        lambda m, i, t: m.z[i, t],
        lambda m, t, k: m.c[k, t],
        lambda m, t: m.l[t],
    )


def add_objective(m: Any, view: CostMatrix, splits: list[tuple[int, Any]]) -> None:
    """Costs of the leaves and of the splits.

    Each split is given as (cost with the leaf that it adds, variable); leaves = splits + 1.
    """
    variables = [m.L[t] for t in m.leaves] + [x for _, x in splits]
    coefficients = [cost_unit(view.regret)] * len(m.leaves) + [c for c, _ in splits]
    ts.minimise(
        m,
        coefficients,
        variables,
        int(view.base.sum()) + view.leaf_cost,
        "cost of the leaves, and penalties",
    )


def chosen_action(m: Any, t: int) -> Leaf:
    """The leaf that c describes."""
    return Leaf(max(m.actions, key=lambda k: (m.c[k, t].value, -k)))


def encode_leaves(
    m: Any, splits: set[int], leaves: dict[int, int], end: np.ndarray, rightmost: bool
) -> None:
    """Values of d, z, l, c, L and u.

    Rows of a leaf above the lowest level go to its rightmost (or leftmost) leaf below.
    """
    view: CostMatrix = m.view
    regret = in_units(view.regret)
    action, at = encode_places(m, splits, leaves, end, rightmost)
    for t in m.leaves:
        here = at == t
        used = bool(here.any())
        for k in m.actions:
            m.c[k, t].set_value(int(used and action[t] == k), skip_validation=True)
        m.L[t].set_value(regret[here, action[t]].sum().item() if used else 0, skip_validation=True)
    row_actions.encode_row_actions(m, at, action)


def encode_places(
    m: Any, splits: set[int], leaves: dict[int, int], end: np.ndarray, rightmost: bool
) -> tuple[dict[int, int], np.ndarray]:
    """Values of d, z and l.

    Returns the action of every leaf and the leaf of every row, on the lowest level.
    """
    first = min(m.leaves)

    def bottom(v: int) -> int:
        while v < first:
            v = 2 * v + int(rightmost)
        return v

    at = np.array([bottom(v) for v in end.tolist()])
    for v in m.branch:
        m.d[v].set_value(int(v in splits), skip_validation=True)
    for t in m.leaves:
        here = at == t
        for i, inside in enumerate(here.tolist()):
            m.z[i, t].set_value(int(inside), skip_validation=True)
        m.l[t].set_value(int(here.any()), skip_validation=True)
    return {bottom(v): k for v, k in leaves.items()}, at


def place_sizes(view: CostMatrix, space: Trees) -> ModelSize:
    """Size of variables and constraints of `add_splits` and `add_places`."""
    n, B, T = view.n_rows, 2**space.depth - 1, 2**space.depth
    links = max(B - 1, 0)
    rows, nonzeros = links + n * T + T + n, 2 * links + 2 * n * T + T * (n + 1) + n * T
    if space.limits_leaves:
        rows, nonzeros = rows + 1, nonzeros + B
    return ModelSize(B + n * T + T, B + n * T + T, rows, nonzeros)


def leaf_sizes(view: CostMatrix, space: Trees) -> ModelSize:
    """Size of variables and constraints of `add_splits` and `add_leaves`."""
    K, T, costly = view.n_actions, 2**space.depth, view.regret > 0
    base = place_sizes(view, space)
    labels = T * int(costly.sum() + K + costly.any(axis=0).sum())
    size = ModelSize(
        base.variables + T * (1 + K),
        base.binaries + T * K,
        base.rows + T + K * T,
        base.nonzeros + T * (K + 1) + labels,
    )
    return row_actions.added(size, row_actions.row_action_sizes(view, space, use_is_variable=True))


# -- trees and arrays ------------------------------------------------------------------------------


def on_left(t: int, v: int) -> bool:
    """Whether heap node t lies below the left child of its ancestor v."""
    return (t >> (t.bit_length() - v.bit_length() - 1)) % 2 == 0


def leaves_below(v: int, space: Trees) -> list[int]:
    """Heap numbers of the leaves below a node, or of the node itself if it is a leaf."""
    levels = space.depth + 1 - v.bit_length()
    return list(range(v << levels, (v + 1) << levels))


def cost_unit(amounts: np.ndarray) -> int:
    """The power of two in which amounts are counted.

    With it no action's total, which is its big-M, is too large.
    """
    total = int(amounts.sum(axis=0).max(initial=0))
    return 1 if total <= MOST else 1 << (total // SCALED).bit_length()


def in_units(amounts: np.ndarray) -> np.ndarray:
    """Amounts in units of `cost_unit`: integers if it is 1, otherwise doubles without rounding."""
    unit = cost_unit(amounts)
    return amounts if unit == 1 else amounts / unit


def entries(array: np.ndarray) -> dict[tuple[int, int], Any]:
    """A matrix in the form that Pyomo needs for parameters: plain numbers by index."""
    return {(i, j): value for i, row in enumerate(array.tolist()) for j, value in enumerate(row)}
