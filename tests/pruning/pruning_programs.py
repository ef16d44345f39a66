"""The programs of prunings, for their tests."""

from milp_trees.mip.registry import registry

LABELS = ["ip0", "ip1", "ip3", "ip3-closure", "ip3-closure:merge_pairs=off"]


def make(label):
    """A formulation by its label: `ip3-closure:merge_pairs=off`."""
    return registry.spelled("formulations", label)
