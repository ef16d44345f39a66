"""The programs of prunings, for their tests."""

from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.checks import (
    example,
)

FORMULATIONS = registry.formulations_for(example("figure-1").space)


LABELS = [*FORMULATIONS, "ip3-closure:merge_pairs=off"]


def make(label):
    """A formulation by its label: `ip3-closure:merge_pairs=off`."""
    return registry.method(f"{label}@highs").formulation
