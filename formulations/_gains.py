r"""Costs as gains :math:`g_i\in[0,1]`, which the cut models have in common.

:math:`r_{ik}=\max_{k'}c_{ik'}-c_{ik}` is the gain of action k over the worst action on row i and
:math:`\rho_i=\max_kr_{ik}` the largest gain; :math:`g_i` is the share of it that row i gets. The
cost of all rows is :math:`\sum_i\max_kc_{ik}-\sum_i\rho_ig_i`. For misclassification :math:`g_i=1`
means that row i is right, and every :math:`r_{ik}/\rho_i` is 0 or 1. Rows for which all actions
cost the same (:math:`\rho_i=0`) have no :math:`g_i`. With side constraints every row has variables
:math:`h_{ik}` instead (`_row_labels`), which make :math:`g_i=\sum_k\frac{r_{ik}}{\rho_i}h_{ik}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.mip.formulation import ModelSize
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _row_labels as row_labels
from . import _tree_structure as ts

#: Solvers return numbers below this instead of zeros.
ZERO = 1e-6


def shares(view: CostMatrix) -> tuple[np.ndarray, np.ndarray]:
    """r[i,k] / rho_i (zero if rho_i is zero), and rho_i."""
    gain, largest = ts.regret_by_row(view)
    return gain / np.maximum(largest, 1)[:, None], largest


def counts(view: CostMatrix) -> tuple[int, int]:
    """Number of the variables g or h, and of the labels that limit them."""
    if view.side:
        return view.costs.size, view.costs.size
    share, largest = shares(view)
    return int((largest > 0).sum()), int((share > 0).sum())


def add_shares(m: Any, view: CostMatrix) -> None:
    """The rows whose actions differ in cost, and their shares r/rho as a parameter."""
    share, largest = shares(view)
    scored = np.flatnonzero(largest).tolist()
    m.scored = pyo.Set(initialize=scored, doc="rows i whose actions differ in cost")
    m.gains = pyo.Set(
        m.scored,
        initialize={i: np.flatnonzero(share[i]).tolist() for i in scored},
        domain=pyo.Any,
        doc="actions better than row i's worst",
    )
    m.r = pyo.Param(
        m.scored,
        m.actions,
        initialize={(i, k): float(share[i, k]) for i in scored for k in m.actions},
        doc="r[i,k] / rho[i]",
    )


def add_gains(m: Any, view: CostMatrix) -> None:
    """Shares and the variables g; with side constraints, h and the side rows."""
    if view.side:
        row_labels.add_labels(m, view)
        return
    add_shares(m, view)
    m.g = pyo.Var(
        m.scored,
        domain=pyo.UnitInterval,
        doc="g[i] share of its largest gain that row i gets (1: right)",
    )


def set_gains(m: Any, splits: dict[int, int], leaves: dict[int, int]) -> None:
    """Values of g or h at a tree."""
    if row_labels.has_labels(m):
        row_labels.set_labels(m, splits, leaves)
        return
    share, _ = shares(m.view)
    end = ts.reached(splits, m.view).tolist()
    for i in m.scored:
        m.g[i].set_value(float(share[i, leaves[end[i]]]), skip_validation=True)


def limit_gains(
    m: Any, ends: Any, label: Callable[..., Any], leaving: Callable[..., Any], doc: str
) -> None:
    """The constraints `path`: a row gains by labels up to a node, or by arcs that leave the path.

    `label(m, i, v, k)` is the sum of the labels k of row i on the path to node v of `ends`, and
    `leaving(m, i, v)` the capacity of its arcs that leave the path.
    """
    if row_labels.has_labels(m):

        @m.Constraint(m.rows, m.actions, ends, doc=doc)
        def path(m: Any, i: Any, k: Any, v: Any) -> Any:
            return m.h[i, k] <= label(m, i, v, k) + leaving(m, i, v)

    elif m.scored:

        @m.Constraint(m.scored, ends, doc=doc)
        def path(m: Any, i: Any, v: Any) -> Any:
            gained = sum(m.r[i, k] * label(m, i, v, k) for k in m.gains[i])
            return m.g[i] <= gained + leaving(m, i, v)


def minimise_gains(m: Any, view: CostMatrix) -> None:
    """Cost of all rows, by the variables of `add_gains`, and penalties."""
    if view.side:
        ts.minimise_regret(m, view, lambda i, k: [m.h[i, k]])
    else:
        minimise_cost(m, view, list(m.g.items()), "cost of the actions chosen, and penalties")


def with_gains(size: ModelSize, view: CostMatrix, space: Trees) -> ModelSize:
    """A size with the variables and rows of `add_gains`."""
    if view.side:
        return row_labels.with_labels(size, view, space)
    return size._replace(variables=size.variables + counts(view)[0])


def minimise_cost(m: Any, view: CostMatrix, gained: list[tuple[int, Any]], doc: str) -> None:
    """Cost of all rows and penalties.

    `gained` holds the pairs (row, variable) by which rows gain shares.
    """
    _, largest = shares(view)
    rho = largest.tolist()
    splits, costs, constant = ts.penalties(m, view)
    ts.minimise(
        m,
        [-rho[i] for i, _ in gained] + costs,
        [x for _, x in gained] + splits,
        int(view.costs.max(axis=1).sum()) + constant,
        doc,
    )


def decode_by_rows(m: Any) -> Tree:
    """The tree that b, p and w describe.

    If a node has several labels with positive weight, it gets the best one for its rows.
    """
    view: CostMatrix = m.view

    def walk(v: int, here: np.ndarray) -> Any:
        if v in m.leaves or m.p[v].value > 0.5:
            return Leaf(best_label(view, here, [m.w[v, k].value for k in m.actions]))
        f = max(m.features, key=lambda f: m.b[v, f].value)
        true = view.X[here, f] == 1
        return Branch(view.features[f], walk(2 * v, here[~true]), walk(2 * v + 1, here[true]))

    return Tree(walk(1, np.arange(view.n_rows)), view.actions)


def best_label(view: CostMatrix, here: np.ndarray, weights: list[float]) -> int:
    """The cheapest action on some rows, among those with positive weight (all, if none has).

    It costs no more than the mixture of these actions. With side constraints a node has one label.
    """
    if view.side:
        return max(range(len(weights)), key=weights.__getitem__)
    cost = view.costs[here].sum(axis=0)
    chosen = [k for k, weight in enumerate(weights) if weight > ZERO] or range(len(weights))
    return min(chosen, key=lambda k: (cost[k], k))
