"""What the family declares to the core."""

from milp_trees.common.registering.families import Family

FAMILY = Family(
    "milp_trees.robust",
    plugins=("methods", "tasks"),
    parts={
        "spaces": ("space:RobustTrees",),
        "views": ("view:WorstCase",),
        "suites": ("testing.suite:SUITE",),
        "definitions": ("testing.definitions:BOXES", "testing.definitions:BUDGET"),
    },
)
