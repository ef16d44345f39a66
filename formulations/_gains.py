r"""What path cuts and BendersOCT share: every row's gain :math:`g_i\in[0,1]`, a share of the most it can gain.

:math:`r_{ik}=\max_{k'}c_{ik'}-c_{ik}` is what row i gains by action k over the worst one and :math:`\rho_i=\max_kr_{ik}`; the cost of all rows is
:math:`\sum_i\max_kc_{ik}-\sum_i\rho_ig_i`. For misclassification :math:`g_i` says that row i is right and every :math:`r_{ik}/\rho_i` is 0 or 1.
Rows that lose nothing by any action (:math:`\rho_i=0`) have no :math:`g_i`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees import Branch, CostMatrix, Leaf, Tree

from . import _tree_structure as ts

#: Solvers return zeros as numbers below this.
ZERO = 1e-6


def shares(view: CostMatrix) -> tuple[np.ndarray, np.ndarray]:
    """r[i,k] / rho_i (zero where rho_i is), and rho_i."""
    gain, largest = ts.regret_by_row(view)
    return gain / np.maximum(largest, 1)[:, None], largest


def add_gains(m: Any, view: CostMatrix) -> None:
    """The rows that gain by an action, their shares r/rho as a parameter, and the variables g."""
    share, largest = shares(view)
    scored = np.flatnonzero(largest).tolist()
    m.scored = pyo.Set(initialize=scored, doc="rows i that some action suits better than another")
    m.gains = pyo.Set(m.scored, initialize={i: np.flatnonzero(share[i]).tolist() for i in scored}, domain=pyo.Any, doc="actions better than row i's worst")
    pairs = {(i, k): float(share[i, k]) for i in scored for k in range(view.n_actions)}
    m.r = pyo.Param(m.scored, m.actions, initialize=pairs, doc="r[i,k] / rho[i]")
    m.g = pyo.Var(m.scored, domain=pyo.UnitInterval, doc="g[i] share of its largest gain that row i gets (1: classified correctly)")


def set_gains(m: Any, splits: dict[int, int], leaves: dict[int, int]) -> None:
    """Values of g at a tree."""
    share, _ = shares(m.view)
    end = ts.reached(splits, m.view).tolist()
    for i in m.scored:
        m.g[i].set_value(float(share[i, leaves[end[i]]]), skip_validation=True)


def minimise_cost(m: Any, view: CostMatrix, doc: str) -> None:
    """Cost of all rows by their gains, and the penalties."""
    _, largest = ts.regret_by_row(view)
    splits, costs, constant = ts.penalties(m, view)
    coefficients = [-int(largest[i]) for i in m.scored] + costs
    ts.minimise(m, coefficients, [m.g[i] for i in m.scored] + splits, int(view.costs.max(axis=1).sum()) + constant, doc)


def decode_by_rows(m: Any) -> Tree:
    """The tree that b, p and w describe; where a node shares its labels, the one that suits its rows best (continuous labels are equally good)."""
    view: CostMatrix = m.view

    def walk(v: int, here: np.ndarray) -> Any:
        if m.p[v].value > 0.5:
            return Leaf(best_label(view, here, [m.w[v, k].value for k in m.actions]))
        f = max(m.tests, key=lambda f: m.b[v, f].value)
        true = view.X[here, f] == 1
        return Branch(view.tests[f], walk(2 * v, here[~true]), walk(2 * v + 1, here[true]))

    return Tree(walk(1, np.arange(view.n_rows)), view.actions)


def best_label(view: CostMatrix, here: np.ndarray, weights: list[float]) -> int:
    """Among the actions that have weight, the cheapest on some rows: no dearer than their mixture."""
    cost = view.costs[here].sum(axis=0)
    return min((k for k, weight in enumerate(weights) if weight > ZERO), key=lambda k: (cost[k], k))
