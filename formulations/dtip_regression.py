r"""Regression by the encoding of Verwer and Zhang (2017), on binary features.

Paths and tests are those of `_level_paths`: :math:`d_{hr}=1` iff row r goes right at level h of D
levels, and :math:`\pi_h(t,r)` is 1 iff it goes there as the path to leaf t does. :math:`p_t` is the
prediction of leaf t and :math:`e_r` the error of row r:

.. math::
   \min\ \sum_rw_re_r\qquad
   & p_t-y_r\le e_r+M_r\Bigl(D-\sum_h\pi_h(t,r)\Bigr) & r,\ t\in T\\
   & y_r-p_t\le e_r+M'_r\Bigl(D-\sum_h\pi_h(t,r)\Bigr) & r,\ t\in T.

A row is in leaf t iff its path agrees with that of t on all D levels. Targets lie between
:math:`\underline y` and :math:`\overline y`, and so do predictions, hence
:math:`M_r=\overline y-y_r` and :math:`M'_r=y_r-\underline y` are the least constants; the public
implementation of the model by van der Linden has :math:`\overline y-\underline y` for both, and
agrees with this one in all other parts. The objective is absolute error, without penalties and
limits on leaves.

Reference: Verwer, Zhang (2017), "Learning decision trees with flexible constraints and objectives
using integer optimization", CPAIOR 2017, 94–103.
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

from . import _level_paths as paths
from . import _tree_structure as ts
from ._distances import distances, medians, needs_distances, walk


@register
@dataclass(frozen=True)
class DTIPRegression(TreeFormulation):
    """The regression encoding of DTIP; rows are not merged, since each has a target of its own."""

    name = "dtip-regression"
    title = "DTIP for regression (Verwer, Zhang), on binary tests"
    reference = "https://doi.org/10.1007/978-3-319-59776-8_8"
    takes_side_rows = False
    takes_min_leaf = False
    merge_rows: bool = False

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        if why := needs_distances(self.name, view):
            return why
        return paths.unsupported_paths(self.name, view, space, "ort-binary and flow-oct")

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        found = distances(view)
        assert found is not None
        span = found.span
        paths.add_paths(m, view, space)
        m.p = pyo.Var(m.leaves, bounds=(0, span), doc="p[t] prediction of leaf t")
        m.e = pyo.Var(m.rows, domain=pyo.NonNegativeReals, doc="e[r] error of row r")
        m.target = pyo.Param(m.rows, initialize=found.targets, doc="y[r] target of row r")

        @m.Constraint(m.rows, m.leaves, doc="error of a row below the prediction of its leaf")
        def above_target(m: Any, i: Any, t: Any) -> Any:
            return m.e[i] + (span - m.target[i]) * paths.apart(m, t, i) - m.p[t] >= -m.target[i]

        @m.Constraint(m.rows, m.leaves, doc="error of a row above the prediction of its leaf")
        def below_target(m: Any, i: Any, t: Any) -> Any:
            return m.e[i] + m.target[i] * paths.apart(m, t, i) + m.p[t] >= m.target[i]

        ts.minimise(m, found.price.tolist(), [m.e[i] for i in m.rows], 0, "weighted absolute error")

    def decode(self, m: Any) -> Tree:
        return medians(m, walk(m, lambda v: paths.tested(m, v)))

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        found = distances(view)
        assert found is not None
        leaves, end = paths.encode_paths(m, *ts.place(tree, view))
        for t in m.leaves:
            m.p[t].set_value(float(found.action[leaves[t]]), skip_validation=True)
        for i, t in enumerate(end):
            error = abs(found.target[i] - found.action[leaves[t]])
            m.e[i].set_value(float(error), skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.f)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        found, n, D = distances(view), view.n_rows, space.depth
        assert found is not None
        base, T = paths.path_sizes(view, space), 2**D
        with_high = int((found.target < found.span).sum())
        with_low = int((found.target > 0).sum())
        nonzeros = base.nonzeros + T * (4 * n + D * (with_high + with_low))
        return ModelSize(base.variables + T + n, base.binaries, base.rows + 2 * n * T, nonzeros)

    def templates(self, view: CostMatrix, space: Any) -> bool:
        return False
