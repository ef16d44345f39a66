r"""Path cuts (ours): no flow variables and no callbacks; cuts along all paths limit the gains.

With the gains :math:`g_i` and shares :math:`r_{ik}/\rho_i` of `_gains` and the structure (1b)–(1d)
of `_tree_structure`, the min-cut inequalities of BendersOCT for the paths :math:`P(t)` from the
root to each leaf are in the model from the start:

.. math::
   \min\ \sum_i(\max_kc_{ik}-\rho_ig_i) + \text{penalties},\qquad
   g_i\le\sum_{u\in P(t)}\sum_k\tfrac{r_{ik}}{\rho_i}w_{uk}
     +\sum_{u\in A(t)}\ \sum_{f:\,x_{if}\text{ leaves }P(t)\text{ at }u}b_{uf}\quad(t\in T).

In a tree, no test leaves the path to a leaf in or below the node where the row ends, so the model
is exact. (Paths that end at a branch node add nothing at integral points: if that node predicts, it
tests nothing.)

**Labels per test** (`strengthen`). The relaxation is weak because a test and the labels below it
are chosen separately: one half of each classifies everything. So at a node v of the last branch
level Q the labels on both sides :math:`s` of a test are chosen with it,

.. math:: \sum_k\ell_{vfsk}=b_{vf}\ (s\in\{0,1\}),\qquad
   g_i\le\sum_{u\in P(v)}\sum_k\tfrac{r_{ik}}{\rho_i}w_{uk}+\sum_{u\in A(v)}(\text{as above})
     +\sum_f\sum_k\tfrac{r_{ik}}{\rho_i}\ell_{v,f,x_{if},k}\quad(v\in Q).

If the tests above Q and all p are integral, the rest is linear over one simplex per node, so
:math:`b_{vf}` may be continuous on Q: a solver branches only on the tests above the last level; at
depth 2, on the F tests of the root.

**Side constraints** (`_row_labels`). :math:`h_{ik}=1` iff row i gets action k takes the place of
:math:`g_i`, with the cuts of all paths for every action, and w and :math:`\ell` are binary:

.. math::
   \sum_kh_{ik}=1,\qquad h_{ik}\le\sum_{u\in P(t)}w_{uk}
     +\sum_{u\in A(t)}\ \sum_{f:\,x_{if}\text{ leaves }P(t)\text{ at }u}b_{uf}\quad(t\in T)

and with labels per test the same with :math:`\sum_f\ell_{v,f,x_{if},k}`.

**Minimum leaf size** (`_reached`). Where node v predicts, enough rows must be able to reach it; with
labels per test so must those on both sides of a test of the last level,

.. math:: \sum_{i:x_{if}=s}n_ia_{iv}\ge N_{\min}b_{vf}\qquad(v\in Q,\ f,\ s\in\{0,1\}),

and :math:`b_{vf}` is then binary there too.

**Rivals** (`rivals`): see `_rivals`. They raise the bound at the root, and improve it where the
tree search cannot finish.

The model is ours; the inequalities of BendersOCT that it begins with are those of `benders-oct`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _gains as gains
from . import _reached as reached
from . import _tree_structure as ts
from ._rivals import add_rivals, rival_sizes


@register
@dataclass(frozen=True)
class PathCut(TreeFormulation):
    """Min-cut inequalities of all root-to-leaf paths.

    Parameters
    ----------
    strengthen : bool, default=True
        Choose the labels of the last branch level per test. This loses nothing, and solves most
        problems of depth 2.
    rivals : int, default=1
        Number of nearest rivals with which every row gets a cut; 0 for none. They lose nothing.
    """

    name = "path-cut"
    title = "Path cuts (ours)"
    reference = "docs/reference/formulations.md"
    implied_integer = True
    zero_one = frozenset({"b", "w", "l", "h", "a"})
    sets_like = {"scored": "rows", "last": "nodes", "held": "nodes", "inner": "nodes"}

    #: HiGHS finds incumbents when it branches; its sub-MIP heuristics take two thirds of the time.
    suggested_options = {
        "highs": {
            "mip_heuristic_effort": 0.0,
            "mip_heuristic_run_rins": False,
            "mip_heuristic_run_rens": False,
            "mip_heuristic_run_root_reduced_cost": False,
        }
    }

    strengthen: bool = True
    rivals: int = 1

    def __post_init__(self) -> None:
        if self.rivals < 0:
            raise DataError(
                f"path-cut:rivals is a number of rivals, or 0 for none; got {self.rivals}."
            )

    @property
    def redundant(self) -> dict[str, str]:  # type: ignore[override]
        # With labels per test, leaves have a role of their own only at depth 0, where there are no
        # tests.
        leaf = {
            "leaf_role": "(1c) of the root alone: a root that predicts gains at least as much as one that does not"
        }
        rivals = {"rivals": "raises the bound of the relaxation; implied at integral points"}
        return (leaf if self.strengthen else {}) | (rivals if self.rivals else {})

    def options_for(self, solver: str, view: CostMatrix, space: Trees) -> Mapping[str, Any]:
        return super().options_for(solver, view, space) if self.strengthen else {}

    def labels_per_test(self, space: Trees) -> bool:
        """Whether the model with labels per test is built; it needs a branch level."""
        return self.strengthen and space.depth > 0

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        ts.add_sets(m, view, space)
        ts.add_tests_by_row(m, view)
        gains.add_gains(m, view)
        if self.labels_per_test(space):
            _declare_per_test(m, view, space)
        else:
            _declare_plain(m, view, space)
        if self.rivals:
            add_rivals(m, view, space, self.rivals)
        gains.minimise_gains(m, view)

    def decode(self, m: Any) -> Tree:
        return _decode_per_test(m) if hasattr(m, "l") else gains.decode_by_rows(m)

    def encode(self, tree: Tree, m: Any) -> None:
        splits, leaves = ts.place(tree, m.view)
        (_encode_per_test if hasattr(m, "l") else ts.encode_structure)(m, splits, leaves)
        gains.set_gains(m, splits, leaves)
        if m.component("a") is not None:
            reached.set_reached(m, splits)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        base = (
            _per_test_sizes(view, space)
            if self.labels_per_test(space)
            else _plain_sizes(view, space)
        )
        base = gains.with_gains(base, view, space)
        rows, nonzeros = rival_sizes(view, space, self.rivals) if self.rivals else (0, 0)
        return ModelSize(base.variables, base.binaries, base.rows + rows, base.nonzeros + nonzeros)


def _plain_sizes(view: CostMatrix, space: Trees) -> ModelSize:
    n, actions = gains.counts(view)
    D, base = space.depth, ts.structure_sizes(view, space, bool(view.side))
    # A path has D + 1 labels. Half of the paths go left at a node, the others right, and every test
    # leaves one half of them.
    nonzeros = (
        base.nonzeros + 2**D * (n + (D + 1) * actions) + n * view.n_features * _leaving_tests(D)
    )
    size = ModelSize(base.variables, base.binaries, base.rows + 2**D * n, nonzeros)
    return _with_leaf_size(size, view, space, D)


def _with_leaf_size(size: ModelSize, view: CostMatrix, space: Trees, levels: int) -> ModelSize:
    """A size with the minimum leaf size of the nodes on the first levels."""
    if space.min_samples_leaf <= 1:
        return size
    variables, rows, nonzeros = reached.reached_sizes(view, levels)
    nodes = 2 ** (levels + 1) - 1
    return size._replace(
        variables=size.variables + variables,
        rows=size.rows + rows + nodes,
        nonzeros=size.nonzeros + nonzeros + nodes * (view.n_rows + 1),
    )


def _per_test_sizes(view: CostMatrix, space: Trees) -> ModelSize:
    n, actions = gains.counts(view)
    D, F, K = space.depth, view.n_features, view.n_actions
    B, Q = 2**D - 1, 2 ** (D - 1)
    roles = B * F + B + ts.sum_of_depths(D - 1)
    rows = 2 * B + 2 * Q * F + Q * n
    nonzeros = (
        roles
        + B * (K + 1)
        + 2 * Q * F * (K + 1)
        + Q * (n + (D + F) * actions)
        + n * F * _leaving_tests(D - 1)
    )
    if space.limits_leaves and F:
        rows, nonzeros = rows + 1, nonzeros + B * F
    binaries = (B - Q) * F + B
    if view.side:
        binaries += B * K + 2 * Q * F * K
    if space.min_samples_leaf > 1:
        binaries += Q * F
        rows, nonzeros = rows + 2 * Q * F, nonzeros + Q * F * (view.n_rows + 2)
    size = ModelSize(B * F + B * (1 + K) + 2 * Q * F * K, binaries, rows, nonzeros)
    return _with_leaf_size(size, view, space, D - 1)


def _leaving_tests(depth: int) -> int:
    """Number of times that every test leaves a path to the nodes at a depth, for one row.

    At each of `depth` ancestors it leaves half of the 2^depth paths.
    """
    return depth * 2**depth // 2


def _declare_plain(m: Any, view: CostMatrix, space: Trees) -> None:
    D = space.depth
    ts.add_structure(m, view, space, binary_labels=bool(view.side))
    _add_sides(m, range(2**D, 2 ** (D + 1)))
    if space.min_samples_leaf > 1:
        reached.add_reached(m, view, space, D)
    gains.limit_gains(
        m,
        m.leaves,
        lambda m, i, t, k: sum(m.w[u, k] for u in m.on_path[t]),
        _leaving,
        "(Cut) of the path to a leaf: what it predicts, and the arcs that leave it",
    )


def _declare_per_test(m: Any, view: CostMatrix, space: Trees) -> None:
    D = space.depth
    labels = pyo.Binary if view.side else pyo.UnitInterval
    last = pyo.Binary if space.min_samples_leaf > 1 else pyo.UnitInterval
    m.last = pyo.RangeSet(2 ** (D - 1), 2**D - 1, doc="last branch level Q")
    m.sides = pyo.RangeSet(0, 1, doc="sides s of a test (0: false, 1: true)")
    _add_sides(m, range(2 ** (D - 1), 2**D))
    m.b = pyo.Var(
        m.branch,
        m.features,
        domain=lambda m, v, f: last if v >= 2 ** (D - 1) else pyo.Binary,
        doc="b[v,f] = 1 iff node v tests f",
    )
    m.p = pyo.Var(m.branch, domain=pyo.Binary, doc="p[v] = 1 iff branch node v predicts")
    m.w = pyo.Var(
        m.branch,
        m.actions,
        domain=labels,
        doc="w[v,k] = 1 iff branch node v predicts action k",
    )
    m.l = pyo.Var(
        m.last,
        m.features,
        m.sides,
        m.actions,
        domain=labels,
        doc="l[v,f,s,k] = 1 iff v tests f and predicts k on side s",
    )

    @m.Constraint(
        m.branch, doc="(1b) a branch node tests, predicts, or lies below a predicting node"
    )
    def one_role(m: Any, v: Any) -> Any:
        return sum(m.b[v, f] for f in m.features) + m.p[v] + sum(m.p[u] for u in m.above[v]) == 1

    @m.Constraint(m.branch, doc="(1d) a predicting node has one action")
    def one_action(m: Any, v: Any) -> Any:
        return sum(m.w[v, k] for k in m.actions) == m.p[v]

    @m.Constraint(m.last, m.features, m.sides, doc="each side of the chosen test has one action")
    def one_label(m: Any, v: Any, f: Any, s: Any) -> Any:
        return sum(m.l[v, f, s, k] for k in m.actions) == m.b[v, f]

    ts.add_split_limit(m, space)
    if space.min_samples_leaf > 1:
        _add_sizes_of_sides(m, view, space)
    gains.limit_gains(
        m,
        m.last,
        _label_with_test,
        _leaving,
        "(Cut) of the path to a node of the last branch level, with the labels below it",
    )


def _label_with_test(m: Any, i: Any, v: Any, k: Any) -> Any:
    """Labels k of row i on the path to v, and on the side of the row below v."""
    return (
        sum(m.w[u, k] for u in m.on_path[v])
        + sum(m.l[v, f, 0, k] for f in m.false[i])
        + sum(m.l[v, f, 1, k] for f in m.true[i])
    )


def _add_sizes_of_sides(m: Any, view: CostMatrix, space: Trees) -> None:
    """The minimum leaf size, of nodes that predict and of the sides of tests on the last level."""
    reached.add_reached(m, view, space, space.depth - 1)
    m.on_side = pyo.Set(
        m.features,
        m.sides,
        initialize=lambda m, f, s: np.flatnonzero(view.X[:, f] == s).tolist(),
        domain=pyo.Any,
        doc="rows on side s of test f",
    )

    @m.Constraint(
        m.last, m.features, m.sides, doc="each side of a test holds at least min_samples_leaf rows"
    )
    def side_size(m: Any, v: Any, f: Any, s: Any) -> Any:
        rows = sum(m.count[i] * m.a[i, v] for i in m.on_side[f, s])
        return rows >= space.min_samples_leaf * m.b[v, f]


def _add_sides(m: Any, nodes: range) -> None:
    """For every node where a path ends: the path, and its ancestors by the side of the path."""
    m.on_path = pyo.Set(
        nodes, initialize={v: [v, *ts.ancestors(v)] for v in nodes}, doc="path P(v), v included"
    )
    on_left: dict[int, list[int]] = {v: [] for v in nodes}
    on_right: dict[int, list[int]] = {v: [] for v in nodes}
    for v in nodes:
        u = v
        while u > 1:
            (on_right if u % 2 else on_left)[v].append(u // 2)
            u //= 2
    m.goes_left = pyo.Set(
        nodes, initialize=on_left, doc="ancestors of v whose left child leads to v"
    )
    m.goes_right = pyo.Set(
        nodes, initialize=on_right, doc="ancestors of v whose right child leads to v"
    )


def _leaving(m: Any, i: Any, v: Any) -> Any:
    """Capacity of row i's arcs that leave the path to v."""
    return sum(m.b[u, f] for u in m.goes_left[v] for f in m.true[i]) + sum(
        m.b[u, f] for u in m.goes_right[v] for f in m.false[i]
    )


