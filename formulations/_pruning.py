r"""Common parts of the programs on prunings.

They are one z per node, the rows that make z a pruning, the prices of features, and decoding. With
:math:`z_h=1` iff node h is a leaf of the pruned trees, a split h is kept iff no z on the path from
its root to h is 1. So costs of kept splits are linear in z too:
:math:`\sum_h\kappa_h-\sum_hs_hz_h`, where :math:`s_h` is the sum of :math:`\kappa` over h and the
splits below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression
from scipy import sparse

from milp_trees.mip.formulation import Formulation, ModelSize
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.models.ensemble import Ensemble
from milp_trees.problems.problem import Problem
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains


@dataclass(frozen=True)
class PruningFormulation(Formulation):
    """Base class of formulations of prunings."""

    space = PrunedEnsembles
    needs = NodeGains

    def presolved_view(self, problem: Problem) -> NodeGains:
        return problem.view(NodeGains)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        view, ensemble = m.view, m.space.ensemble

        def node(h: int) -> str:
            if not view.is_split[h]:
                return f"tree {view.member[h]}, leaf"
            test = f"{ensemble.columns[ensemble.column[h]]} <= {ensemble.threshold[h]:.17g}"
            return f"tree {view.member[h]}, split {test}: to node {view.left[h]} if true, else to node {view.right[h]}"

        def row(i: int) -> str:
            return "all rows" if i < 0 else f"row {i}"

        return {
            "nodes": node,
            "splits": node,
            "purchases": lambda bought: f"{view.units[bought[0]]} for {row(bought[1])}",
            "uses": lambda use: f"node {use[0]} for {row(use[1])}",
        }


# -- trees -----------------------------------------------------------------------------------------


def depths(view: NodeGains) -> np.ndarray:
    """Number of nodes above each node, shape (M,)."""
    depth, at = np.zeros(view.n_nodes, dtype=np.int64), view.parent.copy()
    while (at >= 0).any():
        depth += at >= 0
        at = np.where(at >= 0, view.parent[at], -1)
    return depth


def paths(view: NodeGains, nodes: np.ndarray) -> sparse.csr_matrix:
    """Row j has a 1 for every node on the path from the root to `nodes[j]`, both included.

    The shape is (len(nodes), M).
    """
    rows, columns = [], []
    row, at = np.arange(len(nodes)), np.asarray(nodes, dtype=np.int64)
    while len(at):
        rows.append(row)
        columns.append(at)
        up = view.parent[at] >= 0
        row, at = row[up], view.parent[at[up]]
    i, j = (np.concatenate(a) if a else np.zeros(0, dtype=np.int64) for a in (rows, columns))
    return sparse.csr_matrix((np.ones(len(i)), (i, j)), shape=(len(nodes), view.n_nodes))


def rows_at(view: NodeGains) -> np.ndarray:
    """Number of paying rows that reach each node of the unpruned trees, shape (M,)."""
    reached = np.bincount(view.leaf.ravel(), minlength=view.n_nodes)
    for h in view.splits[::-1].tolist():
        reached[h] = reached[view.left[h]] + reached[view.right[h]]
    return reached


def first_uses(view: NodeGains) -> tuple[np.ndarray, np.ndarray]:
    """Node u(t,k,i) and purchase of every first use (t,k,i), each of shape (E,).

    The order is that of the view.
    """
    return np.repeat(view.first, np.diff(view.start)), np.asarray(view.need, dtype=np.int64)


def saved(view: NodeGains) -> np.ndarray:
    """Keep costs of a node and of all splits below it, which pruning there saves, shape (M,)."""
    total = view.keep_cost.copy()
    for h in view.splits[::-1].tolist():
        total[h] += total[view.left[h]] + total[view.right[h]]
    return total


# -- declaring -------------------------------------------------------------------------------------


def add_leaves(m: Any, view: NodeGains) -> None:
    """The variables z and a row for each leaf of the unpruned trees."""
    m.nodes = pyo.RangeSet(0, view.n_nodes - 1, doc="nodes h of all trees, each tree in preorder")
    m.z = pyo.Var(
        m.nodes, domain=pyo.Binary, doc="z[h] = 1 iff node h is a leaf of its pruned tree"
    )
    leaves = np.flatnonzero(~view.is_split)
    m.path = matrix_rows(
        zs(m),
        paths(view, leaves),
        *[np.ones(len(leaves))] * 2,
        doc="(path) every path from a root to a leaf ends in one leaf",
    )


def add_purchases(m: Any, view: NodeGains, domain: Any = pyo.Binary) -> None:
    """The variables W, and rows for groups that must be bought with a member."""
    pairs = list(zip(view.purchase_unit.tolist(), view.purchase_row.tolist(), strict=True))
    m.purchases = pyo.Set(
        initialize=pairs,
        dimen=2,
        doc="purchases: unit k (feature or group) for row i, or once for all rows (i = -1)",
    )
    m.W = pyo.Var(
        m.purchases, domain=domain, bounds=(0, 1), doc="W[k,i] = 1 iff unit k is acquired for row i"
    )
    if len(view.above):
        W = list(m.W.values())
        m.group = matrix_rows(
            W,
            differences(view.above[:, 0], view.above[:, 1], len(W)),
            *below(len(view.above)),
            doc="W[k,i] ≤ W[g,i]: members are bought with their groups g",
        )


def differences(small: np.ndarray, large: np.ndarray, n: int) -> sparse.csr_matrix:
    """Row j is x[small[j]] - x[large[j]]; shape (len(small), n)."""
    j = np.arange(len(small))
    signs = np.repeat([1.0, -1.0], len(small))
    return sparse.csr_matrix(
        (signs, (np.concatenate([j, j]), np.concatenate([small, large]))), shape=(len(small), n)
    )


def below(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of n rows that are at most 0."""
    return np.full(n, -np.inf), np.zeros(n)


