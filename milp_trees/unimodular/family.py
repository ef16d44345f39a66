"""What the family declares to the core."""

from milp_trees.common.registering.families import Family

FAMILY = Family(
    "milp_trees.unimodular",
    parts={"commands": ("command",), "proofs": ("proof_kind:MATRIX_PROOFS",)},
)
