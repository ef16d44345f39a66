"""Shared by the tests of spot."""

from milp_trees.mip.registry import registry

SPOT = type(registry.formulation("spot"))


#: Costs of both signs, ties, whole numbers, weights and leaf limits, in few problems.
SOME = (
    "grid-ties",
    "listed-with-shares",
    "hull-of-a-list",
    "knapsack",
    "equal-rows",
    "min-weight",
    "penalties",
    "depth-1",
)


class OneDecision(SPOT):
    """All leaves share the decision of the first."""

    def declare(self, m, view, space):
        super().declare(m, view, space)

        @m.Constraint(m.entries, m.leaves, doc="one decision for all")
        def same(m, e, t):
            return m.w[e, t] == m.w[e, 2**space.depth]