def zs(m: Any) -> list[Any]:
    """The variables z by node."""
    return list(m.z.values())


def add_objective(
    m: Any, view: NodeGains, variables: list[Any], coefficients: list[int], constant: int, doc: str
) -> None:
    """A minimised sum in integer units."""
    terms = [(c, v) for c, v in zip(coefficients, variables, strict=True) if c]
    expr = LinearExpression(
        constant=constant, linear_coefs=[c for c, _ in terms], linear_vars=[v for _, v in terms]
    )
    m.objective = pyo.Objective(expr=expr, doc=doc)


def add_leaf_objective(m: Any, view: NodeGains, with_features: bool = True) -> None:
    """Errors of leaves plus the cost of kept splits and purchases: a E + b C."""
    a, b, _ = view.step
    coefficients = [
        a * e - b * s for e, s in zip(view.error.tolist(), saved(view).tolist(), strict=True)
    ]
    variables = zs(m)
    if with_features:
        coefficients, variables = (
            coefficients + [b * c for c in view.price.tolist()],
            variables + list(m.W.values()),
        )
    add_objective(
        m,
        view,
        variables,
        coefficients,
        b * int(view.keep_cost.sum()),
        "errors of the leaves + λ · cost, in whole units",
    )


def add_budget(m: Any, view: NodeGains) -> None:
    """The budget as a row over z and W."""
    if view.budget is None:
        return
    row = sparse.csr_matrix(np.concatenate([-saved(view), view.price]).astype(float)[None, :])
    most = float(view.budget - int(view.keep_cost.sum()))
    m.budget = matrix_rows(
        [*zs(m), *m.W.values()],
        row,
        np.array([-np.inf]),
        np.array([most]),
        doc="cost is at most the budget",
    )


# -- sizes -----------------------------------------------------------------------------------------


def leaf_sizes(view: NodeGains) -> ModelSize:
    """Sizes of z and its path rows: one row per leaf, with the nodes on its path."""
    leaves = ~view.is_split
    return ModelSize(
        view.n_nodes, view.n_nodes, int(leaves.sum()), int((depths(view)[leaves] + 1).sum())
    )


def purchase_sizes(view: NodeGains) -> tuple[int, int]:
    """Rows and nonzeros of groups, and of the budget over z and W."""
    rows, nonzeros = len(view.above), 2 * len(view.above)
    if view.budget is not None:
        rows, nonzeros = (
            rows + 1,
            nonzeros + int(np.count_nonzero(saved(view)) + np.count_nonzero(view.price)),
        )
    return rows, nonzeros


# -- prunings in and out ---------------------------------------------------------------------------


def encode_leaves(predictor: Ensemble, m: Any) -> np.ndarray:
    """Set every z; returns the splits that are kept."""
    view: NodeGains = m.view
    keep = view.checked(predictor.kept)
    leaf = ~keep & ((view.parent < 0) | keep[view.parent])
    set_values(m.z, leaf)
    return keep


def decode_leaves(m: Any) -> Ensemble:
    """The ensemble whose leaves are the first nodes with z = 1 on each path."""
    view: NodeGains = m.view
    keep = np.array([v.value < 0.5 for v in m.z.values()], dtype=bool)
    for h in np.flatnonzero(view.parent >= 0).tolist():
        keep[h] &= keep[view.parent[h]]
    return m.space.ensemble.pruned(keep)


def set_values(variable: Any, values: np.ndarray) -> None:
    """Set the values of an indexed variable, in its order."""
    for v, value in zip(variable.values(), np.asarray(values).astype(int).tolist(), strict=True):
        v.set_value(value, skip_validation=True)
