r"""The path of a row as one binary variable per level, by which DTIP encodes a tree.

:math:`d_{hr}=1` iff row r goes right at level h; :math:`f_{nj}=1` iff node n tests feature j. With
:math:`\pi_h(n,r)=d_{hr}` if the path to node n goes right at level h and :math:`1-d_{hr}` if it
goes left, and h(n) levels above node n,

.. math::
   & \sum_jf_{nj}=1 & n\in B\\
   & \sum_{h\le h(n)}\pi_h(n,r)+\sum_{j:x_{rj}=1}f_{nj}\le h(n)+d_{h(n)+1,r} & r,\ n\in B\\
   & \sum_{h\le h(n)}\pi_h(n,r)-\sum_{j:x_{rj}=1}f_{nj}+d_{h(n)+1,r}\le h(n) & r,\ n\in B.

The second and third constraint send a row right or left at node n if it reaches n, by the test of
n. In the paper, tests are thresholds of numeric columns: a node also has an integer variable for
its threshold, and the constants of these two constraints are ranges of ranks. Columns are 0 and 1
here, so that the threshold is always 1 and these constants are 1; what is left is the same
encoding. Every node tests something: below a leaf of a smaller tree all leaves predict the same.

Reference: Verwer, Zhang (2017), "Learning decision trees with flexible constraints and objectives
using integer optimization", CPAIOR 2017, 94–103; numbering ours.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from milp_trees.mip.formulation import ModelSize
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts


def unsupported_paths(name: str, view: CostMatrix, space: Trees, others: str) -> str | None:
    """Why a model with a complete tree cannot take a problem, or None; `others` can."""
    if view.leaf_cost or view.split_costs.any() or space.limits_leaves:
        return f"{name} has a complete tree without penalties and limits on leaves; {others} can express them."
    if not view.n_features and space.depth:
        return f"{name} has a test in every node, and there is none; dp takes the problem."
    return None


def add_paths(m: Any, view: CostMatrix, space: Trees) -> None:
    """Sets, the variables d and f, and the constraints that make them a tree and its paths."""
    D = space.depth
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

    @m.Constraint(m.branch, doc="a node tests one feature")
    def one_test(m: Any, v: Any) -> Any:
        return sum(m.f[v, j] for j in m.features) == 1

    @m.Constraint(m.rows, m.branch, doc="a row that reaches a node goes right if the test holds")
    def right(m: Any, i: Any, v: Any) -> Any:
        return apart(m, v, i) + m.d[m.level[v], i] - sum(m.f[v, j] for j in m.true[i]) >= 0

    @m.Constraint(m.rows, m.branch, doc="a row that reaches a node goes left if it does not")
    def left(m: Any, i: Any, v: Any) -> Any:
        return apart(m, v, i) - m.d[m.level[v], i] + sum(m.f[v, j] for j in m.true[i]) >= 0


def apart(m: Any, v: Any, i: Any) -> Any:
    """At how many levels above a node the path of a row and that of the node differ."""
    return sum(1 - m.d[h, i] for h in m.right_above[v]) + sum(m.d[h, i] for h in m.left_above[v])


def tested(m: Any, v: int) -> int:
    """The feature that a node tests."""
    found: int = max(m.features, key=lambda j: m.f[v, j].value)
    return found


def encode_paths(
    m: Any, splits: dict[int, int], leaves: dict[int, int]
) -> tuple[dict[int, int], list[int]]:
    """Set d and f; return the action of every leaf of the complete tree, and the rows' leaves."""
    splits, leaves = dict(splits), dict(leaves)
    for v in m.branch:  # below a leaf: any test, and the same prediction everywhere
        if v in leaves:
            splits[v] = 0
            leaves[2 * v] = leaves[2 * v + 1] = leaves[v]
    end: list[int] = ts.reached(splits, m.view).tolist()
    for v in m.branch:
        for j in m.features:
            m.f[v, j].set_value(int(splits[v] == j), skip_validation=True)
    for i, t in enumerate(end):
        for h, turn in enumerate(turns(t), 1):
            m.d[h, i].set_value(turn, skip_validation=True)
    return leaves, end


def path_sizes(view: CostMatrix, space: Trees) -> ModelSize:
    """Size of what `add_paths` declares."""
    n, F, D = view.n_rows, view.n_features, space.depth
    B = 2**D - 1
    to_branch = sum(v.bit_length() for v in range(1, B + 1))  # levels of nodes, with their own
    nonzeros = B * F + 2 * (n * to_branch + B * int(view.X.sum()))
    return ModelSize(D * n + B * F, D * n + B * F, B + 2 * n * B, nonzeros)


def turns(v: int) -> list[int]:
    """The way from the root to a heap node: 1 where it goes right."""
    return [int(bit) for bit in bin(v)[3:]]
