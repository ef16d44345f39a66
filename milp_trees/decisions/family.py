"""What the family declares to the core."""

from milp_trees.common.registering.families import Family

FAMILY = Family(
    "milp_trees.decisions",
    plugins=("methods", "tasks"),
    parts={
        "commands": ("command",),
        "generators": ("generated:DecisionData",),
        "json values": ("spec:JSON_VALUE",),
        "tables": ("spec_tables:DecisionProblems",),
        "suites": ("testing.suite:SUITE",),
        "definitions": ("testing.definitions:DECISION",),
        "recipes": ("recipe:RECIPE",),
    },
)
