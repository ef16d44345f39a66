"""`Trees`: a forest in the user's columns, with the boxes of its leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from milp_trees.common.errors import Unsupported
from milp_trees.embedding.cells import Box, boxes_of
from milp_trees.embedding.forest import Forest, splits_of
from milp_trees.embedding.inputs import Input

#: Most boxes of a tree; a rule list with long rules may have more.
MOST_BOXES = 20_000
#: Most boxes of a single model of which leaf boxes are the default.
FEW_BOXES = 2_000


@dataclass(eq=False)
class Trees:
    """A forest whose columns are bound to the user's variables.

    Parameters
    ----------
    forest : Forest
    inputs : mapping of str to Input
    """

    forest: Forest
    inputs: dict[str, Input]

    @property
    def single(self) -> bool:
        """Whether there is one tree, so that leaves have one index."""
        return len(self.forest.roots) == 1

    def key(self, tree: int, leaf: int) -> Any:
        """The index of a leaf in a block."""
        return leaf if self.single else (tree, leaf)

    @cached_property
    def keys(self) -> list[Any]:
        """The indices of all leaves."""
        counts = enumerate(self.forest.n_leaves)
        return [self.key(t, leaf) for t, n in counts for leaf in range(n)]

    @cached_property
    def boxes(self) -> list[list[Box]]:
        """The boxes of every tree that can be reached.

        Raises
        ------
        Unsupported
            The rules of a list have too many conditions.
        """
        out = []
        cells = {column: one.cells for column, one in self.inputs.items()}
        for t in range(len(self.forest.roots)):
            most = max(MOST_BOXES, self.forest.n_leaves[t])
            found = boxes_of(self.forest, cells, t, most)
            if found is None:
                raise Unsupported(
                    f"The leaves of this model are more than {most} boxes, because each condition of a rule may fail; use formulation='paths', which needs no boxes."
                )
            out.append(found)
        return out

    def few_boxes(self) -> bool:
        """Whether a single tree has few boxes: hardly more than leaves, or a small number."""
        most = max(FEW_BOXES, self.forest.n_leaves[0])
        cells = {column: one.cells for column, one in self.inputs.items()}
        return boxes_of(self.forest, cells, 0, most) is not None

    @cached_property
    def asked(self) -> list[list[str]]:
        """The columns that every tree asks."""
        return [
            list(dict.fromkeys(q.column for s in splits_of(root) for q, _ in s.literals))
            for root in self.forest.roots
        ]

    def split_leaves(self, tree: int) -> bool:
        """Whether a leaf of a tree is several boxes."""
        return len({box.leaf for box in self.boxes[tree]}) < len(self.boxes[tree])

    def multipliers(self, b: Any, tree: int) -> list[Any]:
        """A 0/1 variable for every box of a tree: the leaf itself, where it is one box."""
        if not self.split_leaves(tree):
            return [b.leaf[self.key(tree, box.leaf)] for box in self.boxes[tree]]
        return [b.box[tree, j] for j in range(len(self.boxes[tree]))]
