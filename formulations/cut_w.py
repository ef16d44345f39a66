r"""CUT_W: a row is right at a node only if it passes every node above it (Alston, Validi, Hicks).

It is a weaker relative of CUT: with the variables and constraints of `_cut_models`,

.. math:: s_{iv}\le q_{ic}\qquad(v\ne1,\ c\text{ on the path from the root's child to }v),

where every c is needed.

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
class CutW(TreeFormulation):
    """CUT_W."""

    name = "cut-w"
    title = "CUT_W (Alston, Validi, Hicks)"
    reference = "https://arxiv.org/abs/2206.04857"
    changeable = frozenset({"side", "leaves"})
    implied_integer = True
    zero_one = frozenset({"p", "q"})
    sets_like = {"scored": "rows", "passed": "nodes"}
    redundant = models.REDUNDANT

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        models.declare_common(m, view, space)
        if space.depth > 0 and m.scored:
            path = [(c, v) for v in m.passed for c in (v, *ts.ancestors(v)) if c > 1]
            m.path = pyo.Set(
                dimen=2, initialize=path, doc="nodes c on the path from the root's child to v"
            )

            @m.Constraint(
                m.scored, m.path, doc="a row is right at v only if it passes every c above v"
            )
            def connect(m: Any, i: Any, c: Any, v: Any) -> Any:
                return models.at(m, i, v) <= m.q[i, c]

        models.minimise_cost(m, view)

    def decode(self, m: Any) -> Tree:
        return gains.decode_by_rows(m)

    def encode(self, tree: Tree, m: Any) -> None:
        models.encode(m, tree)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        base, n = models.common_sizes(view, space)
        rows = n * ts.sum_of_depths(space.depth)
        nonzeros = base.nonzeros + rows * (1 + models.sinks(view, space))
        return ModelSize(base.variables, base.binaries, base.rows + rows, nonzeros)
