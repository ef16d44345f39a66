"""Deliberately wrong variants of FlowOCT, and right ones: what the conformance suite is tested
with. None of them is registered.
"""

from dataclasses import replace

import pyomo.environ as pyo

from milp_trees import Tree
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Branch, Leaf

FlowOCT = type(registry.formulation("flow-oct"))


class MissingArc(FlowOCT):
    """Flow may go left whatever the test says."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.left.deactivate()


class MissingOneArc(FlowOCT):
    """As above, but only below the root's left child, and only for one row."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if space.max_depth > 1:
            m.left[view.n_rows // 2, 2].deactivate()


class SwappedSides(FlowOCT):
    """Rows are routed against the tests, trees are decoded along them."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, X=1 - view.X), space)


class OpenSinks(FlowOCT):
    """Flow reaches sinks of actions that are not predicted."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.sink.deactivate()


class LossyFlow(FlowOCT):
    """Flow may vanish in a branch node."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.conserve.deactivate()

        @m.Constraint(m.rows, m.branch, doc="(1e) with an inequality")
        def lossy(m, i, v):
            out = m.s[i, v] if m.s.dim() == 2 else sum(m.s[i, v, k] for k in m.actions)
            return m.z[i, v] >= m.z[i, 2 * v] + m.z[i, 2 * v + 1] + out


class ForbiddenLabel(FlowOCT):
    """The last leaf never predicts the first action."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.never = pyo.Constraint(expr=m.w[2 ** (space.max_depth + 1) - 1, 0] <= 0, doc="too tight")


class FullTreesOnly(FlowOCT):
    """The root always splits (costs nothing where there is no penalty and no leaf size)."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if space.max_depth and view.n_features:
            m.split_root = pyo.Constraint(expr=m.p[1] <= 0, doc="too tight")


class WrongDecode(FlowOCT):
    """The children of the root are exchanged on the way out."""

    def decode(self, m):
        tree = super().decode(m)
        return (
            Tree(Branch(tree.root.test, tree.root.right, tree.root.left), tree.actions)
            if isinstance(tree.root, Branch)
            else tree
        )


class WrongDefaultAction(FlowOCT):
    """A single leaf always gets the first action."""

    def decode(self, m):
        tree = super().decode(m)
        return Tree(Leaf(0), tree.actions) if isinstance(tree.root, Leaf) else tree


class WrongObjective(FlowOCT):
    """Row weights are forgotten."""

    def declare(self, m, view, space):
        super().declare(
            m,
            replace(view, costs=(view.costs > view.base[:, None]).astype(view.costs.dtype)),
            space,
        )


class FreeLeaves(FlowOCT):
    """Penalties are forgotten."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, leaf_cost=0, split_costs=0 * view.split_costs), space)


class WrongConstant(FlowOCT):
    """The objective is off by a constant."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.objective.set_value(m.objective.expr + 1)


class ContinuousLabels(FlowOCT):
    """With side constraints a leaf may randomise."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        for x in m.w.values():
            x.domain = pyo.UnitInterval


class FractionalSplits(FlowOCT):
    """A node may test a mixture of tests."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        for x in m.b.values():
            x.domain = pyo.UnitInterval


class LooseLeafSize(FlowOCT):
    """The minimum leaf size is one row short."""

    def declare(self, m, view, space):
        super().declare(
            m, view, replace(space, min_samples_leaf=max(1, space.min_samples_leaf - 1))
        )


class CountsMergedRows(FlowOCT):
    """The minimum leaf size counts merged rows once."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, counts=0 * view.counts + 1), space)


class OneSidedParity(FlowOCT):
    """Side constraints lose their lower bounds."""

    def declare(self, m, view, space):
        super().declare(
            m, replace(view, side=tuple(replace(row, lower=None) for row in view.side)), space
        )


class UnsetVariables(FlowOCT):
    """encode forgets the flow into the sinks."""

    def encode(self, tree, m):
        super().encode(tree, m)
        for x in m.s.values():
            x.set_value(None)


class EncodesAnotherTree(FlowOCT):
    """encode always gives the best single leaf's place to action 0."""

    def encode(self, tree, m):
        super().encode(Tree(Leaf(0), tree.actions), m)


class Undocumented(FlowOCT):
    """A variable without doc."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.extra = pyo.Var(bounds=(0, 0))

    def encode(self, tree, m):
        super().encode(tree, m)
        m.extra.set_value(0)


class WrongSizes(FlowOCT):
    """sizes forgets a row."""

    def model_size(self, view, space):
        sizes = super().model_size(view, space)
        return sizes._replace(rows=sizes.rows - 1)


class UnrepeatableBuild(FlowOCT):
    """Every build has one more constant in it."""

    built = 0

    def declare(self, m, view, space):
        super().declare(m, view, space)
        type(self).built += 1
        m.count = pyo.Constraint(
            expr=m.p[1] <= type(self).built, doc="depends on how often it was built"
        )


class SupportsNothing(FlowOCT):
    """Every problem is refused."""

    def unsupported_view(self, view, space):
        return "nothing can be expressed."


class ValidCut(FlowOCT):
    """Right: flow into a sink also needs the node to predict, which follows."""

    def declare(self, m, view, space):
        super().declare(m, view, space)

        @m.Constraint(m.rows, m.nodes, doc="valid cut: a sink is open only in a predicting node")
        def open_sink(m, i, v):
            return (m.s[i, v] if m.s.dim() == 2 else sum(m.s[i, v, k] for k in m.actions)) <= m.p[v]

    def model_size(self, view, space):
        sizes, cells = (
            super().model_size(view, space),
            view.n_rows * (2 ** (space.max_depth + 1) - 1),
        )
        per_row = 1 + (view.n_actions if self.multi(view, space) else 1)
        return sizes._replace(rows=sizes.rows + cells, nonzeros=sizes.nonzeros + cells * per_row)


class DeclaredCut(ValidCut):
    """Right, and says that the cut is redundant."""

    redundant = {"open_sink": "a valid cut"}


class WronglyDeclared(FlowOCT):
    """Calls a constraint redundant that is not."""

    redundant = {"sink": "it is not"}


class DeclaredUnknown(FlowOCT):
    """Calls a constraint redundant that does not exist."""

    redundant = {"no_such_row": "it is not there"}


class CallsItselfIntegral(FlowOCT):
    """Its relaxation is below the optimum."""

    integral_relaxation = True


#: Variants that the checks must reject.
REJECTED = [
    CallsItselfIntegral,
    MissingArc,
    MissingOneArc,
    SwappedSides,
    OpenSinks,
    LossyFlow,
    ForbiddenLabel,
    FullTreesOnly,
    WrongDecode,
    WrongDefaultAction,
    WrongObjective,
    FreeLeaves,
    WrongConstant,
    ContinuousLabels,
    FractionalSplits,
    LooseLeafSize,
    CountsMergedRows,
    OneSidedParity,
    UnsetVariables,
    EncodesAnotherTree,
    Undocumented,
    WrongSizes,
    UnrepeatableBuild,
    SupportsNothing,
]
#: Variants that the deletion test must reject.
REJECTED_BY_DELETION = [ValidCut, WronglyDeclared, DeclaredUnknown]


class BlindCuts:
    """A separator that finds nothing. It travels to the solver's process, so it stands in a module."""

    def __init__(self, inner):
        self.inner = inner

    def separate(self, x, integral):
        A, lower, upper = self.inner.separate(x, integral)
        return A[:0], lower[:0], upper[:0]
