r"""FlowOCT: every row is a unit of flow from the root to the sink of a predicting node.

**Single sink** (accuracy and every task where a row loses the same by all wrong actions). Row i
sends flow only if it is classified correctly; with the structure (1b)–(1d) of `_tree_structure`,

.. math::
   \min\ & \sum_i \omega_i(1-z_{i1}) + \text{penalties}\\
   & z_{iv}=z_{i,2v}+z_{i,2v+1}+s_{iv}\ (v\in B),\quad z_{iv}=s_{iv}\ (v\in T)\\
   & z_{i,2v}\le\sum_{f:x_{if}=0}b_{vf},\quad z_{i,2v+1}\le\sum_{f:x_{if}=1}b_{vf},\quad
     s_{iv}\le w_{v,y_i}.

**Multi-sink** (any costs, side constraints, minimum leaf size). Every row sends one unit;
:math:`s_{ivk}` is the flow that leaves at v with action k:

.. math::
   \min\ & \sum_{i,v,k}c_{ik}s_{ivk} + \text{penalties},\qquad z_{i1}=1,\\
   & z_{iv}=z_{i,2v}+z_{i,2v+1}+\textstyle\sum_ks_{ivk},\quad s_{ivk}\le w_{vk},\quad
     \ell\le\sum_{i,v,k}a_{ik}s_{ivk}\le u,\quad \sum_{i,k}n_is_{ivk}\ge N_{\min}p_v .

With side constraints w must be binary: with :math:`w=(\tfrac12,\tfrac12)` a leaf would randomise,
and would satisfy a fairness row by fractions.

References: Aghaei, Gómez, Vayanos (2021), "Strong optimal classification trees", arXiv:2103.15965;
Jo, Aghaei, Gómez, Vayanos (2021), "Learning optimal prescriptive trees", arXiv:2108.13628; Jo,
Aghaei, Benson, Gómez, Vayanos (2022), "Learning optimal fair classification trees",
arXiv:2201.09932.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class FlowOCT(TreeFormulation):
    """FlowOCT with one sink or, if the task needs it, one sink per action.

    Parameters
    ----------
    sinks : {"auto", "single", "multi"}
        `"auto"` uses the single sink if it can express the problem.
    """

    name = "flow-oct"
    default_rank = 80
    title = "FlowOCT (Aghaei, Gómez, Vayanos)"
    reference = "https://arxiv.org/abs/2103.15965"
    implied_integer = True
    changeable = frozenset({"side", "leaves", "costs"})
    zero_one = frozenset({"w", "z", "s"})

    sinks: str = "auto"

    def multi(self, view: CostMatrix, space: Trees) -> bool:
        """Whether the multi-sink model is built."""
        return self.sinks == "multi" or (self.sinks == "auto" and _needs_multi(view, space))

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        if self.sinks == "single" and _needs_multi(view, space):
            return "flow-oct with a single sink cannot express other costs, side constraints or a minimum leaf size; leave sinks at auto."
        return None

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        multi = self.multi(view, space)
        ts.add_sets(m, view, space)
        ts.add_tests_by_row(m, view)
        ts.add_structure(m, view, space, binary_labels=bool(view.side))
        m.z = pyo.Var(
            m.rows,
            m.nodes,
            domain=pyo.UnitInterval,
            doc="z[i,v] flow of row i into node v; at most 1 because of (1b)-(1d)",
        )
        (_multi_sink if multi else _single_sink)(m, view, space)

        @m.Constraint(m.rows, m.branch, doc="(1g) flow goes left only through a test that is false")
        def left(m: Any, i: Any, v: Any) -> Any:
            return m.z[i, 2 * v] <= sum(m.b[v, f] for f in m.false[i])

        @m.Constraint(m.rows, m.branch, doc="(1h) flow goes right only through a test that is true")
        def right(m: Any, i: Any, v: Any) -> Any:
            return m.z[i, 2 * v + 1] <= sum(m.b[v, f] for f in m.true[i])

    def reprice(self, m: Any, view: CostMatrix, space: Trees) -> bool:
        multi = m.s.dim() == 3
        if self.multi(view, space) != multi:
            return False
        if not multi and not np.array_equal(view.labels[0], m.view.labels[0]):  # type: ignore[index]  # as in `multi`
            return False
        m.del_component(m.objective)
        (_multi_cost if multi else _single_cost)(m, view)
        return True

    def decode(self, m: Any) -> Tree:
        return ts.decode_structure(m)

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        splits, leaves = ts.place(tree, view)
        ts.encode_structure(m, splits, leaves)
        end = ts.reached(splits, view).tolist()
        single = m.s.dim() == 2
        best, _ = view.labels if single and view.labels is not None else (None, None)
        for i in m.rows:
            action = leaves[end[i]]
            sends = best is None or int(best[i]) == action
            path = {end[i], *ts.ancestors(end[i])}
            for v in m.nodes:
                m.z[i, v].set_value(int(sends and v in path), skip_validation=True)
                if single:
                    m.s[i, v].set_value(int(sends and v == end[i]), skip_validation=True)
                else:
                    for k in m.actions:
                        m.s[i, v, k].set_value(
                            int(v == end[i] and k == action), skip_validation=True
                        )

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        n, F, K = view.n_rows, view.n_features, view.n_actions
        B, T = 2**space.depth - 1, 2**space.depth
        V = B + T
        base = ts.structure_sizes(view, space, bool(view.side))
        if self.multi(view, space):
            rows = base.rows + n * (1 + 3 * B + T + K * V)
            nonzeros = base.nonzeros + n * (1 + B * (F + 5 + K) + T * (1 + K) + 2 * K * V)
            size = ModelSize(base.variables + n * V * (1 + K), base.binaries, rows, nonzeros)
            return ts.with_sums(size, view, space, per_action=V, per_row=K)
        nonzeros = base.nonzeros + n * (B * (F + 6) + 2 * T + 2 * V)
        return ModelSize(
            base.variables + 2 * n * V, base.binaries, base.rows + n * (3 * B + T + V), nonzeros
        )


def _needs_multi(view: CostMatrix, space: Trees) -> bool:
    return view.labels is None or bool(view.side) or space.min_samples_leaf > 1


def _single_sink(m: Any, view: CostMatrix, space: Trees) -> None:
    best, _ = view.labels  # type: ignore[misc]  # checked by the caller
    m.y = pyo.Param(
        m.rows, initialize=dict(enumerate(best.tolist())), doc="y[i] cheapest action of row i"
    )
    m.s = pyo.Var(
        m.rows,
        m.nodes,
        domain=pyo.NonNegativeReals,
        doc="s[i,v] flow of row i from node v to the sink",
    )

    @m.Constraint(
        m.rows, m.branch, doc="(1e) flow into a branch node leaves it to a child or the sink"
    )
    def conserve(m: Any, i: Any, v: Any) -> Any:
        return m.z[i, v] == m.z[i, 2 * v] + m.z[i, 2 * v + 1] + m.s[i, v]

    @m.Constraint(m.rows, m.leaves, doc="(1f) flow into a leaf goes to the sink")
    def conserve_leaf(m: Any, i: Any, v: Any) -> Any:
        return m.z[i, v] == m.s[i, v]

    @m.Constraint(
        m.rows, m.nodes, doc="(1i) flow reaches the sink only where the row's action is predicted"
    )
    def sink(m: Any, i: Any, v: Any) -> Any:
        return m.s[i, v] <= m.w[v, m.y[i]]

    _single_cost(m, view)


def _single_cost(m: Any, view: CostMatrix) -> None:
    _, weight = view.labels  # type: ignore[misc]  # checked by the caller
    splits, costs, constant = ts.penalties(m, view)
    rows = np.flatnonzero(weight).tolist()
    coefficients = [-int(weight[i]) for i in rows] + costs
    ts.minimise(
        m,
        coefficients,
        [m.z[i, 1] for i in rows] + splits,
        int(view.base.sum() + weight.sum()) + constant,
        "(1a) cost of the rows that send no flow, and penalties",
    )


def _multi_sink(m: Any, view: CostMatrix, space: Trees) -> None:
    m.s = pyo.Var(
        m.rows,
        m.nodes,
        m.actions,
        domain=pyo.NonNegativeReals,
        doc="s[i,v,k] flow of row i from node v to the sink of action k",
    )

    @m.Constraint(m.rows, doc="every row sends one unit of flow")
    def source(m: Any, i: Any) -> Any:
        return m.z[i, 1] == 1

    @m.Constraint(m.rows, m.branch, doc="flow into a branch node leaves it to a child or a sink")
    def conserve(m: Any, i: Any, v: Any) -> Any:
        return m.z[i, v] == m.z[i, 2 * v] + m.z[i, 2 * v + 1] + sum(m.s[i, v, k] for k in m.actions)

    @m.Constraint(m.rows, m.leaves, doc="flow into a leaf goes to the sinks")
    def conserve_leaf(m: Any, i: Any, v: Any) -> Any:
        return m.z[i, v] == sum(m.s[i, v, k] for k in m.actions)

    @m.Constraint(
        m.rows,
        m.nodes,
        m.actions,
        doc="flow reaches the sink of an action only where it is predicted",
    )
    def sink(m: Any, i: Any, v: Any, k: Any) -> Any:
        return m.s[i, v, k] <= m.w[v, k]

    ts.add_side_rows(m, view, lambda i, k: [m.s[i, v, k] for v in m.nodes])
    ts.add_leaf_size(m, view, space, lambda m, i, v: sum(m.s[i, v, k] for k in m.actions))
    _multi_cost(m, view)


def _multi_cost(m: Any, view: CostMatrix) -> None:
    ts.minimise_regret(m, view, lambda i, k: [m.s[i, v, k] for v in m.nodes])
