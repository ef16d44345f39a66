r"""MCF2: for every node where a row may be right, a flow of its own (Alston, Validi, Hicks).

With the variables and constraints of `_cut_models`, and :math:`z_{ivu}` the flow of row i towards
node v on the arc into node u, for :math:`v,u\ne1`,

.. math::
   & z_{iv,2}+z_{iv,3}=s_{iv},\qquad z_{ivv}=s_{iv},\qquad \sum_{v\ne1}z_{ivu}\le q_{iu},\\
   & z_{iv,2u}+z_{iv,2u+1}=z_{ivu}\ (u\in B,\ u\ne1,v),\qquad z_{ivu}=0\ (u\in T,\ u\ne v).

In a tree the path to v is the only one, so all other flows are 0, and :math:`z_{ivu}=s_{iv}` on it:
the relaxation is that of CUT, with :math:`O(n4^D)` more variables. The equations say this twice. What
arrives and conservation make :math:`z_{ivu}\ge s_{iv}` on the path, which is enough; and without the
equations of arrival those of the root and of the leaves make it so. All are published. Variables q
and z are continuous; the code has q binary. Numbering: ours.

With costs that differ between the wrong actions s is the share of a row's largest gain; with side
constraints or a minimum leaf size there are several sinks (`_cut_models`).

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
class MCF2(TreeFormulation):
    """MCF2: one commodity per row and node."""

    name = "mcf2"
    title = "MCF2 (Alston, Validi, Hicks)"
    reference = "https://arxiv.org/abs/2206.04857"
    changeable = frozenset({"side", "leaves"})
    implied_integer = True
    zero_one = frozenset({"p", "q"})
    sets_like = {"scored": "rows", "passed": "nodes"}
    redundant = {
        **models.REDUNDANT,
        "one_node": "the flows into 2 and 3 are at most the tests of the root, and its own label at most what they leave",
        "source": "published; without it the flows on a path are still at least what arrives (`arrive`)",
        "arrive": "published; follows from `source`, `conserve` and `conserve_leaf`, which must stay then",
        "conserve_leaf": "published; without it the flows on a path are still at least what arrives (`arrive`)",
    }

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        models.declare_common(m, view, space)
        m.z = pyo.Var(
            m.scored,
            m.passed,
            m.passed,
            domain=pyo.UnitInterval,
            doc="z[i,v,u] flow of row i towards node v on the arc into node u",
        )
        if m.scored and space.depth > 0:
            _add_flows(m)
        models.minimise_cost(m, view)

    def decode(self, m: Any) -> Tree:
        return gains.decode_by_rows(m)

    def encode(self, tree: Tree, m: Any) -> None:
        models.encode(m, tree)
        for i, v, u in m.z:
            flow = pyo.value(models.at(m, i, v)) if v in m.below[u] else 0
            m.z[i, v, u].set_value(flow, skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        base, n = models.common_sizes(view, space)
        if not space.depth:
            return base
        B, T, sinks = 2**space.depth - 1, 2**space.depth, models.sinks(view, space)
        below = B + T - 1
        inner, ends = (B - 1) * (below - 1), T * (below - 1)
        nonzeros = below * (2 + sinks) + below * (1 + sinks) + below * (below + 1)
        return ModelSize(
            base.variables + n * below * below,
            base.binaries,
            base.rows + n * (3 * below + inner + ends),
            base.nonzeros + n * (nonzeros + 3 * inner + ends),
        )


def _add_flows(m: Any) -> None:
    """The constraints of the flows."""
    pairs = [(v, u) for v in m.passed for u in m.passed if u != v]
    m.through = pyo.Set(
        dimen=2,
        initialize=[(v, u) for v, u in pairs if u in m.branch],
        doc="nodes v, and branch nodes u below the root other than v",
    )
    m.dead_ends = pyo.Set(
        dimen=2,
        initialize=[(v, u) for v, u in pairs if u in m.leaves],
        doc="nodes v, and leaves u other than v",
    )

    @m.Constraint(m.scored, m.passed, doc="as much flow towards v leaves the root as is right at v")
    def source(m: Any, i: Any, v: Any) -> Any:
        return m.z[i, v, 2] + m.z[i, v, 3] == models.at(m, i, v)

    @m.Constraint(m.scored, m.passed, doc="as much flow towards v enters it as is right there")
    def arrive(m: Any, i: Any, v: Any) -> Any:
        return m.z[i, v, v] == models.at(m, i, v)

    if m.through:

        @m.Constraint(m.scored, m.through, doc="flow towards another node leaves a branch node")
        def conserve(m: Any, i: Any, v: Any, u: Any) -> Any:
            return m.z[i, v, 2 * u] + m.z[i, v, 2 * u + 1] == m.z[i, v, u]

    @m.Constraint(m.scored, m.dead_ends, doc="no flow towards another node enters a leaf")
    def conserve_leaf(m: Any, i: Any, v: Any, u: Any) -> Any:
        return m.z[i, v, u] == 0

    @m.Constraint(m.scored, m.passed, doc="flow enters a node only if the row passes it")
    def passes(m: Any, i: Any, u: Any) -> Any:
        return sum(m.z[i, v, u] for v in m.passed) <= m.q[i, u]
