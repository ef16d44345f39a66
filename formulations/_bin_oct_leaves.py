"""Leaves of BinOCT: rows in leaves, lost gains, and limits on leaves; stated in `bin_oct`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from ._oct_structure import entries, in_units
from ._row_actions import add_row_actions, encode_row_actions


def add_errors(m: Any, view: CostMatrix) -> None:
    """Every row is in a leaf; every leaf predicts, and loses the gains of the other actions.

    Side constraints count what rows get.
    """
    gain = in_units(gains(view)[0])
    m.gaining = pyo.Set(
        m.actions,
        initialize={k: np.flatnonzero(gain[:, k]).tolist() for k in m.actions},
        doc="rows with g[i,k] > 0",
    )
    m.gain = pyo.Param(m.rows, m.actions, initialize=entries(gain), doc="g[i,k] gain of action k")
    m.most = pyo.Param(
        m.actions, initialize=dict(enumerate(gain.sum(axis=0).tolist())), doc="M[k] sum of g[i,k]"
    )

    @m.Constraint(m.rows, doc="a row is in one leaf")
    def one_leaf(m: Any, i: Any) -> Any:
        return sum(m.l[i, t] for t in m.leaves) == 1

    @m.Constraint(m.leaves, doc="a leaf predicts one action")
    def one_action(m: Any, t: Any) -> Any:
        return sum(m.P[t, k] for k in m.actions) == 1

    @m.Constraint(
        m.leaves, m.actions, doc="a leaf loses the gains of the actions that it does not predict"
    )
    def given_away(m: Any, t: Any, k: Any) -> Any:
        return (
            sum(m.gain[i, k] * m.l[i, t] for i in m.gaining[k]) - m.most[k] * m.P[t, k] <= m.e[t, k]
        )

    add_row_actions(m, view, lambda m, i, t: m.l[i, t], lambda m, t, k: m.P[t, k], lambda m, t: 1)


def add_leaf_use(m: Any, view: CostMatrix, space: Trees) -> None:
    """Which leaves hold rows, how many such leaves there are, and how many rows each holds."""
    n = view.n_rows

    @m.Constraint(m.leaves, doc="rows are in leaves that are in use")
    def in_use(m: Any, t: Any) -> Any:
        return sum(m.l[i, t] for i in m.rows) <= n * m.alpha[t]

    if space.min_samples_leaf > 1:
        m.count = pyo.Param(
            m.rows,
            initialize=dict(enumerate(view.counts.tolist())),
            doc="original rows that row i stands for",
        )

        @m.Constraint(m.leaves, doc="a leaf in use holds at least min_samples_leaf rows")
        def leaf_size(m: Any, t: Any) -> Any:
            return (
                sum(m.count[i] * m.l[i, t] for i in m.rows) >= space.min_samples_leaf * m.alpha[t]
            )

    if space.limits_leaves:
        in_use = sum(m.alpha[t] for t in m.leaves)
        m.most_leaves = pyo.Constraint(
            expr=(None, in_use, space.max_leaf_nodes), doc="at most max_leaf_nodes leaves hold rows"
        )


def encode_leaves(m: Any, end: np.ndarray, leaves: dict[int, int], counts_leaves: bool) -> None:
    """Values of l, P, e, u and alpha."""
    gain = in_units(gains(m.view)[0])
    for t in m.leaves:
        here = end == t
        if counts_leaves:
            m.alpha[t].set_value(int(here.any()), skip_validation=True)
        for i, inside in enumerate(here.tolist()):
            m.l[i, t].set_value(int(inside), skip_validation=True)
        for k in m.actions:
            m.P[t, k].set_value(int(k == leaves[t]), skip_validation=True)
            m.e[t, k].set_value(
                0 if k == leaves[t] else gain[here, k].sum().item(), skip_validation=True
            )
    encode_row_actions(m, end, leaves)


def gains(view: CostMatrix) -> tuple[np.ndarray, int]:
    """g[i,k], and the constant part of the costs beside the lost gains."""
    worst = view.costs.max(axis=1, keepdims=True)
    gain = worst - view.costs
    return gain, int(worst.sum() - gain.sum())


def counts_leaf_use(view: CostMatrix, space: Trees) -> bool:
    """Whether the number of leaves with rows matters."""
    return bool(
        view.leaf_cost
        or view.split_costs.any()
        or space.limits_leaves
        or space.min_samples_leaf > 1
    )
