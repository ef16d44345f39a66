r"""Regression by the encoding of Verwer and Zhang (2017), on binary features.

Every level h of a complete tree of depth D has one binary variable per row, so that the path of a
row takes D variables: :math:`d_{hr}=1` iff row r goes right at level h. :math:`f_{nj}=1` iff node n
tests feature j, :math:`p_t` is the prediction of leaf t and :math:`e_r` the error of row r. With
:math:`\pi_h(n,r)=d_{hr}` if the path to node n goes right at level h and :math:`1-d_{hr}` if it
goes left, and h(n) levels above node n,

.. math::
   \min\ \sum_rw_re_r\qquad & \sum_jf_{nj}=1 & n\in B\\
   & \sum_{h\le h(n)}\pi_h(n,r)+\sum_{j:x_{rj}=1}f_{nj}\le h(n)+d_{h(n)+1,r} & r,\ n\in B\\
   & \sum_{h\le h(n)}\pi_h(n,r)-\sum_{j:x_{rj}=1}f_{nj}+d_{h(n)+1,r}\le h(n) & r,\ n\in B\\
   & p_t-y_r\le e_r+M_r\Bigl(D-\sum_h\pi_h(t,r)\Bigr) & r,\ t\in T\\
   & y_r-p_t\le e_r+M'_r\Bigl(D-\sum_h\pi_h(t,r)\Bigr) & r,\ t\in T.

The second and third constraint send a row right or left at node n if it reaches n, by the test of
n. A row is in leaf t iff its path agrees with that of t on all D levels. Targets lie between
:math:`\underline y` and :math:`\overline y`, and so do predictions, hence
:math:`M_r=\overline y-y_r` and :math:`M'_r=y_r-\underline y` are the least constants.

In the paper, tests are thresholds of numeric columns: a node also has an integer variable for its
threshold, and the constants of the second and third constraint are ranges of ranks. Columns are 0
and 1 here, so that the threshold is always 1 and these constants are 1; what is left is the same
encoding. The objective is the paper's, absolute error. There are no penalties and no limits on
leaves in it: each node tests something, and below a leaf of a smaller tree all leaves predict the
same.

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
        if view.leaf_cost or view.split_costs.any() or space.limits_leaves:
            return f"{self.name} has a complete tree without penalties and limits on leaves; ort-binary and flow-oct can express them."
        if not view.n_features and space.depth:
            return f"{self.name} has a test in every node, and there is none; dp takes the problem."
        return None

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        found, D = distances(view), space.depth
        assert found is not None
        span = found.span
        ts.add_sets(m, view, space)
        m.levels = pyo.RangeSet(1, D, doc="levels h")
        m.level = pyo.Param(
            m.branch, initialize={v: v.bit_length() for v in m.branch}, doc="level of a node"
        )
        paths = {v: list(enumerate(turns(v), 1)) for v in range(1, 2 ** (D + 1))}
        m.right_above = pyo.Set(
            m.nodes,
            initialize={v: [h for h, turn in paths[v] if turn] for v in m.nodes},
            doc="levels at which the path to a node goes right",
        )
        m.left_above = pyo.Set(
            m.nodes,
            initialize={v: [h for h, turn in paths[v] if not turn] for v in m.nodes},
            doc="levels at which the path to a node goes left",
        )
        ts.add_tests_by_row(m, view)
        m.d = pyo.Var(
            m.levels, m.rows, domain=pyo.Binary, doc="d[h,r] = 1 iff row r goes right at level h"
        )
        m.f = pyo.Var(m.branch, m.features, domain=pyo.Binary, doc="f[n,j] = 1 iff node n tests j")
        m.p = pyo.Var(m.leaves, bounds=(0, span), doc="p[t] prediction of leaf t")
        m.e = pyo.Var(m.rows, domain=pyo.NonNegativeReals, doc="e[r] error of row r")
        m.target = pyo.Param(m.rows, initialize=found.targets, doc="y[r] target of row r")

        @m.Constraint(m.branch, doc="a node tests one feature")
        def one_test(m: Any, v: Any) -> Any:
            return sum(m.f[v, j] for j in m.features) == 1

        @m.Constraint(
            m.rows, m.branch, doc="a row that reaches a node goes right if the test holds"
        )
        def right(m: Any, i: Any, v: Any) -> Any:
            return _apart(m, v, i) + m.d[m.level[v], i] - sum(m.f[v, j] for j in m.true[i]) >= 0

        @m.Constraint(m.rows, m.branch, doc="a row that reaches a node goes left if it does not")
        def left(m: Any, i: Any, v: Any) -> Any:
            return _apart(m, v, i) - m.d[m.level[v], i] + sum(m.f[v, j] for j in m.true[i]) >= 0

        @m.Constraint(m.rows, m.leaves, doc="error of a row below the prediction of its leaf")
        def above_target(m: Any, i: Any, t: Any) -> Any:
            return m.e[i] + (span - m.target[i]) * _apart(m, t, i) - m.p[t] >= -m.target[i]

        @m.Constraint(m.rows, m.leaves, doc="error of a row above the prediction of its leaf")
        def below_target(m: Any, i: Any, t: Any) -> Any:
            return m.e[i] + m.target[i] * _apart(m, t, i) + m.p[t] >= m.target[i]

        ts.minimise(m, found.price.tolist(), [m.e[i] for i in m.rows], 0, "weighted absolute error")

    def decode(self, m: Any) -> Tree:
        return medians(m, walk(m, lambda v: max(m.features, key=lambda j: m.f[v, j].value)))

    def encode(self, tree: Tree, m: Any) -> None:
        view: CostMatrix = m.view
        found = distances(view)
        assert found is not None
        splits, leaves = ts.place(tree, view)
        for v in m.branch:  # below a leaf: any test, and the same prediction everywhere
            if v in leaves:
                splits[v] = 0
                leaves[2 * v] = leaves[2 * v + 1] = leaves[v]
        end = ts.reached(splits, view).tolist()
        for v in m.branch:
            for j in m.features:
                m.f[v, j].set_value(int(splits[v] == j), skip_validation=True)
        for t in m.leaves:
            m.p[t].set_value(float(found.action[leaves[t]]), skip_validation=True)
        for i, t in enumerate(end):
            for h, turn in enumerate(turns(t), 1):
                m.d[h, i].set_value(turn, skip_validation=True)
            error = abs(found.target[i] - found.action[leaves[t]])
            m.e[i].set_value(float(error), skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.f)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        found, n, F, D = distances(view), view.n_rows, view.n_features, space.depth
        assert found is not None
        B, T = 2**D - 1, 2**D
        to_branch = sum(v.bit_length() for v in range(1, B + 1))  # levels of nodes, with their own
        with_high = int((found.target < found.span).sum())
        with_low = int((found.target > 0).sum())
        nonzeros = B * F + 2 * (n * to_branch + B * int(view.X.sum()))
        nonzeros += T * (4 * n + D * (with_high + with_low))
        return ModelSize(D * n + B * F + T + n, D * n + B * F, B + 2 * n * B + 2 * n * T, nonzeros)

    def templates(self, view: CostMatrix, space: Any) -> bool:
        return False


def turns(v: int) -> list[int]:
    """The way from the root to a heap node: 1 where it goes right."""
    return [int(bit) for bit in bin(v)[3:]]


def _apart(m: Any, v: Any, i: Any) -> Any:
    """At how many levels above a node the path of a row and that of the node differ."""
    return sum(1 - m.d[h, i] for h in m.right_above[v]) + sum(m.d[h, i] for h in m.left_above[v])
