"""What the family declares to the core."""

from milp_trees.common.registering.families import Family

FAMILY = Family(
    "milp_trees.pruning",
    plugins=("methods", "tasks"),
    parts={
        "commands": ("cli.prune",),
        "views": ("view:NodeGains",),
        "model problems": ("testing.model_problems:MODEL_PROBLEMS",),
        "tables": ("spec_tables:PrunedProblems",),
        "suites": ("testing.suite:SUITE",),
        "recipes": ("recipe:RECIPE",),
        "proofs": ("verification.flows:FLOWS",),
        "stored": ("verification.curve:CURVES",),
        "spaces": ("space:PrunedEnsembles",),
    },
)
