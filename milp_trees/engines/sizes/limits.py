"""Before a search for the best trees of every size: how deep and how large it is, and what is
refused because it is too large.
"""

from __future__ import annotations

from dataclasses import replace

from milp_trees.engines.sizes.instance import MOST_BYTES, Instance, prepare
from milp_trees.errors import Unsupported
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix


def check_size(view: CostMatrix, space: Trees) -> None:
    """Refuse a search whose arrays are too large.

    Raises
    ------
    Unsupported
        With the sentence why.
    """
    if view.min_weight_leaf:
        view, space = mass_as_rows(view, space)
    instance = prepare(view, space, settle_ties=False)
    refuse_large(instance, max(1, depth_of(space, instance) - 2))


def depth_of(space: Trees, instance: Instance) -> int:
    """Levels that trees of at most so many leaves can have."""
    return (
        instance.max_leaves - 1
        if space.max_depth is None
        else min(space.max_depth, instance.max_leaves - 1)
    )


def refuse_large(instance: Instance, levels: int) -> None:
    """Refuse arrays for so many levels that are too large."""
    leaves, padded = instance.max_leaves, instance.X.shape[1]
    needed = (
        32 * levels * instance.n_features * (leaves + 5)
        + 3 * instance.values.shape[1] * padded**2 * instance.dtype.itemsize
    )
    if needed > MOST_BYTES:
        raise Unsupported(
            f"Trees of {leaves} sizes on {instance.n_features} tests need {needed / 2**30:.0f} GB; use fewer thresholds or leaves."
        )


def mass_as_rows(view: CostMatrix, space: Trees) -> tuple[CostMatrix, Trees]:
    """A minimum weight of leaves as a minimum number of rows (twice the weights, so that a minimum
    of 1 is one too).
    """
    if space.min_samples_leaf > 1 or view.row_weight is None:
        raise Unsupported("Fronts take min_samples_leaf or min_weight_leaf, not both.")
    return replace(view, counts=2 * view.row_weight, row_weight=None, min_weight_leaf=0), replace(
        space, min_samples_leaf=2 * view.min_weight_leaf, min_weight_leaf=0
    )
