r"""Bertsimas and Dunn's optimal regression tree with constant leaves, on binary features.

Tests, places of rows and sizes of leaves are those of OCT (`oct_binary`): :math:`d_v`: node v
splits, :math:`a_{fv}`: it tests f, :math:`z_{it}`: row i is in leaf t, :math:`l_t`: leaf t holds
rows. New are the prediction :math:`\beta_t` of a leaf, the prediction :math:`f_i` for a row, and the
loss :math:`L_i` of a row of price :math:`w_i`:

.. math::
   \min\ \sum_iw_iL_i+\text{penalties}\qquad & f_i-\beta_t\ge-M(1-z_{it}) & i,\ t\in T\\
   & f_i-\beta_t\le M(1-z_{it}) & i,\ t\in T\\
   & L_i\ge f_i-y_i,\qquad L_i\ge y_i-f_i & i

with (2), (5)–(8) of OCT and the routing of `oct_binary`. Targets lie between
:math:`\underline y` and :math:`\overline y`, and so do :math:`\beta` and f, hence
:math:`M=\overline y-\underline y`.

The book also has the squared loss :math:`L_i\ge(f_i-y_i)^2`, with which the program is quadratic.
Here programs are handed over as one matrix, and the loss is the absolute one; `dp` and `state-flow`
take squared error.

Reference: Bertsimas, Dunn (2019), "Machine learning under a modern optimization lens", Dynamic
Ideas; Dunn (2018), "Optimal trees for prediction and prescription", PhD thesis, MIT; the form for
binary features as in `oct_binary`.
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

from . import _oct_structure as parts
from . import _tree_structure as ts
from ._distances import distances, medians, needs_distances, walk
from .oct_binary import add_routing


@register
@dataclass(frozen=True)
class ORTBinary(TreeFormulation):
    """ORT with constant leaves; rows are not merged, since each has a target of its own."""

    name = "ort-binary"
    title = "Optimal regression trees (Bertsimas, Dunn), on binary tests"
    reference = "https://hdl.handle.net/1721.1/119280"
    takes_side_rows = False
    redundant = parts.HIERARCHY
    merge_rows: bool = False

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        return needs_distances(self.name, view)

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        found = distances(view)
        assert found is not None
        ts.add_sets(m, view, space)
        m.false = pyo.Set(
            m.rows,
            initialize={i: (view.X[i] == 0).nonzero()[0].tolist() for i in m.rows},
            domain=pyo.Any,
            doc="features that are 0 on row i",
        )
        m.a = pyo.Var(m.features, m.branch, domain=pyo.Binary, doc="a[f,v] = 1 iff node v tests f")
        parts.add_splits(m, space)

        @m.Constraint(m.branch, doc="(2) a node that splits has one test")
        def one_test(m: Any, v: Any) -> Any:
            return sum(m.a[f, v] for f in m.features) == m.d[v]

        parts.add_places(m, view, space)
        add_routing(m, space)
        span = found.span
        m.beta = pyo.Var(m.leaves, bounds=(0, span), doc="beta[t] prediction of leaf t")
        m.f = pyo.Var(m.rows, bounds=(0, span), doc="f[i] prediction for row i")
        m.L = pyo.Var(m.rows, domain=pyo.NonNegativeReals, doc="L[i] absolute error of row i")
        m.target = pyo.Param(m.rows, initialize=found.targets, doc="y[i] target of row i")

        @m.Constraint(m.rows, m.leaves, doc="a row is predicted no less than its leaf")
        def not_less(m: Any, i: Any, t: Any) -> Any:
            return m.f[i] - m.beta[t] - span * m.z[i, t] >= -span

        @m.Constraint(m.rows, m.leaves, doc="a row is predicted no more than its leaf")
        def not_more(m: Any, i: Any, t: Any) -> Any:
            return m.f[i] - m.beta[t] + span * m.z[i, t] <= span

        @m.Constraint(m.rows, doc="error of a prediction above the target")
        def above_target(m: Any, i: Any) -> Any:
            return m.L[i] - m.f[i] >= -m.target[i]

        @m.Constraint(m.rows, doc="error of a prediction below the target")
        def below_target(m: Any, i: Any) -> Any:
            return m.L[i] + m.f[i] >= m.target[i]

        cost = (view.split_costs + view.leaf_cost).tolist()
        terms = list(zip(found.price.tolist(), (m.L[i] for i in m.rows), strict=True))
        terms += [(cost[f], m.a[f, v]) for f in m.features for v in m.branch if cost[f]]
        ts.minimise(
            m,
            [c for c, _ in terms],
            [x for _, x in terms],
            view.leaf_cost,
            "weighted absolute error, and penalties",
        )

    def decode(self, m: Any) -> Tree:
        def tested(v: int) -> Any:
            if m.d[v].value < 0.5:
                return None
            return max(m.features, key=lambda f: m.a[f, v].value)

        return medians(m, walk(m, tested))

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        found = distances(view)
        assert found is not None
        splits, leaves = ts.place(tree, view)
        for v in m.branch:
            for f in m.features:
                m.a[f, v].set_value(int(splits.get(v) == f), skip_validation=True)
        end = ts.reached(splits, view)
        action, at = parts.encode_places(m, set(splits), leaves, end, rightmost=True)
        for t in m.leaves:
            number = float(found.action[action[t]]) if t in action else 0.0
            m.beta[t].set_value(number, skip_validation=True)
        for i, t in enumerate(at.tolist()):
            predicted = float(found.action[action[t]])
            m.f[i].set_value(predicted, skip_validation=True)
            m.L[i].set_value(abs(predicted - float(found.target[i])), skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.a, nodes_first=False)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        found, n, F, D = distances(view), view.n_rows, view.n_features, space.depth
        assert found is not None
        B, T = 2**D - 1, 2**D
        base = parts.place_sizes(view, space)
        routing = B * (F + 1) + n * D * T + 2 * B * int((view.X == 0).sum())
        errors = 2 * n * T * (3 if found.span else 2) + 4 * n
        return ModelSize(
            base.variables + B * F + T + 2 * n,
            base.binaries + B * F,
            base.rows + B + 2 * n * B + 2 * n * T + 2 * n,
            base.nonzeros + routing + errors,
        )

    def templates(self, view: CostMatrix, space: Any) -> bool:
        return False
