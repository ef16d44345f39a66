r"""MCF1: the flow of a row enters a node only if the row passes it (Alston, Validi, Hicks).

With the variables and constraints of `_cut_models`, and :math:`z_{iv}` the flow of row i into node
v (:math:`z_{i1}` is what its source sends),

.. math::
   z_{iv}=z_{i,2v}+z_{i,2v+1}+s_{iv}\ (v\in B),\qquad z_{iv}=s_{iv}\ (v\in T),\qquad
   z_{iv}\le q_{iv}\ (v\ne1),\qquad z_{i1}\le1 .

It is FlowOCT with the variables q between flows and tests, and it has the same relaxation. The sums
:math:`\sum_vs_{iv}\le z_{i1}` of the authors' code hold with equality by conservation, so they stand
here as :math:`\sum_vs_{iv}\le1`, as in CUT. Variables q and z are continuous, since they follow from
b, w and s; the code has q binary. Numbering: ours.

With costs that differ between the wrong actions a row sends the share of its largest gain; with side
constraints or a minimum leaf size it sends one unit to one of several sinks (`_cut_models`).

Reference: Alston, Validi, Hicks (2022), "Mixed integer linear optimization formulations for
learning optimal binary classification trees", arXiv:2206.04857.
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

from . import _cut_models as models
from . import _gains as gains
from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class MCF1(TreeFormulation):
    """MCF1: one commodity per row."""

    name = "mcf1"
    title = "MCF1 (Alston, Validi, Hicks)"
    reference = "https://arxiv.org/abs/2206.04857"
    changeable = frozenset({"side", "leaves"})
    implied_integer = True
    zero_one = frozenset({"p", "q"})
    sets_like = {"scored": "rows", "passed": "nodes"}
    redundant = {
        **models.REDUNDANT,
        "one_node": "published; by conservation the sum is the flow from the source, of at most 1",
    }

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        models.declare_common(m, view, space)
        m.z = pyo.Var(
            m.scored,
            m.nodes,
            domain=pyo.UnitInterval,
            doc="z[i,v] flow of row i into node v; into the root, from its source",
        )
        if m.scored:

            @m.Constraint(m.scored, m.leaves, doc="flow into a leaf ends there")
            def conserve_leaf(m: Any, i: Any, v: Any) -> Any:
                return m.z[i, v] == models.at(m, i, v)

        if m.scored and space.depth > 0:

            @m.Constraint(
                m.scored, m.branch, doc="flow into a branch node ends there or leaves to a child"
            )
            def conserve(m: Any, i: Any, v: Any) -> Any:
                return m.z[i, v] == m.z[i, 2 * v] + m.z[i, 2 * v + 1] + models.at(m, i, v)

            @m.Constraint(m.scored, m.passed, doc="flow enters a node only if the row passes it")
            def passes(m: Any, i: Any, v: Any) -> Any:
                return m.z[i, v] <= m.q[i, v]

        models.minimise_cost(m, view)

    def decode(self, m: Any) -> Tree:
        return gains.decode_by_rows(m)

    def encode(self, tree: Tree, m: Any) -> None:
        models.encode(m, tree)
        for i, v in m.z:
            flow = sum(pyo.value(models.at(m, i, u)) for u in m.below[v])
            m.z[i, v].set_value(flow, skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        base, n = models.common_sizes(view, space)
        B, T, sinks = 2**space.depth - 1, 2**space.depth, models.sinks(view, space)
        V = B + T
        nonzeros = base.nonzeros + n * (3 * B + T + sinks * V + 2 * (V - 1))
        return ModelSize(
            base.variables + n * V, base.binaries, base.rows + n * (2 * V - 1), nonzeros
        )
