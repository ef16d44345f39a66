r"""CUT: a row is right in a subtree only if it passes the subtree's root (Alston, Validi, Hicks).

With the variables and constraints of `_cut_models`,

.. math:: \sum_{u\in\text{subtree}(v)}s_{iu}\le q_{ic}\qquad(v\ne1,\ c\text{ on the path from the root's child to }v).

The rows for :math:`c=v` are sufficient: for an ancestor c they follow, because subtree(v) is part
of subtree(c) and s is not negative. With them alone the relaxation equals that of FlowOCT with
:math:`z_{iv}=\sum_{\text{subtree}(v)}s`.

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
class Cut(TreeFormulation):
    """CUT, with all rows that were published."""

    name = "cut"
    title = "CUT (Alston, Validi, Hicks)"
    reference = "https://arxiv.org/abs/2206.04857"
    changeable = frozenset({"side", "leaves"})
    implied_integer = True
    zero_one = frozenset({"p", "q"})
    sets_like = {"scored": "rows", "passed": "nodes"}
    redundant = {
        **models.REDUNDANT,
        "connect_above": "rows for proper ancestors c of v follow from the row for c itself; published",
    }

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        models.declare_common(m, view, space)
        if space.depth > 0 and m.scored:

            @m.Constraint(
                m.scored,
                m.passed,
                doc="a row is right in the subtree of v only if it passes v (c = v)",
            )
            def connect(m: Any, i: Any, v: Any) -> Any:
                return sum(models.at(m, i, u) for u in m.below[v]) <= m.q[i, v]

        if space.depth > 1 and m.scored:
            m.between = pyo.Set(
                dimen=2,
                initialize=[(c, v) for v in m.passed for c in ts.ancestors(v) if c > 1],
                doc="v and its ancestors c below the root",
            )

            @m.Constraint(
                m.scored,
                m.between,
                doc="a row is right in the subtree of v only if it passes every c above v",
            )
            def connect_above(m: Any, i: Any, c: Any, v: Any) -> Any:
                return sum(models.at(m, i, u) for u in m.below[v]) <= m.q[i, c]

        models.minimise_cost(m, view)

    def decode(self, m: Any) -> Tree:
        return gains.decode_by_rows(m)

    def encode(self, tree: Tree, m: Any) -> None:
        models.encode(m, tree)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        base, n = models.common_sizes(view, space)
        D = space.depth
        rows = n * ts.sum_of_depths(D)
        # A node at depth d has d such rows over its 2^(D-d+1) - 1 descendants and one q; there are
        # 2^d such nodes.
        sinks = models.sinks(view, space)
        nonzeros = base.nonzeros + rows + sinks * (n * 2**D * D * (D + 1) - rows)
        return ModelSize(base.variables, base.binaries, base.rows + rows, nonzeros)
