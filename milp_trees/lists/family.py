"""What the family declares to the core."""

from milp_trees.common.registering.families import Family

FAMILY = Family(
    "milp_trees.lists",
    plugins=("methods",),
    parts={
        "commands": ("command",),
        "spaces": ("space:RuleLists",),
        "tables": ("spec_tables:ListProblems",),
        "suites": ("testing.suite:SUITE",),
        "json values": ("rule_list:JSON_VALUE",),
    },
)