def _decode_per_test(m: Any) -> Tree:
    view: CostMatrix = m.view

    def walk(v: int, here: np.ndarray) -> Any:
        if m.p[v].value > 0.5:
            return Leaf(gains.best_label(view, here, [m.w[v, k].value for k in m.actions]))
        if v in m.last:
            return _last_split(m, v, here)
        f = max(m.features, key=lambda f: m.b[v, f].value)
        true = view.X[here, f] == 1
        return Branch(view.features[f], walk(2 * v, here[~true]), walk(2 * v + 1, here[true]))

    return Tree(walk(1, np.arange(view.n_rows)), view.actions)


def _last_split(m: Any, v: int, here: np.ndarray) -> Branch:
    """The best test with labels for the rows of a node, among those that share the node.

    It costs no more than their mixture.
    """
    view: CostMatrix = m.view
    found = []
    for f in m.features:
        if m.b[v, f].value > gains.ZERO:
            side = view.X[here, f] == 1
            rows = here[~side], here[side]
            labels = [
                gains.best_label(view, rows[s], [m.l[v, f, s, k].value for k in m.actions])
                for s in m.sides
            ]
            cost = int(view.split_costs[f]) + sum(
                int(view.costs[rows[s], labels[s]].sum()) for s in m.sides
            )
            found.append((cost, f, labels))
    _, f, labels = min(found)
    return Branch(view.features[f], Leaf(labels[0]), Leaf(labels[1]))


def _encode_per_test(m: Any, splits: Mapping[int, int], leaves: Mapping[int, int]) -> None:
    for v in m.branch:
        m.p[v].set_value(int(v in leaves), skip_validation=True)
        for k in m.actions:
            m.w[v, k].set_value(int(leaves.get(v) == k), skip_validation=True)
        for f in m.features:
            m.b[v, f].set_value(int(splits.get(v) == f), skip_validation=True)
    for v, f, s, k in m.l:
        m.l[v, f, s, k].set_value(
            int(splits.get(v) == f and leaves.get(2 * v + s) == k), skip_validation=True
        )
