"""What the family declares to the core."""

from milp_trees.common.registering.families import Family

FAMILY = Family(
    "milp_trees.oblique",
    plugins=("methods",),
    parts={
        "commands": ("command",),
        "spaces": ("space:ObliqueTrees",),
        "suites": ("testing.suite:SUITE",),
    },
)
