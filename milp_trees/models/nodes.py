"""The nodes of a decision tree."""

from __future__ import annotations

from dataclasses import dataclass

from milp_trees.data.dataset import BinaryFeature


@dataclass(frozen=True)
class Leaf:
    """A leaf that gives its rows the action with this index."""

    action: int


@dataclass(frozen=True)
class Branch:
    """A branch node: rows on which `test` is false go left, the others right."""

    test: BinaryFeature
    left: Node
    right: Node


Node = Leaf | Branch
