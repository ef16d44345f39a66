"""`ListRoutes`: the rule that captures every row, as `Routes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from milp_trees.common.errors import NoView
from milp_trees.models.tree import Routes

if TYPE_CHECKING:
    from milp_trees.models.nodes import Node


@dataclass(frozen=True, eq=False)
class ListRoutes(Routes):
    """The rule that captures every row of a list, as `Routes`.

    Leaf k is rule k, and the last leaf is the default rule. The paths are those of a one-sided tree
    in which the first child of every node is the leaf of a rule.
    """

    boxes = False

    @property
    def root(self) -> Node:  # type: ignore[override]
        """Not for lists: the nodes of a tree are asked for."""
        raise NoView(
            "This is defined on the nodes of trees, and a rule list has none; give the tree of the list (to_tree)."
        )
