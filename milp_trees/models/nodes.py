"""The nodes of a decision tree."""

from __future__ import annotations

from dataclasses import dataclass

from milp_trees.data.dataset import BinaryFeature


@dataclass(frozen=True)
class Leaf:
    """A leaf; its rows get the action with this index."""

    action: int


@dataclass(frozen=True)
class Branch:
    """A branch node: rows for which `test` is false go left, the others right."""

    test: BinaryFeature
    left: Node
    right: Node


Node = Leaf | Branch
