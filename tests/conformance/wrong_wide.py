"""Faults that show only in deep trees, with many actions, rows, thresholds, groups or side rows,
large leaves or large costs. None is registered.
"""

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo

from milp_trees import Tree
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Branch

FlowOCT, OCT, OCTBinary, BinOCT, PathCut, Cut, BendersOCT = (
    type(registry.formulation(name))
    for name in ("flow-oct", "oct", "oct-binary", "bin-oct", "path-cut", "cut", "benders-oct")
)


def drop(constraint, which):
    """Deactivate the rows of a constraint whose index fulfils a condition."""
    for index, row in (constraint or {}).items():
        if which(index):
            row.deactivate()


class OpenThirdLevel(OCT):
    """Rows go right on the third level whatever their value."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        drop(m.right, lambda index: index[2] >= 4)


class SmallLeaves(OCT):
    """A minimum leaf size above 3 counts as 3."""

    def declare(self, m, view, space):
        super().declare(m, view, replace(space, min_samples_leaf=min(3, space.min_samples_leaf)))


class EightThresholds(BinOCT):
    """The fourth bit of a threshold binds no row: columns with more than eight thresholds let rows
    choose.
    """

    def declare(self, m, view, space):
        super().declare(m, view, space)
        for rows, bits in (
            (m.component("upper_half"), m.component("up_bits")),
            (m.component("lower_half"), m.component("low_bits")),
        ):
            drop(rows, lambda index, bits=bits: 3 in bits[index[1]])


class FreePaths(PathCut):
    """At depth 3 the path to the last leaves limits no row."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if space.depth > 2:
            paths = m.component("path") or {}
            last = max((index[-1] for index in paths), default=0)
            drop(paths, lambda index: index[-1] == last)


class ShortRivals(PathCut):
    """The cut of two rivals forgets the tests of the third level."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if space.depth < 3 or m.component("rivals") is None:
            return
        from milp_trees.formulations._gains import shares
        from milp_trees.formulations._rivals import nearest_rivals

        pairs, joint = nearest_rivals(view, 1)
        share, _ = shares(view)

        def gained(i):
            return sum(share[i, k] * m.h[i, k] for k in m.actions) if view.side else m.g[i]

        m.short = pyo.ConstraintList(doc="too tight")
        for (i, j), most in zip(pairs.tolist(), joint.tolist(), strict=True):
            tests = sum(
                m.b[v, f]
                for v in m.branch
                if v < 4
                for f in np.flatnonzero(view.X[i] != view.X[j]).tolist()
            )
            m.short.add(gained(i) + gained(j) <= most + (2 - most) * tests)


class OpenFifthSink(FlowOCT):
    """Every node has the fifth action."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if m.sink.dim() == 3:
            drop(m.sink, lambda index: index[2] == 4)


class FreeRows(OCTBinary):
    """Rows from the thirtieth on go left whatever their tests say."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        drop(m.component("left"), lambda index: index[0] >= 30)


class FourSideRows(FlowOCT):
    """Only the first four side rows are in the model."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, side=view.side[:4]), space)


class FourGroups(FlowOCT):
    """The last group is compared with none."""

    def declare(self, m, view, space):
        super().declare(
            m, replace(view, side=tuple(row for row in view.side if "/4" not in row.name)), space
        )


class SmallCosts(FlowOCT):
    """What an action costs above the cheapest is at most a million."""

    def declare(self, m, view, space):
        super().declare(
            m,
            replace(
                view, costs=np.minimum(view.costs, view.costs.min(axis=1, keepdims=True) + 10**6)
            ),
            space,
        )


class OneLeafMore(Cut):
    """With three levels the leaf limit is one too large."""

    def declare(self, m, view, space):
        more = 1 if space.depth > 2 and space.max_leaf_nodes else 0
        super().declare(
            m, view, replace(space, max_leaf_nodes=space.max_leaf_nodes + more) if more else space
        )


class SwappedBelow(FlowOCT):
    """Trees are read with the children of the third level's nodes exchanged."""

    def decode(self, m):
        def read(node, level):
            if not isinstance(node, Branch):
                return node
            left, right = read(node.left, level + 1), read(node.right, level + 1)
            return Branch(node.test, right, left) if level == 3 else Branch(node.test, left, right)

        tree = super().decode(m)
        return Tree(read(tree.root, 1), tree.actions)


class LostOnTheWay(BendersOCT):
    """A tree's test in the last node of the third level is not written down."""

    def encode(self, tree, m):
        super().encode(tree, m)
        for f in m.features if m.space.depth > 2 else ():
            m.b[7, f].set_value(0)


class ThreePricedColumns(FlowOCT):
    """Tests from the fourth column on cost what the cheapest test costs."""

    def declare(self, m, view, space):
        dear = {f for _, tests in view.columns[3:] for f in tests}
        split = np.array(
            [
                min(view.split_costs) if f in dear else c
                for f, c in enumerate(view.split_costs.tolist())
            ],
            dtype=np.int64,
        )
        super().declare(m, replace(view, split_costs=split) if len(split) else view, space)


class TooTightThirdLevel(FlowOCT):
    """No node of the third level predicts the second action."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if space.depth > 2:
            m.never = pyo.ConstraintList(doc="too tight")
            for v in range(4, 8):
                m.never.add(m.w[v, 1] <= 0)


#: Faults that the tiny problems do not show.
WIDE_FAULTS = [
    OpenThirdLevel,
    SmallLeaves,
    EightThresholds,
    FreePaths,
    ShortRivals,
    OpenFifthSink,
    FreeRows,
    FourSideRows,
    FourGroups,
    SmallCosts,
    OneLeafMore,
    SwappedBelow,
    LostOnTheWay,
    ThreePricedColumns,
    TooTightThirdLevel,
]
