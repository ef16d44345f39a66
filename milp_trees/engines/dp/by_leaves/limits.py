"""Depth and size of a search for the best trees of every size, found before it begins.

Problems that are too large are refused here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.arrays import UNLIMITED, Instance, prepare
from milp_trees.models.space import Trees
from milp_trees.tasks.views import LeafSums

#: Bytes of the memo when the caller gives no memory limit.
MEMO_BYTES = 2**30
#: Largest size of the bounds by test and number of leaves.
MOST_BYTES = 4 * 2**30


def memo_bytes(limits: Limits) -> int:
    """Bytes of the memo: half of what is allowed."""
    return MEMO_BYTES if limits.memory_mb is None else limits.memory_mb * 2**19


class PreparedSizes(NamedTuple):
    """The arrays of a search by number of leaves, the largest number and the largest depth.

    With `any_leaves` the largest number stands for any number.
    """

    instance: Instance
    leaves: int
    depth: int
    any_leaves: bool = False

    @property
    def levels(self) -> int:
        """Nodes on the way from the root: the last two levels of a tree are evaluated at once."""
        return max(1, self.depth - 2)


def prepare_sizes(
    view: LeafSums, space: Trees, every_row: bool = False, prices: int = 0
) -> PreparedSizes:
    """The arrays of a reduced view; `prices` is the most that they add to a sum."""
    leaves = max(1, view.n_rows)
    if space.max_leaf_nodes is not None:
        leaves = min(leaves, space.max_leaf_nodes)
    if space.max_depth is not None:
        leaves = min(leaves, 2 ** min(space.max_depth, 40))
    depth = leaves - 1 if space.max_depth is None else min(space.max_depth, leaves - 1)
    within = replace(space, max_depth=depth if depth < UNLIMITED else None)
    instance = prepare(view, within, every_row=every_row, prices=prices)
    if not instance.n_rows or not view.n_features:
        depth = 0
    found = PreparedSizes(instance, leaves, depth)
    needed = 32 * found.levels * view.n_features * (leaves + 5)
    if needed > MOST_BYTES:
        raise Unsupported(
            f"Trees of {leaves} sizes on {view.n_features} tests need {needed / 2**30:.0f} GB; "
            "use fewer thresholds or leaves."
        )
    return found
