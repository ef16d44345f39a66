"""The programs of prunings, for their tests."""

from milp_trees.by_name import registry
from milp_trees.testing.pruning_checks import (
    example,
)

FORMULATIONS = registry.formulations_for(example("figure-1").space)


LABELS = [*FORMULATIONS, "ip3-closure:merge_pairs=off"]


def make(label):
    """A formulation by its label: `ip3-closure:merge_pairs=off`."""
    return registry.method(f"{label}@highs").formulation
