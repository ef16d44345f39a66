"""Growing one tree from the root, by any criterion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from milp_trees.common.limits import NEVER, Deadline
from milp_trees.methods.growing.tree import GrownTree

#: Levels below which nothing is split, so that a tree can be walked, copied and pickled by
#: recursion; only rows peeled off one by one get there.
DEEPEST = 200

#: How a grower holds the rows of a node.
Part = TypeVar("Part")


class Split(NamedTuple):
    """Value of a split and its cut."""

    value: float
    column: int
    cut: int


class Entered(NamedTuple):
    """A node: its loss as a leaf, the rounding error of losses, and data for its best split."""

    loss: Any
    slack: float
    data: Any


class Grower(ABC, Generic[Part]):
    """How the nodes of a greedy tree are valued, split and divided."""

    @abstractmethod
    def root(self) -> Part:
        """The rows of the root."""

    @abstractmethod
    def enter(self, part: Part) -> Entered:
        """Value a node; called once per node, in the order of their numbers."""

    @abstractmethod
    def best(self, part: Part, node: Entered, levels: int) -> Split | None:
        """The best allowed split of a node above so many levels of splits, or None."""

    @abstractmethod
    def divide(self, part: Part, split: Split) -> tuple[Part, Part]:
        """The rows on which the test of a split is false, and those on which it is true."""

    def grow(self, max_depth: int | None, deadline: Deadline = NEVER) -> GrownTree:
        """The greedy tree: every node gets its best split.

        Growing ends at the depth, at the deadline, where no split is allowed, or at a loss of zero.
        A split may gain nothing.
        """
        depth = min(DEEPEST, DEEPEST if max_depth is None else max_depth)
        stack: list[tuple[Part, int, int]] = [(self.root(), depth, -1)]
        nodes: list[tuple[int, int, int]] = []
        loss: list[Any] = []
        coarsest = 0.0
        while stack:
            part, levels, parent = stack.pop()
            node, t = self.enter(part), len(nodes)
            coarsest = max(coarsest, node.slack)
            open_ = levels > 0 and node.loss > node.slack and not deadline.passed
            split = self.best(part, node, levels) if open_ else None
            nodes.append((-1, -1, parent) if split is None else (split.column, split.cut, parent))
            loss.append(node.loss)
            if split is not None:
                false, true = self.divide(part, split)
                stack += [(true, levels - 1, t), (false, levels - 1, t)]
        return GrownTree.of(nodes, np.array(loss), coarsest)
